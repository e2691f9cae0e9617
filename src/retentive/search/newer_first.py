"""Places hits that belong together: the newer one above the one that it replaced, or may replace.

A pair takes the better place of its two hits, and both have the better score. `Why.pair` is the score that was added
for it, so that the hits stay in the order of their scores and each score can still be computed.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from retentive.model import Hit

Key = tuple[str, str, str]
"""Namespace, type and id of a hit."""


def key_of(hit: Hit) -> Key:
    return hit.item.namespace, hit.type, hit.id


def join_pairs(hits: Sequence[Hit], newer_of: Mapping[Key, Key], added: Mapping[Key, Hit]) -> list[Hit]:
    """Move each pair together; `added` are newer hits that the search did not find."""
    known = {**added, **{key_of(hit): hit for hit in hits}}
    pairs = {older: newer for older, newer in newer_of.items() if older in known and newer in known}
    older_of: dict[Key, list[Key]] = {}
    for key in known:
        if key in pairs:
            older_of.setdefault(pairs[key], []).append(key)
    placed: dict[Key, Hit] = {}
    for hit in hits:
        group = [each for each in _descend(_newest(key_of(hit), pairs), older_of) if each not in placed]
        if len(group) == 1:
            placed[group[0]] = known[group[0]]
            continue
        score = max((known[key].score for key in group), default=0.0)
        relevance = 0.0
        for key in reversed(group):
            relevance = max(relevance, known[key].relevance)
            newer = replace(known[key], relevance=relevance) if key in older_of else known[key]
            known[key] = raise_score(newer, score)
        placed |= {key: known[key] for key in group}
    return [*placed.values()]


def lift_newer(hits: Sequence[Hit], newer_of: Mapping[Key, Collection[Key]]) -> list[Hit]:
    """Move a hit up to the message it made outdated, if it is among the hits and none stands above that yet."""
    ordered = {key_of(hit): hit for hit in hits}
    for older, newer in newer_of.items():
        places = {key: place for place, key in enumerate(ordered)}
        first = min((key for key in newer if key in places), key=places.__getitem__, default=None)
        if older not in places or first is None or places[first] < places[older]:
            continue
        lifted = raise_score(ordered.pop(first), ordered[older].score)
        above = [*ordered.items()]
        above.insert(places[older], (first, lifted))
        ordered = dict(above)
    return [*ordered.values()]


def raise_score(hit: Hit, score: float) -> Hit:
    """Give a hit the score of its pair, and say so in its why."""
    why = replace(hit.why, pair=hit.why.pair + score - hit.score)
    return replace(hit, score=score, why=why)


def _newest(key: Key, newer_of: Mapping[Key, Key]) -> Key:
    """Follow proposals from older to newer; two that name each other end it."""
    seen = {key}
    while (newer := newer_of.get(key)) and newer not in seen:
        seen.add(newer)
        key = newer
    return key


def _descend(key: Key, older_of: Mapping[Key, Sequence[Key]]) -> Iterator[Key]:
    """Yield a hit, then those below it, each once."""
    seen: set[Key] = set()
    waiting = [key]
    while waiting:
        key = waiting.pop()
        if key not in seen:
            seen.add(key)
            yield key
            waiting += reversed(older_of.get(key, ()))
