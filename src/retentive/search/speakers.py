"""The cache of who speaks in each namespace, and whether there are conversations at all."""

import threading
import time
from collections.abc import Collection, Sequence
from typing import NamedTuple

from retentive.errors import Closed, StorageError, Unwritable
from retentive.search.question import Names, index_names
from retentive.storage.tables.conversations import Conversations

FRESH_SECONDS = 30.0  # of a cached entry. Names of other processes may wait; those of this one are seen at once
MAX_NAMESPACES = 1000  # in the cache: a server may have one for each user


class Speakers(NamedTuple):
    """The names of those who speak in some namespaces."""

    names: Names
    has_conversations: bool
    """Whether there are conversations at all."""


NOBODY = Speakers({}, has_conversations=False)


class SpeakerCache:
    """Caches the speakers of namespaces. Shared by all threads and views of an open store."""

    def __init__(self) -> None:
        self._entries: dict[str, tuple[float, tuple[str, ...], Speakers]] = {}
        self._lock = threading.Lock()
        self._version: object = object()
        """Replaced with each new name. A read that began before it is not cached."""

    def load(self, conversations: Conversations, namespaces: Sequence[str]) -> Speakers:
        """The speakers of some namespaces together; nobody if they cannot be read, as a search must not fail for it."""
        try:
            found = [self._read_namespace(conversations, namespace) for namespace in dict.fromkeys(namespaces)]
        except (Closed, Unwritable):
            raise
        except StorageError:
            return Speakers({}, has_conversations=True)
        if len(found) == 1:
            return found[0][1]
        names = index_names(speaker for speakers, _ in found for speaker in speakers)
        return Speakers(names, any(known.has_conversations for _, known in found))

    def note_speakers(self, namespace: str, speakers: Collection[str | None]) -> None:
        """Note who spoke. Only a new speaker drops the entry: on a server another read is a round trip."""
        with self._lock:
            _, names, known = self._entries.get(namespace, (0.0, (), None))
            if known is None or not known.has_conversations or not {*speakers} <= {None, *names}:
                self._version = object()
                self._entries.pop(namespace, None)

    def _read_namespace(self, conversations: Conversations, namespace: str) -> tuple[tuple[str, ...], Speakers]:
        now = time.monotonic()
        seen, speakers, known = self._entries.get(namespace, (-FRESH_SECONDS, (), None))
        if known is None or now - seen >= FRESH_SECONDS:
            version = self._version
            speakers, has_conversations = conversations.speakers(namespace)
            known = Speakers(index_names(speakers), has_conversations)
            self._cache(namespace, (now, speakers, known), version)
        return speakers, known

    def _cache(self, namespace: str, entry: tuple[float, tuple[str, ...], Speakers], version: object) -> None:
        with self._lock:
            if len(self._entries) >= MAX_NAMESPACES:
                self._entries.clear()
            if self._version is version:
                self._entries[namespace] = entry
