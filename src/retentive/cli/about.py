"""Verbs about the program itself. They open no store, and import nothing of the library: they answer at once."""

import json
import sys
from collections.abc import Callable
from typing import Any

from retentive import __version__


def _help(arguments: Any) -> int:
    from retentive.cli.help import render_help

    return _print("help", render_help(arguments.verb_name), arguments)


def _version(arguments: Any) -> int:
    text = __version__ if arguments.json else f"retentive {__version__}\n"
    return _print("version", text, arguments)


def _completion(arguments: Any) -> int:
    from retentive.cli.completion import make_script

    script = make_script(arguments.shell)
    if arguments.json:
        return _print_json({"shell": arguments.shell, "script": script})
    return _print("script", script, arguments)


def _print(name: str, text: str, arguments: Any) -> int:
    if arguments.json:
        return _print_json({name: text})
    sys.stdout.write(text)
    return 0


def _print_json(value: object) -> int:
    sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")
    return 0


VERBS: dict[str, Callable[[Any], int]] = {"completion": _completion, "help": _help, "version": _version}
