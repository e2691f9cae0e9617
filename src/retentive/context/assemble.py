"""Assemble one text of several sections within a token budget.

Each section first fills its own share of the budget. The rest then goes to the sections in order. Each piece is counted
once, alone, but the counts of the pieces do not add up to that of the whole text. So the whole text is counted after
each round: free tokens are given away in another round, and groups beyond the budget are dropped.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from math import inf
from typing import Any, NamedTuple

from retentive.frozen_dataclass import dataclass
from retentive.model import Context, Omission
from retentive.text.clip import find_largest
from retentive.text.quote import QUOTE_LEGEND
from retentive.text.token_counters import TokenCounter

NO_ROOM_REASON = "does not fit the budget"


@dataclass(frozen=True, slots=True)
class ContextItem:
    id: str
    text: str
    order: Any
    """Its sort key among the items of its section."""
    has_quotes: bool = False
    """Whether it contains quotations: then the heading explains them."""


@dataclass(frozen=True, slots=True)
class ContextSection:
    """A part of a context: an optional heading and items. A section without items is not shown."""

    name: str
    heading: str
    share: float
    """The share of the budget that it may fill first."""
    groups: Sequence[tuple[ContextItem, ...]]
    """The most relevant first. A group is taken or dropped as a whole."""
    max_groups_in_share: int | None = None
    """How many groups may fill the share; the others wait for the rest of the budget. None: all."""
    stop_at_misfit: bool = False
    """Whether to stop at the first group that does not fit: recent messages have no gaps."""
    is_served_last: bool = False
    """Whether the other sections get the rest of the budget first."""
    needs: Mapping[int, int] = field(default_factory=dict)
    """By group: the earlier group without which it is not shown."""


def assemble(sections: Sequence[ContextSection], budget: int, count: TokenCounter) -> Context:
    """Assemble the groups that fit, the most relevant of each section first. The same input gives the same text."""

    def count_left(taken: Sequence[_GroupKey]) -> int:
        return budget - count(_render(sections, taken))

    costs = [_measure_section(section, count) for section in sections]
    shares = [_Limit(section.share * budget, section.max_groups_in_share) for section in sections]
    taken = _take_more(sections, costs, shares, [], budget)
    while True:
        more = _take_more(sections, costs, [_Limit()] * len(sections), taken, count_left(taken))
        more = more or _find_next(sections, taken, count_left)
        if not more:
            break
        taken += more
    if count_left(taken) < 0:
        taken = taken[: find_largest(lambda number: count_left(taken[:number]) >= 0, len(taken))]
    return _make_context(sections, taken, budget, count)


_GroupKey = tuple[int, int]
"""The index of a section, and that of a group in it."""


class _Limit(NamedTuple):
    """The limit of a section in one round."""

    tokens: float = inf
    groups: int | None = None
    """Only so many groups, counted from the first, may be taken. None: all."""


class _Cost(NamedTuple):
    """Tokens of the pieces of a section, each with the line breaks before it."""

    opening: int
    groups: list[int]


def _measure_section(section: ContextSection, count: TokenCounter) -> _Cost:
    groups = [sum(count(f"\n{item.text}") for item in group) for group in section.groups]
    opening = "\n".join(_render_heading(section))
    return _Cost(count(f"\n\n{opening}" if opening else "\n"), groups)


def _render_heading(section: ContextSection) -> list[str]:
    if not section.heading:
        return []
    has_quotes = any(item.has_quotes for group in section.groups for item in group)
    return [section.heading + QUOTE_LEGEND if has_quotes else section.heading]


def _take_more(
    sections: Sequence[ContextSection],
    costs: Sequence[_Cost],
    limits: Sequence[_Limit],
    taken: Sequence[_GroupKey],
    tokens_left: float,
) -> list[_GroupKey]:
    """Take more groups that fit into the tokens left, section by section, none beyond its limit."""
    found: list[_GroupKey] = []
    for index in _list_in_serving_order(sections):
        cost, limit, shown = costs[index], limits[index], _list_shown(index, taken)
        opening = 0 if shown else cost.opening
        room = min(tokens_left, limit.tokens) - opening
        groups = list(_choose_fitting(sections[index], cost, shown, room, limit.groups))
        tokens_left -= sum(cost.groups[group] for group in groups) + (opening if groups else 0)
        found += [(index, group) for group in groups]
    return found


def _list_in_serving_order(sections: Sequence[ContextSection]) -> list[int]:
    return sorted(range(len(sections)), key=lambda index: sections[index].is_served_last)


def _list_shown(section: int, taken: Iterable[_GroupKey]) -> set[int]:
    """The groups of a section that were taken."""
    return {group for owner, group in taken if owner == section}


def _choose_fitting(
    section: ContextSection, cost: _Cost, shown: set[int], room: float, max_groups: int | None
) -> Iterator[int]:
    """Choose groups that fit, and add them to those shown: then groups that need them may follow."""
    for group in _list_waiting(section, shown, max_groups):
        if cost.groups[group] <= room:
            room -= cost.groups[group]
            shown.add(group)
            yield group
        elif section.stop_at_misfit:
            return


def _list_waiting(section: ContextSection, shown: Collection[int], max_groups: int | None = None) -> Iterator[int]:
    """The groups with items that are not shown, and need no group that is not shown."""
    for group, items in enumerate(section.groups[:max_groups]):
        is_ready = group not in section.needs or section.needs[group] in shown
        if items and is_ready and group not in shown:
            yield group


def _find_next(
    sections: Sequence[ContextSection], taken: Sequence[_GroupKey], count_left: Callable[[Sequence[_GroupKey]], int]
) -> list[_GroupKey]:
    """Find one more group that fits although its own count is too large, because the whole text is counted."""
    for index in _list_in_serving_order(sections):
        group = next(_list_waiting(sections[index], _list_shown(index, taken)), None)
        if group is not None and count_left([*taken, (index, group)]) >= 0:
            return [(index, group)]
    return []


def _sort_items(sections: Sequence[ContextSection], taken: Iterable[_GroupKey]) -> list[list[ContextItem]]:
    """The items of each section, sorted."""
    shown: list[list[ContextItem]] = [[] for _ in sections]
    for index, group in sorted(taken):
        shown[index] += sections[index].groups[group]
    return [sorted(items, key=lambda item: item.order) for items in shown]


def _render_section(section: ContextSection, items: Sequence[ContextItem]) -> str:
    return "\n".join([*_render_heading(section), *(item.text for item in items)]) if items else ""


def _render(sections: Sequence[ContextSection], taken: Iterable[_GroupKey]) -> str:
    shown = zip(sections, _sort_items(sections, taken), strict=True)
    return "\n\n".join(_render_section(section, items) for section, items in shown if items)


def _make_context(
    sections: Sequence[ContextSection], taken: Collection[_GroupKey], budget: int, count: TokenCounter
) -> Context:
    text, shown = _render(sections, taken), _sort_items(sections, taken)
    return Context(
        text=text,
        tokens=count(text),
        budget=budget,
        cites=tuple(dict.fromkeys(item.id for items in shown for item in items)),
        left_out=tuple(_list_omissions(sections, taken)),
        parts={each.name: count(_render_section(each, items)) for each, items in zip(sections, shown, strict=True)},
    )


def _list_omissions(sections: Sequence[ContextSection], taken: Collection[_GroupKey]) -> Iterator[Omission]:
    for index, section in enumerate(sections):
        shown = _list_shown(index, taken)
        for group, items in enumerate(section.groups):
            if group not in shown:
                yield from (Omission(section.name, item.id, NO_ROOM_REASON) for item in items)
