"""What is the same whoever is asked.

a. Servers differ in how they can be made to answer in JSON, and tell it by refusing the request. So the strictest
   form is tried first and the next one after a refusal; what worked is tried first from then on.
b. Only short pauses that a server asks for are waited: whoever waits here holds up learning.
c. Answers are read as plain JSON: many servers leave fields out.

Connections, tries and the circuit breaker are those of `providers/client.py`.
"""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from retentive.errors import KeyRefused, LlmError, NoAnswer, Overloaded, Paused, Unusable
from retentive.llm import Written
from retentive.providers.client import Client, NotAsked, Refusal, Retries, Unanswered, make_sendable
from retentive.providers.registry import ModelSpec
from retentive.text.tokens import estimate

# A server may ask for 5 seconds, twice; providers ask for up to 60 when a minute's share is used up. One that says "in
# a second" three times does not know.
RETRIES = Retries(2, 5.0)

_ABOUT_FORM = re.compile(r"response[_ ]?format|output_config|json|schema|grammar|structured", re.IGNORECASE)
_ABOUT_ANSWER = "json_validate_failed"  # Groq: the model did not write what it was held to


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


class Service(ABC):
    """A `Writer`. A subclass gives the two ways of its protocol."""

    path: str
    forms: tuple[Form, ...]
    """The strictest first."""

    def __init__(self, spec: ModelSpec, client: Client) -> None:
        self.model = spec.model
        self.name = spec.name
        self._client = client
        self._form = self.forms[0]

    def write(self, instructions: str, material: str, schema: Mapping[str, Any] | None, *, tokens: int) -> Written:
        question = Question(make_sendable(instructions), make_sendable(material), schema, tokens)
        form = Form.TEXT if schema is None else self._form
        while True:
            try:
                content = self._client.post(self.path, self._make_request(question, form))
                break
            except Refusal as refusal:
                if form is self.forms[-1] or not _is_about_form(refusal):
                    raise self._explain(refusal) from None
                form = self.forms[self.forms.index(form) + 1]
            except NotAsked as error:
                raise Paused(str(error)) from None
            except Unanswered as error:
                raise NoAnswer(str(error)) from None
        if schema is not None:
            self._form = form
        return self._read(question, self._json(content))

    def close(self) -> None:
        self._client.close()

    @abstractmethod
    def _make_request(self, question: Question, form: Form) -> Mapping[str, Any]: ...

    @abstractmethod
    def _read(self, question: Question, answer: Mapping[str, Any]) -> Written: ...

    def _explain(self, refusal: Refusal) -> LlmError:
        where = self._client.host
        if refusal.is_key_refused:
            return KeyRefused(f"{where} does not accept the key ({refusal.status})")
        reason = f"{where}: {refusal.status} {refusal.said}".strip()
        if _ABOUT_ANSWER in refusal.body:
            return Unusable(reason)
        if refusal.is_passing:
            return Overloaded(reason, retry_after=refusal.retry_after)
        return LlmError(reason)

    def _json(self, content: bytes) -> Mapping[str, Any]:
        try:
            found = json.loads(content)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise Unusable(f"{self._client.host} did not answer in its protocol", "Look at the setting llm_url.")
        return found


def _is_about_form(refusal: Refusal) -> bool:
    """Whether the server cannot hold the model to this form; another may do."""
    is_about_answer = _ABOUT_ANSWER in refusal.body
    return refusal.is_about_request and not is_about_answer and bool(_ABOUT_FORM.search(refusal.body))


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
