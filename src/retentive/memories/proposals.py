"""Proposals: a newer memory may replace an older one, or a memory may belong to the person's namespace.

Nothing changes until somebody accepts or rejects a proposal.
"""

import builtins
from collections.abc import Callable
from dataclasses import replace

from retentive import clock
from retentive.errors import Conflict, NotFound
from retentive.memories import edit
from retentive.memories.move import move_memory
from retentive.model import AGENT, Memory, Proposal, ProposalStatus, Status, from_micros
from retentive.model.proposals import SLOT, VERSION
from retentive.storage import Step
from retentive.storage.tables import chunks, memories
from retentive.storage.tables import proposals as rows
from retentive.store import OpenStore, validate
from retentive.store.views import mutates
from retentive.store.write import Decision, write

PAGE_SIZE = 50


def check_may_accept(proposal: Proposal, actor: str) -> None:
    """Raise if an agent wants to accept a proposal that only a person may accept."""
    if actor == AGENT and proposal.is_held:
        hint = "Ask the user. If they agree, store their own statement with `replaces`, or `proposals.accept(ID)`."
        raise Conflict(f"only a person may decide on proposal {proposal.id}: {proposal.reason}", hint)


class Proposals:
    """The verbs of proposals, about one namespace."""

    def __init__(self, store: OpenStore) -> None:
        self._store = store

    def list(self, limit: int = PAGE_SIZE, after: str | None = None) -> builtins.list[Proposal]:
        """List the open proposals, newest first. `after` is the id of the last one of the page before."""
        last = validate.require_text(after, "after") if after is not None else ""
        return self._rows.list_page(self._store.namespace, clock.now(), validate.positive_int(limit), last)

    def get(self, id: str) -> Proposal:
        """Get an open proposal. Raise `Conflict` if its memories changed or it was rejected."""
        return self._load(validate.require_text(id, "id"), clock.now())

    @mutates
    def accept(self, id: str, actor: str = "user") -> Proposal:
        """Have the newer memory replace the older one. `restore` of the older one undoes it.

        If it was held back because of its source, only a person may accept it; it then takes the slot, too.
        A proposal to move a memory writes it to the other namespace and ends it here. `newer_id` of the result is its
        id there. `restore` of the older one brings it back here.
        """
        validate.require_text(actor, "actor")
        proposal = self._load(validate.require_text(id, "id"), clock.now())
        check_may_accept(proposal, actor)
        if proposal.move_to:
            return move_memory(self._store, proposal, actor)
        return self._decide(id, lambda proposal, now: self._ending_steps(proposal, actor, now))

    @mutates
    def reject(self, id: str) -> Proposal:
        """Keep both memories. The same two texts are neither proposed nor replaced again by themselves.

        A memory that was proposed to be moved stays, and its text is not proposed again.
        """
        return self._decide(id, lambda proposal, now: [rows.reject_step(proposal, now)])

    def _ending_steps(self, proposal: Proposal, actor: str, now: int) -> builtins.list[Step]:
        """Steps that have the newer memory replace the older one."""
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
        """Steps that give the slot to the newer memory if it is a value of it; else ensure that it is unchanged."""
        rules = self._store.rules()
        is_value = proposal.rule in (SLOT, VERSION) or older.slot == rules.find_slot(rules.parse(newer.content))
        if newer.slot or not older.slot or newer.session != older.session or not is_value:
            return [memories.require_unchanged_step(newer)]
        taken = replace(newer, slot=older.slot, updated=from_micros(now), version=newer.version + 1)
        return [*memories.update_steps(newer, taken, actor, "proposal accepted"), chunks.refresh_step(taken)]

    def _decide(self, id: str, make_steps: Callable[[Proposal, int], builtins.list[Step]]) -> Proposal:
        """Apply the steps of a decision, and bring the slot of the older memory into the profile."""
        store, id = self._store, validate.require_text(id, "id")
        is_retry = False

        def decide(now: int) -> Decision[Proposal]:
            nonlocal is_retry
            try:
                proposal = self._load(id, now)
                steps = make_steps(proposal, now)
            except NotFound as error:
                if is_retry:  # it existed at the first attempt
                    raise Conflict(f"proposal {id} was decided meanwhile", error.hint) from error
                raise
            is_retry = True
            return Decision(steps, proposal)

        proposal = write(store, decide, busy=f"others kept changing proposal {id}")
        older = store.tables.memories.get(store.namespace, proposal.older_id, clock.now())
        store.sync_profile_slots(store, [older.slot if older else None])
        return proposal

    def _load(self, id: str, now: int) -> Proposal:
        """Load an open proposal whose memories are unchanged. Otherwise raise, and say what became of it."""
        proposal = self._rows.get_live(self._store.namespace, id, now)
        if proposal is not None:
            return proposal
        hint = "`proposals.list()` shows the open ones."
        match self._rows.status(self._store.namespace, id):
            case None:
                raise NotFound(f"no proposal {id[:60]!r} in namespace {self._store.namespace!r}", hint)
            case ProposalStatus.REJECTED:
                raise Conflict(f"proposal {id} was rejected already", hint)
            case _:
                raise Conflict(f"one of the memories of proposal {id} was changed or ended since", hint)

    @property
    def _rows(self) -> rows.ProposalRows:
        return self._store.tables.proposals
