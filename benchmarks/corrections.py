"""Does a correction correct? Scenarios of dated statements with a question, and pairs of statements; rules only.

    python -m benchmarks.corrections FOLDER

FOLDER has `supersession*.jsonl` (scenarios: `propositions` with `text` and `asserted_at`, `questions`) and
`contradiction-pairs*.jsonl` (`p1`, `p2`, `label`). Each scenario is a namespace of its own, told through `add` and
asked through `search`. Scored by statement, not by substring: an answer counts as the statement that it is, so that a
current statement may name the old thing.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from retentive import Retentive
from retentive.learn import open_rules

TOP = 3
Row = Mapping[str, Any]


def rows(folder: Path, pattern: str) -> list[Row]:
    return [json.loads(line) for path in sorted(folder.glob(pattern)) for line in path.read_text("utf-8").splitlines()]


def scenarios(given: list[Row]) -> Iterator[str]:
    right, asked = Counter[str](), Counter[str]()
    missed = []
    with TemporaryDirectory() as folder, Retentive.open(Path(folder) / "eval.db") as store:
        for number, row in enumerate(given):
            memory = store.in_namespace(f"s{number}")
            for told in row["propositions"]:
                memory.add(told["text"], valid_from=told["asserted_at"])
            for question in row["questions"]:
                family = f"{question['type']}, {row['family']}"
                asked[family] += 1
                if _answered(memory, row, question):
                    right[family] += 1
                else:
                    missed.append(f"{row['id']}: {question['q']}")
    for kind in ("current_belief", "validity_at_time"):
        families = [family for family in asked if family.startswith(kind)]
        total = sum(asked[family] for family in families)
        if total:
            share = sum(right[family] for family in families) / total
            yield f"{kind}: {share:.3f} of {total} questions"
        yield from (f"    {right[each]:3} of {asked[each]:3}  {each.partition(', ')[2]}" for each in sorted(families))
    yield from (f"  missed {each}" for each in missed)


def _answered(memory: Retentive, row: Row, question: Row) -> bool:
    if question["type"] == "validity_at_time":
        found = memory.search(question["q"], as_of=question["at_time"], include="memories")
        statement = row["propositions"][0]["text"]
        return any(hit.content == statement for hit in found) == question["expected_valid"]
    found = memory.search(question["q"], include="memories")
    texts = [told["text"] for told in row["propositions"]]
    current = [text for text in texts if _has(text, question["expected_current_contains"])]
    gone = [text for text in texts if text not in current and _has(text, question["expected_superseded_contains"])]
    answers = [hit.content for hit in found]
    return any(text in answers[:TOP] for text in current) and not any(text in answers for text in gone)


def _has(text: str, parts: list[str]) -> bool:
    return any(part.lower() in text.lower() for part in parts)


def pairs(given: list[Row]) -> Iterator[str]:
    rules, counts, wrong = open_rules(), Counter[tuple[bool, bool]](), []
    for row in given:
        said, wanted = bool(rules.superseded(row["p2"], [row["p1"]])), row["label"] == "supersedes"
        counts[said, wanted] += 1
        if said != wanted:
            wrong.append(f"  {'wrongly ended' if said else 'missed'}: {row['p1']} | {row['p2']}")
    right, too_many, missed = counts[True, True], counts[True, False], counts[False, True]
    precision, recall = right / max(1, right + too_many), right / max(1, right + missed)
    yield f"pairs: precision {precision:.3f}, recall {recall:.3f} of `supersedes` ({len(given)} pairs)"
    yield from wrong


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path()
    told, paired = rows(folder, "*supersession*.jsonl"), rows(folder, "*contradiction-pairs*.jsonl")
    if not told and not paired:
        sys.exit(f"no supersession*.jsonl and no contradiction-pairs*.jsonl in {folder}")
    for line in (*scenarios(told), *pairs(paired)):
        print(line)


if __name__ == "__main__":
    main()
