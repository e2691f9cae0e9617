"""Anthropic's Messages.

Requests have no sampling parameters and no setting of thinking, because newer models refuse those of older ones.
Thinking counts as written tokens. It comes in blocks of its own, which are not part of the answer.
"""

from collections.abc import Mapping
from typing import Any

from retentive.llm import Completion
from retentive.llm.service import AnswerFormat, HttpLanguageModel, LlmQuestion, filter_mappings, make_completion

PROTOCOL_VERSION = "2023-06-01"  # every request names it
INPUT_TOKEN_FIELDS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def make_headers(key: str) -> Mapping[str, str]:
    return {"anthropic-version": PROTOCOL_VERSION, **({"x-api-key": key} if key else {})}


class Claude(HttpLanguageModel):
    path = "/v1/messages"
    formats = (AnswerFormat.JSON_SCHEMA, AnswerFormat.FREE_TEXT)

    def _make_request(self, question: LlmQuestion, format: AnswerFormat) -> Mapping[str, Any]:
        request = {
            "model": self.model,
            "max_tokens": question.max_tokens,
            "system": question.make_instructions(format),
            "messages": [{"role": "user", "content": question.material}],
        }
        if format is AnswerFormat.JSON_SCHEMA:
            request["output_config"] = {"format": {"type": "json_schema", "schema": question.schema}}
        return request

    def _parse_answer(self, question: LlmQuestion, answer: Mapping[str, Any]) -> Completion:
        blocks = filter_mappings(answer.get("content"))
        text = "".join(str(block.get("text", "")) for block in blocks if block.get("type") == "text")
        completion = make_completion(question, text, answer.get("usage"), INPUT_TOKEN_FIELDS, "output_tokens")
        reason = answer.get("stop_reason")
        return self._require_usable(
            completion,
            is_declined=reason == "refusal",
            is_cut_off=reason in ("max_tokens", "model_context_window_exceeded"),
        )
