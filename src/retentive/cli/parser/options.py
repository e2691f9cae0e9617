"""What is typed in many places: the words that can be chosen from, the options that several verbs share."""

import argparse
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from typing import Any

KINDS = tuple(
    "fact preference personal background pattern project contact decision instruction outcome note file".split()
)
SOURCES = tuple("explicit extracted conversation file import assistant tool".split())
FUSIONS = ("blend", "minmax", "rrf")
MODES = ("hybrid", "text", "vector")
ROLES = tuple("user assistant system developer tool".split())
STATUSES = tuple("active superseded forgotten expired".split())
TIMES = "as 2026-12-31, 2026-12-31T18:00+01:00, 'last monday', or a span such as 12h, 7d, 4w"


class Words(ArgumentParser):
    """A verb, or a group of verbs of which one may be left out.

    `otherwise` is the one that is meant if something else is typed, `alone` if nothing is.
    """

    otherwise = ""
    alone = ""
    everywhere: ArgumentParser
    verbs: Any = ()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        if self.otherwise or self.alone:
            rest = self.everywhere.parse_known_args(args)[1]
            if not rest and self.alone:
                args = [self.alone, *args]
            elif rest and self.otherwise and rest[0] not in (*self.verbs, "-h", "--help"):
                args = [self.otherwise, *args]
        return super().parse_known_args(args, namespace)


class Verbs:
    """Makes the verbs of the program, or of one of its groups."""

    def __init__(self, parsers: Any, common: ArgumentParser, group: str = "") -> None:
        self._parsers, self._common, self._group = parsers, common, group

    def __call__(self, name: str, help: str, *parents: ArgumentParser, epilog: str = "") -> Words:
        made: Words = self._parsers.add_parser(
            name,
            help=help,
            description=f"{help[0].upper()}{help[1:]}.",
            epilog=epilog,
            parents=[self._common, *parents],
            formatter_class=RawDescriptionHelpFormatter,
        )
        made.set_defaults(run=f"{self._group} {name}".strip())
        return made

    def of(self, name: str, help: str, *, otherwise: str = "", alone: str = "", epilog: str = "") -> "Verbs":
        made = self(name, help, epilog=epilog)
        made.set_defaults(run="", show_help=made.print_help)
        inner = made.add_subparsers(title="verbs", metavar="VERB")
        made.otherwise, made.alone, made.everywhere, made.verbs = otherwise, alone, self._common, inner.choices
        return Verbs(inner, self._common, name)


def common() -> ArgumentParser:
    """Accepted before the verb and after it."""
    common = ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    group = common.add_argument_group("everywhere")
    group.add_argument("--db", metavar="FILE", help="the store (default: memory.db in your data folder)")
    group.add_argument("--namespace", "-n", metavar="NAME", help="whose memory, e.g. alice/coder; auto: this project's")
    group.add_argument("--json", action="store_true", help="answer in JSON")
    group.add_argument("--embedder", metavar="MODEL", help="what turns text into vectors: see `retentive models list`")
    return common


def content_options() -> ArgumentParser:
    options = ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    options.add_argument("--kind", choices=KINDS, metavar="KIND", help=f"one of {', '.join(KINDS)}")
    options.add_argument("--tag", dest="tags", action="append", metavar="TAG", help="may be given several times")
    options.add_argument("--importance", type=number, metavar="N", help="1 (trivial) to 10 (vital); 5 if not given")
    options.add_argument("--confidence", type=number, metavar="X", help="0 (a guess) to 1 (certain)")
    options.add_argument("--context", metavar="TEXT", help="what it belongs to; searched too")
    options.add_argument("--slot", metavar="NAME", help="what it is the value of, e.g. user.dog.name")
    options.add_argument("--expires", metavar="TIME", help=f"when it stops being true, {TIMES}")
    options.add_argument("--valid-from", metavar="TIME", help="since when it is true, if not now")
    options.add_argument("--metadata", metavar="JSON", help="an object of your own")
    return options


def filters() -> ArgumentParser:
    options = ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    group = options.add_argument_group("filters")
    group.add_argument("--kind", action="append", choices=KINDS, metavar="KIND", help="may be given several times")
    group.add_argument("--tag", dest="tags", action="append", metavar="TAG", help="has all of the tags given")
    group.add_argument("--source", action="append", choices=SOURCES, metavar="SOURCE", help=", ".join(SOURCES))
    group.add_argument("--status", action="append", choices=STATUSES, metavar="STATUS", help=", ".join(STATUSES))
    group.add_argument("--session", metavar="ID", help="see its own memories too; of conversations, only this one")
    group.add_argument("--min-importance", type=number, metavar="N", help="1 to 10")
    group.add_argument("--min-confidence", type=number, metavar="X", help="0 to 1")
    group.add_argument("--since", metavar="TIME", help=f"true from this time on, {TIMES} ago")
    group.add_argument("--until", metavar="TIME", help="true from before this time")
    return options


def moments() -> ArgumentParser:
    options = ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    group = options.add_argument_group("the past")
    group.add_argument("--as-of", metavar="TIME", help=f"what was true at this time, {TIMES} ago")
    group.add_argument("--known-at", metavar="TIME", help="what the store held to be true at this time")
    return options


def question_time() -> ArgumentParser:
    options = ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    options.add_argument("--now", metavar="TIME", help='when the question is asked: "last week" counts from there')
    return options


def commas(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def number(text: str) -> float:
    """Whole numbers stay whole; NaN and the like are left for the store to refuse."""
    value = float(text)
    return int(value) if value.is_integer() else value
