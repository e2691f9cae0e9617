"""Keys in the keyring of the system, by the package `keyring` if it is installed."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from retentive.embed import ProviderSettings, open_embedder
from retentive.errors import EmbedError
from retentive.llm import open_language_model
from retentive.providers.keys import find_in_keyring
from retentive.providers.registry import PROVIDERS
from tests.providers.conftest import Serve
from tests.providers.server import Reply


@pytest.fixture
def keyring() -> Iterator[Any]:
    """The real package with a keyring in memory, in place of the one of the desktop."""
    keyring = pytest.importorskip("keyring")
    backend = pytest.importorskip("keyring.backend")

    class InMemory(backend.KeyringBackend):  # type: ignore[misc, name-defined]  # the package may not be there
        priority = 1

        def __init__(self) -> None:
            super().__init__()
            self.kept: dict[tuple[str, str], str] = {}

        def get_password(self, service: str, username: str) -> str | None:
            return self.kept.get((service, username))

        def set_password(self, service: str, username: str, password: str) -> None:
            self.kept[service, username] = password

        def delete_password(self, service: str, username: str) -> None:
            del self.kept[service, username]

    before = keyring.get_keyring()
    keyring.set_keyring(InMemory())
    yield keyring
    keyring.set_keyring(before)


def test_a_key_is_found_under_the_name_of_the_provider(keyring: Any) -> None:
    keyring.set_password("retentive", "openai", "sk-kept")
    assert find_in_keyring(PROVIDERS["openai"], "") == "sk-kept"
    assert find_in_keyring(PROVIDERS["groq"], "") == ""
    assert open_language_model("openai:gpt-x")


def test_the_key_of_a_provider_is_not_found_for_another_address(keyring: Any) -> None:
    keyring.set_password("retentive", "openai", "sk-kept")
    assert find_in_keyring(PROVIDERS["openai"], "https://other.example/v1") == ""


def test_a_key_for_an_address_is_found_under_its_host_and_sent(keyring: Any, serve: Serve, tmp_path: Path) -> None:
    server = serve()
    keyring.set_password("retentive", f"127.0.0.1:{server.server_port}", "sk-of-host")
    embedder = open_embedder("openai-compatible:m", cache=tmp_path, wait=30, provider=ProviderSettings(server.url))
    assert embedder
    embedder.embed_query("tide")
    embedder.close()
    assert server.asked[0].headers["authorization"] == "Bearer sk-of-host"


def test_what_to_do_names_the_place_where_a_key_is_looked_for(serve: Serve, tmp_path: Path) -> None:
    server = serve(Reply(401))
    embedder = open_embedder("openai:m", cache=tmp_path, wait=30, provider=ProviderSettings(server.url))
    assert embedder
    with pytest.raises(EmbedError) as refused:
        embedder.embed_query("tide")
    embedder.close()
    assert f"`keyring set retentive 127.0.0.1:{server.server_port}`" in refused.value.hint
    assert "OPENAI_API_KEY" not in refused.value.hint


def test_without_the_package_there_is_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    assert find_in_keyring(PROVIDERS["openai"], "") == ""
