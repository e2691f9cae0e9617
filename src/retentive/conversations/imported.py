"""The mark of imported conversations: their messages are not known to be the user's.

The mark is in the metadata of a session. It has the last message that was imported and not vouched for. Facts learned
from such a message count as imported, and the message is quoted where a model reads it.
"""

from collections.abc import Mapping
from typing import Any

from retentive.store.validate import MAX_SEQUENCE

MARK_KEY = "imported"
UPTO_KEY = "unvouched"  # in the mark: the last message that nobody vouched for; without it, all of the session


def find_imported(metadata: Mapping[str, Any] | None) -> int:
    """Return the last message of a session that was imported and not vouched for; 0 if there is none.

    Damaged metadata (None) vouches for no message.
    """
    if metadata is None:
        return MAX_SEQUENCE
    mark = metadata.get(MARK_KEY)
    if mark is None:
        return 0
    upto = mark.get(UPTO_KEY, MAX_SEQUENCE) if isinstance(mark, Mapping) else MAX_SEQUENCE
    return upto if isinstance(upto, int) else MAX_SEQUENCE


def mark_imported(metadata: Mapping[str, Any], upto: int) -> dict[str, Any]:
    """Return the metadata of a session with the mark."""
    mark = metadata.get(MARK_KEY)
    return {**metadata, MARK_KEY: {**(mark if isinstance(mark, Mapping) else {}), UPTO_KEY: upto}}
