"""Which slot of the profile does a statement about the user fill?"""

from retentive.learn.corrections.statement import MANY_VALUED, PERSONS, TABLES, Attribute, Statement
from retentive.learn.corrections.stems import stem

_OF_USER = frozenset({"home", "employer", "name", "age", *TABLES["states"]})
_SLOTS: dict[str, str] = TABLES["slots"]


def find_slot(statement: Statement) -> str | None:
    """`user.home`; None where it fills none surely."""
    attribute = statement.attribute
    if attribute is None or not attribute.is_certain or statement.is_negated or statement.is_event:
        return None
    if statement.is_doubtful or statement.is_addition:
        return None
    return _name_slot(attribute, statement)


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
    found: str | None = TABLES["questions"].get(slot.rpartition(".")[2])
    return found


def find_slot_value(statement: Statement) -> str:
    """The value that a statement gives to its slot, as it was said."""
    return statement.attribute.value if statement.attribute else ""
