"""Bytes as text and lines, whatever the editor was.

UTF-8 with or without a byte order mark, UTF-16 with one. What is neither is:
  a. UTF-8 that a program was still writing, if only its last character is incomplete: that one is left out;
  b. UTF-8 with damaged places, if most of its accents are in order: each place is shown as U+FFFD;
  c. Windows-1252, or Latin-1 if that is not possible;
  d. binary, if it has a NUL or many control characters.
Lines end with LF, CRLF or CR and with nothing else, as editors count them.
"""

import codecs
import re
from typing import NamedTuple

from retentive.errors import Invalid

_MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_ENDS = re.compile(r"\r\n|\r|\n")
_ENDS_IN_BYTES = re.compile(rb"\r\n|\r|\n")
_CONTROL = re.compile(r"[\x01-\x06\x0e-\x1a\x1c-\x1f\x7f-\x9f]")  # not bell, backspace, tabs, feeds, escape: logs
_UNKEEPABLE = re.compile("[\0\ud800-\udfff]")
_TOO_MANY = 100  # one control character in so many makes it binary; text in an old encoding has next to none


class Decoded(NamedTuple):
    text: str
    encoding: str
    sure: bool
    """It would be the same encoding whatever followed."""
    skipped: int = 0
    """Bytes of the byte order mark."""


def decode(name: str, data: bytes) -> Decoded:
    """Invalid if it is binary."""
    mark = next((mark for mark in _MARKS if data.startswith(mark)), b"")
    text = _whole(data[len(mark) :], _MARKS.get(mark, "utf-8"))
    if text is not None:
        return Decoded(_without_nul(name, text), _MARKS.get(mark, "utf-8"), sure=True, skipped=len(mark))
    if mark and mark != codecs.BOM_UTF8:
        raise Invalid(f"{name} is binary", "It begins like UTF-16 and is not.")
    return _guessed(name, data[len(mark) :])


def decode_more(name: str, data: bytes, encoding: str) -> str:
    """What was appended to a text that is known to be in this encoding.

    Invalid if it is not, or if one cannot tell without what came before.
    """
    text = _whole(data, encoding)
    if text is None:
        raise Invalid(f"{name} goes on in another encoding", "Read it from the start.")
    return _without_nul(name, text)


def lines(text: str) -> list[str]:
    return _ENDS.split(text)


def complete(text: str) -> str:
    """Without a last line that may still grow. A CR at the end may be half of a CRLF."""
    return text[: 1 + max(text.rfind("\n"), text.rfind("\r", 0, -1))]


def offset(data: bytes, encoding: str, line: int) -> int:
    """Where a line begins, counted from 1, in bytes. `data` has no byte order mark."""
    if encoding == "utf-8":
        ends = _ENDS_IN_BYTES.finditer(data)
        return next((end.end() for number, end in enumerate(ends, 2) if number == line), 0)
    text = codecs.getincrementaldecoder(encoding)().decode(data)
    place = next((end.end() for number, end in enumerate(_ENDS.finditer(text), 2) if number == line), 0)
    return len(text[:place].encode(encoding))


def clean(text: str) -> str:
    """Without what databases refuse: NUL and lone surrogates."""
    return _UNKEEPABLE.sub("\ufffd", text)


def _whole(data: bytes, encoding: str) -> str | None:
    """None if it is not in this encoding. An incomplete last character is left out where it can be nothing else."""
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        text = decoder.decode(data)
    except UnicodeDecodeError:
        return None
    held = bool(decoder.getstate()[0])
    return None if held and encoding == "utf-8" and text.isascii() else text


def _guessed(name: str, data: bytes) -> Decoded:
    mended = data.decode("utf-8", "replace")
    damaged = mended.count("\ufffd")
    accents = len(mended) - sum(map(str.isascii, mended)) - damaged
    if accents > damaged:
        return Decoded(_without_nul(name, mended), "utf-8", sure=False)
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    if len(_CONTROL.findall(text)) * _TOO_MANY > len(text):
        raise Invalid(f"{name} is binary", "It has many control characters; only text is read.")
    return Decoded(_without_nul(name, text), "cp1252", sure=False)


def _without_nul(name: str, text: str) -> str:
    if "\0" in text:
        raise Invalid(f"{name} is binary", "It has NUL bytes; only text is read.")
    return text
