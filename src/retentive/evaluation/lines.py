"""Collections of one's own: JSON Lines, each a memory, a message or a question.

    {"memory": "The user's dog is called Rex", "id": "m1", "tags": ["pets"]}
    {"message": "Rex has a vet appointment on Friday", "id": "t1", "session": "monday", "speaker": "Ana"}
    {"question": "what is my dog called?", "expected": ["m1"], "category": "names"}

A memory may have the options of `add`, a message `speaker`, `role` and `time`. `expected` names what answers the
question, by `id` or by its whole text; an empty list means that nothing does. `collection` tells several apart that
know nothing of each other. All is told before anything is asked.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from retentive.errors import Invalid
from retentive.evaluation import MAX_COLLECTION_BYTES, Question, Said, Told, Trial
from retentive.fs.regular_files import read_regular

KINDS = ("memory", "message", "question")
_HINT = "A line is an object with `memory`, `message` or `question`; see `retentive eval --help`."


class Line(NamedTuple):
    number: int
    collection: str
    kind: str
    text: str
    rest: Mapping[str, Any]

    @property
    def ref(self) -> str:
        return str(self.rest.get("id", self.text))


def trials(path: Path) -> list[Trial]:
    by_collection: dict[str, list[Line]] = {}
    for number, text in enumerate(_read(path).split("\n"), start=1):  # a text may have other ends of lines inside
        if text.strip():
            try:
                line = _line(number, json.loads(text))
            except ValueError as error:
                raise Invalid(f"{path}, line {number}: {error}", _HINT) from error
            by_collection.setdefault(line.collection, []).append(line)
    try:
        return [_trial(name, lines) for name, lines in by_collection.items()]
    except ValueError as error:
        raise Invalid(f"{path}, {error}", _HINT) from error


def _read(path: Path) -> str:
    try:
        return read_regular(path, MAX_COLLECTION_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Invalid(f"{path} is not in UTF-8: {error.reason} at byte {error.start}", _HINT) from error


def _line(number: int, given: Any) -> Line:
    kinds = [kind for kind in KINDS if kind in given] if isinstance(given, Mapping) else []
    if len(kinds) != 1:
        raise ValueError("it needs one of `memory`, `message` and `question`")
    kind, text = kinds[0], given[kinds[0]]
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"`{kind}` needs a text")
    rest = {name: value for name, value in given.items() if name not in (kind, "collection")}
    return Line(number, str(given.get("collection", "default")), kind, text, rest)


def _trial(name: str, lines: Iterable[Line]) -> Trial:
    told, said, asked = ([line for line in lines if line.kind == kind] for kind in KINDS)
    _once([*told, *said])
    known = {key: line.ref for line in (*told, *said) for key in (line.text, line.ref)}
    return Trial(name, [*map(_told, told)], [*map(_said, said)], [_question(line, known) for line in asked])


def _once(lines: Iterable[Line]) -> None:
    """An id that two have would count the one for the other."""
    seen: set[str] = set()
    for line in (line for line in lines if "id" in line.rest):
        if line.ref in seen:
            raise ValueError(f"line {line.number}: another line has the id {line.ref!r}")
        seen.add(line.ref)


def _told(line: Line) -> Told:
    return Told(line.ref, line.text, {name: value for name, value in line.rest.items() if name != "id"})


def _said(line: Line) -> Said:
    _only(line, {"id", "session", "speaker", "role", "time"})
    given = {name: value for name, value in line.rest.items() if name in ("speaker", "role", "time")}
    return Said(line.ref, str(line.rest.get("session", "default")), line.text, **given)


def _question(line: Line, known: Mapping[str, str]) -> Question:
    _only(line, {"id", "expected", "category"})
    expected = line.rest.get("expected", [])
    if not isinstance(expected, list):
        raise ValueError(f"line {line.number}: `expected` must be a list")  # noqa: TRY004 - of input, not of a call
    if unknown := [each for each in expected if not isinstance(each, str) or each not in known]:
        raise ValueError(f"line {line.number}: nothing has the id or the text {unknown[0]!r}")
    return Question(
        line.text, tuple(dict.fromkeys(known[each] for each in expected)), str(line.rest.get("category", ""))
    )


def _only(line: Line, names: set[str]) -> None:
    if unknown := sorted(line.rest.keys() - names):
        raise ValueError(f"line {line.number}: a {line.kind} has no {unknown[0]!r}")
