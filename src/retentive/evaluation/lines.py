"""Read collections in JSON Lines: each line is a memory, a message or a question.

    {"memory": "The user's dog is called Rex", "id": "m1", "tags": ["pets"]}
    {"message": "Rex has a vet appointment on Friday", "id": "t1", "session": "monday", "speaker": "Ana"}
    {"question": "what is my dog called?", "expected": ["m1"], "category": "names"}

A memory may have the options of `add`, a message `speaker`, `role` and `time`. `expected` names the answers of the
question by `id` or by their whole text; an empty list means that nothing answers it. Lines with different values of
`collection` belong to separate collections. All memories and messages are stored before the first question.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from retentive.errors import Invalid
from retentive.evaluation import MAX_COLLECTION_BYTES, CollectionMemory, CollectionMessage, EvaluationQuestion, Trial
from retentive.fs.regular_files import read_regular

LINE_KINDS = ("memory", "message", "question")
LINE_HINT = "A line is an object with `memory`, `message` or `question`; see `retentive eval --help`."


class CollectionLine(NamedTuple):
    number: int
    collection: str
    kind: str
    text: str
    rest: Mapping[str, Any]

    @property
    def ref(self) -> str:
        return str(self.rest.get("id", self.text))


def read_trials(path: Path) -> list[Trial]:
    by_collection: dict[str, list[CollectionLine]] = {}
    for number, text in enumerate(_read_text(path).split("\n"), start=1):  # a text may have other ends of lines inside
        if text.strip():
            try:
                line = _parse_line(number, json.loads(text))
            except ValueError as error:
                raise Invalid(f"{path}, line {number}: {error}", LINE_HINT) from error
            by_collection.setdefault(line.collection, []).append(line)
    try:
        return [_make_trial(name, lines) for name, lines in by_collection.items()]
    except ValueError as error:
        raise Invalid(f"{path}, {error}", LINE_HINT) from error


def _read_text(path: Path) -> str:
    try:
        return read_regular(path, MAX_COLLECTION_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Invalid(f"{path} is not in UTF-8: {error.reason} at byte {error.start}", LINE_HINT) from error


def _parse_line(number: int, given: Any) -> CollectionLine:
    kinds = [kind for kind in LINE_KINDS if kind in given] if isinstance(given, Mapping) else []
    if len(kinds) != 1:
        raise ValueError("it needs one of `memory`, `message` and `question`")
    kind, text = kinds[0], given[kinds[0]]
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"`{kind}` needs a text")
    rest = {name: value for name, value in given.items() if name not in (kind, "collection")}
    return CollectionLine(number, str(given.get("collection", "default")), kind, text, rest)


def _make_trial(name: str, lines: Iterable[CollectionLine]) -> Trial:
    memories, messages, questions = ([line for line in lines if line.kind == kind] for kind in LINE_KINDS)
    _reject_repeated_ids([*memories, *messages])
    known = {key: line.ref for line in (*memories, *messages) for key in (line.text, line.ref)}
    return Trial(
        name,
        [*map(_make_memory, memories)],
        [*map(_make_message, messages)],
        [_make_question(line, known) for line in questions],
    )


def _reject_repeated_ids(lines: Iterable[CollectionLine]) -> None:
    """Raise ValueError if two lines have one id: a hit of one would count for the other."""
    seen: set[str] = set()
    for line in (line for line in lines if "id" in line.rest):
        if line.ref in seen:
            raise ValueError(f"line {line.number}: another line has the id {line.ref!r}")
        seen.add(line.ref)


def _make_memory(line: CollectionLine) -> CollectionMemory:
    return CollectionMemory(line.ref, line.text, {name: value for name, value in line.rest.items() if name != "id"})


def _make_message(line: CollectionLine) -> CollectionMessage:
    _reject_unknown(line, {"id", "session", "speaker", "role", "time"})
    given = {name: value for name, value in line.rest.items() if name in ("speaker", "role", "time")}
    return CollectionMessage(line.ref, str(line.rest.get("session", "default")), line.text, **given)


def _make_question(line: CollectionLine, known: Mapping[str, str]) -> EvaluationQuestion:
    _reject_unknown(line, {"id", "expected", "category"})
    expected = line.rest.get("expected", [])
    if not isinstance(expected, list):
        raise ValueError(f"line {line.number}: `expected` must be a list")  # noqa: TRY004 - of input, not of a call
    if unknown := [each for each in expected if not isinstance(each, str) or each not in known]:
        raise ValueError(f"line {line.number}: no memory or message has the id or the text {unknown[0]!r}")
    return EvaluationQuestion(
        line.text, tuple(dict.fromkeys(known[each] for each in expected)), str(line.rest.get("category", ""))
    )


def _reject_unknown(line: CollectionLine, names: set[str]) -> None:
    if unknown := sorted(line.rest.keys() - names):
        raise ValueError(f"line {line.number}: a {line.kind} has no {unknown[0]!r}")
