"""Anthropic's Messages.

No sampling parameters and no setting of thinking: newer models refuse what older ones took. Their thinking counts as
written tokens and comes as blocks of its own, which are not the answer.
"""

from collections.abc import Mapping
from typing import Any

from retentive.errors import Declined, Unusable
from retentive.llm import Written
from retentive.llm.service import Form, Question, Service, counted, mappings

VERSION = "2023-06-01"  # of the protocol, which every request names
READ = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def make_headers(key: str) -> Mapping[str, str]:
    return {"anthropic-version": VERSION, **({"x-api-key": key} if key else {})}


class Claude(Service):
    path = "/v1/messages"
    forms = (Form.SCHEMA, Form.TEXT)

    def _make_request(self, question: Question, form: Form) -> Mapping[str, Any]:
        request = {
            "model": self.model,
            "max_tokens": question.tokens,
            "system": question.told(form),
            "messages": [{"role": "user", "content": question.material}],
        }
        if form is Form.SCHEMA:
            request["output_config"] = {"format": {"type": "json_schema", "schema": question.schema}}
        return request

    def _read(self, question: Question, answer: Mapping[str, Any]) -> Written:
        blocks = mappings(answer.get("content"))
        text = "".join(str(block.get("text", "")) for block in blocks if block.get("type") == "text")
        written = counted(question, text, answer.get("usage"), READ, "output_tokens")
        spent = written.tokens_in + written.tokens_out
        match answer.get("stop_reason"):
            case "refusal":
                raise Declined(f"{self.name} declined", tokens=spent, tokens_out=written.tokens_out)
            case "max_tokens" | "model_context_window_exceeded":
                raise Unusable(
                    f"{self.name}: the answer is too long and was cut off", tokens=spent, tokens_out=written.tokens_out
                )
        if not text.strip():
            raise Unusable(f"{self.name}: the answer is empty", tokens=spent, tokens_out=written.tokens_out)
        return written
