"""The values that layers hand to each other. All are frozen; instants are UTC.

A module is imported when one of its names is asked for: a program that adds and searches needs half of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from retentive.model.backups import Backup, CompactResult, RestoreResult
    from retentive.model.consolidation import (
        ConsolidatedGroup,
        Consolidation,
        ConsolidationRule,
        MergedMemory,
        UndoConsolidationResult,
    )
    from retentive.model.conversation import (
        MESSAGE,
        REPLY,
        ROLES,
        AppendResult,
        Context,
        DeleteSessionResult,
        Event,
        ImportLogResult,
        Message,
        Omission,
        Replay,
        Role,
        Session,
        Summary,
    )
    from retentive.model.expectations import Expectation, ExpectationResult, ExpectedMemory
    from retentive.model.exports import ExportResult
    from retentive.model.files import Document, File, IndexResult, Passage, ResumePoint, Section, SkippedFile
    from retentive.model.forgetting import ForgetCandidates, ForgetResult, Provenance, PurgeResult, RemainingCopy
    from retentive.model.learning import Claim, HandledRequest, LearnResult, LlmCost, LlmTrial
    from retentive.model.memory import (
        DEFAULT_CONFIDENCE,
        DEFAULT_IMPORTANCE,
        VITAL_IMPORTANCE,
        Access,
        AddManyResult,
        AddResult,
        BackfillResult,
        Draft,
        HistoryEntry,
        Kind,
        Memory,
        Move,
        RefusedItem,
        Replacement,
        SimilarMemory,
        Source,
        Status,
        Traits,
    )
    from retentive.model.models import ModelCheck, ModelFile, ModelInfo, ModelTest
    from retentive.model.page import Page
    from retentive.model.proposals import Proposal, ProposalStatus, ReplacedMemory
    from retentive.model.records import (
        Contact,
        ContactType,
        DueSkill,
        Priority,
        Profile,
        Project,
        ProjectStatus,
        Record,
        Revision,
        Skill,
    )
    from retentive.model.repair import QuarantinedRow, RepairResult
    from retentive.model.search import (
        RECORDS,
        REFERENCE_SPREAD,
        REFERENCE_THRESHOLD,
        ChangedChunks,
        Filter,
        Fusion,
        Hit,
        ItemType,
        Match,
        Matches,
        Mode,
        Query,
        Reach,
        Results,
        RetrieverScore,
        Scope,
        Space,
        Successor,
        Tier,
        TimeMatch,
        TimeRelation,
        Why,
    )
    from retentive.model.spaces import (
        RecallChange,
        ReembedProgress,
        ReembedResult,
        ReembedStage,
        SpaceFigures,
        SpaceState,
        StoredSpace,
    )
    from retentive.model.timeline import TimelineDay
    from retentive.model.times import from_micros, iso, to_micros
    from retentive.model.tokens import Bounds, NewToken, Token
    from retentive.model.transfer import ImportMemoriesResult
    from retentive.model.trust import (
        AGENT,
        ImportTrust,
        Trust,
        describe_refusal,
        describe_source,
        find_lowest_trust,
        find_trust,
        is_held,
        is_said,
        may_replace,
    )
    from retentive.model.work import Task, WorkerStatus

_NAMES = {
    "backups": "Backup CompactResult RestoreResult",
    "consolidation": "ConsolidatedGroup Consolidation ConsolidationRule MergedMemory UndoConsolidationResult",
    "conversation": (
        "MESSAGE REPLY ROLES AppendResult Context DeleteSessionResult Event ImportLogResult Message Omission "
        "Replay Role Session Summary"
    ),
    "expectations": "Expectation ExpectationResult ExpectedMemory",
    "exports": "ExportResult",
    "files": "Document File IndexResult Passage ResumePoint Section SkippedFile",
    "forgetting": "ForgetCandidates ForgetResult Provenance PurgeResult RemainingCopy",
    "learning": "Claim HandledRequest LearnResult LlmCost LlmTrial",
    "memory": (
        "DEFAULT_CONFIDENCE DEFAULT_IMPORTANCE VITAL_IMPORTANCE Access AddManyResult AddResult BackfillResult "
        "Draft HistoryEntry Kind Memory Move RefusedItem Replacement SimilarMemory Source Status Traits"
    ),
    "models": "ModelCheck ModelFile ModelInfo ModelTest",
    "page": "Page",
    "proposals": "Proposal ProposalStatus ReplacedMemory",
    "records": "Contact ContactType DueSkill Priority Profile Project ProjectStatus Record Revision Skill",
    "repair": "QuarantinedRow RepairResult",
    "search": (
        "RECORDS REFERENCE_SPREAD REFERENCE_THRESHOLD ChangedChunks Filter Fusion Hit ItemType Match Matches "
        "Mode Query Reach Results RetrieverScore Scope Space Successor Tier TimeMatch TimeRelation Why"
    ),
    "spaces": "RecallChange ReembedProgress ReembedResult ReembedStage SpaceFigures SpaceState StoredSpace",
    "timeline": "TimelineDay",
    "times": "from_micros iso to_micros",
    "tokens": "Bounds NewToken Token",
    "transfer": "ImportMemoriesResult",
    "trust": (
        "AGENT ImportTrust Trust describe_refusal describe_source find_lowest_trust find_trust is_held "
        "is_said may_replace"
    ),
    "work": "Task WorkerStatus",
}
"""By module: the names that it has for others."""

_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = [*_MODULES]  # noqa: PLE0604 - all are texts


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
