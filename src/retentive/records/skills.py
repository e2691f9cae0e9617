"""Skills: reusable instructions with triggers.

They are matched to requests and listed when due. Running them is the agent's work.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, Required, TypedDict, Unpack

from retentive import clock
from retentive.errors import Invalid
from retentive.ids import new_ids
from retentive.memories import daily_log, edit
from retentive.memories.write import new_memory_steps
from retentive.model import Draft, DueSkill, Kind, Memory, Results, Skill, from_micros, to_micros
from retentive.records import schedule
from retentive.records.collection import RecordCollection
from retentive.records.fields import SKILL
from retentive.search import search
from retentive.storage.tables.records import run_step
from retentive.store import secret_policy, validate
from retentive.store.scope import make_scope
from retentive.store.traits import parse_traits
from retentive.store.validate import TimeInput
from retentive.store.views import mutates
from retentive.store.write import Decision, write

SKILL_PAGE_SIZE = 1000  # skills read at a time to find those that are due
OVERFETCH_FACTOR = 4  # search for more than the limit, as some may be disabled


class SkillDetails(TypedDict, total=False):
    """The fields of a skill beside its name."""

    description: str | None
    enabled: bool | None
    trigger: Mapping[str, Any] | None
    instructions: str | None
    required_tools: Sequence[str] | str | None
    execution_plan: Sequence[str] | str | None
    max_steps: int | None


class NewSkill(SkillDetails):
    name: Required[str]


class SkillChanges(SkillDetails, total=False):
    name: str


class _Outcome(NamedTuple):
    """The memory of a run, and whether it was written by this run."""

    memory: str
    is_new: bool
    at: int


class Skills(RecordCollection[Skill]):
    """Skills: name, description, enabled, trigger, instructions, required_tools, execution_plan, max_steps.

    A trigger is `{"type": "manual"}`, `{"type": "schedule", "cron": "0 8 * * 1"}`, with a `timezone` if it is not UTC,
    or `{"type": "event", "event": NAME}`.
    """

    record_type = SKILL

    if TYPE_CHECKING:  # the shared verbs with the fields of a skill

        def create(  # type: ignore[override]
            self, /, *, reason: str | None = None, actor: str = "user", **fields: Unpack[NewSkill]
        ) -> Skill: ...

        def update(  # type: ignore[override]
            self,
            /,
            id: str,
            *,
            version: int | None = None,
            reason: str | None = None,
            actor: str = "user",
            **fields: Unpack[SkillChanges],
        ) -> Skill: ...

    def match(self, text: str, limit: int = 5, *, min_relevance: float | None = None) -> Results:
        """Search for the enabled skills that fit a request, best first."""
        count = validate.positive_int(limit)
        query = search.make_query(
            self._store,
            validate.clean_question(text),
            make_scope([self._store.namespace], include="skills"),
            limit=OVERFETCH_FACTOR * count,
            min_relevance=validate.parse_fraction(min_relevance, "min_relevance", None),
        )
        results = search.search(self._store, query)
        enabled = [hit for hit in results if isinstance(hit.item, Skill) and hit.item.enabled]
        return replace(results, hits=tuple(enabled[:count]))

    def due(self, now: TimeInput | None = None) -> Sequence[DueSkill]:
        """Return the enabled skills whose schedule has come since their last run, the longest overdue first.

        A skill that never ran counts from when it was created, enabled, or given its schedule.
        """
        moment = validate.parse_time(now, "now", past=True) or from_micros(clock.now())
        scheduled = [each for each in self._all() if each.enabled and each.trigger["type"] == "schedule"]
        last_runs = self._table.list_last_runs(self._store.namespace, [each.id for each in scheduled])
        due = []
        for skill in scheduled:
            last_run = from_micros(last_runs[skill.id]) if skill.id in last_runs else None
            since = self._due_since(skill, last_run, moment)
            if since:
                due.append(DueSkill(skill, since, last_run))
        return sorted(due, key=lambda each: each.since)

    @mutates
    def record(
        self,
        id: str,
        outcome: str,
        *,
        failed: bool = False,
        at: TimeInput | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Memory:
        """Record the outcome of a run: a memory of kind `outcome`, found by search like any other.

        `at` is when the run ended, by default now. It counts as the last run for `due`.
        """
        store = self._store
        skill = self.get(id)
        moment = validate.parse_time(at, "at", past=True) or from_micros(clock.now())
        text = validate.require_content(outcome, "outcome", store.config.max_content)
        draft = self._draft(skill, text, failed, moment, metadata)

        def decide(now: int) -> Decision[_Outcome]:
            same = store.tables.memories.load_active_by_text(store.namespace, [draft.content_hash], now)
            memory = same[0].id if same else new_ids(now, 1)[0]
            new = [] if same else new_memory_steps(store, draft, memory, now)
            run = run_step(store.namespace, skill.id, to_micros(moment), memory)
            return Decision([*new, run], _Outcome(memory, not same, now))

        written = write(store, decide, "others kept writing the same outcome")
        store.journal.record_upserts(store.namespace, 1)
        if written.is_new:
            daily_log.append_to_log(store, [(written.memory, draft)], written.at)
        return edit.load(store, written.memory)

    def runs(self, id: str, limit: int = 20) -> Sequence[Memory]:
        """Return the outcomes of its runs, the newest first."""
        ids = self._table.list_runs(self._store.namespace, self._find_row(id).id, validate.positive_int(limit))
        memories = (self._store.tables.memories.find_intact(self._store.namespace, each, clock.now()) for each in ids)
        return [memory for memory in memories if memory]

    def _draft(
        self, skill: Skill, outcome: str, failed: bool, at: datetime, metadata: Mapping[str, Any] | None
    ) -> Draft:
        limit = self._store.config.max_content
        how = "failed" if failed else "succeeded"
        if at > from_micros(clock.now()):
            raise Invalid(f"the run ends at {at:%Y-%m-%d %H:%M}, which is in the future")
        traits = parse_traits(
            max_content=limit,
            kind=Kind.OUTCOME,
            tags=[skill.name],
            valid_from=at,
            metadata=metadata,
            origin={"skill": skill.id, "outcome": how},
        )
        text = f"{skill.name} {how} on {at:%Y-%m-%d} at {at:%H:%M}: {outcome}"
        return secret_policy.apply_policy_to_draft(self._store, validate.make_draft(text, traits, limit))

    def _due_since(self, skill: Skill, last_run: datetime | None, moment: datetime) -> datetime | None:
        """Return the first scheduled time since the last run or since the schedule was set; None if it is not yet due.

        The history is read only if the skill was changed after its last run, and could be due.
        """
        earliest = max(skill.created, last_run or skill.created)
        since = _next_run(skill, earliest)
        if since <= moment and skill.updated > earliest:
            since = _next_run(skill, max(earliest, self._find_schedule_start(skill)))
        return since if since <= moment else None

    def _find_schedule_start(self, skill: Skill) -> datetime:
        """Return the time since which the skill is enabled with its present trigger."""
        since = skill.updated
        for past in reversed(self._table.list_history(skill.namespace, self.record_type.type, skill.id)):
            body = past.body or {"enabled": False}
            if not body.get("enabled", True) or body.get("trigger") != skill.trigger:
                break
            since = from_micros(past.at)
        return since

    def _all(self) -> Iterator[Skill]:
        last: str | None = None
        while page := self._table.list_page(self._store.namespace, self.record_type.type, SKILL_PAGE_SIZE, last):
            yield from map(self._to_record, page)
            last = page[-1].id


def _next_run(skill: Skill, after: datetime) -> datetime:
    return schedule.next_run(skill.trigger["cron"], skill.trigger.get("timezone"), after)
