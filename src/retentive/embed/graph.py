"""A sentence encoder in ONNX Runtime: texts in, unit vectors out.

Two shapes of graph are understood: one that ends in the finished vector, as our rebuilt MiniLM does, and the usual
export, which ends in one vector per token and mostly takes `token_type_ids`; the latter is pooled here.

A graph that quantises what it computes (`DynamicQuantizeLinear`) has one scale for all texts of a run, so that a text's
vector would depend on its neighbours (bge-small: cosine .994 to that of the text alone). Such a graph gets its texts
one by one.
"""

from __future__ import annotations

import mmap
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from retentive.embed.mapped_weights import refer_to_weights
from retentive.embed.shutdown import calls
from retentive.embed.tokenizer import MAX_TOKENS, VOCABULARY, load_words, numbers_of, share_unknown
from retentive.errors import ModelUnfit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

DIMENSION = 384

# Tokens of one run, padding included. Short chat turns on two threads, texts/s at 128/256/512/1024/2048 tokens:
# 367, 390, 410, 390, 300. A text of the full 256 tokens still finds company.
_BATCH_TOKENS = 512

_MAX_THREADS = 4  # a guess at good manners, not a measurement: a memory is a guest on the machine
_INPUTS = {"input_ids", "attention_mask", "token_type_ids"}
_NO_SPINNING = ("session.intra_op.allow_spinning", "session.inter_op.allow_spinning")
_WEIGHTS_FOLDER = "session.model_external_initializers_file_folder_path"
_SILENT = 4  # fatal only: the program's stdout may be a protocol


@dataclass(frozen=True, slots=True)
class Reading:
    """How a graph's texts are read, and its vectors made. The default is that of all-MiniLM-L6-v2."""

    dimension: int | None = DIMENSION
    """None: whatever the graph gives."""
    pooling: str = "mean"
    """Of one vector per token: their `mean`, or the first, `cls`."""
    max_tokens: int = MAX_TOKENS


class Graph:
    """Loaded, and safe to use from many threads at once."""

    def __init__(
        self, path: Path, *, vocabulary: Path | None = None, threads: int | None = None, reading: Reading | None = None
    ) -> None:
        from concurrent.futures import ThreadPoolExecutor

        self.path = path
        # Looking through the file takes 9 ms; the graphs of MiniLM that are shipped and rebuilt are known not to.
        self._batch_tokens = 0 if reading and _quantises_runs(path) else _BATCH_TOKENS
        self._reading = reading = reading or Reading()
        with calls.one(), ThreadPoolExecutor(1) as aside:  # the two take 15 and 65 ms, and neither needs the other
            words = aside.submit(load_words, vocabulary or VOCABULARY, reading.max_tokens)
            self._session = open_session(path, threads or default_threads())
            self._words = words.result()
        self._inputs = {given.name for given in self._session.get_inputs()}
        if not self._inputs <= _INPUTS:
            raise ModelUnfit(f"{path.name} asks for {', '.join(sorted(self._inputs - _INPUTS))}.")
        self.dimension = reading.dimension or self._run([numbers_of(self._words, "a")]).shape[1]

    def unknown(self, text: str) -> float:
        """The share of a text's word pieces that the model has never seen."""
        with calls.one():
            return share_unknown(self._words, text)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        with calls.one():
            numbers = [numbers_of(self._words, text) for text in texts]
        vectors = np.empty((len(texts), self.dimension), np.float32)
        for batch in batches([len(row) for row in numbers], self._batch_tokens):
            with calls.one():
                vectors[batch] = self._run([numbers[place] for place in batch])
        return vectors

    def _run(self, rows: list[list[int]]) -> NDArray[np.float32]:
        import numpy as np

        ids = np.zeros((len(rows), max(map(len, rows))), np.int64)
        mask = np.zeros_like(ids)
        for place, row in enumerate(rows):
            ids[place, : len(row)] = row
            mask[place, : len(row)] = 1
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        try:
            output = self._session.run(None, {name: given[name] for name in self._inputs})[0]
        except driver_errors() as error:
            raise ModelUnfit(f"{self.path.name} cannot be run: {error}") from error
        return _finished(output, mask, self._reading)


def default_threads() -> int:
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(_MAX_THREADS, usable)


def batches(lengths: Sequence[int], tokens: int = _BATCH_TOKENS) -> Iterator[list[int]]:
    """Places of texts of similar length, so that little is padded; at most so many tokens, but one text always."""
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[place] > tokens:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def runtime() -> Any:
    """ONNX Runtime, told before it is loaded to keep to itself: some builds count their users and report them."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    return onnxruntime


def open_session(path: Path, threads: int) -> Any:
    onnxruntime = runtime()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = _SILENT
    options.intra_op_num_threads = threads
    # Threads that wait for work spin by default, also after the last text. A question took 20 ms of processor time that
    # way and takes 4.6; it is answered 0.2 ms later.
    for option in _NO_SPINNING:
        options.add_session_config_entry(option, "0")
    # The memory arena stays on: with batches this small it keeps little (125 MB after long texts, 182 after eight
    # threads at once), while without it the allocator is left with 131 and 275.
    # A link is read in the usual way: ONNX Runtime maps no weights from outside the folder it is told of.
    model = None if path.is_symlink() else refer_to_weights(path)
    if model is not None:
        options.add_session_config_entry(_WEIGHTS_FOLDER, str(path.parent))
    try:
        return onnxruntime.InferenceSession(model or str(path), options, providers=["CPUExecutionProvider"])
    except driver_errors() as error:
        raise ModelUnfit(f"{path.name} cannot be loaded: {error}") from error


def _quantises_runs(path: Path) -> bool:
    """Whether the operator's name is in the file. Names stand there as they are: no parser is needed."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return content.find(b"DynamicQuantizeLinear") >= 0


def _finished(output: Any, mask: NDArray[np.int64], reading: Reading) -> NDArray[np.float32]:
    import numpy as np

    if output.ndim == 3 and reading.pooling == "cls":  # noqa: PLR2004 - one vector per token
        output = output[:, 0, :]
    elif output.ndim == 3:  # noqa: PLR2004 - the sum has the direction of the mean; its length is taken away below
        output = (mask[:, None, :].astype(np.float32) @ output)[:, 0, :]
    if output.shape != (len(mask), reading.dimension or output.shape[-1]):
        raise ModelUnfit(f"The graph gives {output.shape[1:]} numbers a text, not {reading.dimension}.")
    lengths = np.linalg.norm(output, axis=1, keepdims=True)
    if not (np.isfinite(lengths).all() and lengths.all()):
        raise ModelUnfit("The graph gives vectors without a direction.")
    vectors: NDArray[np.float32] = (output / lengths).astype(np.float32, copy=False)
    return vectors


def driver_errors() -> tuple[type[Exception], ...]:
    """ONNX Runtime's exceptions have no common ancestor of their own."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    names = ("EPFail", "Fail", "InvalidArgument", "InvalidGraph", "InvalidProtobuf", "NoModel", "NoSuchFile")
    return *(getattr(state, name) for name in (*names, "NotImplemented", "RuntimeException")), RuntimeError
