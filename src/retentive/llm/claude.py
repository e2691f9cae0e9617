"""Anthropic's Messages, by its own client (extra `retentive[anthropic]`).

No sampling parameters and no setting of thinking: newer models refuse what older ones took. Their thinking counts as
written tokens and comes as blocks of its own, which are not the answer.
"""

from collections.abc import Mapping
from typing import Any

import anthropic

from retentive.errors import Declined, Unusable
from retentive.llm import Written
from retentive.llm.service import DIRECT, UNKEYED, Form, Question, Refusal, Service, counted, mappings

URL = "https://api.anthropic.com"  # given always: the client would else look into the environment
READ = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


class Claude(Service):
    provider = "anthropic"
    forms = (Form.SCHEMA, Form.TEXT)

    def __init__(self, model: str, key: str, url: str, timeout: float) -> None:
        super().__init__(model, key, url)
        self._timeout = timeout
        self._client = anthropic.Anthropic(
            api_key=key or UNKEYED,
            base_url=url or URL,
            timeout=timeout,
            max_retries=0,
            http_client=anthropic.DefaultHttpxClient(mounts=DIRECT, follow_redirects=False),
        )

    def close(self) -> None:
        self._client.close()

    def _send(self, question: Question, form: Form) -> bytes:
        held: dict[str, Any] = {}
        if form is Form.SCHEMA:
            held["output_config"] = {"format": {"type": "json_schema", "schema": question.schema}}
        try:
            raw = self._client.messages.with_raw_response.create(
                model=self.model,
                max_tokens=question.tokens,
                system=question.told(form),
                messages=[{"role": "user", "content": question.material}],
                **held,
            )
        except anthropic.APIStatusError as error:
            raise Refusal(error.status_code, error.response.headers, error.response.text) from None
        except anthropic.APIError as error:
            raise self._unanswered(error, self._timeout) from None
        return raw.http_response.content

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
