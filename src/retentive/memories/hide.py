"""Hide messages that say what was forgotten. They stay in the log, but no answer shows them.

Hidden are the messages that the memory was learned from, those that repeat it, and the request to forget it if that
says it. A message after the forgetting is not hidden. The rows are written in one transaction with the forgetting, and
`restore` deletes them. Sentences of summaries that say it are dropped.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from retentive.memories.mentions import FactWords, gives_away, read_fact, repeats_fact
from retentive.model import Event, Memory
from retentive.storage import Step
from retentive.storage.tables import conversations
from retentive.storage.tables.hidden import MessageKey, hide_step
from retentive.storage.tables.purges import cancel_summaries_step
from retentive.store import OpenStore
from retentive.store.origins import memory_origins
from retentive.store.scope import make_scope
from retentive.text.messages import extract_text
from retentive.text.sentences import find_sentences

_SPEAKER = re.compile(r"[^\s:.][^:.\n]{0,40}: ")
_EMPTY_LINE = re.compile(rf"[-*• ]*(?:{_SPEAKER.pattern[:-1]})? *[·… ]*")
PREFIX_CHARS = 4  # of a stem: these are in each form of the word
MAX_MESSAGES = 1000  # compared with a memory: the best matches of its keywords


class Forgetting(NamedTuple):
    """A memory that is about to be forgotten, and the request for it if that is a message."""

    memory: Memory
    request: MessageKey | None = None
    requested_at: datetime | None = None
    """The time of the message that asked for it: later messages are not hidden."""


def hide_steps(store: OpenStore, forgettings: Sequence[Forgetting], now: int) -> Iterator[Step]:
    """Hide the messages of memories that are forgotten in the same transaction."""
    stem = store.engine.tokens
    facts: dict[str, list[FactWords]] = {}
    for forgetting in forgettings:
        memory = forgetting.memory
        fact = read_fact(memory.content, stem)
        places = [*dict.fromkeys((*memory_origins(memory), *_find_repeats(store, forgetting, fact)))]
        if not places:
            continue
        yield hide_step(memory, places, now)
        for session in dict.fromkeys(session for session, _ in places):
            facts.setdefault(session, []).append(fact)
    for session, of_session in facts.items():
        yield _summary_step(store, session, of_session)


def hide_request_steps(store: OpenStore, forgotten: Memory, request: MessageKey, now: int) -> Iterator[Step]:
    """Hide a request to forget what was forgotten already, if it says that."""
    event = store.tables.conversations.load_event(store.namespace, *request)
    fact = read_fact(forgotten.content, store.engine.tokens)
    if event and gives_away(fact, extract_text(event.content, event.payload), store.engine.tokens):
        yield hide_step(forgotten, [request], now)


def _find_repeats(store: OpenStore, forgetting: Forgetting, fact: FactWords) -> Iterator[MessageKey]:
    """Yield the messages that repeat a memory: found by one keyword search, then compared one by one."""
    memory, stem = forgetting.memory, store.engine.tokens
    keywords = [fact.head[1]] if fact.head else [*(fact.values or fact.subject)]
    if not keywords:
        return
    within = make_scope([memory.namespace], include="events")
    matches = store.engine.search_text(keywords, within, MAX_MESSAGES)
    if not matches:
        return
    prefixes = [word[:PREFIX_CHARS] for word in keywords]
    chunk_ids = [match.chunk for match in matches]
    for event in store.tables.hidden_messages.list_messages_with(memory.namespace, chunk_ids, prefixes[0]):
        text = extract_text(event.content, event.payload)
        folded = text.casefold()
        if not any(prefix in folded for prefix in prefixes):
            continue  # only its neighbours in the same chunk have the word
        place = (event.session, event.sequence)
        is_request = place == forgetting.request and gives_away(fact, text, stem)
        if is_request or (_is_before(event, forgetting) and repeats_fact(fact, text, stem)):
            yield place


def _is_before(event: Event, forgetting: Forgetting) -> bool:
    """Return whether a message came before the request to forget, or is the request."""
    if forgetting.request and event.session == forgetting.request[0]:
        return event.sequence <= forgetting.request[1]
    return forgetting.requested_at is None or event.time <= forgetting.requested_at


def _summary_step(store: OpenStore, session: str, facts: Iterable[FactWords]) -> Step:
    """Drop the sentences of a summary that say the facts. A concurrent summariser finds another epoch."""
    summary = store.tables.conversations.load_summary(store.namespace, session)
    text = _drop_sentences(summary.text, facts, store) if summary else ""
    if summary is None or text == summary.text:
        return cancel_summaries_step(store.namespace, [session])
    return conversations.set_summary_step(store.namespace, summary, text, summary.upto)


def _drop_sentences(summary: str, facts: Iterable[FactWords], store: OpenStore) -> str:
    stem = store.engine.tokens
    for fact in facts:
        for sentence in reversed([*find_sentences(summary)]):
            if gives_away(fact, sentence.text, stem) or repeats_fact(fact, sentence.text, stem):
                label = _SPEAKER.match(sentence.text)
                start = sentence.start + (label.end() if label else 0)
                summary = f"{summary[:start]}{summary[sentence.end :].lstrip(' ')}"
    lines = (line for line in summary.splitlines() if not _EMPTY_LINE.fullmatch(line))
    return "\n".join(lines).strip()
