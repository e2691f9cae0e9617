"""Verbs of what is known in fields: the profile, contacts, projects, skills.

The fields stand here a second time, beside `records/fields.py`, because `--help` imports nothing else; a test holds
the two together.
"""

import argparse
from argparse import ArgumentParser
from collections.abc import Collection
from typing import Any, NamedTuple

from retentive.cli.parser.options import TIMES, Verbs

FROM = "JSON as `--json` gives it; - reads a pipe"


class Field(NamedTuple):
    help: str
    flag: str = ""
    """If it is not the field's own name."""
    value: str = "TEXT"
    many: bool = False
    choices: tuple[str, ...] = ()
    whole: bool = False
    """Whether it is a number."""


FIELDS: dict[str, dict[str, Field]] = {
    "contact": {
        "name": Field("what they are called", value="NAME"),
        "aliases": Field("what else they are called; may be given several times", "--alias", "NAME", many=True),
        "email": Field("address", value="ADDRESS"),
        "phone": Field("telephone", value="NUMBER"),
        "company": Field("where they work", value="NAME"),
        "role": Field("what they do there"),
        "type": Field(
            "work, personal (if not given) or ignored", value="TYPE", choices=("work", "personal", "ignored")
        ),
        "notes": Field("anything else"),
    },
    "project": {
        "name": Field("what it is called", value="NAME"),
        "status": Field(
            "planned, active (if not given), paused, done, cancelled",
            value="STATUS",
            choices=("planned", "active", "paused", "done", "cancelled"),
        ),
        "type": Field("a word of your own"),
        "description": Field("what it is about"),
        "primary_contact": Field("whom to ask: a contact, by id, name or email", value="CONTACT"),
        "participants": Field("a contact, likewise; may be given several times", "--participant", "CONTACT", many=True),
        "company": Field("whose it is", value="NAME"),
        "priority": Field(
            "low, normal (if not given), high, urgent", value="HOW", choices=("low", "normal", "high", "urgent")
        ),
    },
    "skill": {
        "name": Field("what it is called", value="NAME"),
        "description": Field("what it is good for; by this it is found"),
        "instructions": Field("how it is done"),
        "required_tools": Field("a tool it needs; may be given several times", "--tool", "NAME", many=True),
        "execution_plan": Field("a step of it, in order; may be given several times", "--step", many=True),
        "max_steps": Field("steps that a run may take at most", value="N", whole=True),
    },
}
SKILL_ONLY = ("enabled", "trigger")  # fields that have options of more than one kind
HELP = {
    "contact": "know people",
    "project": "know what is being done, and with whom",
    "skill": "know how things are done",
}


def recording(verb: Verbs, words: Collection[str] | None) -> None:
    profile = verb.of(
        "profile",
        "say and see what is known of the user, as one document",
        alone="show",
        epilog="`retentive profile` alone is short for `profile show`.",
    )
    if words is None or "profile" in words:
        profiling(profile)
    for noun in FIELDS:
        own = verb.of(noun, HELP[noun])
        if words is None or noun in words:
            _common(own, noun)
            _OWN.get(noun, lambda _: None)(own)


def profiling(verb: Verbs) -> None:
    verb("show", "show the profile, and where its values came from")

    set_ = verb(
        "set",
        "set one value, or the whole document",
        _said(version=True),
        epilog="PATH is dog.name, or a JSON pointer: /dog/name. VALUE is JSON if it reads as such, else a text;\n"
        "without it, or with -, it is read from a pipe.",
    )
    set_.add_argument("path", nargs="?", metavar="PATH")
    set_.add_argument("value", nargs="?", metavar="VALUE")
    set_.add_argument("--string", action="store_true", help="VALUE is a text, whatever it reads as")
    set_.add_argument("--file", metavar="FILE", help=f"the value, or the document if there is no PATH: {FROM}")

    merge = verb("merge", "change it by a merge patch: null removes, objects are merged", _said(version=True))
    merge.add_argument("patch", nargs="?", metavar="JSON", help="an object; without it, or with -, from a pipe")

    patch = verb("patch", "change it by a JSON Patch: all of its operations, or none", _said(version=True))
    patch.add_argument("patch", nargs="?", metavar="JSON", help="a list; without it, or with -, from a pipe")

    schema = verb("schema", "show the JSON Schema that the document must meet, or set one", _said())
    schema.add_argument("file", nargs="?", metavar="FILE", help="the new one; - reads a pipe")
    schema.add_argument("--remove", action="store_true", help="allow any document from now on")

    verb("history", "tell what happened to the profile")
    _versions(verb("diff", "show what changed between two versions, as a JSON Patch"))
    rollback = verb("rollback", "make it as it was at a version, which is itself a change", _said())
    rollback.add_argument("to", type=int, metavar="VERSION")


