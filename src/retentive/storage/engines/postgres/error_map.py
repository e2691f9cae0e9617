"""Translate the errors of psycopg into those of Retentive."""

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

FAILED_GUARD = "a step found another state than the one it was decided on"
"""What division by zero means: `guard_statement` divides by whether a step changed as many rows as it should."""

_RIGHTS_HINT = "Ask whoever runs the database for the right to do this; see docs/how-to/postgres.md."
_BUSY_HINT = "The server is busy, or the answer took longer than statement_timeout allows; retry in a moment."
_ERRORS: dict[type[psycopg.Error], tuple[type[RetentiveError], str]] = {
    errors.UniqueViolation: (Stale, ""),
    errors.SerializationFailure: (Stale, ""),
    errors.DeadlockDetected: (Stale, ""),
    errors.DiskFull: (DiskFull, ""),
    errors.QueryCanceled: (Busy, _BUSY_HINT),
    errors.LockNotAvailable: (Busy, _BUSY_HINT),
    errors.TooManyConnections: (Busy, _BUSY_HINT),
    errors.OutOfMemory: (Busy, _BUSY_HINT),
    errors.InsufficientPrivilege: (Unwritable, _RIGHTS_HINT),
    errors.ReadOnlySqlTransaction: (Unwritable, "This server only reads; give the address of the primary."),
    errors.DataCorrupted: (Corrupt, ""),
    errors.InvalidTextRepresentation: (Corrupt, ""),  # damaged JSON: ours is always valid
    errors.IndexCorrupted: (Corrupt, ""),
}
_CONNECTION_ENDED = (
    errors.AdminShutdown,
    errors.CrashShutdown,
    errors.CannotConnectNow,
    errors.IdleInTransactionSessionTimeout,
)
CONNECTION_CLASS = "08"  # of error codes
REMOTE_NODE = "connection to the remote node"  # Citus, which does not always give a code of that class
_TLS_ERRORS = ("certificate", "does not support SSL")  # a retry would not help
_TEMPORARY_REFUSALS = ("starting up", "shutting down", "in recovery", "too many", "not yet accepting")


class ConnectionLost(Exception):
    """The connection is gone; the work on it must be repeated, if it may be."""

    def __init__(self, message: str, pool: Any = None) -> None:
        super().__init__(message)
        self.pool = pool
        """The pool of the connection, whose other connections are probably lost too."""


class CommitUnknown(ConnectionLost):
    """The connection is gone, and it is not known whether the commit went through."""


def is_lost(connection: psycopg.Connection[Any], error: psycopg.Error) -> bool:
    """Whether an error means that the connection is gone.

    Errors of the server have a code. An operational error of the driver itself means that the two no longer talk.
    """
    if connection.closed or isinstance(error, _CONNECTION_ENDED) or is_lost_behind(error):
        return True
    is_from_driver = error.sqlstate is None and isinstance(error, psycopg.OperationalError)
    return is_from_driver and not isinstance(error, errors.PipelineAborted)


def is_lost_behind(error: psycopg.Error) -> bool:
    """Whether the server itself lost a connection: one of a cluster, to another machine of it."""
    return (error.sqlstate or "").startswith(CONNECTION_CLASS) or REMOTE_NODE in str(error)


@contextmanager
def translate_errors(where: str) -> Iterator[None]:
    try:
        yield
    except PoolClosed as error:
        raise Closed(f"{where} is closed") from error
    except psycopg.Error as error:
        raise translate_error(where, error) from error


def translate_error(where: str, error: psycopg.Error) -> RetentiveError:
    # The details of the message are left out: they would show the values to be written.
    if isinstance(error, errors.DivisionByZero):
        return Stale(f"{where}: {FAILED_GUARD}")
    text = f"{where}: {error.diag.message_primary or str(error).strip()}"
    if is_lost_behind(error):
        return Unreachable(text)
    for kind, (ours, hint) in _ERRORS.items():
        if isinstance(error, kind):
            return ours(text, hint)
    if error.sqlstate is None and any(word in text for word in _TLS_ERRORS):
        return Unwritable(text, "Look at sslmode and sslrootcert in the address, and at the server's certificate.")
    if isinstance(error, psycopg.OperationalError) and (error.sqlstate is None or isinstance(error, _CONNECTION_ENDED)):
        is_refusal = "FATAL:" in text and not any(word in text for word in _TEMPORARY_REFUSALS)
        return _explain_refusal(text) if is_refusal else Unreachable(text)
    return StorageError(text)


def _explain_refusal(text: str) -> StorageError:
    """The error for a server that is reachable but refuses the connection."""
    if "does not exist" in text and "database" in text:
        return NotAStore(text, "Make the database first: createdb NAME")
    return Unwritable(text, "Look at user, password and pg_hba.conf; a password can stand in ~/.pgpass or PGPASSWORD.")
