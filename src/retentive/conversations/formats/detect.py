"""Read chat logs: recognise the format of a file, and return its conversations with names and numbered messages."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from retentive.conversations.formats import accounts, openai, plain
from retentive.conversations.formats.source import Document, read_documents
from retentive.conversations.formats.values import MAX_NAME_CHARS, ParsedConversation, Record, clean_name
from retentive.errors import Invalid
from retentive.model import Message


class Format(StrEnum):
    OPENAI = "openai"
    CLAUDE = "claude"
    CHATGPT = "chatgpt"
    PLAIN = "plain"


class Conversation(NamedTuple):
    """A future session: its name, and messages numbered 1, 2, 3 ... so that an import can be resumed."""

    id: str
    """The export's own, else the file's name without its ending; unlike all others of the file."""
    title: str | None
    created: datetime | None
    messages: Sequence[Message]


_PARSERS: Mapping[Format, Callable[[Iterable[Record]], Iterator[ParsedConversation]]] = {
    Format.OPENAI: openai.parse_conversations,
    Format.CLAUDE: accounts.parse_claude,
    Format.CHATGPT: accounts.parse_chatgpt,
}
_FORMATS = """openai (messages with role and content, JSON or JSON Lines), claude or chatgpt (conversations.json, or \
the zip they send), plain (lines `Name: text`)"""


def read_conversations(path: Path, format: Format | None = None, me: str | None = None) -> Iterator[Conversation]:
    """Yield the conversations of a file in order, without empty ones. The format is recognised unless given.

    `me` is the name of the user in plain text; other formats mark the user themselves. A fault raises `Invalid` with
    its place, at the latest when reading gets there: earlier conversations were yielded by then.
    """
    names = _UniqueNames(clean_name(path.stem) or "chat")
    for document in read_documents(path):
        for found in _parse_document(document, format, me):
            if messages := _number_messages(found.messages):
                yield Conversation(names.unique(found.id), found.title, found.created, messages)


def _parse_document(document: Document, format: Format | None, me: str | None) -> Iterator[ParsedConversation]:
    if format is Format.PLAIN or (format is None and not document.is_json):
        yield _parse_plain(document, me, recognised=format is not None)
        return
    if not document.is_json:
        raise Invalid(f"{document.name} is not JSON, as {format} is", f"Choose one of: {_FORMATS}.")
    records = document.records()
    first = next(records, None)
    if first is not None:
        parse = _PARSERS[format or _detect_format(first, document)]
        yield from parse(chain([first], records))


def _parse_plain(document: Document, me: str | None, *, recognised: bool) -> ParsedConversation:
    text = document.text()
    if not recognised and not plain.is_chat(text):
        raise _unknown_format(document)
    return plain.parse_conversation(text, document.name, me)


def _detect_format(first: Record, document: Document) -> Format:
    format = _match_format(first.value)
    if format is None:
        raise _unknown_format(document)
    return format


def _match_format(value: Any) -> Format | None:
    """Return the format that has such a value."""
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


def _unknown_format(document: Document) -> Invalid:
    return Invalid(f"the format of {document.name} is not recognised", f"Give it as `format=NAME`: {_FORMATS}.")


def _number_messages(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Return the messages that are not empty, numbered."""
    kept = (each for each in messages if each.content.strip() or each.payload is not None)
    return tuple(each._replace(sequence=number) for number, each in enumerate(kept, 1))


class _UniqueNames:
    """Gives the conversations of one file unique names: two sessions of one name would become one."""

    def __init__(self, default: str) -> None:
        self._default = default
        self._given: dict[str, int] = {}

    def unique(self, wanted: str | None) -> str:
        name = first = wanted or self._default
        while name in self._given:
            self._given[first] += 1
            ending = f"-{self._given[first]}"
            name = first[: MAX_NAME_CHARS - len(ending)] + ending
        self._given[name] = 1
        return name
