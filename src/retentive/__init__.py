"""Long-term memory for AI agents.

from retentive import Retentive

with Retentive.open() as memory:
    memory.add("The user's dog is called Rex", slot="user.dog.name")
    for hit in memory.search("what is my dog's name?"):
        print(hit.score, hit.content)
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from retentive.app import Retentive
    from retentive.embed.function import EmbedderFunction
    from retentive.errors import RetentiveError
    from retentive.model import (
        Access,
        Acquaintance,
        Added,
        Appended,
        Backfilled,
        Backup,
        Candidates,
        Change,
        Checked,
        CitedMemory,
        Compacted,
        ConsolidatedGroup,
        Consolidation,
        ConsolidationRule,
        Contact,
        Context,
        Deleted,
        Due,
        Ended,
        Event,
        Expectation,
        Exported,
        File,
        Forgotten,
        Heard,
        Hit,
        Imported,
        ImportedMemories,
        Indexed,
        Issued,
        Kind,
        Learned,
        Loaded,
        Memory,
        Omission,
        Outdated,
        Page,
        Passage,
        Priority,
        Profile,
        Project,
        Proposal,
        Provenance,
        Purged,
        QuarantinedRow,
        Record,
        Records,
        Refusal,
        Repaired,
        Repeat,
        Replay,
        Restored,
        Results,
        Revision,
        Role,
        Session,
        Skill,
        Skipped,
        Sought,
        Source,
        Stage,
        Status,
        Summary,
        Task,
        Tier,
        Token,
        Type,
        UndoneConsolidation,
        Why,
        WorkerStatus,
    )

__version__ = "0.1.0"

__all__ = [
    "Access",
    "Acquaintance",
    "Added",
    "Appended",
    "Backfilled",
    "Backup",
    "Candidates",
    "Change",
    "Checked",
    "CitedMemory",
    "Compacted",
    "ConsolidatedGroup",
    "Consolidation",
    "ConsolidationRule",
    "Contact",
    "Context",
    "Deleted",
    "Due",
    "EmbedderFunction",
    "Ended",
    "Event",
    "Expectation",
    "Exported",
    "File",
    "Forgotten",
    "Heard",
    "Hit",
    "Imported",
    "ImportedMemories",
    "Indexed",
    "Issued",
    "Kind",
    "Learned",
    "Loaded",
    "Memory",
    "Omission",
    "Outdated",
    "Page",
    "Passage",
    "Priority",
    "Profile",
    "Project",
    "Proposal",
    "Provenance",
    "Purged",
    "QuarantinedRow",
    "Record",
    "Records",
    "Refusal",
    "Repaired",
    "Repeat",
    "Replay",
    "Restored",
    "Results",
    "Retentive",
    "RetentiveError",
    "Revision",
    "Role",
    "Session",
    "Skill",
    "Skipped",
    "Sought",
    "Source",
    "Stage",
    "Status",
    "Summary",
    "Task",
    "Tier",
    "Token",
    "Type",
    "UndoneConsolidation",
    "Why",
    "WorkerStatus",
    "__version__",
]


def __getattr__(name: str) -> Any:
    """Names are imported when they are asked for: `retentive --help` needs none of them."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module = {"Retentive": "app", "RetentiveError": "errors", "EmbedderFunction": "embed.function"}.get(name, "model")
    return getattr(import_module(f"retentive.{module}"), name)


def __dir__() -> list[str]:
    return __all__
