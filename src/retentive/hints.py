"""Hints: each door words them for its own users.

Errors, notes and findings name verbs as the library has them, in backticks: "See `list()`." For a program their text is
right as it is. The terminal turns each call into a command (`retentive list`), an MCP server into the tool that does it
(`memory_list`).
"""

import re
from collections.abc import Callable, Collection
from shlex import quote
from typing import NamedTuple


class Verb(NamedTuple):
    """A verb of the library, as the other doors name it."""

    command: str
    """The words after `retentive`, before the arguments."""
    tools: tuple[str, ...] = ()
    """The MCP tools that do it, the best first. Words after the name say how."""


VERBS = {
    "add": Verb("add", ("memory_add",)),
    "backfill": Verb("backfill", ("memory_backfill",)),
    "backup": Verb("backup create"),
    "config.resolve": Verb("config"),
    "contacts.list": Verb("contact list", ("contact_list",)),
    "contacts.rollback": Verb("contact rollback"),
    "contacts.update": Verb("contact update", ("contact_save",)),
    "doctor": Verb("doctor"),
    "expectations.list": Verb("expect list"),
    "export": Verb("export", ("memory_export",)),
    "files.index": Verb("index", ("files_index",)),
    "files.list": Verb("files list"),
    "files.remove": Verb("files remove"),
    "forget": Verb("forget", ("memory_delete",)),
    "import_memories": Verb("import", ("memory_import",)),
    "integrity.accept": Verb("integrity accept"),
    "integrity.rotate": Verb("integrity rotate"),
    "integrity.start": Verb("integrity start"),
    "integrity.stop": Verb("integrity stop"),
    "list": Verb("list", ("memory_list", "memory_search")),
    "migrate": Verb("migrate"),
    "models.list": Verb("models list"),
    "models.pull": Verb("models pull"),
    "models.use": Verb("models use"),
    "models.verify": Verb("models verify"),
    "notes.list": Verb("note list", ("note with action list",)),
    "open": Verb("--db"),
    "profile.get": Verb("profile show --json"),
    "projects.list": Verb("project list", ("project_list",)),
    "projects.rollback": Verb("project rollback"),
    "projects.update": Verb("project update", ("project_save",)),
    "proposals.accept": Verb("review accept"),
    "proposals.list": Verb("review list", ("memory_review",)),
    "purge": Verb("purge", ("memory_purge",)),
    "quarantine": Verb("doctor --quarantine"),
    "reembed": Verb("reembed"),
    "reembed_status": Verb("reembed --status"),
    "repair": Verb("doctor --repair"),
    "restore": Verb("restore", ("memory_restore",)),
    "scale.check": Verb("scale check"),
    "scale.distribute": Verb("scale distribute"),
    "scale.undistribute": Verb("scale undistribute"),
    "search": Verb("search", ("memory_search",)),
    "sessions.events": Verb("session show", ("session_read",)),
    "sessions.list": Verb("session list", ("session_list",)),
    "skills.list": Verb("skill list", ("skill_list",)),
    "skills.rollback": Verb("skill rollback"),
    "skills.update": Verb("skill update", ("skill_save",)),
    "tokens.list": Verb("token list"),
    "undo_consolidation": Verb("consolidate --undo", ("memory_consolidate",)),
    "why": Verb("why", ("memory_history",)),
}

OPTIONS = {"confirm": "yes", "overwrite": "force"}
"""Arguments whose option on the terminal has another name."""

_CALL = re.compile(r"`(?:Retentive\.)?(?P<name>[a-z_]+(?:\.[a-z_]+)?)\((?P<arguments>(?:'[^'`]*'|[^'`()])*)\)`")
_ARGUMENT = re.compile(r"(?:(?P<name>[a-z_]+)=)?(?:'(?P<text>[^']*)'|(?P<value>[^',\s]+))")
_OPTION = re.compile(r"`(?P<argument>[a-z_]+=(?:'[^'`]*'|[A-Z]\w*|\d+))`")


def for_terminal(text: str) -> str:
    """Turn the calls and arguments that a text names into commands and options."""
    text = _replace_calls(text, lambda call, verb: f"`{_make_command(call, verb)}`")
    return _OPTION.sub(lambda option: f"`{_make_option(option['argument'])}`", text)


def for_tools(text: str, tools: Collection[str]) -> str:
    """Turn the calls that a text names into the tools that do them, of those offered; without one, into commands."""

    def word(call: re.Match[str], verb: Verb) -> str:
        for described in verb.tools:
            name, _, how = described.partition(" ")
            if name in tools:
                return f"`{name}` {how}".strip()
        return f"`{_make_command(call, verb)}` in a terminal"

    return _replace_calls(text, word)


def _replace_calls(text: str, word: Callable[[re.Match[str], Verb], str]) -> str:
    def replace(call: re.Match[str]) -> str:
        verb = VERBS.get(call["name"])
        return word(call, verb) if verb else call[0]

    return _CALL.sub(replace, text)


def _make_command(call: re.Match[str], verb: Verb) -> str:
    arguments = (_make_option(given[0]) for given in _ARGUMENT.finditer(call["arguments"]))
    program = [] if verb.command.startswith("--") else ["retentive"]
    return " ".join([*program, verb.command, *arguments])


def _make_option(argument: str) -> str:
    """Write an argument as it is typed: a value, `--name VALUE`, or `--name` where something is switched on."""
    found = _ARGUMENT.fullmatch(argument)
    if found is None:
        return argument
    value = found["value"] if found["text"] is None else quote(found["text"])
    if found["name"] is None:
        return value
    option = "--" + OPTIONS.get(found["name"], found["name"]).replace("_", "-")
    return option if value == "True" else f"{option} {value}"
