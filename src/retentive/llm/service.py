"""What is the same whoever is asked.

a. Servers differ in how they can be made to answer in JSON, and tell it by refusing the request. So the strictest
   form is tried first and the next one after a refusal; what worked is tried first from then on.
b. The clients' own retries are off: they wait as long as they are told to, and whoever waits here holds up learning.
c. Answers are read as plain JSON. The clients' classes take whatever comes for what it should be, and many servers
   leave fields out.
d. Redirections are not followed: a key goes to the server it was meant for. A proxy is no way to this machine.
"""

import json
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from retentive.errors import KeyRefused, LlmError, NoAnswer, Overloaded, Unusable
from retentive.llm import Written
from retentive.text.tokens import estimate

LONGEST_WAIT = 5.0  # seconds that a server may ask for; providers ask for up to 60 when a minute's share is used up
WAITS = 2  # a server that says "in a second" three times does not know
LONGEST_SAID = 300  # characters of what a server says that are worth telling
DIRECT = dict.fromkeys(("all://localhost", "all://127.0.0.1", "all://[::1]"))  # no proxy to here
UNKEYED = "none"  # servers on this machine ask for no key, but the clients do

_ABOUT_FORM = re.compile(r"response[_ ]?format|output_config|json|schema|grammar|structured", re.IGNORECASE)
_BAD_REQUEST, _UNPROCESSABLE = 400, 422
_UNAUTHORIZED, _FORBIDDEN = 401, 403
_TOO_SLOW, _TOO_MANY, _SERVER_ERROR = 408, 429, 500


class Form(StrEnum):
    """What a server is asked to hold the answer to."""

    SCHEMA = "schema"
    OBJECT = "any JSON"
    TEXT = "nothing"


class Question(NamedTuple):
    instructions: str
    material: str
    schema: Mapping[str, Any] | None
    tokens: int

    def told(self, form: Form) -> str:
        """The instructions, and the schema where the server does not see to it."""
        if self.schema is None or form is Form.SCHEMA:
            return self.instructions
        return f"{self.instructions}\n\nAnswer with JSON of this schema and nothing else:\n{json.dumps(self.schema)}"


class Refusal(Exception):
    """A server's answer that is none: its status and what it says."""

    def __init__(self, status: int, headers: Mapping[str, str], body: str) -> None:
        super().__init__(status)
        self.status = status
        self.headers = headers
        self.said = _said(body)
        self.is_about_form = status in (_BAD_REQUEST, _UNPROCESSABLE) and bool(_ABOUT_FORM.search(body))
        self.is_about_answer = "json_validate_failed" in body  # Groq: the model did not write what it was held to

    @property
    def retry_after(self) -> float | None:
        """In seconds, though servers may also give a date."""
        asked = self.headers.get("retry-after", "").strip()
        try:
            return max(0.0, float(asked))
        except ValueError:
            pass
        try:
            return max(0.0, (parsedate_to_datetime(asked) - datetime.now(UTC)).total_seconds())
        except (ValueError, TypeError):
            return None


class Service(ABC):
    """A `Writer`. A subclass gives the client, and the two ways of its protocol."""

    provider: str
    forms: tuple[Form, ...]
    """The strictest first."""

    def __init__(self, model: str, key: str, url: str) -> None:
        self.model = model
        self._key = key
        self._where = urlsplit(url).hostname or self.provider
        self._form = self.forms[0]

    @property
    def name(self) -> str:
        return f"{self.provider}:{self.model}"

    def write(self, instructions: str, material: str, schema: Mapping[str, Any] | None, *, tokens: int) -> Written:
        question = Question(_sendable(instructions), _sendable(material), schema, tokens)
        form = Form.TEXT if schema is None else self._form
        waits = 0
        while True:
            try:
                content = self._send(question, form)
                break
            except Refusal as refusal:
                if refusal.is_about_form and not refusal.is_about_answer and form is not self.forms[-1]:
                    form = self.forms[self.forms.index(form) + 1]
                    continue
                waits += 1
                self._wait(refusal, waits)
        if schema is not None:
            self._form = form
        return self._read(question, self._json(content))

    @abstractmethod
    def close(self) -> None: ...

    @abstractmethod
    def _send(self, question: Question, form: Form) -> bytes:
        """The body of the answer; `Refusal` or `NoAnswer` if there is none."""

    @abstractmethod
    def _read(self, question: Question, answer: Mapping[str, Any]) -> Written: ...

    def _wait(self, refusal: Refusal, waits: int) -> None:
        """Until the server wants to be asked again, if that is soon. Else this is the end."""
        error = self._ours(refusal)
        asked = error.retry_after if isinstance(error, Overloaded) else None
        if asked is None or asked > LONGEST_WAIT or waits > WAITS:
            raise error from None  # the client's error holds the request, and that the key
        time.sleep(asked)

    def _ours(self, refusal: Refusal) -> LlmError:
        status = refusal.status
        if status in (_UNAUTHORIZED, _FORBIDDEN):
            return KeyRefused(f"{self._where} does not accept the key ({status})")
        said = refusal.said.replace(self._key, "***") if self._key else refusal.said
        reason = f"{self._where}: {status} {said}".strip()
        if refusal.is_about_answer:
            return Unusable(reason)
        if status in (_TOO_SLOW, _TOO_MANY) or status >= _SERVER_ERROR:
            return Overloaded(reason, retry_after=refusal.retry_after)
        return LlmError(reason)

    def _json(self, content: bytes) -> Mapping[str, Any]:
        try:
            found = json.loads(content)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise Unusable(f"{self._where} did not answer in its protocol", "Look at the setting llm_url.")
        return found

    def _unanswered(self, error: Exception, timeout: float) -> NoAnswer:
        if "Timeout" in type(error).__name__:
            return NoAnswer(f"{self._where} did not answer within {timeout:g} seconds")
        reason = error.__cause__ or error
        return NoAnswer(f"{self._where}: {str(reason)[:LONGEST_SAID] or type(reason).__name__}")


def counted(question: Question, text: str, told: Any, read: tuple[str, ...], written: str) -> Written:
    """The answer with its tokens, from the fields of `usage` that have them."""
    usage = told if isinstance(told, Mapping) else {}
    taken = sum(number(usage.get(name)) for name in read)
    given = number(usage.get(written))
    return Written(
        text,
        taken or estimate(question.instructions) + estimate(question.material),
        given or estimate(text),
    )


def number(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def mappings(value: Any) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def _sendable(text: str) -> str:
    """Half a pair of surrogates is not text, and cannot be sent."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _said(body: str) -> str:
    """The message in an error's body, which is JSON of several shapes, or a page of a proxy."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        found = body
    for name in ("error", "message"):
        found = found.get(name, found) if isinstance(found, dict) else found
    return " ".join(str(found).split())[:LONGEST_SAID]
