"""Long text cut into slices that an embedding can hold."""

import re
import unicodedata

CHUNK_SIZE = 640  # about 130 words: half of what the model reads, so that a slice speaks of one thing
CHUNK_OVERLAP = 96  # about a sentence, so that what a cut divides is whole in one of the two slices

_SENTENCE_END = re.compile(r"[.!?。！？…]['\")\]]*\s+|[。！？]|\n+")  # noqa: RUF001 - the full-width marks are meant
_SPACE = re.compile(r"\s+")


def chunk(text: str, size: int = CHUNK_SIZE, overlap: int = CHUNK_OVERLAP) -> list[str]:
    """Slices of at most `size` characters, each but the first beginning up to `overlap` before the last one's end.

    Cuts fall behind a sentence if there is one in the second half of the slice, else behind a word, else anywhere
    but before a combining mark.
    """
    slices: list[str] = []
    start = 0
    while len(text) - start > size:
        end = _cut(text, start + size // 2, start + size)
        slices.append(text[start:end])
        start = _restart(text, max(end - overlap, start + 1), end)
    return [*slices, text[start:]]


def _cut(text: str, low: int, high: int) -> int:
    for pattern in (_SENTENCE_END, _SPACE):
        ends = [match.end() for match in pattern.finditer(text, low, high)]
        if ends:
            return ends[-1]
    return _whole(text, high, low)


def _begin(text: str, at: int, end: int) -> int:
    """On to the first character that is no mark of the one before."""
    return next((place for place in range(at, end) if not _joins(text[place])), end)


def _restart(text: str, low: int, end: int) -> int:
    """The first word that begins in the overlap."""
    match = _SPACE.search(text, low, end)
    return match.end() if match else _begin(text, low, end)


def _whole(text: str, at: int, low: int) -> int:
    """Back to before a character with its combining marks and joiners; a run of nothing else is cut where it is."""
    return next((place for place in range(at, low, -1) if not _joins(text[place])), at)


def _joins(character: str) -> bool:
    return bool(unicodedata.combining(character)) or character in "\u200d\ufe0f"
