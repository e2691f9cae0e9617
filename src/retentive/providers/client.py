"""One HTTP client for all providers: JSON out, bytes in.

a. A refusal with 408, 429 or 5xx is repeated after what `Retry-After` asks for, else after a pause that doubles, as
   far as `Retries` allows. Whoever wants an answer sooner does not wait here: see `embed/time_limit.py`.
b. No answer at all (no connection, a timeout, an answer that breaks off) is not repeated: it opens the circuit breaker.
   So do a key that is refused and a server that stays overloaded.
c. Redirections are not followed: a key goes to the server it was meant for. No proxy leads to this machine.
d. At most `MAX_CALLS` requests are under way at a time. No error has the key, nor the request that has it.
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

MAX_CALLS = 4  # at a time: more only queue up at a server of one's own, and use up a provider's limit sooner
MAX_CONNECT_SECONDS = 5.0  # a server that runs accepts within this, or is too far away to be used
MAX_BODY_BYTES = 64 << 20  # of an answer: a batch of long vectors has 10 MB
MAX_SAID_CHARS = 300  # of what a server says, worth repeating
HIDDEN = "***"  # in place of a key

_DIRECT = ("all://localhost", "all://127.0.0.1", "all://[::1]")
_UNAUTHORIZED, _FORBIDDEN = 401, 403
_ABOUT_REQUEST = (400, 413, 422)  # the server is well, and does not want this request
_TOO_SLOW, _TOO_MANY, _SERVER_ERROR = 408, 429, 500


class Unanswered(Exception):
    """The server gave no answer: it could not be reached, was too slow, or broke off. Stays inside the package."""


class NotAsked(Unanswered):
    """The circuit breaker is open."""


class Refusal(Exception):
    """A server's answer that is none: its status and what it says. Stays inside the package."""

    def __init__(self, status: int, headers: Mapping[str, str], body: str, key: str = "") -> None:
        super().__init__(status)
        self.status = status
        self.body = body
        said = read_message(body)
        self.said = said.replace(key, HIDDEN) if key else said
        self.retry_after = _read_retry_after(headers.get("retry-after", ""))

    @property
    def is_key_refused(self) -> bool:
        return self.status in (_UNAUTHORIZED, _FORBIDDEN)

    @property
    def is_about_request(self) -> bool:
        return self.status in _ABOUT_REQUEST

    @property
    def is_passing(self) -> bool:
        """Whether the same request may be answered later."""
        return self.status in (_TOO_SLOW, _TOO_MANY) or self.status >= _SERVER_ERROR


class Retries(NamedTuple):
    """How often, and after how long, a refusal that may pass is followed by another try."""

    most: int
    longest: float
    """Seconds. A server that asks for more is not waited for."""
    first: float | None = None
    """The pause where the server does not say, doubled each time; None: then there is no other try."""

    def choose_pause(self, refusal: Refusal, tries: int) -> float | None:
        """Seconds until the next try; None: there is none."""
        if not refusal.is_passing or tries >= self.most:
            return None
        if refusal.retry_after is not None:
            return refusal.retry_after if refusal.retry_after <= self.longest else None
        if self.first is None:
            return None
        return float(min(self.first * 2**tries, self.longest) * random.uniform(0.5, 1.0))  # noqa: S311 - spreads callers


NO_RETRIES = Retries(0, 0.0)


class Client:
    """Asks one server. Safe to use from many threads, not from a forked process."""

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
        """Sent so far, whatever came of them."""
        self._url = url.rstrip("/")
        self._key = key
        self._headers = headers if headers is not None else {"Authorization": f"Bearer {key}"} if key else {}
        self._retries = retries
        self._slots = threading.BoundedSemaphore(MAX_CALLS)
        self._opening = threading.Lock()
        self._http: httpx.Client | None = None
        self._closed = threading.Event()

    def post(self, path: str, body: Mapping[str, Any], timeout: float | None = None) -> bytes:
        """The body of the answer. `Refusal`, or `Unanswered` if there is none."""
        content = json.dumps(body).encode()
        with self._slots:
            if closed_because := self.breaker.try_call():
                raise NotAsked(f"{self.host} is {closed_because}")
            try:
                return self._post(path, content, timeout or self.timeout)
            except (Refusal, Unanswered):
                raise
            except BaseException:
                self.breaker.abandon()
                raise

    def close(self) -> None:
        """Let go of connections, and end pauses between tries. A later call connects again."""
        self._closed.set()
        with self._opening:
            if self._http:
                self._http.close()
            self._http = None
            self._closed = threading.Event()

    def _post(self, path: str, content: bytes, timeout: float) -> bytes:
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
                    self.breaker.fail(f"it answered {refusal.status} {refusal.said}".strip(), refusal.retry_after)
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
        until = time.monotonic() + timeout
        self.requests += 1
        try:
            with http.stream("POST", self._url + path, content=content, headers=headers, timeout=limits) as got:
                body = self._read(got, until, timeout)
                if got.is_success:
                    return body
                raise Refusal(got.status_code, got.headers, body.decode("utf-8", "replace"), self._key)
        except httpx.TimeoutException:
            raise self._too_slow(timeout) from None  # the error has the request, and that the key
        except (httpx.HTTPError, httpx.InvalidURL, RuntimeError) as error:
            # RuntimeError: the client was closed meanwhile
            said = str(error)[:MAX_SAID_CHARS] or type(error).__name__
            raise Unanswered(f"{self.host} could not be asked: {said}") from None

    def _read(self, answer: httpx.Response, until: float, timeout: float) -> bytes:
        """The body. A timeout of the library is for each piece; this one is for all of them."""
        pieces: list[bytes] = []
        size = 0
        for piece in answer.iter_bytes():
            pieces.append(piece)
            size += len(piece)
            if time.monotonic() > until:
                raise self._too_slow(timeout)
            if size > MAX_BODY_BYTES:
                raise Unanswered(f"{self.host} answered more than {MAX_BODY_BYTES >> 20} MB")
        return b"".join(pieces)

    def _too_slow(self, timeout: float) -> Unanswered:
        return Unanswered(f"{self.host} did not answer within {timeout:g} seconds")

    def _open(self) -> httpx.Client:
        """Made by the first request: reading certificates takes a moment."""
        import httpx

        with self._opening:
            if self._http is None:
                self._http = httpx.Client(mounts=dict.fromkeys(_DIRECT), follow_redirects=False)
            return self._http


def can_be_asked(url: str) -> bool:
    """Whether a text is the address of a server."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0 and url.isprintable()
    except ValueError:
        return False


def is_same_server(url: str, other: str) -> bool:
    """Whether two addresses lead to one host and port. The names of this machine are one host."""
    return _locate(url) == _locate(other)


def make_sendable(text: str) -> str:
    """Replace half a pair of surrogates: it is no text, and cannot be sent."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def read_message(body: str) -> str:
    """The message in an error's body, which is JSON of several shapes, or a page of a proxy."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        found = body
    for name in ("error", "message"):
        found = found.get(name, found) if isinstance(found, dict) else found
    return " ".join(str(found).split())[:MAX_SAID_CHARS]


def _locate(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return "localhost" if host in ("127.0.0.1", "::1") else host, port


def _read_retry_after(text: str) -> float | None:
    """In seconds, though servers may also give a date."""
    try:
        seconds = float(text)
        return max(0.0, seconds) if seconds < float("inf") else None  # also false for NaN
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(text.strip()) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None
