"""Embedders over HTTP: OpenAI's `/embeddings`, which most providers implement, and Ollama's `/api/embed`.

A space is named `PROVIDER:MODEL`, with `@HOST` behind it if the address is not the provider's own: two servers may have
different models of one name. Texts are sent in batches. If a server refuses a batch, it is sent in halves, and a single
text is shortened. So a text that is too long does not keep the others from their vectors.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from retentive.embed.measured_embedder import MeasuredEmbedder
from retentive.errors import BadConfig, EmbedError, ModelMissing
from retentive.providers.client import (
    Client,
    Refusal,
    Retries,
    Unanswered,
    is_same_server,
    is_server_address,
    make_sendable,
)
from retentive.providers.keys import SERVICE, find_in_keyring, name_in_keyring
from retentive.text.token_estimate import estimate_tokens

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from retentive.embed import FindDimension, ProviderSettings
    from retentive.providers.registry import ModelSpec

RETRIES = Retries(4, 30.0, first_pause=0.5)  # about 8 s if the server names no pause; writes do not wait for it
MIN_CHARS = 200  # a text is not shortened further: a server that refuses it has another reason
EMPTY_TEXT = "."  # replaces a text without words, which OpenAI refuses

_SEARCH_PREFIX = "Represent this sentence for searching relevant passages: "
_HTTP_NOT_FOUND = 404


class Prefixes(NamedTuple):
    query: str
    document: str


# The prefixes of models, by a part of their names; the first that fits. Other models get none.
PREFIXES = {
    "nomic-embed-text": Prefixes("search_query: ", "search_document: "),
    "-instruct": Prefixes("", ""),  # these models want a description of the task, which only the user knows
    "e5-": Prefixes("query: ", "passage: "),
    "mxbai-embed-large": Prefixes(_SEARCH_PREFIX, ""),
    "snowflake-arctic-embed2": Prefixes("query: ", ""),
    "snowflake-arctic-embed-l-v2": Prefixes("query: ", ""),
    "snowflake-arctic-embed": Prefixes(_SEARCH_PREFIX, ""),
}


def find_prefixes(model: str) -> Prefixes:
    name = model.lower()
    return next((prefixes for part, prefixes in PREFIXES.items() if part in name), Prefixes("", ""))


class ProviderEmbedder(MeasuredEmbedder):
    """An `Embedder` over HTTP. Nothing is sent before the first text."""

    def __init__(
        self, spec: ModelSpec, settings: ProviderSettings, cache: Path, find_dimension: FindDimension | None = None
    ) -> None:
        _check_spec(spec, settings.url)
        super().__init__(name_space(spec, settings.url), cache, find_dimension=find_dimension)
        self._spec, self._settings = spec, settings
        self._prefixes = find_prefixes(spec.model)
        self._client: Client | None = None
        self._tokens = 0

    def describe(self) -> Mapping[str, str]:
        client, space = self._client, self.space
        state = {
            "space": space.name,
            "loaded": "yes" if self._is_confirmed else "no",
            "url": _base_url(self._spec, self._settings.url),
            "dimension": str(space.dimension or "not known yet"),
            "breaker": client.breaker.describe() if client else "closed",
            "requests": str(client.requests if client else 0),
            "tokens": str(self._tokens),
        }
        if state["breaker"] != "closed":
            state["degraded"] = f"the provider does not answer: breaker {state['breaker']}"
        return state

    def close(self) -> None:
        super().close()
        if self._client:
            self._client.close()

    def _call_model(self, texts: Sequence[str], *, is_query: bool) -> Any:
        prefix = self._prefixes.query if is_query else self._prefixes.document
        return self._request_vectors([prefix + _clean_text(text) for text in texts])

    def _request_vectors(self, texts: Sequence[str]) -> list[Any]:
        try:
            answer = self._post(texts)
        except Refusal as refusal:
            if not refusal.is_about_request or (len(texts) == 1 and len(texts[0]) <= MIN_CHARS):
                raise self._make_error(refusal) from None
        else:
            return self._parse_answer(texts, answer)
        if len(texts) > 1:
            half = len(texts) // 2
            return self._request_vectors(texts[:half]) + self._request_vectors(texts[half:])
        return self._request_vectors([texts[0][: max(MIN_CHARS, len(texts[0]) // 2)]])

    def _post(self, texts: Sequence[str]) -> bytes:
        body = {"model": self._spec.model, "input": [*texts]}
        try:
            return self._connect().post("/api/embed" if self._is_ollama else "/embeddings", body)
        except Unanswered as error:
            raise EmbedError(str(error)) from None

    def _parse_answer(self, texts: Sequence[str], content: bytes) -> list[Any]:
        try:
            answer = json.loads(content)
            if self._is_ollama:
                vectors, tokens = answer["embeddings"], answer.get("prompt_eval_count")
            else:
                vectors, tokens = _sort_by_index(answer["data"]), (answer.get("usage") or {}).get("prompt_tokens")
            vectors = [*vectors]
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            hint = "Check the setting embedder_url. An example is http://localhost:8080/v1."
            raise EmbedError(f"{self._name} did not answer with embeddings", hint) from None
        if len(vectors) != len(texts):
            raise EmbedError(f"{self._name} returned {len(vectors)} vectors for {len(texts)} texts")
        self._count_tokens(tokens if isinstance(tokens, int) and tokens > 0 else sum(map(estimate_tokens, texts)))
        return vectors

    def _count_tokens(self, tokens: int) -> None:
        self._tokens += tokens
        if self._settings.on_usage:
            self._settings.on_usage(tokens)

    def _make_error(self, refusal: Refusal) -> EmbedError:
        if refusal.is_key_refused:
            return ModelMissing(f"{self._name} does not accept the key ({refusal.status})", self._key_hint)
        problem = f"{self._name}: {refusal.status} {refusal.message}".strip()
        if refusal.status == _HTTP_NOT_FOUND:
            hint = f"`ollama pull {self._spec.model}` downloads it." if self._is_ollama else "Check its name."
            return ModelMissing(problem, hint)
        return EmbedError(problem)

    @property
    def _is_ollama(self) -> bool:
        return self._spec.provider.name == "ollama"

    @property
    def _key_hint(self) -> str:
        """Say where to put the key. The provider's own variable is read only if no address is set."""
        provider, url = self._spec.provider, self._settings.url
        own = f"{provider.key_variable} or " if provider.key_variable and not url else ""
        where = f"`keyring set {SERVICE} {name_in_keyring(provider, url)}`"
        return f"Set {own}RETENTIVE_EMBEDDER_KEY in the environment, or {where}."

    def _connect(self) -> Client:
        if self._client is None:
            settings = self._settings
            key = settings.key or find_in_keyring(self._spec.provider, settings.url)
            if not key and self._spec.provider.needs_key and not settings.url:
                raise ModelMissing(f"{self._name} needs a key", self._key_hint)
            url = _base_url(self._spec, settings.url)
            self._client = Client(url, key=key, timeout=settings.timeout, retries=RETRIES)
        return self._client


