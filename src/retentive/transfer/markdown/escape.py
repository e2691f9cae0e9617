"""Any text as Markdown that shows it as it is, and any name as the name of a file."""

import re
import unicodedata
from hashlib import sha256

LONGEST = 60  # characters of a file's name, before what makes it its own

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|~&$!])")
_BLOCK = re.compile(r"^([#+\-=:]|\d+(?=[.)]))", re.MULTILINE)
_INDENT = re.compile(r"^[ \t]+", re.MULTILINE)
_ADDRESS = re.compile(r"(?i)\b(https?|ftp|mailto)(:)|\b(www)(\.)")
_TURNING = dict.fromkeys(map(ord, "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"))
_RESERVED = {"con", "prn", "aux", "nul", *(f"{name}{n}" for name in ("com", "lpt") for n in range(10))}


def inline(text: str) -> str:
    """On one line."""
    return _escaped(" ".join(text.split()))


def block(text: str) -> str:
    """With its lines: each ends in a break, blank ones part paragraphs."""
    paragraphs = re.split(r"\n[ \t]*\n\s*", text.replace("\r\n", "\n").replace("\r", "\n").strip("\n"))
    return "\n\n".join("\\\n".join(_escaped(line) for line in each.split("\n")) for each in paragraphs)


def quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in block(text).split("\n"))


def _escaped(line: str) -> str:
    shown = "".join("\ufffd" if unicodedata.category(letter) == "Cc" and letter != "\t" else letter for letter in line)
    made = _SPECIAL.sub(r"\\\1", shown.translate(_TURNING))
    made = _ADDRESS.sub(lambda found: f"{found[1] or found[3]}\\{found[2] or found[4]}", made)
    made = _BLOCK.sub(lambda found: f"{found[1]}\\" if found[1].isdigit() else f"\\{found[1]}", made)
    return _INDENT.sub(lambda found: "\u00a0" * len(found[0].expandtabs(4)), made)


def file_name(name: str) -> str:
    """The same for the same name; two names have two, also where capitals do not count."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:LONGEST]
    if slug and slug == name and slug not in _RESERVED:
        return slug
    return f"{slug}-{sha256(name.encode()).hexdigest()[:8]}".lstrip("-")
