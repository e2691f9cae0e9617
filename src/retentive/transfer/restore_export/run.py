"""The restore of one export: what is decided for each line, how a batch is written, and what is reported."""

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
from retentive.storage.tables.transfer import ExportedRows
from retentive.store import OpenStore
from retentive.store.write import MAX_ATTEMPTS
from retentive.transfer.export_format import Row
from retentive.transfer.export_reader import ExportLine

MAX_EXAMPLES = 5
MAX_REPORTED_LINES = 20  # refusals and notes; a file may have millions


class Outcome(StrEnum):
    """What became of a line."""

    CREATED = "created"
    SAME = "same"
    """The store has it under the same id, and no different."""
    KNOWN = "known"
    """The store has it under another id: the same text, or a name that only one may have."""
    REPLACED = "replaced"
    """The line is newer, and replaced the version in the store."""
    KEPT = "kept"
    """The version in the store is newer, and stays."""
    SUPERSEDED = "superseded"
    """Added as what held a slot before the memory that holds it in the store."""
    EXTENDED = "extended"
    """A session in the store that is longer or further now."""
    FORGOTTEN = "forgotten"
    """Left out: the same text was forgotten in the store after the line was last changed."""
    PURGED = "purged"
    """Left out: purged in the store after the line was last changed."""
    PROPOSED = "proposed"
    """Added beside what the user said, which it may replace if a person agrees."""
    SKIPPED = "skipped"
    """Left out: its memory or message is not in the store, or it leads to a namespace that may not be written."""


OUTCOME_NOTES = {
    Outcome.REPLACED: "the newer version replaced the one here",
    Outcome.KEPT: "the one here is newer, and stays",
}


class LineResult(NamedTuple):
    entry: ExportLine
    outcome: Outcome
    note: str = ""


@dataclass(slots=True)
class BatchPlan:
    """The decision about some lines: what is written, all or nothing, and the result of each line."""

    results: list[LineResult] = field(default_factory=list)
    before: list[Step] = field(default_factory=list)
    """Changes of rows in the store that make room for `steps`."""
    steps: list[Step] = field(default_factory=list)
    superseded: int = 0
    """How many memories in the store lose their slots."""
    proposals: list[NewProposal] = field(default_factory=list)
    successors: dict[tuple[str, str], str] = field(default_factory=dict)
    """The id that replaced a memory in the file, by namespace and id of a memory that stays in the store."""
    refusals: list[tuple[ExportLine, str]] = field(default_factory=list)

    def refuse(self, entry: ExportLine, reason: str) -> None:
        self.refusals.append((entry, reason))

    def add_result(self, entry: ExportLine, outcome: Outcome, note: str = "") -> None:
        self.results.append(LineResult(entry, outcome, note))

    def list_steps(self) -> list[Step]:
        steps = [*self.before, *self.steps]
        if self.proposals:
            steps.append(insert_unless_there_step(self.proposals))
        return steps


@dataclass(slots=True)
class Report:
    """Counts, refusals and notes of a restore."""

    counts: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    """How many lines had each outcome, by the type of line."""
    refused: int = 0
    refusals: list[tuple[int, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)
    superseded: int = 0
    proposed: int = 0
    namespaces: set[str] = field(default_factory=set)
    done: int = 0
    is_cut_off: bool = False
    """Whether the file ended before the end of the export."""

    def refuse(self, number: int, reason: str) -> None:
        self.refused += 1
        if len(self.refusals) < MAX_REPORTED_LINES:
            self.refusals.append((number, reason))

    def note(self, text: str) -> None:
        if len(self.notes) < MAX_REPORTED_LINES and text not in self.notes:
            self.notes.append(text)

    def add_results(self, results: Iterable[LineResult]) -> None:
        for entry, outcome, own_note in results:
            self.counts[entry.type][outcome] += 1
            self.done += 1
            self.namespaces.add(entry.namespace)
            if entry.type == "memory" and outcome in (Outcome.CREATED, Outcome.PROPOSED):
                self._add_example(entry.row)
            note = own_note or OUTCOME_NOTES.get(outcome)
            if note:
                self.note(f"line {entry.number}, {entry.type} {_name_line(entry)}: {note}")

    def _add_example(self, row: Row) -> None:
        self.kinds[row["kind"]] += 1
        if len(self.examples) < MAX_EXAMPLES:
            self.examples.append(row["content"])


def _name_line(entry: ExportLine) -> str:
    """The id of a line, for people."""
    row = entry.row
    return f"{row['session']}#{row['sequence']}" if entry.type == "event" else str(row.get("id", entry.namespace))


def _is_new_memory(result: LineResult) -> bool:
    is_new = result.outcome in (Outcome.CREATED, Outcome.SUPERSEDED, Outcome.PROPOSED)
    return result.entry.type == "memory" and is_new


@dataclass(frozen=True, slots=True)
class RestoreRun:
    """One restore: the store, its options, its report, and what later lines need to know of earlier ones."""

    store: OpenStore
    report: Report
    dry_run: bool
    trust: ImportTrust = ImportTrust.STATED
    successors: dict[tuple[str, str], str] = field(default_factory=dict)
    """The id that replaced a memory in the file, by namespace and id of a memory of the user that stays here."""
    forgotten_exists: dict[str, bool] = field(default_factory=dict)
    """By namespace, once it was asked: whether anything was ever forgotten in it."""
    dimensions: dict[str, int] = field(default_factory=dict)
    """The dimension of each vector space: that of the store, or else that of the first line with a vector of it."""
    would_create: set[tuple[str, str]] = field(default_factory=set)
    """In a dry run: namespace and id of the memories that would be added."""

    def rows(self, namespace: str) -> ExportedRows:
        """The rows of the store that lines of this namespace are compared with."""
        return ExportedRows(self.store.engine, namespace)

    def apply(self, namespace: str, decide: Callable[[int], BatchPlan]) -> int:
        """Decide and write; again if a concurrent writer won. Returns the number of lines that were decided."""
        for _ in range(MAX_ATTEMPTS):
            now = clock.now()
            plan = decide(now)
            steps = plan.list_steps()
            try:
                if steps and not self.dry_run:
                    self.store.engine.apply([*steps, namespace_step(namespace, now)])
            except Stale:
                continue
            self._add_to_report(plan)
            return len(plan.results) + len(plan.refusals)
        raise Busy(
            "other writers kept changing what is imported", "Import it again in a moment: it continues from there."
        )

    def _add_to_report(self, plan: BatchPlan) -> None:
        self.report.add_results(plan.results)
        self.report.superseded += plan.superseded
        self.report.proposed += len(plan.proposals)
        for entry, reason in plan.refusals:
            self.report.refuse(entry.number, reason)
        self.successors.update(plan.successors)
        if self.dry_run:
            new = [each.entry for each in plan.results if _is_new_memory(each)]
            self.would_create.update((entry.namespace, entry.row["id"]) for entry in new)
