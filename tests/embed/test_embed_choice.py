"""What may the setting `embedder` say?"""

from pathlib import Path

import pytest

from retentive.embed import open_embedder
from retentive.embed.catalogue import ARCTIC, BGE, CATALOGUE, E5, HASHING, MINILM, POTION
from retentive.embed.choice import Choice, Named, Placed, Provided, parse_choice
from retentive.errors import BadConfig


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("none", None),
        ("minilm", Named(MINILM)),
        ("all-MiniLM-L6-v2", Named(MINILM)),
        ("ALL-minilm-l6-V2", Named(MINILM)),  # capitals are easily forgotten
        (" bge-small-en-v1.5 ", Named(BGE)),
        ("snowflake-arctic-embed-s", Named(ARCTIC)),
        ("multilingual-e5-small", Named(E5)),
        ("potion-base-8M", Named(POTION)),
        ("fast", Named(POTION)),
        ("hashing", Named(HASHING)),
        ("ollama:nomic-embed-text", Provided("ollama", "nomic-embed-text")),
        ("ollama:nomic-embed-text:v1.5", Provided("ollama", "nomic-embed-text:v1.5")),
        ("openai-compatible:BAAI/bge-m3", Provided("openai-compatible", "BAAI/bge-m3")),  # a slash in a model's name
        ("/models/mine", Placed(Path("/models/mine"))),
        ("~/mine", Placed(Path.home() / "mine")),
        ("./mine.onnx", Placed(Path("mine.onnx").absolute())),
        ("../mine", Placed(Path("../mine").absolute())),
        ("models/mine", Placed(Path("models/mine").absolute())),
        ("./ollama:mine", Placed(Path("./ollama:mine").absolute())),  # how a path is told from a provider
    ],
)
def test_the_grammar(text: str, choice: Choice) -> None:
    assert parse_choice(text) == choice


@pytest.mark.parametrize("text", ["minilmm", "", "ollama:", "None", ":x", "~nobody-of-this-name/x"])
def test_anything_else_is_a_bad_setting_that_names_the_good_ones(text: str, tmp_path: Path) -> None:
    with pytest.raises(BadConfig) as caught:
        open_embedder(text, cache=tmp_path)
    if "~" not in text:
        assert all(name in caught.value.hint for name in ("minilm", "fast", "hashing", "none", "PROVIDER:MODEL"))


def test_a_letter_and_a_colon_is_a_disk_of_windows() -> None:
    assert isinstance(parse_choice("C:/models"), Placed)


def test_names_and_aliases_are_told_apart() -> None:
    names = [name.casefold() for entry in CATALOGUE for name in (entry.name, *entry.aliases)]
    assert len({*names}) == len(names)
    spaces = [entry.space.name for entry in CATALOGUE]
    assert len({*spaces}) == len(spaces)
