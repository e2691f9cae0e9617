"""Read and change one memory: get, update, forget, restore, history."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

from retentive import clock
from retentive.errors import Conflict, NotFound
from retentive.ids import new_ids
from retentive.memories.hide import Forgetting, hide_steps
from retentive.memories.plan import expiry_steps
from retentive.memories.write import embed_texts
from retentive.model import Access, HistoryEntry, Kind, Memory, Status, from_micros
from retentive.storage import Step
from retentive.storage.tables import chunks, hidden, memories, proposals
from retentive.store import OpenStore, secret_policy, validate
from retentive.store.traits import TRAIT_FIELDS, parse_change
from retentive.store.write import Decision, write
from retentive.surface.memory import FREE_TEXT_FIELDS
from retentive.text.chunk import chunk_text
from retentive.text.normalize import hash_content


def get(store: OpenStore, id: str) -> Memory:
    """Load a memory and log the access."""
    memory = load(store, id)
    store.journal.record_accesses([Access(store.namespace, id, from_micros(clock.now()), "get", None, None)])
    return memory


def update(store: OpenStore, id: str, changes: Mapping[str, Any], reason: str | None, actor: str) -> Memory:
    """Change the given fields. A changed text is hashed, split into chunks and embedded again."""
    checked = _check_changes(store, changes)
    validate.check_reason(reason, actor)

    def decide(old: Memory, now: int) -> list[Step]:
        if old.status is not Status.ACTIVE:
            raise Conflict(f"{id} is {old.status}", _STATUS_HINTS[old.status].format(id))
        new = replace(old, **checked, updated=from_micros(now), version=old.version + 1)
        room = _make_room(store, new, now)
        return [*room, *memories.update_steps(old, new, actor, reason), *_chunk_steps(store, old, new)]

    return _write_change(store, id, decide) if checked else load(store, id)


_STATUS_HINTS = {
    Status.FORGOTTEN: "Restore it first: `restore('{}')`.",
    Status.SUPERSEDED: "Change the memory that replaced it, or undo the replacement: `restore('{}')`.",
    Status.EXPIRED: "It has expired; add it again.",
}


def forget(store: OpenStore, id: str, reason: str | None, actor: str) -> Memory:
    """Hide a memory from answers, and the messages that say the same. It stays in the store with its history."""
    validate.check_reason(reason, actor)

    def decide(old: Memory, now: int) -> list[Step]:
        if old.status is Status.FORGOTTEN:
            return []
        new = replace(old, status=Status.FORGOTTEN, updated=from_micros(now), version=old.version + 1)
        return [*memories.status_steps(old, new, actor, reason), *hide_steps(store, [Forgetting(old)], now)]

    return _write_change(store, id, decide)


def restore(store: OpenStore, id: str, reason: str | None, actor: str) -> Memory:
    """Undo `forget` or a replacement: the memory is active again, or superseded if it was so when forgotten."""
    validate.check_reason(reason, actor)

    def decide(old: Memory, now: int) -> list[Step]:
        if old.status is Status.ACTIVE:
            return []
        if old.status is Status.EXPIRED:
            raise Conflict(f"{id} is {old.status}", _STATUS_HINTS[old.status])
        if old.status is Status.SUPERSEDED:
            return _undo_replacement(store, old, now, reason, actor)
        status = _find_previous_status(store, old)
        room = _make_room(store, old, now) if status is Status.ACTIVE else []
        end = None if status is Status.ACTIVE else old.valid_to
        new = replace(old, status=status, valid_to=end, updated=from_micros(now), version=old.version + 1)
        return [*room, *memories.status_steps(old, new, actor, reason), hidden.show_step(old)]

    return _write_change(store, id, decide)


def _undo_replacement(store: OpenStore, old: Memory, now: int, reason: str | None, actor: str) -> list[Step]:
    """Make a superseded memory active again from its own time on. The pair of texts counts as rejected from now on.

    The slot's current memory becomes superseded by the restored one, because a slot has one active memory. The restored
    one has no successor, so no circle can arise. Restoring the other reverses it. A memory that replaced it in another
    slot, or in none, stays active.
    """
    if old.expires and old.expires <= from_micros(now):
        raise Conflict(f"{old.id} has expired in the meantime", _STATUS_HINTS[Status.EXPIRED])
    steps: list[Step] = []
    others = _load_same_slot(store, old, now)
    for other in others:
        superseded = _supersede_by(other, old, now)
        if superseded != other:
            steps += memories.status_steps(other, superseded, actor, reason or f"{old.id} was restored")
    steps += _make_room(store, old, now, exempt_ids={other.id for other in others})
    new = replace(old, status=Status.ACTIVE, superseded_by=None, valid_to=None, updated=from_micros(now))
    return [*steps, *memories.status_steps(old, new, actor, reason), *_rejection_steps(store, old, now)]


def _load_same_slot(store: OpenStore, old: Memory, now: int) -> list[Memory]:
    """Return the other active and superseded memories of the slot of a memory."""
    if not old.slot:
        return []
    holders = store.tables.memories.load_slot_history(old.namespace, old.session, old.slot, now)
    return [each for each in holders if each.id != old.id]


def _rejection_steps(store: OpenStore, old: Memory, now: int) -> Iterator[Step]:
    """Yield the steps that record the undone replacement as rejected, so that it is not made again."""
    newer = store.tables.memories.get(old.namespace, old.superseded_by, now) if old.superseded_by else None
    if newer:
        yield proposals.keep_apart_step(new_ids(now, 1)[0], newer, old, "restored", now)


def _supersede_by(other: Memory, restored: Memory, now: int) -> Memory:
    """Return another memory of the slot as superseded by the restored one, and valid at most until that one begins."""
    end = max(other.valid_from, restored.valid_from)
    if other.valid_to and other.valid_to <= end:
        return other
    if other.status is Status.ACTIVE:
        other = replace(other, status=Status.SUPERSEDED, superseded_by=restored.id)
    return replace(other, valid_to=end, updated=from_micros(now))


def history(store: OpenStore, id: str) -> list[HistoryEntry]:
    """Return the changes of a memory, from its creation to the latest."""
    memory = load(store, id)
    creation = HistoryEntry(0, "created", memory.created, memory.source, None, None)
    return [creation, *store.tables.memories.list_history(store.namespace, id)]


def _write_change(store: OpenStore, id: str, decide: Callable[[Memory, int], list[Step]]) -> Memory:
    """Apply the steps that `decide` returns for the memory as it is now, and return the changed memory."""

    def decide_now(now: int) -> Decision[str | None]:
        old = load(store, id)
        return Decision(decide(old, now), old.slot)

    old_slot = write(store, decide_now, busy=f"others kept changing {id}")
    memory = load(store, id)
    store.sync_profile_slots(store, {old_slot, memory.slot})
    return memory


def load(store: OpenStore, id: str) -> Memory:
    """Load a memory by its id. Raise `NotFound` if there is none."""
    memory = store.tables.memories.get(store.namespace, validate.require_text(id, "id"), clock.now())
    if memory is None:
        session, is_event, sequence = id.rpartition("#")
        hint = f"It looks like a message: `sessions.events({session!r}, around={sequence})`." if is_event else ""
        raise NotFound(f"no memory {id[:60]!r} in namespace {store.namespace!r}", hint)
    return memory


def _find_previous_status(store: OpenStore, memory: Memory) -> Status:
    """Return the status of a memory before its last change."""
    last = store.tables.memories.load_last_change(store.namespace, memory.id)
    return Status(last.before["status"]) if last and last.before else Status.ACTIVE


def _check_changes(store: OpenStore, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the new values of the fields, validated, with the policy for secrets applied."""
    limit = store.config.max_content
    checked = {
        name: parse_change(TRAIT_FIELDS[name], value, limit) for name, value in changes.items() if name != "content"
    }
    if "content" in changes:
        checked["content"] = validate.require_content(changes["content"], "content", limit)
    for name in ("content", *FREE_TEXT_FIELDS):
        if checked.get(name):
            checked[name] = secret_policy.apply_policy_to_json(store, checked[name], "memory")
    if "content" in checked:
        checked["content_hash"] = hash_content(checked["content"])
    return checked


