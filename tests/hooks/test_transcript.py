"""What is read out of a transcript: the talk, and nothing else."""

import json
from typing import Any

import pytest

from retentive.hooks.transcript import (
    MAX_MESSAGE_CHARS,
    find_first_folder,
    is_program_text,
    parse_transcript,
    strip_added,
)
from tests.hooks.claude import RECORDED


def lines() -> list[bytes]:
    return RECORDED.read_bytes().splitlines(keepends=True)


def line(**more: Any) -> bytes:
    entry = {"type": "user", "uuid": "u1", "timestamp": "2026-03-02T09:00:00Z", **more}
    return json.dumps({"message": {"role": entry["type"], "content": "Hello"}, **entry}).encode()


def test_of_a_recorded_conversation_the_talk_is_read_and_nothing_else() -> None:
    """No thinking, tools, side conversations, commands, summaries, errors; no reminders, and not our own block."""
    assert [(each.role, each.text) for each in parse_transcript(lines())] == [
        ("user", "Let's move the orders table to PostgreSQL. I prefer Alembic for migrations."),
        ("assistant", "I'll look at the models first."),
        ("user", "Use the staging database, not production"),
        ("assistant", "The migration is written: `alembic/versions/0007_orders.py`. It runs on staging."),
        ("user", "Why is this column red?"),
        ("user", "Great. From now on we deploy on Thursdays — né?"),
        ("assistant", "Understood: deploys on Thursdays."),
    ]


def test_each_has_its_time_and_a_name_of_its_own() -> None:
    found = parse_transcript(lines())
    assert len({each.uuid for each in found}) == len(found)
    assert [each.time for each in found] == sorted(each.time for each in found if each.time)


def test_half_a_line_is_not_said_yet() -> None:
    whole = lines()
    talk = parse_transcript(whole)
    last = next(at for at, each in enumerate(whole) if talk[-1].uuid.encode() in each)
    assert parse_transcript([*whole[:last], whole[last][:-40]]) == talk[:-1]


def test_a_line_that_is_there_twice_counts_once() -> None:
    assert parse_transcript([*lines(), *lines()]) == parse_transcript(lines())


def test_what_a_fork_copied_belongs_to_the_other_conversation() -> None:
    """Of copied lines only answers are marked."""
    copied = [
        line(uuid="q", sessionId="new"),
        line(uuid="a", sessionId="new", requestSessionId="old", type="assistant"),
    ]
    fresh = [line(uuid="q2", sessionId="new"), line(uuid="a2", sessionId="new", type="assistant")]
    assert parse_transcript([*copied, *fresh]) == parse_transcript(fresh)


@pytest.mark.parametrize(
    "entry",
    [
        b"",
        b"null",
        b'["user"]',
        b'"user"',
        b'{"user": 1}',
        b"[" * 100_000 + b'"user"',  # nested beyond reason
        b'\xff\xfe{"type":"user"}',
        line(uuid=7),
        line(message="Hello"),
        line(message={"content": 7}),
        line(message={"content": [7, {"type": "text"}, {"type": "text", "text": 7}]}),
        line(message={"content": "   "}),
        line(origin={"kind": "task-notification"}),
        line(forkedFrom={"sessionId": "s", "messageUuid": "m"}),  # kept with the conversation it was forked from
        line(type="attachment", attachment="queued_command"),
        line(type="progress"),
    ],
)
def test_what_is_not_understood_is_passed_over(entry: bytes) -> None:
    assert parse_transcript([entry, line(uuid="good")]) == parse_transcript([line(uuid="good")])


def test_text_that_cannot_be_stored_is_mended() -> None:
    (found,) = parse_transcript([line(message={"role": "user", "content": "a\0b \ud800 c"})])
    assert found.text == "ab ? c"


def test_of_what_is_very_long_there_is_the_beginning() -> None:
    (found,) = parse_transcript([line(message={"role": "user", "content": "x" * (MAX_MESSAGE_CHARS + 10)})])
    assert len(found.text) == MAX_MESSAGE_CHARS + 2


def test_a_time_that_is_none_is_left_out() -> None:
    assert [each.time for each in parse_transcript([line(timestamp="yesterday"), line(uuid="u2", timestamp=7)])] == [
        None,
        None,
    ]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Hi <system-reminder>secret</system-reminder> there", "Hi  there"),
        ("<retentive-memory>\n- tea\n</retentive-memory>\nHi", "Hi"),
        ("a<system-reminder>1</system-reminder>b<system-reminder>2</system-reminder>c", "abc"),
        ("What does <system-reminder> mean?", "What does <system-reminder> mean?"),  # never closed: the user's own
        ("</system-reminder> first", "</system-reminder> first"),
    ],
)
def test_what_was_put_into_a_message_is_taken_out(text: str, left: str) -> None:
    assert strip_added(text) == left


def test_many_tags_that_are_never_closed_take_no_time() -> None:
    text = "<system-reminder>" * 50_000
    assert strip_added(text) == text


@pytest.mark.parametrize(
    ("prompt", "is_program"),
    [
        ("<command-name>/cost</command-name>", True),
        ("<local-command-stdout>ok</local-command-stdout>", True),
        ("<bash-input>ls</bash-input>", True),
        ("<task-notification>\n<task-id>1</task-id>", True),
        ("[Request interrupted by user for tool use]", True),
        ("<b>bold</b> does not work", False),
        ("<command> is missing in the help", False),
        ("Fix the bug", False),
    ],
)
def test_what_the_program_says_in_the_users_name_is_known(prompt: str, is_program: bool) -> None:
    assert is_program_text(prompt) is is_program


def test_the_folder_is_that_of_the_beginning() -> None:
    assert find_first_folder(lines()) == "/home/anna/orders"
    assert find_first_folder([b'{"cwd":7}', b"{", b'{"cwd":"/a"}', b'{"cwd":"/b"}']) == "/a"
    assert find_first_folder([]) is None
