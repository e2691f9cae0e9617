"""What may the setting `embedder` say?"""

from pathlib import Path

import pytest

from retentive.embed import open_embedder
from retentive.embed.catalogue import ARCTIC, BGE, CATALOGUE, E5, HASHING, MINILM, POTION
from retentive.embed.embedder_setting import (
    CatalogueChoice,
    EmbedderChoice,
    FolderChoice,
    ProviderChoice,
    parse_embedder_setting,
)
from retentive.errors import BadConfig


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("none", None),
        ("minilm", CatalogueChoice(MINILM)),
        ("all-MiniLM-L6-v2", CatalogueChoice(MINILM)),
        ("ALL-minilm-l6-V2", CatalogueChoice(MINILM)),  # capitals are easily forgotten
        (" bge-small-en-v1.5 ", CatalogueChoice(BGE)),
        ("snowflake-arctic-embed-s", CatalogueChoice(ARCTIC)),
        ("multilingual-e5-small", CatalogueChoice(E5)),
        ("potion-base-8M", CatalogueChoice(POTION)),
        ("fast", CatalogueChoice(POTION)),
        ("hashing", CatalogueChoice(HASHING)),
        ("ollama:nomic-embed-text", ProviderChoice("ollama", "nomic-embed-text")),
        ("ollama:nomic-embed-text:v1.5", ProviderChoice("ollama", "nomic-embed-text:v1.5")),
        (
            "openai-compatible:BAAI/bge-m3",
            ProviderChoice("openai-compatible", "BAAI/bge-m3"),
        ),  # a model with a slash
        ("/models/mine", FolderChoice(Path("/models/mine"))),
        ("~/mine", FolderChoice(Path.home() / "mine")),
        ("./mine.onnx", FolderChoice(Path("mine.onnx").absolute())),
        ("../mine", FolderChoice(Path("../mine").absolute())),
        ("models/mine", FolderChoice(Path("models/mine").absolute())),
        ("./ollama:mine", FolderChoice(Path("./ollama:mine").absolute())),  # how a path is told from a provider
    ],
)
def test_the_grammar(text: str, choice: EmbedderChoice) -> None:
    assert parse_embedder_setting(text) == choice


@pytest.mark.parametrize("text", ["minilmm", "", "ollama:", "None", ":x", "~nobody-of-this-name/x"])
def test_anything_else_is_a_bad_setting_that_names_the_good_ones(text: str, tmp_path: Path) -> None:
    with pytest.raises(BadConfig) as caught:
        open_embedder(text, cache=tmp_path)
    if "~" not in text:
        assert all(name in caught.value.hint for name in ("minilm", "fast", "hashing", "none", "PROVIDER:MODEL"))


def test_a_letter_and_a_colon_is_a_disk_of_windows() -> None:
    assert isinstance(parse_embedder_setting("C:/models"), FolderChoice)


def test_names_and_aliases_are_told_apart() -> None:
    names = [name.casefold() for entry in CATALOGUE for name in (entry.name, *entry.aliases)]
    assert len({*names}) == len(names)
    spaces = [entry.space.name for entry in CATALOGUE]
    assert len({*spaces}) == len(spaces)
