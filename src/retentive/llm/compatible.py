"""OpenAI's Chat Completions, by its own client (extra `retentive[openai]`): OpenAI itself and all who speak it."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import openai

from retentive.errors import Declined, LlmError, Unusable
from retentive.llm import Written
from retentive.llm.service import DIRECT, UNKEYED, Form, Question, Refusal, Service, counted, mappings

URL = "https://api.openai.com/v1"  # given always: the client would else look into the environment


class Compatible(Service):
    provider = "openai"
    forms = (Form.SCHEMA, Form.OBJECT, Form.TEXT)

    def __init__(self, model: str, key: str, url: str, timeout: float) -> None:
        super().__init__(model, key, url)
        self._timeout = timeout
        self._limit = _limit(url or URL)
        self._client = openai.OpenAI(
            api_key=key or UNKEYED,
            base_url=url or URL,
            timeout=timeout,
            max_retries=0,
            http_client=openai.DefaultHttpxClient(mounts=DIRECT, follow_redirects=False),
        )

    def close(self) -> None:
        self._client.close()

    def _send(self, question: Question, form: Form) -> bytes:
        held: dict[str, Any] = {self._limit: question.tokens}
        match form:
            case Form.SCHEMA:
                schema = {"name": "answer", "strict": True, "schema": question.schema}
                held["response_format"] = {"type": "json_schema", "json_schema": schema}
            case Form.OBJECT:
                held["response_format"] = {"type": "json_object"}
        try:
            raw = self._client.chat.completions.with_raw_response.create(
                model=self.model,
                messages=[
                    {"role": "system", "content": question.told(form)},
                    {"role": "user", "content": question.material},
                ],
                **held,
            )
        except openai.APIStatusError as error:
            raise Refusal(error.status_code, error.response.headers, error.response.text) from None
        except openai.APIError as error:
            raise self._unanswered(error, self._timeout) from None
        return raw.http_response.content

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


def _limit(url: str) -> str:
    """OpenAI's newer models refuse the old name of the limit, and most other servers know only that."""
    host = urlsplit(url).hostname or ""
    return "max_completion_tokens" if host.endswith((".openai.com", ".openai.azure.com")) else "max_tokens"
