"""Choose the sentences of a conversation that become claims. A learned judge scores the form and vector of each.

A sentence with a high score becomes a claim. One with a doubtful score becomes a claim that is kept only if it
changes something known ("Hanna relocated to Bergen" if Hanna's home is known). The rest is left out.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from retentive.judgement import Correction, judges
from retentive.judgement.corrections.values import correct_value
from retentive.judgement.extract.absolute_dates import find_validity_period, make_dates_absolute
from retentive.judgement.extract.candidates import CandidateSentence
from retentive.judgement.extract.kinds import find_kind
from retentive.judgement.extract.person import USER, speaks_for_group, to_third_person, to_whole_sentence
from retentive.judgement.extract.sentence_features import compute_sentence_features, score_personal
from retentive.judgement.requests.find_requests import render_instruction
from retentive.model import Claim, Kind

MIN_KEEP_SCORE = (
    0.4  # held out, about .8 of what is chosen is worth keeping, and .85 of what is worth keeping is chosen
)
MIN_KEEP_SCORE_BY_FORM = 0.35  # without vectors scores are lower; about .75 and .7
MIN_KEEP_SCORE_AMONG_PEOPLE = 0.65  # talk of several people has more passing remarks; .75 to .85 of what is chosen
MIN_TENTATIVE_SCORE = 0.1  # below it a sentence states nothing: "by the way", "in the meantime"
MIN_INSTRUCTION_SCORE = 0.5
MIN_PERSONAL_SCORE = 0.5  # below it "we" is the project's, and stays in the text
ORDER_IMPORTANCE = 7  # of how the user wants things done, where nobody asked to remember it
_CALL_ME = re.compile(r"^(?:(?:please|just) )?call me (?P<name>[\w' -]{1,40})$", re.IGNORECASE)
_IMPERATIVE = re.compile(
    r"^(?:(?:please|pls|also|always|and|then|instead) )*(?:use|avoid|prefer|stop|never|always|do not|don't)\b",
    re.IGNORECASE,
)
_CURRENT_TASK_WORDS = re.compile(
    r"\b(?:line|row|step|slide|page|question|item|option|commit|version|test) \d+\b", re.IGNORECASE
)
_FIRST_PERSON_START = re.compile(r"^(?:i|we|my|our|i'm|i've|we're|we've)\b", re.IGNORECASE)


def choose_claims(
    candidates: Sequence[CandidateSentence], vectors: Sequence[Any] | None, corrections: Iterable[Correction] = ()
) -> list[Claim]:
    """The claims of the candidates, in order, none twice. `vectors` are those of the candidates' texts."""
    corrected = {_find_corrected(candidates, correction) for correction in corrections}
    found: dict[str, Claim] = {}
    for place, candidate in enumerate(candidates):
        # The answer to a question matters, and so does a value that somebody takes the trouble to correct.
        is_wanted = bool(candidate.context) or place in corrected
        claim = judge_candidate(candidate, None if vectors is None else vectors[place], is_wanted=is_wanted)
        if claim and (not claim.is_tentative or claim.content.casefold() not in found):
            found[claim.content.casefold()] = claim
    return [*found.values()]


def _find_corrected(candidates: Sequence[CandidateSentence], correction: Correction) -> int | None:
    """The index of the last candidate before a correction that has a value of the same kind."""
    for place in reversed(range(len(candidates))):
        candidate = candidates[place]
        if candidate.event.sequence < correction.sequence and correct_value(candidate.said, correction.value):
            return place
    return None


def judge_candidate(candidate: CandidateSentence, vector: Any, *, is_wanted: bool = False) -> Claim | None:
    features = compute_sentence_features(candidate.said)
    score = judges.score("keep", features, vector)
    is_user = candidate.speaker == USER
    if score < MIN_TENTATIVE_SCORE and not is_wanted:
        return None
    is_order = is_user and _is_order(candidate.said, features, vector)
    if is_order and _CURRENT_TASK_WORDS.search(candidate.said):
        return None
    personal = score_personal(candidate.said, vector) if is_user else 1.0
    kind = Kind.INSTRUCTION if is_order else find_kind(candidate.said, personal if is_user else 0.0)
    said = candidate.event.time
    text = _render(candidate, is_order=is_order, is_personal=personal >= MIN_PERSONAL_SCORE)
    begun, ends = find_validity_period(text, said)
    return Claim(
        content=make_dates_absolute(text, kind, said),
        kind=kind,
        said=said,
        events=(*candidate.context, candidate.event.sequence),
        confidence=round(0.4 + 0.4 * max(score, 0.5 if is_wanted else 0.0), 2),
        importance=ORDER_IMPORTANCE if is_order else 5,
        valid_from=begun,
        expires=ends,
        is_tentative=score < _find_threshold(is_user=is_user, has_vector=vector is not None) and not is_wanted,
        personal=round(personal, 2),
        among_people=not is_user,
    )


def _find_threshold(*, is_user: bool, has_vector: bool) -> float:
    if not is_user:
        return MIN_KEEP_SCORE_AMONG_PEOPLE
    return MIN_KEEP_SCORE if has_vector else MIN_KEEP_SCORE_BY_FORM


def _is_order(said: str, features: Any, vector: Any) -> bool:
    if _FIRST_PERSON_START.match(said):
        return False
    return bool(_IMPERATIVE.match(said)) or judges.score("instruction", features, vector) >= MIN_INSTRUCTION_SCORE


def _render(candidate: CandidateSentence, *, is_order: bool, is_personal: bool) -> str:
    """Render a candidate as a standalone statement. "We" stays if it is the project's: nobody said who they are."""
    if nickname := _CALL_ME.match(candidate.said.rstrip(" .!")):
        return f"{candidate.speaker} wants to be called {nickname['name']}."
    if is_order:
        return render_instruction(candidate.said, candidate.speaker)
    of_group = not is_personal and speaks_for_group(candidate.said)
    return to_whole_sentence(candidate.said) if of_group else to_third_person(candidate.said, candidate.speaker)
