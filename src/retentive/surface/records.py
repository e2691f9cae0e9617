"""The fields of contacts, projects and skills. A test compares them with `records/fields.py`."""

from retentive.surface.field import Field
from retentive.surface.options import ACTOR, REASON

CONTACT_TYPES = ("work", "personal", "ignored")
PROJECT_STATUSES = ("planned", "active", "paused", "done", "cancelled")
PRIORITIES = ("low", "normal", "high", "urgent")
JSON_HELP = "JSON as `--json` gives it; - reads a pipe"

_CONTACT = (
    Field("name", "words", "name of the person", metavar="NAME"),
    Field("aliases", "name", "another name; may be given several times", many=True, flag="--alias", metavar="NAME"),
    Field("email", "name", "email address", metavar="ADDRESS"),
    Field("phone", "name", "phone number", metavar="NUMBER"),
    Field("company", "name", "company they work for", metavar="NAME"),
    Field("role", "text", "their role there"),
    Field("type", "choice", "work, personal (if not given) or ignored", choices=CONTACT_TYPES, metavar="TYPE"),
    Field("notes", "text", "anything else"),
)
_PROJECT = (
    Field("name", "words", "its name", metavar="NAME"),
    Field(
        "status",
        "choice",
        "planned, active (if not given), paused, done, cancelled",
        choices=PROJECT_STATUSES,
        metavar="STATUS",
    ),
    Field("type", "name", "any word"),
    Field("description", "text", "what it is about"),
    Field("primary_contact", "id", "main contact, by id, name or email", of="contact", metavar="CONTACT"),
    Field(
        "participants",
        "id",
        "a contact who takes part; may be given several times",
        of="contact",
        many=True,
        flag="--participant",
        metavar="CONTACT",
    ),
    Field("company", "name", "company that owns it", metavar="NAME"),
    Field("priority", "choice", "low, normal (if not given), high, urgent", choices=PRIORITIES, metavar="HOW"),
)
_SKILL = (
    Field("name", "words", "its name", metavar="NAME"),
    Field("description", "text", "what it is good for; used to find it"),
    Field("instructions", "text", "how to do it"),
    Field("required_tools", "name", "a tool it needs; may be given several times", many=True, flag="--tool",
          metavar="NAME"),
    Field("execution_plan", "text", "a step of it, in order; may be given several times", many=True, flag="--step"),
    Field("max_steps", "integer", "maximum steps of a run", metavar="N"),
)  # fmt: skip
RECORD_FIELDS = {"contact": _CONTACT, "project": _PROJECT, "skill": _SKILL}

TRIGGERS = (
    Field("enabled", "flag", "enable or disable matching and scheduling", off_flag="--disabled", group="fields"),
    Field("cron", "text", "when it is due: minute, hour, day, month, weekday", metavar="EXPR", group="fields"),
    Field("event", "name", "the event that triggers it", metavar="NAME", group="fields"),
    Field("manual", "flag", "it is run on request (default)", group="fields"),
    Field("trigger", "object", "any of these as JSON", metavar="JSON", group="fields"),
    Field("timezone", "name", "of --cron, as Europe/Oslo; UTC if not given", metavar="ZONE", group="fields"),
)
EXCLUSIVE_TRIGGERS = ("cron", "event", "manual", "trigger")
SPECIAL_FIELDS = ("enabled", "trigger")  # fields that have options of more than one kind

FIELDS_FILE = Field("file", "path", f"its fields: {JSON_HELP}; options take precedence", metavar="FILE", group="fields")
CHANGE = tuple(each._replace(group="the change") for each in (REASON, ACTOR))
VERSION = Field("version", "integer", "refuse unless it is still at this version", metavar="N", group="the change")
VERSIONS = (
    Field("old", "integer", "", metavar="OLD", required=True),
    Field("new", "integer", "the newest if not given", metavar="NEW"),
)
TO = Field("to", "integer", "", metavar="VERSION", required=True)


def list_field_options(noun: str, *, is_change: bool = False) -> tuple[Field, ...]:
    """Return the options for the fields of a record. In a change, an empty text takes a value away."""
    fields = tuple(
        each._replace(group="fields", is_clearable=is_change) for each in RECORD_FIELDS[noun] if each.name != "name"
    )
    return (*fields, *(TRIGGERS if noun == "skill" else ()), FIELDS_FILE)
