"""Does a newer statement take the place of an older?

A correction is decided by what a statement is the value of, or, where that cannot be told, by words of change together
with the same topic; never by likeness alone, for nothing resembles "I play guitar" more than "I also play piano".
In doubt both stay: a wrong correction loses a true fact.
"""

from collections.abc import Sequence
from enum import IntEnum
from itertools import pairwise, takewhile

from retentive.learn.likeness import overlap
from retentive.learn.statements import turns
from retentive.learn.statements.areas import stem, topics
from retentive.learn.statements.reading import read, statements
from retentive.learn.statements.statement import Reading, Topic, Turn

MANY = 3  # statements that words may end at once; more are a sign that they are misread
MOST_OF_IT = 3  # words of what is over that the older has, if not all
PREFIX = 5  # letters that two forms of a word share
ALIKE = 0.5  # share of their telling words from which two statements are about the same thing
ENOUGH = 2  # words that a statement about the world shares with one about the user, to end it
ALMOST = 0.75  # ... from which they say the same in other words
SAME = 0.66  # ... from which they say the same but for a number or a not


class Ground(IntEnum):
    """Why one statement ends another, the surest last."""

    NONE = 0
    AREA = 1
    TOPIC = 2
    WORDS = 3
    SLOT = 4


def superseded(new: str, known: Sequence[str]) -> list[int]:
    """The places of those that the new statement ends.

    Where only the area speaks for it, there must be just one; and what words would end in numbers, they do not.
    """
    ends = [*map(read, statements(new))]
    grounds = [supersedes(old, new) if any(_may_end(old, each) for each in ends) else Ground.NONE for old in known]
    slots = [at for at, ground in enumerate(grounds) if ground is Ground.SLOT]
    worded = [at for at, ground in enumerate(grounds) if Ground.AREA < ground < Ground.SLOT]
    sure = slots + (worded if len(worded) <= MANY else [])
    guessed = [at for at, ground in enumerate(grounds) if ground is Ground.AREA]
    return sure or (guessed if len(guessed) == 1 else [])


def _may_end(old: str, after: Reading) -> bool:
    """Without reading the older, which takes half a millisecond: most statements tell of no change at all."""
    if after.apart:
        return False
    if after.turn or after.slot or after.feeling or after.exclusive or after.seen or after.again:
        return True
    counted = bool(after.counted) and any(letter.isdigit() for letter in old)
    return counted or after.negated != bool(turns.NEGATED.search(old) or "n't" in old)


def repeats(old: str, new: str) -> bool:
    """Does the newer say no more than the older: nothing but the same things of the same subject?"""
    before, after = read(old), read(new)
    if before.subject != after.subject or before.negated != after.negated or before.feeling != after.feeling:
        return False
    if before.numbers != after.numbers or not after.names <= before.marks:
        return False
    if before.slot and after.slot and before.slot.same(after.slot):
        return after.words <= before.words | after.slot.value
    return bool(after.words) and overlap(before.words, after.words) >= ALMOST


def supersedes(old: str, new: str) -> Ground:
    """Why the newer of two texts ends the older, if it does: each of its sentences is ended by one of the newer."""
    ends = [*map(read, statements(new))]
    return min(max(_ends(before, after) for after in ends) for before in map(read, statements(old)))


def _ends(before: Reading, after: Reading) -> Ground:
    if after.apart or not _same_subject(before, after) or (after.hearsay and not before.hearsay):
        return Ground.NONE
    if before.slot and after.slot and _place(before, after) == after.slot.name:
        refined = _closer(before.slot.value, after.slot.value) or _closer(after.slot.value, before.slot.value)
        return Ground.NONE if refined or after.adds else Ground.SLOT
    if after.adds or _only_of_the_new(before, after) or _for_another(before, after):
        return Ground.NONE
    if _contrary(before, after):
        return Ground.WORDS
    return _BY_TURN[after.turn](before, after)


