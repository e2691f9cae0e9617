"""One text of several sections, within a budget; and which of several texts say the same.

Each section first fills its own share of the budget; what is left then goes to the sections in their order. A piece is
counted once, alone, and the counts of pieces need not add up to that of the whole. So the whole is counted after each
round: what turns out to be free is given away in another one, and what turns out to be too much is taken back.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import inf
from typing import Any, NamedTuple

from retentive.model import Context, Omission
from retentive.text.fit import most
from retentive.text.quote import LEGEND
from retentive.text.terms import STOP_WORDS, tokens
from retentive.text.token_counters import Counter

NO_ROOM = "does not fit the budget"
LONGEST_CACHED = 1000  # characters: the lines of a summary and the memories that come again with every question
SAME = 0.9  # share of words from which two texts say the same: one in twenty was put differently
_NEUTRAL = frozenset(("a", "also", "an", "and", "just", "so", "that", "the", "very"))  # say nothing by themselves


@dataclass(frozen=True, slots=True)
class Item:
    id: str
    text: str
    order: Any
    """Where it stands among the items of its section: anything that compares with theirs."""
    has_quotes: bool = False
    """Whether something in it is quoted: then the heading says what that means."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a context: its heading if it has one, then its items. Without items it is not shown."""

    name: str
    heading: str
    share: float
    """Of the budget: what it may fill before all get what is left."""
    groups: Sequence[tuple[Item, ...]]
    """Most relevant first; each is kept or dropped whole."""
    at_first: int | None = None
    """Groups that may fill the share; the others wait for what is left. None: all."""
    in_sequence: bool = False
    """Nothing is taken past the first group that does not fit: recent messages have no holes."""
    waits: bool = False
    """What is left goes to the others first: what is always shown must not crowd out what bears on the question."""
    needs: Mapping[int, int] = field(default_factory=dict)
    """By the number of a group, an earlier group without which it is not shown."""


def assemble(sections: Sequence[Section], budget: int, count: Counter) -> Context:
    """What fits, the most relevant of each section first. The same input gives the same text."""

    def left(taken: Sequence[_Place]) -> int:
        return budget - count(_text(sections, taken))

    costs = [_cost(section, count) for section in sections]
    taken = _further(sections, costs, [], budget, [section.share * budget for section in sections])
    while more := _further(sections, costs, taken, left(taken)) or _next(sections, taken, left):
        taken += more
    if left(taken) < 0:
        taken = taken[: most(lambda number: left(taken[:number]) >= 0, len(taken))]
    return _context(sections, taken, budget, count)


_Place = tuple[int, int]
"""The number of a section, and of a group in it."""


class _Cost(NamedTuple):
    """Tokens of the pieces of a section, each with the line breaks before it."""

    opening: int
    groups: list[int]


def _cost(section: Section, count: Counter) -> _Cost:
    groups = [sum(count(f"\n{item.text}") for item in group) for group in section.groups]
    opening = "\n".join(_opening(section))
    return _Cost(count(f"\n\n{opening}" if opening else "\n"), groups)


def _opening(section: Section) -> list[str]:
    if not section.heading:
        return []
    has_quotes = any(item.has_quotes for group in section.groups for item in group)
    return [section.heading + LEGEND if has_quotes else section.heading]


def _further(
    sections: Sequence[Section],
    costs: Sequence[_Cost],
    taken: Sequence[_Place],
    left: float,
    shares: Sequence[float] = (),
) -> list[_Place]:
    """More groups that fit into what is left, section by section, none beyond its share."""
    found: list[_Place] = []
    for number in _order(sections):
        section, cost = sections[number], costs[number]
        held = {group for owner, group in taken if owner == number}
        room = min(left, shares[number] if shares else inf)
        opening = 0 if held else cost.opening
        new = list(_fitting(section, cost, held, room - opening, section.at_first if shares else None))
        left -= sum(cost.groups[group] for group in new) + (opening if new else 0)
        found += [(number, group) for group in new]
    return found


def _order(sections: Sequence[Section]) -> list[int]:
    return sorted(range(len(sections)), key=lambda number: sections[number].waits)


