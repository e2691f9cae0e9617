from pathlib import Path

import pytest

from retentive.embed.tokenizer import load_tokenizer
from retentive.errors import BadConfig, MissingExtra
from retentive.text.token_counters import open_counter
from retentive.text.token_estimate import estimate_tokens


@pytest.fixture
def tokenizer(tmp_path: Path) -> Path:
    """A real one, saved as models come: cut at 256, padded, with [CLS] and [SEP] around."""
    words = load_tokenizer()
    words.enable_padding(length=64)
    words.save(str(tmp_path / "tokenizer.json"))
    return tmp_path / "tokenizer.json"


def test_the_estimate_needs_nothing() -> None:
    """`estimate` is the function of `text`."""
    assert open_counter("estimate") is estimate_tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("hello world", 2),  # neither padded nor framed
        ("hello " * 1000, 1000),  # not cut
        ("\ud83d", 1),  # half a pair is counted, not refused
    ],
)
def test_a_tokenizer_file_counts_all_and_nothing_else(tokenizer: Path, text: str, expected: int) -> None:
    """As many as the text has, whatever the file says about cutting and padding."""
    assert open_counter(str(tokenizer))(text) == expected


@pytest.mark.parametrize("content", [None, b"", b"{}", b"\xff\xfe", b'{"model": 7}'])
def test_a_file_that_is_no_tokenizer_is_a_bad_setting(tmp_path: Path, content: bytes | None) -> None:
    """Missing, empty or something else: the message names the file."""
    path = tmp_path / "tokenizer.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(BadConfig, match=r"tokenizer\.json") as caught:
        open_counter(str(path))
    assert caught.value.hint


@pytest.mark.parametrize("spec", ["", "estimates", "tiktoken", "/", "."])
def test_what_is_no_counter_is_a_bad_setting(spec: str) -> None:
    """A misspelt name is looked for as a file, and the hint says what there is."""
    with pytest.raises(BadConfig) as caught:
        open_counter(spec)
    assert "tiktoken:<encoding>" in caught.value.hint


def test_tiktoken_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it, the hint says how to get it."""
    monkeypatch.setitem(__import__("sys").modules, "tiktoken", None)
    with pytest.raises(MissingExtra) as caught:
        open_counter("tiktoken:cl100k_base")
    assert caught.value.hint == "pip install 'retentive[tiktoken]'"


def test_tiktoken_counts_special_words_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """What people write is text, even if it looks like a token of the model's own."""
    tiktoken = pytest.importorskip("tiktoken")
    bytewise = tiktoken.Encoding(
        "bytewise",
        pat_str=r"[\s\S]",
        mergeable_ranks={bytes([number]): number for number in range(256)},
        special_tokens={"<|end|>": 256},
    )
    monkeypatch.setitem(tiktoken.registry.ENCODINGS, "bytewise", bytewise)
    count = open_counter("tiktoken:bytewise")
    assert (count(""), count("héllo"), count("<|end|>")) == (0, 6, 7)


def test_an_encoding_that_tiktoken_does_not_know_is_a_bad_setting() -> None:
    """The message names it."""
    pytest.importorskip("tiktoken")
    with pytest.raises(BadConfig, match="no_such_encoding"):
        open_counter("tiktoken:no_such_encoding")
