"""Contacts, projects and skills: the verbs of all three, and those of one alone."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from retentive import serialize
from retentive.api import Retentive
from retentive.cli import output
from retentive.cli.args import is_json, parse_json, pick_options, read_json, read_text
from retentive.errors import Invalid
from retentive.model import Contact, DueSkill, Page, Profile, Project, Record, Revision, Skill
from retentive.records.collection import RecordCollection
from retentive.records.fields import RECORD_TYPES, RecordType
from retentive.records.json_patch import diff_documents
from retentive.records.render import describe_trigger

CHANGE_OPTIONS = ("reason", "actor")
_TRIGGER_OPTIONS = ("cron", "timezone", "event", "manual", "trigger")
_COMMON_FIELDS = ("id", "namespace", "version", "created", "updated")  # keys of every record's JSON that are not fields


def _add(memory: Retentive, arguments: Any) -> int:
    fields = _read_fields(arguments)
    made = _get_collection(memory, arguments).create(**fields, **pick_options(arguments, CHANGE_OPTIONS))
    return _print_record(made, arguments, f"added {output.show_id(made.id)}")


def _show(memory: Retentive, arguments: Any) -> int:
    found = _get_collection(memory, arguments).get(arguments.id)
    if is_json(arguments):
        output.print_json(serialize.record(found))
    else:
        output.print_fields(found.names[0], _iterate_fields(memory, found))
    return 0


def _list(memory: Retentive, arguments: Any) -> int:
    noun = _get_noun(arguments)
    page = _get_collection(memory, arguments).list(arguments.limit, arguments.after)
    _print_page(page, arguments)
    if page.next and not is_json(arguments):
        output.print_hint(f"more: retentive {noun} list --after {output.show_id(page.next)}")
    return 0


def _update(memory: Retentive, arguments: Any) -> int:
    fields = _read_fields(arguments)
    if not fields:
        hint = f"Give fields, such as --name: see `retentive {_get_noun(arguments)} update --help`."
        raise Invalid("nothing to change", hint)
    made = _get_collection(memory, arguments).update(
        arguments.id, **fields, **pick_options(arguments, (*CHANGE_OPTIONS, "version"))
    )
    return _print_record(made, arguments, f"updated {output.show_id(made.id)}: version {made.version}")


def _delete(memory: Retentive, arguments: Any) -> int:
    gone = _get_collection(memory, arguments).delete(
        arguments.id, **pick_options(arguments, (*CHANGE_OPTIONS, "version"))
    )
    _print_record(gone, arguments, f"deleted {output.show_id(gone.id)}")
    if not is_json(arguments):
        output.print_hint(f"`retentive {gone.TYPE} rollback {output.show_id(gone.id)} {gone.version - 1}` restores it")
    return 0


def _history(memory: Retentive, arguments: Any) -> int:
    return print_revisions(_get_collection(memory, arguments).history(arguments.id), arguments)


def _diff(memory: Retentive, arguments: Any) -> int:
    return print_patch(_get_collection(memory, arguments).diff(arguments.id, arguments.old, arguments.new), arguments)


def _rollback(memory: Retentive, arguments: Any) -> int:
    made = _get_collection(memory, arguments).rollback(
        arguments.id, arguments.to, **pick_options(arguments, CHANGE_OPTIONS)
    )
    return _print_record(
        made, arguments, f"rolled back {output.show_id(made.id)}: version {made.version} is as {arguments.to} was"
    )


def _find(memory: Retentive, arguments: Any) -> int:
    found = memory.contacts.find(arguments.text, arguments.limit)
    _print_page(Page(tuple(found)), arguments, otherwise="no contact found")
    return 0


def _merge(memory: Retentive, arguments: Any) -> int:
    made = memory.contacts.merge(arguments.id, arguments.other, **pick_options(arguments, CHANGE_OPTIONS))
    return _print_record(made, arguments, f"merged into {output.show_id(made.id)}: version {made.version}")


def _match(memory: Retentive, arguments: Any) -> int:
    text = read_text(arguments.text, "text")
    found = memory.skills.match(text, arguments.limit, min_relevance=arguments.min_relevance)
    if is_json(arguments):
        output.print_json(serialize.results(found))
    else:
        output.print_results(found, with_why=arguments.why)
    return 0


def _due(memory: Retentive, arguments: Any) -> int:
    found = memory.skills.due(arguments.now)
    if is_json(arguments):
        output.print_json({"due": [serialize.due_skill(each) for each in found]})
    elif found:
        output.print_table(("id", "since", "last run", "name"), map(_due_row, found))
    else:
        output.print_hint("nothing is due")
    return 0


def _due_row(each: DueSkill) -> tuple[Any, ...]:
    last = f"{each.last_run:%Y-%m-%d %H:%M}" if each.last_run else "-"
    return output.show_id(each.skill.id), f"{each.since:%Y-%m-%d %H:%M}", last, each.skill.name


def _record(memory: Retentive, arguments: Any) -> int:
    outcome = read_text(arguments.text, "text")
    metadata = parse_json(arguments.metadata, "--metadata")
    kept = memory.skills.record(arguments.id, outcome, failed=arguments.failed, at=arguments.at, metadata=metadata)
    if is_json(arguments):
        output.print_json(serialize.memory(kept))
    else:
        output.print_line(f"added {output.show_id(kept.id)}")
    return 0


def _runs(memory: Retentive, arguments: Any) -> int:
    found = memory.skills.runs(arguments.id, arguments.limit)
    if is_json(arguments):
        output.print_json({"memories": [serialize.memory(each) for each in found]})
    else:
        rows = [
            (output.show_id(each.id), f"{each.valid_from:%Y-%m-%d %H:%M}", each.status, each.content) for each in found
        ]
        output.print_table(("id", "when", "status", "outcome"), rows)
    return 0


def print_revisions(found: Sequence[Revision[Any]], arguments: Any) -> int:
    if is_json(arguments):
        output.print_json({"revisions": [serialize.revision(each) for each in found]})
    else:
        output.print_table(("version", "when", "what", "who", "why", "changed"), _build_revision_rows(found))
    return 0


def _build_revision_rows(found: Sequence[Revision[Any]]) -> Iterator[tuple[Any, ...]]:
    """Yield a row for each revision. Revisions of a record that was merged into this one show its id."""
    own = max(found, key=lambda each: each.at).id if found else ""
    before: dict[str, Mapping[str, Any]] = {}
    for each in found:
        known = before.get(each.id)
        after = before[each.id] = _get_own_fields(each.record) if each.record else {}
        changed = (change["path"][1:].replace("/", ".") for change in diff_documents(known, after)) if known else ()
        what = each.action if each.id == own else f"{each.action} ({output.show_id(each.id)})"
        fields = ", ".join(changed) if each.record else None
        yield each.version, f"{each.at:%Y-%m-%d %H:%M:%S}", what, each.actor, each.reason, fields


def print_patch(operations: Sequence[Mapping[str, Any]], arguments: Any) -> int:
    """Print a JSON Patch."""
    if is_json(arguments):
        output.print_json([*operations])
    elif operations:
        rows = [
            (each["op"], each["path"], format_value(each["value"]) if "value" in each else "") for each in operations
        ]
        output.print_table(("what", "where", "value"), rows)
    else:
        output.print_hint("nothing changed")
    return 0


def format_value(value: Any) -> str:
    """Return a string as it is, and any other value as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _read_fields(arguments: Any) -> dict[str, Any]:
    """Read the fields from a file and from options. Options win."""
    record_type = RECORD_TYPES[_get_noun(arguments)]
    found = _read_field_file(arguments.file, record_type) if arguments.file else {}
    for name, value in pick_options(arguments, record_type.fields).items():
        found[name] = [each for each in value if each] if isinstance(value, list) else value
    if pick_options(arguments, _TRIGGER_OPTIONS):
        found["trigger"] = _build_trigger(arguments)
    return found


