"""One score for each candidate: a weighted sum of what speaks for it.

    own   = vector + text + related words + previous + next + person + role - reply
    score = own                                                         of a memory, a file or a record
          = own + session x best own of its session + length - question         of a message

a. Vector: the cosine of question and text. A row without a vector is taken to be as near as the last that vector
   search found.
b. Text: BM25 divided by that of the best row, times the root of the largest share of the question's words that one of
   the five best has. A row with one word of five is not a full answer because it is the only one.
c. Related words: how much of each telling word of the question the text has (`related_words.py`).
d. Previous, next: by how much the messages before and after are nearer to the question than the last that vector
   search found. A short reply says little by itself; what it replies to tells what it is about.
e. Person: a speaker whom the question names said it, or the memory names them. Role: who asks about themselves
   ("my ...") is rather answered by what the user said than by what the assistant did.
f. Reply: what an assistant said repeats the words of what it replies to, and rarely is what is asked.
g. Session: a message counts for more in a conversation whose best message says much.
h. Length, question: a message of few words rarely holds an answer, and neither does one that asks.

In talk with an assistant words count more and the message before less: it is a long reply, which repeats everything.

The weights are fitted by `python -m benchmarks.fit_ranking` (there is how, `benchmarks/README.md` has the figures) on
LongMemEval, RealMem, patha-memory and sets written for this project, each in turn left out. LoCoMo, REALTALK and BEAM
were never fitted on. They are scaled so that a memory that is all the question has 1.
"""

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from types import MappingProxyType
from typing import NamedTuple

from retentive.model import Match, Space, Type


@dataclass(frozen=True, slots=True)
class Recipe:
    """What counts how much."""

    depth: int = 100
    """Matches asked of each search where there are conversations: R@10 on LoCoMo turns 30 .821, 50 .831, 100 .838."""
    pool: int = 60
    """Candidates that are read and compared. 40 .838, 60 .841, 80 .838, 100 .837."""
    names: bool = True
    """Whether names of speakers are left out of what becomes the vector, and tell whom a question is about."""
    cover: float = 0.5
    """The power of the share of the question's words by which text counts."""
    memory_vector: float = 0.71
    message_vector: float = 0.344
    text: float = 0.12
    text_with_assistant: float = 0.147
    """Added to `text` in talk with an assistant."""
    related_words: float = 0.17
    previous: float = 0.237
    previous_with_assistant: float = -0.097
    """Added to `previous` in talk with an assistant."""
    next: float = 0.034
    person: float = 0.205
    role: float = 0.177
    reply: float = 0.147
    session: float = 0.3
    length: float = 0.176
    question: float = 0.043
    bare_question: float = 0.25
    """Beside `question`, for a message that is little but a question: the answer is in the reply.

    Set by hand: fitted it is 0.1, and a short question stands above its answer. No set gains or loses by it.
    """


RECIPE = Recipe()
VECTOR_WEIGHT = 0.65  # the setting `vector_weight` by which the recipe was fitted; another shifts text and vector
HALF_LENGTH = 15  # words at which a message is half as brief as an empty one
USUAL_LENGTH = 20  # words of a message that is neither brief nor long
BARE_LENGTH = 12  # words below which a message that asks is little but a question
COVER_ROWS = 5  # of the best by keywords that are looked at for how much of the question they have

Session = tuple[str, str]
"""Namespace and name."""


class Candidate(NamedTuple):
    """A row that either search found: its share of the best BM25, its cosine, and how near its neighbours are."""

    match: Match
    text: float
    cosine: float
    previous: float
    next: float
    session: Session | None
    """None for what is no message."""


class Trait(NamedTuple):
    """What is known of a candidate once it is read."""

    person: float = 0.0
    """1: it is of the speaker whom the question names."""
    role: float = 0.0
    """-1: it was said by another than the question means by "I" or "you"."""
    words: int | None = None
    """None for what is no message."""
    asks: bool = False
    is_reply: bool = False
    """Whether an assistant said it."""
    related: float = 0.0
    """How much of the question's words the text has, with those that are related."""


class Replies(NamedTuple):
    """What assistants said among the matches, where those without replies were searched for, too."""

    chunks: Container[int]
    floor: float
    """The last cosine of vector search among all."""


UNREAD = Trait()
_EVENT = Type.EVENT.value  # compared with every row: a plain text is quicker


