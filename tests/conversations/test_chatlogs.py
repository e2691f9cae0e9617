"""Chat logs as JSON: messages as chat interfaces take them."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retentive.conversations.formats import detect
from retentive.conversations.formats.detect import Conversation, Format
from retentive.conversations.formats.values import clean_value
from retentive.model import Message, Role
from retentive.text.messages import extract_text

ASKED = datetime(2024, 5, 1, 10, 32, tzinfo=UTC)
EPOCH = int(ASKED.timestamp())
USER = {"role": "user", "content": "My dog is called Rex."}
ASSISTANT = {"role": "assistant", "content": "A fine name."}
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBO"}}
CALL = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Oslo"}'}}


def write(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def read(path: Path, format: Format | None = None) -> list[Conversation]:
    return list(detect.read_conversations(path, format))


def one(tmp_path: Path, value: Any) -> Conversation:
    (conversation,) = read(write(tmp_path / "chat.json", value))
    return conversation


def message(tmp_path: Path, value: Any) -> Message:
    (only,) = one(tmp_path, [value]).messages
    return only


def said(conversation: Conversation) -> list[tuple[str, str]]:
    return [(each.role.value, each.content) for each in conversation.messages]


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        (json.dumps([USER, ASSISTANT]), ["chat"]),  # a list on one line
        (json.dumps([USER, ASSISTANT], indent=2), ["chat"]),  # over several
        (json.dumps({"messages": [USER, ASSISTANT]}), ["chat"]),
        (json.dumps({"id": "c-7", "messages": [USER, ASSISTANT]}, indent=1), ["c-7"]),
        (f"{json.dumps(USER)}\n\n{json.dumps(ASSISTANT)}\n", ["chat"]),  # JSON Lines, one message each
        ("\n".join([json.dumps({"messages": [USER, ASSISTANT]})] * 3), ["chat", "chat-2", "chat-3"]),  # fine-tuning
        (json.dumps([{"messages": [USER, ASSISTANT]}] * 2), ["chat", "chat-2"]),
        ("\n".join([json.dumps([USER, ASSISTANT])] * 2), ["chat", "chat-2"]),  # a list on each line
        (json.dumps([[USER, ASSISTANT]] * 2), ["chat", "chat-2"]),
    ],
)
def test_every_arrangement_of_messages_is_recognised(tmp_path: Path, text: str, ids: list[str]) -> None:
    """Lists, objects and lines of messages become conversations, named by their ids or by the file."""
    path = tmp_path / "chat.json"
    path.write_text(text, encoding="utf-8")
    found = read(path)
    assert [each.id for each in found] == ids
    assert all(said(each) == [("user", USER["content"]), ("assistant", ASSISTANT["content"])] for each in found)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("user", Role.USER),
        ("Human", Role.USER),
        ("assistant", Role.ASSISTANT),
        ("ai", Role.ASSISTANT),
        ("model", Role.ASSISTANT),
        ("agent", Role.ASSISTANT),
        ("bot", Role.ASSISTANT),
        ("system", Role.SYSTEM),
        ("developer", Role.DEVELOPER),
        ("tool", Role.TOOL),
        ("function", Role.TOOL),
    ],
)
def test_roles_have_the_names_that_interfaces_give_them(tmp_path: Path, given: str, expected: Role) -> None:
    """A role is read whatever the interface calls it."""
    assert message(tmp_path, {"role": given, "content": "x"}).role is expected


@pytest.mark.parametrize(
    ("content", "text", "payload"),
    [
        ("hello", "hello", None),
        ([{"type": "text", "text": "look"}, IMAGE], "look", {"content": [{"type": "text", "text": "look"}, IMAGE]}),
        ([{"type": "input_text", "text": "a"}], "a", {"content": [{"type": "input_text", "text": "a"}]}),
        (["a", {"type": "text", "text": "b"}], "a\nb", {"content": ["a", {"type": "text", "text": "b"}]}),
        ([IMAGE], "", {"content": [IMAGE]}),  # no text, still something
    ],
)
def test_the_text_of_blocks_is_read_and_the_blocks_are_kept(
    tmp_path: Path, content: Any, text: str, payload: Any
) -> None:
    """Content in blocks gives its text, and is whole in the payload."""
    found = message(tmp_path, {"role": "user", "content": content})
    assert (found.content, found.payload) == (text, payload)


@pytest.mark.parametrize(
    ("value", "role", "payload", "searched"),
    [
        (
            {"role": "assistant", "content": None, "tool_calls": [CALL], "refusal": None, "annotations": []},
            Role.ASSISTANT,
            {"tool_calls": [CALL]},
            "Oslo",
        ),
        (
            {"role": "assistant", "content": None, "function_call": {"name": "weather", "arguments": "{}"}},
            Role.ASSISTANT,
            {"function_call": {"name": "weather", "arguments": "{}"}},
            "weather",
        ),
        (
            {"role": "tool", "tool_call_id": "call_1", "content": "4 degrees"},
            Role.TOOL,
            {"tool_call_id": "call_1"},
            "4 degrees",
        ),
        (
            {"type": "function_call", "call_id": "c", "name": "weather", "arguments": '{"city": "Oslo"}'},
            Role.ASSISTANT,
            {"type": "function_call", "call_id": "c", "name": "weather", "arguments": '{"city": "Oslo"}'},
            "weather",
        ),
        (
            {"type": "function_call_output", "call_id": "c", "output": "4 degrees"},
            Role.TOOL,
            {"type": "function_call_output", "call_id": "c", "output": "4 degrees"},
            "4 degrees",
        ),
        (
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Oslo?"}]},
            Role.USER,
            {"content": [{"type": "input_text", "text": "Oslo?"}]},
            "Oslo?",
        ),
        ({"role": "model", "parts": [{"text": "hi"}]}, Role.ASSISTANT, {"content": [{"text": "hi"}]}, "hi"),  # Gemini
    ],
)
def test_calls_and_answers_go_to_the_payload(
    tmp_path: Path, value: Any, role: Role, payload: Any, searched: str
) -> None:
    """What a message has besides its text is kept in a shape that is searched."""
    found = message(tmp_path, value)
    assert (found.role, found.payload) == (role, payload)
    assert searched in extract_text(found.content, found.payload)


def test_a_name_is_the_speaker(tmp_path: Path) -> None:
    """The name of a message is who speaks, and not payload."""
    found = message(tmp_path, USER | {"name": "anna"})
    assert (found.speaker, found.payload) == ("anna", None)


@pytest.mark.parametrize("name", ["time", "timestamp", "created_at", "create_time", "created"])
@pytest.mark.parametrize(
    "given",
    [
        EPOCH,
        EPOCH + 0.0,
        EPOCH * 1000,  # as JavaScript counts
        str(EPOCH),
        "2024-05-01T10:32:00Z",
        "2024-05-01T12:32:00+02:00",
        "2024-05-01 10:32",  # without a zone it is UTC
    ],
)
def test_times_are_read_in_every_usual_form(tmp_path: Path, name: str, given: Any) -> None:
    """ISO text and seconds since 1970 are times, under each of their names, and not payload."""
    found = message(tmp_path, USER | {name: given})
    assert (found.time, found.payload) == (ASKED, None)


@pytest.mark.parametrize("given", [None, "", 0])
def test_no_time_is_no_time(tmp_path: Path, given: Any) -> None:
    """Null, an empty text and 0 stand where a time is not known."""
    assert message(tmp_path, USER | {"timestamp": given}).time is None


def test_messages_that_say_nothing_are_not_counted(tmp_path: Path) -> None:
    """Numbers go 1, 2, 3 over what is kept."""
    silent = {"role": "assistant", "content": " \n", "tool_calls": []}
    found = one(tmp_path, [USER, silent, {"role": "user", "content": None}, ASSISTANT])
    assert [(each.sequence, each.content) for each in found.messages] == [(1, USER["content"]), (2, "A fine name.")]


def test_a_conversation_without_messages_is_skipped(tmp_path: Path) -> None:
    """It is left out, and no name is used up for it."""
    path = write(tmp_path / "chat.json", [{"messages": []}, {"messages": [USER]}, {"messages": None}])
    assert [each.id for each in read(path)] == ["chat"]


def test_title_and_time_of_a_conversation_are_read(tmp_path: Path) -> None:
    """What an object says of its messages goes with them."""
    found = one(tmp_path, {"id": 7, "title": "Dogs", "created": EPOCH, "messages": [USER]})
    assert found[:3] == ("7", "Dogs", ASKED)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("plain", "plain"),
        ("a\nb\tc\x9f", "a b c"),  # no control characters
        ("x" * 300, "x" * 200),
        ("  ", "chat"),
        ("", "chat"),
        (None, "chat"),
        ("nul\0", "nul\ufffd"),
        ({"not": "a name"}, "chat"),
    ],
)
def test_an_id_is_a_name_that_a_session_can_have(tmp_path: Path, given: Any, expected: str) -> None:
    """Ids have 1 to 200 characters and no control characters; else the file names the conversation."""
    assert one(tmp_path, {"id": given, "messages": [USER]}).id == expected


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (["a", "a", "b", "a"], ["a", "a-2", "b", "a-3"]),
        (["a", "a-2", "a"], ["a", "a-2", "a-3"]),  # the second name is taken already
        (["x" * 200, "x" * 201], ["x" * 200, "x" * 198 + "-2"]),
        ([None, "chat", None], ["chat", "chat-2", "chat-3"]),
    ],
)
def test_no_two_conversations_have_one_id(tmp_path: Path, ids: list[Any], expected: list[str]) -> None:
    """Two conversations never become one session."""
    path = write(tmp_path / "chat.json", [{"id": id, "messages": [USER]} for id in ids])
    assert [each.id for each in read(path)] == expected


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("text", ['[{"role": "user", "content": "Grüße 犬"}]', "user: Grüße 犬"])
def test_encodings_with_a_mark_are_read(tmp_path: Path, encoding: str, text: str) -> None:
    """UTF-8 with or without a byte order mark, UTF-16 with one."""
    path = tmp_path / "chat"
    path.write_bytes(text.encode(encoding))
    assert said(read(path)[0]) == [("user", "Grüße 犬")]


@pytest.mark.parametrize("text", ["[]", "[ ]", "[\n]"])
def test_an_export_of_nothing_has_no_conversations(tmp_path: Path, text: str) -> None:
    """An account without conversations is not an error."""
    path = tmp_path / "conversations.json"
    path.write_text(text, encoding="utf-8")
    assert read(path) == []


def test_lines_are_read_as_they_are_asked_for(tmp_path: Path) -> None:
    """JSON Lines are streamed: the first conversation is there before the last line is looked at."""
    path = tmp_path / "tune.jsonl"
    path.write_text(f"{json.dumps({'messages': [USER]})}\n" * 5000 + "{broken", encoding="utf-8")
    reading = detect.read_conversations(path)
    assert next(reading).id == "tune"
    assert next(reading).id == "tune-2"


def test_what_databases_refuse_is_replaced(tmp_path: Path) -> None:
    """NUL and lone surrogates become U+FFFD, in texts, names and payloads; pairs of surrogates stay characters."""
    path = tmp_path / "chat.json"
    path.write_text(
        r'[{"role": "user", "content": "a\u0000b\ud800 \ud83d\ude00", "name": "n\u0000", "k\u0000": ["\udfff", NaN]}]',
        encoding="utf-8",
    )
    (found,) = read(path)[0].messages
    assert found[1:3] == ("a\ufffdb\ufffd 😀", "n\ufffd")
    assert found.payload == {"k\ufffd": ["\ufffd", None]}


def test_raw_control_characters_in_json_are_read(tmp_path: Path) -> None:
    """Careless programs write them as they are; strict JSON would escape them."""
    path = tmp_path / "chat.json"
    path.write_bytes(b'[{"role": "user", "content": "a\tb\nc\0d"}]')
    assert said(read(path)[0]) == [("user", "a\tb\nc\ufffdd")]


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=())), inner),
)


@given(JSON)
def test_what_is_cleaned_can_be_kept(value: Any) -> None:
    """Whatever JSON says can afterwards be written as strict JSON in UTF-8 without NUL."""
    written = json.dumps(clean_value(value), allow_nan=False, ensure_ascii=False)
    assert "\\u0000" not in written.replace("\\\\", "")
    assert written.encode()
