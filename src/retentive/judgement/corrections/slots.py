"""Which slot of the profile does a statement about the user fill?"""

import re

from retentive.judgement.corrections.statement import LIVING_BEINGS, MANY_VALUED, WORD_LISTS, Attribute, Statement
from retentive.judgement.corrections.stems import stem, stem_words

_USER_ATTRIBUTES = frozenset({"home", "employer", "name", "age", *WORD_LISTS["states"]})
_SLOT_OF_ATTRIBUTE: dict[str, str] = WORD_LISTS["slots"]
_SINGLE_SLOTS = frozenset({*_USER_ATTRIBUTES, *_SLOT_OF_ATTRIBUTE.values()})
_FAVOURITE_SLOT = re.compile(r"favorite_[a-z][a-z0-9_]*")
_UNINFORMATIVE_PARTS = frozenset({"user", "name"})  # parts of a slot that say nothing about its value
_ABOUT_USER = re.compile(r"(?:i|we|my|our)\b", re.IGNORECASE)
SLOT_FORMS = (*(f"user.{name}" for name in sorted(_SINGLE_SLOTS)), "user.favorite_THING", "user.PERSON.name")
"""The slots there are: THING is a word, PERSON one for somebody close, such as partner, sister or dog."""


def find_slot(statement: Statement) -> str | None:
    """The slot of a statement, such as `user.home`; None if it surely fills none."""
    attribute = statement.attribute
    if attribute is None or not attribute.is_certain or statement.is_negated or statement.is_event:
        return None
    if statement.is_doubtful or statement.is_addition:
        return None
    return _name_slot(attribute, statement)


def is_slot(slot: str) -> bool:
    """Whether a slot has one of the `SLOT_FORMS`."""
    owner, _, name = slot.partition(".")
    person, _, rest = name.partition(".")
    is_name = rest == "name" and person in LIVING_BEINGS and stem(person) not in MANY_VALUED
    return owner == "user" and (name in _SINGLE_SLOTS or is_name or bool(_FAVOURITE_SLOT.fullmatch(name)))


def can_fill(statement: Statement, slot: str) -> bool:
    """Whether a statement may fill a slot that a language model named: its words are about that slot."""
    if statement.is_negated or statement.is_doubtful or statement.is_addition:
        return False
    own = _name_slot(statement.attribute, statement) if statement.attribute else None
    if own:
        return own == slot
    parts = {stem(word) for word in re.split(r"[._]", slot) if word not in _UNINFORMATIVE_PARTS}
    is_about = not slot.startswith("user.") or bool(_ABOUT_USER.match(statement.text))
    return is_about and bool(parts) and parts <= {*stem_words(statement.text)}


def _name_slot(attribute: Attribute, statement: Statement) -> str | None:
    name = attribute.name
    if name in _USER_ATTRIBUTES:
        is_own = statement.subjects <= {"user"} and (name == "name" or "user" in statement.subjects)
        return f"user.{name}" if is_own else None
    if not statement.text.lower().startswith(("my ", "our ", "i ", "we ")) and "favorite" not in name:
        return None
    if name in _SLOT_OF_ATTRIBUTE:
        return f"user.{_SLOT_OF_ATTRIBUTE[name]}"
    if name.startswith("favorite "):
        return f"user.{name.replace(' ', '_')}"
    if name in LIVING_BEINGS and stem(name) not in MANY_VALUED:
        return f"user.{name}.name"
    return None


def find_question_words(slot: str) -> str | None:
    """The words in which people ask for the value of a slot, if statements use other words."""
    found: str | None = WORD_LISTS["questions"].get(slot.removeprefix("user."))
    return found


def find_slot_value(statement: Statement) -> str:
    """The value that a statement gives to its slot, in its own words."""
    return statement.attribute.value if statement.attribute else ""
