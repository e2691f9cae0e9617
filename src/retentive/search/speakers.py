"""Who speaks in a namespace, and whether anybody does."""

import threading
import time
from collections.abc import Collection, Sequence
from typing import NamedTuple

from retentive.errors import Closed, StorageError
from retentive.search.question import Names, names_of
from retentive.storage.tables.conversations import Conversations

FRESH = 30.0  # seconds that a look holds. What this process appends is seen at once; a name others bring may wait
MOST = 1000  # namespaces whose speakers are remembered: a server may have one for each user


class Known(NamedTuple):
    names: Names
    talk: bool
    """Whether there are conversations at all."""


NOBODY = Known({}, talk=False)


class People:
    """Shared by all threads and views of an open store."""

    def __init__(self) -> None:
        self._speakers: dict[str, tuple[float, tuple[str, ...], Known]] = {}
        self._lock = threading.Lock()
        self._news: object = object()
        """Another one with each name that was new: a look that began before it is not remembered."""

    def of(self, conversations: Conversations, namespaces: Sequence[str]) -> Known:
        """Of these together. A search must not fail for it: what cannot be read is nobody."""
        try:
            found = [self._look(conversations, namespace) for namespace in dict.fromkeys(namespaces)]
        except Closed:
            raise
        except StorageError:
            return Known({}, talk=True)
        if len(found) == 1:
            return found[0][1]
        names = names_of(speaker for speakers, _ in found for speaker in speakers)
        return Known(names, any(known.talk for _, known in found))

    def heard(self, namespace: str, speakers: Collection[str | None]) -> None:
        """These spoke. Only a new one is worth another look: on a server it is a round trip."""
        with self._lock:
            _, known, talk = self._speakers.get(namespace, (0.0, (), None))
            if talk is None or not talk.talk or not {*speakers} <= {None, *known}:
                self._news = object()
                self._speakers.pop(namespace, None)

    def _look(self, conversations: Conversations, namespace: str) -> tuple[tuple[str, ...], Known]:
        now = time.monotonic()
        seen, speakers, known = self._speakers.get(namespace, (-FRESH, (), None))
        if known is None or now - seen >= FRESH:
            news = self._news
            speakers, talk = conversations.speakers(namespace)
            known = Known(names_of(speakers), talk)
            self._remember(namespace, (now, speakers, known), news)
        return speakers, known

    def _remember(self, namespace: str, look: tuple[float, tuple[str, ...], Known], news: object) -> None:
        with self._lock:
            if len(self._speakers) >= MOST:
                self._speakers.clear()
            if self._news is news:
                self._speakers[namespace] = look
