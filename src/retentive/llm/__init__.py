"""Language models: `LanguageModel` asks a provider's model one question at a time.

A language model is optional: without one, learning and summaries go on by rules. `service.py` has the code that all
providers share: formats of an answer, retries, errors. `claude.py` has the protocol of Anthropic, `compatible.py` that
of OpenAI and of all servers that speak it.

A provider that speaks one of these protocols is a row of `providers/registry.py`. Another protocol is a subclass of
`HttpLanguageModel` in a module here, and a branch in `open_language_model`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from retentive.errors import BadConfig
from retentive.frozen_dataclass import dataclass
from retentive.providers.keys import find_in_keyring
from retentive.providers.registry import COMPATIBLE, PROVIDERS, ModelSpec, is_provider_spec, parse_spec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retentive.config import Config

__all__ = ["Completion", "LanguageModel", "open_configured", "open_language_model"]


@dataclass(frozen=True, slots=True)
class Completion:
    """The answer of a language model, and what it cost."""

    text: str
    tokens_in: int
    tokens_out: int
    """The provider's count, thinking included; an estimate if the provider gives none."""


class LanguageModel(Protocol):
    """Asks a language model one question at a time.

    Guarantees: the text is the model's whole answer; one that was cut off is an error. The server enforces the schema
    if it can; else the model is only asked to follow it. So callers must check every answer.
    Only `instructions`, `material` and the schema are sent, and only to the server that it was opened with. A call that
    is refused with a pause of seconds is repeated, at most twice. After a failure the server is not called for a while:
    then nothing is sent, and the error is `Paused`.
    Errors: `LlmError` or a subclass, nothing else; no message contains the key. A failed call may be repeated.
    Threads: every method may be called from any thread at any time, not from a forked process.
    Must not know: memories, conversations, what the answer is for, how much was asked today.
    """

    @property
    def name(self) -> str:
        """Provider and model, as in the setting `llm`."""
        ...

    def complete(
        self, instructions: str, material: str, schema: Mapping[str, Any] | None, *, max_tokens: int
    ) -> Completion:
        """Ask the model. `schema` is a JSON schema, None for prose; `max_tokens` limits answer and thinking."""
        ...

    def close(self) -> None: ...


def open_configured(settings: Config) -> LanguageModel | None:
    """Open the language model of the settings."""
    return open_language_model(settings.llm, key=settings.llm_key, url=settings.llm_url, timeout=settings.llm_timeout)


def open_language_model(spec: str, *, key: str = "", url: str = "", timeout: float = 60.0) -> LanguageModel | None:
    """Open the model `PROVIDER:MODEL`; None for "none". Nothing is sent before the first question."""
    if spec == "none":
        return None
    chosen = _parse_model(spec, url)
    provider = chosen.provider
    key = key or find_in_keyring(provider, url)
    if not key and not url and provider.needs_key:
        hint = "Set RETENTIVE_LLM_KEY in the environment, or store it in the system keyring."
        raise BadConfig(f"llm is {spec!r}, but there is no key for it.", hint)
    from retentive.llm.service import RETRIES
    from retentive.providers.client import Client

    base = url or provider.url
    if provider.name == "anthropic":
        from retentive.llm.claude import Claude, make_headers

        return Claude(chosen, Client(base, key=key, headers=make_headers(key), timeout=timeout, retries=RETRIES))
    from retentive.llm.compatible import Compatible

    if provider.name == "ollama" and not base.rstrip("/").endswith("/v1"):
        base = base.rstrip("/") + "/v1"
    return Compatible(chosen, Client(base, key=key, timeout=timeout, retries=RETRIES))


def _parse_model(spec: str, url: str) -> ModelSpec:
    """Parse provider and model. Raises `BadConfig` if they cannot be asked."""
    from retentive.providers.client import is_server_address

    if not is_provider_spec(spec):
        known = ", ".join(name for name, provider in PROVIDERS.items() if provider.writes)
        raise BadConfig(f"There is no language model {spec!r}.", f"Write it as PROVIDER:MODEL. Providers: {known}.")
    chosen = parse_spec(spec)
    name = chosen.provider.name
    if url and not is_server_address(url):
        raise BadConfig("llm_url cannot be read as an address.", "An example is http://localhost:11434/v1.")
    if not url and not chosen.provider.url:
        raise BadConfig(f"llm is {spec!r}, but it has no address.", "Set llm_url, up to and with /v1.")
    if chosen.model or name == COMPATIBLE:
        return chosen
    if url:
        raise BadConfig(f"llm is {spec!r}, without a model, and llm_url is set.", f"Give its model: {name}:MODEL.")
    if not chosen.provider.default_llm:
        raise BadConfig(f"llm is {spec!r}, without a model.", f"Give one: {name}:MODEL.")
    return chosen._replace(model=chosen.provider.default_llm)
