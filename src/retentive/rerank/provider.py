"""The rerank endpoint of a provider, or of a server of one's own.

With a model's name the request is what Cohere, Jina and Voyage take: `{"model", "query", "documents"}`, answered by
`{"results": [{"index", "relevance_score"}]}` (Voyage: `data`). Without one it is what text-embeddings-inference takes:
`{"query", "texts"}`, answered by `[{"index", "score"}]`. Redirections are not followed: a key goes to the server it was
meant for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retentive.errors import RerankError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import httpx

MAX_SAID = 200  # characters of what a server says that are worth telling


class Provider:
    def __init__(self, url: str, key: str, model: str) -> None:
        import httpx

        self._url, self._model = url, model
        self._client = httpx.Client(headers={"Authorization": f"Bearer {key}"} if key else {})

    def score(self, question: str, texts: Sequence[str], seconds: float) -> list[float]:
        import httpx

        if self._model:
            body: dict[str, Any] = {"model": self._model, "query": question, "documents": [*texts]}
        else:
            body = {"query": question, "texts": [*texts]}
        try:
            answer = self._client.post(self._url, json=body, timeout=seconds)
        except httpx.TimeoutException as error:
            raise RerankError(f"{self._url} did not answer within {seconds:g} s") from error
        except httpx.HTTPError as error:
            raise RerankError(f"{self._url} could not be asked: {error}") from error
        if not answer.is_success:
            raise RerankError(f"{self._url} answered {answer.status_code}: {answer.text[:MAX_SAID]}")
        return _read_scores(answer, len(texts), self._url)

    def close(self) -> None:
        self._client.close()


def _read_scores(answer: httpx.Response, count: int, url: str) -> list[float]:
    """The scores in the order of the texts. Texts that the server left out come last."""
    try:
        told = answer.json()
        rows = told.get("results") or told["data"] if isinstance(told, dict) else told
        found = {int(row["index"]): float(row.get("relevance_score", row.get("score"))) for row in rows}
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise RerankError(f"{url} answered something that is no ranking") from error
    if not found or not {*found} <= {*range(count)}:
        raise RerankError(f"{url} ranked other texts than it was given")
    last = min(found.values()) - 1
    return [found.get(place, last) for place in range(count)]
