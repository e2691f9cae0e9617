"""Show and change the settings."""

import json
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from retentive import config
from retentive.cli import output
from retentive.cli.args import is_json, pick_options
from retentive.config import settings_file
from retentive.config.groups import SETTING_GROUPS
from retentive.errors import BadConfig, Invalid

_COMMON = ("db", "namespace", "embedder")
_EDITORS = {"win32": "notepad"}  # where neither VISUAL nor EDITOR is set; elsewhere vi, which POSIX promises
_NEW_FILE = """\
# Settings of Retentive: one a line, as `name = "value"`.
# `retentive config` lists them all.
"""


def _resolve(arguments: Any) -> Mapping[str, config.Value]:
    return config.mask_secrets(config.resolve(pick_options(arguments, _COMMON)))


def _list(arguments: Any) -> int:
    found = _resolve(arguments)
    if is_json(arguments):
        output.print_json({name: value._asdict() for name, value in found.items()})
    elif sys.stdout.isatty():
        from retentive.cli.draw.console import draw
        from retentive.cli.draw.settings import make_settings

        draw(make_settings(found, SETTING_GROUPS))
        output.print_hint("explain one: retentive config get NAME   change it: retentive config set NAME VALUE")
    else:
        output.print_table((), [(name, value.value, value.origin) for name, value in found.items()])
    return 0


def _get(arguments: Any) -> int:
    setting = config.find_setting(arguments.name)
    value = _resolve(arguments)[setting.name]
    if is_json(arguments):
        output.print_json({setting.name: value._asdict()})
        return 0
    output.print_line(str(value.value))
    output.print_hint(setting.meaning)
    output.print_hint(f"from: {value.origin}")
    return 0


def _set(arguments: Any) -> int:
    setting = config.find_setting(arguments.name)
    value = config.check_for_file(setting, arguments.value)
    before = config.resolve()[setting.name]  # a file that cannot be read is refused before it is changed
    path = _find_file()
    settings_file.write_setting(path, setting.name, value)
    now = config.resolve()[setting.name]
    shown = config.SECRET if setting.secret else value
    if is_json(arguments):
        output.print_json({"setting": setting.name, "value": shown, "file": str(path), "used": now.origin == str(path)})
        return 0
    output.print_line(f"{setting.name} = {json.dumps(shown, ensure_ascii=False)}, in {path}")
    if now.origin == setting.variable:
        output.print_notes([f"the environment variable {setting.variable} has another value, and takes precedence"])
    elif before.value != now.value and setting.name == "embedder":
        output.print_hint("a store with memories needs new vectors: retentive reembed --model " + str(shown))
    return 0


def _edit(arguments: Any) -> int:
    """Let a person edit a draft of the file. It takes the place of the file if it can be used."""
    path = _find_file()
    draft = path.with_name(f"{path.name}.draft")
    if not draft.exists():
        settings_file.write_text(draft, path.read_text("utf-8") if path.exists() else _NEW_FILE)
    _run_editor(draft)
    try:
        config.resolve(file=draft)
    except BadConfig as error:
        hint = f"{error.hint} {path} is unchanged; `retentive config edit` opens your draft again."
        raise BadConfig(str(error), hint.strip()) from error
    settings_file.write_text(path, draft.read_text("utf-8"))
    draft.unlink()
    if is_json(arguments):
        output.print_json({"file": str(path)})
    else:
        output.print_line(f"{path} is valid and in use")
    return 0


def _run_editor(path: Path) -> None:
    environment = config.environment()
    editor = environment.get("VISUAL") or environment.get("EDITOR") or _EDITORS.get(sys.platform, "vi")
    hint = "Name one that is installed: `EDITOR=nano retentive config edit`."
    try:
        command = [*shlex.split(editor), str(path)]
        code = subprocess.run(command, check=False).returncode  # noqa: S603 - the editor that the user named
    except (OSError, ValueError) as error:
        raise Invalid(f"the editor {editor!r} cannot be started", hint) from error
    if code:
        raise Invalid(f"the editor {editor!r} ended with {code}: nothing was changed", hint)


def _find_file() -> Path:
    path = config.settings_path()
    if path.exists() and not path.is_file():
        raise BadConfig(f"{path} cannot be written", "Choose one: RETENTIVE_CONFIG=FILE.")
    return path


def _path(arguments: Any) -> int:
    path = config.settings_path()
    if is_json(arguments):
        output.print_json({"file": str(path), "exists": path.exists()})
        return 0
    output.print_line(str(path))
    if not path.exists():
        output.print_hint("it does not exist yet: retentive config set NAME VALUE creates it")
    return 0


WITHOUT_STORE: dict[str, Callable[[Any], int]] = {
    "config list": _list,
    "config get": _get,
    "config set": _set,
    "config edit": _edit,
    "config path": _path,
}
