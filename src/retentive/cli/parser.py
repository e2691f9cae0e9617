"""What can be typed. Kept apart from what it does: `--help` and completion import nothing else."""

import argparse
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from typing import Protocol

from retentive import __version__

KINDS = tuple(
    "fact preference personal background pattern project contact decision instruction outcome note file".split()
)
SOURCES = tuple("explicit extracted conversation file import".split())
STATUSES = tuple("active superseded forgotten expired".split())

_DESCRIPTION = "Long-term memory for AI agents: one SQLite file, local embeddings, hybrid search."
_EXAMPLES = """\
examples:
  retentive add "The user's dog is called Rex" --slot user.dog.name
  retentive search "what is my dog's name?"
  retentive add "The user's dog is called Max" --slot user.dog.name    (corrects it)
  echo "Deploys happen on Tuesdays" | retentive add --kind pattern --tag ops
  retentive list --kind preference --json

The store is one file, by default in your data folder; --db or RETENTIVE_DB chooses another.
`retentive VERB --help` explains a verb; `retentive config` shows every setting.

exit codes: 0 done, 1 unexpected, 2 wrong input, 3 not found, 4 conflict, 5 storage, 6 embedding, 7 missing extra
"""
_TIMES = "as 2026-12-31, 2026-12-31T18:00+01:00, or a span such as 12h, 7d, 4w"


class _Verb(Protocol):
    def __call__(self, name: str, help: str, *parents: ArgumentParser, epilog: str = "") -> ArgumentParser: ...


def build() -> ArgumentParser:
    common = _common()
    parser = ArgumentParser(
        "retentive",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        parents=[common],
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"retentive {__version__}")
    verbs = parser.add_subparsers(title="verbs", metavar="VERB")

    def verb(name: str, help: str, *parents: ArgumentParser, epilog: str = "") -> ArgumentParser:
        made = verbs.add_parser(
            name,
            help=help,
            description=f"{help[0].upper()}{help[1:]}.",
            epilog=epilog,
            parents=[common, *parents],
            formatter_class=RawDescriptionHelpFormatter,
        )
        made.set_defaults(run=name)
        return made

    _writing(verb)
    _reading(verb)
    _caring(verb)
    return parser


def _common() -> ArgumentParser:
    """Accepted before the verb and after it."""
    common = ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    group = common.add_argument_group("everywhere")
    group.add_argument("--db", metavar="FILE", help="the store (default: memory.db in your data folder)")
    group.add_argument("--namespace", "-n", metavar="NAME", help="whose memory, e.g. alice/coder (default: default)")
    group.add_argument("--json", action="store_true", help="answer in JSON")
    group.add_argument("--embedder", choices=("minilm", "hashing", "none"), help="what turns text into vectors")
    return common


def _content_options() -> ArgumentParser:
    options = ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    options.add_argument("--kind", choices=KINDS, metavar="KIND", help=f"one of {', '.join(KINDS)}")
    options.add_argument("--tag", dest="tags", action="append", metavar="TAG", help="may be given several times")
    options.add_argument("--importance", type=number, metavar="N", help="1 (trivial) to 10 (vital); 5 if not given")
    options.add_argument("--confidence", type=number, metavar="X", help="0 (a guess) to 1 (certain)")
    options.add_argument("--context", metavar="TEXT", help="what it belongs to; searched too")
    options.add_argument("--slot", metavar="NAME", help="what it is the value of, e.g. user.dog.name")
    options.add_argument("--expires", metavar="TIME", help=f"when it stops being true, {_TIMES}")
    options.add_argument("--valid-from", metavar="TIME", help="since when it is true, if not now")
    options.add_argument("--metadata", metavar="JSON", help="an object of your own")
    return options