def _fitting(section: Section, cost: _Cost, held: Collection[int], room: float, most: int | None) -> Iterator[int]:
    taken = set(held)
    for number, group in enumerate(section.groups[:most]):
        if number in held or not group or section.needs.get(number, number) not in {number, *taken}:
            continue
        if cost.groups[number] <= room:
            room -= cost.groups[number]
            taken.add(number)
            yield number
        elif section.in_sequence:
            return


def _next(
    sections: Sequence[Section], taken: Sequence[_Place], left: Callable[[Sequence[_Place]], int]
) -> list[_Place]:
    """A group that fits though its own count says no: the best of those that a section still has, if any does."""
    held = set(taken)
    for number in _order(sections):
        section = sections[number]
        waiting = (
            (number, at)
            for at, group in enumerate(section.groups)
            if group and (number, at) not in held and (at not in section.needs or (number, section.needs[at]) in held)
        )
        best = next(waiting, None)
        if best and left([*taken, best]) >= 0:
            return [best]
    return []


def _presented(sections: Sequence[Section], places: Iterable[_Place]) -> list[list[Item]]:
    """The items of each section in the order they are shown."""
    shown: list[list[Item]] = [[] for _ in sections]
    for number, group in sorted(places):
        shown[number] += sections[number].groups[group]
    return [sorted(items, key=lambda item: item.order) for items in shown]


def _written(section: Section, items: Sequence[Item]) -> str:
    return "\n".join([*_opening(section), *(item.text for item in items)]) if items else ""


def _text(sections: Sequence[Section], places: Iterable[_Place]) -> str:
    shown = zip(sections, _presented(sections, places), strict=True)
    return "\n\n".join(_written(section, items) for section, items in shown if items)


def _context(sections: Sequence[Section], taken: Collection[_Place], budget: int, count: Counter) -> Context:
    text, shown = _text(sections, taken), _presented(sections, taken)
    return Context(
        text=text,
        tokens=count(text),
        budget=budget,
        cites=tuple(dict.fromkeys(item.id for items in shown for item in items)),
        left_out=tuple(_left_out(sections, taken)),
        parts={each.name: count(_written(each, items)) for each, items in zip(sections, shown, strict=True)},
    )


def _left_out(sections: Sequence[Section], taken: Collection[_Place]) -> Iterator[Omission]:
    kept = set(taken)
    for number, section in enumerate(sections):
        for at, group in enumerate(section.groups):
            if (number, at) not in kept:
                yield from (Omission(section.name, item.id, NO_ROOM) for item in group)


class Distinct(NamedTuple):
    kept: list[str]
    repeats: list[tuple[str, str]]
    """Each with the id that it repeats; "" if that is one of the known texts."""


class _Said(NamedTuple):
    words: frozenset[str]
    names: frozenset[str]


def distinct(items: Iterable[tuple[str, str]], known: Iterable[str] = ()) -> Distinct:
    """Of (id, text), best first: which say something new, and which say what an earlier one or a known text does."""
    found = Distinct([], [])
    earlier: list[tuple[str, _Said]] = [("", _said(text)) for text in known]
    for id, text in items:
        said = _said(text)
        first = next((other for other, before in earlier if _same(said, before)), None)
        if first is None:
            found.kept.append(id)
            earlier.append((id, said))
        else:
            found.repeats.append((id, first))
    return found


def _said(text: str) -> _Said:
    return _short(text) if len(text) <= LONGEST_CACHED else _short.__wrapped__(text)


@lru_cache(1024)
def _short(text: str) -> _Said:
    found = tokens(text)
    lower = {word.lower() for word in found} - _NEUTRAL
    return _Said(frozenset(lower or {text.strip()}), frozenset(word.lower() for word in found if word != word.lower()))


def _same(one: _Said, other: _Said) -> bool:
    """The same words, or nearly all, if those that differ are no names, no figures, no "not"."""
    fewer, more = sorted((len(one.words), len(other.words)))
    if fewer < SAME * more:
        return False
    shared = len(one.words & other.words)
    if shared < SAME * (len(one.words) + len(other.words) - shared):
        return False
    telling = STOP_WORDS | one.names | other.names
    differing = one.words ^ other.words
    return not any(word in telling or _has_figure(word) for word in differing)


def _has_figure(word: str) -> bool:
    return any(character.isdigit() for character in word)
