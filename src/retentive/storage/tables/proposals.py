"""The table of proposals: a newer memory that may replace an older one, and pairs that must stay apart."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from retentive.frozen_dataclass import dataclass
from retentive.model import Memory, Proposal, Scope, Source, from_micros, is_held, to_micros
from retentive.storage import Engine, Step, step
from retentive.storage.damage import TEXTS, decode_intact, decodes, read_intact, require_types
from retentive.storage.scopes import asker_params


class NewProposal(NamedTuple):
    """A proposal about to be written, with the hashes of both texts."""

    proposal: Proposal
    newer_hash: str
    older_hash: str


class PairState(NamedTuple):
    """A pair of memories that was proposed or rejected."""

    newer_id: str
    older_id: str
    newer_hash: str
    older_hash: str
    status: str


class NewerMemory(NamedTuple):
    """A memory that may replace an older one."""

    older: tuple[str, str]
    """Namespace and id of the older memory."""
    id: str
    since: datetime
    """From when the newer memory holds."""


@dataclass(frozen=True, slots=True)
class ProposalRows:
    engine: Engine

    def list_page(self, namespace: str, now: int, limit: int, before: str = "") -> list[Proposal]:
        """Live proposals, the newest first. `before` is the id of the last one of the previous page."""
        values = {"namespace": namespace, "now": now, "limit": limit, "before": before}
        return read_intact(self.engine, "proposal_list", values, _decode_proposal)

    def get_live(self, namespace: str, id: str, now: int) -> Proposal | None:
        """An open proposal whose memories are both active and unchanged."""
        rows = self.engine.read("proposal_get_open", {"namespace": namespace, "id": id, "now": now})
        return _decode_proposal(rows[0]) if rows else None

    def status(self, namespace: str, id: str) -> str | None:
        rows = self.engine.read("proposal_status", {"namespace": namespace, "id": id})
        return str(rows[0][0]) if rows else None

    def find_rejected(self, namespace: str, newer_hashes: Sequence[str]) -> set[tuple[str, str]]:
        """The pairs of texts that must stay apart, by their hashes: newer and older."""
        values = {"namespace": namespace, "hashes": newer_hashes}
        return {(newer, older) for newer, older in self.engine.read("proposal_rejected", values)}

    def list_of_memories(self, namespace: str, ids: Sequence[str]) -> list[PairState]:
        """The pairs of these memories that were proposed or rejected."""
        rows = self.engine.read("proposal_of_memories", {"namespace": namespace, "ids": ids})
        return [PairState(*row) for row in rows]

    def list_newer(self, ids: Sequence[str], scope: Scope) -> list[NewerMemory]:
        """The newer memories of the live proposals about these older ones, the newest first.

        Only the namespaces and the session of the scope count: a filter may leave the newer memory out of an answer,
        but the older one is still possibly outdated.
        """
        rows = self.engine.read("proposal_newer_of", {**asker_params(scope), "ids": ids}, ["local", "active"])
        return [*decode_intact(rows, _decode_newer)]

    def has_outdated(self, now: int) -> bool:
        """Whether the store has open proposals whose memories changed or ended."""
        return bool(self.engine.read("proposal_has_outdated", {"now": now})[0][0])

    def prune(self, now: int) -> None:
        """Delete open proposals whose memories changed or ended, in the whole store."""
        if self.has_outdated(now):
            self.engine.apply([step("proposal_prune", now=now)])


def insert_step(proposals: Iterable[NewProposal]) -> Step:
    """Refused if an older memory is no longer active, or says something else."""
    return Step("proposal_insert", [_values(each) for each in proposals], expect=1)


def insert_unless_there_step(proposals: Iterable[NewProposal]) -> Step:
    """Nothing happens where the pair was proposed or rejected before, or its older memory has ended."""
    return Step("proposal_insert_if_new", [_values(each) for each in proposals])


def accept_step(proposal: Proposal) -> Step:
    """Delete an accepted proposal. Refused if it was decided meanwhile."""
    return step("proposal_accept", expect=1, namespace=proposal.namespace, id=proposal.id)


def reject_step(proposal: Proposal, now: int) -> Step:
    return step("proposal_reject", expect=1, namespace=proposal.namespace, id=proposal.id, now=now)


def keep_apart_step(id: str, newer: Memory, older: Memory, rule: str, now: int) -> Step:
    """Have a pair count as rejected; `id` is that of the row if there is none yet."""
    return step(
        "proposal_insert_rejected",
        namespace=older.namespace,
        id=id,
        newer=newer.id,
        older=older.id,
        newer_hash=newer.content_hash,
        older_hash=older.content_hash,
        rule=rule,
        reason="",
        decided=now,
    )


def delete_step(memory: Memory) -> Step:
    """Delete all that names a memory or has the hash of its text."""
    return step("proposal_delete_of_memory", namespace=memory.namespace, id=memory.id, content_hash=memory.content_hash)


def clear_reasons_step(namespace: str, ids: Iterable[str]) -> Step:
    """Clear the reasons: they may quote a text that is purged."""
    return Step("proposal_clear_reason", [{"namespace": namespace, "id": id} for id in ids])


def _values(new: NewProposal) -> dict[str, Any]:
    proposal = new.proposal
    return {
        "namespace": proposal.namespace,
        "id": proposal.id,
        "newer": proposal.newer_id,
        "older": proposal.older_id,
        "newer_hash": new.newer_hash,
        "older_hash": new.older_hash,
        "rule": proposal.rule,
        "reason": proposal.reason,
        "created": to_micros(proposal.created),
        "move_to": proposal.move_to,
    }


@decodes("memories", "namespace older id valid_from")
def _decode_newer(row: Sequence[Any]) -> NewerMemory:
    namespace, older, id, time = row
    require_types((older, id), TEXTS)
    return NewerMemory((namespace, older), id, from_micros(time))


@decodes(
    "proposals",
    "id namespace newer newer_text newer_time older older_text older_time rule reason created move_to",
)
def _decode_proposal(row: Sequence[Any]) -> Proposal:
    id, namespace, newer_id, newer, newer_time, older_id, older, older_time, rule, reason, created, *rest = row
    move_to, newer_source, older_source = rest
    require_types((id, namespace, newer_id, newer, older_id, older, rule, reason, move_to), TEXTS)
    return Proposal(
        id=id,
        namespace=namespace,
        newer_id=newer_id,
        newer=newer,
        newer_time=from_micros(newer_time),
        older_id=older_id,
        older=older,
        older_time=from_micros(older_time),
        rule=rule,
        reason=reason,
        created=from_micros(created),
        move_to=move_to,
        is_held=is_held(rule, Source(newer_source), Source(older_source)),
    )
