"""`config.toml`, changed in place: one setting gets a value, every other line and comment stays."""

import json
import os
import re
import tempfile
import tomllib
from contextlib import suppress
from pathlib import Path

from retentive.errors import BadConfig
from retentive.fs.folders import make_private
from retentive.fs.paths import reraise_os_errors

_VALUE = r"""("(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^#\s"']+)"""


Scalar = str | int | float | bool
"""A value of a setting, as TOML has it. JSON writes it the same way."""


def write_setting(path: Path, name: str, value: Scalar) -> None:
    """Set a value. A missing file is created. The file is replaced as a whole; a link stays a link."""
    hint = f"Write it there yourself: {name} = {json.dumps(value, ensure_ascii=False)}"
    with reraise_os_errors(f"{path} cannot be written", hint):
        path = path.resolve()
        text = _read(path)
        changed = set_line(text, name, value)
        _require_same(path, text, changed, name, value, hint)
        make_private(path.parent)
        _replace(path, changed)


def write_text(path: Path, text: str) -> None:
    """Replace the whole file, or create it. A link stays a link."""
    with reraise_os_errors(f"{path} cannot be written", "Choose another file: RETENTIVE_CONFIG=FILE."):
        path = path.resolve()
        make_private(path.parent)
        _replace(path, text)


def set_line(text: str, name: str, value: Scalar) -> str:
    """Return the text with the line of this setting: it replaces the old line or is appended."""
    line = f"{name} = {json.dumps(value, ensure_ascii=False)}"
    found = re.search(rf"^([ \t]*{name}[ \t]*=[ \t]*){_VALUE}", text, re.MULTILINE)
    if found:
        return text[: found.start()] + found[1] + json.dumps(value, ensure_ascii=False) + text[found.end() :]
    newline = "\r\n" if "\r\n" in text else "\n"
    return text + ("" if not text or text.endswith("\n") else newline) + line + newline


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise BadConfig(f"{path} is not UTF-8: {error.reason}") from error


def _require_same(path: Path, before: str, after: str, name: str, value: Scalar, hint: str) -> None:
    """Refuse a change that alters other settings: a value may have a layout that `set_line` does not know."""
    try:
        expected = tomllib.loads(before) | {name: value}
        is_same = tomllib.loads(after) == expected
    except tomllib.TOMLDecodeError as error:
        raise BadConfig(f"{path}: {error}", hint) from error
    if not is_same:
        raise BadConfig(f"{path}: the line that sets {name} cannot be edited automatically", hint)


def _replace(path: Path, text: str) -> None:
    """Replace the file by a new one in the same folder, with the permissions of the old one."""
    handle, passing = tempfile.mkstemp(".tmp", f".{path.name}.", path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileNotFoundError):
            Path(passing).chmod(path.stat().st_mode & 0o7777)
        Path(passing).replace(path)
    except BaseException:
        Path(passing).unlink(missing_ok=True)
        raise
