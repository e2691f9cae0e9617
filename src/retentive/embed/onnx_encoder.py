"""A sentence encoder in ONNX Runtime: texts in, unit vectors out.

Two kinds of graph are supported. One ends in the finished vector, as our rebuilt MiniLM does. The usual export ends in
one vector per token, which is pooled here, and mostly takes `token_type_ids`.

A graph that quantises activations (`DynamicQuantizeLinear`) has one scale for all texts of a batch, so that a text's
vector would depend on its neighbours (bge-small: cosine .994 to that of the text alone). Such a graph gets its texts
one by one.
"""

from __future__ import annotations

import mmap
import os
from typing import TYPE_CHECKING, Any

from retentive.embed.native_calls import native_calls
from retentive.embed.onnx_mapped_weights import map_weights
from retentive.embed.tokenizer import MAX_TOKENS, VOCABULARY, encode_text, load_tokenizer, measure_unknown_share
from retentive.errors import ModelUnfit
from retentive.frozen_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

DIMENSION = 384

# Tokens of one batch, padding included. Short chat turns on two threads, texts/s at 128/256/512/1024/2048 tokens:
# 367, 390, 410, 390, 300. Two texts of the full 256 tokens still fit.
_MAX_BATCH_TOKENS = 512

_MAX_THREADS = 4  # not measured: other programs need the processor, too
_KNOWN_INPUTS = {"input_ids", "attention_mask", "token_type_ids"}
_SPINNING_OPTIONS = ("session.intra_op.allow_spinning", "session.inter_op.allow_spinning")
_WEIGHTS_FOLDER_OPTION = "session.model_external_initializers_file_folder_path"
_LOG_FATAL_ONLY = 4  # the program's stdout may be a protocol


@dataclass(frozen=True, slots=True)
class EncoderOptions:
    """How texts become vectors. The defaults are those of all-MiniLM-L6-v2."""

    dimension: int | None = DIMENSION
    """None for the dimension that the graph has."""
    pooling: str = "mean"
    """How the vectors of tokens become one: `mean`, or `cls` for the first."""
    max_tokens: int = MAX_TOKENS


class OnnxEncoder:
    """A loaded graph. Safe to use from many threads at once."""

    def __init__(
        self,
        path: Path,
        *,
        vocabulary: Path | None = None,
        threads: int | None = None,
        options: EncoderOptions | None = None,
    ) -> None:
        from concurrent.futures import ThreadPoolExecutor

        self.path = path
        # Searching the file takes 9 ms; the graphs of MiniLM that are shipped and rebuilt are known not to quantise.
        is_one_by_one = options is not None and _quantises_activations(path)
        self._max_batch_tokens = 0 if is_one_by_one else _MAX_BATCH_TOKENS
        self._options = options = options or EncoderOptions()
        with native_calls.track(), ThreadPoolExecutor(1) as executor:  # 15 and 65 ms; neither needs the other
            tokenizer = executor.submit(load_tokenizer, vocabulary or VOCABULARY, options.max_tokens)
            self._session = open_session(path, threads or default_threads())
            self._tokenizer = tokenizer.result()
        self._inputs = {each.name for each in self._session.get_inputs()}
        if not self._inputs <= _KNOWN_INPUTS:
            raise ModelUnfit(f"{path.name} asks for {', '.join(sorted(self._inputs - _KNOWN_INPUTS))}.")
        self.dimension = options.dimension or self._run([encode_text(self._tokenizer, "a")]).shape[1]

    def measure_unknown_share(self, text: str) -> float:
        """Return the share of a text's word pieces that the model has never seen."""
        with native_calls.track():
            return measure_unknown_share(self._tokenizer, text)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        with native_calls.track():
            rows = [encode_text(self._tokenizer, text) for text in texts]
        vectors = np.empty((len(texts), self.dimension), np.float32)
        for batch in split_into_batches([len(row) for row in rows], self._max_batch_tokens):
            with native_calls.track():
                vectors[batch] = self._run([rows[index] for index in batch])
        return vectors

    def _run(self, rows: list[list[int]]) -> NDArray[np.float32]:
        import numpy as np

        ids = np.zeros((len(rows), max(map(len, rows))), np.int64)
        mask = np.zeros_like(ids)
        for index, row in enumerate(rows):
            ids[index, : len(row)] = row
            mask[index, : len(row)] = 1
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        try:
            output = self._session.run(None, {name: inputs[name] for name in self._inputs})[0]
        except list_driver_errors() as error:
            raise ModelUnfit(f"{self.path.name} cannot be run: {error}") from error
        return _pool_and_normalise(output, mask, self._options)


