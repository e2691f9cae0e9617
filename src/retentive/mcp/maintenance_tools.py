"""The tools that look after the store."""

from collections.abc import Sequence

from retentive.mcp.caller import Caller
from retentive.mcp.tool import Answer, Tool, integer
from retentive.store.vectors import EMBED_BATCH_SIZE

_SHOWN = "namespace memories by_kind by_status sessions events vectors_pending queries hit_rate".split()


def stats(caller: Caller) -> Answer:
    figures = caller.memory.stats()
    data = {name: figures[name] for name in _SHOWN} | {"failures": dict(caller.failures())}
    if caller.also_read:
        data["reads_also"] = [*caller.also_read]
    lines = [f"{name}: {value}" for name, value in data.items() if value not in (None, {}, [])]
    return Answer("\n".join(lines), data)


def backfill(caller: Caller, batch: int = EMBED_BATCH_SIZE) -> Answer:
    filled = caller.memory.backfill(batch)
    data = {"done": filled.done, "remaining": filled.remaining}
    return Answer(f"Vectors computed: {filled.done}, remaining: {filled.remaining}.", data)


def list_tools() -> Sequence[Tool]:
    """Tools of the full set."""
    return (
        Tool(
            "memory_stats", "How much is known",
            "Count memories and conversations, by kind, and report any problems.",
            stats, gives={"namespace": "string", "memories": "integer", "sessions": "integer"}, reads=True,
        ),
        Tool(
            "memory_backfill", "Compute missing vectors",
            "Embed text that has no vector yet, for example because the model could not be loaded. The server does "
            "this on its own.",
            backfill, {"batch": integer(1, 1000, EMBED_BATCH_SIZE, "Texts at a time")},
            gives={"done": "integer", "remaining": "integer"}, repeatable=True, long=True,
        ),
    )  # fmt: skip