def _read_field_file(path: str, record_type: RecordType[Any]) -> dict[str, Any]:
    read = read_json(path)
    if not isinstance(read, dict):
        raise Invalid(
            f"{path} has no object",
            f"A {record_type.type} is an object, as `retentive {record_type.type} show --json` gives it.",
        )
    fields = {name: value for name, value in read.items() if name not in _COMMON_FIELDS}
    if unknown := fields.keys() - record_type.fields.keys():
        raise Invalid(
            f"a {record_type.type} has no field {min(unknown)[:40]!r}", f"It has: {', '.join(record_type.fields)}."
        )
    return fields


def _build_trigger(arguments: Any) -> Any:
    match pick_options(arguments, _TRIGGER_OPTIONS):
        case {"cron": cron, **zone}:
            return {"type": "schedule", "cron": cron, **zone}
        case {"timezone": _}:
            raise Invalid("--timezone is for --cron", "It is the time zone of the schedule.")
        case {"event": event}:
            return {"type": "event", "event": event}
        case {"trigger": text}:
            return parse_json(text, "--trigger") if text else None
        case _:
            return {"type": "manual"}


def _get_noun(arguments: Any) -> str:
    noun: str = arguments.run.partition(" ")[0]
    return noun


def _get_collection(memory: Retentive, arguments: Any) -> RecordCollection[Any]:
    stores: dict[str, RecordCollection[Any]] = {
        "contact": memory.contacts,
        "project": memory.projects,
        "skill": memory.skills,
    }
    return stores[_get_noun(arguments)]


