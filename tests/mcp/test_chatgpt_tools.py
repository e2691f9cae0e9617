"""`search` and `fetch` in the shapes that ChatGPT reads."""

import json
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from retentive import Retentive
from retentive.errors import NotFound
from retentive.mcp import chatgpt_tools
from retentive.mcp.caller import Caller
from tests.mcp.calls import data, told
from tests.mcp.client import eras, over_http, serving


@pytest.mark.engines
def test_a_search_gives_ids_titles_texts_and_addresses(store: Retentive) -> None:
    id = store.add("The harbour opens at seven. " + "It is said twice. " * 20).id
    found = chatgpt_tools.search(Caller(store), "when does the harbour open?")
    (row,) = found.data["results"]
    assert row == {"id": id, "title": row["title"], "text": row["text"], "url": f"memory://{id}"}
    assert row["title"].startswith("The harbour opens at seven.")
    assert len(row["title"]) <= 80
    assert json.loads(found.text) == found.data


@pytest.mark.engines
def test_nothing_found_is_an_empty_list(store: Retentive) -> None:
    assert chatgpt_tools.search(Caller(store), "zebra crossing").data == {"results": []}


@pytest.mark.engines
def test_a_fetch_gives_the_whole_with_what_is_known_of_it(store: Retentive) -> None:
    words = "The harbour opens at seven. " + "It is said twice. " * 20
    id = store.add(words, kind="decision").id
    found = chatgpt_tools.fetch(Caller(store), id)
    assert {name: found.data[name] for name in ("id", "url")} == {"id": id, "url": f"memory://{id}"}
    assert words.strip() in found.data["text"]
    assert found.data["metadata"]["kind"] == "decision"
    assert found.data["metadata"]["type"] == "memory"
    assert all(isinstance(each, str) for each in found.data["metadata"].values())
    assert json.loads(found.text) == found.data


@pytest.mark.engines
def test_all_that_a_search_finds_can_be_fetched(store: Retentive, tmp_path: Path) -> None:
    (tmp_path / "ferry.md").write_text("# Ferries\n\nThe ferry is white.\n", "utf-8")
    store.files.index(tmp_path / "ferry.md")
    store.add("The ferry leaves at nine")
    store.sessions.append("trip to/sea", "user", "is the ferry late?")
    store.contacts.create(name="Ferry office", notes="sells ferry tickets")
    rows = chatgpt_tools.search(Caller(store), "ferry").data["results"]
    assert len(rows) == 4
    for row in rows:
        found = chatgpt_tools.fetch(Caller(store), row["id"]).data
        assert "erry" in found["text"]
        assert found["url"] == row["url"]
        assert found["title"]


@pytest.mark.engines
def test_an_id_that_is_not_there_is_an_error(store: Retentive) -> None:
    with pytest.raises(NotFound):
        chatgpt_tools.fetch(Caller(store), "nobody")


@eras
def test_a_client_over_http_lists_searches_and_fetches(db: Path, era: str) -> None:
    with Retentive.open(db, embedder="hashing") as store:
        store.add("The harbour opens at seven")

    async def talk(client: Client) -> Any:
        assert [each.name for each in (await client.list_tools()).tools] == ["search", "fetch"]
        found = await client.call_tool("search", {"query": "harbour"})
        assert json.loads(told(found)) == data(found)
        whole = await client.call_tool("fetch", {"id": data(found)["results"][0]["id"]})
        assert "harbour opens" in data(whole)["text"]
        assert [each.name for each in (await client.list_prompts()).prompts] == ["recall", "about_me"]

    with serving(db, "--tools", "chatgpt") as url:
        over_http(talk, url, era)
