"""Real weights of embedding models, where `scripts/weights.py` put them."""

import os
import sys
from pathlib import Path

import pytest

FOLDER = Path(sys.prefix, "share", "retentive-weights")
MUST_BE_THERE = bool(os.environ.get("CI") or os.environ.get("RETENTIVE_ALL_ENGINES"))  # read before tests hide it


def weights_or_skip(name: str) -> Path:
    """The folder of a model, with its weights and `tokenizer.json`."""
    folder = FOLDER / name
    if not (folder / "tokenizer.json").is_file():
        reason = f"no weights of {name}: run scripts/weights.py"
        if MUST_BE_THERE:
            pytest.fail(reason)
        pytest.skip(reason)
    return folder
