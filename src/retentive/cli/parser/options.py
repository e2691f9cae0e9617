"""Choices and options that several verbs share, and the classes that make verbs."""

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
TIME_HELP = "as 2026-12-31, 2026-12-31T18:00+01:00, 'last monday', or a span such as 12h, 7d, 4w"


class VerbParser(ArgumentParser):
    """The parser of a verb, or of a group of verbs with defaults.

    `otherwise` is the verb for arguments that begin with no verb, `alone` the verb for no arguments.
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


class VerbGroup:
    """Adds verbs to the program, or to one of its groups."""

    def __init__(self, parsers: Any, common: ArgumentParser, group: str = "") -> None:
        self._parsers, self._common, self._group = parsers, common, group

    def __call__(self, name: str, help: str, *parents: ArgumentParser, epilog: str = "") -> VerbParser:
        made: VerbParser = self._parsers.add_parser(
            name,
            help=help,
            description=f"{help[0].upper()}{help[1:]}.",
            epilog=epilog,
            parents=[self._common, *parents],
            formatter_class=RawDescriptionHelpFormatter,
        )
        made.set_defaults(run=f"{self._group} {name}".strip())
        return made

    def of(self, name: str, help: str, *, otherwise: str = "", alone: str = "", epilog: str = "") -> "VerbGroup":
        made = self(name, help, epilog=epilog)
        made.set_defaults(run="", show_help=made.print_help)
        inner = made.add_subparsers(title="verbs", metavar="VERB")
        made.otherwise, made.alone, made.everywhere, made.verbs = otherwise, alone, self._common, inner.choices
        return VerbGroup(inner, self._common, name)


def make_common_options() -> ArgumentParser:
    """Make the options that are accepted before the verb and after it."""
    common = ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    group = common.add_argument_group("everywhere")
    group.add_argument("--db", metavar="FILE", help="the store (default: memory.db in your data folder)")
    group.add_argument(
        "--namespace", "-n", metavar="NAME", help="the namespace, e.g. alice/coder; auto: that of this project"
    )
    group.add_argument("--json", action="store_true", help="answer in JSON")
    group.add_argument("--embedder", metavar="MODEL", help="the embedding model: see `retentive models list`")
    return common


def make_content_options() -> ArgumentParser:
    options = ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    options.add_argument("--kind", choices=KINDS, metavar="KIND", help=f"one of {', '.join(KINDS)}")
    options.add_argument("--tag", dest="tags", action="append", metavar="TAG", help="may be given several times")
    options.add_argument(
        "--importance", type=parse_number, metavar="N", help="1 (trivial) to 10 (vital); 5 if not given"
    )
    options.add_argument("--confidence", type=parse_number, metavar="X", help="0 (a guess) to 1 (certain)")
    options.add_argument("--context", metavar="TEXT", help="its context, which is searched too")
    options.add_argument("--slot", metavar="NAME", help="the attribute that it is the value of, e.g. user.dog.name")
    options.add_argument("--expires", metavar="TIME", help=f"when it stops being true, {TIME_HELP}")
    options.add_argument("--valid-from", metavar="TIME", help="since when it is true, if not now")
    options.add_argument("--metadata", metavar="JSON", help="any JSON object")
    return options


def make_filters() -> ArgumentParser:
    options = ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    group = options.add_argument_group("filters")
    group.add_argument("--kind", action="append", choices=KINDS, metavar="KIND", help="may be given several times")
    group.add_argument("--tag", dest="tags", action="append", metavar="TAG", help="must have all of the tags")
    group.add_argument("--source", action="append", choices=SOURCES, metavar="SOURCE", help=", ".join(SOURCES))
    group.add_argument("--status", action="append", choices=STATUSES, metavar="STATUS", help=", ".join(STATUSES))
    group.add_argument("--session", metavar="ID", help="include memories of this session; search no other conversation")
    group.add_argument("--min-importance", type=parse_number, metavar="N", help="1 to 10")
    group.add_argument("--min-confidence", type=parse_number, metavar="X", help="0 to 1")
    group.add_argument("--since", metavar="TIME", help=f"true from this time on, {TIME_HELP} ago")
    group.add_argument("--until", metavar="TIME", help="true from before this time")
    return options


def make_past_options() -> ArgumentParser:
    options = ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    group = options.add_argument_group("the past")
    group.add_argument("--as-of", metavar="TIME", help=f"what was true at this time, {TIME_HELP} ago")
    group.add_argument("--known-at", metavar="TIME", help="what the store held to be true at this time")
    return options


def make_time_option() -> ArgumentParser:
    options = ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    options.add_argument("--now", metavar="TIME", help='when the question is asked: "last week" counts from there')
    return options


def split_commas(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def parse_number(text: str) -> float:
    """Parse a number, and keep whole numbers integers. The store refuses NaN and infinity."""
    value = float(text)
    return int(value) if value.is_integer() else value
