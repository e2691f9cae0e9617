"""Who writes prose for us? The seam between learning and a language model. Optional: without one, rules do it.

`service.py` has what is the same whoever is asked: forms of an answer, short waits, errors. `claude.py` asks Anthropic,
`compatible.py` OpenAI and all who speak its protocol.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from retentive.errors import BadConfig, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retentive.config import Config

__all__ = ["DEFAULT_MODELS", "Writer", "Written", "open_configured", "open_writer"]

# The small ones: taking facts out of talk is what they are sold for, and it is done often.
DEFAULT_MODELS = {"anthropic": "claude-haiku-5-5", "openai": "gpt-5.4-mini"}


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
    with. A call that was turned away with the request to come back within seconds is repeated, twice at most.
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
    """`anthropic:MODEL` or `openai:MODEL`; "none" gives None.

    Nothing is sent before the first question, but importing a provider's client takes a second or more.
    """
    provider, _, model = spec.partition(":")
    if provider == "none":
        return None
    if provider not in DEFAULT_MODELS:
        raise BadConfig(f"There is no language model {spec!r}.", "Write it as anthropic:MODEL or openai:MODEL.")
    if url and not _can_be_asked(url):
        raise BadConfig("llm_url cannot be read as an address.", "It is as http://localhost:11434/v1.")
    if url and not model:
        raise BadConfig(f"llm is {spec!r}, without a model, and llm_url is set.", f"Name its model: {provider}:MODEL.")
    if not key and not url:
        raise BadConfig(f"llm is {spec!r}, and there is no key for it.", "Set llm_key, or RETENTIVE_LLM_KEY.")
    model = model or DEFAULT_MODELS[provider]
    try:
        if provider == "anthropic":
            from retentive.llm.claude import Claude

            return Claude(model, key, url, timeout)
        from retentive.llm.compatible import Compatible
    except ImportError as error:
        raise MissingExtra(f"{provider} is not installed.", f"pip install 'retentive[{provider}]'") from error
    return Compatible(model, key, url, timeout)


def _can_be_asked(url: str) -> bool:
    """Clients raise errors of their own at what is no address."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0 and url.isprintable()
    except ValueError:
        return False
