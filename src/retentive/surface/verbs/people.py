"""Verbs of the profile, contacts, projects and skills."""

from retentive.surface.field import TIME_HELP, Field
from retentive.surface.options import ID, METADATA, MIN_RELEVANCE, TEXT, limit, page
from retentive.surface.records import (
    CHANGE,
    EXCLUSIVE_TRIGGERS,
    JSON_HELP,
    RECORD_FIELDS,
    TO,
    VERSION,
    VERSIONS,
    list_field_options,
)
from retentive.surface.search import WHY
from retentive.surface.verb import Topic, Verb, VerbGroup

_NAMES = {"contact": "Anna Keller", "project": "Atlas", "skill": "Weekly report"}  # in the examples
_CHANGES = {"contact": "--company Acme", "project": "--status paused", "skill": "--max-steps 5"}
_PIPED_JSON = "without it, or with -, from a pipe"

_PROFILE_VERBS = (
    Verb(
        "profile show",
        "show the profile, and the sources of its values",
        examples=("profile", "profile show --json"),
    ),
    Verb(
        "profile set",
        "set one value, or the whole document",
        (Field("path", "name", "", metavar="PATH"), Field("value", "words", "", metavar="VALUE")),
        (
            Field("string", "flag", "VALUE is a string, even if it looks like JSON"),
            Field("file", "path", f"the value, or the document if there is no PATH: {JSON_HELP}", metavar="FILE"),
            *CHANGE,
            VERSION,
        ),
        ("profile set dog.name Rex", 'profile set languages \'["en", "no"]\''),
        "PATH is dog.name, or a JSON pointer: /dog/name. VALUE is JSON if it reads as such, else a text;\n"
        "without it, or with -, it is read from a pipe.",
    ),
    Verb(
        "profile merge",
        "apply a JSON merge patch: null removes, objects are merged",
        (Field("patch", "words", f"an object; {_PIPED_JSON}", metavar="JSON"),),
        (*CHANGE, VERSION),
        ('profile merge \'{"dog": {"name": "Max"}}\'',),
    ),
    Verb(
        "profile patch",
        "apply a JSON Patch: all of its operations, or none",
        (Field("patch", "words", f"a list; {_PIPED_JSON}", metavar="JSON"),),
        (*CHANGE, VERSION),
        ('profile patch \'[{"op": "remove", "path": "/dog"}]\'',),
    ),
    Verb(
        "profile schema",
        "show the JSON Schema that the document must meet, or set one",
        (Field("file", "path", "the new one; - reads a pipe", metavar="FILE"),),
        (Field("remove", "flag", "allow any document from now on"), *CHANGE),
        ("profile schema schema.json", "profile schema --remove"),
    ),
    Verb("profile history", "show the history of the profile", examples=("profile history",)),
    Verb(
        "profile diff",
        "show what changed between two versions, as a JSON Patch",
        VERSIONS,
        examples=("profile diff 3", "profile diff 1 3"),
    ),
    Verb(
        "profile rollback",
        "restore an older version as a new version",
        (TO,),
        CHANGE,
        ("profile rollback 3", 'profile rollback 3 --reason "wrong dog"'),
    ),
)


