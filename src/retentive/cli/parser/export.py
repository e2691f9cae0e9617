"""The verb `export`."""

from retentive.cli.parser.options import VerbGroup

FORMATS = ("jsonl", "markdown")
PARTS = (
    "memories",
    "sessions",
    "records",
    "files",
    "expectations",
    "proposals",
    "hidden-messages",
    "access-log",
    "purges",
)


def add_export(verb: VerbGroup) -> None:
    export = verb(
        "export",
        "export all data of a namespace",
        epilog="`retentive import FILE` restores JSON Lines exactly. FILE.gz is compressed; - is standard output.",
    )
    export.add_argument("target", nargs="?", default="-", metavar="FILE", help="a file; for Markdown, a folder")
    export.add_argument("--format", choices=FORMATS, default="jsonl", help="jsonl for machines, markdown for people")
    export.add_argument(
        "--vectors", action="store_true", help="include vectors, so that an import need not embed again"
    )
    export.add_argument("--all-namespaces", action="store_true", help="export all namespaces of the store")
    export.add_argument(
        "--without",
        action="append",
        choices=PARTS,
        default=[],
        metavar="PART",
        help=f"leave out one of {', '.join(PARTS)}; may be given several times",
    )
    export.add_argument("--force", action="store_true", help="overwrite a file that is not an export")
