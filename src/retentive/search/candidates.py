"""Candidates: the stored items that matches are chunks of. `HitLoader` loads each once in a search."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from retentive.errors import DamagedRow
from retentive.model import Event, ItemType, Match, Memory, Passage, Record, Role, Scope
from retentive.records.fields import RECORD_TYPES, is_ignored, read_record
from retentive.search.question import Person
from retentive.search.signals import CandidateTraits
from retentive.storage.damage import decode_intact, report_damage
from retentive.storage.tables.conversations import EventRow
from retentive.store import OpenStore
from retentive.text.chunk import CHUNK_SIZE
from retentive.text.terms import split_words

_AFTER_QUESTION_MARK = " \t\n\"')]*_”’»"  # noqa: RUF001 - closing quotes and brackets
_QUESTION_MARKS = ("?", "？", "؟")  # noqa: RUF001 - also Chinese and Japanese, Arabic


class Candidate(NamedTuple):
    """A stored item, the chunk of it that matched, and for a message the first and last sequence of its copies."""

    item: Memory | Event | EventRow | Record | Passage
    excerpt: str
    span: tuple[int, int] | None

    def make_item(self) -> Memory | Event | Record | Passage | None:
        """The item as a hit shows it; None if it is damaged, which is reported."""
        if not isinstance(self.item, EventRow):
            return self.item
        try:
            return self.item.event()
        except DamagedRow as error:
            report_damage(error)
            return None

    @property
    def searchable_text(self) -> str:
        """All text in which words of the question may be found."""
        match self.item:
            case Memory() as memory:
                return " ".join((self.excerpt, memory.context or "", *memory.tags))
            case Passage() as passage:
                return passage.searchable_text
            case Record():
                return self.excerpt
            case message:
                return f"{self.excerpt} {message.speaker or ''}"

    def asks(self) -> bool:
        """Whether it is a message that ends in a question."""
        if isinstance(self.item, Memory | Record | Passage):
            return False
        return self.excerpt.rstrip(_AFTER_QUESTION_MARK).endswith(_QUESTION_MARKS)

    @property
    def is_reply(self) -> bool:
        """Whether it is a message of an assistant."""
        return not isinstance(self.item, Memory | Record | Passage) and self.item.role == Role.ASSISTANT

    def read_traits(self, person: Person | None, related: float = 0.0) -> CandidateTraits:
        """Read what the ranking needs. `related` is the share of the question's words that the text has."""
        share = person.share(self.item) if person else 0.0
        by_name, by_role = (share, 0.0) if person and person.speaker else (0.0, share)
        if isinstance(self.item, Memory | Record | Passage):
            return CandidateTraits(by_name, by_role, related=related)
        words = len(self.excerpt.split()) if self.excerpt.isascii() else len(split_words(self.excerpt))
        return CandidateTraits(by_name, by_role, words, self.asks(), self.is_reply, related)


class HitLoader:
    """Loads the items of matches, as far as the scope still sees them: the index may be a moment behind."""

    def __init__(self, store: OpenStore, scope: Scope) -> None:
        self._store, self._scope = store, scope
        self._loaded: dict[int, Candidate | None] = {}

    def load(self, matches: Iterable[Match]) -> None:
        """Load the items that were not loaded before."""
        wanted = [match for match in matches if match.chunk not in self._loaded]
        if not wanted:
            return
        self._loaded.update(dict.fromkeys(match.chunk for match in wanted))
        self._load_memories([match for match in wanted if match.type == ItemType.MEMORY])
        if chunks := [match.chunk for match in wanted if match.type == ItemType.EVENT]:
            messages = self._store.tables.conversations.list_event_rows(chunks, self._scope)
            self._loaded.update((chunk, make_candidate(message)) for chunk, message in messages.items())
        self._load_records([match for match in wanted if match.type in RECORD_TYPES])
        if chunks := [match.chunk for match in wanted if match.type == ItemType.FILE]:
            passages = self._store.tables.files.list_passages(chunks, self._scope)
            self._loaded.update((chunk, Candidate(each, each.content, None)) for chunk, each in passages.items())

    def get(self, chunk: int) -> Candidate | None:
        """The candidate of a chunk; None if it was not loaded, or may not be seen any more."""
        return self._loaded.get(chunk)

    def load_all(self, matches: Sequence[Match]) -> dict[int, Candidate]:
        """Load the items of matches and return those that may be seen, by chunk."""
        self.load(matches)
        return {match.chunk: candidate for match in matches if (candidate := self.get(match.chunk))}

    def _load_memories(self, matches: Sequence[Match]) -> None:
        if not matches:
            return
        owners = {match.chunk: (match.namespace, match.owner) for match in matches}
        memories = self._store.tables.memories.list_by_ids([owner for _, owner in owners.values()], self._scope)
        visible = {chunk: memories[owner] for chunk, owner in owners.items() if owner in memories}
        long = [chunk for chunk, memory in visible.items() if len(memory.content) > CHUNK_SIZE]
        texts = self._store.tables.chunks.list_texts(self._scope.namespaces, long)
        for chunk, memory in visible.items():
            self._loaded[chunk] = Candidate(memory, texts.get(chunk, memory.content), None)

    def _load_records(self, matches: Sequence[Match]) -> None:
        if not matches:
            return
        rows = self._store.tables.records.list_of_matches(matches, self._scope)
        texts = self._store.tables.chunks.list_texts(self._scope.namespaces, [match.chunk for match in matches])
        visible = {key: row for key, row in rows.items() if self._scope.filter.ignored or not is_ignored(row)}
        records = {(each.namespace, each.TYPE, each.id): each for each in decode_intact(visible.values(), read_record)}
        for match in matches:
            record = records.get((match.namespace, ItemType(match.type), match.owner))
            if record and match.chunk in texts:
                self._loaded[match.chunk] = Candidate(record, texts[match.chunk], None)


def make_candidate(message: EventRow) -> Candidate:
    return Candidate(message, message.excerpt, (message.first, message.last))
