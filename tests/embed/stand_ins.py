"""Small weights in the shape of models that no package carries."""

from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from retentive.embed.catalogue import E5, INT8, CatalogueEntry, HubFile

_LETTERS = "abcdefghijklmnopqrstuvwxyzäöüßéèñ0123456789.,?!'-"
_WORDS = ("▁the", "▁dog", "▁Hund", "▁perro", "▁is", "▁where", "▁wo", "▁ist", "▁key", "▁fact", "▁about", "▁number")


def pin(file: HubFile, content: bytes) -> HubFile:
    """The file with the size and hash of what stands in for it."""
    return replace(file, size=len(content), sha256=sha256(content).hexdigest())


def make_e5() -> tuple[CatalogueEntry, dict[str, bytes]]:
    """multilingual-e5-small with a table for a network, and the contents of its files by their names."""
    assert E5.graphs
    assert E5.tokenizer
    words = make_unigram()
    graph = make_graph(words.get_vocab_size(), E5.space.dimension)
    files = {E5.graphs[INT8].name: graph, E5.tokenizer.name: words.to_str().encode()}
    pinned = {INT8: pin(E5.graphs[INT8], graph)}
    return replace(E5, graphs=pinned, tokenizer=pin(E5.tokenizer, files[E5.tokenizer.name])), files


def make_unigram() -> Tokenizer:
    """A tokenizer as XLM-RoBERTa has it: other marks than BERT's, pieces with probabilities."""
    marks = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)]
    pieces = [*marks, ("▁", -3.0), *((word, -1.0) for word in _WORDS), *((letter, -4.0) for letter in _LETTERS)]
    words = Tokenizer(models.Unigram(pieces, unk_id=3))
    words.pre_tokenizer = pre_tokenizers.Metaspace()
    words.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    words.enable_padding(pad_id=1, pad_token="<pad>")  # noqa: S106 - as exports have it, which must not matter
    return words


def make_graph(pieces: int, dimension: int) -> bytes:
    """One vector per token, from a table; three inputs, as exports have them."""
    table = np.random.default_rng(7).standard_normal((pieces, dimension)).astype(np.float32)
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"])
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    output = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["texts", "tokens", dimension])
    node = helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])
    graph = helper.make_graph([node], "stand-in", inputs, [output], [numpy_helper.from_array(table, "table")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    content: bytes = model.SerializeToString()
    return content


def write_folder(folder: Path, *, dimension: int = 48, tokenizer: bool = True) -> Path:
    """A folder of one's own that has only what it must have."""
    folder.mkdir(parents=True)
    words = make_unigram()
    (folder / "model.onnx").write_bytes(make_graph(words.get_vocab_size(), dimension))
    if tokenizer:
        (folder / "tokenizer.json").write_text(words.to_str(), "utf-8")
    return folder
