"""Scores candidates by all signals: the fusion `blend`, which is the default. The score is a weighted sum:

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

The weights are fitted by `python -m benchmarks.fit_ranking` (`benchmarks/README.md` has the figures) on
LongMemEval, RealMem, patha-memory and sets written for this project, each in turn left out. LoCoMo, REALTALK and BEAM
were never fitted on. They are scaled so that a memory that is all the question has 1.
"""

import math
from collections.abc import Container, Mapping, Sequence
from operator import itemgetter
from types import MappingProxyType
from typing import NamedTuple

from retentive.frozen_dataclass import dataclass
from retentive.model import ItemType, Match, Space


@dataclass(frozen=True, slots=True)
class Recipe:
    """The weights of the blend."""

    depth: int = 100
    """Matches asked of each search where there are conversations: R@10 on LoCoMo turns 30 .821, 50 .831, 100 .838."""
    pool: int = 60
    """Matches that are compared. R@10: 40 .838, 60 .841, 80 .838, 100 .837."""
    names: bool = True
    """Whether names of speakers are left out of the question's vector, and say which person the question is about."""
    cover: float = 0.5
    """The power to which the share of the question's words is raised, before text is multiplied by it."""
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
WORD_SHARE_ROWS = 5  # best rows of keyword search whose share of the question's words is measured

SessionKey = tuple[str, str]
"""Namespace and name of a conversation."""


class MatchSignals(NamedTuple):
    """A match of either search: its share of the best BM25, its cosine, and how near its neighbours are."""

    match: Match
    text: float
    cosine: float
    previous: float
    next: float
    session: SessionKey | None
    """None if it is no message."""


class CandidateTraits(NamedTuple):
    """The traits of a candidate that are known once its text is loaded."""

    person: float = 0.0
    """1 if the speaker that the question names said it."""
    role: float = 0.0
    """-1 if somebody else said it than the question means by "I" or "you"."""
    words: int | None = None
    """The number of words of a message; None for anything else."""
    asks: bool = False
    is_reply: bool = False
    """Whether an assistant said it."""
    related: float = 0.0
    """The share of the question's words that the text has, related words included."""


class Replies(NamedTuple):
    """The matches that assistants said, if a second search without replies was made."""

    chunks: Container[int]
    floor: float
    """The last cosine of the first vector search."""


NOT_LOADED = CandidateTraits()
_EVENT = ItemType.EVENT.value  # compared with every row: a plain text is quicker


def pool_matches(
    keyword_matches: Sequence[Match],
    vector_matches: Sequence[Match],
    vector_weight: float,
    size: int | None,
    recipe: Recipe = RECIPE,
    measured: Mapping[int, float] = MappingProxyType({}),
    replies: Replies | None = None,
    space: Space | None = None,
) -> list[MatchSignals]:
    """Compute the signals of the matches of either search, the most likely first: as many as are worth comparing.

    Only the best chunk of each text is taken, or the chunks of a few long texts would be all that is compared.
    `measured` are the cosines of matches that only keyword search found. The cosines of `space` are calibrated.
    """
    likely = _read_signals(keyword_matches, vector_matches, vector_weight, recipe, measured, replies, space)
    likely.sort(key=itemgetter(0), reverse=True)
    best: dict[tuple[str, str, str], MatchSignals] = {}
    for _, signals in likely:
        if len(best) == size:
            break
        _, _, owner, type, _, _, _, namespace = signals.match
        best.setdefault((namespace, type, owner), signals)
    return [*best.values()]


def _read_signals(
    keyword_matches: Sequence[Match],
    vector_matches: Sequence[Match],
    vector_weight: float,
    recipe: Recipe,
    measured: Mapping[int, float],
    replies: Replies | None,
    space: Space | None,
) -> list[tuple[float, MatchSignals]]:
    """The signals of each match with an estimate of its score, in no order. Matches are read by position: quicker."""
    highest = keyword_matches[0].score if keyword_matches else 0.0
    floor = vector_matches[-1].score if vector_matches else 0.0
    reply_chunks: Container[int] = ()
    if replies:
        floor, reply_chunks = replies.floor, replies.chunks
    shares = {match[0]: match[1] / highest for match in keyword_matches} if highest > 0 else {}
    cosines = {match[0]: match[1] for match in vector_matches}
    if space and not space.is_reference:
        floor = space.calibrate(floor)
        cosines = {chunk: space.calibrate(cosine) for chunk, cosine in cosines.items()}
        measured = {chunk: space.calibrate(cosine) for chunk, cosine in measured.items()}
    matches = {match[0]: match for match in (*keyword_matches, *vector_matches)}
    places = {chunk: _find_place(match) for chunk, match in matches.items() if match[3] == _EVENT}
    nearness = _measure_neighbours(places, cosines, floor)
    text_scale, vector_scale = scale_weights(vector_weight)
    text_weight = recipe.text * text_scale
    memory_vector = recipe.memory_vector * vector_scale
    message_vector = recipe.message_vector * vector_scale
    found: list[tuple[float, MatchSignals]] = []
    for chunk, match in matches.items():
        share = shares.get(chunk, 0.0)
        cosine = cosines.get(chunk, measured.get(chunk, floor))
        if chunk in places:
            session, sequence = places[chunk]
            near = nearness[session].get
            previous, following = near(sequence - 1, 0.0), near(sequence + 1, 0.0)
            around = recipe.previous * previous + recipe.next * following
            own = text_weight * share + message_vector * cosine + around - recipe.reply * (chunk in reply_chunks)
            estimate = (1 + recipe.session) * own
            found.append((estimate, MatchSignals(match, share, cosine, previous, following, session)))
        else:
            estimate = text_weight * share + memory_vector * cosine
            found.append((estimate, MatchSignals(match, share, cosine, 0.0, 0.0, None)))
    return found


