"""Is the judgement of the memory right? Every ending and every proposal, listed; and what learning is worth.

    python -m benchmarks.judgement lives FILE       plain statements added one by one
    python -m benchmarks.judgement dialogues FILE   short dialogues, learned and asked
    python -m benchmarks.judgement talk FOLDER      every ending and proposal in the development conversations
    python -m benchmarks.judgement pairs FOLDER     supersession scenarios and pairs
    python -m benchmarks.judgement pasted FILE      messages with somebody else's words in them
    python -m benchmarks.judgement own FILE         messages in the user's own words

The sets in `benchmarks/data` were written blind: before the code that they judge, by somebody who had not seen it.
"""

import gzip
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from retentive import Retentive
from retentive.evaluation import CollectionMessage, locomo
from retentive.model import Hit, Memory

Row = Mapping[str, Any]
ALL = 10_000
TOP = 5  # hits among which the answer is looked for


def read_rows(path: Path) -> list[Row]:
    text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text("utf-8")
    return [json.loads(line) for line in text.split("\n") if line.strip()]


def has_all(text: str, parts: Iterable[str]) -> bool:
    """Whether each part is in the text; a part may name alternatives: `a|b`."""
    low = text.lower()
    return all(any(choice.lower() in low for choice in part.split("|")) for part in parts)


def list_endings(memory: Retentive) -> Iterator[tuple[Memory, Memory]]:
    """Each memory that was superseded, with its successor."""
    for old in memory.list(limit=ALL, status="superseded"):
        if old.superseded_by:
            yield old, memory.get(old.superseded_by)


def list_proposals(memory: Retentive) -> list[tuple[str, str, str]]:
    """The older text, the newer text and the reason of each open proposal."""
    verbs = getattr(memory, "proposals", None)
    return [(each.older, each.newer, each.reason) for each in verbs.list(limit=ALL)] if verbs else []


def last_reason(memory: Retentive, old: Memory) -> str:
    return str(memory.history(old.id)[-1].reason or "")


def judge_lives(path: Path) -> Iterator[str]:
    """Statements added one by one: which endings were right, which true statements were lost."""
    rows = read_rows(path)
    counts = Counter[str]()
    with TemporaryDirectory() as folder, Retentive.open(Path(folder) / "lives.db") as store:
        for life in sorted({row["life"] for row in rows}):
            memory = store.in_namespace(f"life{life}")
            own = [row for row in rows if row["life"] == life]
            number_of = {memory.add(row["text"], valid_from=row["date"]).id: row["n"] for row in own}
            text_of = {row["n"]: row["text"] for row in own}
            wanted = {(old, row["n"]) for row in own for old in row["outdates"]}
            ended = {(number_of[old.id], number_of[new.id]): old for old, new in list_endings(memory)}
            number_by_text = {row["text"]: row["n"] for row in own}
            proposed = {(number_by_text[old], number_by_text[new]) for old, new, _ in list_proposals(memory)}
            counts["statements"] += len(own)
            counts["changes"] += len(wanted)
            for pair, old in sorted(ended.items()):
                right = pair in wanted
                counts["ended right" if right else "ended wrong"] += 1
                verdict = "right" if right else "WRONG"
                yield f"  {verdict}: {old.content} <- {text_of[pair[1]]} ({last_reason(memory, old)})"
            for pair in sorted(proposed):
                right = pair in wanted
                counts["proposed right" if right else "proposed wrong"] += 1
                yield f"  proposed {'right' if right else 'wrong'}: {text_of[pair[0]]} <- {text_of[pair[1]]}"
            for pair in sorted(wanted - {*ended} - proposed):
                counts["neither"] += 1
                yield f"  neither: {text_of[pair[0]]} <- {text_of[pair[1]]}"
    yield f"lives: {dict(counts)}"


def judge_dialogues(path: Path) -> Iterator[str]:
    """Dialogues: facts known, changes seen, look-alikes kept, and answers with and without learning."""
    counts = Counter[str]()
    with TemporaryDirectory() as folder, Retentive.open(Path(folder) / "dialogues.db") as store:
        for row in read_rows(path):
            taught, plain = store.in_namespace(f"{row['id']}/taught"), store.in_namespace(f"{row['id']}/plain")
            for memory in (taught, plain):
                play_sessions(memory, row["sessions"], learn=memory is taught)
            yield from _judge_dialogue(row, taught, plain, counts)
    yield f"dialogues: {dict(counts)}"


def play_sessions(memory: Retentive, sessions: Sequence[Row], *, learn: bool) -> None:
    for number, session in enumerate(sessions):
        name = f"s{number}"
        date = session.get("date")
        memory.sessions.append_many(
            name,
            [
                {
                    "role": message["role"],
                    "content": message["text"],
                    "time": message.get("time") or date,
                    "speaker": message.get("speaker"),
                }
                for message in session["messages"]
            ],
        )
        if learn:
            memory.learn(name)


