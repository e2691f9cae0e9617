"""How a request is refused: the same JSON as at every door."""

from collections.abc import Mapping

from starlette.responses import JSONResponse

from retentive import wire
from retentive.errors import RetentiveError, outcome


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
    return JSONResponse(wire.error(error), outcome(error).http)


def too_many(wait: float, message: str) -> JSONResponse:
    """Come back after so many seconds, a little more rather than less."""
    after = {"Retry-After": str(int(wait) + 1)}
    return refusal(429, "TooManyRequests", message, f"Retry in {int(wait) + 1} s.", retryable=True, headers=after)
