"""Verbs of structured records: the profile, contacts, projects, skills.

The fields are listed here again, beside `records/fields.py`, because `--help` imports nothing else. A test compares
the two.
"""

import argparse
from argparse import ArgumentParser
from collections.abc import Collection
from typing import Any, NamedTuple

from retentive.cli.parser.options import TIME_HELP, VerbGroup

JSON_HELP = "JSON as `--json` gives it; - reads a pipe"


class FieldOption(NamedTuple):
    help: str
    flag: str = ""
    """The option, if it is not called like the field."""
    value: str = "TEXT"
    many: bool = False
    choices: tuple[str, ...] = ()
    whole: bool = False
    """Whether it is an integer."""


FIELDS: dict[str, dict[str, FieldOption]] = {
    "contact": {
        "name": FieldOption("name of the person", value="NAME"),
        "aliases": FieldOption("another name; may be given several times", "--alias", "NAME", many=True),
        "email": FieldOption("email address", value="ADDRESS"),
        "phone": FieldOption("phone number", value="NUMBER"),
        "company": FieldOption("company they work for", value="NAME"),
        "role": FieldOption("their role there"),
        "type": FieldOption(
            "work, personal (if not given) or ignored", value="TYPE", choices=("work", "personal", "ignored")
        ),
        "notes": FieldOption("anything else"),
    },
    "project": {
        "name": FieldOption("its name", value="NAME"),
        "status": FieldOption(
            "planned, active (if not given), paused, done, cancelled",
            value="STATUS",
            choices=("planned", "active", "paused", "done", "cancelled"),
        ),
        "type": FieldOption("any word"),
        "description": FieldOption("what it is about"),
        "primary_contact": FieldOption("main contact, by id, name or email", value="CONTACT"),
        "participants": FieldOption(
            "a contact who takes part; may be given several times", "--participant", "CONTACT", many=True
        ),
        "company": FieldOption("company that owns it", value="NAME"),
        "priority": FieldOption(
            "low, normal (if not given), high, urgent", value="HOW", choices=("low", "normal", "high", "urgent")
        ),
    },
    "skill": {
        "name": FieldOption("its name", value="NAME"),
        "description": FieldOption("what it is good for; used to find it"),
        "instructions": FieldOption("how to do it"),
        "required_tools": FieldOption("a tool it needs; may be given several times", "--tool", "NAME", many=True),
        "execution_plan": FieldOption("a step of it, in order; may be given several times", "--step", many=True),
        "max_steps": FieldOption("maximum steps of a run", value="N", whole=True),
    },
}
SPECIAL_FIELDS = ("enabled", "trigger")  # fields that have options of more than one kind
GROUP_HELP = {
    "contact": "manage contacts: people with names, roles, addresses",
    "project": "manage projects: status, participants, priority",
    "skill": "manage skills: reusable instructions with triggers",
}


def add_record_verbs(verb: VerbGroup, words: Collection[str] | None) -> None:
    profile = verb.of(
        "profile",
        "manage the user profile: one JSON document with a history",
        alone="show",
        epilog="`retentive profile` alone is short for `profile show`.",
    )
    if words is None or "profile" in words:
        add_profile_verbs(profile)
    for noun in FIELDS:
        own = verb.of(noun, GROUP_HELP[noun])
        if words is None or noun in words:
            _add_common_verbs(own, noun)
            if noun in _SPECIAL_VERBS:
                _SPECIAL_VERBS[noun](own)


def add_profile_verbs(verb: VerbGroup) -> None:
    verb("show", "show the profile, and the sources of its values")

    set_ = verb(
        "set",
        "set one value, or the whole document",
        _make_change_options(version=True),
        epilog="PATH is dog.name, or a JSON pointer: /dog/name. VALUE is JSON if it reads as such, else a text;\n"
        "without it, or with -, it is read from a pipe.",
    )
    set_.add_argument("path", nargs="?", metavar="PATH")
    set_.add_argument("value", nargs="?", metavar="VALUE")
    set_.add_argument("--string", action="store_true", help="VALUE is a string, even if it looks like JSON")
    set_.add_argument("--file", metavar="FILE", help=f"the value, or the document if there is no PATH: {JSON_HELP}")

    merge = verb(
        "merge", "apply a JSON merge patch: null removes, objects are merged", _make_change_options(version=True)
    )
    merge.add_argument("patch", nargs="?", metavar="JSON", help="an object; without it, or with -, from a pipe")

    patch = verb("patch", "apply a JSON Patch: all of its operations, or none", _make_change_options(version=True))
    patch.add_argument("patch", nargs="?", metavar="JSON", help="a list; without it, or with -, from a pipe")

    schema = verb("schema", "show the JSON Schema that the document must meet, or set one", _make_change_options())
    schema.add_argument("file", nargs="?", metavar="FILE", help="the new one; - reads a pipe")
    schema.add_argument("--remove", action="store_true", help="allow any document from now on")

    verb("history", "show the history of the profile")
    _add_version_arguments(verb("diff", "show what changed between two versions, as a JSON Patch"))
    rollback = verb("rollback", "restore an older version as a new version", _make_change_options())
    rollback.add_argument("to", type=int, metavar="VERSION")


