"""The rolling summary: when older messages are condensed, which ones, and how without a language model.

Everything here is pure. `summaries.py` reads the messages and writes the summary.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import groupby
from typing import NamedTuple, Protocol

from retentive.conversations.sentences import join_sentences, message_sentences, score_sentence, split_sentences
from retentive.conversations.turns import group_turns, render_line
from retentive.frozen_dataclass import dataclass
from retentive.model import Event, Role
from retentive.text.clip import clip_to_tokens, find_largest
from retentive.text.token_counters import TokenCounter

MAX_LABEL_WORDS = 3  # of a name before a colon; "We agreed on the following: ..." is a sentence
MAX_FILL_TRIES = 8  # sentences looked at to fill the rest of a summary: each costs counting all of it


class Condenser(Protocol):
    """Writes the rolling summary of a session.

    Guarantees: `condense` returns the whole new summary: the old one together with what the events add. It has at
    most `limit` tokens by `count`; it is "" if nothing is worth saying or `limit` is 0.
    The default condenser is deterministic; one that asks a language model need not be.
    Errors: anything. Callers then use the default, which raises nothing.
    Threads: it may be called from any thread.
    Must not know: where messages are stored, when a summary is due.
    """

    def condense(self, summary: str, events: Sequence[Event], limit: int, count: TokenCounter) -> str: ...


@dataclass(frozen=True, slots=True)
class SummaryPolicy:
    """When a summary is due. All fields but the first are shares of the session's token budget."""

    min_messages: int = 4  # two exchanges; fewer are long rather than old, and read best as they are
    trigger: float = 0.80  # the rest is room for the next message and its answer
    target: float = 0.50  # of messages afterwards: so far below the trigger that one is not due with every message
    share: float = 0.25  # of the summary; together with the target below the trigger, or the next were due at once

    def limit(self, budget: int) -> int:
        """Return the maximum number of tokens of a summary."""
        return int(self.share * budget)


def choose_oldest(
    events: Sequence[Event], budget: int, policy: SummaryPolicy, count: TokenCounter, summary_tokens: int = 0
) -> tuple[Event, ...]:
    """Choose the messages to condense now from those that no summary covers; none if a summary is not due.

    Whole turns are taken, oldest first, until the rest is within the target. The newest turn always stays.
    """
    sizes = [count(render_line(event)) for event in events]
    left = sum(sizes)
    if len(events) < policy.min_messages or left + summary_tokens <= policy.trigger * budget:
        return ()
    taken = 0
    for turn in group_turns(events)[:-1]:
        if left <= policy.target * budget:
            break
        left -= sum(sizes[taken : taken + len(turn)])
        taken += len(turn)
    return tuple(events[:taken])


class ExtractiveCondenser:
    """The default `Condenser`: selects the highest scoring sentences and keeps their order.

    While every sentence with a score fits, the old summary stays unchanged and new lines follow it. After that, old
    and new sentences compete by score, so an endless conversation stays within the limit. On a tie the newer wins.
    """

    def condense(self, summary: str, events: Sequence[Event], limit: int, count: TokenCounter) -> str:
        if limit <= 0:
            return ""
        summary = summary.strip()
        old = _parse_summary(summary, events)
        found = _score_sentences(
            [*old, *(_Message(_speaker_label(event), list(message_sentences(event))) for event in events)]
        )
        ranked = sorted(found, key=lambda each: (each.score, each.message, each.place), reverse=True)
        chosen = _choose_fitting(ranked, lambda some: count(_render_lines(some)) <= limit)
        if len(chosen) == len(found):
            new = _render_lines(each for each in found if each.message >= len(old))
            whole = "\n".join(text for text in (summary, new) if text)
            if count(whole) <= limit:
                return whole
        return _render_lines(chosen) or clip_to_tokens(_render_lines(ranked[:1]) or summary, limit, count)


class _Message(NamedTuple):
    label: str
    parts: list[tuple[str, Role]]
    """Its sentences, each with the role that said it."""


class _Sentence(NamedTuple):
    message: int
    place: int
    label: str
    text: str
    score: float


def _parse_summary(summary: str, events: Iterable[Event]) -> list[_Message]:
    """Parse the lines of a summary as messages. A label with no known role counts as a user."""
    roles = {role.value: role for role in Role} | {_speaker_label(event): event.role for event in events}
    lines = (_split_label(each, roles) for each in summary.splitlines() if each.strip())
    return [
        _Message(label, [(each, roles.get(label, Role.USER)) for each in split_sentences(text)])
        for label, text in lines
    ]


def _split_label(text: str, known: Collection[str]) -> tuple[str, str]:
    """Split a line into (label, rest). Lines of other condensers may have no label, or a colon in the middle."""
    label, colon, rest = text.partition(": ")
    return (label, rest) if colon and (label in known or len(label.split()) <= MAX_LABEL_WORDS) else ("", text)


def _speaker_label(event: Event) -> str:
    return " ".join((event.speaker or "").split()).replace(": ", ":") or event.role


def _score_sentences(messages: Iterable[_Message]) -> list[_Sentence]:
    """Score the sentences of messages, in order, without filler and repetitions.

    The second best sentence of a message counts two thirds, the third a half, so a pasted page does not displace
    everything else.
    """
    found: list[_Sentence] = []
    seen: set[str] = set()
    for number, (label, parts) in enumerate(messages):
        worths = {text: score_sentence(text, role) for text, role in parts if text.casefold() not in seen}
        seen.update(map(str.casefold, worths))
        ranks = {text: rank for rank, text in enumerate(sorted(worths, key=lambda text: -worths[text]))}
        found += [
            _Sentence(number, place, label, text, worth * 2 / (ranks[text] + 2))
            for place, (text, worth) in enumerate(worths.items())
            if worth
        ]
    return found


def _choose_fitting(ranked: list[_Sentence], fits: Callable[[list[_Sentence]], bool]) -> list[_Sentence]:
    """Choose the best sentences that fit together, then fill the room left with some of the next few.

    A sentence with less than half the score of the first that did not fit stays out: no greeting fills a fact's room.
    """
    chosen = ranked[: find_largest(lambda number: fits(ranked[:number]), len(ranked))]
    next_best = ranked[len(chosen) :][: MAX_FILL_TRIES + 1]
    for each in next_best[1:]:
        if each.score * 2 >= next_best[0].score and fits([*chosen, each]):
            chosen.append(each)
    return chosen


def _render_lines(chosen: Iterable[_Sentence]) -> str:
    """Render the sentences, one line per message."""
    lines = groupby(sorted(chosen), key=lambda each: (each.message, each.label))
    texts = ((label, join_sentences([each.text for each in group])) for (_, label), group in lines)
    return "\n".join(f"{label}: {text}" if label else text for label, text in texts)
