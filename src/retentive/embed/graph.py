"""A graph of all-MiniLM-L6-v2 in ONNX Runtime: texts in, unit vectors out.

Two shapes of graph are understood: our rebuilt one, which ends in the finished vector, and the usual export, which
ends in one vector per token and takes `token_type_ids`; the latter is pooled here.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from retentive.embed.mapped_weights import refer_to_weights
from retentive.embed.native import calls
from retentive.embed.words import VOCABULARY, load_words, numbers_of
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


class Graph:
    """Loaded, and safe to use from many threads at once."""

    def __init__(self, path: Path, *, vocabulary: Path | None = None, threads: int | None = None) -> None:
        from concurrent.futures import ThreadPoolExecutor

        self.path = path
        with calls.one(), ThreadPoolExecutor(1) as aside:  # the two take 15 and 65 ms, and neither needs the other
            words = aside.submit(load_words, vocabulary or VOCABULARY)
            self._session = open_session(path, threads or default_threads())
            self._words = words.result()
        self._inputs = {given.name for given in self._session.get_inputs()}
        if not self._inputs <= _INPUTS:
            raise ModelUnfit(f"{path.name} asks for {', '.join(sorted(self._inputs - _INPUTS))}.")

    def unknown(self, text: str) -> float:
        """The share of a text's word pieces that the model has never seen."""
        with calls.one():
            numbers, unknown = numbers_of(self._words, text)[1:-1], self._words.token_to_id("[UNK]")
        return sum(number == unknown for number in numbers) / len(numbers) if numbers else 1.0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        with calls.one():
            numbers = [numbers_of(self._words, text) for text in texts]
        vectors = np.empty((len(texts), DIMENSION), np.float32)
        for batch in batches([len(row) for row in numbers]):
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
        return _finished(output, mask)


def default_threads() -> int:
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(_MAX_THREADS, usable)


def batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Places of texts of similar length, so that little is padded."""
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[place] > _BATCH_TOKENS:
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
    model = refer_to_weights(path)
    if model is not None:
        options.add_session_config_entry(_WEIGHTS_FOLDER, str(path.parent))
    try:
        return onnxruntime.InferenceSession(model or str(path), options, providers=["CPUExecutionProvider"])
    except driver_errors() as error:
        raise ModelUnfit(f"{path.name} cannot be loaded: {error}") from error


def _finished(output: Any, mask: NDArray[np.int64]) -> NDArray[np.float32]:
    import numpy as np

    if output.ndim == 3:  # noqa: PLR2004 - one vector per token: their mean, whose length is taken away below
        output = (mask[:, None, :].astype(np.float32) @ output)[:, 0, :]
    if output.shape != (len(mask), DIMENSION):
        raise ModelUnfit(f"The graph gives {output.shape[1:]} numbers a text, not {DIMENSION}.")
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
