"""The fields of a question."""

from retentive.surface.field import Field
from retentive.surface.options import ALSO, MIN_RELEVANCE, MIN_SIMILARITY, NOW, limit

FUSIONS = ("blend", "minmax", "rrf")
MODES = ("hybrid", "text", "vector")

QUERY = Field("query", "words", "", metavar="QUERY")
MODE = Field(
    "mode", "choice", "use keywords, vectors, or both", choices=MODES, default="hybrid", metavar="hybrid|text|vector"
)
FUSION = Field(
    "fusion",
    "choice",
    "how keyword and vector scores are combined",
    choices=FUSIONS,
    metavar="blend|minmax|rrf",
)
INCLUDE = Field(
    "include",
    "name",
    "memories, events (messages), files, profile, contacts, projects, skills, with commas; default: all",
    many=True,
    has_commas=True,
    metavar="WHAT",
)
SCOPE = Field(
    "scope",
    "choice",
    "session: only what belongs to the session of --session",
    choices=("all", "session"),
    metavar="all|session",
)
RRF_K = Field("rrf_k", "integer", "the constant of --fusion rrf (setting rrf_k: 60)", metavar="N")
WHY = Field("why", "flag", "explain each score")
SEARCH_OPTIONS = (
    limit(10),
    Field("all", "flag", "all hits that are relevant enough, without a limit"),
    MIN_RELEVANCE,
    MIN_SIMILARITY,
    MODE,
    FUSION,
    RRF_K,
    ALSO,
    INCLUDE,
    SCOPE,
    Field("ignored", "flag", "include contacts of type ignored"),
    NOW,
    WHY,
)
