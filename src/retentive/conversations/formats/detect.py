"""Reading the chat logs people have: which format a file is in, and the conversations in it, with names and numbers."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from retentive.conversations.formats import accounts, openai, plain
from retentive.conversations.formats.source import Document, documents
from retentive.conversations.formats.values import LONGEST_NAME, Found, Record, label
from retentive.errors import Invalid
from retentive.model import Message


class Format(StrEnum):
    OPENAI = "openai"
    CLAUDE = "claude"
    CHATGPT = "chatgpt"
    PLAIN = "plain"


class Conversation(NamedTuple):
    """A session to be: its name, and messages numbered 1, 2, 3 ... by place, so that an import can be resumed."""

    id: str
    """The export's own, else the file's name without its ending; unlike all others of the file."""
    title: str | None
    created: datetime | None
    messages: Sequence[Message]


_PARSERS: Mapping[Format, Callable[[Iterable[Record]], Iterator[Found]]] = {
    Format.OPENAI: openai.conversations,
    Format.CLAUDE: accounts.claude,
    Format.CHATGPT: accounts.chatgpt,
}
_FORMATS = """openai (messages with role and content, JSON or JSON Lines), claude or chatgpt (conversations.json, or \
the zip they send), plain (lines `Name: text`)"""


def read(path: Path, format: Format | None = None, me: str | None = None) -> Iterator[Conversation]:
    """The conversations of a file, in its order, without empty ones. The format is recognised unless given.

    `me` says whose words are the user's in plain text; other formats say it themselves. What is wrong with a file is
    `Invalid` with its place, at the latest when the reading gets there: earlier conversations are then out already.
    """
    names = _Names(label(path.stem) or "chat")
    for document in documents(path):
        for found in _found(document, format, me):
            if messages := _numbered(found.messages):
                yield Conversation(names.unique(found.id), found.title, found.created, messages)


def _found(document: Document, format: Format | None, me: str | None) -> Iterator[Found]:
    if format is Format.PLAIN or (format is None and not document.is_json):
        yield _plain(document, me, recognised=format is not None)
        return
    if not document.is_json:
        raise Invalid(f"{document.name} is not JSON, as {format} is", f"There are: {_FORMATS}.")
    records = document.records()
    first = next(records, None)
    if first is not None:
        parse = _PARSERS[format or _recognised(first, document)]
        yield from parse(chain([first], records))


def _plain(document: Document, me: str | None, *, recognised: bool) -> Found:
    text = document.text()
    if not recognised and not plain.is_chat(text):
        raise _unknown(document)
    return plain.conversation(text, document.name, me)


def _recognised(first: Record, document: Document) -> Format:
    format = _shape(first.value)
    if format is None:
        raise _unknown(document)
    return format


def _shape(value: Any) -> Format | None:
    """The format that has such a value."""
    match value:
        case {"mapping": dict() | None}:
            return Format.CHATGPT
        case {"chat_messages": list() | None}:
            return Format.CLAUDE
        case {"messages": list() | None}:
            return Format.OPENAI
        case [first, *_] if openai.is_message(first):
            return Format.OPENAI
    return Format.OPENAI if openai.is_message(value) else None


def _unknown(document: Document) -> Invalid:
    return Invalid(f"cannot tell what format {document.name} has", f"Say it with --format: {_FORMATS}.")


def _numbered(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Those that say anything, with their places."""
    kept = (each for each in messages if each.content.strip() or each.payload is not None)
    return tuple(each._replace(sequence=number) for number, each in enumerate(kept, 1))


class _Names:
    """Names for the conversations of one file, no two alike: two sessions of one name would become one."""

    def __init__(self, default: str) -> None:
        self._default = default
        self._given: dict[str, int] = {}

    def unique(self, wanted: str | None) -> str:
        name = first = wanted or self._default
        while name in self._given:
            self._given[first] += 1
            ending = f"-{self._given[first]}"
            name = first[: LONGEST_NAME - len(ending)] + ending
        self._given[name] = 1
        return name
