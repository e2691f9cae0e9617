"""A client that was started anywhere tells which project it works in."""

from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from retentive import Retentive
from tests.forkserver import write_command
from tests.mcp.client import SECONDS, options_of, surroundings


def kept_by(client: Any, db: Path, folder: Path) -> str:
    """The namespace in which a memory of this client lands."""
    options = options_of("mcp", db, "--namespace", "auto")
    server = StdioServerParameters(command=str(write_command()), args=options, env=surroundings(db), cwd=folder)

    async def run() -> None:
        async with Client(stdio_client(server), cache=None, read_timeout_seconds=SECONDS, **client) as connected:
            await connected.call_tool("memory_add", {"content": "Invoices are sent on Fridays"})

    anyio.run(run)
    with Retentive.open(db, embedder="hashing") as store:
        return next(name for name in store.namespaces() if store.in_namespace(name).list())


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "my work" / "billing" / ".git").mkdir(parents=True)
    return tmp_path / "my work" / "billing"


def roots(*addresses: str) -> Any:
    async def tell(_: Any) -> types.ListRootsResult:
        return types.ListRootsResult.model_validate({"roots": [{"uri": address} for address in addresses]})

    return tell


def test_the_project_is_the_one_that_the_client_works_in(db: Path, project: Path, tmp_path: Path) -> None:
    told = roots(project.as_uri())
    assert kept_by({"mode": "legacy", "list_roots_callback": told}, db, tmp_path) == "billing"


def test_the_folder_goes_before_what_the_client_tells(db: Path, project: Path, tmp_path: Path) -> None:
    (tmp_path / "other" / ".git").mkdir(parents=True)
    told = roots((tmp_path / "other").as_uri())
    assert kept_by({"mode": "legacy", "list_roots_callback": told}, db, project) == "billing"


async def _fails(_: Any) -> Any:
    return types.ErrorData(code=-1, message="no")


@pytest.mark.parametrize(
    "client",
    [
        {"mode": "legacy"},  # knows no roots
        {"mode": "2026-07-28", "list_roots_callback": roots()},  # an era in which a server does not ask
        {"mode": "legacy", "list_roots_callback": roots()},  # works in none
        {"mode": "legacy", "list_roots_callback": _fails},
    ],
)
def test_a_client_that_does_not_tell_is_the_person_s(client: Any, db: Path, tmp_path: Path) -> None:
    assert kept_by(client, db, tmp_path) == "default"
