"""The tools of what is known in fields: the profile, contacts, projects, skills."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from retentive import serialize
from retentive.api import Retentive
from retentive.errors import Invalid
from retentive.mcp import render
from retentive.mcp.caller import Reached
from retentive.mcp.tool import Answer, Schema, Tool, choice, flag, several, text, thing, whole
from retentive.model import Acquaintance, Priority, Record, Stage
from retentive.records.collection import Store
from retentive.records.fuzzy_names import folded

AGENT = "agent"  # who changed it, in a history
ID = text("Id or name", 300)
REASON = text()
VERSION = whole(1, 10**9, description="Refuse if it has changed since this version")
LONG = text(most=20_000, least=0)
SHORT = text(least=0)
CHANGES: Schema = {
    "type": "object", "maxProperties": 200, "description": 'JSON merge patch: {"city": "Oslo", "car": null}',
}  # fmt: skip
TRIGGER = thing(
    {"type": choice(("manual", "schedule", "event")), "cron": text(), "timezone": text(), "event": text()}, ("type",)
)
FIELDS: Mapping[str, Mapping[str, Schema]] = {
    "contact": {
        "aliases": several(SHORT, 50, least=0), "email": SHORT, "phone": SHORT, "company": SHORT, "role": SHORT,
        "type": choice(tuple(Acquaintance)), "notes": LONG,
    },
    "project": {
        "status": choice(tuple(Stage)), "type": SHORT, "description": LONG,
        "primary_contact": text("A contact's id or name", least=0),
        "participants": several(SHORT, 200, "Contacts' ids or names", least=0), "company": SHORT,
        "priority": choice(tuple(Priority)),
    },
    "skill": {
        "description": LONG, "enabled": flag("", default=True), "trigger": TRIGGER, "instructions": LONG,
        "required_tools": several(SHORT, 200, least=0), "execution_plan": several(LONG, 200, least=0),
        "max_steps": whole(1, 10_000),
    },
}  # fmt: skip
"""Of each type, beside the name."""


def profile(reached: Reached, changes: Mapping[str, Any] | None = None, reason: str | None = None) -> Answer:
    """The person's own, where there is a place for what concerns them."""
    memory = reached.keeping(personal=reached.person is not None)
    if changes:
        memory.profile.merge(changes, reason=reason, actor=AGENT)
    found = memory.profile.get()
    told = memory.profile.text() or "Nothing is in the profile yet."
    return Answer(told, {"version": found.version, "document": dict(found.document)})


class Verbs:
    """The tools of one type of record."""

    def __init__(self, type: str) -> None:
        self.type = type

    def store(self, memory: Retentive) -> Store[Any]:
        found: Store[Any] = getattr(memory, f"{self.type}s")
        return found

    def save(self, reached: Reached, id: str | None = None, version: int | None = None, **fields: Any) -> Answer:
        store, reason = self.store(reached.memory), fields.pop("reason", None)
        if id is None:
            made = store.create(reason=reason, actor=AGENT, **fields)
            return self._answer("Kept", made, self._namesakes(reached.memory, made))
        if not fields:
            raise Invalid("nothing to change", f"Give a field: {', '.join(FIELDS[self.type])}.")
        return self._answer("Changed", store.update(id, version=version, reason=reason, actor=AGENT, **fields))

    def get(self, reached: Reached, id: str, *, history: bool = False) -> Answer:
        def both(memory: Retentive) -> tuple[Record, Sequence[Any]]:
            found = self.store(memory).get(id)
            return found, self.store(memory).history(found.id) if history else ()

        found, past = reached.first(both)
        changes = [{**serialize.revision(each), "record": None} for each in past]
        told = [f"v{each.version} {each.at:%Y-%m-%d %H:%M} {each.action} by {each.actor}" for each in past]
        return Answer("\n".join([_in_full(found), *told]), {self.type: render.whole(found), "history": changes})

    def list(self, reached: Reached, query: str | None = None, limit: int = 20, after: str | None = None) -> Answer:
        """All by name, or those that fit."""
        if query:
            found: Sequence[Any] = self._fitting(reached.memory, query, limit)
            return self._listed(found, None)
        page = self.store(reached.memory).list(limit, after)
        return self._listed(page.records, page.next)

    def _fitting(self, memory: Retentive, query: str, limit: int) -> Sequence[Record]:
        match self.type:
            case "contact":
                return memory.contacts.find(query, limit)
            case "skill":
                return [hit.record for hit in memory.skills.match(query, limit)]
            case _:
                return [hit.record for hit in memory.search(query, limit, include="projects")]

    def delete(self, reached: Reached, id: str, reason: str | None = None) -> Answer:
        return self._answer("Deleted", self.store(reached.memory).delete(id, reason=reason, actor=AGENT))

    def _namesakes(self, memory: Retentive, made: Any) -> str:
        """Two people may have one name; more often somebody is kept twice."""
        if self.type != "contact":
            return ""
        others = (each for each in memory.contacts.find(made.name) if each.id != made.id)
        ids = [each.id for each in others if folded(each.name) == folded(made.name)]
        return f"\nAlso called so: {', '.join(ids)}. If it is the same person, use contact_merge." if ids else ""

    def _listed(self, found: Sequence[Any], following: str | None) -> Answer:
        told = [f"[{each.id}] {each.name}{_about(each)}" for each in found]
        more = [f"More: after={following}"] if following else []
        rows = [render.whole(each) for each in found]
        return Answer("\n".join([*told, *more]) or "None.", {f"{self.type}s": rows, "next": following})

    def _answer(self, done: str, record: Record, more: str = "") -> Answer:
        return Answer(f"{done}: {_told(record)}{more}", {self.type: render.whole(record)})


