"""The table of providers: where each is, which variable has its key, and what it offers."""

from typing import NamedTuple

from retentive.errors import BadConfig

COMPATIBLE = "openai-compatible"


class Provider(NamedTuple):
    name: str
    url: str
    """The base of its OpenAI-compatible endpoints, or of its own protocol; "" if it must be set."""
    key_variable: str = ""
    """The environment variable in which its own tools expect the key."""
    needs_key: bool = False
    embeds: bool = True
    writes: bool = True
    """Whether it offers language models."""
    default_llm: str = ""
    """A small model: facts are extracted often, and a small one is good at it."""


PROVIDERS = {
    each.name: each
    for each in (
        Provider("anthropic", "https://api.anthropic.com", "ANTHROPIC_API_KEY", True, False, True, "claude-haiku-5-5"),
        Provider("openai", "https://api.openai.com/v1", "OPENAI_API_KEY", True, default_llm="gpt-5.4-mini"),
        Provider("groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY", True),
        Provider("ollama", "http://localhost:11434", "OLLAMA_API_KEY"),
        Provider("lmstudio", "http://localhost:1234/v1"),
        Provider(COMPATIBLE, ""),
    )
}


class ModelSpec(NamedTuple):
    """A model of a provider, as a setting names it: `PROVIDER:MODEL`."""

    provider: Provider
    model: str

    @property
    def name(self) -> str:
        return f"{self.provider.name}:{self.model}" if self.model else self.provider.name


def is_provider_spec(text: str) -> bool:
    """Whether a setting names a provider, with or without a model."""
    return text.partition(":")[0] in PROVIDERS


def parse_spec(text: str) -> ModelSpec:
    """Parse `PROVIDER:MODEL`. The model may be missing, and may have colons of its own."""
    name, _, model = text.strip().partition(":")
    if name not in PROVIDERS:
        raise BadConfig(f"There is no provider {name!r}.", f"Known: {', '.join(PROVIDERS)}.")
    if name == "ollama":
        model = model.removesuffix(":latest")  # which Ollama adds where no tag is named
    return ModelSpec(PROVIDERS[name], model.strip())
