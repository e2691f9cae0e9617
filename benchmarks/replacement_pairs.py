"""Pairs of statements that train the judge of replacement: does the newer of the two replace the older?

Four sources, each with groups that are left out whole in validation:

- `pairs-*.jsonl`: pairs written for this project, alone and among the older statements of other topics.
- `lives-*.jsonl`, `projects-*.jsonl`: lives and long projects written for this project. Each statement is shown beside
  the earlier ones that a store would compare it with.
- the pairs and scenarios of patha-memory.
- `talk-pairs.jsonl`: pairs that were learned from LongMemEval, read one by one. They are known by hashes of their
  texts, because the conversations are not part of the repository.
"""

import hashlib
import itertools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.judgement import Row, has_any, read_rows
from retentive.judgement.corrections.pair_features import Nearness, compute_pair_features, rank_similarities
from retentive.judgement.corrections.statement import parse_statement
from retentive.judgement.extract.candidates import find_candidates
from retentive.judgement.extract.choose import choose_claims
from retentive.memories.corrections import MAX_NEIGHBOURS
from retentive.model import Claim, Event, Role

Array = NDArray[np.float64]
Embed = Callable[[Sequence[str]], Array]
DATA = Path(__file__).parent / "data" / "judges"
UNRELATED = 6  # older statements of other groups that a newer one is shown beside
POOL_SESSIONS = 40  # of LongMemEval that are learned together, as one person's
TALK_EVERY = 3  # of the statements of a pool of which nobody read a pair, every third is taken


class Pair(NamedTuple):
    older: str
    newer: str
    label: str
    """`replaces`, `independent` or `unclear`."""
    group: str
    """Left out whole in validation."""
    is_alone: bool = False
    """Whether the older statement is the only one that the newer is compared with, as in a new store."""


def read_all_pairs(folder: Path, embed: Embed) -> Iterator[Pair]:
    """Every pair of every source; `folder` has the development data."""
    pairs = [*read_pairs()]
    yield from (pair._replace(is_alone=True) for pair in pairs)
    yield from read_patha_pairs(folder)
    yield from pairs
    yield from sample_unrelated(embed, pairs)
    yield from sample_unrelated_alone(pairs)
    yield from read_lives(embed)
    yield from read_talk_pairs(folder, embed)


def read_patha_pairs(folder: Path) -> Iterator[Pair]:
    """The pairs and scenarios of patha-memory, each once; a text is left out together with all that it occurs with."""
    for row in read_rows(folder / "contradiction-pairs-dev.jsonl"):
        label = "replaces" if row["label"] == "supersedes" else row["label"]
        yield Pair(row["p1"], row["p2"], label, f"patha-pairs {row['p1']}", is_alone=True)
    seen: set[tuple[str, str]] = set()
    for row in read_rows(folder / "supersession-dev.jsonl"):
        texts = [statement["text"] for statement in row["propositions"]]
        for question in row["questions"]:
            if question["type"] != "current_belief":
                continue
            current = [text for text in texts if has_any(text, question["expected_current_contains"])]
            gone = [text for text in texts if has_any(text, question["expected_superseded_contains"])]
            for older, newer in itertools.product(gone, current):
                if older not in current and (older, newer) not in seen:
                    seen.add((older, newer))
                    yield Pair(older, newer, "replaces", f"patha-scenarios {older}", is_alone=True)


def read_pairs() -> Iterator[Pair]:
    for path in sorted(DATA.glob("pairs-*.jsonl")):
        for row in read_rows(path):
            yield Pair(row["older"], row["newer"], row["label"], f"{path.stem} {row['group']}")


def sample_unrelated(embed: Embed, pairs: Sequence[Pair]) -> Iterator[Pair]:
    """Each newer statement beside the most similar older ones of other groups: what a real store is full of."""
    for source in sorted({pair.group.split()[0] for pair in pairs}):
        own = [pair for pair in pairs if pair.group.startswith(f"{source} ")]
        similarities = embed([pair.newer for pair in own]) @ embed([pair.older for pair in own]).T
        for pair, row in zip(own, similarities, strict=True):
            others = [own[place].older for place in np.argsort(-row) if own[place].group != pair.group]
            yield from (Pair(older, pair.newer, "independent", f"un{pair.group}") for older in others[:UNRELATED])


def sample_unrelated_alone(pairs: Sequence[Pair]) -> Iterator[Pair]:
    """Each newer statement beside one that has nothing to do with it: what a new store is full of."""
    chooser = random.Random(0)
    for source in sorted({pair.group.split()[0] for pair in pairs}):
        own = [pair for pair in pairs if pair.group.startswith(f"{source} ")]
        for pair in own:
            other = chooser.choice([each for each in own if each.group != pair.group])
            yield Pair(other.older, pair.newer, "independent", f"un{pair.group}", is_alone=True)


