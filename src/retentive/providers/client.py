"""One HTTP client for all providers: JSON out, bytes in.

a. A request refused with 408, 429 or 5xx is repeated after the pause in `Retry-After`, else after a pause that doubles,
   within the limits of `Retries`. For callers that cannot wait so long, see `embed/time_limit.py`.
b. A request without an answer (no connection, a timeout, an answer that breaks off) is not repeated: it opens the
   circuit breaker. So do a refused key and a server that stays overloaded.
c. Redirections are not followed, so a key never goes to another server. Servers on this machine are called directly,
   without a proxy.
d. At most `MAX_CALLS` requests run at a time. No error contains the key, or the request that has it.
"""

from __future__ import annotations

import json
import random
import threading
import time
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from retentive.providers.breaker import Breaker

if TYPE_CHECKING:
    from collections.abc import Mapping

    import httpx

MAX_CALLS = 4  # more only queue up at a local server, and reach a provider's rate limit sooner
MAX_CONNECT_SECONDS = 5.0  # a server that takes longer is down, or too far away
MAX_BODY_BYTES = 64 << 20  # a batch of long vectors has 10 MB
MAX_MESSAGE_CHARS = 300  # of a server's error message
KEY_MASK = "***"  # replaces the key in messages

_LOCAL_SERVERS = ("all://localhost", "all://127.0.0.1", "all://[::1]")
_HTTP_UNAUTHORIZED, _HTTP_FORBIDDEN = 401, 403
_BAD_REQUEST_STATUSES = (400, 413, 422)  # the server works, and refuses this request
_HTTP_TIMEOUT, _HTTP_TOO_MANY, _HTTP_SERVER_ERROR = 408, 429, 500


class Unanswered(Exception):
    """The server gave no answer: it could not be reached, was too slow, or broke off. Stays inside the package."""


class CircuitOpen(Unanswered):
    """The circuit breaker is open."""


class Refusal(Exception):
    """A server's answer with an error status, and its message. Stays inside the package."""

    def __init__(self, status: int, headers: Mapping[str, str], body: str, key: str = "") -> None:
        super().__init__(status)
        self.status = status
        self.body = body
        message = parse_error_message(body)
        self.message = message.replace(key, KEY_MASK) if key else message
        self.retry_after = _parse_retry_after(headers.get("retry-after", ""))

    @property
    def is_key_refused(self) -> bool:
        return self.status in (_HTTP_UNAUTHORIZED, _HTTP_FORBIDDEN)

    @property
    def is_about_request(self) -> bool:
        return self.status in _BAD_REQUEST_STATUSES

    @property
    def is_temporary(self) -> bool:
        """Whether the same request may be answered later."""
        return self.status in (_HTTP_TIMEOUT, _HTTP_TOO_MANY) or self.status >= _HTTP_SERVER_ERROR


class Retries(NamedTuple):
    """How often, and after which pause, a request that was refused for the moment is repeated."""

    max_retries: int
    max_pause: float
    """Seconds. If a server asks for more, the request is not repeated."""
    first_pause: float | None = None
    """The pause if the server names none, doubled each time. None: such a request is not repeated."""

    def choose_pause(self, refusal: Refusal, tries: int) -> float | None:
        """Return the seconds until the next try; None if there is none."""
        if not refusal.is_temporary or tries >= self.max_retries:
            return None
        if refusal.retry_after is not None:
            return refusal.retry_after if refusal.retry_after <= self.max_pause else None
        if self.first_pause is None:
            return None
        return float(min(self.first_pause * 2**tries, self.max_pause) * random.uniform(0.5, 1.0))  # noqa: S311 - spreads callers


NO_RETRIES = Retries(max_retries=0, max_pause=0.0)


