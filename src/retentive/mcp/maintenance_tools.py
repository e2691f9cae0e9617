"""The tools that look after the store."""

from collections.abc import Sequence

from retentive.mcp.caller import Caller
from retentive.mcp.tool import Answer, Tool

_SHOWN = "namespace memories by_kind by_status sessions events vectors_pending queries hit_rate".split()


def stats(caller: Caller) -> Answer:
    figures = caller.memory.stats()
    data = {name: figures[name] for name in _SHOWN} | {"failures": dict(caller.failures())}
    if caller.also_read:
        data["reads_also"] = [*caller.also_read]
    lines = [f"{name}: {value}" for name, value in data.items() if value not in (None, {}, [])]
    return Answer("\n".join(lines), data)


def backfill(caller: Caller) -> Answer:
    filled = caller.memory.backfill()
    data = {"done": filled.done, "remaining": filled.remaining}
    return Answer(f"Vectors made: {filled.done}, remaining: {filled.remaining}.", data)


def list_default_tools() -> Sequence[Tool]:
    return (
        Tool(
            "memory_stats", "How much is known",
            "How many memories and conversations there are, by kind, and whether anything is amiss.",
            stats, gives={"namespace": "string", "memories": "integer", "sessions": "integer"}, reads=True,
        ),
    )  # fmt: skip


def list_further_tools() -> Sequence[Tool]:
    return (
        Tool(
            "memory_backfill", "Make missing vectors",
            "Make the vectors that are still missing, e.g. after the model could not be loaded. The server does it by "
            "itself.",
            backfill, gives={"done": "integer", "remaining": "integer"}, repeatable=True, long=True,
        ),
    )  # fmt: skip
