"""Find the id that a part of it stands for, as git does for commits."""

from retentive.errors import Invalid
from retentive.ids import is_part
from retentive.storage.tables.ids import RECORDS, IdMatch
from retentive.store import OpenStore
from retentive.text.clip import clip

TABLES = {"memory": "memory", "note": "memory", "proposal": "proposal", "expectation": "expectation", "file": "file",
          "token": "token", **{name: name for name in RECORDS}}  # fmt: skip
"""What an id may be an id of, and the table."""
MAX_CANDIDATES = 5  # in an error
MAX_TEXT_CHARS = 40  # of a candidate


def find_id(store: OpenStore, text: str, of: str) -> str:
    """Return the only id that begins or ends with a text. Anything else is returned as it is.

    `Invalid` lists the candidates if there are several.
    """
    if of not in TABLES:
        raise Invalid(f"there are no ids of type {of!r}", f"Choose one of: {', '.join(TABLES)}.")
    is_name = of in RECORDS and text.isalpha()  # contacts are called Ada and Fae, too
    if is_name or not is_part(text):
        return text
    found = store.tables.ids.find(store.namespace, TABLES[of], text, MAX_CANDIDATES + 1)
    if not found or any(each.id == text for each in found):
        return text
    if len(found) > 1:
        raise Invalid(f"{text!r} matches several ids: {_describe(found)}", "Give more characters.")
    return found[0].id


def _describe(found: list[IdMatch]) -> str:
    shown = "; ".join(f"{each.id} ({clip(each.text, MAX_TEXT_CHARS)})" for each in found[:MAX_CANDIDATES])
    return f"{shown}; and more" if len(found) > MAX_CANDIDATES else shown
