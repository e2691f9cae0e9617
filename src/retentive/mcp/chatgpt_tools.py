"""The tools `search` and `fetch` in the shapes that OpenAI documents for connectors and deep research in ChatGPT.

Each answer is one text of JSON. `url` is what an answer cites: the address of the resource on this server.
"""

import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from retentive.mcp import memory_tools, render, resources
from retentive.mcp.caller import Caller
from retentive.mcp.tool import Answer, Tool, text
from retentive.model import Event, Memory, Passage, Record

MAX_TITLE_CHARS = 80
MAX_RESULTS = 20


def search(caller: Caller, query: str) -> Answer:
    rows = memory_tools.search(caller, query, MAX_RESULTS).data["hits"]
    return _answer({"results": [_make_result(row["id"], row["text"]) for row in rows]})


def _make_result(id: str, words: str) -> dict[str, str]:
    return {"id": id, "title": render.shorten(words, MAX_TITLE_CHARS), "text": words, "url": _make_url(id)}


def fetch(caller: Caller, id: str) -> Answer:
    """One document. A message comes with those around it, a file with its first passages."""
    items = memory_tools.load_item(caller, id)
    fields = [render.serialize_item(each) for each in items]
    words = "\n".join(render.describe_item(each, one) for each, one in zip(items, fields, strict=True))
    named = next((one for one in fields if one["id"] == id), fields[0])
    title = render.shorten(str(named.get("name") or named.get("content") or id), MAX_TITLE_CHARS)
    return _answer({"id": id, "title": title, "text": words, "url": _make_url(id), "metadata": _describe(items, named)})


def _describe(items: Sequence[Memory | Event | Record | Passage], fields: dict[str, Any]) -> dict[str, str]:
    """Facts about the document, as texts: its type, and what else is known in a word."""
    known = {name: str(each) for name, each in fields.items() if isinstance(each, str | int | float)}
    left_out = ("id", "content", "name", "text")
    return {"type": type(items[0]).__name__.lower()} | {
        name: each for name, each in known.items() if name not in left_out and len(each) <= memory_tools.MAX_ID_CHARS
    }


def _make_url(id: str) -> str:
    return f"{resources.SCHEME}{quote(id, safe='')}"


def _answer(data: dict[str, Any]) -> Answer:
    return Answer(json.dumps(data, ensure_ascii=False), data)


def list_tools() -> Sequence[Tool]:
    return (
        Tool(
            "search", "Search memory",
            "Search the user's long-term memory by meaning and keywords: facts, preferences, decisions, people, past "
            "conversations, files. Returns ids for fetch.",
            search, {"query": text("A question or keywords", 2000)}, ("query",), {"results": "array"}, reads=True,
        ),
        Tool(
            "fetch", "Fetch a result", "Get the full text of a search result by its id.",
            fetch, {"id": text(most=memory_tools.MAX_ID_CHARS)}, ("id",),
            {"id": "string", "title": "string", "text": "string", "url": "string", "metadata": "object"}, reads=True,
        ),
    )  # fmt: skip
