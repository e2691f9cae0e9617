"""Values of a store that a word of the command line may become."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from retentive.api import Retentive
from retentive.cli.args import Arguments
from retentive.cli.backup import find_missing_store
from retentive.cli.completion import Suggestion
from retentive.ids import shorten_id
from retentive.model import Contact, Project, Skill, Status
from retentive.surface.field import Field
from retentive.surface.verb import Verb

MAX_SUGGESTIONS = 200  # rows that are read of a table, the newest first
MAX_HELP_CHARS = 60  # of a text beside an id
Row = tuple[str, str]
"""An id and a text."""


def read_suggestions(field: Field, given: Mapping[str, str], incomplete: str) -> list[Suggestion]:
    """Read the values of a field. The store is not created, and its model is not loaded."""
    if find_missing_store(Arguments(Verb("completion", ""), dict(given))):
        return []
    namespace = given.get("namespace")
    with Retentive.open(given.get("db"), namespace=namespace, embedder="none") as memory:
        if field.type == "session":
            return [Suggestion(each.id) for each in memory.sessions.list(MAX_SUGGESTIONS)]
        if field.type == "namespace":
            return [Suggestion(each) for each in ("auto", *memory.namespaces())]
        rows = ROWS[field.of](memory)
        return [_make_suggestion(id, text, incomplete) for id, text in rows]


def _make_suggestion(id: str, text: str, incomplete: str) -> Suggestion:
    """Suggest an id as it is shown. Who has begun to type a whole id gets the whole one."""
    short = shorten_id(id)
    is_whole = bool(incomplete) and id.startswith(incomplete) and not short.startswith(incomplete)
    return Suggestion(id if is_whole else short, " ".join(text.split())[:MAX_HELP_CHARS])


def _list_memories(memory: Retentive) -> Iterator[Row]:
    return ((each.id, each.content) for each in memory.list(MAX_SUGGESTIONS, status=tuple(Status)))


def _name_records(records: Iterable[Contact | Project | Skill]) -> Iterator[Row]:
    """Yield records by their names. A name of several words would need quotation marks: its id is suggested."""
    return ((each.id if " " in each.name else each.name, each.name) for each in records)


ROWS: dict[str, Callable[[Retentive], Iterable[Row]]] = {
    "memory": _list_memories,
    "anything": _list_memories,
    "note": lambda memory: ((each.id, each.content) for each in memory.notes.list(MAX_SUGGESTIONS)),
    "proposal": lambda memory: ((each.id, each.reason) for each in memory.proposals.list(MAX_SUGGESTIONS)),
    "expectation": lambda memory: ((each.id, each.question) for each in memory.expectations.list()),
    "token": lambda memory: ((each.id, each.name or each.namespace) for each in memory.tokens.list()),
    "file": lambda memory: ((each.path, each.title) for each in memory.files.list(MAX_SUGGESTIONS)),
    "contact": lambda memory: _name_records(memory.contacts.list(MAX_SUGGESTIONS)),
    "project": lambda memory: _name_records(memory.projects.list(MAX_SUGGESTIONS)),
    "skill": lambda memory: _name_records(memory.skills.list(MAX_SUGGESTIONS)),
}
"""The rows of each kind of id."""