def pool(
    text: Sequence[Match],
    vector: Sequence[Match],
    vector_weight: float,
    most: int | None,
    recipe: Recipe = RECIPE,
    measured: Mapping[int, float] = MappingProxyType({}),
    replies: Replies | None = None,
    space: Space | None = None,
) -> list[Candidate]:
    """The rows that either search found, the most likely first: as many as are worth comparing.

    Of the slices of one text only the best is taken, or those of a few long ones would be all that is compared.
    `measured` are the cosines of what only keyword search found. Candidates have the cosines of `space`,
    calibrated.
    """
    highest, floor = text[0].score if text else 0.0, vector[-1].score if vector else 0.0
    is_reply: Container[int] = ()
    if replies:
        floor, is_reply = replies.floor, replies.chunks
    shares = {match[0]: match[1] / highest for match in text} if highest > 0 else {}
    cosines = {match[0]: match[1] for match in vector}
    if space and not space.is_reference:
        floor = space.calibrate(floor)
        cosines = {chunk: space.calibrate(cosine) for chunk, cosine in cosines.items()}
        measured = {chunk: space.calibrate(cosine) for chunk, cosine in measured.items()}
    rows = {match[0]: match for match in (*text, *vector)}
    places = {chunk: _place(match) for chunk, match in rows.items() if match[3] == _EVENT}
    nearness: dict[Session, dict[int, float]] = {session: {} for session, _ in places.values()}
    for chunk, cosine in reversed(cosines.items()):
        if chunk in places:
            session, sequence = places[chunk]
            nearness[session][sequence] = max(cosine - floor, 0.0)
    text_scale, vector_scale = scale_weights(vector_weight)
    text_weight = recipe.text * text_scale
    memory_vector = recipe.memory_vector * vector_scale
    message_vector = recipe.message_vector * vector_scale
    found: list[tuple[float, Candidate]] = []
    for chunk, match in rows.items():
        share = shares.get(chunk, 0.0)
        cosine = cosines.get(chunk, measured.get(chunk, floor))
        if chunk in places:
            session, sequence = places[chunk]
            near = nearness[session].get
            previous, following = near(sequence - 1, 0.0), near(sequence + 1, 0.0)
            around = recipe.previous * previous + recipe.next * following
            own = text_weight * share + message_vector * cosine + around - recipe.reply * (chunk in is_reply)
            likely = (1 + recipe.session) * own
            found.append((likely, Candidate(match, share, cosine, previous, following, session)))
        else:
            likely = text_weight * share + memory_vector * cosine
            found.append((likely, Candidate(match, share, cosine, 0.0, 0.0, None)))
    found.sort(key=itemgetter(0), reverse=True)
    best: dict[tuple[str, str, str], Candidate] = {}
    for _, each in found:
        if len(best) == most:
            break
        _, _, owner, type, _, _, _, namespace = each.match
        best.setdefault((namespace, type, owner), each)
    return [*best.values()]


class Blend:
    """The scores of all candidates.

    `traits` are by chunk, of those that were read; `cover` is how much of the question the best by keywords have.
    """

    def __init__(
        self,
        candidates: Sequence[Candidate],
        traits: Mapping[int, Trait],
        vector_weight: float,
        cover: float,
        recipe: Recipe = RECIPE,
    ) -> None:
        self._traits, self._recipe = traits, recipe
        self._candidates = {each.match.chunk: each for each in candidates}
        with_assistant = any(trait.is_reply for trait in traits.values())
        text_scale, vector_scale = scale_weights(vector_weight)
        text_scale *= math.pow(cover, recipe.cover)
        self._memory_text = recipe.text * text_scale
        self._message_text = (recipe.text + recipe.text_with_assistant * with_assistant) * text_scale
        self._memory_vector = recipe.memory_vector * vector_scale
        self._message_vector = recipe.message_vector * vector_scale
        self._previous = recipe.previous + recipe.previous_with_assistant * with_assistant
        self._own = {chunk: sum(self._own_shares(chunk).values()) for chunk in self._candidates}
        self._best: dict[Session, float] = {}
        for chunk, each in self._candidates.items():
            if each.session is not None:
                own = self._own[chunk]
                self._best[each.session] = max(own, self._best.get(each.session, own))

    def scores(self) -> list[tuple[float, Match]]:
        """In no order."""
        return [
            (self._own[chunk] + sum(self._message_shares(chunk).values()), each.match)
            for chunk, each in self._candidates.items()
        ]

    def shares(self, chunk: int) -> dict[str, float]:
        """By name; the score is their sum."""
        return {**self._own_shares(chunk), **self._message_shares(chunk)}

    def _own_shares(self, chunk: int) -> dict[str, float]:
        """What a candidate says for itself."""
        recipe = self._recipe
        _, text, cosine, previous, following, session = self._candidates[chunk]
        trait = self._traits.get(chunk, UNREAD)
        related = recipe.related_words * trait.related
        if session is None:
            shares = {"text": self._memory_text * text, "vector": self._memory_vector * cosine, "related": related}
            return {**shares, "person": recipe.person * trait.person} if trait.person else shares
        return {
            "text": self._message_text * text,
            "vector": self._message_vector * cosine,
            "related": related,
            "neighbours": self._previous * previous + recipe.next * following,
            "person": recipe.person * trait.person + recipe.role * trait.role,
            "reply": -recipe.reply * trait.is_reply,
        }

    def _message_shares(self, chunk: int) -> dict[str, float]:
        """What the conversation and the form of a message add."""
        session = self._candidates[chunk].session
        if session is None:
            return {}
        recipe, trait = self._recipe, self._traits.get(chunk, UNREAD)
        return {
            "session": recipe.session * self._best[session],
            "length": recipe.length * measure_length(trait.words),
            "question": -weigh_question(trait, recipe),
        }


def _place(match: Match) -> tuple[Session, int]:
    """Session and sequence of a message."""
    session, _, sequence = match[2].rpartition("#")
    return (match[7], session), int(sequence)


def scale_weights(vector_weight: float) -> tuple[float, float]:
    """By how much text and vector count more or less than in the recipe, if `vector_weight` is not the usual."""
    return (1 - vector_weight) / (1 - VECTOR_WEIGHT), vector_weight / VECTOR_WEIGHT


def weigh_question(trait: Trait, recipe: Recipe) -> float:
    """What a message loses because it asks."""
    if not trait.asks:
        return 0.0
    is_bare = trait.words is not None and trait.words < BARE_LENGTH
    return recipe.question + (recipe.bare_question if is_bare else 0.0)


def measure_length(words: int | None) -> float:
    """Nothing for a message of usual length, less for a brief one, a little more for a long one."""
    if words is None:
        return 0.0
    return HALF_LENGTH / (USUAL_LENGTH + HALF_LENGTH) - HALF_LENGTH / (words + HALF_LENGTH)
