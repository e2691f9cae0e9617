"""Contacts, projects and skills: the same verbs for the three, and what each can do beside them."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from retentive import serialize
from retentive.api import Retentive
from retentive.cli import output
from retentive.cli.args import given, is_json, json_in, json_of, text_of
from retentive.errors import Invalid
from retentive.model import Contact, Due, Profile, Project, Record, Records, Revision, Skill
from retentive.records.collection import Store
from retentive.records.fields import SHAPES, Shape
from retentive.records.json_patch import differences
from retentive.records.render import trigger

SAID = ("reason", "actor")
_TRIGGERS = ("cron", "timezone", "event", "manual", "trigger")
_ABOUT = ("id", "namespace", "version", "created", "updated")  # what the JSON of each has beside its fields


def _add(memory: Retentive, arguments: Any) -> int:
    fields = _fields(arguments)
    made = _store(memory, arguments).create(**fields, **given(arguments, SAID))
    return _told(made, arguments, f"kept {made.id}")


def _show(memory: Retentive, arguments: Any) -> int:
    found = _store(memory, arguments).get(arguments.id)
    if is_json(arguments):
        output.as_json(serialize.record(found))
    else:
        output.fields(found.names[0], _shown(memory, found))
    return 0


def _list(memory: Retentive, arguments: Any) -> int:
    noun = _noun(arguments)
    page = _store(memory, arguments).list(arguments.limit, arguments.after)
    _table(page, arguments)
    if page.next and not is_json(arguments):
        output.aside(f"more: retentive {noun} list --after {page.next}")
    return 0


def _update(memory: Retentive, arguments: Any) -> int:
    fields = _fields(arguments)
    if not fields:
        hint = f"Give fields, such as --name: see `retentive {_noun(arguments)} update --help`."
        raise Invalid("nothing to change", hint)
    made = _store(memory, arguments).update(arguments.id, **fields, **given(arguments, (*SAID, "version")))
    return _told(made, arguments, f"updated {made.id}: version {made.version}")


def _delete(memory: Retentive, arguments: Any) -> int:
    gone = _store(memory, arguments).delete(arguments.id, **given(arguments, (*SAID, "version")))
    _told(gone, arguments, f"deleted {gone.id}")
    if not is_json(arguments):
        output.aside(f"`retentive {gone.TYPE} rollback {gone.id} {gone.version - 1}` brings it back")
    return 0


def _history(memory: Retentive, arguments: Any) -> int:
    return revisions(_store(memory, arguments).history(arguments.id), arguments)


def _diff(memory: Retentive, arguments: Any) -> int:
    return patch(_store(memory, arguments).diff(arguments.id, arguments.old, arguments.new), arguments)


def _rollback(memory: Retentive, arguments: Any) -> int:
    made = _store(memory, arguments).rollback(arguments.id, arguments.to, **given(arguments, SAID))
    return _told(made, arguments, f"rolled back {made.id}: version {made.version} is as {arguments.to} was")


def _find(memory: Retentive, arguments: Any) -> int:
    found = memory.contacts.find(arguments.text, arguments.limit)
    _table(Records(tuple(found)), arguments, otherwise="nobody found")
    return 0


def _merge(memory: Retentive, arguments: Any) -> int:
    made = memory.contacts.merge(arguments.id, arguments.other, **given(arguments, SAID))
    return _told(made, arguments, f"merged into {made.id}: version {made.version}")


def _match(memory: Retentive, arguments: Any) -> int:
    text = text_of(arguments.text, "text")
    found = memory.skills.match(text, arguments.limit, min_relevance=arguments.min_relevance)
    if is_json(arguments):
        output.as_json(serialize.results(found))
    else:
        output.results(found, with_why=arguments.why)
    return 0


def _due(memory: Retentive, arguments: Any) -> int:
    found = memory.skills.due(arguments.now)
    if is_json(arguments):
        output.as_json({"due": [serialize.due(each) for each in found]})
    elif found:
        output.table(("id", "since", "last run", "name"), map(_due_row, found))
    else:
        output.aside("nothing is due")
    return 0


def _due_row(each: Due) -> tuple[Any, ...]:
    last = f"{each.last_run:%Y-%m-%d %H:%M}" if each.last_run else "-"
    return each.skill.id, f"{each.since:%Y-%m-%d %H:%M}", last, each.skill.name


def _record(memory: Retentive, arguments: Any) -> int:
    outcome = text_of(arguments.text, "text")
    metadata = json_of(arguments.metadata, "--metadata")
    kept = memory.skills.record(arguments.id, outcome, failed=arguments.failed, at=arguments.at, metadata=metadata)
    if is_json(arguments):
        output.as_json(serialize.memory(kept))
    else:
        output.say(f"kept {kept.id}")
    return 0


def _runs(memory: Retentive, arguments: Any) -> int:
    found = memory.skills.runs(arguments.id, arguments.limit)
    if is_json(arguments):
        output.as_json({"memories": [serialize.memory(each) for each in found]})
    else:
        rows = [(each.id, f"{each.valid_from:%Y-%m-%d %H:%M}", each.status, each.content) for each in found]
        output.table(("id", "when", "status", "what came of it"), rows)
    return 0


def revisions(found: Sequence[Revision[Any]], arguments: Any) -> int:
    if is_json(arguments):
        output.as_json({"revisions": [serialize.revision(each) for each in found]})
    else:
        output.table(("version", "when", "what", "who", "why", "changed"), _revised(found))
    return 0


def _revised(found: Sequence[Revision[Any]]) -> Iterator[tuple[Any, ...]]:
    """Those of another, which was merged into it, name that one. The last change is its own."""
    own = max(found, key=lambda each: each.at).id if found else ""
    before: dict[str, Mapping[str, Any]] = {}
    for each in found:
        known = before.get(each.id)
        after = before[each.id] = _own(each.record) if each.record else {}
        changed = (change["path"][1:].replace("/", ".") for change in differences(known, after)) if known else ()
        what = each.action if each.id == own else f"{each.action} ({each.id})"
        told = ", ".join(changed) if each.record else None
        yield each.version, f"{each.at:%Y-%m-%d %H:%M:%S}", what, each.actor, each.reason, told


def patch(operations: Sequence[Mapping[str, Any]], arguments: Any) -> int:
    """A JSON Patch, as such for programs."""
    if is_json(arguments):
        output.as_json([*operations])
    elif operations:
        rows = [(each["op"], each["path"], written(each["value"]) if "value" in each else "") for each in operations]
        output.table(("what", "where", "value"), rows)
    else:
        output.aside("nothing changed")
    return 0


def written(value: Any) -> str:
    """A value as it is typed: a text as it is, all else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _fields(arguments: Any) -> dict[str, Any]:
    """From a file, and from options, which count for more."""
    shape = SHAPES[_noun(arguments)]
    found = _read(arguments.file, shape) if hasattr(arguments, "file") else {}
    for name, value in given(arguments, shape.fields).items():
        found[name] = [each for each in value if each] if isinstance(value, list) else value
    if given(arguments, _TRIGGERS):
        found["trigger"] = _trigger(arguments)
    return found


