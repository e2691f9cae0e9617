"""Turns text into the ids of its word pieces, by BERT's lower-case vocabulary or a model's own `tokenizer.json`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from retentive.errors import EmbedError, ModelUnfit

if TYPE_CHECKING:
    from tokenizers import Tokenizer

VOCABULARY = Path(__file__).with_name("minilm-vocab.txt")

MAX_TOKENS = 256  # all-MiniLM-L6-v2 was trained on as many; the rest of a text is ignored

# A word has at least one token, so the model ignores all words past its last token. A word that is cut to four
# characters for each token of the model has either more tokens than the model reads or, without any break, the single
# [UNK] of the whole word. So long texts are cut before they are tokenised (1 MB of prose: 1 ms instead of 740).
_LONG_TEXT_CHARS = 4096
_CHARS_PER_TOKEN = 4  # of one word

_UNKNOWN_MARKS = ("[UNK]", "<unk>")


def load_tokenizer(vocabulary: Path = VOCABULARY, max_tokens: int = MAX_TOKENS) -> Tokenizer:
    """Load a `tokenizer.json`, or make the tokenizer for a `vocab.txt` of BERT."""
    tokenizer = _read_tokenizer(vocabulary) if vocabulary.suffix == ".json" else _read_vocabulary(vocabulary)
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens)
    return tokenizer


def _read_tokenizer(path: Path) -> Tokenizer:
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # tokenizers raises nothing narrower
        raise ModelUnfit(f"The tokenizer {path} cannot be read: {error}") from error
    tokenizer.encode_special_tokens = True  # "[SEP]" in a text is text, not a mark
    return tokenizer


def _read_vocabulary(path: Path) -> Tokenizer:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    try:
        pieces = models.WordPiece.from_file(str(path), unk_token="[UNK]", max_input_chars_per_word=100)  # noqa: S106
    except Exception as error:  # tokenizers raises nothing narrower
        raise EmbedError(f"The vocabulary {path} cannot be read: {error}") from error
    tokenizer = Tokenizer(pieces)
    special = [(token, tokenizer.token_to_id(token)) for token in ("[CLS]", "[SEP]", "[UNK]")]
    if not all(number is not None for _, number in special):
        raise EmbedError(f"{path} is not a BERT vocabulary.")
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True, strip_accents=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=special[:2])
    return tokenizer


def encode_text(tokenizer: Tokenizer, text: str, *, has_marks: bool = True) -> list[int]:
    """Return the ids of a text's pieces, with the marks that begin and end a text unless they are unwanted."""
    # One by one: `encode_batch` starts a thread pool that complains on stderr after a fork.
    return tokenizer.encode(_shorten(tokenizer, text), add_special_tokens=has_marks).ids


def find_unknown_id(tokenizer: Tokenizer) -> int | None:
    """Find the id of all unknown pieces; None if the model knows every piece, down to bytes."""
    return next((id for mark in _UNKNOWN_MARKS if (id := tokenizer.token_to_id(mark)) is not None), None)


def measure_unknown_share(tokenizer: Tokenizer, text: str) -> float:
    """Return the share of a text's pieces that the model has never seen; 1 for a text without any."""
    ids, unknown_id = encode_text(tokenizer, text, has_marks=False), find_unknown_id(tokenizer)
    return sum(id == unknown_id for id in ids) / len(ids) if ids else 1.0


def _shorten(tokenizer: Tokenizer, text: str) -> str:
    """Drop the part of a text that the model ignores, and replace lone surrogates."""
    if len(text) > _LONG_TEXT_CHARS:
        max_tokens = tokenizer.truncation["max_length"] if tokenizer.truncation else MAX_TOKENS
        first_words = text.split(None, max_tokens)[:max_tokens]
        text = " ".join(word[: max_tokens * _CHARS_PER_TOKEN] for word in first_words)
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")
    return text
