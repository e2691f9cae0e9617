"""Does an open language model give the whole answer, or say what went wrong? A real server on the loopback answers."""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from email.utils import formatdate
from typing import Any

import pytest

from retentive.config import resolve
from retentive.errors import BadConfig, Declined, KeyRefused, LlmError, NoAnswer, Overloaded, Paused, Unusable
from retentive.llm import Completion, open_language_model
from retentive.llm.service import HttpLanguageModel
from tests.llm.conftest import Ask
from tests.llm.provider import KEY, Reply

SCHEMA = {
    "type": "object",
    "properties": {"greeting": {"type": "string"}},
    "required": ["greeting"],
    "additionalProperties": False,
}


def said(asked: dict[str, Any]) -> tuple[str, str]:
    """The instructions and the material of a request."""
    if "system" in asked:
        return asked["system"], asked["messages"][0]["content"]
    return asked["messages"][0]["content"], asked["messages"][1]["content"]


def form(asked: dict[str, Any]) -> str:
    """What the answer was to be held to."""
    if "output_config" in asked:
        return str(asked["output_config"]["format"]["type"])
    return str(asked.get("response_format", {}).get("type", "text"))


def test_the_answer_comes_with_its_tokens(ask: Ask) -> None:
    """Thinking is not part of it, tokens read from a cache count."""
    llm, provider = ask(Reply("Good morning."))
    assert llm.complete("Greet.", "It is 8 o'clock.", None, max_tokens=50) == Completion("Good morning.", 100, 7)
    assert said(provider.asked[0]) == ("Greet.", "It is 8 o'clock.")
    assert provider.asked[0]["max_tokens"] == 50
    assert form(provider.asked[0]) == "text"


def test_a_schema_is_given_to_the_server(ask: Ask) -> None:
    llm, provider = ask()
    llm.complete("Greet.", "It is 8 o'clock.", SCHEMA, max_tokens=50)
    assert form(provider.asked[0]) == "json_schema"
    assert str(SCHEMA) in str(provider.asked[0])
    assert "temperature" not in provider.asked[0]


def test_tokens_are_estimated_where_the_server_does_not_say(ask: Ask) -> None:
    """A daily limit holds with every server."""
    llm, _ = ask(Reply("Good morning.", usage=False))
    completion = llm.complete("Greet.", "It is 8 o'clock.", None, max_tokens=50)
    assert completion.tokens_in > 4
    assert completion.tokens_out > 2


@pytest.mark.parametrize(
    "refusal",
    [
        "output_config.format: Extra inputs are not permitted",
        "'response_format.type' must be 'json_schema' or 'text'",
        "This model does not support response format `json_schema`.",
    ],
)
def test_a_server_that_cannot_keep_to_a_schema_is_told_it(ask: Ask, model: str, refusal: str) -> None:
    """The next form is tried, the schema stands in the instructions, and the next question begins there."""
    tried = ["json_schema", "json_object"] if model.startswith("openai") else ["json_schema"]
    llm, provider = ask(*[Reply(status=400, error=refusal) for _ in tried], Reply())
    llm.complete("Greet.", "It is 8 o'clock.", SCHEMA, max_tokens=50)
    llm.complete("Greet.", "It is 9 o'clock.", SCHEMA, max_tokens=50)
    assert [form(asked) for asked in provider.asked] == [*tried, "text", "text"]
    assert '"greeting"' in said(provider.asked[-1])[0]


def test_another_bad_request_is_not_repeated(ask: Ask) -> None:
    llm, provider = ask(Reply(status=400, error="prompt is too long"))
    with pytest.raises(LlmError, match="400 prompt is too long") as caught:
        llm.complete("Greet.", "x", SCHEMA, max_tokens=50)
    assert len(provider.asked) == 1
    assert not caught.value.retryable


@pytest.mark.parametrize("status", [408, 429, 503, 529])
def test_a_short_wait_is_waited(ask: Ask, status: int) -> None:
    llm, provider = ask(Reply(status=status, headers={"Retry-After": "0.05"}), Reply("Good morning."))
    assert llm.complete("Greet.", "x", None, max_tokens=50).text == "Good morning."
    assert len(provider.asked) == 2


