from pathlib import Path

import pytest

from tests.hooks.claude import Claude


@pytest.fixture
def claude(tmp_path: Path, target: str) -> Claude:
    return Claude(tmp_path, target)
