"""`python -m benchmarks`: build, measure, print one table. Never fails on speed."""

import argparse
import json
import os
import platform
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks import corpus, engines, filed, filtered, hooked, measure, sealed, served, stores, talk
from benchmarks.engines import Value
from benchmarks.history import append_run
from benchmarks.measure import Figure, Target
from benchmarks.servers import ENGINES

SIZES = (10_000, 100_000)
QUICK = (2_000,)
MESSAGES, QUICK_MESSAGES = 10_000, 1_000  # of the session that is talked in
WITH_MODEL, QUICK_WITH_MODEL = 500, 100  # of the one whose messages are embedded by the model
FILES, QUICK_FILES = 2_000, 200  # that are indexed, with the model
LINES = 1_000  # that the secrets filter looks at
HOOKED, QUICK_HOOKED = 10_000, 500  # memories that hooks look through, embedded by the model
SPREAD, QUICK_SPREAD = 100_000, 5_000  # memories, over the namespaces of the engines that are compared
CROWDED, QUICK_CROWDED = 10.0, 2.0  # seconds that their clients work
PARTS = ("bulk", "search", "add", "first", "memory", "mcp", "hook", "help", "talk", "secrets", "files", "engines",
         "integrity")  # fmt: skip
STORELESS = {"hook", "help", "talk", "secrets", "files", "engines", "integrity"}  # parts that need no other store
QUESTIONS = 200
EXTRA = 100  # single adds
FIRST_SIZE = 10_000  # the store that fresh processes are asked about, if it is among the sizes
BUILT_FOR_BULK = 30_000  # memories built in all for a bulk rate: three rounds of 10,000 or one of 100,000
MET = {True: "yes", False: "NO", None: ""}

Found = list[tuple[int | None, Figure]]
"""Each figure with the size of its store, or with the messages of its session."""


def main() -> None:
    arguments = _arguments()
    for name in {*os.environ}.difference(kept := measure.environment()):
        del os.environ[name]
    os.environ.update(kept)
    facts = _facts()
    print("\n".join(f"{name}: {value}" for name, value in facts.items()), flush=True)
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        found: dict[str, Found] = {
            "memories": _run(arguments.sizes or (QUICK if arguments.quick else SIZES), arguments.only, Path(folder)),
            "messages": _talked(Path(folder), quick=arguments.quick) if "talk" in arguments.only else [],
            "memories, embedded": _hooked(Path(folder), quick=arguments.quick) if "hook" in arguments.only else [],
            "files": _filed(Path(folder), quick=arguments.quick) if "files" in arguments.only else [],
            "memories, sealed": _sealed(Path(folder), quick=arguments.quick) if "integrity" in arguments.only else [],
            "lines": [*filtered.figures(LINES)] if "secrets" in arguments.only else [],
        }
        values = _compared(Path(folder), arguments.folder, quick=arguments.quick) if "engines" in arguments.only else []
    facts["load at the end"] = _load()
    print(f"load at the end: {_load()}")
    print("".join(f"\n{_table(of, figures)}\n" for of, figures in found.items() if figures))
    if values:
        print(f"{_beside(values)}\n")
    plain = [each for of, figures in found.items() for each in _plain(of, figures)]
    plain += [asdict(value) | {"met": value.met} for value in values]
    if arguments.history:
        for change in append_run(Path(arguments.history), facts, plain):
            print(f"WORSE than in the last run: {change.what}: {change.before:.3g} then, {change.now:.3g} now")
    if arguments.json:
        Path(arguments.json).write_text(json.dumps({"machine": facts, "figures": plain}, indent=2), "utf-8")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks", description="Retentive beside a do-it-yourself build.")
    parser.add_argument("--sizes", type=int, nargs="+", help="memories in the stores")
    parser.add_argument("--quick", action="store_true", help="one small store and a short session, to try")
    parser.add_argument("--only", type=_parts, default=PARTS, help=f"some of: {','.join(PARTS)}")
    parser.add_argument("--folder", help="where to build the stores; a disk, for durable writes to mean something")
    parser.add_argument("--json", metavar="FILE", help="write the figures there too")
    parser.add_argument("--history", metavar="FILE", help="add the figures to a history, and say which became worse")
    return parser.parse_args()


def _parts(text: str) -> Sequence[str]:
    chosen = text.split(",")
    if unknown := set(chosen).difference(PARTS):
        raise argparse.ArgumentTypeError(f"unknown: {', '.join(sorted(unknown))}")
    return chosen


def _run(sizes: Iterable[int], parts: Sequence[str], folder: Path) -> Found:
    found: Found = []
    residents: dict[int, Any] = {}
    sizes = sorted(sizes)
    for size in sizes if not STORELESS.issuperset(parts) else ():
        figures = _measure(size, parts, folder / str(size), residents, fresh=size == min(sizes, key=_from_first))
        found.extend((size, figure) for figure in figures)
    if len(residents) > 1:
        small, large = min(residents), max(residents)
        figure = measure.per_memory(small, residents[small], large, residents[large])
        found.append((None, figure))
    if "help" in parts:
        found.append((None, measure.help_time()))
    return found


def _talked(folder: Path, *, quick: bool) -> Found:
    size, with_model = (QUICK_MESSAGES, QUICK_WITH_MODEL) if quick else (MESSAGES, WITH_MODEL)
    return [*talk.figures(folder / "talk", size, with_model, _teller(size))]


