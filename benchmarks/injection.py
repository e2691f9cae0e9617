"""Measure what the hook of Claude Code puts before a model, prompt by prompt, on people made up for it.

Usage: python -m benchmarks.injection [--show] [LIFE ...]
`data/injection` has the memories of six people, and prompts with the memories that help. Each prompt is the first of
a conversation, so what one prompt was given does not count for the next. The model runs, as it does in the hook.
`fit_prompt_judge.py` fits on lives 1 to 3; lives 4 to 6 are held out.

    precision   of the memories that were given, the share that helps; those labelled "maybe" count as neither
    helped      of the prompts that can be helped, the share that was given something that helps
    recall      of the memories that help, the share that was given
    quiet       of the prompts that nothing helps, the share that was given nothing, or only what may help
"""

import json
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from retentive import Retentive

DATA = Path(__file__).parent / "data" / "injection"
LIMIT_SECONDS = 60.0  # so that a busy machine changes nothing; the hook of a person has five


class Prompt(NamedTuple):
    text: str
    helps: frozenset[str]
    maybe: frozenset[str]
    given: Sequence[str]

    @property
    def hits(self) -> int:
        return len(self.helps.intersection(self.given))

    @property
    def noise(self) -> list[str]:
        return [each for each in self.given if each not in self.helps | self.maybe]


def read_lines(life: int) -> list[dict[str, Any]]:
    lines = (DATA / f"life-{life}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


def fill_store(db: Path, lines: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Add the memories of a life, and return their labels by id."""
    known = [line for line in lines if "text" in line]
    with Retentive.open(db) as memory:
        ids = [
            memory.add(line["text"], kind=line["kind"], importance=line.get("importance", 5), valid_from=line["day"]).id
            for line in known
        ]
    return {id: line["id"] for id, line in zip(ids, known, strict=True)}


def ask_hook(db: Path, lines: Iterable[Mapping[str, Any]], labels: Mapping[str, str]) -> Iterator[Prompt]:
    from retentive.hooks.recall import recall_for_prompt
    from retentive.hooks.request import HookOptions, parse_call

    for number, line in enumerate(line for line in lines if "prompt" in line):
        fields = {"session_id": f"s{number}", "cwd": str(db.parent), "prompt": line["prompt"]}
        options = HookOptions(namespace="default", db=str(db), time_limit=LIMIT_SECONDS)
        block = recall_for_prompt(parse_call(json.dumps(fields).encode()), options)
        given = [labels[id] for id in block.shown if id in labels]
        yield Prompt(line["prompt"], frozenset(line["helps"]), frozenset(line["maybe"]), given)


def print_figures(name: str, prompts: Sequence[Prompt]) -> None:
    hits, noise = sum(each.hits for each in prompts), sum(len(each.noise) for each in prompts)
    helpable = [each for each in prompts if each.helps]
    others = [each for each in prompts if not each.helps]
    print(
        f"{name:8} precision {hits / max(1, hits + noise):.2f}"
        f"  helped {sum(each.hits > 0 for each in helpable) / len(helpable):.2f}"
        f"  recall {hits / sum(len(each.helps) for each in prompts):.2f}"
        f"  quiet {sum(not each.noise for each in others) / len(others):.2f}"
        f"  given {sum(len(each.given) for each in prompts) / len(prompts):.1f}"
    )


def print_prompts(prompts: Iterable[Prompt], texts: Mapping[str, str]) -> None:
    for each in prompts:
        print(f"\n> {each.text[:160]}")
        for label in each.given:
            print("  +" if label in each.helps else "  ~" if label in each.maybe else "  -", label, texts[label][:120])
        for label in sorted(each.helps.difference(each.given)):
            print("  missing", label, texts[label][:120])


def main() -> None:
    lives = [int(each) for each in sys.argv[1:] if each.isdigit()] or [1, 2, 3, 4, 5, 6]
    everything: list[Prompt] = []
    for life in lives:
        lines = read_lines(life)
        with tempfile.TemporaryDirectory() as folder:
            os.environ["XDG_DATA_HOME"] = folder  # where the hook remembers what it has shown
            db = Path(folder) / "memory.db"
            prompts = [*ask_hook(db, lines, fill_store(db, lines))]
        if "--show" in sys.argv:
            print_prompts(prompts, {line["id"]: line["text"] for line in lines if "text" in line})
        print_figures(f"life {life}", prompts)
        everything += prompts
    if len(lives) > 1:
        print_figures("all", everything)


if __name__ == "__main__":
    main()
