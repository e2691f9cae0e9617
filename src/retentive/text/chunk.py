"""Splits long text into overlapping chunks that an embedding model can hold."""

import re
import unicodedata

CHUNK_SIZE = 640  # about 130 words: half of what the model reads, so that a chunk is about one thing
CHUNK_OVERLAP = 96  # about a sentence: a sentence that is cut stands whole in one of the two chunks

_SENTENCE_END = re.compile(r"[.!?。！？…]['\")\]]*\s+|[。！？]|\n+")  # noqa: RUF001 - the full-width marks are meant
_SPACE = re.compile(r"\s+")


def chunk_text(text: str, size: int = CHUNK_SIZE, overlap: int = CHUNK_OVERLAP) -> list[str]:
    """Split a text into chunks of at most `size` characters that overlap by up to `overlap` characters.

    A chunk ends after a sentence if one ends in its second half, else after a word, else anywhere but before a
    combining mark.
    """
    chunks: list[str] = []
    start = 0
    while len(text) - start > size:
        end = _find_end(text, start + size // 2, start + size)
        chunks.append(text[start:end])
        start = _find_start(text, max(end - overlap, start + 1), end)
    return [*chunks, text[start:]]


def _find_end(text: str, low: int, high: int) -> int:
    for pattern in (_SENTENCE_END, _SPACE):
        ends = [match.end() for match in pattern.finditer(text, low, high)]
        if ends:
            return ends[-1]
    return _move_before_character(text, high, low)


def _find_start(text: str, low: int, end: int) -> int:
    """Find the first word that begins in the overlap, else the first whole character."""
    match = _SPACE.search(text, low, end)
    if match:
        return match.end()
    return next((at for at in range(low, end) if not _is_combining(text[at])), end)


def _move_before_character(text: str, at: int, low: int) -> int:
    """Move a cut back to before a character with its combining marks. If there are only marks, it stays."""
    return next((cut for cut in range(at, low, -1) if not _is_combining(text[cut])), at)


def _is_combining(character: str) -> bool:
    """Whether a character belongs to the one before it."""
    return bool(unicodedata.combining(character)) or character in "\u200d\ufe0f"
