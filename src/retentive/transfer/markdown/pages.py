"""What stands on the pages: one function for each thing that is shown."""

from collections.abc import Iterator, Mapping
from typing import Any

from retentive.transfer.export_format import Row
from retentive.transfer.markdown.escape import block, inline, quoted

NAMED = ("primary_contact", "participants")  # fields that name contacts by id


def memory(row: Row) -> str:
    return f"{block(row['content'])}\n\n{_aside(_about(row))}\n"


def _about(row: Row) -> Iterator[str]:
    yield f"since {day(row['valid_from'])}" + (f" until {day(row['valid_to'])}" if row["valid_to"] else "")
    if row["status"] != "active":
        yield str(row["status"])
    if row["expires"] and not row["valid_to"]:
        yield f"expires {day(row['expires'])}"
    yield from (f"{name}: {row[name]}" for name in ("slot", "session", "context") if row[name])
    if row["tags"]:
        yield f"tags: {', '.join(row['tags'])}"
    yield f"importance {row['importance']}"
    yield f"confidence {row['confidence']:g}"
    yield f"id {row['id']}"


def session(row: Row) -> Iterator[str]:
    about = [f"begun {moment(row['created'])}", f"{row['events']} messages"]
    about += [f"agent: {row['agent']}"] if row["agent"] else []
    about += [f"tags: {', '.join(row['tags'])}"] if row["tags"] else []
    yield f"{_aside(about)}\n"
    if row["summary"]:
        yield f"## Summary up to message {row['summary_upto']}\n\n{quoted(row['summary'])}\n"
    if row["events"]:
        yield "## Messages\n"


def event(row: Row) -> str:
    who = f"{row['speaker']} ({row['role']})" if row["speaker"] else str(row["role"])
    head = f"**{inline(who)}**, {moment(row['time'])}, {row['sequence']}"
    text = quoted(row["content"]) if row["content"].strip() else ""
    more = _aside([f"with {name}" for name in row["payload"]]) if _is_object(row["payload"]) else ""
    return "\n\n".join(each for each in (head, text, more) if each) + "\n"


def record(row: Row, called: Mapping[str, str]) -> str:
    fields = {name: value for name, value in row["fields"].items() if name != "name"}
    for name in NAMED:
        if name in fields:
            ids = fields[name] if isinstance(fields[name], list) else [fields[name]]
            fields[name] = [called.get(id, id) for id in ids]
    title = inline(str(row["fields"].get("name", row["id"])))
    known = (f"## {title}", "\n".join(_lines(fields)), _aside([f"version {row['version']}", f"id {row['id']}"]))
    return "\n\n".join(each for each in known if each) + "\n"


def profile(row: Row) -> str:
    document = row["fields"].get("document") or {}
    return "\n".join(_lines(document)) + "\n" if document else "Nothing is known yet.\n"


def _lines(value: Any, depth: int = 0) -> Iterator[str]:
    """A list of names and values, inside each other."""
    indent = "  " * depth
    for name, each in value.items() if isinstance(value, dict) else enumerate(value, start=1):
        label = inline(str(name)).replace("\\_", " ")
        if isinstance(each, dict | list) and each and not _is_plain(each):
            yield f"{indent}- **{label}**:"
            yield from _lines(each, depth + 1)
        else:
            yield f"{indent}- **{label}**: {inline(_said(each))}"


def _is_plain(value: Any) -> bool:
    return isinstance(value, list) and not any(isinstance(each, dict | list) for each in value)


def _said(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_said, value))
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    return str(value)


def _aside(parts: Any) -> str:
    return f"*{inline(' · '.join(parts))}*"


def moment(given: str) -> str:
    return given[:16].replace("T", " ")


def day(given: str) -> str:
    return given[:10]


def _is_object(value: Any) -> bool:
    return isinstance(value, dict) and bool(value)
