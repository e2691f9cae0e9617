"""Renders memories, sessions, messages and records as Markdown."""

from collections.abc import Iterator, Mapping
from typing import Any

from retentive.surface.field import Field
from retentive.surface.memory import CONTENT_FIELDS, SESSION
from retentive.transfer.export_format import Row
from retentive.transfer.markdown.escape import escape_block, escape_inline, escape_quote

MEMORY_FACTS = tuple(field for field in (SESSION, *CONTENT_FIELDS) if field.type not in ("choice", "time", "object"))
"""Fields in the line below a memory. The kind is the heading; times are written in words; metadata is for machines."""
CONTACT_FIELDS = ("primary_contact", "participants")  # they have ids of contacts


def render_memory(row: Row) -> str:
    return f"{escape_block(row['content'])}\n\n{_render_aside(_list_memory_facts(row))}\n"


def _list_memory_facts(row: Row) -> Iterator[str]:
    until = f" until {format_day(row['valid_to'])}" if row["valid_to"] else ""
    yield f"since {format_day(row['valid_from'])}{until}"
    if row["status"] != "active":
        yield str(row["status"])
    if row["expires"] and not row["valid_to"]:
        yield f"expires {format_day(row['expires'])}"
    yield from (_render_fact(field, row[field.name]) for field in MEMORY_FACTS if row[field.name])
    yield f"id {row['id']}"


def _render_fact(field: Field, value: Any) -> str:
    if field.type in ("integer", "number"):
        return f"{field.name} {value:g}"
    return f"{field.name}: {', '.join(value) if field.many else value}"


def render_session(row: Row) -> Iterator[str]:
    about = [f"begun {format_minute(row['created'])}", f"{row['events']} messages"]
    about += [f"agent: {row['agent']}"] if row["agent"] else []
    about += [f"tags: {', '.join(row['tags'])}"] if row["tags"] else []
    yield f"{_render_aside(about)}\n"
    if row["summary"]:
        yield f"## Summary up to message {row['summary_upto']}\n\n{escape_quote(row['summary'])}\n"
    if row["events"]:
        yield "## Messages\n"


def render_event(row: Row) -> str:
    who = f"{row['speaker']} ({row['role']})" if row["speaker"] else str(row["role"])
    head = f"**{escape_inline(who)}**, {format_minute(row['time'])}, {row['sequence']}"
    text = escape_quote(row["content"]) if row["content"].strip() else ""
    more = _render_aside([f"with {name}" for name in row["payload"]]) if _is_object(row["payload"]) else ""
    return "\n\n".join(each for each in (head, text, more) if each) + "\n"


def render_record(row: Row, contact_names: Mapping[str, str]) -> str:
    fields = {name: value for name, value in row["fields"].items() if name != "name"}
    for name in CONTACT_FIELDS:
        if name in fields:
            ids = fields[name] if isinstance(fields[name], list) else [fields[name]]
            fields[name] = [contact_names.get(id, id) for id in ids]
    title = escape_inline(str(row["fields"].get("name", row["id"])))
    known = (
        f"## {title}",
        "\n".join(_render_fields(fields)),
        _render_aside([f"version {row['version']}", f"id {row['id']}"]),
    )
    return "\n\n".join(each for each in known if each) + "\n"


def render_profile(row: Row) -> str:
    document = row["fields"].get("document") or {}
    return "\n".join(_render_fields(document)) + "\n" if document else "Nothing is known yet.\n"


def _render_fields(value: Any, depth: int = 0) -> Iterator[str]:
    """Render names and values as a nested list."""
    indent = "  " * depth
    for name, each in value.items() if isinstance(value, dict) else enumerate(value, start=1):
        label = escape_inline(str(name)).replace("\\_", " ")
        if isinstance(each, dict | list) and each and not _is_flat_list(each):
            yield f"{indent}- **{label}**:"
            yield from _render_fields(each, depth + 1)
        else:
            yield f"{indent}- **{label}**: {escape_inline(_render_value(each))}"


def _is_flat_list(value: Any) -> bool:
    return isinstance(value, list) and not any(isinstance(each, dict | list) for each in value)


def _render_value(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_render_value, value))
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    return str(value)


def _render_aside(parts: Any) -> str:
    return f"*{escape_inline(' · '.join(parts))}*"


def format_minute(time: str) -> str:
    return time[:16].replace("T", " ")


def format_day(time: str) -> str:
    return time[:10]


def _is_object(value: Any) -> bool:
    return isinstance(value, dict) and bool(value)
