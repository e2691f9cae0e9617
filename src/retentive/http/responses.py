"""How a request is refused: the same JSON as at every door."""

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
    said = {"type": kind, "message": message, "hint": hint, "retryable": retryable}
    return JSONResponse({"error": said}, status, headers)


def told(error: RetentiveError) -> JSONResponse:
    return JSONResponse(serialize.error(outward(error)), outcome(error).http)


def outward(error: RetentiveError) -> RetentiveError:
    """As the network may see it: what is wrong with the call; what is wrong here, with folders and hosts, is logged."""
    if isinstance(error, Invalid | NotFound | Forbidden | Conflict) and not isinstance(error, BadConfig):
        return error
    log.warning("%s: %s", type(error).__name__, error)
    hint = "Retry in a moment." if error.retryable else "Tell whoever runs the server; its log says why."
    return type(error)("the server cannot do this now", hint)


def too_many(wait: float, message: str) -> JSONResponse:
    """Come back after so many seconds, a little more rather than less."""
    after = {"Retry-After": str(int(wait) + 1)}
    return refusal(429, "TooManyRequests", message, f"Retry in {int(wait) + 1} s.", retryable=True, headers=after)