def read_lives(embed: Embed) -> Iterator[Pair]:
    """Each statement of a life, or of a long project, beside the earlier ones that a store would compare it with."""
    for path in sorted([*DATA.glob("lives-*.jsonl"), *DATA.glob("projects-*.jsonl")]):
        rows = read_rows(path)
        source = path.stem.split("-")[0]
        for life in sorted({row["life"] for row in rows}):
            yield from pair_life([row for row in rows if row["life"] == life], f"{source} {life}", embed)


def pair_life(rows: Sequence[Row], group: str, embed: Embed) -> Iterator[Pair]:
    vectors = embed([row["text"] for row in rows])
    gone: set[int] = set()
    for place, row in enumerate(rows):
        nearest = np.argsort(-(vectors[:place] @ vectors[place]))[:MAX_NEIGHBOURS]
        for older in (rows[at] for at in nearest if rows[at]["n"] not in gone):
            label = "unclear" if older["n"] in row.get("unclear", ()) else "independent"
            label = "replaces" if older["n"] in row["outdates"] else label
            yield Pair(older["text"], row["text"], label, group)
        gone |= {*row["outdates"]}


def read_talk_pairs(folder: Path, embed: Embed) -> Iterator[Pair]:
    """Statements learned from LongMemEval, each beside the nearest earlier ones of its pool.

    Pairs that somebody read have their label; the others were not near enough to be taken for a replacement.
    """
    labels = {(row["older"], row["newer"]): row["label"] for row in read_rows(DATA / "talk-pairs.jsonl")}
    (row,) = read_rows(folder / "longmemeval-dev.jsonl.gz")
    sessions = row["sessions"]
    for start in range(0, len(sessions), POOL_SESSIONS):
        claims = [
            claim for session in sessions[start : start + POOL_SESSIONS] for claim in learn_claims(session, embed)
        ]
        yield from pair_claims(claims, labels, f"talk {start // POOL_SESSIONS}", embed)


def learn_claims(session: Row, embed: Embed) -> Sequence[Claim]:
    """The claims that are found in a session, in their order."""
    events = [_as_event(number, message) for number, message in enumerate(session["messages"], start=1)]
    candidates = find_candidates(events)
    return choose_claims(candidates, [*embed([each.said for each in candidates])]) if candidates else []


def _as_event(number: int, message: Row) -> Event:
    time = datetime.fromisoformat(message["time"])
    time = time if time.tzinfo else time.replace(tzinfo=UTC)
    return Event("default", "talk", number, Role(message["role"]), message.get("speaker"), message["text"], None, time)


def pair_claims(
    claims: Sequence[Claim], labels: Mapping[tuple[str, str], str], group: str, embed: Embed
) -> Iterator[Pair]:
    texts = [claim.content for claim in claims]
    vectors, digests = embed(texts), [digest_statement(text) for text in texts]
    for place, newer in enumerate(texts):
        nearest = np.argsort(-(vectors[:place] @ vectors[place]))
        known = {at: labels.get((digests[at], digests[place])) for at in nearest}
        if place % TALK_EVERY and not any(known.values()):
            continue
        kept = [at for at in nearest if not claims[at].is_tentative and texts[at] != newer]
        shown = {*kept[:MAX_NEIGHBOURS]}
        for at, label in known.items():
            if label or at in shown:
                yield Pair(texts[at], newer, label or "independent", group)


def digest_statement(text: str) -> str:
    """A short name for a statement, the same in the first and in the third person."""
    return hashlib.sha256(parse_statement(text).text.encode()).hexdigest()[:10]


def describe_pairs(pairs: Sequence[Pair], older: Array, newer: Array) -> list[Mapping[str, float]]:
    """The features of each pair, by the vectors of its two statements."""
    nearness = find_nearness(pairs, (older * newer).sum(axis=1))
    return [
        compute_pair_features(parse_statement(pair.older), parse_statement(pair.newer), near)
        for pair, near in zip(pairs, nearness, strict=True)
    ]


def find_nearness(pairs: Sequence[Pair], similarities: Array) -> list[Nearness]:
    """How near the older statement of each pair is, among those that its newer one is shown beside."""
    beside: dict[tuple[str, str], list[int]] = {}
    for place, pair in enumerate(pairs):
        beside.setdefault((str(place) if pair.is_alone else remove_prefix(pair.group), pair.newer), []).append(place)
    found: dict[int, Nearness] = {}
    for places in beside.values():
        found |= zip(places, rank_similarities([float(similarities[place]) for place in places]), strict=True)
    return [found[place] for place in range(len(pairs))]


def remove_prefix(group: str) -> str:
    """Unrelated pairs are left out together with the pairs that they were made from."""
    return group.removeprefix("un")
