"""The code that all providers of language models share.

a. Some servers enforce a JSON schema, some only that an answer is JSON, some neither; a server refuses a request for a
   format that it cannot enforce. So the strictest format is tried first, and after a refusal the next one. The format
   that worked is tried first from then on.
b. Only short pauses of a server are waited for, because learning waits, too.
c. Answers are read as plain JSON: many servers leave fields out.

Connections, tries and the circuit breaker are those of `providers/client.py`.
"""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from retentive.errors import Declined, KeyRefused, LlmError, NoAnswer, Overloaded, Paused, Unusable
from retentive.llm import Completion
from retentive.providers.client import CircuitOpen, Client, Refusal, Retries, Unanswered, make_sendable
from retentive.providers.registry import ModelSpec
from retentive.text.token_estimate import estimate_tokens

# A provider asks for up to 60 seconds when its limit per minute is reached: that is not waited for. A server that still
# refuses after two of the pauses it asked for does not know when it will be free.
RETRIES = Retries(max_retries=2, max_pause=5.0)

_FORMAT_ERROR = re.compile(r"response[_ ]?format|output_config|json|schema|grammar|structured", re.IGNORECASE)
_INVALID_ANSWER = "json_validate_failed"  # Groq: the model's answer broke the schema


class AnswerFormat(StrEnum):
    """The format of answer that a server is asked to enforce."""

    JSON_SCHEMA = "JSON of a schema"
    ANY_JSON = "any JSON"
    FREE_TEXT = "free text"


class LlmQuestion(NamedTuple):
    instructions: str
    material: str
    schema: Mapping[str, Any] | None
    max_tokens: int

    def make_instructions(self, format: AnswerFormat) -> str:
        """Add the schema to the instructions if the server does not enforce it."""
        if self.schema is None or format is AnswerFormat.JSON_SCHEMA:
            return self.instructions
        return f"{self.instructions}\n\nAnswer with JSON of this schema and nothing else:\n{json.dumps(self.schema)}"


class HttpLanguageModel(ABC):
    """A `LanguageModel` behind HTTP. A subclass makes the requests of its protocol and parses the answers."""

    path: str
    formats: tuple[AnswerFormat, ...]
    """The strictest first."""

    def __init__(self, spec: ModelSpec, client: Client) -> None:
        self.model = spec.model
        self.name = spec.name
        self._client = client
        self._format = self.formats[0]

    def complete(
        self, instructions: str, material: str, schema: Mapping[str, Any] | None, *, max_tokens: int
    ) -> Completion:
        question = LlmQuestion(make_sendable(instructions), make_sendable(material), schema, max_tokens)
        format = AnswerFormat.FREE_TEXT if schema is None else self._format
        while True:
            try:
                content = self._client.post(self.path, self._make_request(question, format))
                break
            except Refusal as refusal:
                if format is self.formats[-1] or not _is_about_format(refusal):
                    raise self._make_error(refusal) from None
                format = self.formats[self.formats.index(format) + 1]
            except CircuitOpen as error:
                raise Paused(str(error)) from None
            except Unanswered as error:
                raise NoAnswer(str(error)) from None
        if schema is not None:
            self._format = format
        return self._parse_answer(question, self._parse_json(content))

    def close(self) -> None:
        self._client.close()

    @abstractmethod
    def _make_request(self, question: LlmQuestion, format: AnswerFormat) -> Mapping[str, Any]: ...

    @abstractmethod
    def _parse_answer(self, question: LlmQuestion, answer: Mapping[str, Any]) -> Completion: ...

    def _require_usable(self, completion: Completion, *, is_declined: bool, is_cut_off: bool) -> Completion:
        """Return the completion; raise an error with its tokens if it is not a whole answer."""
        tokens_out = completion.tokens_out
        tokens = completion.tokens_in + tokens_out
        if is_declined:
            raise Declined(f"{self.name} declined", tokens=tokens, tokens_out=tokens_out)
        if is_cut_off:
            raise Unusable(f"{self.name}: the answer is too long and was cut off", tokens=tokens, tokens_out=tokens_out)
        if not completion.text.strip():
            raise Unusable(f"{self.name}: the answer is empty", tokens=tokens, tokens_out=tokens_out)
        return completion

    def _make_error(self, refusal: Refusal) -> LlmError:
        where = self._client.host
        if refusal.is_key_refused:
            return KeyRefused(f"{where} does not accept the key ({refusal.status})")
        reason = f"{where}: {refusal.status} {refusal.message}".strip()
        if _INVALID_ANSWER in refusal.body:
            return Unusable(reason)
        if refusal.is_temporary:
            return Overloaded(reason, retry_after=refusal.retry_after)
        return LlmError(reason)

    def _parse_json(self, content: bytes) -> Mapping[str, Any]:
        try:
            found = json.loads(content)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise Unusable(f"{self._client.host} did not answer in the expected protocol", "Check the setting llm_url.")
        return found


def _is_about_format(refusal: Refusal) -> bool:
    """Whether the server refused the format of answer; it may accept another one."""
    is_about_answer = _INVALID_ANSWER in refusal.body
    return refusal.is_about_request and not is_about_answer and bool(_FORMAT_ERROR.search(refusal.body))


def make_completion(
    question: LlmQuestion, text: str, usage: Any, input_fields: tuple[str, ...], output_field: str
) -> Completion:
    """Count the tokens of an answer from the fields of `usage`, or estimate them if these are missing."""
    counts = usage if isinstance(usage, Mapping) else {}
    tokens_in = sum(read_count(counts.get(name)) for name in input_fields)
    tokens_out = read_count(counts.get(output_field))
    return Completion(
        text,
        tokens_in or estimate_tokens(question.instructions) + estimate_tokens(question.material),
        tokens_out or estimate_tokens(text),
    )


def read_count(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def filter_mappings(value: Any) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []
