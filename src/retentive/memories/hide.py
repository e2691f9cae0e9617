"""Keep messages out of answers that say what was forgotten. The log still has them.

Hidden are the messages that the memory was learned from, those that repeat it, and the request to forget it, if that
says it. What is said after the forgetting is said anew. The rows are written with the forgetting, in one transaction,
and `restore` deletes them. Sentences of summaries that say it are dropped.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from retentive.memories.mentions import Fact, gives_away, read_fact, repeats_fact
from retentive.model import Event, Memory
from retentive.storage import Step, step
from retentive.storage.tables.hidden import Place, hide_step
from retentive.store import OpenStore
from retentive.store.origins import origins
from retentive.store.scope import scope
from retentive.text.messages import readable
from retentive.text.sentences import spans

_LABEL = re.compile(r"[^\s:.][^:.\n]{0,40}: ")  # who said it
_EMPTY = re.compile(rf"[-*• ]*(?:{_LABEL.pattern[:-1]})? *[·… ]*")
PREFIX = 4  # characters of a stem that stand in each of its forms
MAX_MESSAGES = 1000  # of the best matches of its words that are compared with a memory


class Forgetting(NamedTuple):
    """A memory that is about to be forgotten, and the request for it if that is a message."""

    memory: Memory
    request: Place | None = None
    said: datetime | None = None
    """When it was asked for in a message: what was said later is said anew."""


def hide_steps(store: OpenStore, forgettings: Sequence[Forgetting], now: int) -> Iterator[Step]:
    """Hide the messages of memories that are forgotten in the same transaction."""
    stem = store.engine.tokens
    facts: dict[str, list[Fact]] = {}
    for forgetting in forgettings:
        memory = forgetting.memory
        fact = read_fact(memory.content, stem)
        places = [*dict.fromkeys((*origins(memory), *_find_repeats(store, forgetting, fact)))]
        if not places:
            continue
        yield hide_step(memory, places, now)
        for session in dict.fromkeys(session for session, _ in places):
            facts.setdefault(session, []).append(fact)
    for session, of_session in facts.items():
        yield _summary_step(store, session, of_session)


def hide_request_steps(store: OpenStore, forgotten: Memory, request: Place, now: int) -> Iterator[Step]:
    """Hide a request to forget what was forgotten already, if it says that."""
    event = store.tables.conversations.event(store.namespace, *request)
    fact = read_fact(forgotten.content, store.engine.tokens)
    if event and gives_away(fact, readable(event.content, event.payload), store.engine.tokens):
        yield hide_step(forgotten, [request], now)


def _find_repeats(store: OpenStore, forgetting: Forgetting, fact: Fact) -> Iterator[Place]:
    """One lookup in the full text for the words of a memory, then each message is compared."""
    memory, stem = forgetting.memory, store.engine.tokens
    sought = [fact.head[1]] if fact.head else [*(fact.values or fact.subject)]
    if not sought:
        return
    within = scope([memory.namespace], include="events")
    matches = store.engine.search_text(sought, within, MAX_MESSAGES)
    if not matches:
        return
    begins = [word[:PREFIX] for word in sought]
    found = store.tables.hidden_messages.saying(memory.namespace, [match.chunk for match in matches], begins[0])
    for event in found:
        text = readable(event.content, event.payload)
        folded = text.casefold()
        if not any(begin in folded for begin in begins):
            continue  # its neighbours say the word, and the index has them beside it
        place = (event.session, event.sequence)
        is_request = place == forgetting.request and gives_away(fact, text, stem)
        if is_request or (_is_before(event, forgetting) and repeats_fact(fact, text, stem)):
            yield place


def _is_before(event: Event, forgetting: Forgetting) -> bool:
    if forgetting.request and event.session == forgetting.request[0]:
        return event.sequence <= forgetting.request[1]
    return forgetting.said is None or event.time <= forgetting.said


def _summary_step(store: OpenStore, session: str, facts: Iterable[Fact]) -> Step:
    """Drop the sentences of a summary that say it. Whoever condenses at this moment finds another epoch."""
    key: dict[str, Any] = {"namespace": store.namespace, "session": session}
    state = store.tables.conversations.summary(store.namespace, session)
    text = _without(state.text, facts, store) if state else ""
    if state is None or text == state.text:
        return step("summary_stop", **key)
    return step("summary_put", expect=1, **key, text=text, upto=state.upto, epoch=state.epoch, created=None)


def _without(summary: str, facts: Iterable[Fact], store: OpenStore) -> str:
    stem = store.engine.tokens
    for fact in facts:
        for sentence in reversed([*spans(summary)]):
            if gives_away(fact, sentence.text, stem) or repeats_fact(fact, sentence.text, stem):
                label = _LABEL.match(sentence.text)
                start = sentence.start + (label.end() if label else 0)
                summary = f"{summary[:start]}{summary[sentence.end :].lstrip(' ')}"
    lines = (line for line in summary.splitlines() if not _EMPTY.fullmatch(line))
    return "\n".join(lines).strip()
