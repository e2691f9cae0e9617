"""What an agent knows how to do: found by what is asked, listed when due. Running them is the agent's work."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from retentive import clock
from retentive.errors import Busy, Invalid, Stale
from retentive.ids import new_ids
from retentive.memories import daily_log, edit
from retentive.memories.write import new_steps
from retentive.model import Draft, Due, Kind, Memory, Results, Skill, from_micros, to_micros
from retentive.records import schedule
from retentive.records.collection import Store
from retentive.records.fields import SKILL
from retentive.search import search
from retentive.storage.tables.records import run_step
from retentive.store import secret_policy, validate
from retentive.store.scope import scope
from retentive.store.validate import When
from retentive.store.views import writes
from retentive.store.write import MAX_ATTEMPTS

AT_ONCE = 1000  # skills looked through for what is due
BEYOND = 4  # times as many looked at as asked for: some may be disabled


class Skills(Store[Skill]):
    """Skills: name, description, enabled, trigger, instructions, required_tools, execution_plan, max_steps.

    A trigger is `{"type": "manual"}`, `{"type": "schedule", "cron": "0 8 * * 1"}`, with a `timezone` if it is not UTC,
    or `{"type": "event", "event": NAME}`.
    """

    shape = SKILL

    def match(self, text: str, limit: int = 5, *, min_relevance: float | None = None) -> Results:
        """The enabled skills that fit a request, best first, by the same search as everything else."""
        most, bar = validate.limit_of(limit), validate.fraction(min_relevance, "min_relevance", None)
        seen = scope([self._store.namespace], include="skills")
        query = search.asking(self._store, validate.question(text), seen, limit=BEYOND * most, min_relevance=bar)
        found = search.search(self._store, query)
        enabled = [hit for hit in found if isinstance(hit.item, Skill) and hit.item.enabled]
        return replace(found, hits=tuple(enabled[:most]))

    def due(self, now: When | None = None) -> Sequence[Due]:
        """The enabled skills whose schedule has come since they last ran, the longest overdue first.

        One that never ran counts from when it was made, enabled, or given its schedule.
        """
        moment = validate.moment(now, "now", past=True) or from_micros(clock.now())
        scheduled = [each for each in self._all() if each.enabled and each.trigger["type"] == "schedule"]
        last = self._rows.last_runs(self._store.namespace, [each.id for each in scheduled])
        ran = {id: from_micros(at) for id, at in last.items()}
        found = (Due(each, since, ran.get(each.id)) for each in scheduled if (since := self._since(each, ran, moment)))
        return sorted(found, key=lambda each: each.since)

    @writes
    def record(
        self,
        id: str,
        outcome: str,
        *,
        failed: bool = False,
        at: When | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Memory:
        """Keep what came of a run: a memory of kind `outcome`, found by search like any other.

        `at` is when the run was over, now if not given. It counts as the last run for `due`.
        """
        skill = self.get(id)
        moment = validate.moment(at, "at", past=True) or from_micros(clock.now())
        draft = self._draft(
            skill, validate.body(outcome, "outcome", self._store.config.max_content), failed, moment, metadata
        )
        for _ in range(MAX_ATTEMPTS):
            now = clock.now()
            same = self._store.tables.memories.same_text(self._store.namespace, [draft.content_hash], now)
            made = same[0].id if same else new_ids(now, 1)[0]
            new = [] if same else [*new_steps(self._store, draft, made, now)]
            try:
                run = run_step(self._store.namespace, skill.id, to_micros(moment), made)
                self._store.engine.apply([*new, run])
            except Stale:
                continue
            self._store.journal.kept(self._store.namespace, 1)
            if not same:
                daily_log.log(self._store, [(made, draft)], now)
            return edit.load(self._store, made)
        raise Busy("others kept writing the same outcome", "Retry in a moment.")

    def runs(self, id: str, limit: int = 20) -> Sequence[Memory]:
        """What came of its runs, the newest first."""
        ids = self._rows.runs(self._store.namespace, self._row(id).id, validate.limit_of(limit))
        found = (self._store.tables.memories.find_intact(self._store.namespace, each, clock.now()) for each in ids)
        return [memory for memory in found if memory]

    def _draft(
        self, skill: Skill, outcome: str, failed: bool, at: datetime, metadata: Mapping[str, Any] | None
    ) -> Draft:
        limit = self._store.config.max_content
        how = "failed" if failed else "succeeded"
        if at > from_micros(clock.now()):
            raise Invalid(f"the run ends at {at:%Y-%m-%d %H:%M}, which is still to come")
        traits = validate.traits(
            max_content=limit,
            kind=Kind.OUTCOME,
            tags=[skill.name],
            valid_from=at,
            metadata=metadata,
            origin={"skill": skill.id, "outcome": how},
        )
        text = f"{skill.name} {how} on {at:%Y-%m-%d} at {at:%H:%M}: {outcome}"
        return secret_policy.draft(self._store, validate.draft(text, traits, limit))

    def _since(self, skill: Skill, ran: Mapping[str, datetime], moment: datetime) -> datetime | None:
        """When it was to run, after it ran last or was set to its schedule; None if that is still to come.

        Its history is read only if it was changed since it ran, and could be due.
        """
        earliest = max(skill.created, ran.get(skill.id, skill.created))
        since = _following(skill, earliest)
        if since <= moment and skill.updated > earliest:
            since = _following(skill, max(earliest, self._armed(skill)))
        return since if since <= moment else None

    def _armed(self, skill: Skill) -> datetime:
        """Since when it is enabled and has its trigger."""
        since = skill.updated
        for past in reversed(self._rows.history(skill.namespace, self.shape.type, skill.id)):
            body = past.body or {"enabled": False}
            if not body.get("enabled", True) or body.get("trigger") != skill.trigger:
                break
            since = from_micros(past.at)
        return since

    def _all(self) -> Iterator[Skill]:
        last: str | None = None
        while page := self._rows.page(self._store.namespace, self.shape.type, AT_ONCE, last):
            yield from map(self._read, page)
            last = page[-1].id


def _following(skill: Skill, after: datetime) -> datetime:
    return schedule.following(skill.trigger["cron"], skill.trigger.get("timezone"), after)
