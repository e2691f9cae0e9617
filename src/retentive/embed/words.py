"""Text to word-piece numbers, as BERT's lower-case vocabulary has them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from retentive.errors import EmbedError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

VOCABULARY = Path(__file__).with_name("minilm-vocab.txt")

MAX_TOKENS = 256  # what all-MiniLM-L6-v2 was trained to read; the rest of a text is not seen

# A word gives at least one token, so words past the 256th are never seen; and of one word 1,024 characters give
# either more than 256 tokens or, without any break, the single [UNK] that the whole of it would give. So a megabyte
# is cut to what matters before it is tokenised (1 MB of prose: 1 ms instead of 740).
_LONG_TEXT = 4096
_LONG_WORD = 1024


def load_words(vocabulary: Path = VOCABULARY) -> Tokenizer:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    try:
        pieces = models.WordPiece.from_file(str(vocabulary), unk_token="[UNK]", max_input_chars_per_word=100)  # noqa: S106
    except Exception as error:  # tokenizers raises nothing narrower
        raise EmbedError(f"The vocabulary {vocabulary} cannot be read: {error}") from error
    words = Tokenizer(pieces)
    special = [(token, words.token_to_id(token)) for token in ("[CLS]", "[SEP]", "[UNK]")]
    if not all(number is not None for _, number in special):
        raise EmbedError(f"{vocabulary} is not a BERT vocabulary.")
    words.normalizer = normalizers.BertNormalizer(lowercase=True, strip_accents=True)
    words.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    words.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=special[:2])
    words.enable_truncation(MAX_TOKENS)
    return words


def numbers_of(words: Tokenizer, text: str) -> list[int]:
    # One by one: `encode_batch` starts a thread pool that complains on stderr after a fork.
    return words.encode(_clean(text)).ids


def _clean(text: str) -> str:
    if len(text) > _LONG_TEXT:
        text = " ".join(word[:_LONG_WORD] for word in text.split(None, MAX_TOKENS)[:MAX_TOKENS])
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")  # half a surrogate pair is not text
    return text
