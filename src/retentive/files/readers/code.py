"""Source code: definitions as sections, told by indentation and a few words, without a parser for each language.

A unit is a definition that is not indented, with the comments and decorators above it, or what is between two of
these. A definition that is too long for a section is divided at the definitions inside it; what is inside is under
the lines of what it is inside of, as under headings.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from retentive.files.readers.sections import Block, Line, fits, heading

DEEPEST = 4  # definitions inside definitions that are told apart

_DEFINITION = re.compile(
    r"\s*(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|pub|pub\([\w: ]+\)|unsafe"
    r"|extern|inline|const|override|virtual|sealed|partial|open|data|local|declare|suspend)\s+)*"
    r"(?:(?:def|class|func|fn|fun|function|struct|enum|union|interface|trait|impl|type|module|namespace|object"
    r"|protocol|extension|sub|proc|procedure|record|defmodule|defp|defn|defmacro|macro|resource|variable|message"
    r"|service|mixin)[ \t*&]+[\w\"'$<(\[`]|impl<|macro_rules!|(?i:create|alter)[ \t]+\w)"
)
_CALLABLE = re.compile(r"\s*(?!(?:if|else|for|foreach|while|switch|do|try|catch|with|using|return|match|\W)\b)[\w$~]")
_LEAD = re.compile(r"\s*(?:@|#|//|/\*|\*|--|;|%|\[|\"\"\"|''')")
_CLOSER = re.compile(r"\s*(?:[\])}>{]|(?:end|else|elif|elsif|except|finally|catch|rescue|fi|done|esac|begin)\b)")


class _Group(NamedTuple):
    """Where lines begin that are inside the same definitions."""

    start: int
    names: tuple[str, ...]


def blocks(lines: Sequence[Line]) -> Iterator[Block]:
    for start, end in pairwise([*_starts(lines), len(lines)]):
        unit = lines[start:end]
        place = next((place for place, line in enumerate(unit) if not _indent(line) and _defines(line)), None)
        if fits(unit):
            yield Block(() if place is None else (_name(unit[place]),), unit)
        else:
            yield from _inside(unit, place)


def _starts(lines: Sequence[Line]) -> list[int]:
    """Where units begin."""
    starts = [0]
    for place, line in enumerate(lines):
        if not line.text.strip() or _indent(line):
            continue
        if _defines(line):
            starts.append(_above(lines, place, starts[-1]))
        elif place and not lines[place - 1].text.strip() and not _CLOSER.match(line.text):
            starts.append(place)
    return list(dict.fromkeys(starts))


def _inside(unit: Sequence[Line], place: int | None) -> Iterator[Block]:
    groups = _groups(unit, place)
    for (start, names), (end, _) in pairwise([*groups, _Group(len(unit), ())]):
        yield Block(names, unit[start:end])


def _groups(unit: Sequence[Line], place: int | None) -> list[_Group]:
    around = [] if place is None else [(-1, _name(unit[place]))]
    groups = [_Group(0, tuple(name for _, name in around))]
    for number in range(1 + (place or 0), len(unit)):
        line = unit[number]
        if not line.text.strip() or _CLOSER.match(line.text):
            continue
        indent, defines = _indent(line), _defines(line)
        ended = bool(around) and indent <= around[-1][0]
        while around and indent <= around[-1][0]:
            around.pop()
        start = number
        if defines and indent and len(around) < DEEPEST:
            around.append((indent, _name(line)))
            start, ended = _above(unit, number, groups[-1].start), True
        if ended:
            if groups[-1].start == start:
                groups.pop()
            groups.append(_Group(start, tuple(name for _, name in around)))
    return groups


def _defines(line: Line) -> bool:
    text = line.text.rstrip()
    if _DEFINITION.match(text):
        return not text.endswith(",")  # a column or a field that is called so
    return "(" in text and text.endswith("{") and _CALLABLE.match(text) is not None


def _above(lines: Sequence[Line], place: int, limit: int) -> int:
    """The first of the comments and decorators right above a definition."""
    indent = _indent(lines[place])
    while place > limit and _LEAD.match(lines[place - 1].text) and _indent(lines[place - 1]) == indent:
        place -= 1
    return place


def _indent(line: Line) -> int:
    return len(line.text) - len(line.text.lstrip())


def _name(line: Line) -> str:
    return heading(line.text.rstrip("{: \t"))
