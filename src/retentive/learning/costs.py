"""What learning from a conversation cost, recorded among the metadata of its session: calls, tokens in, tokens out."""

from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from typing import Any

from retentive.errors import Stale
from retentive.model import Cost
from retentive.storage.tables.conversations import update_step
from retentive.store import OpenStore
from retentive.store.write import MAX_ATTEMPTS

COST = "llm_cost"  # among the metadata of a session: what learning from it came to, of all times


def record_cost(store: OpenStore, session: str, cost: Cost) -> None:
    """Add a cost to what is recorded of a session. If others keep changing that, it is left: the day's count has it."""
    for _ in range(MAX_ATTEMPTS if cost.calls else 0):
        known = store.tables.conversations.get(store.namespace, session)
        if known is None:
            return
        total = read_cost(known.metadata).plus(cost)
        new = replace(known, metadata={**known.metadata, COST: asdict(total)})
        try:
            store.engine.apply([update_step(known, new)])
        except Stale:
            continue
        return


def read_cost(metadata: Mapping[str, Any]) -> Cost:
    """What is recorded among the metadata of a session; anybody can write there."""
    found = metadata.get(COST)
    told = found if isinstance(found, Mapping) else {}
    values = (told.get(each.name) for each in fields(Cost))
    return Cost(*(value if type(value) is int and value > 0 else 0 for value in values))
