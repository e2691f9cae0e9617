"""The collections that recall is measured on, in one shape; they are read from a folder and not part of the repository.

- `locomo*.json`: two-person chats
- `realtalk*.jsonl.gz`: real chats between two people
- `longmemeval*.jsonl.gz`: a user and an assistant, all sessions in one namespace
- `beam100k*.jsonl.gz`: long talk with an assistant
- `realmem*.jsonl.gz`: short facts and long questions; each question sees the facts of earlier sessions only
- `supersession*.jsonl`: short statements, all in one namespace

In this repository, `data/`, each by another writer:

- `facts`: short facts about one person; `notes`: notes of projects, customers, a family, a researcher
- `chats-a`, `chats-b`: chats between people; `assistant-a`, `assistant-b`: a user and an assistant
- `exact`: small stores whose questions have exactly these answers and no others; `mixed`: all kinds of stores. Both
  were written blind and are never fitted on.
"""

import gzip
import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from retentive.evaluation import CollectionMemory, CollectionMessage, EvaluationQuestion, Trial, read_trials

OWN = Path(__file__).parent / "data"
OWN_SETS = ("facts", "notes", "chats-a", "chats-b", "assistant-a", "assistant-b", "exact", "mixed")
FITTED = (
    "longmemeval",
    "realmem",
    "supersession",
    "facts",
    "notes",
    "chats-a",
    "chats-b",
    "assistant-a",
    "assistant-b",
)
"""Sets whose licences allow that weights learned from them ship. The others measure."""
CONVERSATIONS = ("realtalk", "longmemeval", "beam100k")
Row = Mapping[str, Any]


def read_sets(folder: Path) -> dict[str, list[Trial]]:
    """Each collection that the folder has, by its name."""
    found: dict[str, list[Trial]] = {}
    for path in sorted(folder.glob("*locomo*.json")):
        found["locomo"] = [*found.get("locomo", []), *read_trials(path, "locomo")]
    for name in CONVERSATIONS:
        for path in sorted(folder.glob(f"*{name}*.jsonl.gz")):
            found[name] = [read_conversation(row, name) for row in read_lines(path)]
    for path in sorted(folder.glob("*realmem*.jsonl.gz")):
        found["realmem"] = [read_facts(number, row) for number, row in enumerate(read_lines(path))]
    for path in sorted(folder.glob("*supersession*.jsonl")):
        found["supersession"] = [read_scenarios(path)]
    return found | {name: read_trials(OWN / f"{name}.jsonl", "jsonl") for name in OWN_SETS}


def read_lines(path: Path) -> Iterator[Row]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def read_conversation(row: Row, name: str) -> Trial:
    said = [
        CollectionMessage(each["id"], session["id"], each["text"], each["speaker"], each["role"], each["time"])
        for session in row["sessions"]
        for each in session["messages"]
    ]
    known = {each.ref for each in said}
    questions = [read_question(each, known) for each in row["questions"] if each["gold"] or _is_unanswerable(each)]
    return Trial(f"{name}-{row['id']}", (), said, questions)


def _is_unanswerable(question: Row) -> bool:
    return bool(question.get("abs")) or question["cat"] == "abstention"


def read_question(given: Row, known: set[str]) -> EvaluationQuestion:
    expected = () if _is_unanswerable(given) else tuple(ref for ref in given["gold"] if ref in known)
    options = {"now": _read_date(given["date"])} if given.get("date") else {}
    return EvaluationQuestion(given["text"], expected, str(given["cat"]), options)


def _read_date(text: str) -> datetime:
    """`2023/05/28 (Sun) 19:47`, as LongMemEval writes it."""
    day, _, clock = text.split()
    return datetime.strptime(f"{day} {clock}", "%Y/%m/%d %H:%M").replace(tzinfo=UTC)


def read_facts(number: int, row: Row) -> Trial:
    """Facts in the order they were told, a second apart, so that a question can be asked before a session."""
    began: dict[str, datetime] = {}
    told = []
    for place, fact in enumerate(row["facts"]):
        time = datetime.fromisoformat(fact["time"]).replace(tzinfo=UTC) + timedelta(seconds=place)
        began.setdefault(fact["session"], time)
        told.append(CollectionMemory(fact["id"], fact["text"], {"valid_from": time}))
    questions = [
        EvaluationQuestion(each["text"], tuple(each["gold"]), each["cat"], _before(began.get(each["before_session"])))
        for each in row["questions"]
    ]
    return Trial(f"realmem-{number}", told, (), questions)


def _before(time: datetime | None) -> dict[str, Any]:
    return {"until": time} if time else {}


def read_scenarios(path: Path) -> Trial:
    """Every statement in one namespace; what is asked is answered by those of its scenario."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    texts = dict.fromkeys(each["text"] for row in rows for each in row["propositions"])
    questions = [
        EvaluationQuestion(each["q"], tuple(dict.fromkeys(statement["text"] for statement in row["propositions"])))
        for row in rows
        for each in row["questions"]
    ]
    return Trial("supersession", [CollectionMemory(text, text) for text in texts], (), questions)
