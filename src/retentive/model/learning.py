"""Learning: what is found in talk, before it is compared with what is known."""

from dataclasses import dataclass
from datetime import datetime

from retentive.model.memory import DEFAULT_CONFIDENCE, DEFAULT_IMPORTANCE, Kind, Resemblance, Source
from retentive.model.proposals import Ended, Proposal


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement found in talk. It stands alone, in the third person: "The user lives in Porto."."""

    content: str
    kind: Kind
    said: datetime
    """When the words fell; relative dates in them were counted from here."""
    events: tuple[int, ...] = ()
    """The sequence numbers of the messages that it came from."""
    slot: str | None = None
    """What it is the value of, such as `user.home`: the newer one in a slot holds."""
    confidence: float = DEFAULT_CONFIDENCE[Source.EXTRACTED]
    importance: int = DEFAULT_IMPORTANCE
    valid_from: datetime | None = None
    """If it holds from another moment than that when it was said."""
    expires: datetime | None = None
    """When it ends, if the words say so: "until June 1"."""
    among_people: bool = False
    """Said in talk of several people, where much resembles what was said before and little replaces it."""
    tentative: bool = False
    """Kept only if it changes something that is known."""
    replaces: tuple[str, ...] = ()
    """The ids of memories that it makes untrue, as a language model says and the words bear out."""
    proposes: tuple[str, ...] = ()
    """The ids of memories that it may make untrue, as a language model says."""
    repeats: str = ""
    """The id of the memory that says the same, as a language model says."""
    is_guess: bool = False
    """Found by a language model in messages that say less than half of it: it ends nothing and fills no slot."""
    model: str = ""
    """The language model that found it."""
    prompt: str = ""
    """The version of the text that the model was asked with, such as `extract-1`."""
    personal: float = 0.0
    """How likely it is about the person rather than the project they work on, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Heard:
    """What was done about a request in plain words: "remember that ...", "forget my ..."."""

    verb: str
    """`keep`, `forget` or `correct`."""
    text: str
    """What to keep, or the words for what to forget."""
    memories: tuple[str, ...] = ()
    """The ids of what was kept or forgotten."""
    candidates: tuple[Resemblance, ...] = ()
    """What may have been meant, where that was unclear: nothing was forgotten. Ask which, and forget it by its id."""
    refused: str | None = None
    """Why it was not kept."""
    namespace: str | None = None
    """The namespace of these memories, if it is the person's and not the session's."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What asking a language model came to. Answers that could not be used are paid for, too."""

    calls: int = 0
    tokens_in: int = 0
    """Read by the model, as its provider counts them; estimated where it does not say."""
    tokens_out: int = 0
    """Written by it, with its thinking."""

    def plus(self, other: "Cost") -> "Cost":
        return Cost(self.calls + other.calls, self.tokens_in + other.tokens_in, self.tokens_out + other.tokens_out)


@dataclass(frozen=True, slots=True)
class LlmTrial:
    """How a language model did on a short conversation."""

    model: str
    prompt: str
    """The version of the text that it was asked with."""
    latency: float
    """Seconds until the answer to a question of five words."""
    seconds: float
    """Until the end of the extraction."""
    answers: int
    """How many it gave: a bad one is asked for once more."""
    valid: int
    """How many of them have the form that was asked for."""
    claims: tuple[str, ...]
    """What it found, as far as that is believed."""
    rejected: tuple[str, ...]
    """Why other claims were left out."""
    error: str | None
    """Why there is no extraction: it would be made by rules."""
    cost: Cost


@dataclass(frozen=True, slots=True)
class Learned:
    """What became of the messages of a session since the last time."""

    session: str
    upto: int
    """The sequence up to which messages were read."""
    events: int
    """How many were read this time."""
    kept: tuple[str, ...] = ()
    reinforced: tuple[str, ...] = ()
    """Known already: said again in other words, or in the same."""
    superseded: tuple[str, ...] = ()
    forgotten: tuple[str, ...] = ()
    unclear: tuple[Heard, ...] = ()
    """Requests to forget whose target could not be told."""
    refused: tuple[str, ...] = ()
    """Why claims were not kept: the rules of the secrets in them, never the secrets."""
    by: str = "rules"
    """Who read: `rules`, or the name of the language model."""
    notes: tuple[str, ...] = ()
    """What went wrong and was made up for."""
    ended: tuple[Ended, ...] = ()
    """The same memories as `superseded`, with their texts and why they ended."""
    proposals: tuple[Proposal, ...] = ()
    """What may replace what, and what may be about the person: all stays until somebody decides."""
    personal: tuple[str, ...] = ()
    """The ids among all of these that are in the person's namespace."""
    cost: Cost = Cost()
    """What the language model was asked this time."""
