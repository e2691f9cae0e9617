"""No secret gets in: what to do where one is found is a setting.

The rules are loaded by the first text that is to be kept: compiling them takes 40 ms, and who only reads needs none.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Literal

from retentive.errors import SecretFound
from retentive.model import Draft, Message, Traits
from retentive.store import OpenStore
from retentive.text.normalize import content_hash

REDACTED = "[redacted: "  # how what stands in place of a secret begins


def guarded(store: OpenStore, text: str, what: str) -> str:
    """The text as it may be kept, by the setting for messages and files, or by that for memories and all else."""
    from retentive.text import secrets

    said = what in ("message", "file")
    policy = store.config.secrets_in_messages if said else store.config.secrets_in_memories
    found = secrets.find(text) if policy != "allow" else ()
    if not found:
        return text
    if policy == "refuse":
        rules = ", ".join(dict.fromkeys(each.rule for each in found))
        hint = f"Keep it without the secret; or set secrets_in_{_PLURAL[what]} to redact or allow."
        raise SecretFound(f"the {what} holds a secret ({rules})", hint)
    return secrets.redact(text, found, lines=what == "file")


def guarded_pieces(store: OpenStore, pieces: Sequence[str], what: Literal["file"]) -> list[str]:
    """The same for the pieces of a text, of which a secret may be in several. What is redacted keeps its lines."""
    lines = iter(guarded(store, "\n".join(pieces), what).split("\n"))
    return ["\n".join(islice(lines, 1 + piece.count("\n"))) for piece in pieces]


def draft(store: OpenStore, given: Draft) -> Draft:
    """A memory as it may be kept."""
    from retentive.text import secrets

    if store.config.secrets_in_memories == "allow":
        return given
    told = _told(given.traits)
    if not told and not secrets.suspected(given.content):
        return given
    content = guarded(store, given.content, "memory")
    safe = guarded_json(store, told, "memory") if told else told
    traits = given.traits if safe == told else replace(given.traits, **safe)
    if content is given.content and traits is given.traits:
        return given
    return given._replace(content=content, content_hash=content_hash(content), traits=traits)


def _told(traits: Traits) -> dict[str, Any]:
    """What callers wrote beside the text."""
    if not (traits.context or traits.tags or traits.metadata or traits.origin):
        return {}  # as in nearly every load
    beside = {"context": traits.context, "tags": traits.tags, "metadata": traits.metadata, "origin": traits.origin}
    return {name: value for name, value in beside.items() if value}


def message(store: OpenStore, given: Message) -> Message:
    """The same for a message, with what came along."""
    if store.config.secrets_in_messages == "allow":
        return given
    return given._replace(
        content=guarded(store, given.content, "message"), payload=guarded_json(store, given.payload, "message")
    )


def guarded_json(store: OpenStore, value: Any, what: str) -> Any:
    """The same for all texts in a JSON value, whose names may tell that they are secret: `{"password": ...}`."""
    if isinstance(value, str):
        return guarded(store, value, what)
    if isinstance(value, dict):
        return {guarded(store, key, what): _named(store, key, each, what) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(guarded_json(store, each, what) for each in value)
    return value


def _named(store: OpenStore, key: str, value: Any, what: str) -> Any:
    if not isinstance(value, str):
        return guarded_json(store, value, what)
    name = f"{key}: "
    return guarded(store, guarded(store, name + value, what).removeprefix(name), what)


_PLURAL = {"memory": "memories", "message": "messages", "file": "messages", "question": "memories"}
