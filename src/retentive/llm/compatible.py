"""OpenAI's Chat Completions, for OpenAI and all servers with its protocol."""

from collections.abc import Mapping
from typing import Any

from retentive.errors import LlmError
from retentive.llm import Completion
from retentive.llm.service import AnswerFormat, HttpLanguageModel, LlmQuestion, filter_mappings, make_completion


class Compatible(HttpLanguageModel):
    path = "/chat/completions"
    formats = (AnswerFormat.JSON_SCHEMA, AnswerFormat.ANY_JSON, AnswerFormat.FREE_TEXT)

    def _make_request(self, question: LlmQuestion, format: AnswerFormat) -> Mapping[str, Any]:
        request: dict[str, Any] = {
            "messages": [
                {"role": "system", "content": question.make_instructions(format)},
                {"role": "user", "content": question.material},
            ],
            _name_limit(self._client.host): question.max_tokens,
        }
        if self.model:  # a server with one model needs no name
            request["model"] = self.model
        match format:
            case AnswerFormat.JSON_SCHEMA:
                schema = {"name": "answer", "strict": True, "schema": question.schema}
                request["response_format"] = {"type": "json_schema", "json_schema": schema}
            case AnswerFormat.ANY_JSON:
                request["response_format"] = {"type": "json_object"}
        return request

    def _parse_answer(self, question: LlmQuestion, answer: Mapping[str, Any]) -> Completion:
        if answer.get("error"):  # a gateway may find an error after it has sent status 200
            raise LlmError(f"{self.name}: {str(answer['error'])[:300]}")
        choice = next(iter(filter_mappings(answer.get("choices"))), {})
        message = choice.get("message")
        message = message if isinstance(message, Mapping) else {}
        content = message.get("content")
        text = content if isinstance(content, str) else ""
        completion = make_completion(question, text, answer.get("usage"), ("prompt_tokens",), "completion_tokens")
        reason = choice.get("finish_reason")
        is_declined = bool(message.get("refusal")) or reason == "content_filter"
        return self._require_usable(completion, is_declined=is_declined, is_cut_off=reason == "length")


def _name_limit(host: str) -> str:
    """OpenAI's newer models refuse the old name of the limit, and most other servers know only that."""
    name = host.partition(":")[0]
    return "max_completion_tokens" if name.endswith((".openai.com", ".openai.azure.com")) else "max_tokens"
