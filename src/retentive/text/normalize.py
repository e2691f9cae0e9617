"""Normalises the text of a memory, so that equal texts have equal hashes."""

import hashlib
import re
import unicodedata

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def normalise_text(text: str) -> str:
    """Apply NFC and collapse white space. Case and punctuation stay: `foo` and `FOO` may be two settings."""
    return " ".join((text if text.isascii() else unicodedata.normalize("NFC", text)).split())


def replace_unstorable(text: str) -> str:
    """Replace what databases refuse, NUL and lone surrogates, by U+FFFD."""
    return _UNSTORABLE.sub("\ufffd", text)


def hash_content(text: str) -> str:
    return hashlib.sha256(normalise_text(text).encode()).hexdigest()
