"""Learning: claims and requests found in conversations, and the results of learning from them."""

from datetime import datetime

from retentive.frozen_dataclass import dataclass
from retentive.model.memory import DEFAULT_CONFIDENCE, DEFAULT_IMPORTANCE, Kind, SimilarMemory, Source
from retentive.model.proposals import Proposal, ReplacedMemory


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement found in a conversation, as a sentence in the third person: "The user lives in Porto."."""

    content: str
    kind: Kind
    said: datetime
    """When it was said. Relative dates in the text were counted from here."""
    events: tuple[int, ...] = ()
    """The sequence numbers of its source messages."""
    slot: str | None = None
    """The attribute whose value it gives, such as `user.home`; the newest value of a slot is the current one."""
    confidence: float = DEFAULT_CONFIDENCE[Source.EXTRACTED]
    importance: int = DEFAULT_IMPORTANCE
    valid_from: datetime | None = None
    """When it became true, if not when it was said."""
    expires: datetime | None = None
    """When it stops being true, if the words say so: "until June 1"."""
    among_people: bool = False
    """Said in a conversation of several people, where similar statements rarely replace each other."""
    is_tentative: bool = False
    """Uncertain: it is kept only if it changes a memory. A tentative request to forget only lists candidates."""
    replaces: tuple[str, ...] = ()
    """The ids of memories that it makes untrue, named by a language model and confirmed by the words."""
    proposes: tuple[str, ...] = ()
    """The ids of memories that it may make untrue, named by a language model."""
    repeats: str = ""
    """The id of the memory that says the same, named by a language model."""
    is_guess: bool = False
    """Made by a language model from messages with less than half of its words: it ends no memory, fills no slot."""
    model: str = ""
    """The language model that found it."""
    prompt: str = ""
    """The version of the prompt, such as `extract-1`."""
    personal: float = 0.0
    """The probability, from 0 to 1, that it is about the person rather than about their project."""


@dataclass(frozen=True, slots=True)
class HandledRequest:
    """An explicit request, such as "remember that ..." or "forget my ...", and what was done about it."""

    verb: str
    """`keep`, `forget` or `correct`."""
    text: str
    """The text to keep, or the words that say what to forget."""
    memories: tuple[str, ...] = ()
    """The ids of the memories that were kept or forgotten."""
    candidates: tuple[SimilarMemory, ...] = ()
    """Memories that an unclear request may mean. Nothing was forgotten: ask which one, and forget it by its id."""
    refused: str | None = None
    """The reason why the text was not kept."""
    namespace: str | None = None
    """The namespace of these memories, if it is the person's rather than the session's."""
    replaced: tuple[ReplacedMemory, ...] = ()
    """The older memories that the kept one replaced."""


@dataclass(frozen=True, slots=True)
class LlmCost:
    """The cost of calls to a language model, including answers that could not be used."""

    calls: int = 0
    tokens_in: int = 0
    """Input tokens as the provider counts them; estimated if it does not report them."""
    tokens_out: int = 0
    """Output tokens, including reasoning."""

    def plus(self, other: "LlmCost") -> "LlmCost":
        return LlmCost(self.calls + other.calls, self.tokens_in + other.tokens_in, self.tokens_out + other.tokens_out)


@dataclass(frozen=True, slots=True)
class LlmTrial:
    """The result of testing a language model on a short conversation."""

    model: str
    prompt: str
    """The version of the prompt."""
    latency: float
    """The seconds it took to answer a question of five words."""
    seconds: float
    """The seconds that the whole extraction took."""
    answers: int
    """The number of answers: after an invalid one the model is asked once more."""
    valid: int
    """The number of answers in the requested format."""
    claims: tuple[str, ...]
    """The claims that passed validation."""
    rejected: tuple[str, ...]
    """The reasons why other claims were left out."""
    error: str | None
    """Why the model gave no usable result; learning would then fall back to rules."""
    cost: LlmCost


@dataclass(frozen=True, slots=True)
class LearnResult:
    """The result of learning from the new messages of a session."""

    session: str
    upto: int
    """The sequence up to which messages were read."""
    events: int
    """The number of messages read this time."""
    kept: tuple[str, ...] = ()
    reinforced: tuple[str, ...] = ()
    """The ids of memories that were said again, in the same or other words."""
    superseded: tuple[str, ...] = ()
    forgotten: tuple[str, ...] = ()
    unclear: tuple[HandledRequest, ...] = ()
    """Requests to forget whose target is unclear."""
    refused: tuple[str, ...] = ()
    """Reasons why claims were not kept. They name the rule that found a secret, never the secret."""
    by: str = "rules"
    """The extractor: `rules`, or the name of the language model."""
    notes: tuple[str, ...] = ()
    """Problems from which learning recovered."""
    replaced: tuple[ReplacedMemory, ...] = ()
    """The same memories as `superseded`, with their texts and why they ended."""
    proposals: tuple[Proposal, ...] = ()
    """Proposed replacements and proposed moves to the person's namespace. Nothing changes until somebody decides."""
    personal: tuple[str, ...] = ()
    """Those of all these ids that are in the person's namespace."""
    cost: LlmCost = LlmCost()
    """The cost of the calls to the language model this time."""