def _add_common_verbs(verb: VerbGroup, noun: str) -> None:
    """Add the verbs that all three have."""
    add = verb("add", f"add a {noun}", _make_field_options(noun), _make_change_options())
    add.add_argument("name", nargs="?", default=argparse.SUPPRESS, metavar="NAME")

    show = verb("show", f"show a {noun}")
    list_ = verb("list", f"list {noun}s by name")
    list_.add_argument("--limit", type=int, default=50, metavar="N", help="how many on a page (50)")
    list_.add_argument("--after", metavar="ID", help="the page after this one: the `next` of the page before")

    update = verb(
        "update",
        f"change fields of a {noun}; what is not given stays",
        _make_field_options(noun, emptied=True),
        _make_change_options(version=True),
        epilog="An empty text takes a field away. Lists are replaced whole.",
    )
    delete = verb("delete", f"delete a {noun}; `rollback` restores it", _make_change_options(version=True))
    history = verb("history", f"show the history of a {noun}")
    diff = verb("diff", "show what changed between two versions, as a JSON Patch")
    rollback = verb("rollback", "restore an older version as a new version", _make_change_options())
    for each in (show, update, delete, history, diff, rollback):
        each.add_argument("id", metavar="ID", help="its id, or its name if no other is called so")
    update.add_argument("--name", default=argparse.SUPPRESS, metavar="NAME", help="another name")
    _add_version_arguments(diff)
    rollback.add_argument("to", type=int, metavar="VERSION")


def _add_contact_verbs(verb: VerbGroup) -> None:
    find = verb("find", "find contacts by name (also partial or misspelt), email, phone, company or role")
    find.add_argument("text", metavar="TEXT")
    find.add_argument("--limit", type=int, default=10, metavar="N", help="maximum number of hits (10)")

    merge = verb("merge", "merge OTHER into ID; both histories are kept", _make_change_options())
    merge.add_argument("id", metavar="ID", help="id or name of the one that stays")
    merge.add_argument("other", metavar="OTHER", help="id or name of the one that goes into it")


def _add_skill_verbs(verb: VerbGroup) -> None:
    match = verb("match", "find the enabled skills that fit a request, best first")
    match.add_argument("text", nargs="?", metavar="TEXT", help="the request; without it, or with -, from a pipe")
    match.add_argument("--limit", type=int, default=5, metavar="N", help="maximum number of hits (5)")
    match.add_argument("--min-relevance", type=float, metavar="X", help="only those of at least this relevance, 0 to 1")
    match.add_argument("--why", action="store_true", help="explain each score")

    due = verb("due", "list the enabled skills whose scheduled time has passed since their last run")
    due.add_argument("--now", metavar="TIME", help=f"as if it were this time, {TIME_HELP} ago")

    record = verb("record", "record the outcome of a run as a memory")
    record.add_argument("id", metavar="ID", help="id or name of the skill")
    record.add_argument("text", nargs="?", metavar="TEXT", help="the outcome; without it, or with -, from a pipe")
    record.add_argument("--failed", action="store_true", help="the run failed")
    record.add_argument("--at", metavar="TIME", help=f"when the run was over, {TIME_HELP} ago; now if not given")
    record.add_argument("--metadata", metavar="JSON", help="any JSON object")

    runs = verb("runs", "list the recorded runs of a skill, newest first")
    runs.add_argument("id", metavar="ID", help="id or name of the skill")
    runs.add_argument("--limit", type=int, default=20, metavar="N", help="maximum number of hits (20)")


_SPECIAL_VERBS = {"contact": _add_contact_verbs, "skill": _add_skill_verbs}


def _make_field_options(noun: str, *, emptied: bool = False) -> ArgumentParser:
    options = ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    group = options.add_argument_group("fields")
    for name, field in FIELDS[noun].items():
        if name != "name":
            _add_field_option(group, name, field, emptied=emptied)
    if noun == "skill":
        _add_trigger_options(group)
    group.add_argument("--file", metavar="FILE", help=f"its fields: {JSON_HELP}; options count for more")
    return options


def _add_field_option(group: Any, name: str, field: FieldOption, *, emptied: bool) -> None:
    flag = field.flag or f"--{name.replace('_', '-')}"
    more: dict[str, Any] = {"action": "append"} if field.many else {}
    if field.choices:
        more["choices"] = (*field.choices, "") if emptied else field.choices
    if field.whole:
        more["type"] = _parse_int_or_empty
    group.add_argument(flag, dest=name, metavar=field.value, help=field.help, **more)


def _add_trigger_options(group: Any) -> None:
    group.add_argument("--enabled", dest="enabled", action="store_true", help="it can be matched and be due")
    group.add_argument("--disabled", dest="enabled", action="store_false", help="it is kept, but never matched or due")
    trigger = group.add_mutually_exclusive_group()
    trigger.add_argument("--cron", metavar="EXPR", help="when it is due: minute, hour, day, month, weekday")
    trigger.add_argument("--event", metavar="NAME", help="the event that triggers it")
    trigger.add_argument("--manual", action="store_true", help="it is run on request (default)")
    trigger.add_argument("--trigger", metavar="JSON", help="any of these as JSON")
    group.add_argument("--timezone", metavar="ZONE", help="of --cron, as Europe/Oslo; UTC if not given")


def _make_change_options(*, version: bool = False) -> ArgumentParser:
    options = ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    group = options.add_argument_group("the change")
    group.add_argument("--reason", metavar="WHY", help="for the history")
    group.add_argument("--actor", metavar="WHO", help="who changes it, for the history (user)")
    if version:
        group.add_argument("--version", type=int, metavar="N", help="refuse unless it is still at this version")
    return options


def _add_version_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("old", type=int, metavar="OLD")
    parser.add_argument("new", type=int, nargs="?", metavar="NEW", help="the newest if not given")


def _parse_int_or_empty(text: str) -> int | str:
    """Parse an integer; an empty text stays empty and clears the field."""
    return int(text) if text else text
