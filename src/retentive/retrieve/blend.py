"""The legs of a search and what else speaks for an answer, as one sum.

    own     = text + vector + neighbours + person
    score   = own                                               of a memory
            = (1 - m) own + m best own of its session + length - question    of a message

a. Text: BM25 divided by that of the best row, times the root of the share of the question's words that one of the five
   best has; its square, where there are memories alone. A row that shares one word of five with the question is not a
   full answer because it is the only one.
b. Vector: the cosine itself. What has no vector yet is no nearer than the vector leg's last, and is taken as that.
c. Neighbours: what is said around a message tells what it is about. To its cosine is added by how much the one before
   it (.3) and the one after it (.15) are above the leg's last. That is the order of e + .3 previous + .15 next, but for
   the length of that sum, from the cosines that the leg gave: no other vector is read, and it is the same on every
   engine (R@10 on LoCoMo turns .839, with smoothed vectors .840).
d. Person: whom the question names said it, or the memory names them; who asks about themselves ("my ...") is rather
   answered by what the user said than by what the assistant did.
e. Session: a message counts for more in a conversation whose best message says much.
f. Length, question: a message of few words rarely holds an answer, and neither does one that asks.

The weights were fitted on LoCoMo, leaving out the conversation that was asked, and rounded towards what was best:
`python -m benchmarks.recall --fit-blend` fits them again, without that option it measures what each is worth;
`benchmarks/README.md` has the figures.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from types import MappingProxyType
from typing import NamedTuple

from retentive.model import Match, Type


@dataclass(frozen=True, slots=True)
class Recipe:
    """What counts how much, beside `vector_weight`, which divides what the two legs count."""

    depth: int = 100
    """Matches asked of each leg where there are conversations: R@10 on LoCoMo turns 30 .821, 50 .831, 100 .838."""
    pool: int = 60
    """Candidates that are read and compared. 40 .838, 60 .841, 80 .838, 100 .837."""
    names: bool = True
    """Whether names of speakers are left out of what becomes the vector, and tell whom a question is about."""
    previous: float = 0.3
    next: float = 0.15
    person: float = 0.35
    session: float = 0.4
    length: float = 0.3
    question: float = 0.05
    cover: float = 0.5
    """The text leg counts by this power of its best cover of a question. R@5 on LoCoMo: 0.5 .754, 1 .752, 1.5 .747."""
    told: float = 2.0
    """The same, where there are memories alone: of a short question one common word ("call", "long") is half. R@1 and
    MRR of facts (supersession): 0.5 .493 .862, 1 .496 .870, 1.5 .525 .901, 2 .528 .905."""


RECIPE = Recipe()
HALF = 15  # words at which a message is half as brief as an empty one
USUAL = 20  # words of a message; beside memories, which have no such share, it is neither brief nor long
COVERS = 5  # of the text leg's best that are looked at for how much of the question they have

Session = tuple[str, str]
"""Namespace and name."""


class Candidate(NamedTuple):
    """A row of either leg: its share of the best BM25, its cosine, and those around it with their recipe."""

    match: Match
    text: float
    cosine: float
    around: float
    session: Session | None


class Trait(NamedTuple):
    """What is known of a candidate once it is read. Of a memory `words` is None."""

    person: float = 0.0
    """1: it is of whom the question names. -1: it was said by another than the question means by "I" or "you"."""
    words: int | None = None
    asks: bool = False


UNREAD = Trait()
_EVENT = Type.EVENT.value  # compared with every row: a plain text is quicker


def pool(
    text: Sequence[Match],
    vector: Sequence[Match],
    vector_weight: float,
    most: int | None,
    recipe: Recipe = RECIPE,
    measured: Mapping[int, float] = MappingProxyType({}),
) -> list[Candidate]:
    """What either leg found, the best by words, meaning and neighbours first: as many as are worth comparing.

    Of the slices of one text the best, or those of a few long ones would be all that is compared. `measured` are the
    cosines of what only keyword search found.
    """
    highest, floor = text[0].score if text else 0.0, vector[-1].score if vector else 0.0
    words = {match[0]: match[1] / highest for match in text} if highest > 0 else {}
    near = {match[0]: match[1] for match in vector}
    rows = {match[0]: match for match in (*text, *vector)}
    places = {chunk: _place(match) for chunk, match in rows.items() if match[3] == _EVENT}
    said: dict[Session, dict[int, float]] = {session: {} for session, _ in places.values()}
    for chunk, cosine in reversed(near.items()):
        if chunk in places:
            session, sequence = places[chunk]
            said[session][sequence] = cosine - floor
    found = []
    for chunk, match in rows.items():
        around, whose = 0.0, None
        if chunk in places:
            whose, sequence = places[chunk]
            heard = said[whose].get
            around = recipe.previous * heard(sequence - 1, 0.0) + recipe.next * heard(sequence + 1, 0.0)
        share, cosine = words.get(chunk, 0.0), near.get(chunk, measured.get(chunk, floor))
        likely = (1 - vector_weight) * share + vector_weight * (cosine + around)
        found.append((likely, (match, share, cosine, around, whose)))
    found.sort(key=itemgetter(0), reverse=True)
    best: dict[tuple[str, str, str], Candidate] = {}
    for _, each in found:
        if len(best) == most:
            break
        _, _, owner, type, _, _, _, namespace = each[0]
        if (namespace, type, owner) not in best:
            best[namespace, type, owner] = Candidate._make(each)
    return [*best.values()]


class Blend:
    """What each candidate comes to.

    `traits` are by chunk, of those that were read; `cover` is how much of the question the text leg's best has.
    """

    def __init__(
        self,
        candidates: Sequence[Candidate],
        traits: Mapping[int, Trait],
        vector_weight: float,
        cover: float,
        recipe: Recipe = RECIPE,
    ) -> None:
        self._traits, self._recipe, self._vector = traits, recipe, vector_weight
        talk = any(each.session is not None for each in candidates)
        self._text = (1 - vector_weight) * math.pow(cover, recipe.cover if talk else recipe.told)
        self._candidates = {each.match.chunk: each for each in candidates}
        self._owns: dict[int, float] = {}
        self._best: dict[Session, float] = {}
        for match, text, cosine, around, session in candidates:
            person = recipe.person * traits.get(match[0], UNREAD)[0]
            own = self._owns[match[0]] = self._text * text + vector_weight * (cosine + around) + person
            if session is not None:
                self._best[session] = max(own, self._best.get(session, own))

    def scores(self) -> list[tuple[float, Match]]:
        """In no order."""
        return [(self._score(chunk, each[4]), each[0]) for chunk, each in self._candidates.items()]

    def _score(self, chunk: int, session: Session | None) -> float:
        """The sum of its shares."""
        if session is None:
            return self._owns[chunk]
        recipe, trait = self._recipe, self._traits.get(chunk, UNREAD)
        beside = recipe.length * length_of(trait[1]) - recipe.question * trait[2]
        return (1 - recipe.session) * self._owns[chunk] + recipe.session * self._best[session] + beside

    def shares(self, chunk: int) -> dict[str, float]:
        """By name; the score is their sum."""
        recipe, trait = self._recipe, self._traits.get(chunk, UNREAD)
        _, text, cosine, around, session = self._candidates[chunk]
        if session is None:
            person = {"person": recipe.person * trait.person} if trait.person else {}
            return {"text": self._text * text, "vector": self._vector * cosine, **person}
        part = 1 - recipe.session
        near = part * self._vector
        return {
            "text": part * self._text * text,
            "vector": near * cosine,
            "neighbours": near * around,
            "person": part * recipe.person * trait.person,
            "session": recipe.session * self._best[session],
            "length": recipe.length * length_of(trait.words),
            "question": -recipe.question * trait.asks,
        }


def _place(match: Match) -> tuple[Session, int]:
    """Session and sequence of a message."""
    session, _, sequence = match[2].rpartition("#")
    return (match[7], session), int(sequence)


def length_of(words: int | None) -> float:
    """Nothing for a message of usual length, less for a brief one, a little more for a long one."""
    return 0.0 if words is None else HALF / (USUAL + HALF) - HALF / (words + HALF)
