"""A real language model on the loopback: llama.cpp with its OpenAI-compatible server, from the package xllamacpp.

    python -m benchmarks.llama_server WEIGHTS.gguf [--threads N]

It prints its address, and runs until its standard input ends. Answers are always the same: nothing is left to chance.
"""

import argparse
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

CONTEXT_TOKENS = 8192
REPEAT_PENALTY = 1.2  # without it, SmolLM2 counts to a thousand instead of ending a list


class LlamaServer:
    """A process of its own, which ends with this one however this one ends."""

    def __init__(self, weights: Path, *, threads: int = 1) -> None:
        options = [str(weights), "--threads", str(threads)]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.llama_server", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=Path(__file__).parent.parent,
        )
        assert self._process.stdout is not None  # noqa: S101 - asked for above
        address = self._process.stdout.readline().strip()
        if not address:
            self.stop()
            raise RuntimeError(f"no language model could be started from {weights}")
        self.url = f"{address}/v1"

    def stop(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                pipe.close()
        self._process.kill()  # it may be in the middle of an answer that nobody waits for
        self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("weights")
    parser.add_argument("--threads", type=int, default=1)
    serve(parser.parse_args())


def serve(arguments: argparse.Namespace) -> None:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = arguments.weights
    params.hostnames = ["127.0.0.1"]
    params.n_ctx = CONTEXT_TOKENS
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = arguments.threads
    params.sampling.temp = 0.0
    params.sampling.penalty_repeat = REPEAT_PENALTY
    params.warmup = False
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
