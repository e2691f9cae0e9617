"""What matches are slices of, read from the store; each once in a search."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from retentive.errors import DamagedRow
from retentive.model import Event, Match, Memory, Passage, Record, Role, Scope, Type
from retentive.records.fields import SHAPES, is_ignored, read_record
from retentive.search.blend import Trait
from retentive.search.question import Person
from retentive.storage.damage import intact, report_damage
from retentive.storage.tables.conversations import Said
from retentive.store import OpenStore
from retentive.text.chunk import CHUNK_SIZE
from retentive.text.terms import tokens

_CLOSING = " \t\n\"')]*_”’»"  # noqa: RUF001 - what may stand behind a question mark
_ASKING = ("?", "？", "؟")  # noqa: RUF001 - of Chinese and Japanese, of Arabic


class Found(NamedTuple):
    """What was found, the slice of it that matched, and of an event the first and last time it was said."""

    of: Memory | Event | Said | Record | Passage
    excerpt: str
    span: tuple[int, int] | None

    def make_item(self) -> Memory | Event | Record | Passage | None:
        """As it is shown; None, and reported, if it is damaged."""
        if not isinstance(self.of, Said):
            return self.of
        try:
            return self.of.event()
        except DamagedRow as error:
            report_damage(error)
            return None

    @property
    def told(self) -> str:
        """All that its words may be found in."""
        match self.of:
            case Memory() as memory:
                return " ".join((self.excerpt, memory.context or "", *memory.tags))
            case Passage() as passage:
                return passage.told
            case Record():
                return self.excerpt
            case said:
                return f"{self.excerpt} {said.speaker or ''}"

    def asks(self) -> bool:
        """Whether it is a message that ends in a question."""
        return not isinstance(self.of, Memory | Record | Passage) and self.excerpt.rstrip(_CLOSING).endswith(_ASKING)

    @property
    def is_reply(self) -> bool:
        """Whether it is a message of an assistant."""
        return not isinstance(self.of, Memory | Record | Passage) and self.of.role == Role.ASSISTANT

    def trait(self, person: Person | None, related: float = 0.0) -> Trait:
        """What a ranking asks about it. `related` is the share of the question's words that it has."""
        share = person.share(self.of) if person else 0.0
        by_name, by_role = (share, 0.0) if person and person.speaker else (0.0, share)
        if isinstance(self.of, Memory | Record | Passage):
            return Trait(by_name, by_role, related=related)
        words = len(self.excerpt.split()) if self.excerpt.isascii() else len(tokens(self.excerpt))
        return Trait(by_name, by_role, words, self.asks(), self.is_reply, related)


class Reader:
    """Reads what matches stand for, as far as the scope still sees it: the index may be a moment behind."""

    def __init__(self, store: OpenStore, scope: Scope) -> None:
        self._store, self._scope = store, scope
        self._read: dict[int, Found | None] = {}

    def read(self, matches: Iterable[Match]) -> None:
        """Those that were not read before."""
        wanted = [match for match in matches if match.chunk not in self._read]
        if not wanted:
            return
        self._read.update(dict.fromkeys(match.chunk for match in wanted))
        self._memories([match for match in wanted if match.type == Type.MEMORY])
        if chunks := [match.chunk for match in wanted if match.type == Type.EVENT]:
            said = self._store.tables.conversations.said(chunks, self._scope)
            self._read.update((chunk, as_found(each)) for chunk, each in said.items())
        self._records([match for match in wanted if match.type in SHAPES])
        if chunks := [match.chunk for match in wanted if match.type == Type.FILE]:
            found = self._store.tables.files.passages(chunks, self._scope)
            self._read.update((chunk, Found(each, each.content, None)) for chunk, each in found.items())

    def get(self, chunk: int) -> Found | None:
        """None: it was not read, or may not be seen any more."""
        return self._read.get(chunk)

    def _memories(self, matches: Sequence[Match]) -> None:
        if not matches:
            return
        owners = {match.chunk: (match.namespace, match.owner) for match in matches}
        memories = self._store.tables.memories.some([owner for _, owner in owners.values()], self._scope)
        seen = {chunk: memories[owner] for chunk, owner in owners.items() if owner in memories}
        long = [chunk for chunk, memory in seen.items() if len(memory.content) > CHUNK_SIZE]
        slices = self._store.tables.chunks.texts(self._scope.namespaces, long)
        self._read.update(
            (chunk, Found(memory, slices.get(chunk, memory.content), None)) for chunk, memory in seen.items()
        )

    def _records(self, matches: Sequence[Match]) -> None:
        if not matches:
            return
        rows = self._store.tables.records.some(matches, self._scope)
        slices = self._store.tables.chunks.texts(self._scope.namespaces, [match.chunk for match in matches])
        seen = {key: row for key, row in rows.items() if self._scope.filter.ignored or not is_ignored(row)}
        records = {(each.namespace, each.TYPE, each.id): each for each in intact(seen.values(), read_record)}
        for match in matches:
            record = records.get((match.namespace, Type(match.type), match.owner))
            if record and match.chunk in slices:
                self._read[match.chunk] = Found(record, slices[match.chunk], None)


def as_found(said: Said) -> Found:
    return Found(said, said.excerpt, (said.first, said.last))
