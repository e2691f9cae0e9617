"""The same edits for clients that read plain JSON only: a comment, and they would read nothing."""

from typing import Any

from retentive.clients import jsonc
from retentive.clients.jsonc import drop, put, snippet

__all__ = ["drop", "put", "read", "snippet"]


def read(text: str) -> dict[str, Any]:
    return jsonc.decoded(text)
