"""The tools that look after the store."""

from collections.abc import Sequence

from retentive.mcp.caller import Reached
from retentive.mcp.tool import Answer, Tool

_SHOWN = "namespace memories by_kind by_status sessions events vectors_pending queries hit_rate".split()


def stats(reached: Reached) -> Answer:
    figures = reached.memory.stats()
    data = {name: figures[name] for name in _SHOWN} | {"failures": dict(reached.failures())}
    if reached.also:
        data["reads_also"] = [*reached.also]
    told = [f"{name}: {value}" for name, value in data.items() if value not in (None, {}, [])]
    return Answer("\n".join(told), data)


def backfill(reached: Reached) -> Answer:
    filled = reached.memory.backfill()
    data = {"done": filled.done, "remaining": filled.remaining}
    return Answer(f"Vectors made: {filled.done}, remaining: {filled.remaining}.", data)


def tools() -> Sequence[Tool]:
    return (
        Tool(
            "memory_stats", "How much is known",
            "How many memories and conversations there are, by kind, and whether anything is amiss.",
            stats, gives={"namespace": "string", "memories": "integer", "sessions": "integer"}, reads=True,
        ),
    )  # fmt: skip


def more() -> Sequence[Tool]:
    return (
        Tool(
            "memory_backfill", "Make missing vectors",
            "Make the vectors that are still missing, e.g. after the model could not be loaded. The server does it by "
            "itself.",
            backfill, gives={"done": "integer", "remaining": "integer"}, repeatable=True, long=True,
        ),
    )  # fmt: skip
