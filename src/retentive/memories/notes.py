"""Notes: memories with an id that the user chose. A note is replaced as a whole."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from retentive import clock
from retentive.errors import Conflict, Invalid, NotFound
from retentive.ids import new_ids
from retentive.memories import daily_log, edit
from retentive.memories.edit import rechunk_steps
from retentive.memories.write import build_new_memory, new_memory_steps
from retentive.model import Draft, Kind, Memory, Page, Status, from_micros
from retentive.storage import Step
from retentive.storage.damage import collect_damage
from retentive.storage.tables import memories
from retentive.store import OpenStore, secret_policy, validate
from retentive.store.scope import make_scope
from retentive.store.traits import parse_traits
from retentive.store.views import mutates
from retentive.store.write import Decision, write
from retentive.surface.memory import CONTENT_FIELDS, SESSION


class Notes:
    """The verbs of notes. A note is a memory of kind `note`: searched with the others, with the same history."""

    def __init__(self, store: OpenStore) -> None:
        self._store = store

    @mutates
    def put(
        self, text: str, *, note_id: str | None = None, session: str | None = None, tags: Iterable[str] = ()
    ) -> Memory:
        """Write a note, or replace the one with this id as a whole. The same note again changes nothing.

        Without an id it is a new note with the id `note-<uuid>`. With a session it is visible in that session only.
        """
        store = self._store
        limit = store.config.max_content
        traits = parse_traits(max_content=limit, kind=Kind.NOTE, session=session, tags=tags)
        draft = secret_policy.apply_policy_to_draft(store, validate.make_draft(text, traits, limit))
        id = _check_id(note_id) or f"note-{new_ids(clock.now(), 1)[0]}"

        def decide(now: int) -> Decision[int | None]:
            """Insert or replace; the result is the moment of the insert."""
            old = store.tables.memories.get(store.namespace, id, now)
            if old is None:
                return Decision([*new_memory_steps(store, draft, id, now)], now, upserts=1)
            return Decision(self._replace_steps(old, draft, now), None, upserts=1)

        inserted_at = write(store, decide, busy=f"others kept changing note {id!r}")
        if inserted_at is None:
            return edit.load(store, id)
        daily_log.append_to_log(store, [(id, draft)], inserted_at)
        return build_new_memory(store, draft, id, inserted_at)

    def get(self, note_id: str) -> Memory:
        """Get a note by its id."""
        found = self._find(note_id)
        if found is None:
            hint = "`notes.list()` shows the existing ones."
            raise NotFound(f"no note {note_id[:60]!r} in namespace {self._store.namespace!r}", hint)
        return found

    def list(
        self,
        limit: int = 50,
        after: str | None = None,
        session: str | None = None,
        *,
        tags: Iterable[str] = (),
    ) -> Page[Memory]:
        """List a page of notes, newest first: global ones and those of the session, with all of the tags."""
        visible = make_scope([self._store.namespace], session=session, tags=tags)
        last = None if after is None else edit.load(self._store, validate.require_name(after, "after")).id
        with collect_damage() as damage:
            found = self._store.tables.memories.list_notes(visible, validate.positive_int(limit) + 1, last)
        following = found[limit - 1].id if len(found) > limit else None
        return Page(tuple(found[:limit]), following, tuple(damage.notes()))

    @mutates
    def delete(self, note_id: str) -> bool:
        """Forget a note, as `forget` does. Return False if there was none."""
        found = self._find(note_id)
        if found:
            edit.forget(self._store, found.id, "note deleted", "user")
        return found is not None

    def _find(self, note_id: str) -> Memory | None:
        """The active note with this id."""
        id = validate.require_name(note_id, "note_id")
        found = self._store.tables.memories.get(self._store.namespace, id, clock.now())
        return found if found and found.kind is Kind.NOTE and found.status is Status.ACTIVE else None

    def _replace_steps(self, old: Memory, draft: Draft, now: int) -> Sequence[Step]:
        """Steps that replace a note as a whole; none if nothing changes."""
        if old.kind is not Kind.NOTE:
            raise Conflict(f"{old.id} is a {old.kind}, not a note", "Choose another note_id.")
        moment = from_micros(now)
        traits = {field.name: getattr(draft.traits, field.name) for field in (*CONTENT_FIELDS, SESSION)}
        begun: dict[str, Any] = {"valid_from": moment, "updated": moment, "version": old.version + 1}
        new = replace(
            old, content=draft.content, content_hash=draft.content_hash, status=Status.ACTIVE, superseded_by=None,
            valid_to=None, **{**traits, **begun},
        )  # fmt: skip
        if new == replace(old, **begun):
            return []
        return [*memories.update_steps(old, new, "user", "note replaced"), *rechunk_steps(self._store, new)]


def _check_id(given: str | None) -> str | None:
    """A valid id for a note. Ids with # are those of messages."""
    id = validate.optional_name(given, "note_id")
    if id and "#" in id:
        raise Invalid("note_id contains a #", "Ids with # are those of messages: choose another.")
    return id
