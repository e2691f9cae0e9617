"""What the formats have in common: a memory as it was found, and the words that others have for kinds and names."""

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, Concatenate, NamedTuple, ParamSpec

from retentive.conversations.formats.values import clean, label
from retentive.errors import Invalid
from retentive.model import Kind, Refusal

MOST_TAGS = 50  # a memory carries 64; some are left for those that are given to all of an import


class Item(NamedTuple):
    """A memory to be, and where it stands."""

    place: str
    text: str
    id: str | None = None
    """What it is known by where it comes from."""
    told: Mapping[str, Any] = {}
    """What else is said of it, as the options of `add`."""
    created: datetime | None = None
    updated: datetime | None = None


class Remark(NamedTuple):
    """Something that is worth knowing, and no memory."""

    text: str


Told = Item | Refusal | Remark

_WORDS: Mapping[Kind, str] = {
    Kind.PREFERENCE: "preference preferences like likes dislike dislikes taste tastes favourites favorites",
    Kind.PERSONAL: "personal user me family health hobbies hobby personality identity profile birthday",
    Kind.BACKGROUND: "background professional career education history architecture overview structure stack",
    Kind.PATTERN: "pattern patterns workflow workflows habit habits routine routines process processes",
    Kind.PROJECT: "project projects goal goals roadmap milestone milestones todo todos task tasks plan plans",
    Kind.CONTACT: "contact contacts person people colleague colleagues team customer customers client clients",
    Kind.DECISION: "decision decisions choice choices adr approach configuration",
    Kind.INSTRUCTION: "instruction instructions rule rules guideline guidelines convention conventions style feedback"
    " requirement requirements practice practices command commands policy policies standard standards testing",
    Kind.OUTCOME: "outcome outcomes result results learning learnings lesson lessons insight insights error errors"
    " bug bugs failure failures fix fixes gotcha gotchas solution solutions",
    Kind.FACT: "fact facts observation observations reference information",
}
_KINDS = {word: kind for kind, words in _WORDS.items() for word in words.split()}
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def kind_of(*names: Any) -> dict[str, str]:
    """The option that says the kind, by the first name that tells one: `user_preferences`, "Code style".

    Of several words the last one counts, as in English. Notes are places of our own; those of others are facts.
    """
    for name in names:
        for word in reversed(re.split(r"[^a-z]+", name.lower()) if isinstance(name, str) else []):
            if word in _KINDS:
                return {"kind": _KINDS[word]}
    return {}


def readable(name: str) -> str:
    """A name of a program's as words: `works_at`, `worksAt`, `works-at`."""
    return re.sub(r"[_\s]+|(?<=\w)-(?=\w)", " ", _HUMP.sub(" ", name)).strip()


def relation(subject: str, verb: str, object: str) -> str:
    """An edge of a graph as a sentence."""
    said = readable(verb)
    return f"{subject} {said if said.isupper() and ' ' not in said else said.lower()} {object}"


def tags_of(*given: Any) -> dict[str, list[str]]:
    """The option that says the tags: lists of them, or texts with commas between."""
    each = (label(tag) for some in given for tag in _several(some))
    found = [*dict.fromkeys(tag for tag in each if tag)][:MOST_TAGS]
    return {"tags": found} if found else {}


def _several(given: Any) -> Iterable[Any]:
    if isinstance(given, str):
        return re.split(r"[,;|]", given)
    return given if isinstance(given, list | tuple) else ()


def told(**parts: Any) -> dict[str, Any]:
    """Without those that say nothing."""
    return {name: part for name, part in parts.items() if part not in (None, "", [], {}, ())}


def text_of(value: Any, what: str) -> str:
    """A text that says something."""
    if not isinstance(value, str) or not value.strip():
        raise Invalid(f"it has no text under {what!r}")
    text: str = clean(value).strip()
    return text


P = ParamSpec("P")


def attempt(make: Callable[Concatenate[str, P], Item], place: str, *given: P.args, **named: P.kwargs) -> Item | Refusal:
    """What is made of it, or why it is not."""
    try:
        return make(place, *given, **named)
    except Invalid as error:
        return refused(place, error)


def refused(place: str, error: Invalid) -> Refusal:
    return Refusal(place, str(error).removeprefix(f"{place}: ").removeprefix(f"{place}, "))
