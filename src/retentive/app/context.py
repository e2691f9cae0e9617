"""The text that a model should read next."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from retentive.app import check
from retentive.app.parts import Parts
from retentive.app.search import search
from retentive.app.summaries import shortened
from retentive.context import Counter
from retentive.context.assemble import Item, Section, assemble, distinct
from retentive.context.replay import HEADING
from retentive.context.turns import dangling, line, turns
from retentive.errors import EmbedError, Invalid
from retentive.model import Context, Event, Fusion, Hit, Mode, Omission, Query, Summary, Type
from retentive.text.messages import readable

MEMORIES = 40  # looked at for a context: more than a usual budget holds
EXCERPTS = 20
LOOK_BACK = 50  # messages before the recent ones in which the beginning of their first turn is looked for


@dataclass(frozen=True, slots=True)
class Asked:
    """What a context is to be made for, checked."""

    text: str
    session: str | None
    budget: int
    recent: int
    min_similarity: float | None
    namespaces: Sequence[str]
    shares: Mapping[str, float]
    count: Counter


def shares(parts: Parts, given: Any) -> dict[str, float]:
    """How much of the budget each part may take first: as given, else as set."""
    found = {name: getattr(parts.config, f"share_{name}") for name in ("summary", "memories", "excerpts", "recent")}
    if given is not None and not isinstance(given, Mapping):
        raise Invalid("shares must be a mapping", f"Of: {', '.join(found)}.")
    if unknown := {*(given or {})} - {*found}:
        raise Invalid(f"a context has no part {min(map(str, unknown))[:40]!r}", f"It has: {', '.join(found)}.")
    return found | {name: check.fraction(share, f"the share of {name}", 0.0) for name, share in (given or {}).items()}


def context(parts: Parts, asked: Asked) -> Context:
    state = parts.conversations.summary(parts.namespace, asked.session) if asked.session else None
    summary = _summary(asked, state)
    recent = _recent(parts, state, asked.recent) if state else []
    memories, excerpts, notes = _found(parts, asked)
    spoken = [event for turn in recent for event in turn]
    while True:
        made = _assembled(asked, summary, memories, excerpts, recent, spoken)
        shown = [event for event in spoken if event.id in made.cites]
        if len(shown) == len(spoken) or not any(hit.item in spoken for hit in excerpts):
            return replace(made, notes=tuple(notes))
        spoken = shown  # what has no room as a whole message may have it as an excerpt


def _assembled(
    asked: Asked,
    summary: str,
    memories: Sequence[Hit],
    excerpts: Sequence[Hit],
    recent: Sequence[tuple[Event, ...]],
    spoken: Sequence[Event],
) -> Context:
    """Without what is said twice: the question itself, a memory, a recent message or the summary in an excerpt."""
    known = [asked.text, *(hit.excerpt for hit in memories), *(event.content for event in spoken)]
    known += [text.partition(": ")[2] for text in summary.removeprefix(HEADING).splitlines()]
    told = distinct((hit.id, hit.excerpt) for hit in memories)
    quoted = distinct(((hit.id, hit.excerpt) for hit in excerpts if hit.item not in spoken), known)
    facts = [(_memory(hit),) for hit in memories if hit.id in told.kept]
    quotes = [(_excerpt(hit),) for hit in excerpts if hit.id in quoted.kept]
    made = assemble(
        [
            _section(asked, "summary", "", [(Item(asked.session or "", summary, 0),)] if summary else []),
            _section(asked, "memories", "## Relevant Memories", facts),
            _section(asked, "excerpts", "## Earlier Conversation", quotes),
            replace(_section(asked, "recent", "## Recent Messages", _latest_first(recent)), in_sequence=True),
        ],
        asked.budget,
        asked.count,
    )
    again = [("memories", *each) for each in told.repeats] + [("excerpts", *each) for each in quoted.repeats]
    repeats = (Omission(part, id, f"says the same as {other or 'another part'}") for part, id, other in again)
    return replace(made, left_out=(*made.left_out, *repeats))


def _section(asked: Asked, name: str, heading: str, groups: Sequence[tuple[Item, ...]]) -> Section:
    return Section(name, heading, asked.shares[name], groups)


def _found(parts: Parts, asked: Asked) -> tuple[list[Hit], list[Hit], list[str]]:
    """The memories and the events that bear on the question, and what was missing in the search for them."""
    if not asked.text.strip():
        return [], [], []
    query, notes = _query(parts, asked)
    scope = query.scope
    memories = search(parts, replace(query, limit=MEMORIES, scope=replace(scope, types=(Type.MEMORY,))))
    everywhere = replace(scope, types=(Type.EVENT,), within=None)
    excerpts = search(parts, replace(query, limit=EXCERPTS, scope=everywhere))
    return [*memories], [*excerpts], [*dict.fromkeys((*notes, *memories.notes, *excerpts.notes))]


def _query(parts: Parts, asked: Asked) -> tuple[Query, list[str]]:
    """Embedded once, for both searches."""
    floor = parts.config.min_similarity or (parts.space.min_similarity if parts.space else 0.0)
    query = Query(
        asked.text,
        check.scope(asked.namespaces, session=asked.session),
        fusion=Fusion(parts.config.fusion),
        vector_weight=parts.config.vector_weight,
        min_similarity=floor if asked.min_similarity is None else asked.min_similarity,
    )
    if parts.embedder is None:
        return query, []
    try:
        return replace(query, vector=parts.embedder.embed_query(asked.text)), []
    except EmbedError as error:
        return replace(query, mode=Mode.TEXT), [f"vectors were not used: {error}"]


def _recent(parts: Parts, state: Summary, limit: int) -> list[tuple[Event, ...]]:
    """The newest messages that no summary covers, as turns: the one that the limit would divide is there whole."""
    if not limit:
        return []
    events = parts.conversations.newest(parts.namespace, state.session, limit + LOOK_BACK, state.upto)
    waiting, _ = parts.conversations.unsummarised(parts.namespace, state.session, state.upto)
    taken: list[tuple[Event, ...]] = []
    for turn in reversed(turns(events)):
        if sum(map(len, taken)) >= limit or (waiting > len(events) and dangling(turn)):
            break
        taken.append(turn)
    return taken[::-1]


def _summary(asked: Asked, state: Summary | None) -> str:
    if state is None or not state.text:
        return ""
    room = int(asked.shares["summary"] * asked.budget) - asked.count(HEADING)
    text = shortened(state.text, max(room, 0), asked.count)
    return HEADING + text if text else ""


def _memory(hit: Hit) -> Item:
    return Item(hit.id, f"- {_quoted(hit)} ({hit.time:%Y-%m-%d})", (hit.time, hit.id))


def _excerpt(hit: Hit) -> Item:
    event = hit.event
    who = event.speaker or event.role
    return Item(hit.id, f"- {event.time:%Y-%m-%d} {who}: {_quoted(hit)}", (event.time, hit.id))


def _quoted(hit: Hit) -> str:
    whole = hit.content if hit.type is Type.MEMORY else readable(hit.event.content, hit.event.payload)
    return hit.excerpt if hit.excerpt.strip() == whole.strip() else f"{hit.excerpt.strip()} …"


def _latest_first(recent: Sequence[Sequence[Event]]) -> list[tuple[Item, ...]]:
    return [tuple(Item(event.id, line(event), event.sequence) for event in turn) for turn in reversed(recent)]
