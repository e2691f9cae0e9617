"""Decide by form alone whether a newer statement surely replaces an older one.

Three cases are sure: another value of an attribute that has one value; the same sentence with another value of the same
kind (a day, a number, an address); words that name what is over. A statement about somebody else, an event, a plan, an
addition or a shared topic never replaces. All other pairs go to the judge (`judge.py`).
"""

from typing import NamedTuple

from retentive.judgement.corrections.statement import MANY_VALUED, WORD_LISTS, Ending, Statement
from retentive.judgement.corrections.stems import are_alike, stem, stem_words

MAX_OTHER_STEMS = 2  # of an older statement beside what is over; with more, it says something else too
_CHOICE_SETS = tuple(frozenset(each.strip().lower() for each in row["of"].split(",")) for row in WORD_LISTS["choices"])


class Verdict(NamedTuple):
    """Why a newer statement replaces an older one."""

    rule: str
    reason: str
    needs_judge: bool = False
    """The words have other meanings too: the judge must agree."""


def compare(older: Statement, newer: Statement) -> Verdict | None:
    """Why the newer statement replaces the older, surely or if the judge agrees; None if it does not."""
    if _is_irreplaceable(older) or newer.is_doubtful or newer.is_addition or newer.is_event:
        return None
    rules = (_compare_attributes, _compare_values, _compare_choices, _compare_ending)
    verdicts = [verdict for rule in rules if (verdict := rule(older, newer))]
    sure = [verdict for verdict in verdicts if not verdict.needs_judge]
    return next(iter([*sure, *verdicts]), None)


def _is_irreplaceable(older: Statement) -> bool:
    """Whether no rule ends a statement: events stay true, plans and endings are left to the judge."""
    return older.is_event or older.is_doubtful or older.ending is not None


def _compare_attributes(older: Statement, newer: Statement) -> Verdict | None:
    first, second = older.attribute, newer.attribute
    if not first or not second or first.name != second.name or newer.is_negated or older.is_negated:
        return None
    if not is_same_subject(older, newer) or _refines(first.value, second.value) or not first.is_certain:
        return None
    reason = f'another {first.name}: "{second.value}" instead of "{first.value}"'
    return Verdict("same attribute", reason, needs_judge=not second.is_certain)


def is_same_subject(older: Statement, newer: Statement) -> bool:
    """Whether both are about the same person. It is unsure for a sister with a name and one without."""
    if older.subjects == newer.subjects:
        return True
    if not older.subjects & newer.subjects:
        return False
    shared = older.subjects & newer.subjects
    return any(stem(name) not in MANY_VALUED for name in shared)


def _refines(one: str, other: str) -> bool:
    """Whether one value only says more than the other: Berlin, and Berlin-Mitte."""
    first, second = _split_parts(one), _split_parts(other)
    return first <= second or second <= first


def _split_parts(value: str) -> frozenset[str]:
    return frozenset(part for word in stem_words(value) for part in word.split("-"))


def _compare_values(older: Statement, newer: Statement) -> Verdict | None:
    """Compare two equal sentences that differ in one value of the same kind."""
    if older.topic != newer.topic or not older.topic or older.subjects != newer.subjects:
        return None
    if older.is_negated != newer.is_negated or older.has_indefinite or newer.has_indefinite:
        return None
    if older.names != newer.names or older.is_named_by_value or newer.is_named_by_value:
        return None
    changed = [pair for pair in zip(older.values, newer.values, strict=False) if pair[0] != pair[1]]
    if len(older.values) != len(newer.values) or len(changed) != 1:
        return None
    before, after = changed[0]
    if before.kind != after.kind:
        return None
    is_one_of_several = any(stem(name) in MANY_VALUED for name in older.subjects) and len(older.subjects) == 1
    reason = f'"{after.text}" instead of "{before.text}" in the same statement'
    return Verdict("another value", reason, needs_judge=is_one_of_several)


def _compare_choices(older: Statement, newer: Statement) -> Verdict | None:
    """Compare two preferences from one set of choices: who prefers tea does not prefer coffee."""
    first, second = _find_preference(older), _find_preference(newer)
    if not first or not second or first == second or older.is_negated or newer.is_negated:
        return None
    for choice in _CHOICE_SETS:
        if first in choice and second in choice:
            return Verdict("a choice between two", f'prefers "{second}" to "{first}"')
    return None


def _find_preference(statement: Statement) -> str:
    words = statement.text.lower().split()
    if "user" not in statement.subjects or not any(word.startswith("prefer") for word in words[:4]):
        return ""
    start = next(index for index, word in enumerate(words) if word.startswith("prefer"))
    rest = " ".join(words[start + 1 :])
    for end in (" over ", " to ", " rather than ", " instead of ", " now"):
        rest = rest.partition(end)[0]
    return rest.strip(" .!")


def _compare_ending(older: Statement, newer: Statement) -> Verdict | None:
    ending = newer.ending
    if ending is None or older.is_negated or not _is_about_user_or_same(older, newer):
        return None
    own = older.topic | frozenset(map(stem, older.names))
    known = {word for word in own if any(are_alike(word, gone) for gone in ending.stems)}
    words = stem_words(older.text)
    if not all(any(are_alike(word, gone) for word in words) for gone in ending.stems):
        return None
    others = own - known - frozenset(map(stem, older.subjects))
    if len(others) > MAX_OTHER_STEMS or ending.replacement & others or not _states_possession(older, ending):
        return None
    return Verdict("what is over is named", f'"{ending.phrase}"')


def _is_about_user_or_same(older: Statement, newer: Statement) -> bool:
    if older.subjects == newer.subjects:
        return True
    return not older.subjects and newer.subjects <= {"user"}


def _states_possession(older: Statement, ending: Ending) -> bool:
    """Whether the older statement says that somebody has or does what is over, not something else about it."""
    words = older.text.lower().split()
    first = words[0] if words else ""
    if first in ("i", "we") or older.subjects:
        return True
    head = [stem(word.strip(".,")) for word in words[:4]]
    begins_with_it = any(are_alike(word, gone) for word in head for gone in ending.stems)
    is_ours = any(word in words for word in ("our", "my"))
    return (not begins_with_it and first in ("our", "my", "the")) or (begins_with_it and is_ours)


MIN_RESTATED = 0.75  # share of their stems from which two statements say the same in other words


def is_restatement(older: Statement, newer: Statement) -> bool:
    """Whether the newer statement says the same about the same subject as the older, in other words."""
    if older.subjects != newer.subjects or older.is_negated != newer.is_negated or newer.ending:
        return False
    if {*older.values} != {*newer.values} or older.is_doubtful != newer.is_doubtful:
        return False
    first, second = older.attribute, newer.attribute
    if first and second and first.name == second.name and _split_parts(first.value) == _split_parts(second.value):
        return newer.topic <= older.topic | _split_parts(second.value) | {stem(first.name)}
    shared, together = older.topic & newer.topic, older.topic | newer.topic
    return bool(newer.topic) and len(shared) / len(together) >= MIN_RESTATED and newer.names <= older.names
