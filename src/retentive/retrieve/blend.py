"""The legs of a search and what else speaks for an answer, as one sum.

    own     = text + vector + neighbours + person - reply
    score   = own                                               of a memory
            = (1 - m) own + m best own of its session + length - question    of a message

a. Text: BM25 divided by that of the best row, times the root of the share of the question's words that one of the five
   best has; times a quarter, where there are memories alone. A row that shares one word of five with the question is
   not a full answer because it is the only one.
b. Vector: the cosine itself. What has no vector yet is no nearer than the vector leg's last, and is taken as that.
c. Neighbours: what is said around a message tells what it is about. To its cosine is added by how much the one before
   it (.3) and the one after it (.15) are above the leg's last. That is the order of e + .3 previous + .15 next, but for
   the length of that sum, from the cosines that the leg gave: no other vector is read, and it is the same on every
   engine (R@10 on LoCoMo turns .839, with smoothed vectors .840).
d. Person: whom the question names said it, or the memory names them; who asks about themselves ("my ...") is rather
   answered by what the user said than by what the assistant did.
e. Reply: what an assistant said counts less, and lifts its session less.
f. Session: a message counts for more in a conversation whose best message says much.
g. Length, question: a message of few words rarely holds an answer, and neither does one that asks.

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
    bare_question: float = 0.15
    """Less, beside that, for a message that is little but a question: the answer is in the reply. No set gains or loses
    by it; without it a short question would stand above its answer, because of `reply`."""
    reply: float = 0.2
    """Less for what an assistant said: a reply repeats the words of what it replies to, and rarely is what is asked.
    R@10 with 0, .2, .3: LongMemEval .702 .753 .751, BEAM .490 .545 .551; nobody replies in LoCoMo and REALTALK. But
    what the user asks is answered there, so no more than is needed."""
    cover: float = 0.5
    """The text leg counts by this power of its best cover of a question. R@5 on LoCoMo: 0.5 .754, 1 .752, 1.5 .747."""
    text_among_memories: float = 0.25
    """What the text leg counts where there are memories alone, which have few words: of a short question one common
    word ("call", "long") is half. With the square of the cover in its place, R@10 of RealMem was .468 and not .484;
    of facts .940 and of supersession .952 either way."""


RECIPE = Recipe()
HALF = 15  # words at which a message is half as brief as an empty one
USUAL = 20  # words of a message; beside memories, which have no such share, it is neither brief nor long
BARE = 12  # words below which a message that asks is little but a question
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
    is_reply: bool = False
    """Whether an assistant said it."""


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
    text_weight = (1 - vector_weight) * (1.0 if places else weigh_among_memories(vector_weight, recipe))
    found = []
    for chunk, match in rows.items():
        around, whose = 0.0, None
        if chunk in places:
            whose, sequence = places[chunk]
            heard = said[whose].get
            around = recipe.previous * heard(sequence - 1, 0.0) + recipe.next * heard(sequence + 1, 0.0)
        share, cosine = words.get(chunk, 0.0), near.get(chunk, measured.get(chunk, floor))
        likely = text_weight * share + vector_weight * (cosine + around)
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
        has_messages = any(each.session is not None for each in candidates)
        among_memories = weigh_among_memories(vector_weight, recipe)
        self._text = (1 - vector_weight) * (math.pow(cover, recipe.cover) if has_messages else among_memories)
        self._candidates = {each.match.chunk: each for each in candidates}
        self._owns: dict[int, float] = {}
        self._best: dict[Session, float] = {}
        for match, text, cosine, around, session in candidates:
            trait = traits.get(match[0], UNREAD)
            beside = recipe.person * trait[0] - recipe.reply * trait[3]
            own = self._owns[match[0]] = self._text * text + vector_weight * (cosine + around) + beside
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
        beside = recipe.length * length_of(trait[1]) - question_of(trait, recipe)
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
            "reply": -part * recipe.reply * trait.is_reply,
            "session": recipe.session * self._best[session],
            "length": recipe.length * length_of(trait.words),
            "question": -question_of(trait, recipe),
        }


def _place(match: Match) -> tuple[Session, int]:
    """Session and sequence of a message."""
    session, _, sequence = match[2].rpartition("#")
    return (match[7], session), int(sequence)


def weigh_among_memories(vector_weight: float, recipe: Recipe) -> float:
    """What keyword search counts for where there are memories alone; all, if nothing else was found."""
    return recipe.text_among_memories if vector_weight else 1.0


def question_of(trait: Trait, recipe: Recipe) -> float:
    """What a message loses because it asks."""
    if not trait.asks:
        return 0.0
    is_bare = trait.words is not None and trait.words < BARE
    return recipe.question + (recipe.bare_question if is_bare else 0.0)


def length_of(words: int | None) -> float:
    """Nothing for a message of usual length, less for a brief one, a little more for a long one."""
    return 0.0 if words is None else HALF / (USUAL + HALF) - HALF / (words + HALF)
