"""Stores to come from and to go to, and files in between."""

import json
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.transfer.stores import Place


@pytest.fixture
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """The address of a store of this engine that is not there yet, as many as are asked for."""

    def place_(engine: str) -> str:
        name = f"s{uuid.uuid4().hex}"
        if engine == "sqlite":
            return str(tmp_path / f"{name}.db")
        if engine == "libsql":
            return str(request.getfixturevalue("sqld").database())
        server = request.getfixturevalue("server")
        server.execute(f"CREATE DATABASE {name} TEMPLATE template_store STRATEGY file_copy")
        return str(server.url(name))

    return place_


@pytest.fixture
def saved(tmp_path: Path) -> Callable[..., Path]:
    """A file of lines."""

    def save(*given: Any, name: str = "all.jsonl") -> Path:
        whole = b"".join(each if isinstance(each, bytes) else json.dumps(each).encode() + b"\n" for each in given)
        (tmp_path / name).write_bytes(whole)
        return tmp_path / name

    return save
