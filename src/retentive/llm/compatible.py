"""OpenAI's Chat Completions: OpenAI itself and all who speak it."""

from collections.abc import Mapping
from typing import Any

from retentive.errors import Declined, LlmError, Unusable
from retentive.llm import Written
from retentive.llm.service import Form, Question, Service, counted, mappings


class Compatible(Service):
    path = "/chat/completions"
    forms = (Form.SCHEMA, Form.OBJECT, Form.TEXT)

    def _make_request(self, question: Question, form: Form) -> Mapping[str, Any]:
        request: dict[str, Any] = {
            "messages": [
                {"role": "system", "content": question.told(form)},
                {"role": "user", "content": question.material},
            ],
            _name_limit(self._client.host): question.tokens,
        }
        if self.model:  # a server that has but one may not care for its name
            request["model"] = self.model
        match form:
            case Form.SCHEMA:
                schema = {"name": "answer", "strict": True, "schema": question.schema}
                request["response_format"] = {"type": "json_schema", "json_schema": schema}
            case Form.OBJECT:
                request["response_format"] = {"type": "json_object"}
        return request

    def _read(self, question: Question, answer: Mapping[str, Any]) -> Written:
        if answer.get("error"):  # some servers that pass on to others find out after they said 200
            raise LlmError(f"{self.name}: {str(answer['error'])[:300]}")
        choice = next(iter(mappings(answer.get("choices"))), {})
        message = choice.get("message")
        message = message if isinstance(message, Mapping) else {}
        said = message.get("content")
        text = said if isinstance(said, str) else ""
        written = counted(question, text, answer.get("usage"), ("prompt_tokens",), "completion_tokens")
        spent = written.tokens_in + written.tokens_out
        if message.get("refusal") or choice.get("finish_reason") == "content_filter":
            raise Declined(f"{self.name} declined", tokens=spent, tokens_out=written.tokens_out)
        if choice.get("finish_reason") == "length":
            raise Unusable(
                f"{self.name}: the answer is too long and was cut off", tokens=spent, tokens_out=written.tokens_out
            )
        if not text.strip():
            raise Unusable(f"{self.name}: the answer is empty", tokens=spent, tokens_out=written.tokens_out)
        return written


def _name_limit(host: str) -> str:
    """OpenAI's newer models refuse the old name of the limit, and most other servers know only that."""
    name = host.partition(":")[0]
    return "max_completion_tokens" if name.endswith((".openai.com", ".openai.azure.com")) else "max_tokens"