def _read(path: str, shape: Shape[Any]) -> dict[str, Any]:
    read = json_in(path)
    if not isinstance(read, dict):
        raise Invalid(
            f"{path} has no object", f"A {shape.type} is an object, as `retentive {shape.type} show --json` gives it."
        )
    fields = {name: value for name, value in read.items() if name not in _ABOUT}
    if unknown := fields.keys() - shape.fields.keys():
        raise Invalid(f"a {shape.type} has no field {min(unknown)[:40]!r}", f"It has: {', '.join(shape.fields)}.")
    return fields


def _trigger(arguments: Any) -> Any:
    match given(arguments, _TRIGGERS):
        case {"cron": cron, **zone}:
            return {"type": "schedule", "cron": cron, **zone}
        case {"timezone": _}:
            raise Invalid("--timezone is for --cron", "It says where the schedule is looked at.")
        case {"event": event}:
            return {"type": "event", "event": event}
        case {"trigger": text}:
            return json_of(text, "--trigger") if text else None
        case _:
            return {"type": "manual"}


def _noun(arguments: Any) -> str:
    noun: str = arguments.run.partition(" ")[0]
    return noun


def _store(memory: Retentive, arguments: Any) -> Store[Any]:
    stores: dict[str, Store[Any]] = {
        "contact": memory.contacts,
        "project": memory.projects,
        "skill": memory.skills,
    }
    return stores[_noun(arguments)]


def _told(record: Record, arguments: Any, said: str) -> int:
    if is_json(arguments):
        output.as_json(serialize.record(record))
    else:
        output.say(said)
    return 0


def _own(record: Record) -> dict[str, Any]:
    """Its fields, or the document of a profile."""
    if isinstance(record, Profile):
        return {**record.document}
    return {name: value for name, value in serialize.record(record).items() if name not in _ABOUT}


def _shown(memory: Retentive, record: Record) -> Iterator[tuple[str, str]]:
    """What is there of it, for people: contacts by their names, a trigger in words."""
    for name, value in serialize.record(record).items():
        if name == "name" or value in (None, [], ""):
            continue
        if name in SHAPES[record.TYPE].links:
            ids = value if isinstance(value, list) else [value]
            yield name, ", ".join(f"{memory.contacts.get(id).name} ({id})" for id in ids)
        elif name == "execution_plan":
            yield name, "\n".join(f"{number}. {each}" for number, each in enumerate(value, start=1))
        elif name == "trigger":
            yield name, trigger(value)
        else:
            yield name, ", ".join(value) if isinstance(value, list) else written(value)


def _table(page: Records[Any], arguments: Any, otherwise: str = "") -> None:
    noun = _noun(arguments)
    if is_json(arguments):
        output.as_json(serialize.records(page))
    elif page:
        output.table(_HEADS[noun], map(_row, page))
    else:
        output.aside(otherwise or f'nothing yet: retentive {noun} add "..." keeps a first one')


def _row(record: Record) -> tuple[Any, ...]:
    match record:
        case Contact():
            return record.id, record.name, record.type, record.role, record.company, record.email or record.phone
        case Project():
            return record.id, record.name, record.status, record.priority, record.company, record.description
        case Skill():
            how = trigger(record.trigger) if record.enabled else "disabled"
            return record.id, record.name, how, record.description
        case _:
            raise TypeError(type(record))


_HEADS = {
    "contact": ("id", "name", "type", "role", "company", "reached by"),
    "project": ("id", "name", "status", "priority", "company", "description"),
    "skill": ("id", "name", "when", "description"),
}
_EACH: dict[str, Callable[[Retentive, Any], int]] = {
    "add": _add,
    "show": _show,
    "list": _list,
    "update": _update,
    "delete": _delete,
    "history": _history,
    "diff": _diff,
    "rollback": _rollback,
}
VERBS: dict[str, Callable[[Retentive, Any], int]] = {
    **{f"{noun} {verb}": does for noun in _HEADS for verb, does in _EACH.items()},
    "contact find": _find,
    "contact merge": _merge,
    "skill match": _match,
    "skill due": _due,
    "skill record": _record,
    "skill runs": _runs,
}