def name_space(spec: ModelSpec, url: str) -> str:
    """Name a space `PROVIDER:MODEL`, with the host of an address that is not the provider's own."""
    if not url or (spec.provider.url and is_same_server(url, spec.provider.url)):
        return spec.name
    return f"{spec.name}@{urlsplit(url).netloc.rpartition('@')[2]}"


def _check_spec(spec: ModelSpec, url: str) -> None:
    if not spec.provider.embeds:
        raise BadConfig(f"{spec.provider.name} offers no embeddings.", "Set another provider in embedder.")
    if not spec.model:
        name = spec.provider.name
        raise BadConfig(f"embedder is {name!r}, without a model.", f"Write it as {name}:MODEL.")
    if not url and not spec.provider.url:
        raise BadConfig(f"embedder is {spec.name!r}, but it has no address.", "Set embedder_url, up to and with /v1.")
    if url and not is_server_address(url):
        raise BadConfig("embedder_url cannot be read as an address.", "An example is http://localhost:8080/v1.")


def _base_url(spec: ModelSpec, url: str) -> str:
    base = (url or spec.provider.url).rstrip("/")
    return base.removesuffix("/v1") if spec.provider.name == "ollama" else base


def _clean_text(text: str) -> str:
    """Make a text sendable: without zero bytes and lone surrogates, and never blank."""
    text = make_sendable(text).replace("\0", " ")
    return text if text.strip() else EMPTY_TEXT


def _sort_by_index(rows: Any) -> list[Any]:
    """Sort vectors by the index of their rows, if rows have one: a server may answer in another order."""
    rows = [*rows]
    indices = [row.get("index", position) for position, row in enumerate(rows)]
    if sorted(indices) != [*range(len(rows))]:
        raise ValueError("some texts have no vector, or two")
    vectors = {index: row["embedding"] for index, row in zip(indices, rows, strict=True)}
    return [vectors[index] for index in range(len(rows))]
