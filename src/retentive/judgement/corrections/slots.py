"""Which slot of the profile does a statement about the user fill?"""

import re

from retentive.judgement.corrections.statement import MANY_VALUED, PERSONS, TABLES, Attribute, Statement
from retentive.judgement.corrections.stems import stem, stem_words

_OF_USER = frozenset({"home", "employer", "name", "age", *TABLES["states"]})
_SLOTS: dict[str, str] = TABLES["slots"]
_PLAIN = frozenset({*_OF_USER, *_SLOTS.values()})
_FAVOURITE = re.compile(r"favorite_[a-z][a-z0-9_]*")
_NOT_TELLING = frozenset({"user", "name"})  # parts of a slot that say nothing of what is in it
_ABOUT_USER = re.compile(r"(?:i|we|my|our)\b", re.IGNORECASE)
SLOT_FORMS = (*(f"user.{name}" for name in sorted(_PLAIN)), "user.favorite_THING", "user.PERSON.name")
"""The slots there are: THING is a word, PERSON one for somebody close, such as partner, sister or dog."""


def find_slot(statement: Statement) -> str | None:
    """`user.home`; None where it fills none surely."""
    attribute = statement.attribute
    if attribute is None or not attribute.is_certain or statement.is_negated or statement.is_event:
        return None
    if statement.is_doubtful or statement.is_addition:
        return None
    return _name_slot(attribute, statement)


def is_slot(slot: str) -> bool:
    """Whether it is one of `SLOT_FORMS`."""
    owner, _, name = slot.partition(".")
    person, _, rest = name.partition(".")
    is_name = rest == "name" and person in PERSONS and stem(person) not in MANY_VALUED
    return owner == "user" and (name in _PLAIN or is_name or bool(_FAVOURITE.fullmatch(name)))


def can_fill(statement: Statement, slot: str) -> bool:
    """Whether a statement may be the value of a slot that somebody else named: its words speak of that, sure or not."""
    if statement.is_negated or statement.is_doubtful or statement.is_addition:
        return False
    own = _name_slot(statement.attribute, statement) if statement.attribute else None
    if own:
        return own == slot
    parts = {stem(word) for word in re.split(r"[._]", slot) if word not in _NOT_TELLING}
    is_about = not slot.startswith("user.") or bool(_ABOUT_USER.match(statement.text))
    return is_about and bool(parts) and parts <= {*stem_words(statement.text)}


def _name_slot(attribute: Attribute, statement: Statement) -> str | None:
    name = attribute.name
    if name in _OF_USER:
        is_own = statement.subjects <= {"user"} and (name == "name" or "user" in statement.subjects)
        return f"user.{name}" if is_own else None
    if not statement.text.lower().startswith(("my ", "our ", "i ", "we ")) and "favorite" not in name:
        return None
    if name in _SLOTS:
        return f"user.{_SLOTS[name]}"
    if name.startswith("favorite "):
        return f"user.{name.replace(' ', '_')}"
    if name in PERSONS and stem(name) not in MANY_VALUED:
        return f"user.{name}.name"
    return None


def find_question_words(slot: str) -> str | None:
    """The words in which people ask for what is in a slot, if those in which it is told are others."""
    found: str | None = TABLES["questions"].get(slot.removeprefix("user."))
    return found


def find_slot_value(statement: Statement) -> str:
    """The value that a statement gives to its slot, as it was said."""
    return statement.attribute.value if statement.attribute else ""
