"""Notes: memories that are known by an id of their own, and replaced whole."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from retentive import clock
from retentive.errors import Busy, Conflict, Invalid, NotFound, Stale
from retentive.ids import new_ids
from retentive.memories import daily_log, edit
from retentive.memories.edit import chunks_anew
from retentive.memories.write import new_memory, new_steps
from retentive.model import Draft, Kind, Memory, Page, Status, from_micros
from retentive.storage import Step
from retentive.storage.damage import collect_damage
from retentive.storage.tables import memories
from retentive.store import OpenStore, secret_policy, validate
from retentive.store.scope import scope
from retentive.store.views import writes
from retentive.store.write import MAX_ATTEMPTS


class Notes:
    """The verbs of notes. A note is a memory of kind `note`: searched with the others, with the same history."""

    def __init__(self, store: OpenStore) -> None:
        self._store = store

    @writes
    def put(
        self, text: str, note_id: str | None = None, session: str | None = None, *, tags: Iterable[str] = ()
    ) -> Memory:
        """Keep a note, or replace the one of this id wholly; the same again changes nothing.

        Without an id it is a new note, whose id is `note-<uuid>`. With a session it is seen in that session only.
        """
        store = self._store
        limit = store.config.max_content
        traits = validate.traits(max_content=limit, kind=Kind.NOTE, session=session, tags=tags)
        draft = secret_policy.draft(store, validate.draft(text, traits, limit))
        id = _own_id(note_id) or f"note-{new_ids(clock.now(), 1)[0]}"
        for _ in range(MAX_ATTEMPTS):
            now = clock.now()
            old = store.tables.memories.get(store.namespace, id, now)
            steps = [*new_steps(store, draft, id, now)] if old is None else self._replace(old, draft, now)
            try:
                if steps:
                    store.engine.apply(steps)
                    store.journal.kept(store.namespace, 1)
            except Stale:
                continue
            if old is not None:
                return edit.load(store, id)
            daily_log.log(store, [(id, draft)], now)
            return new_memory(store, draft, id, now)
        raise Busy(f"others kept changing note {id!r}", "Retry in a moment.")

    def get(self, note_id: str) -> Memory:
        found = self._find(note_id)
        if found is None:
            hint = "`retentive note list` shows those there are."
            raise NotFound(f"no note {note_id[:60]!r} in namespace {self._store.namespace!r}", hint)
        return found

    def list(
        self,
        limit: int = 50,
        before: str | None = None,
        session: str | None = None,
        *,
        tags: Iterable[str] = (),
    ) -> Page:
        """The newest first, a page at a time: the global ones, and those of the session; with all of these tags."""
        seen = scope([self._store.namespace], session=session, tags=tags)
        last = None if before is None else edit.load(self._store, validate.required(before, "before")).id
        with collect_damage() as damage:
            found = self._store.tables.memories.page(seen, validate.limit_of(limit) + 1, last, "note_list")
        following = found[limit - 1].id if len(found) > limit else None
        return Page(tuple(found[:limit]), following, tuple(damage.notes()))

    @writes
    def delete(self, note_id: str) -> bool:
        """Forget a note, softly as `forget` does. False: there was none."""
        found = self._find(note_id)
        if found:
            edit.forget(self._store, found.id, "note deleted", "user")
        return found is not None

    def _find(self, note_id: str) -> Memory | None:
        id = validate.required(note_id, "note_id")
        found = self._store.tables.memories.get(self._store.namespace, id, clock.now())
        return found if found and found.kind is Kind.NOTE and found.status is Status.ACTIVE else None

    def _replace(self, old: Memory, draft: Draft, now: int) -> Sequence[Step]:
        if old.kind is not Kind.NOTE:
            raise Conflict(f"{old.id} is a {old.kind}, not a note", "Choose another note_id.")
        moment = from_micros(now)
        new = replace(
            old, content=draft.content, content_hash=draft.content_hash, session=draft.traits.session,
            tags=draft.traits.tags, status=Status.ACTIVE, superseded_by=None, valid_to=None, expires=None, context=None,
            slot=None, metadata={}, importance=draft.traits.importance, confidence=draft.traits.confidence,
            valid_from=moment, updated=moment, version=old.version + 1,
        )  # fmt: skip
        if new == replace(old, valid_from=moment, updated=moment, version=old.version + 1):
            return []
        return [*memories.update_steps(old, new, "user", "note replaced"), *chunks_anew(self._store, new)]


def _own_id(given: str | None) -> str | None:
    id = validate.name_of(given, "note_id")
    if id and "#" in id:
        raise Invalid("note_id contains a #", "Ids with it are those of messages: choose another.")
    return id
