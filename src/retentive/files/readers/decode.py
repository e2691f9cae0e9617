"""Decode bytes to text and lines, whichever program wrote them.

Text is UTF-8 with or without a byte order mark, or UTF-16 with one. Other bytes are decoded as:
  a. UTF-8 that a program was still writing, if only the last character is incomplete: it is dropped;
  b. damaged UTF-8, if most of its accents are intact: each damaged place becomes U+FFFD;
  c. Windows-1252, or Latin-1 if that is not possible.
Bytes with a NUL or many control characters are binary. Lines end with LF, CRLF or CR and nothing else, as editors
count them.
"""

import codecs
import re
from typing import NamedTuple

from retentive.errors import Invalid

_BYTE_ORDER_MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_LINE_END = re.compile(r"\r\n|\r|\n")
_LINE_END_BYTES = re.compile(rb"\r\n|\r|\n")
_CONTROL_CHARACTER = re.compile(r"[\x01-\x06\x0e-\x1a\x1c-\x1f\x7f-\x9f]")  # logs have bell, tab, feed, escape
_MIN_TEXT_PER_CONTROL = 100  # with fewer characters for each control character it is binary


class Decoded(NamedTuple):
    text: str
    encoding: str
    is_certain: bool
    """Whether the encoding would be the same whatever followed."""
    skipped: int = 0
    """Bytes of the byte order mark."""


def decode(name: str, data: bytes) -> Decoded:
    """Decode a whole file; `Invalid` if it is binary."""
    mark = next((mark for mark in _BYTE_ORDER_MARKS if data.startswith(mark)), b"")
    encoding = _BYTE_ORDER_MARKS.get(mark, "utf-8")
    text = _decode_strictly(data[len(mark) :], encoding)
    if text is not None:
        return Decoded(_require_no_nul(name, text), encoding, is_certain=True, skipped=len(mark))
    if mark and mark != codecs.BOM_UTF8:
        raise Invalid(f"{name} is binary", "It begins like UTF-16 and is not.")
    return _decode_by_guess(name, data[len(mark) :])


def decode_more(name: str, data: bytes, encoding: str) -> str:
    """Decode what was appended to a text in this encoding; `Invalid` if it is in another."""
    text = _decode_strictly(data, encoding)
    if text is None:
        raise Invalid(f"{name} changes its encoding", "Read it from the start.")
    return _require_no_nul(name, text)


def split_lines(text: str) -> list[str]:
    return _LINE_END.split(text)


def drop_unfinished_line(text: str) -> str:
    """Return the text without a last line that may still grow. A CR at the end may be half of a CRLF."""
    return text[: 1 + max(text.rfind("\n"), text.rfind("\r", 0, -1))]


def find_line_offset(data: bytes, encoding: str, line: int) -> int:
    """Return the offset in bytes of a line, counted from 1. `data` has no byte order mark."""
    if encoding == "utf-8":
        ends = _LINE_END_BYTES.finditer(data)
        return next((end.end() for number, end in enumerate(ends, 2) if number == line), 0)
    text = codecs.getincrementaldecoder(encoding)().decode(data)
    place = next((end.end() for number, end in enumerate(_LINE_END.finditer(text), 2) if number == line), 0)
    return len(text[:place].encode(encoding))


def _decode_strictly(data: bytes, encoding: str) -> str | None:
    """Return the text, or None if it is not in this encoding. An incomplete last character is dropped."""
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        text = decoder.decode(data)
    except UnicodeDecodeError:
        return None
    is_incomplete = bool(decoder.getstate()[0])
    if is_incomplete and encoding == "utf-8" and text.isascii():
        return None  # nothing shows that it is UTF-8
    return text


def _decode_by_guess(name: str, data: bytes) -> Decoded:
    mended = data.decode("utf-8", "replace")
    damaged = mended.count("\ufffd")
    accents = len(mended) - sum(map(str.isascii, mended)) - damaged
    if accents > damaged:
        return Decoded(_require_no_nul(name, mended), "utf-8", is_certain=False)
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    if len(_CONTROL_CHARACTER.findall(text)) * _MIN_TEXT_PER_CONTROL > len(text):
        raise Invalid(f"{name} is binary", "It has many control characters; only text is read.")
    return Decoded(_require_no_nul(name, text), "cp1252", is_certain=False)


def _require_no_nul(name: str, text: str) -> str:
    if "\0" in text:
        raise Invalid(f"{name} is binary", "It has NUL bytes; only text is read.")
    return text