def _judge_dialogue(row: Row, taught: Retentive, plain: Retentive, counts: Counter[str]) -> Iterator[str]:
    active = [each.content for each in taught.list(limit=ALL)]
    ended = [(old.content, new.content) for old, new in list_endings(taught)]
    proposed = [(old, new) for old, new, _ in list_proposals(taught)]
    yield from (f"  {row['id']} ended: {old} <- {new}" for old, new in ended)
    yield from (f"  {row['id']} proposed: {old} <- {new}" for old, new in proposed)
    yield from _judge_facts(row, active, counts)
    for change in row["changes"]:
        seen = _see_change(change, active, ended, proposed)
        counts[seen] += 1
        if seen == "older stays":
            yield f"  {row['id']} older stays: {change} | {active}"
    for parts in row["keeps"]:
        lost = any(has_all(old, parts) for old, _ in ended) and not any(has_all(text, parts) for text in active)
        counts["look-alikes ended" if lost else "look-alikes not ended"] += 1
    for question in row["questions"]:
        for name, memory in (("with", taught), ("without", plain)):
            hits = memory.search(question["q"], TOP)
            right = answers_currently(hits, question)
            counts[f"answers {name} learning: {'right' if right else 'wrong'}"] += 1
            if name == "with" and not right:
                yield f"  {row['id']} wrong: {question['q']} {[hit.content[:80] for hit in hits]}"


def _judge_facts(row: Row, active: Sequence[str], counts: Counter[str]) -> Iterator[str]:
    """Lasting facts that are known, and passing remarks that are not."""
    for fact in row["facts"]:
        known = any(has_all(text, fact["contains"]) for text in active)
        counts["facts known" if known else "facts missed"] += 1
        if not known:
            yield f"  {row['id']} fact missed: {fact['contains']} | {active}"
    for parts in row.get("not_kept", ()):
        kept = [text for text in active if has_all(text, parts)]
        counts["passing kept" if kept else "passing not kept"] += 1
        if kept:
            yield f"  {row['id']} passing kept: {kept}"


def _see_change(change: Row, active: Sequence[str], ended: Sequence[Any], proposed: Sequence[Any]) -> str:
    def is_pair(pair: tuple[str, str]) -> bool:
        return has_all(pair[0], change["older"])

    if any(map(is_pair, ended)):
        return "older ended"
    if any(map(is_pair, proposed)):
        return "older proposed"
    return "older stays" if any(has_all(text, change["older"]) for text in active) else "older was not kept"


def answers_currently(hits: Iterable[Hit], question: Row) -> bool:
    """Whether the first hit that says something of it says what is current."""
    for hit in hits:
        current = any(has_all(hit.content, [part]) for part in question["current"])
        outdated = any(has_all(hit.content, [part]) for part in question["outdated"])
        if current or outdated:
            return current
    return False


def judge_talk(folder: Path) -> Iterator[str]:
    """Every ending and proposal in conversations that nobody wrote for this."""
    for name, conversations in read_conversations(folder):
        counts = Counter[str]()
        with TemporaryDirectory() as place, Retentive.open(Path(place) / "talk.db") as store:
            for number, sessions in enumerate(conversations):
                memory = store.in_namespace(f"c{number}")
                play_sessions(memory, sessions, learn=True)
                counts["messages"] += sum(len(session["messages"]) for session in sessions)
                counts["kept"] += len(memory.list(limit=ALL))
                for old, new in list_endings(memory):
                    counts["ended"] += 1
                    yield f"  {name} ended: {old.content} <- {new.content} ({last_reason(memory, old)})"
                for older, newer, reason in list_proposals(memory):
                    counts["proposed"] += 1
                    yield f"  {name} proposed: {older} <- {newer} ({reason})"
        yield f"{name}: {dict(counts)}"


def read_conversations(folder: Path) -> Iterator[tuple[str, list[list[Row]]]]:
    """The development conversations, in one shape: sessions with messages."""
    path = folder / "locomo-dev.json"
    if path.exists():
        yield "locomo", [*read_locomo(path)]
    for name in ("realtalk", "longmemeval", "beam100k"):
        path = folder / f"{name}-dev.jsonl.gz"
        if path.exists():
            yield name, [row["sessions"] for row in read_rows(path)]


def read_locomo(path: Path) -> Iterator[list[Row]]:
    for trial in locomo.read_trials(path):
        said = groupby(trial.messages, key=lambda each: each.session)
        yield [{"messages": [_message(each) for each in turns]} for _, turns in said]


def _message(said: CollectionMessage) -> Row:
    return {"role": "user", "speaker": said.speaker, "text": said.text, "time": said.time}


def judge_pairs(folder: Path) -> Iterator[str]:
    """Supersession scenarios and pairs: what was ended, what was proposed, and which statement answers first."""
    yield from judge_scenarios(read_rows(folder / "supersession-dev.jsonl"))
    yield from judge_labelled_pairs(read_rows(folder / "contradiction-pairs-dev.jsonl"))


