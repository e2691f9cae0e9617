"""The policy for secrets: texts with one are refused, redacted or allowed, as the settings say.

The rules are loaded by the first text that is written: compiling them takes 40 ms, and reading needs none.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Literal

from retentive.errors import SecretFound
from retentive.model import Draft, Message, Traits
from retentive.store import OpenStore
from retentive.surface.memory import FREE_TEXT_FIELDS
from retentive.text.normalize import hash_content

REDACTION_PREFIX = "[redacted: "  # of the words that replace a secret


def apply_policy(store: OpenStore, text: str, what: str) -> str:
    """Return the text as it may be kept, or raise `SecretFound`. Messages and files have a setting of their own."""
    from retentive.text import secrets

    is_message = what in ("message", "file")
    policy = store.config.secrets_in_messages if is_message else store.config.secrets_in_memories
    found = secrets.find_secrets(text) if policy != "allow" else ()
    if not found:
        return text
    if policy == "refuse":
        rules = ", ".join(dict.fromkeys(each.rule for each in found))
        hint = f"Remove the secret, or set secrets_in_{_PLURAL[what]} to redact or allow."
        raise SecretFound(f"the {what} holds a secret ({rules})", hint)
    return secrets.redact_secrets(text, found, lines=what == "file")


def apply_policy_to_pieces(store: OpenStore, pieces: Sequence[str], what: Literal["file"]) -> list[str]:
    """Apply the policy to the pieces of one text: a secret may span several. Line breaks are kept."""
    lines = iter(apply_policy(store, "\n".join(pieces), what).split("\n"))
    return ["\n".join(islice(lines, 1 + piece.count("\n"))) for piece in pieces]


def apply_policy_to_draft(store: OpenStore, given: Draft) -> Draft:
    """Apply the policy to a memory."""
    from retentive.text import secrets

    if store.config.secrets_in_memories == "allow":
        return given
    fields = _list_text_fields(given.traits)
    if not fields and not secrets.may_hold_secret(given.content):
        return given
    content = apply_policy(store, given.content, "memory")
    safe = apply_policy_to_json(store, fields, "memory") if fields else fields
    traits = given.traits if safe == fields else replace(given.traits, **safe)
    if content is given.content and traits is given.traits:
        return given
    return given._replace(content=content, content_hash=hash_content(content), traits=traits)


def _list_text_fields(traits: Traits) -> dict[str, Any]:
    """The fields beside the content in which callers may have written a secret."""
    return {name: value for name in (*FREE_TEXT_FIELDS, "origin") if (value := getattr(traits, name))}


def apply_policy_to_message(store: OpenStore, given: Message) -> Message:
    """Apply the policy to a message and its payload."""
    if store.config.secrets_in_messages == "allow":
        return given
    return given._replace(
        content=apply_policy(store, given.content, "message"),
        payload=apply_policy_to_json(store, given.payload, "message"),
        tags=apply_policy_to_json(store, given.tags, "message"),
    )


def apply_policy_to_json(store: OpenStore, value: Any, what: str) -> Any:
    """Apply the policy to all texts in a JSON value. A key may say that its value is secret: `{"password": ...}`."""
    if isinstance(value, str):
        return apply_policy(store, value, what)
    if isinstance(value, dict):
        return {apply_policy(store, key, what): _apply_to_value(store, key, each, what) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(apply_policy_to_json(store, each, what) for each in value)
    return value


def _apply_to_value(store: OpenStore, key: str, value: Any, what: str) -> Any:
    """Apply the policy to a value together with its key."""
    if not isinstance(value, str):
        return apply_policy_to_json(store, value, what)
    name = f"{key}: "
    return apply_policy(store, apply_policy(store, name + value, what).removeprefix(name), what)


_PLURAL = {"memory": "memories", "message": "messages", "file": "messages", "question": "memories"}