def _place(before: Reading, after: Reading) -> str:
    """The older's slot; of someone whom the newer calls by name ("my sister Ana", then "Ana"), under that name."""
    if before.slot is None:
        return ""
    named = before.subject.startswith("user.") and stem(after.subject) in before.names
    return before.slot.name.replace(f"{before.subject}.", f"{after.subject}.", 1) if named else before.slot.name


def _closer(broad: frozenset[str], close: frozenset[str]) -> bool:
    """Is each word of the one in the other: Berlin, and Berlin-Mitte?"""
    return broad <= {part for word in close for part in (word, *word.split("-"))}


def _for_another(before: Reading, after: Reading) -> bool:
    """Things that are for something else each: poetry for dependencies, ruff for linting."""
    if before.subject.startswith("user") or after.subject.startswith("user"):
        return False
    return bool(before.purpose - after.purpose and after.purpose - before.purpose)


def _contrary(before: Reading, after: Reading) -> bool:
    """What was heard against what was seen, what is eaten against a diet, liked against disliked."""
    shared = (before.words & after.words) - _whom(before, after)
    if before.hearsay and after.seen and shared:
        return True
    if after.turn and (before.excluded & after.words or after.excluded & before.words) and not before.negated:
        return True
    if before.feeling * after.feeling < 0 and len(shared) >= ALIKE * max(1, min(len(before.words), len(after.words))):
        return bool(shared)
    ended = before.turn is Turn.ENDED or before.negated
    return ended and after.again and bool(shared or before.topics & after.topics) and not after.negated


def _shared(before: Reading, after: Reading) -> frozenset[str]:
    """What both speak of, beside whom: "my sister Ana is vegan" and "Ana moved" share nothing."""
    of_someone = bool(before.people) or before.subject == after.subject or "pets" in before.areas
    whom = {stem(after.subject.rpartition(".")[2])} if of_someone else frozenset[str]()
    told = after.turned - (after.slot.value if after.slot else frozenset())
    shared = (before.marks & told) - whom - {*_head(before, after)}
    return frozenset(word for word in shared if not _is_another(word, before, after))


def _head(before: Reading, after: Reading) -> tuple[str, ...]:
    """The words with which both begin, where they are about a thing: "the API returns XML", "the API needs a token"."""
    if before.subject.startswith("user") or after.subject.startswith("user"):
        return ()
    same = takewhile(lambda pair: pair[0] == pair[1], zip(before.order, after.order, strict=False))
    head = tuple(word for word, _ in same)
    return head if len(head) < min(len(before.order), len(after.order)) else ()


def _is_another(word: str, before: Reading, after: Reading) -> bool:
    """Called otherwise in the one than in the other: the staging server, the production server."""
    first, second = (_modifiers(word, each) for each in (before, after))
    return (
        before.subject == "world" and bool(first and second) and not first & after.marks and not second & before.marks
    )


def _modifiers(word: str, reading: Reading) -> frozenset[str]:
    return frozenset(each for each, next_ in pairwise(reading.order) if next_ == word) & reading.marks


def _topics(before: Reading, after: Reading) -> frozenset[Topic]:
    """What both are about, beside the words with which both begin."""
    begin = len(_head(before, after))
    return topics(before.order[begin:]) & topics(after.order[begin:]) if begin else before.topics & after.topics


def _linked(before: Reading, after: Reading) -> bool:
    """The older is a value of what both begin with: "the API uses REST" before "the API switched to GraphQL"."""
    head = _head(before, after)
    if not before.marks & {*head} or _LINKS.isdisjoint(before.order[: len(head) + 1]):
        return False
    # "It is slow" before "it is now public" is no value: two numbers are, two names, or two of a sort.
    names = before.names - {*head} and after.names - {*head}
    return bool((before.numbers and after.numbers) or names or _topics(before, after))


_LINKS = frozenset(map(stem, ("is", "are", "uses", "use", "runs", "targets")))


