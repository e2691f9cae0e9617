"""What a fresh process does: answer one question, or say how much memory it takes.

`python -m benchmarks.fresh SIDE TASK FOLDER` prints the answer as soon as it has it. A build's modules are imported
only by the process that measures that build.
"""

import json
import sys
from array import array
from pathlib import Path
from typing import Any, Protocol

QUESTION_FILE = "question.json"
AGAIN = 3  # the first question loads the vectors, the second the postings, the third is answered from both


class Side(Protocol):
    """A build as the tasks use it; each answers with the text of its best hit."""

    def text(self, question: str) -> str: ...

    def hybrid(self, question: str, vector: Any = None) -> str: ...

    def settle(self, question: str, vector: Any) -> None: ...

    def close(self) -> None: ...


class Ours:
    def __init__(self, folder: Path) -> None:
        from benchmarks.ours import open_ours, settle

        self._memory = open_ours(folder)
        self._settle = settle

    def text(self, question: str) -> str:
        return str(self._memory.search(question, mode="text")[0].content)

    def hybrid(self, question: str, vector: Any = None) -> str:
        return str(self._memory.search(question, vector=vector)[0].content)

    def settle(self, question: str, vector: Any) -> None:
        self._settle(self._memory, [(question, vector)] * AGAIN)

    def close(self) -> None:
        self._memory.close()


class Theirs:
    def __init__(self, folder: Path) -> None:
        from benchmarks.diy import Diy

        self._memory = Diy(folder / "diy.db")

    def text(self, question: str) -> str:
        return self._memory.search_text(question)[0].content

    def hybrid(self, question: str, vector: Any = None) -> str:
        return self._memory.search(question, vector)[0].content

    def settle(self, question: str, vector: Any) -> None:
        for _ in range(AGAIN):
            self.hybrid(question, vector)

    def close(self) -> None:
        self._memory.close()


def main(side: str, task: str, place: str) -> None:
    folder = Path(place)
    asked = json.loads((folder / QUESTION_FILE).read_text("utf-8"))
    question, vector = asked["text"], array("f", asked["vector"])
    build: Side = Ours(folder) if side == "ours" else Theirs(folder)
    match task:
        case "text":
            answer: Any = build.text(question)
        case "given":
            answer = build.hybrid(question, vector)
        case "hybrid":
            answer = build.hybrid(question)
        case _:
            answer = _memory(build, question, vector)
    print(json.dumps(answer), flush=True)
    build.close()


def _memory(build: Side, question: str, vector: Any) -> dict[str, float]:
    build.text(question)
    build.settle(question, vector)
    before = resident()
    build.hybrid(question)
    return {"before": before, "after": resident()}


def resident() -> float:
    """Megabytes of 1024 x 1024 bytes."""
    lines = Path("/proc/self/status").read_text("utf-8").splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS:")).split()[1]) / 1024


if __name__ == "__main__":
    main(*sys.argv[1:])