def _measure_neighbours(
    places: Mapping[int, tuple[SessionKey, int]], cosines: dict[int, float], floor: float
) -> dict[SessionKey, dict[int, float]]:
    """By session and sequence: how much nearer to the question a message is than the last of vector search."""
    nearness: dict[SessionKey, dict[int, float]] = {session: {} for session, _ in places.values()}
    for chunk, cosine in reversed(cosines.items()):
        if chunk in places:
            session, sequence = places[chunk]
            nearness[session][sequence] = max(cosine - floor, 0.0)
    return nearness


class Blend:
    """Computes the scores of all candidates.

    `traits` are by chunk, of candidates whose texts were loaded. `best_word_share` is the largest share of the
    question's words that one of the best of keyword search has.
    """

    def __init__(
        self,
        pool: Sequence[MatchSignals],
        traits: Mapping[int, CandidateTraits],
        vector_weight: float,
        best_word_share: float,
        recipe: Recipe = RECIPE,
    ) -> None:
        self._traits, self._recipe = traits, recipe
        self._signals = {each.match.chunk: each for each in pool}
        with_assistant = any(each.is_reply for each in traits.values())
        text_scale, vector_scale = scale_weights(vector_weight)
        text_scale *= math.pow(best_word_share, recipe.cover)
        self._memory_text = recipe.text * text_scale
        self._message_text = (recipe.text + recipe.text_with_assistant * with_assistant) * text_scale
        self._memory_vector = recipe.memory_vector * vector_scale
        self._message_vector = recipe.message_vector * vector_scale
        self._previous = recipe.previous + recipe.previous_with_assistant * with_assistant
        self._own = {chunk: sum(self._own_shares(chunk).values()) for chunk in self._signals}
        self._best: dict[SessionKey, float] = {}
        for chunk, each in self._signals.items():
            if each.session is not None:
                own = self._own[chunk]
                self._best[each.session] = max(own, self._best.get(each.session, own))

    def scores(self) -> list[tuple[float, Match]]:
        """The score of each match, in no order."""
        return [
            (self._own[chunk] + sum(self._message_shares(chunk).values()), each.match)
            for chunk, each in self._signals.items()
        ]

    def shares(self, chunk: int) -> dict[str, float]:
        """The shares of a chunk's score, by name; the score is their sum."""
        return {**self._own_shares(chunk), **self._message_shares(chunk)}

    def _own_shares(self, chunk: int) -> dict[str, float]:
        """The shares that a candidate has by itself."""
        recipe = self._recipe
        _, text, cosine, previous, following, session = self._signals[chunk]
        traits = self._traits.get(chunk, NOT_LOADED)
        related = recipe.related_words * traits.related
        if session is None:
            shares = {"text": self._memory_text * text, "vector": self._memory_vector * cosine, "related": related}
            return {**shares, "person": recipe.person * traits.person} if traits.person else shares
        return {
            "text": self._message_text * text,
            "vector": self._message_vector * cosine,
            "related": related,
            "neighbours": self._previous * previous + recipe.next * following,
            "person": recipe.person * traits.person + recipe.role * traits.role,
            "reply": -recipe.reply * traits.is_reply,
        }

    def _message_shares(self, chunk: int) -> dict[str, float]:
        """The shares that the conversation and the form of a message add."""
        session = self._signals[chunk].session
        if session is None:
            return {}
        recipe, traits = self._recipe, self._traits.get(chunk, NOT_LOADED)
        return {
            "session": recipe.session * self._best[session],
            "length": recipe.length * measure_length(traits.words),
            "question": -weigh_question(traits, recipe),
        }


def _find_place(match: Match) -> tuple[SessionKey, int]:
    """The session and the sequence of a message."""
    session, _, sequence = match[2].rpartition("#")
    return (match[7], session), int(sequence)


def scale_weights(vector_weight: float) -> tuple[float, float]:
    """The factors by which text and vector count more or less than in the recipe, by `vector_weight`."""
    return (1 - vector_weight) / (1 - VECTOR_WEIGHT), vector_weight / VECTOR_WEIGHT


def weigh_question(traits: CandidateTraits, recipe: Recipe) -> float:
    """The score that a message loses because it asks."""
    if not traits.asks:
        return 0.0
    is_bare = traits.words is not None and traits.words < BARE_LENGTH
    return recipe.question + (recipe.bare_question if is_bare else 0.0)


def measure_length(words: int | None) -> float:
    """0 for a message of usual length, less for a brief one, a little more for a long one."""
    if words is None:
        return 0.0
    return HALF_LENGTH / (USUAL_LENGTH + HALF_LENGTH) - HALF_LENGTH / (words + HALF_LENGTH)
