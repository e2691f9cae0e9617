"""A cross-encoder in ONNX Runtime: question and text in one sequence, one number out.

The folder has `model.onnx` and `tokenizer.json`, as they are exported for `sentence-transformers`. If the model has two
outputs for a pair (no, yes), their difference counts.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

from retentive.embed.native_calls import native_calls
from retentive.embed.onnx_encoder import default_threads, list_driver_errors, open_session
from retentive.errors import EmbedError, RerankError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

MAX_TOKENS = 256  # of question and text together; the text is cut
BATCH_SIZE = 8  # texts between two checks of the time limit


class CrossEncoder:
    """A `Reranker` by a local model."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._loaded: tuple[Any, Any, set[str]] | None = None

    def score(self, question: str, texts: Sequence[str], seconds: float) -> list[float]:
        until = time.monotonic() + seconds
        session, tokenizer, inputs = self._load()
        scores: list[float] = []
        for at in range(0, len(texts), BATCH_SIZE):
            if time.monotonic() > until:
                raise RerankError(f"the model took longer than {seconds:g} s for {len(texts)} texts")
            scores += _run(session, tokenizer, inputs, [(question, text) for text in texts[at : at + BATCH_SIZE]])
        return scores

    def close(self) -> None:
        self._loaded = None

    def _load(self) -> tuple[Any, Any, set[str]]:
        with self._lock:
            if self._loaded is None:
                self._loaded = self._open()
            return self._loaded

    def _open(self) -> tuple[Any, Any, set[str]]:
        from tokenizers import Tokenizer

        model, words = self._folder / "model.onnx", self._folder / "tokenizer.json"
        for path in (model, words):
            if not path.is_file():
                raise RerankError(f"there is no file {path}")
        try:
            session = open_session(model, default_threads())
            tokenizer = Tokenizer.from_file(str(words))
        except EmbedError as error:
            raise RerankError(str(error)) from error
        except Exception as error:  # tokenizers raises nothing narrower
            raise RerankError(f"{words} cannot be read: {error}") from error
        tokenizer.enable_truncation(MAX_TOKENS, strategy="only_second")
        tokenizer.enable_padding()
        return session, tokenizer, {given.name for given in session.get_inputs()}


def _run(session: Any, tokenizer: Any, inputs: set[str], pairs: list[tuple[str, str]]) -> list[float]:
    import numpy as np

    with native_calls.track():
        encoded = [tokenizer.encode(*pair) for pair in pairs]
        longest = max(len(each.ids) for each in encoded)
        for each in encoded:
            each.pad(longest)
        columns = {
            "input_ids": [each.ids for each in encoded],
            "attention_mask": [each.attention_mask for each in encoded],
            "token_type_ids": [each.type_ids for each in encoded],
        }
        given = {name: np.array(rows, np.int64) for name, rows in columns.items() if name in inputs}
        try:
            (output, *_) = session.run(None, given)
        except list_driver_errors() as error:
            raise RerankError(f"the model cannot be run: {error}") from error
    rows = np.asarray(output, np.float64).reshape(len(pairs), -1)
    return [float(row[-1] - row[0]) if len(row) > 1 else float(row[0]) for row in rows]
