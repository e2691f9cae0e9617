"""Judge whether a claim is about the person or the project, for requests and the claims of a language model."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from retentive.errors import EmbedError
from retentive.memories.corrections import has_trained_vectors
from retentive.model import Claim, Event, Role
from retentive.store import OpenStore
from retentive.store.person import open_person_store

_THE_USER = re.compile(r"\b[Tt]he user('s)?(?=\W|$)")
_PLURAL_PRONOUN = re.compile(r"\b(?:we|our|ours|us|we're|we've|let's)\b", re.IGNORECASE)
_SINGULAR_PRONOUN = re.compile(r"\b(?:i|my|me|mine|myself|i'm|i've|i'd|i'll)\b", re.IGNORECASE)


def judge_claims(store: OpenStore, claims: Sequence[Claim], events: Sequence[Event]) -> list[Claim]:
    """Set the probability that each claim is about the person, judged by its text and its message.

    Claims that rules find in a conversation are judged there (`judgement/extract/choose.py`).
    """
    if not claims or open_person_store(store) is None:
        return [*claims]
    said = {event.sequence: event.content for event in events if event.role is Role.USER}
    texts = [make_first_person(claim.content, _join_messages(claim, said)) for claim in claims]
    vectors = compute_judge_vectors(store, texts) or [None] * len(texts)
    judge = store.rules().score_personal
    return [
        replace(claim, personal=round(judge(text, vector), 2))
        for claim, text, vector in zip(claims, texts, vectors, strict=True)
    ]


def make_first_person(text: str, source: str) -> str:
    """Put a statement about "the user" in the first person, as the judge needs it; plural if its source says "we"."""
    is_plural = bool(_PLURAL_PRONOUN.search(source)) and not _SINGULAR_PRONOUN.search(source)
    subject, owner = ("We", "Our") if is_plural else ("I", "My")
    return _THE_USER.sub(lambda found: owner if found[1] else subject, text)


def _join_messages(claim: Claim, said: dict[int, str]) -> str:
    return "\n".join(said[number] for number in claim.events if number in said)


def compute_judge_vectors(store: OpenStore, texts: Sequence[str]) -> list[Any]:
    """The vectors of texts; an empty list without an embedder that the judges were trained on, or if it fails."""
    return compute_vectors(store, texts) if has_trained_vectors(store) else []


def compute_vectors(store: OpenStore, texts: Sequence[str]) -> list[Any]:
    """The vectors of texts; an empty list if there is no embedder, or it fails."""
    if not texts or store.embedder is None:
        return []
    try:
        return [*store.embedder.embed(texts)]
    except EmbedError as error:
        store.journal.record_failure("embed", error)
        return []


def has_several_speakers(events: Sequence[Event]) -> bool:
    """Whether several people talk: then it is unknown which of them is the person."""
    return len({event.speaker for event in events if event.role is Role.USER}) > 1
