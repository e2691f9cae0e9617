"""Files between stores."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def saved(tmp_path: Path) -> Callable[..., Path]:
    """A file of lines."""

    def save(*given: Any, name: str = "all.jsonl") -> Path:
        whole = b"".join(each if isinstance(each, bytes) else json.dumps(each).encode() + b"\n" for each in given)
        (tmp_path / name).write_bytes(whole)
        return tmp_path / name

    return save
