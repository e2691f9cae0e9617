"""How does a language model do at finding what is worth keeping? Validity, what survives the checks, and cost.

    python -m benchmarks.language_model [--weights FILE.gguf] [--threads N] [--conversations N] [--data FILE]

Without `--weights` it asks the model that is set: `RETENTIVE_LLM`, `RETENTIVE_LLM_URL`, `RETENTIVE_LLM_KEY`. With it,
the file is served by llama.cpp (`benchmarks/llama_server.py`). Answers are limited by `RETENTIVE_LLM_ANSWER_TOKENS`.

Each conversation of the file is a store of its own, and each of its sessions one part that is learned. The same
conversations are also learned by rules alone.
"""

import argparse
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.judgement import Row, has_all, list_endings, list_proposals, read_rows
from benchmarks.llama_server import LlamaServer
from retentive import Retentive
from retentive.errors import LlmError, Unusable
from retentive.learning.llm.validate import read_claims
from retentive.learning.llm_quota import QuotaLanguageModel
from retentive.llm import Completion
from retentive.model import LlmCost

DATA = Path(__file__).parent / "data" / "dialogues-e.jsonl"
PATIENCE = 3600.0  # seconds for an answer: a large model on one thread


class Watched:
    """Counts the answers of a store's language model, and those of the form that was asked for."""

    def __init__(self, llm: QuotaLanguageModel, counts: Counter[str]) -> None:
        self._inner, self._counts = llm, counts
        self.name = llm.name

    def complete(
        self, instructions: str, material: str, schema: Mapping[str, Any] | None, *, max_tokens: int
    ) -> Completion:
        self._counts["calls"] += 1
        try:
            completion = self._inner.complete(instructions, material, schema, max_tokens=max_tokens)
            stated = read_claims(completion.text)
        except Unusable as error:
            self._counts["cut off" if "cut off" in str(error) else "not of the form"] += 1
            raise
        except LlmError:
            self._counts["no answer"] += 1
            raise
        self._counts["valid"] += 1
        self._counts["claims stated"] += len(stated)
        return completion

    def close(self) -> None:
        self._inner.close()


def run(rows: list[Row], counts: Counter[str], **settings: Any) -> Iterator[str]:
    """Learn each conversation; what is found goes into the counts, line by line what was kept."""
    total = LlmCost()
    begun = time.perf_counter()
    for row in rows:
        with TemporaryDirectory() as folder, Retentive.open(Path(folder) / "m.db", **settings) as store:
            llm = store._store.llm()  # noqa: SLF001 - between the store and its model is no public place
            if isinstance(llm, QuotaLanguageModel):
                store._store.llm.made = Watched(llm, counts)  # type: ignore[assignment]  # noqa: SLF001
            for number, session in enumerate(row["sessions"]):
                name = f"s{number}"
                for message in session["messages"]:
                    store.sessions.append(name, message["role"], message["text"], time=session["date"])
                (learned,) = store.learn(name)
                total = total.plus(learned.cost)
                counts["sessions by rules" if learned.by == "rules" else "sessions by model"] += 1
                yield from (f"    {note}" for note in learned.notes)
            yield from _count_kept(row, store, counts)
    counts["tokens read"], counts["tokens written"] = total.tokens_in, total.tokens_out
    counts["seconds"] = round(time.perf_counter() - begun)


def _count_kept(row: Row, store: Retentive, counts: Counter[str]) -> Iterator[str]:
    active = [memory for memory in store.list(limit=1000) if memory.source == "extracted"]
    found = [memory for memory in active if "model" in (memory.origin or {})]
    counts["kept"] += len(active)
    counts["kept from the model"] += len(found)
    counts["guesses"] += sum(memory.confidence <= 0.3 for memory in found)
    counts["ended"] += len([*list_endings(store)])
    counts["proposed"] += len(list_proposals(store))
    for fact in row["facts"]:
        is_known = any(has_all(memory.content, fact["contains"]) for memory in active)
        counts["facts known" if is_known else "facts missed"] += 1
    yield from (f"  {row['id']} {memory.confidence:.2f} {memory.slot or '-'} {memory.content}" for memory in active)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--weights", type=Path)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--conversations", type=int, default=5)
    parser.add_argument("--data", type=Path, default=DATA)
    arguments = parser.parse_args()
    rows = [*islice(read_rows(arguments.data), arguments.conversations)]
    with LlamaServer(arguments.weights, threads=arguments.threads) if arguments.weights else nullcontext() as server:
        served = {"llm": f"openai:{arguments.weights.stem}", "llm_url": server.url} if server else {}
        for name, settings in (("model", {**served, "llm_timeout": PATIENCE}), ("rules", {"llm": "none"})):
            counts = Counter[str]()
            print(f"{name}:", flush=True)
            for line in run(rows, counts, **settings):
                print(line, flush=True)
            print(f"{name}: {len(rows)} conversations, {dict(counts)}", flush=True)


if __name__ == "__main__":
    main()
