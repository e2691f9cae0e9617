"""What becomes of the lines of an export that is taken in."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from retentive import clock
from retentive.errors import Busy, Stale
from retentive.model import ImportTrust
from retentive.storage import Step
from retentive.storage.tables.memories import namespace_step
from retentive.storage.tables.proposals import NewProposal, insert_unless_there_step
from retentive.store import OpenStore
from retentive.store.write import MAX_ATTEMPTS
from retentive.transfer.export_format import Row
from retentive.transfer.export_reader import Entry

EXAMPLES = 5
TOLD = 20  # lines that are told one by one; more say no more, and a file may have millions


class Outcome(StrEnum):
    CREATED = "created"
    SAME = "same"
    """There already, under the same id, and no different."""
    KNOWN = "known"
    """There already under another id: the same text, or a name that can be had once."""
    REPLACED = "replaced"
    """There in an older version, which gave way."""
    KEPT = "kept"
    """There in a newer version, which stays."""
    SUPERSEDED = "superseded"
    """Come in as what had held a slot before what holds it here."""
    EXTENDED = "extended"
    """A session that was there, and is longer or further now."""
    FORGOTTEN = "forgotten"
    """Not taken in: the same text was forgotten here after it was last changed there."""
    PURGED = "purged"
    """Not taken in: purged here after it was last changed."""
    PROPOSED = "proposed"
    """Come in beside what the user said here, which it may replace if a person says so."""
    SKIPPED = "skipped"
    """Not taken in: a proposal about a memory, or a mark on a message, that is not here; or one that leads out."""


TELLING = {
    Outcome.REPLACED: "the newer version replaced the one here",
    Outcome.KEPT: "the one here is newer, and stays",
}


class Fate(NamedTuple):
    entry: Entry
    outcome: Outcome
    note: str = ""


@dataclass(slots=True)
class Decided:
    """What is to be written for some lines, all or nothing, and what becomes of each."""

    fates: list[Fate] = field(default_factory=list)
    before: list[Step] = field(default_factory=list)
    """What happens to what is here, so that there is room."""
    steps: list[Step] = field(default_factory=list)
    superseded: int = 0
    """Memories here whose slots are taken."""
    proposals: list[NewProposal] = field(default_factory=list)
    successors: dict[tuple[str, str], str] = field(default_factory=dict)
    """By namespace and id of a memory that stays: what replaced it there."""
    refusals: list[tuple[Entry, str]] = field(default_factory=list)

    def refuse(self, entry: Entry, reason: str) -> None:
        self.refusals.append((entry, reason))

    def settle(self, entry: Entry, outcome: Outcome, note: str = "") -> None:
        self.fates.append(Fate(entry, outcome, note))


@dataclass(slots=True)
class Tally:
    counts: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    refused: int = 0
    refusals: list[tuple[int, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)
    superseded: int = 0
    proposed: int = 0
    namespaces: set[str] = field(default_factory=set)
    done: int = 0
    cut_off: bool = False
    """Whether the file ended before its end."""

    def _show(self, row: Row) -> None:
        self.kinds[row["kind"]] += 1
        if len(self.examples) < EXAMPLES:
            self.examples.append(row["content"])

    def refuse(self, number: int, reason: str) -> None:
        self.refused += 1
        if len(self.refusals) < TOLD:
            self.refusals.append((number, reason))

    def note(self, text: str) -> None:
        if len(self.notes) < TOLD and text not in self.notes:
            self.notes.append(text)

    def settled(self, fates: Iterable[Fate]) -> None:
        for entry, outcome, note in fates:
            self.counts[entry.type][outcome] += 1
            self.done += 1
            self.namespaces.add(entry.namespace)
            if entry.type == "memory" and outcome in (Outcome.CREATED, Outcome.PROPOSED):
                self._show(entry.row)
            told = note or TELLING.get(outcome)
            if told:
                self.note(f"line {entry.number}, {entry.type} {_called(entry)}: {told}")


def _called(entry: Entry) -> str:
    row = entry.row
    return f"{row['session']}#{row['sequence']}" if entry.type == "event" else str(row.get("id", entry.namespace))


def _key(entry: Entry) -> tuple[str, str]:
    return entry.namespace, entry.row["id"]


def _is_new_memory(fate: Fate) -> bool:
    is_new = fate.outcome in (Outcome.CREATED, Outcome.SUPERSEDED, Outcome.PROPOSED)
    return fate.entry.type == "memory" and is_new


@dataclass(frozen=True, slots=True)
class Desk:
    """Where lines are decided on."""

    store: OpenStore
    tally: Tally
    dry_run: bool
    trust: ImportTrust = ImportTrust.STATED
    successors: dict[tuple[str, str], str] = field(default_factory=dict)
    """By namespace and id of a memory of the user that stays: what replaced it where the lines come from."""
    forgetful: dict[str, bool] = field(default_factory=dict)
    """By namespace: whether anything was forgotten there before."""
    dimensions: dict[str, int] = field(default_factory=dict)
    """Of the spaces of vectors: as they are here, or else as the first line had it."""
    would_create: set[tuple[str, str]] = field(default_factory=set)
    """In a dry run: namespace and id of the memories that would come in."""

    def apply(self, namespace: str, decide: Callable[[int], Decided]) -> int:
        """Decide and write; again if another was first. How many lines were settled."""
        for _ in range(MAX_ATTEMPTS):
            now = clock.now()
            decided = decide(now)
            steps = [*decided.before, *decided.steps]
            steps += [insert_unless_there_step(decided.proposals)] if decided.proposals else []
            try:
                if steps and not self.dry_run:
                    self.store.engine.apply([*steps, namespace_step(namespace, now)])
            except Stale:
                continue
            self.tally.settled(decided.fates)
            if self.dry_run:
                self.would_create.update(_key(each.entry) for each in decided.fates if _is_new_memory(each))
            self.tally.superseded += decided.superseded
            self.tally.proposed += len(decided.proposals)
            self.successors.update(decided.successors)
            for entry, reason in decided.refusals:
                self.tally.refuse(entry.number, reason)
            return len(decided.fates) + len(decided.refusals)
        raise Busy(
            "other writers kept changing what is imported", "Import it again in a moment: it goes on from there."
        )
