"""Errors that no class of ours stands for, told so that somebody can do something about them."""

from retentive.errors import RetentiveError, StorageError
from retentive.fs.paths import translate_os_error

DEFECT = "It is a defect. `python -X dev -m retentive ...` shows where it is; please report that."
SEE_TO_IT = "See whether it is there, and may be read and written."


def describe_unexpected(error: Exception) -> RetentiveError:
    """What the system refused is a `StorageError`; anything else is a defect."""
    refused = _find_os_error(error)
    if refused is None:
        return RetentiveError(f"unexpected {type(error).__name__}: {error}", DEFECT)
    told = translate_os_error(refused, str(refused.filename or "the system refused it"), SEE_TO_IT)
    return told if told.hint != SEE_TO_IT else StorageError(str(told), SEE_TO_IT)


def _find_os_error(error: BaseException) -> OSError | None:
    """The error itself, or the first among those that tasks of a server raised together."""
    if isinstance(error, BaseExceptionGroup):
        return next((found for each in error.exceptions if (found := _find_os_error(each))), None)
    return error if isinstance(error, OSError) else None
