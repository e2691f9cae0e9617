"""Make texts of a store harmless on a terminal: they must not send commands to it."""

import unicodedata

_CONTROL_CATEGORIES = ("Cc", "Cs", "Zl", "Zp")
_DIRECTION_MARKS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


def sanitise(text: str) -> str:
    """Put a text on one line: control characters and marks that change the direction become spaces."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(" " if _is_control(letter) else letter for letter in text)


def escape_controls(text: str) -> str:
    """Escape the characters of JSON that a terminal could obey. It stays the same JSON."""
    return "".join(f"\\u{ord(each):04x}" if _is_control(each) and each != "\n" else each for each in text)


def _is_control(letter: str) -> bool:
    return unicodedata.category(letter) in _CONTROL_CATEGORIES or letter in _DIRECTION_MARKS
