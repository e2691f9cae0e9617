"""The exports of accounts, of Claude and of ChatGPT."""

import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from retentive.conversations.formats import detect
from retentive.conversations.formats.detect import Conversation
from retentive.model import Message, Role

ASKED = datetime(2024, 5, 1, 10, 32, tzinfo=UTC)
EPOCH = int(ASKED.timestamp())
POINTER = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-1", "width": 10}


def write(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def read(path: Path) -> list[Conversation]:
    return list(detect.read_conversations(path))


def one(tmp_path: Path, value: Any) -> Conversation:
    (conversation,) = read(write(tmp_path / "conversations.json", value))
    return conversation


def claude_message(sender: str, text: str, /, **more: Any) -> dict[str, Any]:
    block: dict[str, Any] = {"start_timestamp": None, "type": "text", "text": text, "citations": []}
    common = {"uuid": "m", "created_at": "2024-05-01T10:32:00.000000Z", "attachments": [], "files": []}
    return common | {"sender": sender, "text": text, "content": [block]} | more


def claude(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    known = {"uuid": "8a1f", "name": "Dogs", "created_at": "2024-05-01T10:32:00.000000Z", "account": {"uuid": "u"}}
    return known | {"chat_messages": [*messages]} | more


def test_claude_exports_are_recognised(tmp_path: Path) -> None:
    """Its id, title, times, roles and texts are read; a text is not kept twice."""
    found = one(
        tmp_path, [claude(claude_message("human", "My dog is Rex."), claude_message("assistant", "Hello Rex!"))]
    )
    assert found[:3] == ("8a1f", "Dogs", ASKED)
    assert found.messages == (
        Message(Role.USER, "My dog is Rex.", None, ASKED, 1, None),
        Message(Role.ASSISTANT, "Hello Rex!", None, ASKED, 2, None),
    )


TOOL_BLOCKS = [
    {"type": "thinking", "thinking": "hmm", "summaries": []},
    {"type": "text", "text": "I look."},
    {"type": "tool_use", "id": "t1", "name": "web_search", "input": {"query": "Rex"}},
    {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "Rex is Latin."}]},
    {"type": "text", "text": "It is Latin."},
]
ATTACHMENT = {"file_name": "dog.txt", "file_type": "txt", "extracted_content": "Rex, born in 2020"}


@pytest.mark.parametrize(
    ("more", "text", "payload"),
    [
        ({"content": [], "text": "old"}, "old", None),  # exports of 2023 had no blocks
        ({"content": TOOL_BLOCKS, "text": "not supported here"}, "I look.\nIt is Latin.", {"content": TOOL_BLOCKS}),
        ({"attachments": [ATTACHMENT]}, "x", {"attachments": [ATTACHMENT]}),
        ({"content": [], "text": "", "attachments": [ATTACHMENT]}, "", {"attachments": [ATTACHMENT]}),
        ({"files": [{"file_name": "dog.png"}]}, "x", {"files": [{"file_name": "dog.png"}]}),
    ],
)
def test_blocks_and_attachments_of_claude_are_kept(tmp_path: Path, more: Any, text: str, payload: Any) -> None:
    """The text is that of the blocks; calls, thoughts and attachments are payload."""
    (found,) = one(tmp_path, [claude(claude_message("human", "x", **more))]).messages
    assert (found.content, found.payload) == (text, payload)


def test_empty_conversations_and_titles_of_claude_are_none(tmp_path: Path) -> None:
    """An account has conversations that were never begun, and some without a title."""
    (found,) = read(write(tmp_path / "c.json", [claude(), claude(claude_message("human", "x"), uuid="b", name="")]))
    assert (found.id, found.title) == ("b", None)


def node(parent: str | None, role: str, *parts: Any, **more: Any) -> dict[str, Any]:
    content = {"content_type": "text", "parts": [*parts]}
    common = {
        "id": "m",
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": EPOCH,
        "recipient": "all",
    }
    return {"parent": parent, "children": [], "message": common | {"content": content, "metadata": {}} | more}


def chatgpt(nodes: dict[str, Any], current: str | None = None, **more: Any) -> dict[str, Any]:
    for id, each in nodes.items():
        each["children"] = [other for other, value in nodes.items() if value["parent"] == id]
    known = {"conversation_id": "66-a", "title": "Dogs", "create_time": EPOCH + 0.0}
    return known | {"mapping": nodes, "current_node": current} | more


def branches() -> dict[str, Any]:
    """A question that was edited: two branches from the root."""
    return {
        "root": {"parent": None, "children": [], "message": None},
        "hidden": node("root", "system", "You are ChatGPT.", metadata={"is_visually_hidden_from_conversation": True}),
        "old": node("hidden", "user", "My cat is Tom.", create_time=EPOCH + 1),
        "old-answer": node("old", "assistant", "Hello Tom!", create_time=EPOCH + 2),
        "new": node("hidden", "user", "My dog is Rex.", create_time=EPOCH + 9),  # edited after it was answered
        "new-answer": node("new", "assistant", "Hello Rex!", create_time=EPOCH + 4),
    }


