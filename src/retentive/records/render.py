"""Records in words: what is searched of them, and what a model reads.

Each field is a sentence of its own with the words that people ask by: "Who do I know at Acme?", "what is Anna's role?".
"""

from collections.abc import Collection, Mapping
from typing import Any

from retentive.model import Contact, Profile, Project, Record, Skill
from retentive.records import json_patch, schedule

LONGEST = 200  # characters of a value in a line of a profile


def told(record: Record, called: Mapping[str, str]) -> str:
    """`called` has the names of the contacts that it names by id."""
    match record:
        case Contact():
            return _contact(record)
        case Project():
            return _project(record, called)
        case Skill():
            return _skill(record)
        case Profile():
            return profile(profile_without(record))
        case _:
            raise TypeError(type(record))


def profile(document: Mapping[str, Any]) -> str:
    """A line for each part of a document: `dog: name: Rex, age: 3`."""
    return "\n".join(f"{_spoken(name)}: {_value(value)}" for name, value in document.items())


def profile_without(given: Profile, memories: Collection[str] | None = None) -> Mapping[str, Any]:
    """Its document without the values that came from these memories, or from any: those are found by themselves."""
    document: Any = given.document
    for pointer, source in given.sources.items():
        if memories is None or source["memory"] in memories:
            document = json_patch.removed(document, pointer)
    return document if isinstance(document, Mapping) else {}


def trigger(given: Mapping[str, Any]) -> str:
    match given:
        case {"type": "schedule", "cron": cron, **rest}:
            zone = rest.get("timezone")
            return f"runs {schedule.told(str(cron), str(zone) if zone else None)}"
        case {"type": "event", "event": event}:
            return f"runs on the event {event}"
        case _:
            return "runs when asked"


def _contact(who: Contact) -> str:
    first = who.name
    if who.role and who.company:
        first += f" is {who.role} at {who.company}"
    elif who.role or who.company:
        first += f" is {who.role}" if who.role else f" is at {who.company}"
    known = f"a {who.type} contact" if who.type != "ignored" else "a contact to be ignored"
    return _lines(
        f"{first}.",
        f"{who.name} is {known}.",
        who.aliases and f"Also known as {', '.join(who.aliases)}.",
        who.role and f"Role: {who.role}.",
        who.company and f"Company: {who.company}.",
        who.email and f"Email: {who.email}",
        who.phone and f"Phone: {who.phone}",
        who.notes and f"Notes: {who.notes}",
    )


def _project(what: Project, called: Mapping[str, str]) -> str:
    people = [called[id] for id in what.participants if id in called]
    primary = called.get(what.primary_contact or "")
    return _lines(
        f"Project {what.name}: {what.status}, {what.priority} priority.",
        what.type and f"Type: {what.type}.",
        what.description,
        what.company and f"Company: {what.company}.",
        primary and f"Primary contact: {primary}.",
        people and f"Participants: {', '.join(people)}.",
    )


def _skill(what: Skill) -> str:
    return _lines(
        f"Skill {what.name}: {trigger(what.trigger)}{'' if what.enabled else ', disabled'}.",
        what.description,
        what.instructions,
        what.required_tools and f"Needs: {', '.join(what.required_tools)}.",
        *(f"{number}. {each}" for number, each in enumerate(what.execution_plan, start=1)),
    )


def _lines(*given: object) -> str:
    return "\n".join(str(each) for each in given if each)


def _spoken(name: str) -> str:
    return " ".join(name.replace("_", " ").split())


def _value(value: Any) -> str:
    match value:
        case Mapping():
            return ", ".join(f"{_spoken(_path(path))}: {_value(each)}" for path, each in json_patch.leaves(value))
        case list():
            return ", ".join(map(_value, value))
        case bool():
            return "yes" if value else "no"
        case None:
            return "none"
        case _:
            text = " ".join(str(value).split())
            return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _path(pointer: str) -> str:
    return pointer[1:].replace("/", " ").replace("~1", "/").replace("~0", "~")