def test_a_server_that_always_asks_to_wait_is_given_up(ask: Ask) -> None:
    llm, provider = ask(Reply(status=429, headers={"Retry-After": "0"}))
    with pytest.raises(Overloaded):
        llm.complete("Greet.", "x", None, max_tokens=50)
    assert len(provider.asked) == 3


@pytest.mark.parametrize("after", ["a number", "a date"])
def test_a_long_wait_is_the_callers(ask: Ask, after: str) -> None:
    """The error says how long, be it as a number or as a date."""
    asked = "60" if after == "a number" else formatdate(time.time() + 100, usegmt=True)
    llm, provider = ask(Reply(status=429, headers={"Retry-After": asked}, error="limit of a minute"))
    with pytest.raises(Overloaded, match="429 limit of a minute") as caught:
        llm.complete("Greet.", "x", None, max_tokens=50)
    assert caught.value.retryable
    assert caught.value.retry_after
    assert 50 < caught.value.retry_after < 110
    assert len(provider.asked) == 1


def test_a_failing_server_may_be_asked_later(ask: Ask) -> None:
    llm, provider = ask(Reply(status=500, error="internal error"))
    with pytest.raises(Overloaded, match="500 internal error") as caught:
        llm.complete("Greet.", "x", None, max_tokens=50)
    assert caught.value.retryable
    assert caught.value.retry_after is None
    assert len(provider.asked) == 1


def test_a_wrong_key_is_told_without_showing_it(ask: Ask) -> None:
    """Not in the message, the hint, the traceback's causes, nor in what the language model shows of itself."""
    llm, _ = ask(key="sk-secret-of-mine")
    with pytest.raises(KeyRefused) as caught:
        llm.complete("Greet.", "x", None, max_tokens=50)
    assert "secret" not in f"{caught.value} {caught.value.hint} {caught.value.__cause__} {llm!r} {vars(caught.value)}"


def test_what_a_server_says_is_told_without_the_key(ask: Ask) -> None:
    llm, _ = ask(Reply(status=404, error=f"no model for {KEY}"))
    with pytest.raises(LlmError, match=r"404 no model for \*\*\*"):
        llm.complete("Greet.", "x", None, max_tokens=50)


def test_no_answer_in_time_is_an_error(ask: Ask) -> None:
    llm, provider = ask(Reply(delay=2), timeout=0.3)
    with pytest.raises(NoAnswer, match=r"within 0\.3 seconds") as caught:
        llm.complete("Greet.", "x", None, max_tokens=50)
    assert caught.value.retryable
    assert len(provider.asked) == 1


@pytest.mark.parametrize("status", [200, 400, 500])
@pytest.mark.parametrize("spoilt", [{"broken": True}, {"headers": {"Content-Encoding": "gzip"}}])
def test_an_answer_that_breaks_off_is_none(ask: Ask, status: int, spoilt: dict[str, Any]) -> None:
    """Or that was spoilt on its way."""
    llm, _ = ask(Reply(status=status, **spoilt))
    with pytest.raises(NoAnswer):
        llm.complete("Greet.", "x", None, max_tokens=50)


def test_no_server_is_an_error(ask: Ask) -> None:
    llm, provider = ask()
    provider.stop()
    with pytest.raises(NoAnswer):
        llm.complete("Greet.", "x", None, max_tokens=50)


@pytest.mark.parametrize(
    "body",
    [
        b'{"content": [{"type": "text", "te',  # ends in the middle
        b"<html>Welcome to the hotel</html>",  # of a proxy
        b"[]",
        b"{}",
        b'{"content": null, "choices": null}',
        b'{"content": [{"type": "text"}], "choices": [{"message": null}]}',
        b"\xff\xfe",
    ],
)
@pytest.mark.parametrize("content_type", ["application/json", "text/html"])
def test_an_answer_in_no_protocol_is_unusable(ask: Ask, body: bytes, content_type: str) -> None:
    llm, _ = ask(Reply(body=body, headers={"Content-Type": content_type}))
    with pytest.raises(Unusable):
        llm.complete("Greet.", "x", None, max_tokens=50)


