"""The tools of structured records: the profile, contacts, projects, skills."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from retentive import serialize
from retentive.api import Retentive
from retentive.errors import Invalid
from retentive.mcp import render
from retentive.mcp.caller import Caller
from retentive.mcp.tool import Answer, Schema, Tool, choice, flag, integer, several, text, thing
from retentive.model import ContactType, Priority, ProjectStatus, Record
from retentive.records.collection import RecordCollection
from retentive.records.fuzzy_names import fold_name
from retentive.records.render import render_profile

AGENT = "agent"  # who changed it, in a history
ID = text("Id or name", 300)
REASON = text()
VERSION = integer(1, 10**9, description="Fails if it changed since this version")
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
        "type": choice(tuple(ContactType)), "notes": LONG,
    },
    "project": {
        "status": choice(tuple(ProjectStatus)), "type": SHORT, "description": LONG,
        "primary_contact": text("A contact's id or name", least=0),
        "participants": several(SHORT, 200, "Contacts' ids or names", least=0), "company": SHORT,
        "priority": choice(tuple(Priority)),
    },
    "skill": {
        "description": LONG, "enabled": flag("", default=True), "trigger": TRIGGER, "instructions": LONG,
        "required_tools": several(SHORT, 200, least=0), "execution_plan": several(LONG, 200, least=0),
        "max_steps": integer(1, 10_000),
    },
}  # fmt: skip
"""The fields of each type, beside the name."""


def profile(caller: Caller, changes: Mapping[str, Any] | None = None, reason: str | None = None) -> Answer:
    """Read or change the profile of the person. A project with a namespace of its own has a profile, too: read it."""
    memory = caller.choose_view(personal=caller.person is not None)
    if changes:
        memory.profile.merge(changes, reason=reason, actor=AGENT)
    found = memory.profile.get()
    data: dict[str, Any] = {"version": found.version, "document": dict(found.document)}
    lines = [render_profile(found.document) or "The profile is empty."]
    project = caller.memory.profile.get() if memory.namespace != caller.memory.namespace else None
    if project and project.document:
        data["project"] = dict(project.document)
        lines += [f"Project {caller.memory.namespace}:", render_profile(project.document)]
    return Answer("\n".join(lines), data)


class RecordTools:
    """The tools of one type of record."""

    def __init__(self, type: str) -> None:
        self.type = type

    def store(self, memory: Retentive) -> RecordCollection[Any]:
        found: RecordCollection[Any] = getattr(memory, f"{self.type}s")
        return found

    def save(self, caller: Caller, id: str | None = None, version: int | None = None, **fields: Any) -> Answer:
        store, reason = self.store(caller.memory), fields.pop("reason", None)
        if id is None:
            made = store.create(reason=reason, actor=AGENT, **fields)
            return self._answer("Saved", made, self._describe_namesakes(caller.memory, made))
        if not fields:
            raise Invalid("nothing to change", f"Give a field: {', '.join(FIELDS[self.type])}.")
        return self._answer("Changed", store.update(id, version=version, reason=reason, actor=AGENT, **fields))

    def get(self, caller: Caller, id: str, *, history: bool = False) -> Answer:
        def load_with_history(memory: Retentive) -> tuple[Record, Sequence[Any]]:
            found = self.store(memory).get(id)
            return found, self.store(memory).history(found.id) if history else ()

        found, past = caller.find_first(load_with_history)
        changes = [{**serialize.revision(each), "record": None} for each in past]
        lines = [f"v{each.version} {each.at:%Y-%m-%d %H:%M} {each.action} by {each.actor}" for each in past]
        return Answer(
            "\n".join([_render_record(found), *lines]), {self.type: render.serialize_item(found), "history": changes}
        )

    def list(self, caller: Caller, query: str | None = None, limit: int = 20, after: str | None = None) -> Answer:
        """List all records by name, or those that match the query."""
        if query:
            found: Sequence[Any] = self._find_matching(caller.memory, query, limit)
            return self._answer_list(found, None)
        page = self.store(caller.memory).list(limit, after)
        return self._answer_list(page.items, page.next)

    def _find_matching(self, memory: Retentive, query: str, limit: int) -> Sequence[Record]:
        match self.type:
            case "contact":
                return memory.contacts.find(query, limit)
            case "skill":
                return [hit.record for hit in memory.skills.match(query, limit)]
            case _:
                return [hit.record for hit in memory.search(query, limit, include="projects")]

    def delete(self, caller: Caller, id: str, reason: str | None = None) -> Answer:
        return self._answer("Deleted", self.store(caller.memory).delete(id, reason=reason, actor=AGENT))

    def _describe_namesakes(self, memory: Retentive, made: Any) -> str:
        """Point out contacts of the same name: most often one person was added twice."""
        if self.type != "contact":
            return ""
        others = (each for each in memory.contacts.find(made.name) if each.id != made.id)
        ids = [each.id for each in others if fold_name(each.name) == fold_name(made.name)]
        return f"\nSame name: {', '.join(ids)}. If it is the same person, use contact_merge." if ids else ""

    def _answer_list(self, found: Sequence[Any], following: str | None) -> Answer:
        lines = [f"[{each.id}] {each.name}{_summarize_fields(each)}" for each in found]
        more = [f"More: after={following}"] if following else []
        rows = [render.serialize_item(each) for each in found]
        return Answer("\n".join([*lines, *more]) or "None.", {f"{self.type}s": rows, "next": following})

    def _answer(self, done: str, record: Record, more: str = "") -> Answer:
        return Answer(f"{done}: {_describe_record(record)}{more}", {self.type: render.serialize_item(record)})


def merge(caller: Caller, id: str, other: str, reason: str | None = None) -> Answer:
    made = caller.memory.contacts.merge(id, other, reason=reason, actor=AGENT)
    return Answer(f"Merged: {_describe_record(made)}", {"contact": render.serialize_item(made)})


def due(caller: Caller) -> Answer:
    found = caller.memory.skills.due()
    lines = [f"[{each.skill.id}] {each.skill.name}, since {each.since:%Y-%m-%d %H:%M}" for each in found]
    return Answer("\n".join(lines) or "None is due.", {"due": [serialize.due_skill(each) for each in found]})


def record(caller: Caller, id: str, outcome: str, *, failed: bool = False, at: str | None = None) -> Answer:
    kept = caller.memory.skills.record(id, outcome, failed=failed, at=at)
    return Answer(f"Saved: {kept.id}", {"memory": render.serialize_item(kept)})


def _describe_record(record: Any) -> str:
    return f"[{record.id}] {record.name}{_summarize_fields(record)} (version {record.version})"


def _render_record(record: Any) -> str:
    """A line for each field, uncut: the instructions of a skill are followed to the letter."""
    lines = [f"{name}: {value}" for name, value in _render_fields(record)]
    return "\n".join([f"[{record.id}] {record.name} (version {record.version})", *lines])


def _summarize_fields(record: Any) -> str:
    fields = ", ".join(f"{name}: {render.shorten(value, 80)}" for name, value in _render_fields(record))
    return f": {fields}" if fields else ""


def _render_fields(record: Any) -> Iterator[tuple[str, str]]:
    fields = ((name, getattr(record, name)) for name in FIELDS[record.TYPE])
    return ((name, _render_value(each)) for name, each in fields if each not in (None, ()))


def _render_value(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def list_default_tools(*, writes: bool) -> Sequence[Tool]:
    given: Mapping[str, Schema] = {"changes": CHANGES, "reason": REASON}
    return (
        Tool(
            "profile", "The user's profile",
            "The user's profile: name, work, home, family, tastes; and that of this project."
            + (" Without arguments it is read; changes update what is lasting." if writes else ""),
            profile, given if writes else {}, (), {"version": "integer", "document": "object"},
            reads=not writes, repeatable=True,
        ),
    )  # fmt: skip


def list_further_tools() -> Sequence[Tool]:
    """Tools of the full set only."""
    return (
        *_make_tools(
            "contact", "people the user knows",
            "Name, alias, email, phone or company; misspellings are fine",
        ),
        Tool(
            "contact_merge", "Merge two contacts",
            "Merge two entries for the same person: the other goes into the first, with its history.",
            merge, {"id": ID, "other": ID, "reason": REASON}, ("id", "other"), {"contact": "object"}, destroys=True,
        ),
        *_make_tools("project", "what the user works on, and with whom", "Keywords"),
        *_make_tools("skill", "reusable instructions for you to follow", "A request: finds skills that match"),
        Tool(
            "skill_due", "Skills that are due", "List scheduled skills that are due to run again.",
            due, gives={"due": "array"}, reads=True,
        ),
        Tool(
            "skill_record", "Record a run",
            "Record the outcome of running a skill: saved as a memory, and as its last run.",
            record,
            {"id": ID, "outcome": text(most=20_000), "failed": flag("It failed"), "at": text("When", 40)},
            ("id", "outcome"), {"memory": "object"},
        ),
    )  # fmt: skip


def _make_tools(type: str, what: str, query: str) -> Sequence[Tool]:
    actions, plural = RecordTools(type), f"{type}s"
    one = {type: "object"}
    fields = {"name": text(), **FIELDS[type]}
    return (
        Tool(
            f"{type}_save", f"Save a {type}",
            f"Create a {type}, or with id update the given fields; empty ones are cleared. {plural.title()}: {what}.",
            actions.save, {"id": ID, **fields, "version": VERSION, "reason": REASON}, (), one,
        ),
        Tool(
            f"{type}_get", f"Read a {type}", f"Read a {type} with all its fields, by id or name.",
            actions.get, {"id": ID, "history": flag("With its changes")}, ("id",), {**one, "history": "array"},
            reads=True,
        ),
        Tool(
            f"{type}_list", f"List {plural}", f"List {plural} by name, or those that match a query.",
            actions.list, {"query": text(query, 2000), "limit": integer(1, 100, 20), "after": text(most=300)}, (),
            {plural: "array"}, reads=True,
        ),
        Tool(
            f"{type}_delete", f"Delete a {type}", f"Delete a {type}; its history stays. Only when the user asks.",
            actions.delete, {"id": ID, "reason": REASON}, ("id",), one, destroys=True, repeatable=True,
        ),
    )  # fmt: skip
