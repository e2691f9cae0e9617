"""The text of a memory in the one form that is hashed and compared."""

import hashlib
import unicodedata


def normalise(text: str) -> str:
    """NFC, runs of white space as one blank. Case and punctuation stay: `foo` and `FOO` may be two settings."""
    return " ".join((text if text.isascii() else unicodedata.normalize("NFC", text)).split())


def content_hash(text: str) -> str:
    return hashlib.sha256(normalise(text).encode()).hexdigest()
