"""A client of Hrana 3 over HTTP, the protocol of libSQL servers: as much of it as the engine needs.

`POST /v3/pipeline` takes a list of requests, which share one stream on the server and close it.

  a. No stream is kept from one call to the next: no transaction spans two of them.
  b. Answers come uncompressed: 2,000 vectors take the server 0.4 s to compress and 0.01 s to send.
  c. A pipeline refuses to answer with more than 10 MB. Then the statement is sent again to `/v3/cursor`, which streams.
     The cursor is not the first choice: it takes 40 ms longer, and a second request to close it.
  d. A server with several databases tells them apart by the first label of the `Host` header.

Failures on the way are of two kinds. `NotExecuted`: the server surely did nothing, so everything may be repeated.
`OutcomeUnknown`: it may have done it. Neither leaves this folder.
"""

import ipaddress
import json
import os
import re
import ssl
import threading
import time
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

import httpx

from retentive.errors import (
    BadConfig,
    Busy,
    Closed,
    Corrupt,
    DiskFull,
    Invalid,
    NotAStore,
    Stale,
    StorageError,
    Unwritable,
)
from retentive.fs.regular_files import require_regular

CONNECT_SECONDS = 5
ANSWER_SECONDS = 60  # a bulk load may wait for others, each about a second; after this something hangs
CLOSE_SECONDS = 10  # that `close` waits for running requests
MAX_CONNECTIONS = 32  # at a time; a server takes 128 of all its clients
MAX_REQUEST_BYTES = 256 << 20  # the server has no limit, but takes 2 s for 100 MB, 9 for 300, 70 for 900
_BAD_TEXT = "invalid utf-8 sequence"  # the server's error if it would have to send such a text
DEFAULT_PORT = 8080  # of sqld, without TLS

Request = dict[str, Any]
Row = tuple[Any, ...]

_ERRORS: dict[str, type[StorageError]] = {
    "SQLITE_BUSY": Busy,
    "SQLITE_LOCKED": Busy,
    "TRANSACTION_BUSY": Busy,
    "TRANSACTION_TIMEOUT": Busy,  # after five seconds the server takes the lock away if another waits for it
    "SQLITE_FULL": DiskFull,
    "SQLITE_READONLY": Unwritable,
    "SQLITE_CANTOPEN": Unwritable,
    "SQLITE_AUTH": Unwritable,
    "BLOCKED": Unwritable,
    "SQLITE_CORRUPT": Corrupt,
    "SQLITE_NOTADB": NotAStore,
}


class NotExecuted(Exception):
    """The server surely did nothing."""


class OutcomeUnknown(Exception):
    """The server may have done it."""


class BadText(Exception):
    """A text among the rows is not UTF-8, so the server cannot send any of them."""


