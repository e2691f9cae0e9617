"""One memory: read it, change it, forget it, bring it back, tell its story."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

from retentive import clock
from retentive.errors import Busy, Conflict, NotFound, Stale
from retentive.ids import new_ids
from retentive.memories.hide import Forgetting, hide_steps
from retentive.memories.plan import expiry
from retentive.memories.write import embedded
from retentive.model import Access, Change, Kind, Memory, Status, from_micros
from retentive.storage import Step
from retentive.storage.tables import chunks, hidden, memories, proposals
from retentive.store import OpenStore, secret_policy, validate
from retentive.store.write import MAX_ATTEMPTS
from retentive.text.chunk import chunk
from retentive.text.normalize import content_hash


def get(store: OpenStore, id: str) -> Memory:
    memory = load(store, id)
    store.journal.accessed([Access(store.namespace, id, from_micros(clock.now()), "get", None, None)])
    return memory


def update(store: OpenStore, id: str, changes: Mapping[str, Any], reason: str | None, actor: str) -> Memory:
    """Change the given parts. A changed text is hashed, cut and embedded anew."""
    checked = _checked(store, changes)
    validate.why(reason, actor)

    def decide(old: Memory, now: int) -> list[Step]:
        if old.status is not Status.ACTIVE:
            raise Conflict(f"{id} is {old.status}", _WAYS_BACK[old.status].format(id))
        new = replace(old, **checked, updated=from_micros(now), version=old.version + 1)
        room = _room_for(store, new, now)
        return [*room, *memories.update_steps(old, new, actor, reason), *_chunk_steps(store, old, new)]

    return _decided(store, id, decide) if checked else load(store, id)


_WAYS_BACK = {
    Status.FORGOTTEN: "Bring it back first: retentive restore {}",
    Status.SUPERSEDED: "Change the memory that replaced it, or undo that: retentive restore {}",
    Status.EXPIRED: "Its time ran out; add it anew.",
}


def forget(store: OpenStore, id: str, reason: str | None, actor: str) -> Memory:
    """Softly: hidden from answers, kept with its history. Messages that say it are hidden, too."""
    validate.why(reason, actor)

    def decide(old: Memory, now: int) -> list[Step]:
        if old.status is Status.FORGOTTEN:
            return []
        new = replace(old, status=Status.FORGOTTEN, updated=from_micros(now), version=old.version + 1)
        return [*memories.status_steps(old, new, actor, reason), *hide_steps(store, [Forgetting(old)], now)]

    return _decided(store, id, decide)


def restore(store: OpenStore, id: str, reason: str | None, actor: str) -> Memory:
    """Undo `forget`: the memory is again what it was before. Or undo a replacement: it is current again."""
    validate.why(reason, actor)

    def decide(old: Memory, now: int) -> list[Step]:
        if old.status is Status.ACTIVE:
            return []
        if old.status is Status.EXPIRED:
            raise Conflict(f"{id} is {old.status}", _WAYS_BACK[old.status])
        if old.status is Status.SUPERSEDED:
            return _reopened(store, old, now, reason, actor)
        status = _status_before(store, old)
        room = _room_for(store, old, now) if status is Status.ACTIVE else []
        end = None if status is Status.ACTIVE else old.valid_to
        new = replace(old, status=status, valid_to=end, updated=from_micros(now), version=old.version + 1)
        return [*room, *memories.status_steps(old, new, actor, reason), hidden.show_step(old)]

    return _decided(store, id, decide)


def _reopened(store: OpenStore, old: Memory, now: int, reason: str | None, actor: str) -> list[Step]:
    """As if it had never been replaced: it holds again from its own time on. The two texts stay apart from now on.

    What holds its slot is closed first (there is one active memory for a slot), and leads to it. Since only that
    changes where it leads, and the restored one now leads nowhere, no circle can arise; and restoring the other one
    turns it round again. Other successors stay active beside it.
    """
    if old.expires and old.expires <= from_micros(now):
        raise Conflict(f"{old.id} would have expired by now", _WAYS_BACK[Status.EXPIRED])
    steps: list[Step] = []
    others = [(each, _closed(each, old, now)) for each in _same_slot(store, old, now)]
    for other, closed in others:
        if closed != other:
            steps += memories.status_steps(other, closed, actor, reason or f"{old.id} was restored")
    steps += _room_for(store, old, now, leaving={other.id for other, _ in others})
    new = replace(old, status=Status.ACTIVE, superseded_by=None, valid_to=None, updated=from_micros(now))
    return [*steps, *memories.status_steps(old, new, actor, reason), *_kept_apart(store, old, now)]


def _same_slot(store: OpenStore, old: Memory, now: int) -> list[Memory]:
    """The other memories that hold or held its slot, but nothing forgotten."""
    if not old.slot:
        return []
    chain = store.tables.memories.chain(old.namespace, old.session, old.slot, now)
    return [each for each in chain if each.id != old.id and each.status is not Status.FORGOTTEN]


def _kept_apart(store: OpenStore, old: Memory, now: int) -> Iterator[Step]:
    """Have the ending that is undone count as rejected."""
    newer = store.tables.memories.get(old.namespace, old.superseded_by, now) if old.superseded_by else None
    if newer:
        yield proposals.keep_apart_step(new_ids(now, 1)[0], newer, old, "restored", now)


def _closed(other: Memory, restored: Memory, now: int) -> Memory:
    """What was replaced or expired before stays so, but holds no longer than to the restored one's time."""
    end = max(other.valid_from, restored.valid_from)
    if other.valid_to and other.valid_to <= end:
        return other
    if other.status is Status.ACTIVE:
        other = replace(other, status=Status.SUPERSEDED, superseded_by=restored.id)
    return replace(other, valid_to=end, updated=from_micros(now))


