"""Who speaks in a namespace, and whether anybody does."""

import time
from collections.abc import Sequence
from typing import NamedTuple

from retentive.errors import Closed, StorageError
from retentive.retrieve.question import Names, names_of
from retentive.storage.conversations import Conversations

FRESH = 30.0  # seconds that a look holds. What this process appends is seen at once; a name others bring may wait


class Known(NamedTuple):
    names: Names
    talk: bool
    """Whether there are conversations at all."""


NOBODY = Known({}, talk=False)


class People:
    """Shared by all threads and views of an open store."""

    def __init__(self) -> None:
        self._speakers: dict[str, tuple[float, tuple[str, ...], Known]] = {}

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

    def changed(self, namespace: str) -> None:
        self._speakers.pop(namespace, None)

    def _look(self, conversations: Conversations, namespace: str) -> tuple[tuple[str, ...], Known]:
        now = time.monotonic()
        seen, speakers, known = self._speakers.get(namespace, (-FRESH, (), None))
        if known is None or now - seen >= FRESH:
            speakers, talk = conversations.speakers(namespace)
            known = Known(names_of(speakers), talk)
            self._speakers[namespace] = now, speakers, known
        return speakers, known