def _common(verb: Verbs, noun: str) -> None:
    """What can be done with each of them."""
    add = verb("add", f"keep a {noun}", _fields(noun), _said())
    add.add_argument("name", nargs="?", default=argparse.SUPPRESS, metavar="NAME")

    show = verb("show", f"show a {noun}")
    list_ = verb("list", f"list {noun}s in the order of their names")
    list_.add_argument("--limit", type=int, default=50, metavar="N", help="how many on a page (50)")
    list_.add_argument("--after", metavar="ID", help="the page after this one: the `next` of the page before")

    update = verb(
        "update",
        f"change fields of a {noun}; what is not given stays",
        _fields(noun, emptied=True),
        _said(version=True),
        epilog="An empty text takes a field away. Lists are replaced whole.",
    )
    delete = verb("delete", f"take a {noun} away; `rollback` brings it back", _said(version=True))
    history = verb("history", f"tell what happened to a {noun}")
    diff = verb("diff", "show what changed between two versions, as a JSON Patch")
    rollback = verb("rollback", "make it as it was at a version, which is itself a change", _said())
    for each in (show, update, delete, history, diff, rollback):
        each.add_argument("id", metavar="ID", help="its id, or its name if no other is called so")
    update.add_argument("--name", default=argparse.SUPPRESS, metavar="NAME", help="another name")
    _versions(diff)
    rollback.add_argument("to", type=int, metavar="VERSION")


def _contact(verb: Verbs) -> None:
    find = verb("find", "find who may be meant: by name, also half or misspelt, email, phone, company, role")
    find.add_argument("text", metavar="TEXT")
    find.add_argument("--limit", type=int, default=10, metavar="N", help="how many at the most (10)")

    merge = verb("merge", "make one of two: OTHER goes into ID, and both histories are kept", _said())
    merge.add_argument("id", metavar="ID", help="id or name of the one that stays")
    merge.add_argument("other", metavar="OTHER", help="id or name of the one that goes into it")


def _skill(verb: Verbs) -> None:
    match = verb("match", "find the enabled skills that fit a request, best first")
    match.add_argument("text", nargs="?", metavar="TEXT", help="the request; without it, or with -, from a pipe")
    match.add_argument("--limit", type=int, default=5, metavar="N", help="how many at the most (5)")
    match.add_argument("--min-relevance", type=float, metavar="X", help="only those of at least this relevance, 0 to 1")
    match.add_argument("--why", action="store_true", help="show how each score came about")

    due = verb("due", "list the enabled skills whose schedule has come since they last ran")
    due.add_argument("--now", metavar="TIME", help=f"as if it were this time, {TIMES} ago")

    record = verb("record", "keep what came of a run, as a memory")
    record.add_argument("id", metavar="ID", help="id or name of the skill")
    record.add_argument("text", nargs="?", metavar="TEXT", help="what came of it; without it, or with -, from a pipe")
    record.add_argument("--failed", action="store_true", help="the run failed")
    record.add_argument("--at", metavar="TIME", help=f"when the run was over, {TIMES} ago; now if not given")
    record.add_argument("--metadata", metavar="JSON", help="an object of your own")

    runs = verb("runs", "show what came of the runs of a skill, the newest first")
    runs.add_argument("id", metavar="ID", help="id or name of the skill")
    runs.add_argument("--limit", type=int, default=20, metavar="N", help="how many at the most (20)")


_OWN = {"contact": _contact, "skill": _skill}


def _fields(noun: str, *, emptied: bool = False) -> ArgumentParser:
    options = ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    group = options.add_argument_group("fields")
    for name, field in FIELDS[noun].items():
        if name != "name":
            _option(group, name, field, emptied=emptied)
    if noun == "skill":
        _triggers(group)
    group.add_argument("--file", metavar="FILE", help=f"its fields: {FROM}; options count for more")
    return options


def _option(group: Any, name: str, field: Field, *, emptied: bool) -> None:
    flag = field.flag or f"--{name.replace('_', '-')}"
    more: dict[str, Any] = {"action": "append"} if field.many else {}
    if field.choices:
        more["choices"] = (*field.choices, "") if emptied else field.choices
    if field.whole:
        more["type"] = _whole
    group.add_argument(flag, dest=name, metavar=field.value, help=field.help, **more)


def _triggers(group: Any) -> None:
    group.add_argument("--enabled", dest="enabled", action="store_true", help="it may be found and be due")
    group.add_argument("--disabled", dest="enabled", action="store_false", help="it is kept, and left alone")
    trigger = group.add_mutually_exclusive_group()
    trigger.add_argument("--cron", metavar="EXPR", help="when it is due: minute, hour, day, month, weekday")
    trigger.add_argument("--event", metavar="NAME", help="what sets it off")
    trigger.add_argument("--manual", action="store_true", help="it is run when asked for (if nothing else is given)")
    trigger.add_argument("--trigger", metavar="JSON", help="any of these, written out")
    group.add_argument("--timezone", metavar="ZONE", help="of --cron, as Europe/Oslo; UTC if not given")


def _said(*, version: bool = False) -> ArgumentParser:
    options = ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    group = options.add_argument_group("the change")
    group.add_argument("--reason", metavar="WHY", help="for the history")
    group.add_argument("--actor", metavar="WHO", help="for the history (user)")
    if version:
        group.add_argument("--version", type=int, metavar="N", help="refuse unless it is still at this version")
    return options


def _versions(parser: ArgumentParser) -> None:
    parser.add_argument("old", type=int, metavar="OLD")
    parser.add_argument("new", type=int, nargs="?", metavar="NEW", help="the newest if not given")


def _whole(text: str) -> int | str:
    """Nothing stays nothing: it empties the field."""
    return int(text) if text else text
