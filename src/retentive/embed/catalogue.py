"""The embedding models that are known by name, and their files.

Every file is pinned by its repository on the Hugging Face hub, a revision, its size and its SHA-256. The hashes are
those that the hub publishes for these revisions. The threshold and spread of a model's cosines were measured with
300 questions and 1,000 turns of LoCoMo, in eight bits:

    min_similarity   the cosine that 5 % of unrelated pairs reach, as they reach .35 with all-MiniLM-L6-v2
    spread           the standard deviation of the cosines of questions and unrelated texts
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from retentive.frozen_dataclass import dataclass
from retentive.model import Space

if TYPE_CHECKING:
    from collections.abc import Mapping

INT8, FLOAT32 = "int8", "float32"
PRECISIONS = (INT8, FLOAT32)
HUB = "https://huggingface.co"
_SEARCH_PREFIX = "Represent this sentence for searching relevant passages: "


@dataclass(frozen=True, slots=True)
class HubFile:
    """A file on the hub, and its name in the cache folder."""

    name: str
    repository: str
    revision: str
    path: str
    size: int
    sha256: str

    @property
    def address(self) -> str:
        """The path below the address of the hub, or of a mirror."""
        return f"{self.repository}/resolve/{self.revision}/{self.path}"


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    name: str
    summary: str
    licence: str
    space: Space
    aliases: tuple[str, ...] = ()
    languages: str = "English"
    graphs: Mapping[str, HubFile] | None = None
    """The weights for each precision; None if vectors are computed from the words alone."""
    tokenizer: HubFile | None = None
    """None for the vocabulary that comes with Retentive."""
    is_static: bool = False
    """Whether the weights are a table of vectors, not a network."""
    pooling: str = "mean"
    query_prefix: str = ""
    document_prefix: str = ""
    max_tokens: int = 512

    @property
    def precisions(self) -> tuple[str, ...]:
        return tuple(self.graphs or ())

    def choose_precision(self, wanted: str) -> str:
        """Return the wanted precision if the model has it, else the only one it has."""
        return wanted if wanted in self.precisions else next(iter(self.precisions), "")

    def list_files(self, precision: str) -> tuple[HubFile, ...]:
        if not self.graphs:
            return ()
        graph = self.graphs[self.choose_precision(precision)]
        return (graph, self.tokenizer) if self.tokenizer else (graph,)


def _pin_file(name: str, source: str, path: str, size: int, sha256: str) -> HubFile:
    repository, _, revision = source.partition("@")
    return HubFile(name, repository, revision, path, size, sha256)


_MINILM = "sentence-transformers/all-MiniLM-L6-v2@1110a243fdf4706b3f48f1d95db1a4f5529b4d41"
_BGE = "BAAI/bge-small-en-v1.5@5c38ec7c405ec4b44b94cc5a9bb96e735b38267a"
_BGE_INT8 = "Xenova/bge-small-en-v1.5@ea104dacec62c0de699686887e3f920caeb4f3e3"
_ARCTIC = "Snowflake/snowflake-arctic-embed-s@e596f507467533e48a2e17c007f0e1dacc837b33"
_E5 = "intfloat/multilingual-e5-small@614241f622f53c4eeff9890bdc4f31cfecc418b3"
_E5_INT8 = "Xenova/multilingual-e5-small@761b726dd34fb83930e26aab4e9ac3899aa1fa78"
_POTION = "minishlab/potion-base-8M@bf8b056651a2c21b8d2565580b8569da283cab23"

# The float file is what is fetched for both precisions: eight bits are rebuilt from it, or from the installed package.
_MINILM_GRAPH = _pin_file(
    "all-MiniLM-L6-v2.onnx",
    _MINILM,
    "onnx/model.onnx",
    90_405_214,
    "6fd5d72fe4589f189f8ebc006442dbb529bb7ce38f8082112682524616046452",
)

MINILM = CatalogueEntry(
    name="all-MiniLM-L6-v2",
    aliases=("minilm",),
    summary="fast, small, good at everything",
    licence="Apache-2.0",
    space=Space("all-MiniLM-L6-v2", 384, 0.35, 0.11),
    graphs={INT8: _MINILM_GRAPH, FLOAT32: _MINILM_GRAPH},
    max_tokens=256,
)
BGE = CatalogueEntry(
    name="bge-small-en-v1.5",
    summary="better at dialogue, 1.5x the work",
    licence="MIT",
    space=Space("bge-small-en-v1.5@5c38ec7", 384, 0.57, 0.07),
    graphs={
        INT8: _pin_file(
            "bge-small-en-v1.5-int8.onnx",
            _BGE_INT8,
            "onnx/model_quantized.onnx",
            34_014_426,
            "6c9c6101a956d62dfb5e7190c538226c0c5bb9cb27b651234b6df063ee7dbfe4",
        ),
        FLOAT32: _pin_file(
            "bge-small-en-v1.5-float32.onnx",
            _BGE,
            "onnx/model.onnx",
            133_093_490,
            "828e1496d7fabb79cfa4dcd84fa38625c0d3d21da474a00f08db0f559940cf35",
        ),
    },
    tokenizer=_pin_file(
        "bge-small-en-v1.5-tokenizer.json",
        _BGE_INT8,
        "tokenizer.json",
        711_396,
        "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
    ),
    pooling="cls",
    query_prefix=_SEARCH_PREFIX,
)
ARCTIC = CatalogueEntry(
    name="snowflake-arctic-embed-s",
    summary="better at chats, 1.5x the work",
    licence="Apache-2.0",
    space=Space("snowflake-arctic-embed-s@e596f50", 384, 0.62, 0.05),
    graphs={
        INT8: _pin_file(
            "snowflake-arctic-embed-s-int8.onnx",
            _ARCTIC,
            "onnx/model_int8.onnx",
            34_015_111,
            "f93ff225320628d2e88baf2a395cae791b0e3b27edf5c70bf7b312a4d3260c14",
        ),
        FLOAT32: _pin_file(
            "snowflake-arctic-embed-s-float32.onnx",
            _ARCTIC,
            "onnx/model.onnx",
            133_093_492,
            "579c1f1778a0993eb0d2a1403340ffb491c769247fb46acc4f5cf8ac5b89c1e1",
        ),
    },
    tokenizer=_pin_file(
        "snowflake-arctic-embed-s-tokenizer.json",
        _ARCTIC,
        "tokenizer.json",
        711_649,
        "91f1def9b9391fdabe028cd3f3fcc4efd34e5d1f08c3bf2de513ebb5911a1854",
    ),
    pooling="cls",
    query_prefix=_SEARCH_PREFIX,
)
E5 = CatalogueEntry(
    name="multilingual-e5-small",
    summary="a hundred languages, freely mixed",
    licence="MIT",
    languages="100",
    # Not measured here: by its model card, cosines lie between .7 and 1.
    space=Space("multilingual-e5-small@614241f", 384, 0.83, 0.03),
    graphs={
        INT8: _pin_file(
            "multilingual-e5-small-int8.onnx",
            _E5_INT8,
            "onnx/model_quantized.onnx",
            118_308_185,
            "f80102d3f2a1229f387d3c81909990d8945513e347b0eab049f7de3c6f98c193",
        ),
        FLOAT32: _pin_file(
            "multilingual-e5-small-float32.onnx",
            _E5,
            "onnx/model.onnx",
            470_268_510,
            "ca456c06b3a9505ddfd9131408916dd79290368331e7d76bb621f1cba6bc8665",
        ),
    },
    tokenizer=_pin_file(
        "multilingual-e5-small-tokenizer.json",
        _E5_INT8,
        "tokenizer.json",
        17_082_730,
        "0b44a9d7b51c3c62626640cda0e2c2f70fdacdc25bbbd68038369d14ebdf4c39",
    ),
    query_prefix="query: ",
    document_prefix="passage: ",
)
POTION = CatalogueEntry(
    name="potion-base-8M",
    aliases=("fast",),
    summary="100 times less work, weaker on facts",
    licence="MIT",
    space=Space("potion-base-8M@bf8b056", 256, 0.36, 0.11),
    graphs={
        FLOAT32: _pin_file(
            "potion-base-8M.safetensors",
            _POTION,
            "model.safetensors",
            30_236_760,
            "f65d0f325faadc1e121c319e2faa41170d3fa07d8c89abd48ca5358d9a223de2",
        ),
    },
    tokenizer=_pin_file(
        "potion-base-8M-tokenizer.json",
        _POTION,
        "tokenizer.json",
        683_666,
        "e67e803f624fb4d67dea1c730d06e1067e1b14d830e2c2202569e3ef0f70bb50",
    ),
    is_static=True,
)
HASHING = CatalogueEntry(
    name="hashing",
    summary="no model: shared words and spelling",
    licence="Apache-2.0",
    languages="any",
    # 788 questions of LoCoMo: 34 % of the turns that answer them are above this, and 8 % of random turns.
    # Its cosines are spread by .08. They tell of the same words that keyword search weighs, so they get no more weight.
    space=Space("hashing-384", 384, 0.2, 0.11),
)

CATALOGUE = (MINILM, BGE, ARCTIC, E5, POTION, HASHING)


def find_entry(name: str) -> CatalogueEntry | None:
    """Find the entry of this name or alias, ignoring case."""
    wanted = name.casefold()
    return next((entry for entry in CATALOGUE if wanted in map(str.casefold, (entry.name, *entry.aliases))), None)