class Refused(Exception):
    """The server refused a statement; `code` says why."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__(str(error.get("message", "unknown error")).removeprefix("SQLite error: "))
        self.code = str(error.get("code"))

    def translate(self, where: str) -> StorageError | Stale:
        """Our error for it. A broken unique key means that a concurrent writer won."""
        if self.code == "SQLITE_CONSTRAINT" and str(self).startswith("UNIQUE"):
            return Stale(f"{where}: {self}")
        if str(self).endswith("string or blob too big"):
            hint = "libSQL servers take values of up to 5 MB; split it."
            return StorageError(f"{where}: a value is too large for the server", hint)
        return _ERRORS.get(self.code, StorageError)(f"{where}: {self}")


class Address(NamedTuple):
    """Where a server is, and which of its databases is meant."""

    url: str
    host: str | None
    """The `Host` header that names the database, where the address itself does not."""
    shown: str
    local: bool


def parse_address(target: str) -> Address:
    """Parse `libsql://host[:port][/database][?tls=0]`, or an `http` or `https` address."""
    url = urlsplit(target)
    form = "It is libsql://host:port/database; the token is the setting auth_token."
    try:
        host, port = url.hostname, url.port
    except ValueError as error:
        raise Invalid(f"the address of the libSQL server cannot be read: {error}", form) from error
    options = dict(parse_qsl(url.query, keep_blank_values=True))
    database = url.path.strip("/")
    if not host or url.username or options.keys() - {"tls"} or not re.fullmatch(r"[A-Za-z0-9_-]*", database):
        raise Invalid(f"{url.scheme}://{host or ''} is followed by an invalid address of a libSQL server", form)
    local, numeric = _is_local(host), _is_numeric(host)
    encrypted = url.scheme == "https" or (url.scheme == "libsql" and options.get("tls", "0" if local else "1") != "0")
    place = f"[{host}]" if ":" in host else host
    port = port or {"libsql": 443 if encrypted else DEFAULT_PORT}.get(url.scheme)
    header = f"{database or 'default'}.localhost" if numeric else f"{database}.{host}" if database else None
    netloc = f"{place}:{port}" if port else place
    shown = f"{url.scheme}://{netloc}" + (f"/{database}" if database else "")
    return Address(f"{'https' if encrypted else 'http'}://{netloc}", header, shown, local)


def _is_local(host: str) -> bool:
    return host == "localhost" or host.endswith(".localhost") or (_is_numeric(host) and _ip(host).is_loopback)


def _is_numeric(host: str) -> bool:
    try:
        return bool(_ip(host))
    except ValueError:
        return False


_ip = ipaddress.ip_address


class Server:
    """One database of one server. Safe for any number of threads."""

    def __init__(self, target: str, token: str = "", ca_file: str = "") -> None:
        self.address = parse_address(target)
        self._token = token
        self._process = os.getpid()
        self._idle = threading.Condition()
        self._active_requests = 0
        self._closed = False
        self._has_answered = False
        headers = {"Accept-Encoding": "identity", "User-Agent": "retentive"}
        headers |= {"Host": self.address.host} if self.address.host else {}
        headers |= {"Authorization": f"Bearer {token}"} if token else {}
        is_encrypted = self.address.url.startswith("https:")
        self._http = httpx.Client(
            base_url=self.address.url,
            headers=headers,
            timeout=httpx.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS),
            limits=httpx.Limits(max_connections=MAX_CONNECTIONS, max_keepalive_connections=MAX_CONNECTIONS),
            trust_env=not self.address.local,  # no proxy for this machine itself
            verify=is_encrypted and _load_certificates(ca_file),  # loading certificates takes 20 ms
        )

    def pipeline(self, requests: Sequence[Request], baton: str | None = None) -> list[dict[str, Any]]:
        """The answer to each request. A refused statement raises `Refused`; in a batch it is part of the answer."""
        body = {"baton": baton, "requests": [*requests, {"type": "close"}]}
        (found,) = self._parse([self._post("/v3/pipeline", body)])
        results = found.get("results")
        if not isinstance(results, list) or len(results) < len(requests):
            raise self._unexpected_answer()
        self._has_answered = True
        answers = []
        for result in results[: len(requests)]:
            if result["type"] == "error":
                raise Refused(result["error"])
            answers.append(result["response"].get("result", {}))
        return answers

    def rows(self, statement: Request) -> list[Row]:
        """The rows of one statement, however many."""
        try:
            (found,) = self.pipeline([{"type": "execute", "stmt": statement}])
        except Refused as error:
            if error.code != "RESPONSE_TOO_LARGE":
                raise
            return self._cursor(statement)
        return [tuple([_decode_value(cell) for cell in row]) for row in found["rows"]]

    def count_columns(self, sql: str) -> int:
        """How many columns the rows of a query have."""
        (found,) = self.pipeline([{"type": "describe", "sql": sql}])
        return len(found["cols"])

    def version(self) -> str:
        """The version that the server reports; empty if it does not."""
        with self._track_request(), suppress(httpx.HTTPError):
            answer = self._http.get("/version")
            return answer.text.strip()[:100] if answer.status_code == httpx.codes.OK else ""
        return ""

    def close(self) -> None:
        with self._idle:
            self._closed = True
            self._idle.wait_for(lambda: not self._active_requests, CLOSE_SECONDS)
        if os.getpid() == self._process:
            self._http.close()

    def _cursor(self, statement: Request) -> list[Row]:
        content = self._post("/v3/cursor", {"baton": None, "batch": {"steps": [{"stmt": statement}]}})
        entries = iter(self._parse([line for line in content.split(b"\n") if line]))
        opened = next(entries, {})
        rows: list[Row] = []
        ended = False
        for entry in entries:
            if entry["type"] == "row":
                rows.append(tuple([_decode_value(cell) for cell in entry["row"]]))
            elif entry["type"] in ("step_error", "error"):
                raise Refused(entry["error"])
            ended = ended or entry["type"] == "step_end"
        with suppress(NotExecuted, OutcomeUnknown, StorageError, Refused):
            self.pipeline([], opened.get("baton"))  # close the stream; otherwise the server does after ten seconds
        if not ended:
            raise OutcomeUnknown("the answer was cut off")
        return rows

    def _post(self, path: str, body: Request) -> bytes:
        content = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        if len(content) > MAX_REQUEST_BYTES:
            raise StorageError(f"{len(content) >> 20} MB are too much for one commit", "Write less at a time.")
        with self._track_request():
            try:
                answer = self._http.post(path, content=content, headers={"Content-Type": "application/json"})
            except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
                self._raise_tls_error(error)
                raise NotExecuted(str(error) or type(error).__name__) from error
            except httpx.HTTPError as error:
                raise OutcomeUnknown(str(error) or type(error).__name__) from error
        if answer.status_code != httpx.codes.OK:
            self._raise_for_status(answer)
        return answer.content

    def _raise_for_status(self, answer: httpx.Response) -> None:
        """Raise an error of ours if a repetition would not help, else `NotExecuted` or `OutcomeUnknown`."""
        status, shown = answer.status_code, self.address.shown
        text = answer.text.replace(self._token, "***") if self._token else answer.text
        reason = f"{status} {text.strip()[:300]}".strip()
        if status in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
            wrong = "does not accept the token" if self._token else "asks for a token"
            hint = "Give the server's token as the setting auth_token, or as RETENTIVE_AUTH_TOKEN."
            raise Unwritable(f"{shown} {wrong}", hint)
        if status == httpx.codes.NOT_FOUND and self._has_answered:
            raise NotExecuted(reason)  # a server forgets databases for a moment when over a hundred are in use
        if status == httpx.codes.NOT_FOUND and "Namespace" in text:
            hint = "Create it with the server's admin API, or use an existing one: libsql://host:port/database."
            raise Unwritable(f"{shown}: there is no such database", hint)
        if status == httpx.codes.REQUEST_ENTITY_TOO_LARGE:
            hint = "Write less at a time, or raise the limit of a proxy in between (nginx: client_max_body_size)."
            raise StorageError(f"{shown}: too much at once for the server", hint)
        if status == httpx.codes.TOO_MANY_REQUESTS:
            raise NotExecuted(reason)
        if status == httpx.codes.INTERNAL_SERVER_ERROR and _BAD_TEXT in text:
            raise BadText(reason)
        if status >= httpx.codes.INTERNAL_SERVER_ERROR or status == httpx.codes.REQUEST_TIMEOUT:
            raise OutcomeUnknown(reason)
        if answer.is_redirect:  # not followed: the token is for this server
            there = urlsplit(answer.headers.get("Location", ""))
            hint = f"It redirects to {there.scheme}://{there.netloc}: use that address, if it is right."
            raise Unwritable(f"{shown} is not the server's address ({status})", hint)
        raise Unwritable(f"{shown} did not answer as libSQL servers do: {reason}", "Check the address.")

    def _parse(self, texts: Iterable[bytes]) -> list[dict[str, Any]]:
        try:
            found = [json.loads(text) for text in texts]
        except ValueError:
            raise self._unexpected_answer() from None
        if not all(isinstance(each, dict) for each in found):
            raise self._unexpected_answer()
        return found

    def _unexpected_answer(self) -> Exception:
        """The error for an answer that is not Hrana's.

        If the server answered before, a proxy replaced the answer, and the outcome is not known.
        """
        message = f"{self.address.shown} did not answer as libSQL servers do"
        return OutcomeUnknown(message) if self._has_answered else StorageError(message, "Check the address.")

    def _raise_tls_error(self, error: BaseException) -> None:
        """Raise an error of ours if TLS failed: a repetition would not help."""
        cause: BaseException | None = error
        while cause and not isinstance(cause, ssl.SSLError):
            cause = cause.__cause__ or cause.__context__
        if isinstance(cause, ssl.SSLCertVerificationError):
            hint = "If it was signed by an authority of your own, give its certificate as the setting ca_file."
            raise Unwritable(f"{self.address.shown}: its certificate is not trusted: {cause.verify_message}", hint)
        if isinstance(cause, ssl.SSLError) and cause.reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE"):
            raise Unwritable(f"{self.address.shown} does not speak TLS", "Add ?tls=0 to the address if that is right.")

    @contextmanager
    def _track_request(self) -> Iterator[None]:
        if os.getpid() != self._process:
            hint = "Open the store in the forked process itself."
            raise Closed(f"{self.address.shown} was opened before a fork", hint)
        with self._idle:
            if self._closed:
                raise Closed(f"{self.address.shown} is closed")
            self._active_requests += 1
        try:
            yield
        finally:
            with self._idle:
                self._active_requests -= 1
                self._idle.notify_all()


def _load_certificates(ca_file: str) -> ssl.SSLContext | bool:
    """The certificates to trust: those of the file, or (True) the usual ones."""
    if not ca_file:
        return True
    try:
        require_regular(ca_file)
        return ssl.create_default_context(cafile=ca_file)
    except Invalid as error:
        raise BadConfig(f"ca_file: {error}", error.hint) from error
    except (OSError, ValueError) as error:
        raise BadConfig(
            f"ca_file = {ca_file!r} cannot be used: {error}", "Give a file of certificates (PEM)."
        ) from error


def backoff_pauses(seconds: float) -> Iterator[float]:
    """Longer and longer pauses, until the seconds are over."""
    deadline, pause = time.monotonic() + seconds, 0.05
    while time.monotonic() + pause < deadline:
        yield pause
        pause = min(2 * pause, 1.0)


def encode_value(value: Any) -> Request:
    """Write a value for the protocol. Integers are text: those of JSON are too short."""
    if value is None:
        return {"type": "null"}
    if isinstance(value, str):
        return {"type": "text", "value": value}
    if isinstance(value, bytes):
        return {"type": "blob", "base64": b64encode(value).decode()}
    if isinstance(value, float):
        return {"type": "float", "value": value}
    return {"type": "integer", "value": str(int(value))}


def _decode_value(cell: Mapping[str, Any]) -> Any:
    match cell["type"]:
        case "text":
            return cell["value"]
        case "integer":
            return int(cell["value"])
        case "float":
            return float(cell["value"])
        case "blob":
            return b64decode(cell["base64"] + "==")  # it comes without its padding
        case _:
            return None
