"""No secret gets in: refused, redacted or allowed by setting, in memories and in messages."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from retentive import Retentive
from retentive.errors import SecretFound
from tests.support import Open, Run

SECRET = "hunter2-Bolt-99"  # noqa: S105 - of nobody
LINE = f"My wifi password is {SECRET}."
TOKEN = "ghp_" + "aB3dE5fG7hI9jK1lM2nO4pQ6rS8tU0vW2xY4"

Way = Callable[[Retentive], object]

MEMORIES: dict[str, Way] = {
    "add": lambda store: store.add(LINE),
    "context": lambda store: store.add("It is on the fridge.", context=LINE),
    "metadata": lambda store: store.add("It is on the fridge.", metadata={"wifi": {"password": SECRET}}),
    "tags": lambda store: store.add("It is on the fridge.", tags=["wifi", f"password: {SECRET}"]),
    "add_many": lambda store: store.add_many(["The user owns a boat.", LINE]),
    "add_many with options": lambda store: store.add_many([{"text": "On the fridge.", "context": LINE}]),
    "note": lambda store: store.notes.put(LINE, note_id="wifi"),
    "update": lambda store: store.update(store.add("The user owns a boat.").id, content=LINE),
    "update of metadata": lambda store: store.update(store.add("A boat.").id, metadata={"password": SECRET}),
    "update of tags": lambda store: store.update(store.add("A boat.").id, tags=[f"password: {SECRET}"]),
}
MESSAGES: dict[str, Way] = {
    "append": lambda store: store.sessions.append("s", "user", LINE),
    "append_pair": lambda store: store.sessions.append_pair("s", "hello", LINE),
    "append_many": lambda store: store.sessions.append_many("s", [{"role": "user", "content": LINE}]),
    "tool arguments": lambda store: store.sessions.append("s", "assistant", payload=called(password=SECRET)),
    "tool input": lambda store: store.sessions.append("s", "assistant", payload={"input": {"password": SECRET}}),
    "tool result": lambda store: store.sessions.append("s", "tool", f"GITHUB_TOKEN={TOKEN}"),
    "summary": lambda store: store.sessions.set_summary(begun(store), LINE, upto=1, epoch=0),
    "metadata": lambda store: store.sessions.put("s", metadata={"password": SECRET}),
    "tags": lambda store: store.sessions.put("s", tags=[f"password: {SECRET}"]),
}


def called(**arguments: str) -> dict[str, Any]:
    function = {"name": "login", "arguments": json.dumps(arguments)}
    return {"tool_calls": [{"id": "call_1", "type": "function", "function": function}]}


def begun(store: Retentive) -> str:
    return store.sessions.append("s", "user", "hello").session


def traces(db: Path) -> list[str]:
    """The files of a store that have a byte sequence of the secrets."""
    files = [each for each in db.parent.rglob("*") if each.is_file() and each.name.startswith(db.name)]
    assert db in files
    return [each.name for each in files if any(part.encode() in each.read_bytes() for part in (SECRET, TOKEN))]


SINGLE = {name: way for name, way in MEMORIES.items() if not name.startswith("add_many")}


@pytest.mark.parametrize("way", SINGLE.values(), ids=SINGLE)
def test_a_memory_with_a_secret_is_refused(db: Path, store: Retentive, way: Way) -> None:
    """The error names the rule, never the secret, and no byte of it is in the store."""
    with pytest.raises(SecretFound) as refused:
        way(store)
    assert "password" in str(refused.value)
    assert SECRET not in f"{refused.value} {refused.value.hint}"
    store.close()
    assert traces(db) == []


@pytest.mark.parametrize("way", MEMORIES.values(), ids=MEMORIES)
def test_a_memory_is_redacted_if_so_set(db: Path, open_store: Open, way: Way) -> None:
    store = open_store(secrets_in_memories="redact")
    way(store)
    kept = [f"{each.content} {each.context} {each.tags} {each.metadata}" for each in store.list()]
    assert "[redacted: password" in " ".join(kept)
    store.close()
    assert traces(db) == []


@pytest.mark.parametrize("way", MESSAGES.values(), ids=MESSAGES)
def test_a_message_is_redacted(db: Path, store: Retentive, way: Way) -> None:
    way(store)
    kept = f"{store.sessions.events('s')} {store.sessions.summary('s')} {store.sessions.get('s')}"
    assert "[redacted: " in kept
    store.close()
    assert traces(db) == []


@pytest.mark.parametrize("way", MESSAGES.values(), ids=MESSAGES)
def test_a_message_is_refused_if_so_set(db: Path, open_store: Open, way: Way) -> None:
    store = open_store(secrets_in_messages="refuse")
    with pytest.raises(SecretFound) as refused:
        way(store)
    assert not any(secret in f"{refused.value} {refused.value.hint}" for secret in (SECRET, TOKEN))
    store.close()
    assert traces(db) == []


def test_all_is_kept_as_it_is_if_so_set(db: Path, open_store: Open) -> None:
    store = open_store(secrets_in_memories="allow", secrets_in_messages="allow")
    assert store.add(LINE).memory.content == LINE
    assert store.sessions.append("s", "assistant", payload=called(password=SECRET)).payload == called(password=SECRET)
    store.close()
    assert traces(db)


def test_one_secret_in_a_list_leaves_out_that_item_alone(db: Path, store: Retentive) -> None:
    loaded = store.add_many(["The user owns a boat.", LINE, {"text": "The boat is blue."}])
    assert {memory.content for memory in store.list()} == {"The user owns a boat.", "The boat is blue."}
    assert len(loaded.ids) == loaded.created == 2
    ((place, reason),) = loaded.refusals
    assert place == "item 2"
    assert "holds a secret" in reason
    assert SECRET not in reason
    store.close()
    assert traces(db) == []


def test_vectors_stay_with_their_items_where_one_is_refused(open_store: Open) -> None:
    store = open_store(embedder="none")
    store.add_many(["north", LINE, "east"], vectors=[[0, 1], [1, 1], [1, 0]])
    assert [hit.content for hit in store.search(vector=[1, 0], limit=2)] == ["east", "north"]


def test_a_list_of_secrets_alone_keeps_nothing(store: Retentive) -> None:
    loaded = store.add_many([LINE])
    assert not loaded.ids
    assert len(loaded.refusals) == 1
    assert len(store.list()) == 0


def test_of_a_refused_conversation_nothing_is_kept(open_store: Open) -> None:
    """Also of one that is longer than what shares a commit."""
    store = open_store(secrets_in_messages="refuse")
    with pytest.raises(SecretFound):
        store.sessions.append_many("s", [{"role": "user", "content": text} for text in (["hello"] * 150 + [LINE])])
    assert store.sessions.list() == []


def test_an_imported_log_is_redacted_and_may_be_imported_again(db: Path, store: Retentive, tmp_path: Path) -> None:
    path = tmp_path / "talk.json"
    said = [{"role": "user", "content": LINE}, {"role": "assistant", "content": "Change it."}]
    path.write_text(json.dumps(said))
    store.sessions.import_log(path)
    path.write_text(json.dumps([*said, {"role": "user", "content": "I did."}]))
    store.sessions.import_log(path)
    assert [event.content for event in store.sessions.events("talk")][1:] == ["Change it.", "I did."]
    store.close()
    assert traces(db) == []


def test_the_terminal_names_the_rule_only(refused: Run) -> None:
    told = refused("add", LINE, code=2)
    assert "password" in told
    assert SECRET not in told


@pytest.mark.parametrize(
    "line",
    [
        "I forgot my password again.",
        "The password policy asks for twelve characters.",
        "My token of gratitude is a cake.",
        "The secret of a good curry is patience.",
        "My key is under the mat.",
        "The user prefers passkeys over passwords.",
        "The order number is 4711-0815.",
    ],
)
def test_ordinary_sentences_pass(store: Retentive, line: str) -> None:
    assert store.add(line).memory.content == line
    assert store.sessions.append("s", "user", line).content == line