def _replaced(before: Reading, after: Reading) -> Ground:
    shared = _shared(before, after)
    if after.instead and not after.instead & before.marks:
        return Ground.NONE  # something else was replaced
    thing = after.subject == "world" != before.subject and not after.mine and after.order[:1] not in _PRONOUNS
    if thing and len(shared) < ENOUGH:
        return Ground.NONE  # "The office moved" does not end "I like the office in Rome"
    if after.moved and before.moved and not after.moved & before.marks:
        return Ground.NONE
    if shared:
        return Ground.WORDS
    if _topics(before, after):
        return Ground.TOPIC
    near = _linked(before, after) or (before.areas & after.areas and not _head(before, after))
    return Ground.AREA if near else Ground.NONE


def _ended(before: Reading, after: Reading) -> Ground:
    if before.negated or (before.turn is Turn.ENDED and not before.new & after.marks):
        return Ground.NONE
    gone = after.gone - {*_head(before, after)}
    known = {word for word in gone if any(_alike(word, mark) for mark in before.marks)}
    named = before.subject == "user" and _shared(before, after) & after.names
    if named or (known and (known == gone or len(known) >= MOST_OF_IT)):
        return Ground.WORDS if named or known - _whom(before, after) else Ground.NONE
    # "I quit alcohol" ends beer, for it names the topic; "I no longer have a dog" does not end the cat.
    topics = _topics(before, after)
    general = {stem(name) for topic in topics for name in (topic.name, topic.area)}
    return Ground.TOPIC if topics and (not after.gone or general & after.gone) else Ground.NONE


def _alike(one: str, other: str) -> bool:
    """Ultras and ultramarathons, an allergy and allergic."""
    short = min(len(one), len(other))
    return one == other or (short >= PREFIX and one[: max(PREFIX, short - 2)] == other[: max(PREFIX, short - 2)])


def _whom(before: Reading, after: Reading) -> set[str]:
    return {stem(reading.subject.rpartition(".")[2]) for reading in (before, after)}


def _now(before: Reading, after: Reading) -> Ground:
    shared = _topics(before, after)
    if any(topic.single for topic in shared) or ((before.exclusive or after.exclusive) and shared):
        return Ground.TOPIC
    if (_shared(before, after) and before.areas & after.areas) or (_linked(before, after) and shared):
        return Ground.WORDS
    like = overlap(before.words - before.numbers, after.words - after.numbers)
    first, second = before.numbers - before.days, after.numbers - after.days
    counted = first and second and first != second
    return Ground.WORDS if like >= SAME and (counted or before.negated != after.negated) else Ground.NONE


def _plainly(before: Reading, after: Reading) -> Ground:
    """Without a word of change: the same but for a number, or for a not."""
    if after.exclusive and before.topics & after.topics:
        return Ground.TOPIC
    like = overlap(before.words - before.numbers, after.words - after.numbers)
    counted = bool(before.counted) and before.counted == after.counted and before.numbers != after.numbers
    counted = counted and before.days == after.days
    return Ground.WORDS if like >= SAME and (counted or before.negated != after.negated) else Ground.NONE


_BY_TURN = {Turn.REPLACED: _replaced, Turn.ENDED: _ended, Turn.NOW: _now, Turn.NONE: _plainly}


def _same_subject(before: Reading, after: Reading) -> bool:
    if before.subject == after.subject or before.subject in after.people or (before.hearsay and after.seen):
        return True
    if after.subject.startswith("user."):
        return after.subject in before.people
    if before.subject.startswith("user."):
        return bool(before.names & after.names)
    if before.subject in _OWN:
        return after.subject in _OWN or after.mine or stem(after.subject) in before.marks
    return stem(before.subject) in after.marks


_OWN = ("user", "world")
_PRONOUNS = (("they",), ("it",), ("that",), ("this",))


def _only_of_the_new(before: Reading, after: Reading) -> bool:
    """The older speaks of what the newer turns to: "I use VS Code" before "I switched to VS Code"."""
    return bool(after.new) and after.new <= before.marks
