"""Text to the numbers of its word pieces: by BERT's lower-case vocabulary, or by a model's own `tokenizer.json`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from retentive.errors import EmbedError, ModelUnfit

if TYPE_CHECKING:
    from tokenizers import Tokenizer

VOCABULARY = Path(__file__).with_name("minilm-vocab.txt")

MAX_TOKENS = 256  # what all-MiniLM-L6-v2 was trained to read; the rest of a text is not seen

# A word gives at least one token, so words past the last token that a model reads are never seen. Of one word, four
# characters a token give either more tokens than are read or, without any break, the single [UNK] that the whole of it
# would give. So a megabyte is cut to what matters before it is tokenised (1 MB of prose: 1 ms instead of 740).
_LONG_TEXT = 4096
_WORD_CHARS = 4  # of one word, for each token that is read

_UNKNOWN = ("[UNK]", "<unk>")


def load_words(vocabulary: Path = VOCABULARY, max_tokens: int = MAX_TOKENS) -> Tokenizer:
    """The tokenizer in a `tokenizer.json`, or the one that goes with a `vocab.txt` of BERT."""
    words = _read_tokenizer(vocabulary) if vocabulary.suffix == ".json" else _read_vocabulary(vocabulary)
    words.no_padding()
    words.enable_truncation(max_tokens)
    return words


def _read_tokenizer(path: Path) -> Tokenizer:
    from tokenizers import Tokenizer

    try:
        words = Tokenizer.from_file(str(path))
    except Exception as error:  # tokenizers raises nothing narrower
        raise ModelUnfit(f"The tokenizer {path} cannot be read: {error}") from error
    words.encode_special_tokens = True  # "[SEP]" in a text is text, not a mark
    return words


def _read_vocabulary(path: Path) -> Tokenizer:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    try:
        pieces = models.WordPiece.from_file(str(path), unk_token="[UNK]", max_input_chars_per_word=100)  # noqa: S106
    except Exception as error:  # tokenizers raises nothing narrower
        raise EmbedError(f"The vocabulary {path} cannot be read: {error}") from error
    words = Tokenizer(pieces)
    special = [(token, words.token_to_id(token)) for token in ("[CLS]", "[SEP]", "[UNK]")]
    if not all(number is not None for _, number in special):
        raise EmbedError(f"{path} is not a BERT vocabulary.")
    words.normalizer = normalizers.BertNormalizer(lowercase=True, strip_accents=True)
    words.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    words.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=special[:2])
    return words


def numbers_of(words: Tokenizer, text: str, *, marks: bool = True) -> list[int]:
    """The numbers of a text's pieces; with `marks`, between those that begin and end a text."""
    # One by one: `encode_batch` starts a thread pool that complains on stderr after a fork.
    return words.encode(_clean(words, text), add_special_tokens=marks).ids


def unknown_number(words: Tokenizer) -> int | None:
    """The number that stands for every piece the model has never seen. None: it knows them all, down to bytes."""
    return next((number for mark in _UNKNOWN if (number := words.token_to_id(mark)) is not None), None)


def share_unknown(words: Tokenizer, text: str) -> float:
    """The share of a text's pieces that the model has never seen; 1 for a text without any."""
    numbers, unknown = numbers_of(words, text, marks=False), unknown_number(words)
    return sum(number == unknown for number in numbers) / len(numbers) if numbers else 1.0


def _clean(words: Tokenizer, text: str) -> str:
    if len(text) > _LONG_TEXT:
        seen = words.truncation["max_length"] if words.truncation else MAX_TOKENS
        text = " ".join(word[: seen * _WORD_CHARS] for word in text.split(None, seen)[:seen])
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")  # half a surrogate pair is not text
    return text
