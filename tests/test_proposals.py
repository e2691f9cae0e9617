"""Proposals: a newer memory that may replace an older one, until somebody decides."""

import pytest

from retentive import Retentive
from retentive.app.add import draft_of
from retentive.app.keep import keep
from retentive.app.plan import Kept
from retentive.model import Replacement

pytestmark = pytest.mark.engines


def propose(store: Retentive, text: str, *older: str, reason: str = "both name a drink") -> Kept:
    """Keep a memory that may replace others, as the judge of words would have it."""
    parts = store._parts
    draft = draft_of(parts, text, {})._replace(proposes=tuple(Replacement(id, "test", reason) for id in older))
    (kept,) = keep(parts, [draft])
    return kept