def _print_record(record: Record, arguments: Any, message: str) -> int:
    if is_json(arguments):
        output.print_json(serialize.record(record))
    else:
        output.print_line(message)
    return 0


def _get_own_fields(record: Record) -> dict[str, Any]:
    """Return the fields of a record, or the document of a profile."""
    if isinstance(record, Profile):
        return {**record.document}
    return {name: value for name, value in serialize.record(record).items() if name not in _COMMON_FIELDS}


def _iterate_fields(memory: Retentive, record: Record) -> Iterator[tuple[str, str]]:
    """Yield the fields that have a value, for people: contacts by their names, a trigger in words."""
    for name, value in serialize.record(record).items():
        if name == "name" or value in (None, [], ""):
            continue
        if name in RECORD_TYPES[record.TYPE].links:
            ids = value if isinstance(value, list) else [value]
            yield name, ", ".join(f"{memory.contacts.get(id).name} ({output.show_id(id)})" for id in ids)
        elif name == "execution_plan":
            yield name, "\n".join(f"{number}. {each}" for number, each in enumerate(value, start=1))
        elif name == "trigger":
            yield name, describe_trigger(value)
        else:
            yield name, ", ".join(value) if isinstance(value, list) else format_value(value)


def _print_page(page: Page[Any], arguments: Any, otherwise: str = "") -> None:
    noun = _get_noun(arguments)
    if is_json(arguments):
        output.print_json(serialize.records(page))
    elif page:
        output.print_table(_TABLE_HEADS[noun], map(_row, page))
    else:
        output.print_hint(otherwise or f'nothing yet: retentive {noun} add "..." adds the first one')


def _row(record: Record) -> tuple[Any, ...]:
    match record:
        case Contact():
            return (
                output.show_id(record.id),
                record.name,
                record.type,
                record.role,
                record.company,
                record.email or record.phone,
            )
        case Project():
            return (
                output.show_id(record.id),
                record.name,
                record.status,
                record.priority,
                record.company,
                record.description,
            )
        case Skill():
            how = describe_trigger(record.trigger) if record.enabled else "disabled"
            return output.show_id(record.id), record.name, how, record.description
        case _:
            raise TypeError(type(record))


_TABLE_HEADS = {
    "contact": ("id", "name", "type", "role", "company", "reached by"),
    "project": ("id", "name", "status", "priority", "company", "description"),
    "skill": ("id", "name", "when", "description"),
}
_COMMON_VERBS: dict[str, Callable[[Retentive, Any], int]] = {
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
    **{f"{noun} {verb}": does for noun in _TABLE_HEADS for verb, does in _COMMON_VERBS.items()},
    "contact find": _find,
    "contact merge": _merge,
    "skill match": _match,
    "skill due": _due,
    "skill record": _record,
    "skill runs": _runs,
}
