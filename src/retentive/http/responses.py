"""Error responses: the JSON of errors is the same over HTTP, MCP and on the command line."""

import logging
from collections.abc import Mapping

from starlette.responses import JSONResponse

from retentive import serialize
from retentive.errors import BadConfig, Conflict, Forbidden, Invalid, NotFound, RetentiveError, outcome

log = logging.getLogger(__name__)


def refusal(
    status: int,
    kind: str,
    message: str,
    hint: str = "",
    *,
    retryable: bool = False,
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """Build a response that refuses a request."""
    error = {"type": kind, "message": message, "hint": hint, "retryable": retryable}
    return JSONResponse({"error": error}, status, headers)


def error_response(error: RetentiveError) -> JSONResponse:
    return JSONResponse(serialize.error(redact_error(error)), outcome(error).http)


def redact_error(error: RetentiveError) -> RetentiveError:
    """Return the error that a network client may see. Errors of the server itself, with paths and hosts, are logged."""
    if isinstance(error, Invalid | NotFound | Forbidden | Conflict) and not isinstance(error, BadConfig):
        return error
    log.warning("%s: %s", type(error).__name__, error)
    hint = "Retry in a moment." if error.retryable else "Contact the operator of the server; its log says why."
    return type(error)("the server cannot do this now", hint)


def too_many(wait: float, message: str) -> JSONResponse:
    """Build a 429 response that asks to retry after `wait` seconds, rounded up."""
    seconds = int(wait) + 1
    headers = {"Retry-After": str(seconds)}
    return refusal(429, "TooManyRequests", message, f"Retry in {seconds} s.", retryable=True, headers=headers)
