"""Fold messages that say the same into one hit.

Two messages are copies if one person said both in one namespace, and their words are the same in the same order, but
for case and punctuation. The better one stays and tells how many there are: somebody who reads five answers
wants five. Memories are not folded: the same text is kept once anyway, and two notes may say the same on purpose.
"""

from collections.abc import Iterable
from dataclasses import replace

from retentive.model import Event, Hit
from retentive.text.terms import split_words

Key = tuple[str, str, tuple[str, ...]]


def fold_copies(hits: Iterable[Hit]) -> list[Hit]:
    """Keep the first hit of each text, in the same order, with the number of its copies."""
    folded: dict[Key, Hit] = {}
    for hit in hits:
        key = _make_key(hit)
        first = folded.get(key)
        folded[key] = replace(first, copies=first.copies + hit.copies + 1) if first else hit
    return [*folded.values()]


def keep_first_hits(hits: Iterable[Hit]) -> list[Hit]:
    """Keep the first hit of each item, in the same order."""
    first_hits: dict[tuple[str, str], Hit] = {}
    for hit in hits:
        first_hits.setdefault((hit.item.namespace, hit.id), hit)
    return [*first_hits.values()]


def _make_key(hit: Hit) -> Key:
    item = hit.item
    if not isinstance(item, Event):
        return item.namespace, hit.type, (hit.id,)
    return item.namespace, f"{item.role} {item.speaker or ''}", tuple(split_words(hit.excerpt.lower()))
