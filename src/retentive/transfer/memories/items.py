"""Shared by all formats: an item to import, and the words that other products have for kinds and names."""

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, Concatenate, NamedTuple, ParamSpec

from retentive.conversations.formats.values import clean_name, clean_value
from retentive.errors import Invalid
from retentive.model import Kind, RefusedItem

MAX_TAGS = 50  # a memory carries 64: the rest is for tags of the whole import


class ImportItem(NamedTuple):
    """A memory to be added, and its place in the source."""

    place: str
    text: str
    id: str | None = None
    """Its id in the product that it comes from."""
    options: Mapping[str, Any] = {}
    """Options of `add`."""
    created: datetime | None = None
    updated: datetime | None = None


class Remark(NamedTuple):
    """A note for the user who imports."""

    text: str


ReadResult = ImportItem | RefusedItem | Remark

_KIND_NAMES: Mapping[Kind, str] = {
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
_KIND_OF_WORD = {word: kind for kind, words in _KIND_NAMES.items() for word in words.split()}
_CAMEL_CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def guess_kind(*names: Any) -> dict[str, str]:
    """The option `kind`, from the first name that implies one: `user_preferences`, "Code style".

    The last word of a name counts most, as in English. There is no word for notes: those of others are facts.
    """
    for name in names:
        for word in reversed(re.split(r"[^a-z]+", name.lower()) if isinstance(name, str) else []):
            if word in _KIND_OF_WORD:
                return {"kind": _KIND_OF_WORD[word]}
    return {}


def split_name(name: str) -> str:
    """Split an identifier into words: `works_at`, `worksAt`, `works-at`."""
    return re.sub(r"[_\s]+|(?<=\w)-(?=\w)", " ", _CAMEL_CASE.sub(" ", name)).strip()


def render_relation(subject: str, verb: str, object: str) -> str:
    """Render an edge of a graph as a sentence. Only a verb that is one word in capitals keeps them."""
    words = split_name(verb)
    is_acronym = words.isupper() and " " not in words
    return f"{subject} {words if is_acronym else words.lower()} {object}"


def make_tags(*values: Any) -> dict[str, list[str]]:
    """The option `tags`, from lists of tags or texts with commas."""
    names = (clean_name(tag) for value in values for tag in _split_tags(value))
    tags = [*dict.fromkeys(name for name in names if name)][:MAX_TAGS]
    return {"tags": tags} if tags else {}


def _split_tags(value: Any) -> Iterable[Any]:
    if isinstance(value, str):
        return re.split(r"[,;|]", value)
    return value if isinstance(value, list | tuple) else ()


def drop_empty(**values: Any) -> dict[str, Any]:
    """Drop values that are empty."""
    return {name: value for name, value in values.items() if value not in (None, "", [], {}, ())}


def clean_text(value: Any, field: str) -> str:
    """A text that is not blank. `field` names it in the error."""
    if not isinstance(value, str) or not value.strip():
        raise Invalid(f"it has no text under {field!r}")
    text: str = clean_value(value).strip()
    return text


P = ParamSpec("P")


def try_make(
    make: Callable[Concatenate[str, P], ImportItem], place: str, *args: P.args, **kwargs: P.kwargs
) -> ImportItem | RefusedItem:
    """Make an item, or the refusal with the reason."""
    try:
        return make(place, *args, **kwargs)
    except Invalid as error:
        return make_refusal(place, error)


def make_refusal(place: str, error: Invalid) -> RefusedItem:
    return RefusedItem(place, str(error).removeprefix(f"{place}: ").removeprefix(f"{place}, "))
