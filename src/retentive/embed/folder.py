"""What is in a folder that holds a model of one's own?

    weights     an ONNX file (`model.onnx`, or in `onnx/`), or `model.safetensors` with a table of vectors
    tokenizer   `tokenizer.json`, or `vocab.txt` of BERT
    pooling     `1_Pooling/config.json`, as sentence-transformers writes it; unless it is given
    prefixes    `config_sentence_transformers.json`, its prompts `query`, and `document` or `passage`
    length      `sentence_bert_config.json`, else `tokenizer_config.json`; at most 512 tokens are read

Only the weights and the tokenizer must be there.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from retentive.embed.catalogue import INT8
from retentive.embed.graph import Reading
from retentive.errors import Invalid, ModelMissing, ModelUnfit
from retentive.fs.regular_files import read_regular

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

AUTO, MEAN, CLS = "auto", "mean", "cls"
POOLINGS = (AUTO, MEAN, CLS)
_MAX_TOKENS = 512  # our texts are cut into slices of 640 characters; more is never seen
_MAX_CONFIG = 1_000_000  # bytes
_QUANTISED = ("model_quantized.onnx", "model_int8.onnx", "model_qint8.onnx", "model_uint8.onnx")
_FLOAT = ("model.onnx",)
_TABLE = "model.safetensors"
_HINT = "A folder needs model.onnx and tokenizer.json (or vocab.txt); an .onnx file, a tokenizer beside it."


@dataclass(frozen=True, slots=True)
class Contents:
    weights: Path
    tokenizer: Path
    reading: Reading
    is_pooling_known: bool
    query_prefix: str = ""
    document_prefix: str = ""
    data: tuple[Path, ...] = ()
    """Where a large graph keeps its weights."""

    @property
    def is_static(self) -> bool:
        return self.weights.suffix == ".safetensors"

    @property
    def files(self) -> tuple[Path, ...]:
        return self.weights, self.tokenizer, *self.data


def read_folder(path: Path, precision: str, pooling: str = AUTO) -> Contents:
    """`ModelMissing`: there is none. `ModelUnfit`: there is one that cannot be used."""
    try:
        weights = _find_weights(path, precision)
        folders = _list_folders(path, weights)
        tokenizer = next(_find(folders, "tokenizer.json", "vocab.txt"), None)
    except OSError as error:
        raise ModelMissing(f"{path}: {error.strerror or error}", _HINT) from error
    if tokenizer is None:
        raise ModelMissing(f"There is no tokenizer beside {weights}.", _HINT)
    found = _read_pooling(folders)
    prompts = _read_prompts(folders)
    return Contents(
        weights,
        tokenizer,
        Reading(_read_dimension(folders), found or MEAN if pooling == AUTO else pooling, _read_length(folders)),
        is_pooling_known=bool(found) or pooling != AUTO,
        query_prefix=prompts.get("query", ""),
        document_prefix=prompts.get("document", "") or prompts.get("passage", ""),
        data=tuple(_find([weights.parent], f"{weights.name}_data", f"{weights.name}.data")),
    )


def _find_weights(path: Path, precision: str) -> Path:
    if path.is_file():
        return path
    if not path.is_dir():
        raise ModelMissing(f"There is no model at {path}.", _HINT)
    names = (*_QUANTISED, *_FLOAT) if precision == INT8 else (*_FLOAT, *_QUANTISED)
    for name in names:
        for folder in (path, path / "onnx"):
            if (folder / name).is_file():
                return folder / name
    others = sorted((*path.glob("*.onnx"), *path.glob("onnx/*.onnx")))
    if len(others) > 1:
        named = ", ".join(other.name for other in others)
        raise ModelUnfit(f"{path} has several models: {named}.", "Set the embedder to the path of one of them.")
    if not others and (path / _TABLE).is_file():
        return path / _TABLE
    if not others:
        raise ModelMissing(f"There is no model in {path}.", _HINT)
    return others[0]


def _list_folders(path: Path, weights: Path) -> list[Path]:
    """Where the other files may be: beside the weights, and above them if these are in `onnx/`."""
    above = [weights.parent.parent] if weights.parent.name == "onnx" else []
    return [path, *above] if path.is_dir() else [weights.parent, *above]


def _find(folders: list[Path], *names: str) -> Iterator[Path]:
    return (folder / name for name in names for folder in folders if (folder / name).is_file())


def _read_json(folders: list[Path], name: str) -> dict[str, Any]:
    path = next(_find(folders, name), None)
    if path is None:
        return {}
    try:
        found = json.loads(read_regular(path, _MAX_CONFIG))
    except (OSError, ValueError, RecursionError, Invalid) as error:
        raise ModelUnfit(f"{path} cannot be read: {error}") from error
    if not isinstance(found, dict):
        raise ModelUnfit(f"{path} is not an object.")
    return found


def _read_pooling(folders: list[Path]) -> str:
    modes = _read_json(folders, "1_Pooling/config.json")
    chosen = [name for name, value in modes.items() if name.startswith("pooling_mode_") and value is True]
    match chosen:
        case []:
            return ""
        case ["pooling_mode_cls_token"]:
            return CLS
        case ["pooling_mode_mean_tokens"]:
            return MEAN
        case _:
            raise ModelUnfit(f"The model's pooling is {', '.join(chosen)}, which is not known here.")


def _read_dimension(folders: list[Path]) -> int | None:
    for name, key in (("1_Pooling/config.json", "word_embedding_dimension"), ("config.json", "hidden_size")):
        value = _read_json(folders, name).get(key)
        if isinstance(value, int) and value > 0:
            return value
    return None


def _read_length(folders: list[Path]) -> int:
    names = (("sentence_bert_config.json", "max_seq_length"), ("tokenizer_config.json", "model_max_length"))
    for name, key in names:
        value = _read_json(folders, name).get(key)
        if isinstance(value, int) and value > 0:
            return min(value, _MAX_TOKENS)
    return _MAX_TOKENS


def _read_prompts(folders: list[Path]) -> dict[str, str]:
    found = _read_json(folders, "config_sentence_transformers.json").get("prompts")
    if not isinstance(found, dict):
        return {}
    return {name: text for name, text in found.items() if isinstance(text, str)}
