"""Escapes any text so that Markdown shows it unchanged, and turns any name into a file name."""

import re
import unicodedata
from hashlib import sha256

MAX_NAME_CHARS = 60  # of a file name, without the hash that makes it unique

_SPECIAL_CHARS = re.compile(r"([\\`*_{}\[\]<>|~&$!])")
_BLOCK_MARK = re.compile(r"^([#+\-=:]|\d+(?=[.)]))", re.MULTILINE)
_INDENT = re.compile(r"^[ \t]+", re.MULTILINE)
_LINK_START = re.compile(r"(?i)\b(https?|ftp|mailto)(:)|\b(www)(\.)")
_DIRECTION_MARKS = dict.fromkeys(map(ord, "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"))
_RESERVED_NAMES = {"con", "prn", "aux", "nul", *(f"{name}{n}" for name in ("com", "lpt") for n in range(10))}


def escape_inline(text: str) -> str:
    """Escape a text, joined to one line."""
    return _escape_line(" ".join(text.split()))


def escape_block(text: str) -> str:
    """Escape a text and keep its lines: each ends in a hard break, blank lines separate paragraphs."""
    paragraphs = re.split(r"\n[ \t]*\n\s*", text.replace("\r\n", "\n").replace("\r", "\n").strip("\n"))
    return "\n\n".join("\\\n".join(_escape_line(line) for line in each.split("\n")) for each in paragraphs)


def escape_quote(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in escape_block(text).split("\n"))


def _escape_line(line: str) -> str:
    shown = "".join("\ufffd" if unicodedata.category(letter) == "Cc" and letter != "\t" else letter for letter in line)
    escaped = _SPECIAL_CHARS.sub(r"\\\1", shown.translate(_DIRECTION_MARKS))
    escaped = _LINK_START.sub(lambda found: f"{found[1] or found[3]}\\{found[2] or found[4]}", escaped)
    escaped = _BLOCK_MARK.sub(lambda found: f"{found[1]}\\" if found[1].isdigit() else f"\\{found[1]}", escaped)
    return _INDENT.sub(lambda found: "\u00a0" * len(found[0].expandtabs(4)), escaped)


def make_file_name(name: str) -> str:
    """Make a file name. Different names get different ones, also where case does not matter."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:MAX_NAME_CHARS]
    if slug and slug == name and slug not in _RESERVED_NAMES:
        return slug
    return f"{slug}-{sha256(name.encode()).hexdigest()[:8]}".lstrip("-")