def test_an_answer_that_was_cut_off_is_unusable(ask: Ask) -> None:
    """Half of a text may say the opposite of the whole. Its tokens are told: they are paid for."""
    llm, _ = ask(Reply("Good", stop="length"))
    with pytest.raises(Unusable, match="cut off") as caught:
        llm.complete("Greet.", "x", None, max_tokens=50)
    assert caught.value.tokens == 107


def test_a_model_may_decline(ask: Ask) -> None:
    llm, _ = ask(Reply("", stop="refusal"))
    with pytest.raises(Declined) as caught:
        llm.complete("Greet.", "x", None, max_tokens=50)
    assert caught.value.tokens > 0


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (Reply(stop="content_filter"), Declined),
        (Reply(body=b'{"error": {"message": "upstream is gone"}}'), LlmError),  # with status 200
        (Reply(status=400, body=b'{"error": {"code": "json_validate_failed", "message": "no JSON"}}'), Unusable),
    ],
)
def test_what_compatible_servers_do_besides(ask: Ask, reply: Reply, error: type[LlmError]) -> None:
    llm, provider = ask(reply, model="openai:gpt-x")
    with pytest.raises(error):
        llm.complete("Greet.", "x", SCHEMA, max_tokens=50)
    assert len(provider.asked) == 1


def test_nothing_follows_a_redirection(ask: Ask) -> None:
    """The key goes to the server it was meant for."""
    _, other = ask()
    llm, _ = ask(Reply(status=307, headers={"Location": f"{other.url}/v1/messages"}))
    with pytest.raises(LlmError, match="307"):
        llm.complete("Greet.", "x", None, max_tokens=50)
    assert other.asked == []


