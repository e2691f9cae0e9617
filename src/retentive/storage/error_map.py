"""Translate the errors of apsw, SQLite's driver, into those of Retentive."""

from collections.abc import Iterator
from contextlib import contextmanager

import apsw

from retentive.errors import Busy, Closed, Corrupt, DiskFull, NotAStore, Stale, StorageError, Unwritable
from retentive.fs.paths import CLOSE_SOME, has_free_descriptor

_ERRORS: dict[type[Exception], type[StorageError]] = {
    apsw.BusyError: Busy,
    apsw.LockedError: Busy,
    apsw.FullError: DiskFull,
    apsw.ReadOnlyError: Unwritable,
    apsw.CantOpenError: Unwritable,
    apsw.PermissionsError: Unwritable,
    apsw.NotADBError: NotAStore,
    apsw.CorruptError: Corrupt,
}
_UNIQUE_ERRORS = (apsw.SQLITE_CONSTRAINT_UNIQUE, apsw.SQLITE_CONSTRAINT_PRIMARYKEY)

# When pages are copied, SQLite reports the number of an error and no text.
_NO_TEXT = "not an error"
_TEXTS: dict[type[StorageError], str] = {
    Busy: "it is locked",
    DiskFull: "the disk is full",
    Unwritable: "it cannot be written",
    NotAStore: "it is not a database",
    Corrupt: "it is damaged",
}


@contextmanager
def translate_errors(where: str) -> Iterator[None]:
    try:
        yield
    except apsw.ConstraintError as error:
        kind = Stale if getattr(error, "extendedresult", None) in _UNIQUE_ERRORS else StorageError
        raise kind(f"{where}: {error}") from error
    except apsw.ConnectionClosedError as error:
        raise Closed(f"{where} is closed") from error
    except UnicodeDecodeError as error:  # a read asks again for the bytes; sealing rows cannot
        hint = "Run `repair()`; in integrity mode, after `integrity.stop()`."
        raise Corrupt(f"{where}: a text is not UTF-8", hint) from error
    except apsw.Error as error:
        raise _translate(where, error) from error


def _translate(where: str, error: apsw.Error) -> StorageError:
    kind = _ERRORS.get(type(error), StorageError)
    text = str(error)
    if isinstance(error, apsw.CantOpenError | apsw.IOError) and not has_free_descriptor():
        return Unwritable(f"{where}: this process has too many files open", CLOSE_SOME)
    if text == _NO_TEXT:
        text = _TEXTS.get(kind, type(error).__name__)
    return kind(f"{where}: {text}")