class Client:
    """Calls one server. Safe to use from many threads, not from a forked process."""

    def __init__(
        self,
        url: str,
        *,
        key: str = "",
        headers: Mapping[str, str] | None = None,
        timeout: float = 60.0,
        retries: Retries = NO_RETRIES,
        breaker: Breaker | None = None,
    ) -> None:
        """`headers` are sent with each request; without them the key is sent as a bearer token."""
        self.host = urlsplit(url).netloc.rpartition("@")[2] or url
        self.timeout = timeout
        self.breaker = breaker or Breaker()
        self.requests = 0
        """The number of requests sent, failed ones included."""
        self._url = url.rstrip("/")
        self._key = key
        self._headers = headers if headers is not None else {"Authorization": f"Bearer {key}"} if key else {}
        self._retries = retries
        self._slots = threading.BoundedSemaphore(MAX_CALLS)
        self._open_lock = threading.Lock()
        self._http: httpx.Client | None = None
        self._closed = threading.Event()

    def post(self, path: str, body: Mapping[str, Any], timeout: float | None = None) -> bytes:
        """Return the body of the answer. Raises `Refusal`, or `Unanswered` if there is none."""
        content = json.dumps(body).encode()
        with self._slots:
            if reason := self.breaker.try_call():
                raise CircuitOpen(f"{self.host} is {reason}")
            try:
                return self._post_with_retries(path, content, timeout or self.timeout)
            except (Refusal, Unanswered):
                raise
            except BaseException:
                self.breaker.abandon()
                raise

    def close(self) -> None:
        """Close connections, and end pauses between tries. A later call connects again."""
        self._closed.set()
        with self._open_lock:
            if self._http:
                self._http.close()
            self._http = None
            self._closed = threading.Event()

    def _post_with_retries(self, path: str, content: bytes, timeout: float) -> bytes:
        tries = 0
        closed = self._closed
        while True:
            try:
                answer = self._send(path, content, timeout)
            except Unanswered as error:
                self.breaker.fail(str(error))
                raise
            except Refusal as refusal:
                if refusal.is_about_request:
                    self.breaker.succeed()
                    raise
                pause = self._retries.choose_pause(refusal, tries)
                if pause is None or closed.wait(pause):
                    self.breaker.fail(f"it answered {refusal.status} {refusal.message}".strip(), refusal.retry_after)
                    raise
                tries += 1
                continue
            self.breaker.succeed()
            return answer

    def _send(self, path: str, content: bytes, timeout: float) -> bytes:
        import httpx

        limits = httpx.Timeout(timeout, connect=min(timeout, MAX_CONNECT_SECONDS))
        headers = {"Content-Type": "application/json", **self._headers}
        http = self._open()
        deadline = time.monotonic() + timeout
        self.requests += 1
        try:
            with http.stream("POST", self._url + path, content=content, headers=headers, timeout=limits) as response:
                body = self._read_body(response, deadline, timeout)
                if response.is_success:
                    return body
                raise Refusal(response.status_code, response.headers, body.decode("utf-8", "replace"), self._key)
        except httpx.TimeoutException:
            raise self._make_timeout_error(timeout) from None  # the error has the request, and that the key
        except (httpx.HTTPError, httpx.InvalidURL, RuntimeError) as error:
            # RuntimeError: the client was closed meanwhile
            reason = str(error)[:MAX_MESSAGE_CHARS] or type(error).__name__
            raise Unanswered(f"{self.host} could not be reached: {reason}") from None

    def _read_body(self, response: httpx.Response, deadline: float, timeout: float) -> bytes:
        """Read the body before the deadline. The timeout of httpx limits each piece, not all of them."""
        pieces: list[bytes] = []
        size = 0
        for piece in response.iter_bytes():
            pieces.append(piece)
            size += len(piece)
            if time.monotonic() > deadline:
                raise self._make_timeout_error(timeout)
            if size > MAX_BODY_BYTES:
                raise Unanswered(f"{self.host} answered with more than {MAX_BODY_BYTES >> 20} MB")
        return b"".join(pieces)

    def _make_timeout_error(self, timeout: float) -> Unanswered:
        return Unanswered(f"{self.host} did not answer within {timeout:g} seconds")

    def _open(self) -> httpx.Client:
        """Return the HTTP client. The first request makes it, because reading certificates takes a moment."""
        import httpx

        with self._open_lock:
            if self._http is None:
                self._http = httpx.Client(mounts=dict.fromkeys(_LOCAL_SERVERS), follow_redirects=False)
            return self._http


def is_server_address(url: str) -> bool:
    """Whether a text is the address of a server."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0 and url.isprintable()
    except ValueError:
        return False


def is_same_server(url: str, other: str) -> bool:
    """Whether two addresses lead to one host and port. The names of this machine are one host."""
    return _find_host_and_port(url) == _find_host_and_port(other)


def make_sendable(text: str) -> str:
    """Replace lone surrogates, which cannot be sent."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def parse_error_message(body: str) -> str:
    """Find the message in the body of an error: JSON of several shapes, or a proxy's page."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        found = body
    for name in ("error", "message"):
        found = found.get(name, found) if isinstance(found, dict) else found
    return " ".join(str(found).split())[:MAX_MESSAGE_CHARS]


def _find_host_and_port(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return "localhost" if host in ("127.0.0.1", "::1") else host, port


def _parse_retry_after(text: str) -> float | None:
    """Parse seconds or a date into seconds from now; None if it is neither."""
    try:
        seconds = float(text)
        return max(0.0, seconds) if seconds < float("inf") else None  # also false for NaN
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(text.strip()) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None