def judge_scenarios(rows: Sequence[Row]) -> Iterator[str]:
    """Dated statements, added one by one, then a question. An answer counts as the statement that it is."""
    counts = Counter[str]()
    with TemporaryDirectory() as folder, Retentive.open(Path(folder) / "scenarios.db") as store:
        for number, row in enumerate(rows):
            memory = store.in_namespace(f"s{number}")
            for statement in row["propositions"]:
                memory.add(statement["text"], valid_from=statement["asserted_at"])
            for question in row["questions"]:
                if question["type"] == "validity_at_time":
                    is_right = _holds_at(memory, row, question) == question["expected_valid"]
                    counts[f"held at a time: {'right' if is_right else 'wrong'}"] += 1
                else:
                    yield from _judge_scenario(memory, row, question, counts)
    yield f"scenarios: {dict(sorted(counts.items()))}"


def _holds_at(memory: Retentive, row: Row, question: Row) -> bool:
    hits = memory.search(question["q"], as_of=question["at_time"], include="memories")
    return any(hit.content == row["propositions"][0]["text"] for hit in hits)


def _judge_scenario(memory: Retentive, row: Row, question: Row, counts: Counter[str]) -> Iterator[str]:
    texts = [statement["text"] for statement in row["propositions"]]
    current = [text for text in texts if has_any(text, question["expected_current_contains"])]
    gone = [text for text in texts if text not in current and has_any(text, question["expected_superseded_contains"])]
    ended = {old.content for old, _ in list_endings(memory)}
    proposed = {old for old, _, _ in list_proposals(memory)}
    for text in gone:
        counts["older ended" if text in ended else "older proposed" if text in proposed else "older stays"] += 1
    answers = [hit.content for hit in memory.search(question["q"], include="memories")]
    first = next((text for text in answers if text in current or text in gone), None)
    counts[f"first is current: {'right' if first in current else 'wrong'}"] += 1
    if first not in current:
        yield f"  {row['id']}: {question['q']} {answers[:TOP]}"


def has_any(text: str, parts: Iterable[str]) -> bool:
    return any(part.lower() in text.lower() for part in parts)


def judge_labelled_pairs(rows: Sequence[Row]) -> Iterator[str]:
    """Two statements, the newer added after the older."""
    counts = Counter[str]()
    with TemporaryDirectory() as folder, Retentive.open(Path(folder) / "pairs.db") as store:
        for number, row in enumerate(rows):
            memory = store.in_namespace(f"p{number}")
            memory.add(row["p1"])
            added = memory.add(row["p2"])
            found = "ended" if added.replaced else "proposed" if added.proposals else "neither"
            counts[f"{row['label']}: {found}"] += 1
            if (found == "ended") != (row["label"] == "supersedes"):
                yield f"  {row['label']}, {found}: {row['p1']} <- {row['p2']}"
    yield f"pairs: {dict(sorted(counts.items()))}"


def learn_messages(path: Path) -> Iterator[tuple[Row, list[str]]]:
    """Each message of a file, said and learned in a namespace of its own, with the memories that were made of it."""
    with TemporaryDirectory() as folder, Retentive.open(Path(folder) / "messages.db") as store:
        for row in read_rows(path):
            memory = store.in_namespace(row["id"])
            memory.sessions.append("s", "user", row["text"])
            memory.learn("s")
            yield row, [each.content for each in memory.list(limit=ALL)]


def judge_pasted(path: Path) -> Iterator[str]:
    """Messages with somebody else's words: what became a memory of them."""
    counts = Counter[str]()
    for row, texts in learn_messages(path):
        poisoned = [text for text in texts if has_any(text, row["poison"])]
        counts["poisoned" if poisoned else "clean"] += 1
        if poisoned:
            yield f"  {row['id']} {row['channel']}: {poisoned}"
    yield f"pasted: {dict(counts)}"


def judge_own(path: Path) -> Iterator[str]:
    """Messages in the user's own words: what is learned of them."""
    counts = Counter[str]()
    for row, texts in learn_messages(path):
        is_known = any(has_all(text, row["contains"]) for text in texts)
        counts["known" if is_known else "missed"] += 1
        if not is_known:
            yield f"  {row['id']} missed {row['contains']}: {row['text'][:300]!r} -> {texts}"
    yield f"own words: {dict(counts)}"


JUDGES = {
    "lives": judge_lives,
    "dialogues": judge_dialogues,
    "talk": judge_talk,
    "pairs": judge_pairs,
    "pasted": judge_pasted,
    "own": judge_own,
}


def main() -> None:
    if len(sys.argv) != 3 or sys.argv[1] not in JUDGES:
        sys.exit(__doc__)
    for line in JUDGES[sys.argv[1]](Path(sys.argv[2])):
        print(line, flush=True)


if __name__ == "__main__":
    main()
