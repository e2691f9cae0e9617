"""Fold hits that say the same into one.

Two hits are copies if their words are the same in the same order, but for stop words, case and punctuation, and they
are of one namespace; messages, if one person said both. The better one stays and tells how many there are: somebody who
reads five answers wants five.
"""

from collections.abc import Iterable
from dataclasses import replace

from retentive.model import Event, Hit
from retentive.text.terms import words

Key = tuple[str, str, tuple[str, ...]]


def fold_copies(hits: Iterable[Hit]) -> list[Hit]:
    """In the same order, each text once."""
    folded: dict[Key, Hit] = {}
    for hit in hits:
        key = _key_of(hit)
        first = folded.get(key)
        folded[key] = replace(first, copies=first.copies + hit.copies + 1) if first else hit
    return [*folded.values()]


def _key_of(hit: Hit) -> Key:
    speaker = f"{hit.item.role} {hit.item.speaker or ''}" if isinstance(hit.item, Event) else ""
    return hit.item.namespace, speaker, tuple(words(hit.excerpt, limit=1000))
