"""The fields of a memory that a caller gives, and the filters by which memories are chosen."""

from retentive.surface.field import TIME_HELP, Field

KINDS = (
    "fact", "preference", "personal", "background", "pattern", "project",
    "contact", "decision", "instruction", "outcome", "note", "file",
)  # fmt: skip
SOURCES = ("explicit", "extracted", "conversation", "file", "import", "assistant", "tool")
STATUSES = ("active", "superseded", "forgotten", "expired")
MAX_TAGS = 64
MIN_IMPORTANCE, MAX_IMPORTANCE = 1, 10

KIND = Field("kind", "choice", f"one of {', '.join(KINDS)}", choices=KINDS, default="fact", short="-k", metavar="KIND")
TAGS = Field("tags", "name", "may be given several times", many=True, flag="--tag", short="-t", metavar="TAG")
IMPORTANCE = Field(
    "importance",
    "integer",
    "1 (trivial) to 10 (vital); 5 if not given",
    low=MIN_IMPORTANCE,
    high=MAX_IMPORTANCE,
    default=5,
    short="-i",
    metavar="N",
    tool_help="9-10: always shown to you",
)
CONFIDENCE = Field("confidence", "number", "0 (a guess) to 1 (certain)", low=0, high=1, metavar="X")
CONTEXT = Field("context", "text", "its context, which is searched too", is_clearable=True)
SLOT = Field(
    "slot",
    "name",
    "the attribute that it is the value of, e.g. user.dog.name",
    metavar="NAME",
    is_clearable=True,
    tool_help="What it is the value of, e.g. user.dog.name: replaces the old value",
)
EXPIRES = Field(
    "expires", "time", f"when it stops being true, {TIME_HELP}", metavar="TIME", is_end=True, is_clearable=True
)
VALID_FROM = Field("valid_from", "time", "since when it is true, if not now", metavar="TIME")
METADATA = Field("metadata", "object", "any JSON object", metavar="JSON")
SESSION = Field(
    "session", "session", "store it for this session only", short="-s", metavar="ID", tool_help="For this session only"
)
SOURCE = Field(
    "source", "choice", ", ".join(SOURCES), choices=SOURCES, default="explicit", metavar="SOURCE",
    tool_help="If the user did not say it",
)  # fmt: skip
REPLACES = Field(
    "replaces",
    "id",
    "a memory that this one replaces; may be given several times",
    many=True,
    of="memory",
    metavar="ID",
    tool_help="Ids it surely replaces",
)

CONTENT_FIELDS = (KIND, TAGS, IMPORTANCE, CONFIDENCE, CONTEXT, SLOT, EXPIRES, VALID_FROM, METADATA)
"""What `add` takes beside the text, and `update` changes."""
FREE_TEXT_FIELDS = tuple(each.name for each in CONTENT_FIELDS if each.many or each.type in ("text", "object"))
"""The fields in which a user may write anything, so also a secret."""
ADD_FIELDS = (*CONTENT_FIELDS, SESSION, SOURCE, REPLACES)

FILTERS = (
    KIND._replace(help="may be given several times", many=True, default=None, group="filters"),
    TAGS._replace(help="must have all of the tags", group="filters"),
    SOURCE._replace(many=True, default=None, tool_help="", group="filters"),
    Field("status", "choice", ", ".join(STATUSES), many=True, choices=STATUSES, metavar="STATUS", group="filters"),
    SESSION._replace(help="include memories of this session; search no other conversation", group="filters"),
    Field(
        "min_importance", "integer", "1 to 10", low=MIN_IMPORTANCE, high=MAX_IMPORTANCE, metavar="N", group="filters"
    ),
    Field("min_confidence", "number", "0 to 1", low=0, high=1, metavar="X", group="filters"),
    Field("since", "time", f"true from this time on, {TIME_HELP} ago", metavar="TIME", group="filters"),
    Field("until", "time", "true from before this time", metavar="TIME", group="filters"),
)
PAST = (
    Field(
        "as_of", "time", f"what was true at this time, {TIME_HELP} ago", metavar="TIME", group="the past",
        tool_help="What was true at this time",
    ),
    Field("known_at", "time", "what the store believed to be true at this time", metavar="TIME", group="the past"),
)  # fmt: skip
