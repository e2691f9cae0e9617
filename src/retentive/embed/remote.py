"""Models that a provider serves: OpenAI's `/embeddings`, which most speak, and Ollama's `/api/embed`.

A space is named `PROVIDER:MODEL`, with `@HOST` behind it if the address is not the provider's own: two servers may have
different models of one name. Texts are sent in batches. If a server does not want a batch, it is sent in halves, and a
single text shortened: one that is too long keeps no other from its vector.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from retentive.embed.unknown_model import Measured
from retentive.errors import BadConfig, EmbedError, ModelMissing
from retentive.providers.client import Client, Refusal, Retries, Unanswered, can_be_asked, is_same_server, make_sendable
from retentive.providers.keys import SERVICE, find_in_keyring, name_in_keyring
from retentive.text.tokens import estimate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from retentive.embed import FindDimension, RemoteSettings
    from retentive.providers.registry import ModelSpec

RETRIES = Retries(4, 30.0, first=0.5)  # about 8 s where the server does not say; writes do not wait for it
MIN_CHARS = 200  # of a text that was shortened: a server that refuses so little refuses it for another reason
BLANK = "."  # in place of a text without words, which OpenAI refuses

_MEANS_SEARCH = "Represent this sentence for searching relevant passages: "
_NOT_FOUND = 404


class Prefixes(NamedTuple):
    query: str
    document: str


# What models were trained with, by a part of their names; the first that fits. Models that are not here get none.
PREFIXES = {
    "nomic-embed-text": Prefixes("search_query: ", "search_document: "),
    "-instruct": Prefixes("", ""),  # e5's and others want a task that only people can name
    "e5-": Prefixes("query: ", "passage: "),
    "mxbai-embed-large": Prefixes(_MEANS_SEARCH, ""),
    "snowflake-arctic-embed2": Prefixes("query: ", ""),
    "snowflake-arctic-embed-l-v2": Prefixes("query: ", ""),
    "snowflake-arctic-embed": Prefixes(_MEANS_SEARCH, ""),
}


def find_prefixes(model: str) -> Prefixes:
    name = model.lower()
    return next((prefixes for part, prefixes in PREFIXES.items() if part in name), Prefixes("", ""))


class Remote(Measured):
    """An `Embedder` over HTTP. Nothing is sent before the first text."""

    def __init__(
        self, spec: ModelSpec, settings: RemoteSettings, cache: Path, find_dimension: FindDimension | None = None
    ) -> None:
        _check_spec(spec, settings.url)
        super().__init__(name_space(spec, settings.url), cache, find_dimension=find_dimension)
        self._spec, self._settings = spec, settings
        self._prefixes = find_prefixes(spec.model)
        self._client: Client | None = None
        self._tokens = 0

    def describe(self) -> Mapping[str, str]:
        client, space = self._client, self.space
        said = {
            "space": space.name,
            "loaded": "yes" if self._is_confirmed else "no",
            "url": _base_url(self._spec, self._settings.url),
            "dimension": str(space.dimension or "not known yet"),
            "breaker": client.breaker.describe() if client else "closed",
            "requests": str(client.requests if client else 0),
            "tokens": str(self._tokens),
        }
        if said["breaker"] != "closed":
            said["degraded"] = f"the provider does not answer: breaker {said['breaker']}"
        return said

    def close(self) -> None:
        super().close()
        if self._client:
            self._client.close()

    def _ask(self, texts: Sequence[str], *, is_query: bool) -> Any:
        prefix = self._prefixes.query if is_query else self._prefixes.document
        return self._ask_for([prefix + _clean(text) for text in texts])

    def _ask_for(self, texts: Sequence[str]) -> list[Any]:
        try:
            answer = self._post(texts)
        except Refusal as refusal:
            if not refusal.is_about_request or (len(texts) == 1 and len(texts[0]) <= MIN_CHARS):
                raise self._explain(refusal) from None
        else:
            return self._read(texts, answer)
        if len(texts) > 1:
            half = len(texts) // 2
            return self._ask_for(texts[:half]) + self._ask_for(texts[half:])
        return self._ask_for([texts[0][: max(MIN_CHARS, len(texts[0]) // 2)]])

    def _post(self, texts: Sequence[str]) -> bytes:
        body = {"model": self._spec.model, "input": [*texts]}
        try:
            return self._connect().post("/api/embed" if self._is_ollama else "/embeddings", body)
        except Unanswered as error:
            raise EmbedError(str(error)) from None

    def _read(self, texts: Sequence[str], content: bytes) -> list[Any]:
        try:
            answer = json.loads(content)
            if self._is_ollama:
                vectors, tokens = answer["embeddings"], answer.get("prompt_eval_count")
            else:
                vectors, tokens = _in_order(answer["data"]), (answer.get("usage") or {}).get("prompt_tokens")
            vectors = [*vectors]
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            hint = "Look at the setting embedder_url: it is as http://localhost:8080/v1."
            raise EmbedError(f"{self._name} did not answer with embeddings", hint) from None
        if len(vectors) != len(texts):
            raise EmbedError(f"{self._name} gave {len(vectors)} vectors for {len(texts)} texts")
        self._count(tokens if isinstance(tokens, int) and tokens > 0 else sum(map(estimate, texts)))
        return vectors

    def _count(self, tokens: int) -> None:
        self._tokens += tokens
        if self._settings.on_usage:
            self._settings.on_usage(tokens)

    def _explain(self, refusal: Refusal) -> EmbedError:
        if refusal.is_key_refused:
            return ModelMissing(f"{self._name} does not accept the key ({refusal.status})", self._key_hint)
        said = f"{self._name}: {refusal.status} {refusal.said}".strip()
        if refusal.status == _NOT_FOUND:
            hint = f"`ollama pull {self._spec.model}` fetches a model." if self._is_ollama else "See to its name."
            return ModelMissing(said, hint)
        return EmbedError(said)

    @property
    def _is_ollama(self) -> bool:
        return self._spec.provider.name == "ollama"

    @property
    def _key_hint(self) -> str:
        """Where keys are looked for: the provider's own variable only where no address is set."""
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
    """`PROVIDER:MODEL`, with the host of an address that is not the provider's own."""
    if not url or (spec.provider.url and is_same_server(url, spec.provider.url)):
        return spec.name
    return f"{spec.name}@{urlsplit(url).netloc.rpartition('@')[2]}"


