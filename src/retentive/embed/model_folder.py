"""Reads the folder of a user's own model.

    weights     an ONNX file (`model.onnx`, or in `onnx/`), or `model.safetensors` with a table of vectors
    tokenizer   `tokenizer.json`, or `vocab.txt` of BERT
    pooling     `1_Pooling/config.json`, as sentence-transformers writes it; unless it is given
    prefixes    `config_sentence_transformers.json`, its prompts `query`, and `document` or `passage`
    length      `sentence_bert_config.json`, else `tokenizer_config.json`; at most 512 tokens are read

Only the weights and the tokenizer are required.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from retentive.embed.catalogue import INT8
from retentive.embed.onnx_encoder import EncoderOptions
from retentive.errors import Invalid, ModelMissing, ModelUnfit
from retentive.frozen_dataclass import dataclass
from retentive.fs.regular_files import read_regular

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

AUTO, MEAN, CLS = "auto", "mean", "cls"
POOLINGS = (AUTO, MEAN, CLS)
_MAX_TOKENS = 512  # chunks have at most 640 characters, so more is never needed
_MAX_CONFIG_BYTES = 1_000_000
_QUANTISED_NAMES = ("model_quantized.onnx", "model_int8.onnx", "model_qint8.onnx", "model_uint8.onnx")
_FLOAT_NAMES = ("model.onnx",)
_TABLE_NAME = "model.safetensors"
_CONTENTS_HINT = "A folder needs model.onnx and tokenizer.json (or vocab.txt); an .onnx file, a tokenizer beside it."


@dataclass(frozen=True, slots=True)
class ModelFiles:
    weights: Path
    tokenizer: Path
    options: EncoderOptions
    is_pooling_known: bool
    query_prefix: str = ""
    document_prefix: str = ""
    data: tuple[Path, ...] = ()
    """The files in which a large graph keeps its weights."""

    @property
    def is_static(self) -> bool:
        return self.weights.suffix == ".safetensors"

    @property
    def paths(self) -> tuple[Path, ...]:
        return self.weights, self.tokenizer, *self.data


def read_model_folder(path: Path, precision: str, pooling: str = AUTO) -> ModelFiles:
    """Read a folder. Raises `ModelMissing` if it has no model, `ModelUnfit` if the model cannot be used."""
    try:
        weights = _find_weights(path, precision)
        folders = _list_folders(path, weights)
        tokenizer = next(_find_files(folders, "tokenizer.json", "vocab.txt"), None)
    except OSError as error:
        raise ModelMissing(f"{path}: {error.strerror or error}", _CONTENTS_HINT) from error
    if tokenizer is None:
        raise ModelMissing(f"There is no tokenizer beside {weights}.", _CONTENTS_HINT)
    declared_pooling = _read_pooling(folders)
    if pooling == AUTO:
        is_pooling_known, pooling = bool(declared_pooling), declared_pooling or MEAN
    else:
        is_pooling_known = True
    prompts = _read_prompts(folders)
    return ModelFiles(
        weights,
        tokenizer,
        EncoderOptions(_read_dimension(folders), pooling, _read_max_tokens(folders)),
        is_pooling_known=is_pooling_known,
        query_prefix=prompts.get("query", ""),
        document_prefix=prompts.get("document", "") or prompts.get("passage", ""),
        data=tuple(_find_files([weights.parent], f"{weights.name}_data", f"{weights.name}.data")),
    )


def _find_weights(path: Path, precision: str) -> Path:
    if path.is_file():
        return path
    if not path.is_dir():
        raise ModelMissing(f"There is no model at {path}.", _CONTENTS_HINT)
    names = (*_QUANTISED_NAMES, *_FLOAT_NAMES) if precision == INT8 else (*_FLOAT_NAMES, *_QUANTISED_NAMES)
    for name in names:
        for folder in (path, path / "onnx"):
            if (folder / name).is_file():
                return folder / name
    others = sorted((*path.glob("*.onnx"), *path.glob("onnx/*.onnx")))
    if len(others) > 1:
        listed = ", ".join(other.name for other in others)
        raise ModelUnfit(f"{path} has several models: {listed}.", "Set the embedder to the path of one of them.")
    if not others and (path / _TABLE_NAME).is_file():
        return path / _TABLE_NAME
    if not others:
        raise ModelMissing(f"There is no model in {path}.", _CONTENTS_HINT)
    return others[0]


def _list_folders(path: Path, weights: Path) -> list[Path]:
    """List the folders that may hold the other files: that of the weights, and the one above it if it is `onnx/`."""
    above = [weights.parent.parent] if weights.parent.name == "onnx" else []
    return [path, *above] if path.is_dir() else [weights.parent, *above]


def _find_files(folders: list[Path], *names: str) -> Iterator[Path]:
    return (folder / name for name in names for folder in folders if (folder / name).is_file())


def _read_json(folders: list[Path], name: str) -> dict[str, Any]:
    path = next(_find_files(folders, name), None)
    if path is None:
        return {}
    try:
        content = json.loads(read_regular(path, _MAX_CONFIG_BYTES))
    except (OSError, ValueError, RecursionError, Invalid) as error:
        raise ModelUnfit(f"{path} cannot be read: {error}") from error
    if not isinstance(content, dict):
        raise ModelUnfit(f"{path} is not a JSON object.")
    return content


def _read_pooling(folders: list[Path]) -> str:
    """Return the declared pooling; "" if none is declared."""
    config = _read_json(folders, "1_Pooling/config.json")
    modes = [name for name, value in config.items() if name.startswith("pooling_mode_") and value is True]
    match modes:
        case []:
            return ""
        case ["pooling_mode_cls_token"]:
            return CLS
        case ["pooling_mode_mean_tokens"]:
            return MEAN
        case _:
            raise ModelUnfit(f"The model's pooling is {', '.join(modes)}, which is not supported: use mean or cls.")


def _read_dimension(folders: list[Path]) -> int | None:
    for name, key in (("1_Pooling/config.json", "word_embedding_dimension"), ("config.json", "hidden_size")):
        value = _read_json(folders, name).get(key)
        if isinstance(value, int) and value > 0:
            return value
    return None


def _read_max_tokens(folders: list[Path]) -> int:
    names = (("sentence_bert_config.json", "max_seq_length"), ("tokenizer_config.json", "model_max_length"))
    for name, key in names:
        value = _read_json(folders, name).get(key)
        if isinstance(value, int) and value > 0:
            return min(value, _MAX_TOKENS)
    return _MAX_TOKENS


def _read_prompts(folders: list[Path]) -> dict[str, str]:
    prompts = _read_json(folders, "config_sentence_transformers.json").get("prompts")
    if not isinstance(prompts, dict):
        return {}
    return {name: text for name, text in prompts.items() if isinstance(text, str)}
