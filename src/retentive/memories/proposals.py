"""Proposals: a newer memory that may replace an older one, or one that may belong to the person's namespace.

All stays as it is until somebody accepts or rejects it.
"""

import builtins
from collections.abc import Callable
from dataclasses import replace

from retentive import clock
from retentive.errors import Busy, Conflict, NotFound, Stale
from retentive.memories import edit
from retentive.memories.move import move_memory
from retentive.model import AGENT, Memory, Proposal, ProposalStatus, Status, from_micros
from retentive.model.proposals import SLOT, VERSION
from retentive.storage import Step
from retentive.storage.tables import chunks, memories
from retentive.storage.tables import proposals as rows
from retentive.store import OpenStore, validate
from retentive.store.views import writes
from retentive.store.write import MAX_ATTEMPTS

PAGE_SIZE = 50


def check_may_accept(proposal: Proposal, actor: str) -> None:
    """Raise if only a person may accept it."""
    if actor == AGENT and proposal.is_held:
        hint = "Ask the user. If they say so, keep their own statement, with replaces; or: retentive review"
        raise Conflict(f"a person decides on proposal {proposal.id}: {proposal.reason}", hint)


class Proposals:
    """The verbs of proposals, about one namespace."""

    def __init__(self, store: OpenStore) -> None:
        self._store = store

    def list(self, limit: int = PAGE_SIZE, before: str | None = None) -> builtins.list[Proposal]:
        """List the open proposals, newest first. `before` is the id of the last one of the page before."""
        after = validate.plain(before, "before") if before is not None else ""
        return self._rows.page(self._store.namespace, clock.now(), validate.limit_of(limit), after)

    def get(self, id: str) -> Proposal:
        """One open proposal; a `Conflict` if its memories changed or it was rejected."""
        return self._load(validate.plain(id, "id"), clock.now())

    @writes
    def accept(self, id: str, actor: str = "user") -> Proposal:
        """Have the newer memory replace the older one. `restore` of the older one undoes it.

        If it was held back because of its source, a person has to accept it, and it then takes the slot, too.
        A proposal to move a memory has it kept in the other namespace, and ended here. `newer_id` of the answer is its
        id there; `restore` of the older one brings it back here, too.
        """
        validate.plain(actor, "actor")
        proposal = self._load(validate.plain(id, "id"), clock.now())
        check_may_accept(proposal, actor)
        if proposal.move_to:
            return move_memory(self._store, proposal, actor)
        return self._decide(id, lambda proposal, now: self._ending_steps(proposal, actor, now))

    @writes
    def reject(self, id: str) -> Proposal:
        """Keep both memories. The same two texts are neither proposed nor replaced again by themselves.

        A memory that was proposed to be moved stays, and its text is not proposed again.
        """
        return self._decide(id, lambda proposal, now: [rows.reject_step(proposal, now)])

    def _ending_steps(self, proposal: Proposal, actor: str, now: int) -> builtins.list[Step]:
        newer, older = (edit.load(self._store, id) for id in (proposal.newer_id, proposal.older_id))
        ended = replace(
            older,
            status=Status.SUPERSEDED,
            superseded_by=newer.id,
            valid_to=max(older.valid_from, newer.valid_from),
            updated=from_micros(now),
        )
        reason = f"proposal accepted: {proposal.rule}: {proposal.reason}"
        return [
            rows.accept_step(proposal),
            *memories.status_steps(older, ended, actor, reason),
            *self._slot_steps(proposal, newer, older, actor, now),
        ]

    def _slot_steps(
        self, proposal: Proposal, newer: Memory, older: Memory, actor: str, now: int
    ) -> builtins.list[Step]:
        """Have the newer memory take the slot that it could not have before; or see that it is unchanged."""
        rules = self._store.rules()
        is_value = proposal.rule in (SLOT, VERSION) or older.slot == rules.find_slot(rules.parse(newer.content))
        if newer.slot or not older.slot or newer.session != older.session or not is_value:
            return [memories.unchanged_step(newer)]
        taken = replace(newer, slot=older.slot, updated=from_micros(now), version=newer.version + 1)
        return [*memories.update_steps(newer, taken, actor, "proposal accepted"), chunks.refresh_step(taken)]

    def _decide(self, id: str, steps_of: Callable[[Proposal, int], builtins.list[Step]]) -> Proposal:
        """Read, decide, apply; again if someone else was first."""
        store = self._store
        for attempt in range(MAX_ATTEMPTS):
            now = clock.now()
            try:
                proposal = self._load(validate.plain(id, "id"), now)
                store.engine.apply(steps_of(proposal, now))
            except Stale:
                continue
            except NotFound as error:
                if attempt:  # it was there a moment ago
                    raise Conflict(f"proposal {id} was decided meanwhile", error.hint) from error
                raise
            store.journal.wrote = True
            older = store.tables.memories.get(store.namespace, proposal.older_id, now)
            store.sync_profile(store, [older.slot if older else None])
            return proposal
        raise Busy(f"others kept changing proposal {id}", "Retry in a moment.")

    def _load(self, id: str, now: int) -> Proposal:
        """The live proposal of this id."""
        proposal = self._rows.live(self._store.namespace, id, now)
        if proposal is not None:
            return proposal
        hint = "`retentive review` shows those there are."
        match self._rows.status(self._store.namespace, id):
            case None:
                raise NotFound(f"no proposal {id[:60]!r} in namespace {self._store.namespace!r}", hint)
            case ProposalStatus.REJECTED:
                raise Conflict(f"proposal {id} was rejected already", hint)
            case _:
                raise Conflict(f"one of the memories of proposal {id} was changed or ended since", hint)

    @property
    def _rows(self) -> rows.Proposals:
        return self._store.tables.proposals