def _hooked(folder: Path, *, quick: bool) -> Found:
    size = QUICK_HOOKED if quick else HOOKED
    return [(size, figure) for figure in hooked.figures(folder / "hooked", size, _teller(size))]


def _filed(folder: Path, *, quick: bool) -> Found:
    size = QUICK_FILES if quick else FILES
    return [(size, figure) for figure in filed.figures(folder / "filed", size, _teller(size))]


def _sealed(folder: Path, *, quick: bool) -> Found:
    return [*sealed.figures(folder / "sealed", (QUICK if quick else SIZES)[0])]


def _compared(folder: Path, disk: str | None, *, quick: bool) -> list[Value]:
    size, seconds = (QUICK_SPREAD, QUICK_CROWDED) if quick else (SPREAD, CROWDED)
    return [*engines.figures(folder / "engines", size, seconds, disk, _teller(size))]


def _from_first(size: int) -> int:
    return abs(size - FIRST_SIZE)


def _measure(
    size: int, parts: Sequence[str], folder: Path, residents: dict[int, Any], *, fresh: bool
) -> Iterable[Figure]:
    given = corpus.make(size, questions=QUESTIONS + stores.WARM_UP, extra=EXTRA)
    pair, rounds = _built(given, folder, max(1, BUILT_FOR_BULK // size) if "bulk" in parts else 1)
    figures = measure.bulk(size, rounds) if "bulk" in parts else []
    say = _teller(size)
    say("built; loading what Retentive keeps in memory")
    say(f"answers from {stores.warm(pair)}")
    if "search" in parts:
        timed, stages = measure.search(pair)
        say("stages, median ms: " + ", ".join(f"{stage} {ms:.3f}" for stage, ms in stages.items()))
        figures += [*timed, measure.recall(pair)]
    if "add" in parts:
        figures.append(measure.add(pair))
    pair.close()
    asked = given.questions[0]
    try:
        if "first" in parts and fresh:
            figures += measure.first_answers(folder, asked)
        if "memory" in parts:
            residents[size] = measure.resident(folder, asked)
            figures += measure.resident_figures(residents[size], aimed=size == FIRST_SIZE)
        if "mcp" in parts and fresh:
            figures += served.figures(folder, [question.text for question in given.questions])
    except subprocess.CalledProcessError as error:
        say(f"FAILED: {error}")
    return figures


def _teller(size: int) -> Callable[[str], None]:
    return lambda text: print(f"[{size:,}] {text}", flush=True)


def _built(given: corpus.Corpus, folder: Path, rounds: int) -> tuple[stores.Pair, Sequence[stores.Seconds]]:
    """Round by round; the pair of the last is kept."""
    seconds = []
    for number in range(rounds - 1):
        pair, spent = stores.build(given, folder.with_name(f"{folder.name}-{number}"))
        pair.close()
        seconds.append(spent)
    pair, spent = stores.build(given, folder)
    return pair, [*seconds, spent]


def _facts() -> dict[str, str]:
    import apsw

    packages = ("retentive", "apsw", "numpy", "usearch", "onnxruntime", "sqlite-vec")
    return {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "sqlite": apsw.sqlite_lib_version(),
        **{name: version(name) for name in packages},
        "load at the start": _load(),
    }


def _load() -> str:
    """Processes that want a core, over the last minute: ours are one, what is above that is noise."""
    return f"{os.getloadavg()[0]:.1f}"


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def _table(of: str, found: Found) -> str:
    head = (of, "what", "Retentive", "do-it-yourself", "ratio", "target", "met")
    return _lines([head, *(_cells(size, figure) for size, figure in found)])


def _beside(values: Sequence[Value]) -> str:
    """One line for each figure, one column for each engine."""
    lines: dict[str, dict[str, Value]] = {}
    for value in values:
        lines.setdefault(value.what, {})[value.engine] = value
    return _lines([("what", *ENGINES, "target", "met"), *(_compare(what, found) for what, found in lines.items())])


def _compare(what: str, found: dict[str, Value]) -> tuple[str, ...]:
    some = next(iter(found.values()))
    met = None if some.target is None else all(value.met for value in found.values())
    return (
        what,
        *(_amount(found[name].value, some.unit) if name in found else "" for name in ENGINES),
        _goal(some.target, some.unit) if some.target else "",
        MET[met],
    )


def _lines(rows: Sequence[tuple[str, ...]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["| " + " | ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:]])


def _cells(size: int | None, figure: Figure) -> tuple[str, ...]:
    return (
        f"{size:,}" if size else "",
        figure.what,
        _amount(figure.ours, figure.unit),
        "" if figure.theirs is None else _amount(figure.theirs, figure.unit),
        "" if figure.ratio is None else f"{figure.ratio:.3g}",
        ", ".join(_goal(target, figure.unit) for target in figure.targets),
        MET[figure.met],
    )


def _amount(value: float, unit: str) -> str:
    shown = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
    return f"{shown} {unit}".strip()


def _goal(target: Target, unit: str) -> str:
    sign = ">=" if target.at_least else "<="
    if target.of == "value":
        return f"{sign} {_amount(target.bound, unit)}"
    return f"ratio {sign} {target.bound:.3g}"


def _plain(of: str, found: Found) -> list[dict[str, Any]]:
    return [
        {
            of: size,
            "what": figure.what,
            "unit": figure.unit,
            "retentive": figure.ours,
            "do_it_yourself": figure.theirs,
            "ratio": figure.ratio,
            "met": figure.met,
        }
        for size, figure in found
    ]


if __name__ == "__main__":
    main()
