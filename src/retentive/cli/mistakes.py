"""Explain what is wrong with the words of a command line, and say what was probably meant."""

from difflib import get_close_matches

import click

from retentive.errors import Invalid
from retentive.surface.verb import Verb, VerbGroup
from retentive.surface.verbs import TOP_LEVEL, list_verbs

SYNONYMS = {
    "ask": "search", "cat": "get", "change": "update", "check": "doctor", "del": "forget", "delete": "forget",
    "edit": "update", "erase": "purge", "find": "search", "fix": "doctor", "info": "stats", "log": "history",
    "ls": "list", "memories": "list", "open": "get", "query": "search", "read": "get", "recall": "search",
    "remember": "add", "remove": "forget", "rm": "forget", "save": "add", "set": "config", "settings": "config",
    "setup": "install", "show": "get", "status": "stats", "store": "add", "undo": "restore", "view": "get",
}  # fmt: skip
GROUP_SYNONYMS = {
    "add": ("put", "append", "create"), "cat": ("show", "get"), "create": ("add", "append", "put"), "del": ("delete",),
    "edit": ("update", "put"), "find": ("match",), "get": ("show",), "ls": ("list",), "new": ("add", "create"),
    "open": ("show",), "read": ("show",), "remove": ("delete", "revoke"), "rm": ("delete", "remove", "revoke"),
    "search": ("find", "match"), "set": ("put", "update", "use"), "show": ("get", "info"), "view": ("show", "get"),
}  # fmt: skip
"""Words that people try in a group, and its verbs that they may mean."""


def explain(error: click.UsageError) -> Invalid:
    """Turn an error of click into one of ours, with a hint."""
    context = error.ctx
    verb = getattr(context.command, "verb", None) if context else None
    group = getattr(context.command, "verb_group", None) if context else None
    if isinstance(error, click.exceptions.NoSuchCommand):
        return _explain_group_verb(error.command_name, group) if group else _explain_verb(error.command_name)
    if isinstance(error, click.NoSuchOption):
        return _explain_option(error, verb)
    message = error.format_message().rstrip(".")
    if "unexpected extra argument" in message:
        message = f"too many words: {message.partition('(')[2].rstrip(')')}"
    return Invalid(f"{message[0].lower()}{message[1:]}", _name_help(verb))


def _explain_verb(word: str) -> Invalid:
    if " " in word.strip():
        start = word if len(word) <= 40 else f"{word[:39]}…"  # noqa: PLR2004 - enough to recognise it
        hint = "`retentive add TEXT` stores a text, `retentive search TEXT` looks for one."
        return Invalid(f"{start!r} is not a verb", hint)
    meant = [f"`retentive {each}`" for each in _guess_verbs(word.lower())]
    question = f"Did you mean {' or '.join(meant)}? " if meant else ""
    return Invalid(f"there is no verb {word!r}", f"{question}`retentive help` lists all verbs.")


def _guess_verbs(word: str) -> list[str]:
    if word in SYNONYMS:
        return [SYNONYMS[word]]
    if close := get_close_matches(word, TOP_LEVEL, 2, 0.7):
        return close
    inner = {each.own_name: each.name for each in list_verbs() if " " in each.name}
    by_name = [each.name for each in list_verbs() if each.own_name == word and " " in each.name]
    return by_name[:3] or [inner[each] for each in get_close_matches(word, inner, 1, 0.8)]


def _explain_group_verb(word: str, group: VerbGroup) -> Invalid:
    names = [each.own_name for each in group.verbs]
    meant = [each for each in GROUP_SYNONYMS.get(word, ()) if each in names] or get_close_matches(word, names, 1)
    question = f"Did you mean `retentive {group.name} {meant[0]}`? " if meant else ""
    return Invalid(f"{group.name} has no verb {word!r}", f"{question}It has: {', '.join(names)}.")


def _explain_option(error: click.NoSuchOption, verb: Verb | None) -> Invalid:
    name = error.option_name
    if meant := error.possibilities:
        hint = f"Did you mean {meant[0]}?"
    elif owners := _find_owners(name):
        hint = f"It is an option of {', '.join(f'`{each}`' for each in owners)}; write it after the verb."
    else:
        hint = _name_help(verb)
    if verb and any(each.type == "words" for each in verb.arguments):
        hint += " Part of a text? Put -- before the text."
    return Invalid(f"there is no option {name}", hint)


def _find_owners(option: str) -> list[str]:
    """Find at most three verbs that have an option."""
    owners = [verb.name for verb in list_verbs() if any(option in (each.option, each.short) for each in verb.options)]
    return owners[:3]


def _name_help(verb: Verb | None) -> str:
    return f"See `retentive {f'help {verb.name}' if verb else 'help'}`."