def _make_room(store: OpenStore, new: Memory, now: int, exempt_ids: Collection[str] = ()) -> list[Step]:
    """Ensure that a memory can be the only active one with its text and slot.

    Raise `Conflict` if another one is active. The steps mark another one that has expired as such.
    """
    hashes = [new.content_hash] if new.kind is not Kind.NOTE else []
    same = store.tables.memories.load_active_by_text(new.namespace, hashes, now)
    same += store.tables.memories.load_active_by_slot(new.namespace, [new.slot], now) if new.slot else []
    steps: list[Step] = []
    exempt = {new.id, *exempt_ids}
    others = {each.id: each for each in same if each.id not in exempt and each.session == new.session}
    for other in others.values():
        if other.status is Status.ACTIVE:
            problem = "says the same" if other.content_hash == new.content_hash else f"holds the slot {new.slot}"
            raise Conflict(f"{other.id} {problem}", f"Forget that one first: `forget({other.id!r})`.")
        steps += expiry_steps(other, now, "upkeep")
    return steps


def _chunk_steps(store: OpenStore, old: Memory, new: Memory) -> Iterator[Step]:
    """Yield the steps that bring the chunks up to date. The text is embedded again only if that is needed."""
    same_text = new.content == old.content and (new.context == old.context or store.embedder is None)
    if same_text:
        yield chunks.refresh_step(new)
    else:
        yield from rechunk_steps(store, new)


def rechunk_steps(store: OpenStore, memory: Memory) -> Iterator[Step]:
    """Yield the steps that split and embed the text of a memory again."""
    texts = chunk_text(memory.content)
    vectors = embed_texts(store, [chunks.join_embedded_text(text, memory.context) for text in texts])
    yield from chunks.replace_steps(memory, texts, store.space, vectors)
    if memory.status is not Status.ACTIVE:
        yield memories.chunk_status_step(memory.namespace, memory.id, memory.status)
