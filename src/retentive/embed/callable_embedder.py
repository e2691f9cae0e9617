"""Embedders that a program passes in: a function from texts to vectors, or an object that implements `Embedder`."""

from __future__ import annotations

import asyncio
import inspect
import threading
from typing import TYPE_CHECKING, Any, cast

from retentive.embed.measured_embedder import MeasuredEmbedder
from retentive.errors import BadConfig, EmbedError
from retentive.model import Space

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from retentive.embed import Embedder, FindDimension

    EmbedFunction = Callable[[list[str]], Any]
    """Returns a vector for each text: an array, or a list of lists of numbers."""

_EMBEDDER_METHODS = ("embed", "embed_query", "describe", "close")
_NAME_HINT = 'Give it a name: Retentive.open(embedder=EmbedderFunction(function, name="my-model")).'
_ASYNC_HINT = "Give one that returns vectors directly: def embed(texts): return asyncio.run(embed_async(texts))."


class EmbedderFunction:
    """A function from texts to vectors, with the name of its model and, if it is known, its dimension.

    Each model needs a name of its own, because vectors under one name are compared.
    """

    def __init__(self, function: EmbedFunction, name: str = "", dimension: int | None = None) -> None:
        if asyncio.iscoroutinefunction(function) or asyncio.iscoroutinefunction(getattr(function, "__call__", None)):  # noqa: B004 - an object may have an async one
            raise BadConfig("the embedder is an async function", _ASYNC_HINT)
        self.function, self.name, self.dimension = function, name or _find_name(function), dimension


class CallableEmbedder(MeasuredEmbedder):
    """An `Embedder` that calls a function of the program, in one thread at a time."""

    batch_size = 256

    def __init__(self, embedder: EmbedderFunction, cache: Path, find_dimension: FindDimension | None = None) -> None:
        name = f"function:{embedder.name}"
        super().__init__(name, cache, dimension=embedder.dimension, find_dimension=find_dimension)
        self._function = embedder.function
        self._call_lock = threading.Lock()

    def describe(self) -> Mapping[str, str]:
        loaded = "yes" if self._is_confirmed else "no"
        return {"space": self._name, "loaded": loaded, "dimension": str(self.space.dimension or "not known yet")}

    def _call_model(self, texts: Sequence[str], *, is_query: bool) -> Any:  # noqa: ARG002 - one function for both
        try:
            with self._call_lock:
                vectors = self._function([*texts])
        except EmbedError:
            raise
        except Exception as error:  # a program's function may raise anything
            raise EmbedError(f"{self._name} failed: {type(error).__name__}: {error}") from error
        if inspect.isawaitable(vectors):
            if inspect.iscoroutine(vectors):
                vectors.close()
            raise EmbedError(f"{self._name} is async, and does not return vectors", _ASYNC_HINT)
        return [*vectors] if isinstance(vectors, tuple) else vectors


def parse_embedder(given: Any) -> Embedder | EmbedderFunction:
    """Return an `Embedder` as it is, and wrap a function. Raises `BadConfig` for anything else."""
    if isinstance(given, EmbedderFunction):
        return given
    if isinstance(getattr(given, "space", None), Space):
        missing = [method for method in _EMBEDDER_METHODS if not callable(getattr(given, method, None))]
        if missing:
            raise BadConfig(f"the embedder has no {missing[0]}", "It needs space, embed, embed_query, describe, close.")
        return cast("Embedder", given)
    if callable(given):
        return EmbedderFunction(given)
    raise BadConfig(
        f"the embedder is a {type(given).__name__}", "Give a name, a function from texts to vectors, or an Embedder."
    )


def _find_name(function: EmbedFunction) -> str:
    """Return module and name of a function. Functions without a name could not be distinguished."""
    name = getattr(function, "__qualname__", "")
    if not name or "<" in name:
        raise BadConfig("the embedder is a function without a name of its own", _NAME_HINT)
    return f"{function.__module__ or '__main__'}.{name}"
