"""Fields that verbs of several topics share."""

from retentive.surface.field import Field

EVERYWHERE = (
    Field("db", "path", "the store (default: memory.db in your data folder)", metavar="FILE", group="everywhere"),
    Field(
        "namespace",
        "namespace",
        "the namespace, e.g. alice/coder; auto: that of this project",
        short="-n",
        metavar="NAME",
        group="everywhere",
    ),
    Field("json", "flag", "answer in JSON", short="-j", group="everywhere"),
    Field(
        "embedder",
        "model",
        "the embedding model: see `retentive models list`",
        metavar="MODEL",
        group="everywhere",
    ),
)
"""Options that are accepted before the verb and after it."""

ID = Field("id", "id", "", of="memory", metavar="ID", required=True)
IDS = ID._replace(name="ids", many=True)
TEXT = Field("text", "words", "", metavar="TEXT")
PIPED = "Without TEXT, or with -, it is read from a pipe."

REASON = Field("reason", "text", "for the history", metavar="WHY")
ACTOR = Field("actor", "name", "who changes it, for the history (user)", metavar="WHO")
YES = Field("yes", "flag", "do not ask", short="-y")
DRY_RUN = Field("dry_run", "flag", "only show what would be done")
METADATA = Field("metadata", "object", "any JSON object", metavar="JSON")
TAGS = Field("tags", "name", "may be given several times", many=True, flag="--tag", short="-t", metavar="TAG")
SESSION = Field("session", "session", "store it for this session only", short="-s", metavar="ID")
NOW = Field("now", "time", 'when the question is asked: "last week" counts from there', metavar="TIME")
AFTER = Field("after", "id", "`next` of the previous page", of="memory", metavar="ID")
ALSO = Field("also", "namespace", "search this namespace too; a/*", many=True, metavar="NAME")
MIN_RELEVANCE = Field("min_relevance", "number", "minimum relevance of a hit, 0 to 1", metavar="X")
MIN_SIMILARITY = Field("min_similarity", "number", "minimum cosine of a vector hit", metavar="X")


def limit(default: int, help: str = "maximum number of hits") -> Field:
    return Field("limit", "integer", f"{help} ({default})", default=default, short="-l", metavar="N")


def page(of: str) -> tuple[Field, Field]:
    """Return the options of a list that is shown in pages."""
    return limit(50, "how many on a page"), AFTER._replace(of=of)
