"""Verbs of indexed files, of exports and imports."""

from retentive.surface.field import Field
from retentive.surface.options import DRY_RUN, SESSION, TAGS, page
from retentive.surface.verb import Topic, Verb, VerbGroup

IMPORT_FORMATS = (
    "retentive", "mem0", "mcp-memory", "mcp-memory-service", "basic-memory", "claude-memory", "markdown", "csv",
)  # fmt: skip
EXPORT_PARTS = (
    "memories", "sessions", "records", "files", "expectations", "proposals", "hidden-messages", "access-log", "purges",
)  # fmt: skip
TRUSTS = ("user", "stated", "import")
_IGNORED_HELP = """\
Not indexed: files that .gitignore or .retentiveignore exclude, in any folder; hidden files; node_modules and the like;
files over the limit; files of unknown types. Files on disk are never changed."""

_PATHS = Field("paths", "path", "a folder or a file", many=True, required=True, metavar="PATH")
_FORCE = Field("force", "flag", "overwrite a file that is not an export")
_INDEX_OPTIONS = (
    SESSION._replace(help="make them visible in this session only"),
    TAGS,
    Field("limit_kb", "integer", "largest file in kilobytes (setting max_file_kb: 100)", metavar="N"),
    Field(
        "ignore",
        "text",
        "exclude this, like a line of .gitignore; !PATTERN includes it; may be given several times",
        many=True,
        metavar="PATTERN",
    ),
)
_FILES_VERBS = (
    Verb(
        "files list",
        "list the indexed files by path",
        options=(*page("file"), SESSION._replace(help="only those of this session")),
        examples=("files list", "files list --limit 10 --json"),
    ),
    Verb(
        "files show",
        "show details of an indexed file",
        (Field("path", "path", "or its id", required=True, of="file", metavar="PATH"),),
        (SESSION._replace(help="the one of this session"),),
        ("files show notes/plan.md",),
    ),
    Verb(
        "files remove",
        "remove files or folders from the index; they stay on disk",
        (_PATHS._replace(help="or the id of a file", of="file"),),
        (SESSION._replace(help="those of this session"), DRY_RUN._replace(help="only show what would be removed")),
        ("files remove notes/old --dry-run", "files remove notes/plan.md"),
    ),
)
FILES = Topic(
    "Files",
    (
        Verb(
            "index",
            "index files and folders for search, or update their index",
            (_PATHS,),
            (*_INDEX_OPTIONS, DRY_RUN),
            ("index ~/notes", 'index . --ignore "*.log" --dry-run'),
            _IGNORED_HELP,
        ),
        Verb(
            "watch",
            "index folders, and keep the index up to date as files change",
            (_PATHS,),
            (
                *_INDEX_OPTIONS,
                Field("poll", "flag", "check every few seconds, for network drives that report no changes"),
            ),
            ("watch ~/notes", "watch /mnt/shared --poll"),
            _IGNORED_HELP,
        ),
        VerbGroup("files", "list, show and remove indexed files", _FILES_VERBS),
        Verb(
            "import",
            "import memories from other products, or restore an export",
            (Field("path", "path", "a file or folder; - reads a pipe", required=True, metavar="PATH"),),
            (
                Field(
                    "format",
                    "choice",
                    f"{', '.join(IMPORT_FORMATS)}; recognised if not given",
                    choices=IMPORT_FORMATS,
                    flag="--from",
                    metavar="FORMAT",
                ),
                Field(
                    "trust",
                    "choice",
                    "user: trust it like your own statements; import: never, whatever sources it claims",
                    choices=TRUSTS,
                    default="stated",
                    metavar="user|stated|import",
                ),
                Field("into", "namespace", "the namespace for an export of another one", metavar="NAME"),
                DRY_RUN._replace(help="only show what would be imported"),
                SESSION._replace(help="store them for this session only"),
                TAGS._replace(help="added to all of them"),
            ),
            ("import memories.jsonl --dry-run", "import ~/vault --from basic-memory --tag vault"),
            "Importing again adds only what is new. For conversations use `retentive chat-log import`.",
        ),
        Verb(
            "export",
            "export all data of a namespace",
            (Field("target", "path", "a file; for Markdown, a folder", default="-", metavar="FILE"),),
            (
                Field(
                    "format",
                    "choice",
                    "jsonl for machines, markdown for people",
                    choices=("jsonl", "markdown"),
                    default="jsonl",
                    metavar="jsonl|markdown",
                ),
                Field("vectors", "flag", "include vectors, so that an import need not embed again"),
                Field("all_namespaces", "flag", "export all namespaces of the store"),
                Field(
                    "without",
                    "choice",
                    f"leave out one of {', '.join(EXPORT_PARTS)}; may be given several times",
                    many=True,
                    choices=EXPORT_PARTS,
                    metavar="PART",
                ),
                _FORCE,
            ),
            ("export memories.jsonl", "export notes --format markdown --without sessions"),
            "`retentive import FILE` restores JSON Lines exactly. FILE.gz is compressed; - is standard output.",
        ),
    ),
)
