"""Is a claim about the person or about the project? For requests, and for what a language model found."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from retentive.errors import EmbedError
from retentive.memories.corrections import is_judged
from retentive.model import Claim, Event, Role
from retentive.store import OpenStore
from retentive.store.person import find_person

_USER = re.compile(r"\b[Tt]he user('s)?(?=\W|$)")
_PLURAL = re.compile(r"\b(?:we|our|ours|us|we're|we've|let's)\b", re.IGNORECASE)
_SINGULAR = re.compile(r"\b(?:i|my|me|mine|myself|i'm|i've|i'd|i'll)\b", re.IGNORECASE)


def judge_claims(store: OpenStore, claims: Sequence[Claim], events: Sequence[Event]) -> list[Claim]:
    """The claims with the probability that each is about the person, judged by its text and its message.

    For requests, and for what a language model found: other claims were judged where they were found.
    """
    if not claims or find_person(store) is None:
        return [*claims]
    said = {event.sequence: event.content for event in events if event.role is Role.USER}
    texts = [make_first_person(claim.content, _source_text(claim, said)) for claim in claims]
    vectors = _embed(store, texts)
    judge = store.rules().score_personal
    return [
        replace(claim, personal=round(judge(text, vector), 2))
        for claim, text, vector in zip(claims, texts, vectors, strict=True)
    ]


def make_first_person(text: str, source: str) -> str:
    """A statement about "the user" in the first person, as the judge knows them; plural if its source says "we"."""
    is_plural = bool(_PLURAL.search(source)) and not _SINGULAR.search(source)
    subject, owner = ("We", "Our") if is_plural else ("I", "My")
    return _USER.sub(lambda found: owner if found[1] else subject, text)


def _source_text(claim: Claim, said: dict[int, str]) -> str:
    return "\n".join(said[number] for number in claim.events if number in said)


def _embed(store: OpenStore, texts: Sequence[str]) -> Sequence[Any]:
    """The vectors for the judge; None for each where it does not know the model, or there is none."""
    if store.embedder is not None and is_judged(store):
        try:
            return [*store.embedder.embed(texts)]
        except EmbedError as error:
            store.journal.failed("embed", error)
    return [None] * len(texts)


def is_of_several(events: Sequence[Event]) -> bool:
    """Whether several people talk: then nobody says which of them the person is."""
    return len({event.speaker for event in events if event.role is Role.USER}) > 1
