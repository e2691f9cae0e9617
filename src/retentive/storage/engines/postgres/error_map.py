"""The driver's errors as ours."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import errors
from psycopg_pool import PoolClosed

from retentive.errors import (
    Busy,
    Closed,
    Corrupt,
    DiskFull,
    NotAStore,
    RetentiveError,
    Stale,
    StorageError,
    Unreachable,
    Unwritable,
)

_RIGHTS = "Ask whoever runs the database for the right to do this; see docs/how-to/postgres.md."
_LATER = "The server is busy, or the answer took longer than statement_timeout allows; retry in a moment."
_KINDS: dict[type[psycopg.Error], tuple[type[RetentiveError], str]] = {
    errors.UniqueViolation: (Stale, ""),
    errors.SerializationFailure: (Stale, ""),
    errors.DeadlockDetected: (Stale, ""),
    errors.DiskFull: (DiskFull, ""),
    errors.QueryCanceled: (Busy, _LATER),
    errors.LockNotAvailable: (Busy, _LATER),
    errors.TooManyConnections: (Busy, _LATER),
    errors.OutOfMemory: (Busy, _LATER),
    errors.InsufficientPrivilege: (Unwritable, _RIGHTS),
    errors.ReadOnlySqlTransaction: (Unwritable, "This server only reads; give the address of the primary."),
    errors.DataCorrupted: (Corrupt, ""),
    errors.InvalidTextRepresentation: (Corrupt, ""),  # JSON that is damaged: what comes from us is not
    errors.IndexCorrupted: (Corrupt, ""),
}
_GONE = (errors.AdminShutdown, errors.CrashShutdown, errors.CannotConnectNow, errors.IdleInTransactionSessionTimeout)
_DISTRUST = ("certificate", "does not support SSL")  # of what is wrong with the encryption: it does not pass by itself
_COMING = (
    "starting up",
    "shutting down",
    "in recovery",
    "too many",
    "not yet accepting",
)  # of refusals, those that pass


class Lost(Exception):
    """The connection is gone; what was under way on it is to be done again, if it may be."""

    def __init__(self, message: str, pool: Any = None) -> None:
        super().__init__(message)
        self.pool = pool
        """The one it came from, which has probably lost its others too."""


class Unsettled(Lost):
    """The connection is gone, and whether the commit went through is not known."""


def is_lost(connection: psycopg.Connection[Any], error: psycopg.Error) -> bool:
    """What the server says has a code. What the driver says of itself means that the two no longer talk."""
    own = error.sqlstate is None and isinstance(error, psycopg.OperationalError)
    return connection.closed or isinstance(error, _GONE) or (own and not isinstance(error, errors.PipelineAborted))


@contextmanager
def translated(where: str) -> Iterator[None]:
    try:
        yield
    except PoolClosed as error:
        raise Closed(f"{where} is closed") from error
    except psycopg.Error as error:
        raise problem(where, error) from error


def problem(where: str, error: psycopg.Error) -> RetentiveError:
    text = f"{where}: {error.diag.message_primary or str(error).strip()}"  # its details show what was to be written
    for kind, (ours, hint) in _KINDS.items():
        if isinstance(error, kind):
            return ours(text, hint)
    if error.sqlstate is None and any(word in text for word in _DISTRUST):
        return Unwritable(text, "Look at sslmode and sslrootcert in the address, and at the server's certificate.")
    if isinstance(error, psycopg.OperationalError) and (error.sqlstate is None or isinstance(error, _GONE)):
        return _refused(text) if "FATAL:" in text and not any(word in text for word in _COMING) else Unreachable(text)
    return StorageError(text)


def _refused(text: str) -> StorageError:
    """The server is there and will not have us."""
    if "does not exist" in text and "database" in text:
        return NotAStore(text, "Make the database first: createdb NAME")
    return Unwritable(text, "Look at user, password and pg_hba.conf; a password can stand in ~/.pgpass or PGPASSWORD.")