def history(store: OpenStore, id: str) -> list[Change]:
    """From its making to its latest change."""
    memory = load(store, id)
    made = Change(0, "created", memory.created, memory.source, None, None)
    return [made, *store.tables.memories.history(store.namespace, id)]


def _decided(store: OpenStore, id: str, decide: Callable[[Memory, int], list[Step]]) -> Memory:
    """Read, decide, apply; again if someone else was first."""
    for _ in range(MAX_ATTEMPTS):
        steps = decide(load(store, id), clock.now())
        try:
            if steps:
                store.engine.apply(steps)
                store.journal.wrote = True
        except Stale:
            continue
        memory = load(store, id)
        store.sync_profile(store, [memory.slot])
        return memory
    raise Busy(f"others kept changing {id}", "Retry in a moment.")


def load(store: OpenStore, id: str) -> Memory:
    memory = store.tables.memories.get(store.namespace, validate.plain(id, "id"), clock.now())
    if memory is None:
        session, is_event, sequence = id.rpartition("#")
        hint = f"It looks like a message: retentive session show {session} --around {sequence}" if is_event else ""
        raise NotFound(f"no memory {id[:60]!r} in namespace {store.namespace!r}", hint)
    return memory


def _status_before(store: OpenStore, memory: Memory) -> Status:
    last = store.tables.memories.last_change(store.namespace, memory.id)
    return Status(last.before["status"]) if last and last.before else Status.ACTIVE


def _checked(store: OpenStore, changes: Mapping[str, Any]) -> dict[str, Any]:
    limit = store.config.max_content
    checks: dict[str, Callable[[Any], Any]] = {
        "content": lambda given: validate.body(given, "content", limit),
        "kind": lambda given: validate.one_of(Kind, given, "kind"),
        "tags": lambda given: validate.tag_list(given or ()),
        "importance": validate.importance_of,
        "confidence": validate.confidence_of,
        "context": lambda given: validate.body(given, "context", limit) if given else None,
        "slot": lambda given: validate.name_of(given or None, "slot"),
        "expires": lambda given: validate.moment(given or None, "expires", side="after"),
        "valid_from": lambda given: validate.moment(given or "", "valid_from", past=True),
        "metadata": lambda given: validate.json_object(given, "metadata") or {},
    }
    checked = {name: checks[name](value) for name, value in changes.items()}
    for name in ("content", "context", "tags", "metadata"):
        if checked.get(name):
            checked[name] = secret_policy.guarded_json(store, checked[name], "memory")
    if "content" in checked:
        checked["content_hash"] = content_hash(checked["content"])
    return checked


def _room_for(store: OpenStore, new: Memory, now: int, leaving: Collection[str] = ()) -> list[Step]:
    """There is one active memory for a text and one for a slot: refuse a second, mark one whose time ran out."""
    hashes = [new.content_hash] if new.kind is not Kind.NOTE else []
    same = store.tables.memories.same_text(new.namespace, hashes, now)
    same += store.tables.memories.same_slot(new.namespace, [new.slot], now) if new.slot else []
    steps: list[Step] = []
    taken = {new.id, *leaving}
    for other in {each.id: each for each in same if each.id not in taken and each.session == new.session}.values():
        if other.status is Status.ACTIVE:
            what = "says the same" if other.content_hash == new.content_hash else f"holds the slot {new.slot}"
            raise Conflict(f"{other.id} {what}", f"Forget that one first: retentive forget {other.id}")
        steps += expiry(other, now, "upkeep")
    return steps


def _chunk_steps(store: OpenStore, old: Memory, new: Memory) -> Iterator[Step]:
    same_text = new.content == old.content and (new.context == old.context or store.embedder is None)
    if same_text:
        yield chunks.refresh_step(new)
    else:
        yield from chunks_anew(store, new)


def chunks_anew(store: OpenStore, memory: Memory) -> Iterator[Step]:
    """Cut and embed a memory's text again."""
    slices = chunk(memory.content)
    vectors = embedded(store, [chunks.embedded_text(text, memory.context) for text in slices])
    yield from chunks.anew_steps(memory, slices, store.space, vectors)
    if memory.status is not Status.ACTIVE:
        yield memories.chunk_status_step(memory, memory.status)
