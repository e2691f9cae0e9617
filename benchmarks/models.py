"""`python -m benchmarks.models FOLDER --cache CACHE`: each embedding model in the whole search, on every collection.

A row for each model: the share of what answers among the first 5 and 10 hits, per collection, and the processor time of
one text. Weights come from where `scripts/weights.py` puts them, those of MiniLM from its package. Stores and vectors
are kept in CACHE, in a folder for each model: the first run embeds everything, for hours with several models.
"""

import argparse
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from statistics import median

from benchmarks.asked import Variant, loaded, outcomes
from benchmarks.embedding_cache import CachedEmbedder
from benchmarks.sets import read_sets
from retentive import Retentive
from retentive.cli.eval import store_trials
from retentive.embed import Embedder, open_embedder
from retentive.embed.catalogue import CATALOGUE, INT8, MINILM, CatalogueEntry, HubFile
from retentive.embed.catalogue_embedder import CatalogueEmbedder
from retentive.evaluation import Trial
from retentive.evaluation.figures import compute_figures
from retentive.search.signals import RECIPE

WEIGHTS = Path(sys.prefix, "share", "retentive-weights")
TIMED_TEXTS = 100


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.models", description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cache", type=Path, required=True, metavar="FOLDER", help="keep stores and vectors there")
    parser.add_argument("--sets", metavar="NAMES", help="with commas between; else all")
    parser.add_argument("--models", metavar="NAMES", help="with commas between; else those with weights here")
    given = parser.parse_args()
    sets = read_sets(given.folder)
    if given.sets:
        sets = {name: sets[name] for name in given.sets.split(",")}
    entries = {entry.name: entry for entry in CATALOGUE}
    names = given.models.split(",") if given.models else [name for name in entries if has_weights(entries[name])]
    print("| model | ms a text | " + " | ".join(sets) + " |")
    print("|---|---|" + "---|" * len(sets))
    for name in names:
        cells = measure_model(entries[name], sets, given.cache / name)
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def has_weights(entry: CatalogueEntry) -> bool:
    return entry.graphs is None or entry is MINILM or (WEIGHTS / entry.name).is_dir()


def measure_model(entry: CatalogueEntry, sets: Mapping[str, Sequence[Trial]], cache: Path) -> Iterator[str]:
    """The time of one text, then the recall on each set."""
    cache.mkdir(parents=True, exist_ok=True)
    embedder = open_weights(entry, cache)
    yield f"{measure_time(embedder, sets) * 1000:.2f}"
    allowed = dict.fromkeys(("secrets_in_memories", "secrets_in_messages"), "allow")
    with Retentive.open(cache / "recall.db", embedder=entry.name, cache=str(cache / "models"), **allowed) as store:
        parts = store._store  # noqa: SLF001 - weights from a package, and vectors from a file
        memory = Retentive(replace(parts, embedder=CachedEmbedder(embedder, cache / "embeddings.db")))
        for asked in sets.values():
            store_trials(memory, asked)
            loaded(memory, asked)
            found = compute_figures(outcomes(memory, asked, Variant("", RECIPE)))
            yield " / ".join(f"{found.recall[at]:.3f}".lstrip("0") for at in (1, 2))


def open_weights(entry: CatalogueEntry, cache: Path) -> Embedder:
    """The model with the weights that are here, though a package's maker may have quantised them anew."""
    models = cache / "models"
    models.mkdir(exist_ok=True)
    if entry is MINILM or entry.graphs is None:
        found = open_embedder(entry.name, cache=models)
        assert found  # noqa: S101 - it is not "none"
        return found
    files = [pin_file(file, models) for file in entry.list_files(INT8)]
    pinned = replace(entry, graphs={INT8: files[0]}, tokenizer=files[1] if len(files) > 1 else None)
    return CatalogueEmbedder(pinned, models, precision=INT8)


def pin_file(file: HubFile, models: Path) -> HubFile:
    """The file of the package in the place of the hub's, with its own hash."""
    source = WEIGHTS / models.parent.name / file.path.rpartition("/")[2]
    link = models / file.name
    if not link.exists():
        link.symlink_to(source)
    content = source.read_bytes()
    return replace(file, size=len(content), sha256=sha256(content).hexdigest())


def measure_time(embedder: Embedder, sets: Mapping[str, Sequence[Trial]]) -> float:
    """Seconds of processor time for one text, alone; the median of some."""
    texts = [question.text for asked in sets.values() for trial in asked for question in trial.questions]
    embedder.embed(texts[:2])
    return median(_time_one(embedder, text) for text in texts[:TIMED_TEXTS])


def _time_one(embedder: Embedder, text: str) -> float:
    before = time.process_time()
    embedder.embed([text])
    return time.process_time() - before


if __name__ == "__main__":
    main()
