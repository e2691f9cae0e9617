"""Read LoCoMo: long conversations of two people over many sessions, with questions and the turns that answer them.

    [{"sample_id", "conversation": {"session_1": [{"speaker", "dia_id", "text", "blip_caption"?}],
      "session_1_date_time": "1:56 pm on 8 May, 2023", ...}, "qa": [{"question", "evidence": ["D1:3"], "category"}]}]

Some evidence names several turns in one text, some names turns that do not exist. Questions of category 5 cannot be
answered: they ask about another person than the named turns.
"""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from retentive.errors import Invalid
from retentive.evaluation import MAX_COLLECTION_BYTES, CollectionMessage, EvaluationQuestion, Trial
from retentive.fs.regular_files import read_regular

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "unanswerable"}

_TURN_ID = re.compile(r"D\d+:\d+")
_SESSION_KEY = re.compile(r"session_(\d+)")
_TIME_FORMAT = "%I:%M %p on %d %B, %Y"


def read_trials(path: Path) -> list[Trial]:
    try:
        found = json.loads(read_regular(path, MAX_COLLECTION_BYTES).decode("utf-8"))
        return [_make_trial(number, each) for number, each in enumerate(found, start=1)]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Invalid(f"{path} is not in the format of LoCoMo: {error!r}", "See `retentive eval --help`.") from error


def _make_trial(number: int, given: Mapping[str, Any]) -> Trial:
    messages = [*_read_messages(given["conversation"])]
    refs = {each.ref for each in messages}
    questions = [question for each in given["qa"] if (question := _make_question(each, refs)) is not None]
    return Trial(str(given.get("sample_id", number)), (), messages, questions)


def _read_messages(conversation: Mapping[str, Any]) -> Iterator[CollectionMessage]:
    numbers = sorted(
        int(match[1]) for name in conversation if (match := _SESSION_KEY.fullmatch(name)) and conversation[name]
    )
    for number in numbers:
        time = datetime.strptime(conversation[f"session_{number}_date_time"], _TIME_FORMAT).replace(tzinfo=UTC)
        for turn in conversation[f"session_{number}"]:
            yield CollectionMessage(
                turn["dia_id"], f"session-{number}", _join_caption(turn), turn["speaker"], time=time
            )


def _join_caption(turn: Mapping[str, Any]) -> str:
    """The text of a turn, with the caption of the picture that was shown with it."""
    caption = turn.get("blip_caption")
    return f"{turn['text']} [picture: {caption}]" if caption else str(turn["text"])


def _make_question(given: Mapping[str, Any], refs: set[str]) -> EvaluationQuestion | None:
    """Make a question; None if the turns that answer it are not in the conversation."""
    category = CATEGORIES[given["category"]]
    if category == CATEGORIES[5]:
        return EvaluationQuestion(given["question"], (), category)
    named = dict.fromkeys(turn for text in given["evidence"] for turn in _TURN_ID.findall(text))
    expected = tuple(turn for turn in named if turn in refs)
    return EvaluationQuestion(given["question"], expected, category) if expected else None
