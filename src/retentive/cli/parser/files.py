"""Verbs of files."""

from argparse import ArgumentParser

from retentive.cli.parser.options import Verbs

_LEFT_OUT = """\
Left out are: what .gitignore and .retentiveignore say, in any folder; what is hidden; node_modules and the like; files
over the limit; files of a kind that is not read. Nothing on disk is ever changed.
"""


def indexing(verb: Verbs) -> None:
    index = verb(
        "index", "make files and folders searchable, or bring their index up to date", _what(), epilog=_LEFT_OUT
    )
    index.add_argument("--dry-run", action="store_true", help="only tell what would be done")

    watch = verb("watch", "index folders, and follow what becomes of their files", _what(), epilog=_LEFT_OUT)
    watch.add_argument("--poll", action="store_true", help="look every few seconds, where no events come (networks)")


def _what() -> ArgumentParser:
    options = ArgumentParser(add_help=False)
    options.add_argument("paths", nargs="+", metavar="PATH", help="a folder or a file")
    options.add_argument("--session", metavar="ID", help="see them in this session only")
    options.add_argument("--tag", dest="tags", action="append", metavar="TAG", help="may be given several times")
    options.add_argument(
        "--limit-kb", type=int, metavar="N", help="largest file in kilobytes (setting max_file_kb: 100)"
    )
    options.add_argument(
        "--ignore",
        action="append",
        default=[],
        metavar="PATTERN",
        help="leave this out, as a line of .gitignore would; !PATTERN asks for it; may be given several times",
    )
    return options


def filing(verb: Verbs) -> None:
    list_ = verb("list", "list the files in the index, in the order of their paths")
    list_.add_argument("--limit", type=int, default=50, metavar="N", help="how many on a page (50)")
    list_.add_argument("--after", metavar="ID", help="the page after the one that ends with this file")
    list_.add_argument("--session", metavar="ID", help="only those of this session")

    show = verb("show", "show what is known of a file")
    show.add_argument("path", metavar="PATH", help="or its id")
    show.add_argument("--session", metavar="ID", help="the one of this session")

    remove = verb("remove", "take files or folders out of the index; on disk they stay")
    remove.add_argument("paths", nargs="+", metavar="PATH", help="or the id of a file")
    remove.add_argument("--session", metavar="ID", help="those of this session")
    remove.add_argument("--dry-run", action="store_true", help="only tell what would be removed")
