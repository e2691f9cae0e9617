"""Move a memory to the namespace of the person it is about: write it there, and end it where it was."""

from dataclasses import replace

from retentive import clock
from retentive.errors import Conflict
from retentive.memories import edit
from retentive.memories.add import find_related
from retentive.memories.corrections import apply_corrections
from retentive.memories.write import write_memories
from retentive.model import Draft, Memory, Proposal, Status, Traits, from_micros
from retentive.storage import Step
from retentive.storage.tables import memories
from retentive.storage.tables import proposals as rows
from retentive.store import OpenStore
from retentive.store.views import require_writable


def move_memory(store: OpenStore, proposal: Proposal, actor: str) -> Proposal:
    """Carry out a proposal to move a memory, in one transaction. `newer_id` of the result is its id there."""
    old = edit.load(store, proposal.older_id)
    target = replace(store, namespace=require_writable(store, proposal.move_to or ""))
    draft = _make_draft(old)
    draft = apply_corrections(target, draft, find_related(target, draft))

    def end_here() -> list[Step]:
        return _ending_steps(store, proposal, target.namespace, actor)

    (result,) = write_memories(target, [draft], actor, end_here)
    store.sync_profile_slots(store, [old.slot])
    return replace(proposal, newer_id=result.id)


def _ending_steps(store: OpenStore, proposal: Proposal, target: str, actor: str) -> list[Step]:
    """Steps that accept the proposal and end the memory in its old namespace."""
    now = clock.now()
    old = edit.load(store, proposal.older_id)
    if store.tables.proposals.get_live(store.namespace, proposal.id, now) is None:
        raise Conflict(
            f"proposal {proposal.id} was decided already, or its memory changed",
            "`proposals.list()` shows the open ones.",
        )
    moment = from_micros(now)
    ended = replace(old, status=Status.SUPERSEDED, valid_to=max(old.valid_from, moment), updated=moment)
    reason = f"moved to namespace {target}: {proposal.rule}: {proposal.reason}"
    return [rows.accept_step(proposal), *memories.status_steps(old, ended, actor, reason)]


def _make_draft(old: Memory) -> Draft:
    """The memory as a draft for another namespace. Its origin names the namespace of its messages."""
    origin = {"namespace": old.namespace, **old.origin} if old.origin else {"namespace": old.namespace}
    traits = Traits(**{name: getattr(old, name) for name in Traits.__dataclass_fields__})
    return Draft(old.content, old.content_hash, replace(traits, origin=origin, session=None), vector=None)
