"""Collections are read as they are described, and what is not so is refused with its line."""

import json
from pathlib import Path
from typing import Any

import pytest

from retentive import Retentive
from retentive.cli import main
from retentive.errors import Invalid
from retentive.evaluation import Trial, read_trials

TALK = {
    "sample_id": "c1",
    "conversation": {
        "speaker_a": "Ana",
        "session_1": [
            {"speaker": "Ana", "dia_id": "D1:1", "text": "I adopted a puppy"},
            {"speaker": "Ben", "dia_id": "D1:2", "text": "Look!", "blip_caption": "a red kite"},
        ],
        "session_1_date_time": "1:56 pm on 8 May, 2023",
    },
    "qa": [
        {"question": "What did Ana adopt?", "evidence": ["D1:1; D1:2"], "category": 4},
        {"question": "What did Ben adopt?", "evidence": ["D1:1"], "category": 5},
        {"question": "Who is lost?", "evidence": ["D9:9"], "category": 1},
    ],
}


def written(path: Path, *lines: Any) -> Path:
    path.write_text("\n".join(json.dumps(line) for line in lines), "utf-8")
    return path


def read(path: Path) -> Trial:
    (trial,) = read_trials(path, "jsonl")
    return trial


def test_locomo_gives_turns_with_speaker_time_and_picture(tmp_path: Path) -> None:
    (trial,) = read_trials(written(tmp_path / "talk.json", [TALK]), "locomo")
    first, second = trial.messages
    assert (first.ref, first.session, first.speaker, str(first.time)) == (
        "D1:1", "session-1", "Ana", "2023-05-08 13:56:00+00:00",
    )  # fmt: skip
    assert second.text == "Look! [picture: a red kite]"


def test_locomo_questions_name_their_turns_or_cannot_be_answered(tmp_path: Path) -> None:
    (trial,) = read_trials(written(tmp_path / "talk.json", [TALK]), "locomo")
    assert [(each.expected, each.category) for each in trial.questions] == [
        (("D1:1", "D1:2"), "single-hop"),
        ((), "unanswerable"),
    ]


def test_lines_are_memories_messages_and_questions(tmp_path: Path) -> None:
    trial = read(
        written(
            tmp_path / "own.jsonl",
            {"question": "q", "expected": ["m1", "said so"]},
            {"memory": "known", "id": "m1", "tags": ["a"]},
            {"message": "said so", "session": "s", "speaker": "Ana"},
        )
    )
    assert trial.memories[0].options == {"tags": ["a"]}
    assert (trial.messages[0].session, trial.messages[0].speaker) == ("s", "Ana")
    assert trial.questions[0].expected == ("m1", "said so")


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ([1], "line 1: it needs one of"),
        ({"memory": "a", "question": "b"}, "line 1: it needs one of"),
        ({"memory": " "}, "`memory` needs a text"),
        ({"question": "q", "expected": ["nobody"]}, "line 1: no memory or message has the id or the text 'nobody'"),
        ({"question": "q", "expected": "m1"}, "`expected` must be a list"),
        ({"message": "m", "speeker": "Ana"}, "a message has no 'speeker'"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, line: Any, complaint: str) -> None:
    with pytest.raises(Invalid, match=complaint):
        read(written(tmp_path / "own.jsonl", line))


def test_what_is_no_json_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("{", "utf-8")
    for format in ("jsonl", "locomo"):
        with pytest.raises(Invalid):
            read_trials(tmp_path / "x", format)


def test_eval_compares_ways_and_keeps_its_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, kept = written(tmp_path / "talk.json", [TALK]), tmp_path / "kept.db"
    command = ["eval", str(path), "--format", "locomo", "--keep", str(kept), "--embedder", "hashing", "--json"]
    assert main(command) == 0
    told = json.loads(capsys.readouterr().out)
    first = told["ways"]
    assert 0 <= told["relevance"]["unanswerable"]["auc"] <= 1
    assert first["Retentive"]["any"][-1] == 1.0
    assert {*first} == {"Retentive", "BM25 only", "vectors only", "plain RRF"}
    messages = _messages(kept)
    assert main(command) == 0
    assert json.loads(capsys.readouterr().out)["ways"]["Retentive"]["recall"] == first["Retentive"]["recall"]
    assert _messages(kept) == messages > 0


def _messages(kept: Path) -> int:
    with Retentive.open(kept, embedder="hashing") as memory:
        return sum(session.events for session in memory.in_namespace(f"eval/{TALK['sample_id']}").sessions.list())


def test_eval_refuses_what_is_not_there(tmp_path: Path) -> None:
    assert main(["eval", str(tmp_path / "nothing.jsonl")]) == 2


def test_a_text_may_have_any_character_in_it(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    path.write_text('{"memory": "one\u2028two\x85three"}\n{"question": "one?", "expected": []}\r\n', "utf-8")
    assert [each.text for each in read(path).memories] == ["one\u2028two\x85three"]


def test_what_is_not_in_utf_8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    path.write_bytes(b'{"memory": "caf\xe9"}')
    with pytest.raises(Invalid, match="not in UTF-8"):
        read_trials(path, "jsonl")


def test_an_id_is_of_one_line(tmp_path: Path) -> None:
    lines = ({"memory": "a", "id": "m1"}, {"message": "b", "id": "m1"})
    with pytest.raises(Invalid, match="line 2: another line has the id 'm1'"):
        read(written(tmp_path / "own.jsonl", *lines))
