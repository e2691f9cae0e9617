"""The rerank endpoint of a provider, or of a server of one's own.

With a model's name the request is what Cohere, Jina and Voyage take: `{"model", "query", "documents"}`, answered by
`{"results": [{"index", "relevance_score"}]}` (Voyage: `data`). Without one it is what text-embeddings-inference takes:
`{"query", "texts"}`, answered by `[{"index", "score"}]`. A server that fails is left alone for a while: it costs one
search its time, and not each.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from retentive.errors import RerankError
from retentive.providers.client import Client, Refusal, Unanswered

if TYPE_CHECKING:
    from collections.abc import Sequence


class ProviderReranker:
    """A `Reranker` over HTTP."""

    def __init__(self, url: str, key: str, model: str) -> None:
        self._url, self._model = url, model
        self._client = Client(url, key=key)

    def score(self, question: str, texts: Sequence[str], seconds: float) -> list[float]:
        if self._model:
            body: dict[str, Any] = {"model": self._model, "query": question, "documents": [*texts]}
        else:
            body = {"query": question, "texts": [*texts]}
        try:
            answer = self._client.post("", body, seconds)
        except Unanswered as error:
            raise RerankError(str(error)) from None
        except Refusal as refusal:
            raise RerankError(f"{self._url} answered {refusal.status}: {refusal.message}") from None
        return _read_scores(answer, len(texts), self._url)

    def close(self) -> None:
        self._client.close()


def _read_scores(answer: bytes, count: int, url: str) -> list[float]:
    """The scores in the order of the texts. Texts that the server left out come last."""
    try:
        parsed = json.loads(answer)
        rows = parsed.get("results") or parsed["data"] if isinstance(parsed, dict) else parsed
        found = {int(row["index"]): float(row.get("relevance_score", row.get("score"))) for row in rows}
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise RerankError(f"{url} returned no valid ranking") from error
    if not found or not {*found} <= {*range(count)}:
        raise RerankError(f"{url} ranked texts that it was not given")
    last = min(found.values()) - 1
    return [found.get(place, last) for place in range(count)]
