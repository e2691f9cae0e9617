"""Rerankers: a model reads question and text together, and reorders the first hits. Off unless set.

A reranker is slower and often better than the ranking of `search/signals.py`: it reads every text for every question.
There are two: a local cross-encoder in ONNX (`cross_encoder.py`), and the rerank endpoint of a provider or of a server
of one's own (`provider.py`). A search never waits for it beyond its time limit, and never fails because of it.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from retentive.errors import BadConfig


class Reranker(Protocol):
    """Scores how well texts answer a question. Safe to use from many threads at once."""

    def score(self, question: str, texts: Sequence[str], seconds: float) -> list[float]:
        """A number for each text, higher is better; only their order means something.

        Raises `RerankError` if it takes longer than `seconds` or cannot answer. Changes nothing.
        """
        ...

    def close(self) -> None:
        """Release connections and models."""
        ...


class RerankSettings(NamedTuple):
    kind: str
    """`none`, `model` or `provider`."""
    model: str
    """The folder of the model, or what the provider calls it."""
    url: str
    key: str


def open_reranker(settings: RerankSettings) -> Reranker | None:
    """Open the reranker that is set, if any. Its model is loaded at its first use."""
    match settings.kind:
        case "none":
            return None
        case "model":
            from retentive.rerank.cross_encoder import CrossEncoder

            if not settings.model:
                raise BadConfig(
                    "rerank is `model`, but rerank_model is not set", "Set rerank_model to the folder of the model."
                )
            return CrossEncoder(Path(settings.model).expanduser())
        case "provider":
            from retentive.rerank.provider import ProviderReranker

            if not settings.url:
                raise BadConfig(
                    "rerank is `provider`, but rerank_url is not set", "Set rerank_url to the rerank endpoint."
                )
            return ProviderReranker(settings.url, settings.key, settings.model)
        case other:
            raise BadConfig(f"there is no reranker {other!r}", "One of: none, model, provider.")