def _declare_common_verbs(noun: str) -> tuple[Verb, ...]:
    """Declare the verbs that contacts, projects and skills share."""
    name = _NAMES[noun]
    quoted = f'"{name}"' if " " in name else name
    id = ID._replace(of=noun, help="its id, or its name if no other is called so")
    own_name = next(field for field in RECORD_FIELDS[noun] if field.name == "name")
    exclusive = (EXCLUSIVE_TRIGGERS,) if noun == "skill" else ()
    return (
        Verb(
            f"{noun} add",
            f"add a {noun}",
            (own_name._replace(help=""),),
            (*list_field_options(noun), *CHANGE),
            (f"{noun} add {quoted} {_CHANGES[noun]}", f"{noun} add --file {noun}.json"),
            exclusive=exclusive,
        ),
        Verb(f"{noun} show", f"show a {noun}", (id,), examples=(f"{noun} show {quoted}",)),
        Verb(
            f"{noun} list",
            f"list {noun}s by name",
            options=page(noun),
            examples=(f"{noun} list", f"{noun} list --limit 10 --json"),
        ),
        Verb(
            f"{noun} update",
            f"change fields of a {noun}; what is not given stays",
            (id,),
            (
                own_name._replace(type="name", help="another name"),
                *list_field_options(noun, is_change=True),
                *CHANGE,
                VERSION,
            ),
            (f"{noun} update {quoted} {_CHANGES[noun]}",),
            "An empty text removes a field. Lists are replaced whole.",
            exclusive,
        ),
        Verb(
            f"{noun} delete",
            f"delete a {noun}; `rollback` restores it",
            (id,),
            (*CHANGE, VERSION),
            (f"{noun} delete {quoted}",),
        ),
        Verb(f"{noun} history", f"show the history of a {noun}", (id,), examples=(f"{noun} history {quoted}",)),
        Verb(
            f"{noun} diff",
            "show what changed between two versions, as a JSON Patch",
            (id, *VERSIONS),
            examples=(f"{noun} diff {quoted} 1", f"{noun} diff {quoted} 1 3"),
        ),
        Verb(
            f"{noun} rollback",
            "restore an older version as a new version",
            (id, TO),
            CHANGE,
            (f"{noun} rollback {quoted} 2",),
        ),
    )


_CONTACT_VERBS = (
    Verb(
        "contact find",
        "find contacts by name (also misspelt), email, phone, company or role",
        (TEXT._replace(required=True),),
        (limit(10),),
        ("contact find ana keler", "contact find acme --limit 3"),
    ),
    Verb(
        "contact merge",
        "merge OTHER into ID; both histories are kept",
        (
            ID._replace(of="contact", help="id or name of the one that stays"),
            ID._replace(name="other", of="contact", metavar="OTHER", help="id or name of the one that goes into it"),
        ),
        CHANGE,
        ('contact merge "Anna Keller" Ania',),
    ),
)
_SKILL = ID._replace(of="skill", help="id or name of the skill")
_SKILL_VERBS = (
    Verb(
        "skill match",
        "find the enabled skills that fit a request, best first",
        (TEXT._replace(help=f"the request; {_PIPED_JSON}"),),
        (limit(5), MIN_RELEVANCE._replace(help="minimum relevance, 0 to 1"), WHY),
        ("skill match write the report", "skill match write the report --limit 1 --json"),
    ),
    Verb(
        "skill due",
        "list enabled skills whose scheduled time has passed since their last run",
        options=(Field("now", "time", f"as if it were this time, {TIME_HELP} ago", metavar="TIME"),),
        examples=("skill due", "skill due --now 2026-12-31T18:00+01:00"),
    ),
    Verb(
        "skill record",
        "record the outcome of a run as a memory",
        (_SKILL, TEXT._replace(help=f"the outcome; {_PIPED_JSON}")),
        (
            Field("failed", "flag", "the run failed"),
            Field("at", "time", f"when the run was over, {TIME_HELP} ago; now if not given", metavar="TIME"),
            METADATA,
        ),
        ('skill record "Weekly report" Sent to the team', 'skill record "Weekly report" --failed "No network"'),
    ),
    Verb(
        "skill runs",
        "list the recorded runs of a skill, newest first",
        (_SKILL,),
        (limit(20),),
        ('skill runs "Weekly report"',),
    ),
)
PEOPLE = Topic(
    "People and projects",
    (
        VerbGroup(
            "profile",
            "manage the user profile: one JSON document with a history",
            _PROFILE_VERBS,
            alone="show",
            epilog="`retentive profile` alone is short for `profile show`.",
        ),
        VerbGroup(
            "contact",
            "manage contacts: people with names, roles, addresses",
            (*_declare_common_verbs("contact"), *_CONTACT_VERBS),
        ),
        VerbGroup("project", "manage projects: status, participants, priority", _declare_common_verbs("project")),
        VerbGroup(
            "skill",
            "manage skills: reusable instructions with triggers",
            (*_declare_common_verbs("skill"), *_SKILL_VERBS),
        ),
    ),
)
