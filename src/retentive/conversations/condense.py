"""The rolling summary: when older messages are condensed, which, and how without a language model."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from retentive.conversations.sentences import joined, said, score, sentences
from retentive.conversations.turns import line, turns
from retentive.model import Event, Role
from retentive.text.fit import cut, most
from retentive.text.token_counters import Counter

LABEL_WORDS = 3  # of a name before a colon; "We agreed on the following: ..." is a sentence
TRIES = 8  # sentences looked at to fill the rest of a summary: each costs counting all of it


@dataclass(frozen=True, slots=True)
class Policy:
    """When a summary is due. All but the first are shares of the budget that a conversation is replayed in."""

    min_messages: int = 4  # two exchanges; fewer are long rather than old, and read best as they are
    trigger: float = 0.80  # the rest is room for the next message and its answer
    target: float = 0.50  # of messages afterwards: so far below the trigger that one is not due with every message
    share: float = 0.25  # of the summary; together with the target below the trigger, or the next were due at once

    def limit(self, budget: int) -> int:
        """The tokens that a summary may have."""
        return int(self.share * budget)


def oldest(
    events: Sequence[Event], budget: int, policy: Policy, count: Counter, summary_tokens: int = 0
) -> tuple[Event, ...]:
    """The messages to condense now, of those that are in no summary yet; none if it is not due.

    Whole turns, until the messages left are within the target. The newest turn always stays.
    """
    sizes = [count(line(event)) for event in events]
    left = sum(sizes)
    if len(events) < policy.min_messages or left + summary_tokens <= policy.trigger * budget:
        return ()
    taken = 0
    for turn in turns(events)[:-1]:
        if left <= policy.target * budget:
            break
        left -= sum(sizes[taken : taken + len(turn)])
        taken += len(turn)
    return tuple(events[:taken])


class Extractive:
    """The default `Condenser`: the sentences that say most, in the order they were said.

    While all that is worth keeping fits, the old summary stays as it is and new lines come after it. Past that, old
    and new compete by score, so that a summary fed for ever stays within its limit; of equals the newer stays.
    """

    def condense(self, summary: str, events: Sequence[Event], limit: int, count: Counter) -> str:
        if limit <= 0:
            return ""
        summary = summary.strip()
        old = _remembered(summary, events)
        found = _scored([*old, *(_Message(_label(event), list(said(event))) for event in events)])
        ranked = sorted(found, key=lambda each: (each.score, each.message, each.place), reverse=True)
        chosen = _fitting(ranked, lambda some: count(_written(some)) <= limit)
        if len(chosen) == len(found):
            new = _written(each for each in found if each.message >= len(old))
            whole = "\n".join(text for text in (summary, new) if text)
            if count(whole) <= limit:
                return whole
        return _written(chosen) or cut(_written(ranked[:1]) or summary, limit, count)


class _Message(NamedTuple):
    label: str
    parts: list[tuple[str, Role]]
    """Its sentences, and whose words they are."""


class _Sentence(NamedTuple):
    message: int
    place: int
    label: str
    text: str
    score: float


def _remembered(summary: str, events: Iterable[Event]) -> list[_Message]:
    """The lines of a summary as if they were messages. Whoever is not known to be something else is a user."""
    roles = {role.value: role for role in Role} | {_label(event): event.role for event in events}
    lines = (_labelled(each, roles) for each in summary.splitlines() if each.strip())
    return [_Message(label, [(each, roles.get(label, Role.USER)) for each in sentences(text)]) for label, text in lines]


def _labelled(text: str, known: Collection[str]) -> tuple[str, str]:
    """A line as (label, rest). One that another condenser wrote may have no label, or a colon in the middle."""
    label, colon, rest = text.partition(": ")
    return (label, rest) if colon and (label in known or len(label.split()) <= LABEL_WORDS) else ("", text)


def _label(event: Event) -> str:
    return " ".join((event.speaker or "").split()).replace(": ", ":") or event.role


def _scored(messages: Iterable[_Message]) -> list[_Sentence]:
    """What is worth keeping, in order. What was said before is not said again.

    The second best sentence of a message counts two thirds, the third a half: a pasted page does not push out the rest.
    """
    found: list[_Sentence] = []
    seen: set[str] = set()
    for number, (label, parts) in enumerate(messages):
        worths = {text: score(text, role) for text, role in parts if text.casefold() not in seen}
        seen.update(map(str.casefold, worths))
        ranks = {text: rank for rank, text in enumerate(sorted(worths, key=lambda text: -worths[text]))}
        found += [
            _Sentence(number, place, label, text, worth * 2 / (ranks[text] + 2))
            for place, (text, worth) in enumerate(worths.items())
            if worth
        ]
    return found


def _fitting(ranked: list[_Sentence], fits: Callable[[list[_Sentence]], bool]) -> list[_Sentence]:
    """The best that fit together, and of the next few those for which there is still room.

    A greeting does not fill the room of a fact: what scores less than half of the first that did not fit stays out.
    """
    chosen = ranked[: most(lambda number: fits(ranked[:number]), len(ranked))]
    next_best = ranked[len(chosen) :][: TRIES + 1]
    for each in next_best[1:]:
        if each.score * 2 >= next_best[0].score and fits([*chosen, each]):
            chosen.append(each)
    return chosen


def _written(chosen: Iterable[_Sentence]) -> str:
    """A line for each message."""
    lines = groupby(sorted(chosen), key=lambda each: (each.message, each.label))
    texts = ((label, joined([each.text for each in group])) for (_, label), group in lines)
    return "\n".join(f"{label}: {text}" if label else text for label, text in texts)
