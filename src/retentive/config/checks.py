"""Checks of settings: each takes the text of a value and returns the value, or raises `ValueError` with the reason."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from retentive.providers.registry import PROVIDERS, is_provider_spec, parse_spec


def one_of(*choices: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in choices:
            raise ValueError(f"must be one of {', '.join(choices)}")
        return text

    return read


def between(low: float, high: float, convert: Callable[[str], Any] = float) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        value = convert(text)
        if not low <= value <= high:
            raise ValueError(f"must be between {low:g} and {high:g}")
        return value

    return read


def switch(text: str) -> bool:
    word = text.strip().lower()
    if word not in ("1", "0", "true", "false", "yes", "no", "on", "off"):
        raise ValueError("must be on or off")
    return word in ("1", "true", "yes", "on")


def daily_log(text: str) -> str:
    word = text.strip().lower()
    try:
        return word if word == "auto" else "on" if switch(text) else "off"
    except ValueError:
        raise ValueError("must be auto, on or off") from None


def path(text: str) -> str:
    """The path of a file or folder, unchanged. It need not exist."""
    try:
        Path(text).expanduser()
        text.encode()
    except RuntimeError as error:
        raise ValueError(str(error).rstrip(".")) from error
    except UnicodeEncodeError as error:
        raise ValueError("must be a path in UTF-8") from error
    if "\0" in text:
        raise ValueError("must be a path, without zero bytes")
    return text


def retention(text: str) -> str:
    from retentive.text.retention_rules import parse_rules

    parse_rules(text)
    return text


def folders(text: str) -> str:
    return ", ".join(name for each in text.split(",") if (name := each.strip()))


def token(text: str) -> str:
    if not text.isascii() or not text.strip().isprintable():
        raise ValueError("must be one line of plain characters")
    return text.strip()


def line(text: str) -> str:
    """Check that the text is one line and not empty."""
    if not text.strip() or not text.strip().isprintable():
        raise ValueError("must be one line of text")
    return text.strip()


def url(text: str) -> str:
    if text.strip() and not re.match(r"https?://[^/\s]", text.strip()):
        raise ValueError("must begin with http:// or https://")
    return text.strip()


def language_model(text: str) -> str:
    text = text.strip()
    if text != "none" and not (is_provider_spec(text) and parse_spec(text).provider.writes):
        known = ", ".join(name for name, provider in PROVIDERS.items() if provider.writes)
        raise ValueError(f"must be none or PROVIDER:MODEL, with one of {known}")
    return text
