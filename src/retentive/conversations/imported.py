"""Conversations that were imported: whose messages are not known to be the user's.

A mark among the metadata of a session says up to which message it was imported, and not vouched for. What is learned
from such a message counts as an import, and is quoted where a model reads it.
"""

from collections.abc import Mapping
from typing import Any

from retentive.store.validate import LAST

MARK = "imported"
UPTO = "unvouched"  # in the mark: the last message that nobody vouched for; without it, all of the session


def find_imported(metadata: Mapping[str, Any] | None) -> int:
    """The last message of a session that was imported and not vouched for; 0 if there is none.

    Where the metadata is damaged, None, nobody vouches for any of them.
    """
    if metadata is None:
        return LAST
    mark = metadata.get(MARK)
    if mark is None:
        return 0
    upto = mark.get(UPTO, LAST) if isinstance(mark, Mapping) else LAST
    return upto if isinstance(upto, int) else LAST


def mark_imported(metadata: Mapping[str, Any], upto: int) -> dict[str, Any]:
    """The metadata of a session with the mark."""
    mark = metadata.get(MARK)
    return {**metadata, MARK: {**(mark if isinstance(mark, Mapping) else {}), UPTO: upto}}
