"""Turn a record into sentences. That text is indexed for search and shown to the model.

Each field becomes a sentence with the words that people ask by: "Who do I know at Acme?", "what is Anna's role?".
"""

from collections.abc import Collection, Mapping
from typing import Any

from retentive.model import Contact, Profile, Project, Record, Skill
from retentive.records import json_patch, schedule

MAX_LINE_VALUE_CHARS = 200  # characters of a value in a line of a profile


def render_record(record: Record, contact_names: Mapping[str, str]) -> str:
    """Return a record as text. `contact_names` has the names of the linked contacts, by id."""
    match record:
        case Contact():
            return _render_contact(record)
        case Project():
            return _render_project(record, contact_names)
        case Skill():
            return _render_skill(record)
        case Profile():
            return render_profile(profile_without_memories(record))
        case _:
            raise TypeError(type(record))


def render_profile(document: Mapping[str, Any]) -> str:
    """Return a line for each top-level name of a profile: `dog: name: Rex, age: 3`."""
    return "\n".join(f"{_spell_out(name)}: {_render_value(value)}" for name, value in document.items())


def profile_without_memories(given: Profile, memories: Collection[str] | None = None) -> Mapping[str, Any]:
    """Return the document without values that came from these memories, by default from any memory.

    A memory is found and shown by itself, so its value need not be repeated.
    """
    document: Any = given.document
    for pointer, source in given.sources.items():
        if memories is None or source["memory"] in memories:
            document = json_patch.remove_value(document, pointer)
    return document if isinstance(document, Mapping) else {}


def describe_trigger(given: Mapping[str, Any]) -> str:
    """Say when a skill runs."""
    match given:
        case {"type": "schedule", "cron": cron, **rest}:
            zone = rest.get("timezone")
            return f"runs {schedule.describe_schedule(str(cron), str(zone) if zone else None)}"
        case {"type": "event", "event": event}:
            return f"runs on the event {event}"
        case _:
            return "runs when asked"


def _render_contact(contact: Contact) -> str:
    introduction = contact.name
    if contact.role and contact.company:
        introduction += f" is {contact.role} at {contact.company}"
    elif contact.role:
        introduction += f" is {contact.role}"
    elif contact.company:
        introduction += f" is at {contact.company}"
    kind = f"a {contact.type} contact" if contact.type != "ignored" else "a contact to be ignored"
    return _join_lines(
        f"{introduction}.",
        f"{contact.name} is {kind}.",
        contact.aliases and f"Also known as {', '.join(contact.aliases)}.",
        contact.role and f"Role: {contact.role}.",
        contact.company and f"Company: {contact.company}.",
        contact.email and f"Email: {contact.email}",
        contact.phone and f"Phone: {contact.phone}",
        contact.notes and f"Notes: {contact.notes}",
    )


def _render_project(project: Project, contact_names: Mapping[str, str]) -> str:
    people = [contact_names[id] for id in project.participants if id in contact_names]
    primary = contact_names.get(project.primary_contact or "")
    return _join_lines(
        f"Project {project.name}: {project.status}, {project.priority} priority.",
        project.type and f"Type: {project.type}.",
        project.description,
        project.company and f"Company: {project.company}.",
        primary and f"Primary contact: {primary}.",
        people and f"Participants: {', '.join(people)}.",
    )


def _render_skill(skill: Skill) -> str:
    return _join_lines(
        f"Skill {skill.name}: {describe_trigger(skill.trigger)}{'' if skill.enabled else ', disabled'}.",
        skill.description,
        skill.instructions,
        skill.required_tools and f"Needs: {', '.join(skill.required_tools)}.",
        *(f"{number}. {each}" for number, each in enumerate(skill.execution_plan, start=1)),
    )


def _join_lines(*given: object) -> str:
    return "\n".join(str(each) for each in given if each)


def _spell_out(name: str) -> str:
    return " ".join(name.replace("_", " ").split())


def _render_value(value: Any) -> str:
    match value:
        case Mapping():
            return ", ".join(
                f"{_spell_out(_spell_pointer(path))}: {_render_value(each)}"
                for path, each in json_patch.iter_leaves(value)
            )
        case list():
            return ", ".join(map(_render_value, value))
        case bool():
            return "yes" if value else "no"
        case None:
            return "none"
        case _:
            text = " ".join(str(value).split())
            return text if len(text) <= MAX_LINE_VALUE_CHARS else f"{text[: MAX_LINE_VALUE_CHARS - 1]}…"


def _spell_pointer(pointer: str) -> str:
    return pointer[1:].replace("/", " ").replace("~1", "/").replace("~0", "~")
