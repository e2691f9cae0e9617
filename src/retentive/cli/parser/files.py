"""Verbs of indexed files."""

from argparse import ArgumentParser

from retentive.cli.parser.options import VerbGroup

_IGNORED_HELP = """\
Left out are: files that .gitignore or .retentiveignore exclude, in any folder; hidden files; node_modules and the like;
files over the limit; files of unknown types. Nothing on disk is ever changed.
"""


def add_index(verb: VerbGroup) -> None:
    index = verb(
        "index", "index files and folders for search, or update their index", _make_file_options(), epilog=_IGNORED_HELP
    )
    index.add_argument("--dry-run", action="store_true", help="only show what would be done")

    watch = verb(
        "watch",
        "index folders, and keep the index up to date as files change",
        _make_file_options(),
        epilog=_IGNORED_HELP,
    )
    watch.add_argument(
        "--poll", action="store_true", help="check every few seconds, for network drives that report no changes"
    )


def _make_file_options() -> ArgumentParser:
    options = ArgumentParser(add_help=False)
    options.add_argument("paths", nargs="+", metavar="PATH", help="a folder or a file")
    options.add_argument("--session", metavar="ID", help="make them visible in this session only")
    options.add_argument("--tag", dest="tags", action="append", metavar="TAG", help="may be given several times")
    options.add_argument(
        "--limit-kb", type=int, metavar="N", help="largest file in kilobytes (setting max_file_kb: 100)"
    )
    options.add_argument(
        "--ignore",
        action="append",
        default=[],
        metavar="PATTERN",
        help="exclude this, like a line of .gitignore; !PATTERN includes it; may be given several times",
    )
    return options


def add_files_verbs(verb: VerbGroup) -> None:
    list_ = verb("list", "list the indexed files by path")
    list_.add_argument("--limit", type=int, default=50, metavar="N", help="how many on a page (50)")
    list_.add_argument("--after", metavar="ID", help="the page after the one that ends with this file")
    list_.add_argument("--session", metavar="ID", help="only those of this session")

    show = verb("show", "show details of an indexed file")
    show.add_argument("path", metavar="PATH", help="or its id")
    show.add_argument("--session", metavar="ID", help="the one of this session")

    remove = verb("remove", "remove files or folders from the index; on disk they stay")
    remove.add_argument("paths", nargs="+", metavar="PATH", help="or the id of a file")
    remove.add_argument("--session", metavar="ID", help="those of this session")
    remove.add_argument("--dry-run", action="store_true", help="only show what would be removed")
