"""The verb that brings in memories from elsewhere."""

import argparse

from retentive.cli.parser.options import Verbs

FORMATS = ("retentive", "mem0", "mcp-memory", "mcp-memory-service", "basic-memory", "claude-memory", "markdown", "csv")

TRUSTS = ("user", "stated", "import")


def bringing(verb: Verbs) -> None:
    import_ = verb(
        "import",
        "keep the memories that another product holds, or restore an export",
        epilog="Once more, it keeps only what is new. Conversations are brought in by `retentive chat-log import`.",
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
        help="user: you vouch for it, so it counts as your own word; import: it is a stranger's, whatever it says",
    )
    import_.add_argument("--dry-run", action="store_true", help="only tell what would come in")
    import_.add_argument("--session", default=argparse.SUPPRESS, metavar="ID", help="keep them for this session only")
    import_.add_argument(
        "--tag", dest="tags", action="append", default=argparse.SUPPRESS, metavar="TAG", help="for all of them, too"
    )
