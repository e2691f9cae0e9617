"""The verb `import`."""

import argparse

from retentive.cli.parser.options import VerbGroup

FORMATS = ("retentive", "mem0", "mcp-memory", "mcp-memory-service", "basic-memory", "claude-memory", "markdown", "csv")

TRUSTS = ("user", "stated", "import")


def add_import(verb: VerbGroup) -> None:
    import_ = verb(
        "import",
        "import memories from other products, or restore an export",
        epilog="Importing again adds only what is new. For conversations use `retentive chat-log import`.",
    )
    import_.add_argument("path", metavar="PATH", help="a file or folder; - reads a pipe")
    import_.add_argument(
        "--from",
        dest="format",
        choices=FORMATS,
        metavar="FORMAT",
        help=f"{', '.join(FORMATS)}; recognised if not given",
    )
    import_.add_argument(
        "--trust",
        choices=TRUSTS,
        default="stated",
        help="user: trust it like your own statements; import: never trust it, whatever it says of its sources",
    )
    import_.add_argument("--into", metavar="NAME", help="the namespace for an export of another one")
    import_.add_argument("--dry-run", action="store_true", help="only show what would be imported")
    import_.add_argument("--session", default=argparse.SUPPRESS, metavar="ID", help="store them for this session only")
    import_.add_argument(
        "--tag", dest="tags", action="append", default=argparse.SUPPRESS, metavar="TAG", help="added to all of them"
    )
