"""Divide source code into its definitions, by indentation and a few words, without a parser for each language.

A unit is a definition that is not indented, with the comments and decorators above it, or the lines between two such
definitions. A unit that is too long for a section is divided at the definitions inside it. The lines of the enclosing
definitions then serve as headings.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from retentive.files.readers.sections import SourceLine, TextBlock, clean_heading, fits_in_chunk

MAX_NESTED_DEFINITIONS = 4  # definitions inside definitions become headings up to this depth

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
    """A run of lines inside the same definitions: its start, and the definitions."""

    start: int
    names: tuple[str, ...]


def split_definitions(lines: Sequence[SourceLine]) -> Iterator[TextBlock]:
    """Yield the definitions of source code as blocks."""
    for start, end in pairwise([*_find_unit_starts(lines), len(lines)]):
        unit = lines[start:end]
        index = next((index for index, line in enumerate(unit) if not _indent_of(line) and _is_definition(line)), None)
        if fits_in_chunk(unit):
            yield TextBlock(() if index is None else (_clean_definition(unit[index]),), unit)
        else:
            yield from _split_unit(unit, index)


def _find_unit_starts(lines: Sequence[SourceLine]) -> list[int]:
    """Return the indexes of the lines at which units begin."""
    starts = [0]
    for index, line in enumerate(lines):
        if not line.text.strip() or _indent_of(line):
            continue
        if _is_definition(line):
            starts.append(_find_lead_start(lines, index, starts[-1]))
        elif index and not lines[index - 1].text.strip() and not _CLOSER.match(line.text):
            starts.append(index)
    return list(dict.fromkeys(starts))


def _split_unit(unit: Sequence[SourceLine], index: int | None) -> Iterator[TextBlock]:
    groups = _find_groups(unit, index)
    for (start, names), (end, _) in pairwise([*groups, _Group(len(unit), ())]):
        yield TextBlock(names, unit[start:end])


def _find_groups(unit: Sequence[SourceLine], index: int | None) -> list[_Group]:
    enclosing = [] if index is None else [(-1, _clean_definition(unit[index]))]
    groups = [_Group(0, tuple(name for _, name in enclosing))]
    for number in range(1 + (index or 0), len(unit)):
        line = unit[number]
        if not line.text.strip() or _CLOSER.match(line.text):
            continue
        indent, defines = _indent_of(line), _is_definition(line)
        ended = bool(enclosing) and indent <= enclosing[-1][0]
        while enclosing and indent <= enclosing[-1][0]:
            enclosing.pop()
        start = number
        if defines and indent and len(enclosing) < MAX_NESTED_DEFINITIONS:
            enclosing.append((indent, _clean_definition(line)))
            start, ended = _find_lead_start(unit, number, groups[-1].start), True
        if ended:
            if groups[-1].start == start:
                groups.pop()
            groups.append(_Group(start, tuple(name for _, name in enclosing)))
    return groups


def _is_definition(line: SourceLine) -> bool:
    text = line.text.rstrip()
    if _DEFINITION.match(text):
        return not text.endswith(",")  # a column or a field with such a name
    return "(" in text and text.endswith("{") and _CALLABLE.match(text) is not None


def _find_lead_start(lines: Sequence[SourceLine], index: int, limit: int) -> int:
    """Return the index of the first comment or decorator right above a definition."""
    indent = _indent_of(lines[index])
    while index > limit and _LEAD.match(lines[index - 1].text) and _indent_of(lines[index - 1]) == indent:
        index -= 1
    return index


def _indent_of(line: SourceLine) -> int:
    return len(line.text) - len(line.text.lstrip())


def _clean_definition(line: SourceLine) -> str:
    return clean_heading(line.text.rstrip("{: \t"))
