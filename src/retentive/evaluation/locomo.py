"""LoCoMo: long conversations of two people over many sessions, with questions and the turns that answer them.

    [{"sample_id", "conversation": {"session_1": [{"speaker", "dia_id", "text", "blip_caption"?}],
      "session_1_date_time": "1:56 pm on 8 May, 2023", ...}, "qa": [{"question", "evidence": ["D1:3"], "category"}]}]

Some evidence names several turns in one text, some names turns that are not there. Questions of category 5 ask for
what was never said, of one whom the turns they name are not about: they cannot be answered.
"""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from retentive.errors import Invalid
from retentive.evaluation import MAX_COLLECTION_BYTES, Question, Said, Trial
from retentive.fs.regular_files import read_regular

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "unanswerable"}

_TURN = re.compile(r"D\d+:\d+")
_SESSION = re.compile(r"session_(\d+)")
_TIME = "%I:%M %p on %d %B, %Y"


def trials(path: Path) -> list[Trial]:
    try:
        found = json.loads(read_regular(path, MAX_COLLECTION_BYTES).decode("utf-8"))
        return [_trial(number, each) for number, each in enumerate(found, start=1)]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Invalid(f"{path} is not in the format of LoCoMo: {error!r}", "See `retentive eval --help`.") from error


def _trial(number: int, given: Mapping[str, Any]) -> Trial:
    said = [*_said(given["conversation"])]
    refs = {each.ref for each in said}
    questions = [question for each in given["qa"] if (question := _question(each, refs)) is not None]
    return Trial(str(given.get("sample_id", number)), (), said, questions)


def _said(talk: Mapping[str, Any]) -> Iterator[Said]:
    numbers = sorted(int(match[1]) for name in talk if (match := _SESSION.fullmatch(name)) and talk[name])
    for number in numbers:
        time = datetime.strptime(talk[f"session_{number}_date_time"], _TIME).replace(tzinfo=UTC)
        for turn in talk[f"session_{number}"]:
            yield Said(turn["dia_id"], f"session-{number}", _text(turn), turn["speaker"], time=time)


def _text(turn: Mapping[str, Any]) -> str:
    """What was said, and what can be seen on the picture that was shown with it."""
    caption = turn.get("blip_caption")
    return f"{turn['text']} [picture: {caption}]" if caption else str(turn["text"])


def _question(given: Mapping[str, Any], refs: set[str]) -> Question | None:
    """None: the turns that would answer it are not in the conversation."""
    category = CATEGORIES[given["category"]]
    if category == CATEGORIES[5]:
        return Question(given["question"], (), category)
    named = dict.fromkeys(turn for text in given["evidence"] for turn in _TURN.findall(text))
    expected = tuple(turn for turn in named if turn in refs)
    return Question(given["question"], expected, category) if expected else None