def test_the_environment_diverts_nothing(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither other addresses nor other keys nor proxies that the clients look for."""
    for name in ("ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, "sk-of-someone-else")
    llm, _ = ask()
    assert llm.complete("Greet.", "x", None, max_tokens=50).text == "Good morning."


@pytest.mark.parametrize(
    ("spec", "given"),
    [
        ("gemini:x", {"key": "k"}),  # no such provider
        ("anthropic", {}),  # no key
        ("openai", {}),
        ("groq:x", {}),
        ("ollama", {}),  # no model
        ("openai-compatible:x", {}),  # no address
        ("openai", {"url": "http://localhost:11434/v1"}),  # no model, and the server is not OpenAI's
        ("openai:x", {"url": "localhost:11434"}),
        ("openai:x", {"url": "http://[::1/v1"}),
        ("anthropic:x", {"url": "http://localhost:99999999"}),
    ],
)
def test_what_cannot_be_asked_is_told_at_once(spec: str, given: dict[str, Any]) -> None:
    with pytest.raises(BadConfig):
        open_language_model(spec, **given)


def test_any_thread_may_ask(ask: Ask) -> None:
    llm, provider = ask()
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda number: llm.complete("Greet.", str(number), SCHEMA, max_tokens=50), range(40)))
    assert {answer.text for answer in answers} == {"Good morning."}
    assert {said(asked)[1] for asked in provider.asked} == {str(number) for number in range(40)}


def test_half_a_pair_of_surrogates_can_be_sent(ask: Ask) -> None:
    """It may stand in a message, and is no reason to fail."""
    llm, provider = ask()
    llm.complete("Greet.", "\ud83d Bom dia 😀", None, max_tokens=50)
    assert said(provider.asked[0])[1] == "? Bom dia 😀"


def test_none_is_nobody() -> None:
    assert open_language_model("none") is None


@pytest.mark.parametrize(
    ("spec", "url", "name", "address"),
    [
        ("anthropic:claude-x", "", "anthropic:claude-x", "https://api.anthropic.com/v1/messages"),
        ("openai:gpt-x", "", "openai:gpt-x", "https://api.openai.com/v1/chat/completions"),
        ("groq:openai/gpt-oss-20b", "", "groq:openai/gpt-oss-20b", "https://api.groq.com/openai/v1/chat/completions"),
        ("ollama:qwen3:8b", "", "ollama:qwen3:8b", "http://localhost:11434/v1/chat/completions"),
        ("ollama:qwen3:latest", "http://gpu:11434", "ollama:qwen3", "http://gpu:11434/v1/chat/completions"),
        ("lmstudio:qwen/qwen3-8b", "", "lmstudio:qwen/qwen3-8b", "http://localhost:1234/v1/chat/completions"),
        ("openai-compatible:m", "http://h:1/v1/", "openai-compatible:m", "http://h:1/v1/chat/completions"),
        ("openai-compatible", "http://h:1/v1", "openai-compatible", "http://h:1/v1/chat/completions"),
    ],
)
def test_a_provider_is_asked_where_it_is(spec: str, url: str, name: str, address: str) -> None:
    llm = open_language_model(spec, key="k", url=url)
    assert isinstance(llm, HttpLanguageModel)
    assert (llm.name, llm._client._url + llm.path) == (name, address)


def test_a_server_of_one_model_is_asked_without_its_name(ask: Ask) -> None:
    llm, provider = ask(model="openai-compatible")
    assert llm.complete("Greet.", "x", None, max_tokens=50).text == "Good morning."
    assert "model" not in provider.asked[0]


def test_a_dead_server_costs_one_timeout_and_not_one_per_question(ask: Ask) -> None:
    llm, provider = ask(Reply(delay=2), timeout=0.3)
    with pytest.raises(NoAnswer):
        llm.complete("Greet.", "x", None, max_tokens=50)
    for _ in range(100):
        with pytest.raises(Paused, match=r"not asked for . s more, because .* did not answer within 0\.3 seconds"):
            llm.complete("Greet.", "x", None, max_tokens=50)
    assert len(provider.asked) == 1


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_a_provider_has_a_small_model_by_default(provider: str) -> None:
    llm = open_language_model(provider, key="k")
    assert llm
    assert llm.name.startswith(f"{provider}:")
    llm.close()


KEYS = {"ANTHROPIC_API_KEY": "sk-a", "OPENAI_API_KEY": "sk-o", "GROQ_API_KEY": "gsk"}


@pytest.mark.parametrize(
    ("environment", "key"),
    [
        (KEYS, ("", "default")),  # nobody is asked, so nothing is looked up
        ({**KEYS, "RETENTIVE_LLM": "anthropic:x"}, ("sk-a", "ANTHROPIC_API_KEY")),
        ({**KEYS, "RETENTIVE_LLM": "openai"}, ("sk-o", "OPENAI_API_KEY")),
        ({**KEYS, "RETENTIVE_LLM": "groq:x"}, ("gsk", "GROQ_API_KEY")),
        ({**KEYS, "RETENTIVE_LLM": "ollama:x"}, ("", "default")),
        ({**KEYS, "RETENTIVE_LLM": "openai", "RETENTIVE_LLM_KEY": "mine"}, ("mine", "RETENTIVE_LLM_KEY")),
        ({**KEYS, "RETENTIVE_LLM": "openai:x", "RETENTIVE_LLM_URL": "https://groq.example"}, ("", "default")),
    ],
)
def test_the_key_of_a_provider_goes_to_that_provider_only(environment: dict[str, str], key: tuple[str, str]) -> None:
    assert resolve({}, environment)["llm_key"] == key


@pytest.mark.parametrize(
    "settings", [{"llm": "gpt"}, {"llm": "none:x"}, {"llm_url": "localhost:11434"}, {"llm_key": "two\nlines"}]
)
def test_settings_that_cannot_be_used_are_refused(settings: dict[str, str]) -> None:
    with pytest.raises(BadConfig) as caught:
        resolve(settings, os.environ)
    assert "two" not in str(caught.value)