def _filters() -> ArgumentParser:
    options = ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    group = options.add_argument_group("filters")
    group.add_argument("--kind", action="append", choices=KINDS, metavar="KIND", help="may be given several times")
    group.add_argument("--tag", dest="tags", action="append", metavar="TAG", help="has all of the tags given")
    group.add_argument("--source", action="append", choices=SOURCES, metavar="SOURCE", help=", ".join(SOURCES))
    group.add_argument("--status", action="append", choices=STATUSES, metavar="STATUS", help=", ".join(STATUSES))
    group.add_argument("--session", metavar="ID", help="see what is of this session too")
    group.add_argument("--min-importance", type=number, metavar="N", help="1 to 10")
    group.add_argument("--min-confidence", type=number, metavar="X", help="0 to 1")
    group.add_argument("--since", metavar="TIME", help=f"true from this time on, {_TIMES} ago")
    group.add_argument("--until", metavar="TIME", help="true from before this time")
    return options


def _writing(verb: _Verb) -> None:
    add = verb("add", "keep a memory", _content_options(), epilog="Without TEXT, or with -, it is read from a pipe.")
    add.add_argument("text", nargs="?", metavar="TEXT", help="what to remember")
    add.add_argument("--session", default=argparse.SUPPRESS, metavar="ID", help="keep it for this session only")
    add.add_argument("--source", choices=SOURCES, default=argparse.SUPPRESS, metavar="SOURCE", help=", ".join(SOURCES))
    add.add_argument("--each-line", action="store_true", help="every line of the input is a memory")

    update = verb(
        "update",
        "change a memory; how it was stays in its history",
        _content_options(),
        epilog='An empty --slot "", --context "" or --expires "" takes it away.',
    )
    update.add_argument("id", metavar="ID")
    update.add_argument("--content", default=argparse.SUPPRESS, metavar="TEXT", help="the new text")
    update.add_argument("--reason", metavar="WHY")

    forget = verb("forget", "stop answering with memories; `restore` undoes it")
    forget.add_argument("ids", nargs="+", metavar="ID")
    forget.add_argument("--reason", metavar="WHY")

    restore = verb("restore", "bring back what was forgotten")
    restore.add_argument("ids", nargs="+", metavar="ID")
    restore.add_argument("--reason", metavar="WHY")


def _reading(verb: _Verb) -> None:
    search = verb("search", "find what answers a question", _filters(), epilog="Without QUERY it is read from a pipe.")
    search.add_argument("query", nargs="?", metavar="QUERY")
    search.add_argument("--limit", type=int, default=10, metavar="N", help="how many at the most (10)")
    search.add_argument("--all", action="store_true", help="all that is similar enough, however many")
    search.add_argument("--min-similarity", type=float, metavar="X", help="cosine from which a vector hit counts")
    search.add_argument("--mode", choices=("hybrid", "text", "vector"), default="hybrid", help="which legs to use")
    search.add_argument("--fusion", choices=("minmax", "rrf"), help="how the legs are joined")
    search.add_argument("--also", action="append", default=[], metavar="NAME", help="look in this namespace too; a/*")
    search.add_argument("--why", action="store_true", help="show how each score came about")

    get = verb("get", "show a memory")
    get.add_argument("id", metavar="ID")

    list_ = verb("list", "list memories, newest first", _filters())
    list_.add_argument("--limit", type=int, default=50, metavar="N", help="how many on a page (50)")
    list_.add_argument("--before", metavar="ID", help="the page after this one: the `next` of the page before")

    history = verb("history", "tell what happened to a memory")
    history.add_argument("id", metavar="ID")


def _caring(verb: _Verb) -> None:
    verb("stats", "show counts, sizes and speeds")

    backfill = verb("backfill", "make the vectors that are missing")
    backfill.add_argument(
        "--batch", type=int, default=50, metavar="N", help="texts embedded and committed at once (50)"
    )

    verb("config", "show every setting and where it comes from")

    doctor = verb("doctor", "check everything and say what to do")
    doctor.add_argument("--repair", action="store_true", help="make the full-text and vector indexes anew")

    verb("demo", "see it work, in a store that is thrown away")

    completion = verb(
        "completion",
        "print the completion script of a shell",
        epilog='Try: eval "$(retentive completion bash)"',
    )
    completion.add_argument("shell", choices=("bash", "zsh", "tcsh"))


def number(text: str) -> float:
    """Whole numbers stay whole; NaN and the like are left for the store to refuse."""
    value = float(text)
    return int(value) if value.is_integer() else value
