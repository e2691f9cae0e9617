"""Who writes prose for us? The seam between learning and a language model. Optional: without one, rules do it.

`service.py` has what is the same whoever is asked: forms of an answer, short waits, errors. `claude.py` asks Anthropic,
`compatible.py` OpenAI and all who speak its protocol.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from retentive.errors import BadConfig
from retentive.providers.keys import find_in_keyring
from retentive.providers.registry import COMPATIBLE, PROVIDERS, ModelSpec, is_provider_spec, parse_spec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retentive.config import Config

__all__ = ["Writer", "Written", "open_configured", "open_writer"]


@dataclass(frozen=True, slots=True)
class Written:
    text: str
    tokens_in: int
    tokens_out: int
    """As the provider counts them, thinking included; estimated where it does not say."""


class Writer(Protocol):
    """Asks a language model one question at a time.

    Guarantees: the text is the model's whole answer; one that was cut off is an error. If there is a schema, the model
    was made to keep to it where its server can do so, else told to: callers check the answer whatever it is.
    Nothing is sent but `instructions`, `material` and the schema, and to no other server than the one it was opened
    with. A call that was turned away with the request to come back within seconds is repeated, twice at most. A server
    that fails is left alone for a while: then nothing is sent, and the error is `Paused`.
    Errors: `LlmError` or a subclass, nothing else; no message of theirs has the key. A failed call may be repeated.
    Threads: every method may be called from any thread at any time, not from a forked process.
    Must not know: memories, conversations, what the answer is for, how much was asked today.
    """

    @property
    def name(self) -> str:
        """Provider and model, as in the setting `llm`."""
        ...

    def write(self, instructions: str, material: str, schema: Mapping[str, Any] | None, *, tokens: int) -> Written:
        """`schema` is a JSON schema for the answer; None asks for prose. It has at most `tokens`, thinking included."""
        ...

    def close(self) -> None: ...


def open_configured(settings: Config) -> Writer | None:
    """The language model that the settings name."""
    return open_writer(settings.llm, key=settings.llm_key, url=settings.llm_url, timeout=settings.llm_timeout)


def open_writer(spec: str, *, key: str = "", url: str = "", timeout: float = 60.0) -> Writer | None:
    """The model of `PROVIDER:MODEL`; "none" gives None. Nothing is sent before the first question."""
    if spec == "none":
        return None
    chosen = _complete(spec, url)
    provider = chosen.provider
    key = key or find_in_keyring(provider, url)
    if not key and not url and provider.needs_key:
        hint = "Set RETENTIVE_LLM_KEY in the environment, or put it into the system's keyring."
        raise BadConfig(f"llm is {spec!r}, and there is no key for it.", hint)
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


def _complete(spec: str, url: str) -> ModelSpec:
    """Provider and model, as far as they can be asked."""
    from retentive.providers.client import can_be_asked

    if not is_provider_spec(spec):
        known = ", ".join(name for name, provider in PROVIDERS.items() if provider.writes)
        raise BadConfig(f"There is no language model {spec!r}.", f"Write it as PROVIDER:MODEL. Providers: {known}.")
    chosen = parse_spec(spec)
    name = chosen.provider.name
    if url and not can_be_asked(url):
        raise BadConfig("llm_url cannot be read as an address.", "It is as http://localhost:11434/v1.")
    if not url and not chosen.provider.url:
        raise BadConfig(f"llm is {spec!r}, and has no address.", "Set llm_url, up to and with /v1.")
    if chosen.model or name == COMPATIBLE:
        return chosen
    if url:
        raise BadConfig(f"llm is {spec!r}, without a model, and llm_url is set.", f"Name its model: {name}:MODEL.")
    if not chosen.provider.default_llm:
        raise BadConfig(f"llm is {spec!r}, without a model.", f"Name one: {name}:MODEL.")
    return chosen._replace(model=chosen.provider.default_llm)