def _check_spec(spec: ModelSpec, url: str) -> None:
    if not spec.provider.embeds:
        raise BadConfig(f"{spec.provider.name} offers no embeddings.", "Name another provider in the setting embedder.")
    if not spec.model:
        name = spec.provider.name
        raise BadConfig(f"embedder is {name!r}, without a model.", f"Write it as {name}:MODEL.")
    if not url and not spec.provider.url:
        raise BadConfig(f"embedder is {spec.name!r}, and has no address.", "Set embedder_url, up to and with /v1.")
    if url and not can_be_asked(url):
        raise BadConfig("embedder_url cannot be read as an address.", "It is as http://localhost:8080/v1.")


def _base_url(spec: ModelSpec, url: str) -> str:
    base = (url or spec.provider.url).rstrip("/")
    return base.removesuffix("/v1") if spec.provider.name == "ollama" else base


def _clean(text: str) -> str:
    """What can be sent: text of at least one character that is seen, without zero bytes."""
    text = make_sendable(text).replace("\0", " ")
    return text if text.strip() else BLANK


def _in_order(rows: Any) -> list[Any]:
    """The vectors by their index, where rows have one: a server may answer in another order."""
    rows = [*rows]
    places = [row.get("index", place) for place, row in enumerate(rows)]
    if sorted(places) != [*range(len(rows))]:
        raise ValueError("some texts have no vector, or two")
    vectors = {place: row["embedding"] for place, row in zip(places, rows, strict=True)}
    return [vectors[place] for place in range(len(rows))]
