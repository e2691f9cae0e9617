"""Caches of results that were computed from texts of users.

Such a cache holds the texts as its keys. Each is therefore made by `text_cache`, and a purge empties them all.
"""

from collections.abc import Callable
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakSet

if TYPE_CHECKING:
    from functools import _lru_cache_wrapper

T = TypeVar("T")

_registering = Lock()
_caches: "WeakSet[_lru_cache_wrapper[object]]" = WeakSet()


def text_cache(max_entries: int) -> "Callable[[Callable[..., T]], _lru_cache_wrapper[T]]":
    """Make an `lru_cache` for a function of a text, and register it to be cleared by a purge."""

    def decorate(function: Callable[..., T]) -> "_lru_cache_wrapper[T]":
        cached = lru_cache(max_entries)(function)
        with _registering:
            _caches.add(cached)
        return cached

    return decorate


def clear_text_caches() -> None:
    """Forget all texts that this process holds in caches."""
    with _registering:
        caches = [*_caches]
    for cached in caches:
        cached.cache_clear()
