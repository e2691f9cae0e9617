"""The errors of the library, and what to do about them.

    RetentiveError
    ├── Invalid            the caller's input is wrong; nothing was changed
    │   ├── BadConfig      a setting cannot be used
    │   └── SecretFound    it holds a password, key or token; the rule is named, never the secret
    ├── NotFound           no such memory, session or note in this namespace
    ├── Forbidden          the caller may not: another namespace, a write where one may only read, the whole store
    ├── Conflict           the store is not as the caller expected
    │   └── Stale          someone else was first; read again (but for summaries, the store does so itself)
    ├── StorageError       the database cannot do it
    │   ├── Unwritable     the file or folder cannot be created or written, or the server turns us away
    │   ├── DiskFull       no space left; nothing of the write was stored
    │   ├── Busy           another process held the lock for too long, or the server does not answer
    │   ├── NotAStore      the file is not a Retentive database
    │   ├── NewerSchema    the file was written by a newer Retentive
    │   ├── Corrupt        the file, or a part of it, is damaged
    │   │   └── DamagedRow one row cannot be read; the rest can
    │   ├── Unreachable    the database server does not answer
    │   ├── Uncertain      the connection was lost at the last moment: the write may have been kept
    │   └── Closed         the store was closed, or belongs to the process this one was forked from
    ├── EmbedError         text could not be turned into a vector (writes go on without)
    │   ├── ModelMissing   the model's files are not on this machine, or its provider does not serve it to us
    │   ├── ModelUnfit     a file is damaged, or not the model it should be; or vectors of another length come
    │   └── PartlyEmbedded only the first texts have vectors: the model was too slow, or failed; `vectors` has them
    ├── LlmError           the language model could not be asked, or not used (learning goes on by rules)
    │   ├── KeyRefused     its provider does not accept the key
    │   ├── Overloaded     its provider is busy or limits us; `retry_after` has the seconds it asks for
    │   ├── NoAnswer       its server could not be reached, did not answer in time, or broke off
    │   │   └── Paused     its server failed a moment ago, and is left alone for a while: nothing was sent
    │   ├── Spent          as many questions or tokens as a day may have are used up
    │   ├── Declined       the model does not want to answer this
    │   └── Unusable       the answer is not what was asked for
    ├── RerankError        the reranker could not be asked, or was too slow (the search goes on without)
    └── MissingExtra       an optional dependency is not installed

Every error says in `hint` what to do and in `retryable` whether the same call may succeed later.
Driver exceptions never leave the folder that talks to the driver.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple


class RetentiveError(Exception):
    default_hint = ""
    retryable = False

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint or self.default_hint


class Invalid(RetentiveError): ...


class BadConfig(Invalid):
    default_hint = "`config.resolve()` shows each setting and where it comes from."


class SecretFound(Invalid): ...


class NotFound(RetentiveError):
    default_hint = "`list()` shows the ids of a namespace."


class Forbidden(RetentiveError):
    default_hint = "Ask the operator of the store for a token that allows it."


class Conflict(RetentiveError): ...


class Stale(Conflict):
    retryable = True
    default_hint = "Someone else changed it first; read it again and retry."


class StorageError(RetentiveError):
    default_hint = "Run `doctor()`; if it finds nothing, check the disk."


class Unwritable(StorageError):
    default_hint = "Choose another file (`Retentive.open(FILE)`, RETENTIVE_DB), or correct the permissions of this one."


class DiskFull(StorageError):
    retryable = True
    default_hint = "Free some space and retry; nothing of this write was stored."


class Busy(StorageError):
    retryable = True
    default_hint = "Another process is writing; retry in a moment."


class NotAStore(StorageError):
    default_hint = "Choose another file: `Retentive.open(FILE)`. If this one was a store, restore a backup."


class NewerSchema(StorageError):
    default_hint = "Upgrade with `pip install --upgrade retentive`; the file was left as it is."


class Corrupt(StorageError):
    default_hint = "Run `repair()`: it rebuilds indexes, and says what to do if more is damaged."


class DamagedRow(Corrupt):
    default_hint = "`repair()` moves it to the quarantine; a backup may have an intact copy."

    def __init__(self, message: str, hint: str = "", *, table: str = "", id: str = "") -> None:
        super().__init__(message, hint)
        self.table, self.id = table, id


class DamageWarning(UserWarning):
    """Something was left out of an answer because its row is damaged."""


class Unreachable(StorageError):
    retryable = True
    default_hint = "Check that the server is running and the address is right, then retry."


class Uncertain(StorageError):
    default_hint = "Check whether it was stored before you repeat it; adding the same text again does no harm."


class Closed(StorageError):
    default_hint = "Open the store again."


class EmbedError(RetentiveError):
    retryable = True
    default_hint = "Memories are stored without vectors until then; `backfill()` adds them."


class ModelMissing(EmbedError):
    retryable = False


class ModelUnfit(EmbedError):
    retryable = False


class PartlyEmbedded(EmbedError):
    def __init__(self, message: str, hint: str = "", *, vectors: Sequence[Any] = ()) -> None:
        super().__init__(message, hint)
        self.vectors = vectors


class LlmError(RetentiveError):
    default_hint = "Learning continues with rules alone. Check the settings llm, llm_url and llm_key."

    def __init__(self, message: str, hint: str = "", *, tokens: int = 0, tokens_out: int = 0) -> None:
        super().__init__(message, hint)
        self.tokens = tokens
        """Read and written by the model nevertheless: they are paid for."""
        self.tokens_out = tokens_out
        """How many of them it wrote."""


class KeyRefused(LlmError):
    default_hint = "Set the provider's key as RETENTIVE_LLM_KEY in the environment, or store it in the system keyring."


class Overloaded(LlmError):
    retryable = True
    default_hint = "Learning continues with rules alone; retry later."

    def __init__(self, message: str, hint: str = "", *, retry_after: float | None = None) -> None:
        super().__init__(message, hint)
        self.retry_after = retry_after


class NoAnswer(LlmError):
    retryable = True
    default_hint = "Check that the server is running and llm_url is right; a slow model needs a longer llm_timeout."


class Paused(NoAnswer): ...


class Spent(LlmError): ...


class Declined(LlmError):
    default_hint = "Learning continues with rules alone."


class Unusable(LlmError):
    default_hint = "Learning continues with rules alone. If this happens often, set llm to a larger model."


class RerankError(RetentiveError):
    default_hint = "Check the settings rerank, rerank_model and rerank_url; `rerank = none` switches it off."
    retryable = True


class MissingExtra(RetentiveError): ...


class Outcome(NamedTuple):
    """The exit code of the command line and the HTTP status for an error."""

    exit_code: int
    http: int


OUTCOMES: dict[type[RetentiveError], Outcome] = {
    RetentiveError: Outcome(1, 500),
    Invalid: Outcome(2, 400),
    BadConfig: Outcome(2, 500),
    NotFound: Outcome(3, 404),
    Conflict: Outcome(4, 409),
    StorageError: Outcome(5, 503),
    EmbedError: Outcome(6, 503),
    MissingExtra: Outcome(7, 501),
    LlmError: Outcome(8, 502),
    RerankError: Outcome(8, 502),
    Forbidden: Outcome(9, 403),
}


def outcome(error: RetentiveError) -> Outcome:
    """Return the row of the nearest class in the tree."""
    return next(OUTCOMES[kind] for kind in type(error).__mro__ if kind in OUTCOMES)
