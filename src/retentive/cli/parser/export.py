"""The verb that writes out what is kept."""

from retentive.cli.parser.options import Verbs

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


def exporting(verb: Verbs) -> None:
    export = verb(
        "export",
        "write out all that a namespace holds",
        epilog="`retentive import FILE` restores JSON Lines exactly. FILE.gz is compressed; - is standard output.",
    )
    export.add_argument("target", nargs="?", default="-", metavar="FILE", help="a file; of Markdown, a folder")
    export.add_argument("--format", choices=FORMATS, default="jsonl", help="jsonl for machines, markdown for people")
    export.add_argument("--vectors", action="store_true", help="with vectors, so that nothing is embedded again")
    export.add_argument("--all-namespaces", action="store_true", help="all of the store")
    export.add_argument(
        "--without",
        action="append",
        choices=PARTS,
        default=[],
        metavar="PART",
        help=f"leave out one of {', '.join(PARTS)}; may be given several times",
    )
    export.add_argument("--force", action="store_true", help="replace what is there though it is no export")
