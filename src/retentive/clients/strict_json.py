"""The edits of `jsonc.py` for clients that read only plain JSON: a comment would make them read nothing."""

from retentive.clients.jsonc import decode_object as parse
from retentive.clients.jsonc import put, remove, render

__all__ = ["parse", "put", "remove", "render"]