@pytest.mark.parametrize(
    ("current", "expected"),
    [
        ("new-answer", ["My dog is Rex.", "Hello Rex!"]),
        ("old-answer", ["My cat is Tom.", "Hello Tom!"]),
        (None, ["My dog is Rex.", "Hello Rex!"]),  # the newest leaf
        ("gone", ["My dog is Rex.", "Hello Rex!"]),
    ],
)
def test_the_branch_that_was_seen_is_read(tmp_path: Path, current: str | None, expected: list[str]) -> None:
    """Of ChatGPT's tree the way from the current node to the root is read, or from the newest leaf."""
    found = one(tmp_path, [chatgpt(branches(), current)])
    assert [each.content for each in found.messages] == expected


def test_chatgpt_exports_are_recognised(tmp_path: Path) -> None:
    """Its id, title, times, roles and texts are read."""
    found = one(tmp_path, [chatgpt({"a": node(None, "user", "one", "two"), "b": node("a", "assistant", "x")}, "b")])
    assert found == Conversation(
        "66-a",
        "Dogs",
        ASKED,
        (Message(Role.USER, "one\ntwo", None, ASKED, 1, None), Message(Role.ASSISTANT, "x", None, ASKED, 2, None)),
    )


@pytest.mark.parametrize(
    ("more", "text", "speaker", "payload"),
    [
        ({"content": {"content_type": "multimodal_text", "parts": [POINTER, "see"]}}, "see", None, [POINTER, "see"]),
        (
            {"content": {"content_type": "text", "parts": ["x"]}, "author": {"role": "tool", "name": "dalle"}},
            "x",
            "dalle",
            None,
        ),
        ({"content": {"content_type": "execution_output", "text": "42"}}, "42", None, None),
        ({"content": {"content_type": "tether_browsing_display", "result": "L1", "summary": None}}, "L1", None, None),
        (
            {
                "content": {
                    "content_type": "multimodal_text",
                    "parts": [{"content_type": "audio_transcription", "text": "hi"}],
                }
            },
            "hi",
            None,
            [{"content_type": "audio_transcription", "text": "hi"}],
        ),
    ],
)
def test_kinds_of_content_of_chatgpt_are_read(
    tmp_path: Path, more: Any, text: str, speaker: str | None, payload: Any
) -> None:
    """Text is found in each kind of content; parts that are no text are payload."""
    (found,) = one(tmp_path, [chatgpt({"a": node(None, "user", **more)}, "a")]).messages
    assert (found.content, found.speaker) == (text, speaker)
    assert found.payload == (payload and {"content": payload})


def test_code_for_a_tool_says_which(tmp_path: Path) -> None:
    """What the model wrote to a tool keeps its language and its recipient."""
    code = {"content_type": "code", "language": "python", "text": "6 * 7", "response_format_name": None}
    (found,) = one(tmp_path, [chatgpt({"a": node(None, "assistant", content=code, recipient="python")}, "a")]).messages
    assert found.content == "6 * 7"
    assert found.payload == {"content_type": "code", "language": "python", "recipient": "python"}


def test_uploads_to_chatgpt_are_named(tmp_path: Path) -> None:
    """The names of uploaded files are payload."""
    uploads = {"attachments": [{"name": "dog.pdf"}]}
    (found,) = one(tmp_path, [chatgpt({"a": node(None, "user", "see", metadata=uploads)}, "a")]).messages
    assert found.payload == uploads


@pytest.mark.parametrize("current", ["a", None])
def test_a_ring_of_nodes_ends(tmp_path: Path, current: str | None) -> None:
    """Damaged trees are read, each node once."""
    found = one(tmp_path, [chatgpt({"a": node("b", "user", "one"), "b": node("a", "user", "two")}, current)])
    assert sorted(each.content for each in found.messages) == ["one", "two"]


@pytest.mark.parametrize("nodes", [{}, {"a": None}, {"a": {"message": "?", "parent": 7}}, None])
def test_a_tree_of_nothing_is_skipped(tmp_path: Path, nodes: Any) -> None:
    """Nodes without messages give no conversation, and no error."""
    assert read(write(tmp_path / "c.json", [{"id": "x", "mapping": nodes, "current_node": "a"}])) == []


def test_a_single_exported_conversation_is_read(tmp_path: Path) -> None:
    """An object of an export may stand alone, as tools of the browser save it."""
    assert one(tmp_path, claude(claude_message("human", "x"))).id == "8a1f"
    assert one(tmp_path, chatgpt({"a": node(None, "user", "x")}, "a")).id == "66-a"


@pytest.mark.parametrize("folder", ["", "data-2026-01-01/"])
def test_zips_are_read_as_they_were_sent(tmp_path: Path, folder: str) -> None:
    """conversations.json is found inside; what macOS adds is not."""
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("__MACOSX/conversations.json", b"\0\5rubbish")
        archive.writestr(f"{folder}users.json", "[]")
        archive.writestr(f"{folder}conversations.json", json.dumps([claude(claude_message("human", "x"))]))
    assert [each.id for each in read(path)] == ["8a1f"]


def test_a_zip_in_numbered_parts_is_read_in_order(tmp_path: Path) -> None:
    """ChatGPT sends large accounts as conversations-000.json, -001 and on."""
    path = tmp_path / "export.dat"  # known by its first bytes
    with zipfile.ZipFile(path, "w") as archive:
        for number in (1, 0):
            export = [chatgpt({"a": node(None, "user", "x")}, "a", conversation_id=f"c{number}")]
            archive.writestr(f"conversations-{number:03}.json", json.dumps(export))
    assert [each.id for each in read(path)] == ["c0", "c1"]
