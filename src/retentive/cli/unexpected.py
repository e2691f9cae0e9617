"""Turn unexpected exceptions into errors with a hint."""

from retentive.errors import RetentiveError, StorageError
from retentive.fs.paths import translate_os_error

DEFECT_HINT = "This is a bug. `python -X dev -m retentive ...` shows where; please report it."
PERMISSION_HINT = "Check that it exists, and may be read and written."


def describe_unexpected(error: Exception) -> RetentiveError:
    """Return a `StorageError` for an error of the operating system; anything else is a bug."""
    os_error = _find_os_error(error)
    if os_error is None:
        return RetentiveError(f"unexpected {type(error).__name__}: {error}", DEFECT_HINT)
    translated = translate_os_error(
        os_error, str(os_error.filename or "the operating system refused it"), PERMISSION_HINT
    )
    return translated if translated.hint != PERMISSION_HINT else StorageError(str(translated), PERMISSION_HINT)


def _find_os_error(error: BaseException) -> OSError | None:
    """The error itself, or the first among those that tasks of a server raised together."""
    if isinstance(error, BaseExceptionGroup):
        return next((found for each in error.exceptions if (found := _find_os_error(each))), None)
    return error if isinstance(error, OSError) else None