def default_threads() -> int:
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(_MAX_THREADS, usable)


def split_into_batches(lengths: Sequence[int], max_tokens: int = _MAX_BATCH_TOKENS) -> Iterator[list[int]]:
    """Yield the indices of texts of similar length, so that little is padded. A batch has at least one text."""
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[index] > max_tokens:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def import_onnxruntime() -> Any:
    """Import ONNX Runtime with its telemetry switched off: some builds report their users."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    return onnxruntime


def open_session(path: Path, threads: int) -> Any:
    onnxruntime = import_onnxruntime()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = _LOG_FATAL_ONLY
    options.intra_op_num_threads = threads
    # Threads that wait for work spin by default, also after the last text. A question took 20 ms of processor time that
    # way and takes 4.6; it is answered 0.2 ms later.
    for option in _SPINNING_OPTIONS:
        options.add_session_config_entry(option, "0")
    # The memory arena stays on: with batches this small it keeps little (125 MB after long texts, 182 after eight
    # threads at once), while without it the allocator is left with 131 and 275.
    # A link is read in the usual way: ONNX Runtime maps no weights from outside the configured folder.
    model = None if path.is_symlink() else map_weights(path)
    if model is not None:
        options.add_session_config_entry(_WEIGHTS_FOLDER_OPTION, str(path.parent))
    try:
        return onnxruntime.InferenceSession(model or str(path), options, providers=["CPUExecutionProvider"])
    except list_driver_errors() as error:
        raise ModelUnfit(f"{path.name} cannot be loaded: {error}") from error


def _quantises_activations(path: Path) -> bool:
    """Whether the operator's name is in the file. Names are stored as plain text, so no parser is needed."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return content.find(b"DynamicQuantizeLinear") >= 0


def _pool_and_normalise(output: Any, mask: NDArray[np.int64], options: EncoderOptions) -> NDArray[np.float32]:
    import numpy as np

    if output.ndim == 3 and options.pooling == "cls":  # noqa: PLR2004 - one vector per token
        output = output[:, 0, :]
    elif output.ndim == 3:  # noqa: PLR2004 - the sum has the direction of the mean; it is normalised below
        output = (mask[:, None, :].astype(np.float32) @ output)[:, 0, :]
    if output.shape != (len(mask), options.dimension or output.shape[-1]):
        raise ModelUnfit(f"The graph gives {output.shape[1:]} numbers a text, not {options.dimension}.")
    lengths = np.linalg.norm(output, axis=1, keepdims=True)
    if not (np.isfinite(lengths).all() and lengths.all()):
        raise ModelUnfit("The graph gives vectors without a direction.")
    vectors: NDArray[np.float32] = (output / lengths).astype(np.float32, copy=False)
    return vectors


def list_driver_errors() -> tuple[type[Exception], ...]:
    """List ONNX Runtime's exceptions, which have no base class of their own."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    names = ("EPFail", "Fail", "InvalidArgument", "InvalidGraph", "InvalidProtobuf", "NoModel", "NoSuchFile")
    return *(getattr(state, name) for name in (*names, "NotImplemented", "RuntimeException")), RuntimeError