def merge(reached: Reached, id: str, other: str, reason: str | None = None) -> Answer:
    made = reached.memory.contacts.merge(id, other, reason=reason, actor=AGENT)
    return Answer(f"Merged: {_told(made)}", {"contact": render.whole(made)})


def due(reached: Reached) -> Answer:
    found = reached.memory.skills.due()
    told = [f"[{each.skill.id}] {each.skill.name}, since {each.since:%Y-%m-%d %H:%M}" for each in found]
    return Answer("\n".join(told) or "None is due.", {"due": [serialize.due(each) for each in found]})


def record(reached: Reached, id: str, outcome: str, *, failed: bool = False, at: str | None = None) -> Answer:
    kept = reached.memory.skills.record(id, outcome, failed=failed, at=at)
    return Answer(f"Kept: {kept.id}", {"memory": render.whole(kept)})


def _told(record: Any) -> str:
    return f"[{record.id}] {record.name}{_about(record)} (version {record.version})"


def _in_full(record: Any) -> str:
    """A line for each field, cut nowhere: what a skill says is followed to the letter."""
    said = [f"{name}: {value}" for name, value in _said(record)]
    return "\n".join([f"[{record.id}] {record.name} (version {record.version})", *said])


def _about(record: Any) -> str:
    told = ", ".join(f"{name}: {render.line(value, 80)}" for name, value in _said(record))
    return f": {told}" if told else ""


def _said(record: Any) -> Iterator[tuple[str, str]]:
    said = ((name, getattr(record, name)) for name in FIELDS[record.TYPE])
    return ((name, _value(each)) for name, each in said if each not in (None, ()))


def _value(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def tools(*, writes: bool) -> Sequence[Tool]:
    given: Mapping[str, Schema] = {"changes": CHANGES, "reason": REASON}
    return (
        Tool(
            "profile", "The user's profile",
            "The user at a glance, as one document: name, work, home, family, tastes. Read it without arguments"
            + ("; change what is lasting with changes." if writes else "."),
            profile, given if writes else {}, (), {"version": "integer", "document": "object"},
            reads=not writes, repeatable=True,
        ),
    )  # fmt: skip


def more() -> Sequence[Tool]:
    """Those of the full set."""
    return (
        *_of("contact", "people who are known", "By name, alias, email, phone or company; names may be misspelt"),
        Tool(
            "contact_merge", "Make one of two contacts",
            "Two entries are one person: the other goes into the first, with its history.",
            merge, {"id": ID, "other": ID, "reason": REASON}, ("id", "other"), {"contact": "object"}, destroys=True,
        ),
        *_of("project", "what the user works on, and with whom", "What to look for"),
        *_of("skill", "how things are done: instructions that you follow", "A request: the skills that fit it"),
        Tool(
            "skill_due", "Skills that are due", "The scheduled skills whose time has come since they ran last.",
            due, gives={"due": "array"}, reads=True,
        ),
        Tool(
            "skill_record", "Record a run",
            "What came of running a skill: kept as a memory, and as its last run.",
            record,
            {"id": ID, "outcome": text(most=20_000), "failed": flag("It did not work"), "at": text("When", 40)},
            ("id", "outcome"), {"memory": "object"},
        ),
    )  # fmt: skip


def _of(type: str, what: str, query: str) -> Sequence[Tool]:
    verbs, plural = Verbs(type), f"{type}s"
    one = {type: "object"}
    fields = {"name": text(), **FIELDS[type]}
    return (
        Tool(
            f"{type}_save", f"Keep a {type}",
            f"Keep a new {type}, or with id change the fields given; an empty one is cleared. {plural.title()} are "
            f"{what}.",
            verbs.save, {"id": ID, **fields, "version": VERSION, "reason": REASON}, (), one,
        ),
        Tool(
            f"{type}_get", f"Read a {type}", f"A {type} with all its fields, by id or name.",
            verbs.get, {"id": ID, "history": flag("Its changes, too")}, ("id",), {**one, "history": "array"},
            reads=True,
        ),
        Tool(
            f"{type}_list", f"List {plural}", f"The {plural} by name, or those that a query is about.",
            verbs.list, {"query": text(query, 2000), "limit": whole(1, 100, 20), "after": text(most=300)}, (),
            {plural: "array"}, reads=True,
        ),
        Tool(
            f"{type}_delete", f"Delete a {type}", f"Take a {type} away; its history stays. Only when the user asks.",
            verbs.delete, {"id": ID, "reason": REASON}, ("id",), one, destroys=True, repeatable=True,
        ),
    )  # fmt: skip
