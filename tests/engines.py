"""The engines that the suites run over. One joins by an entry here."""

import os
from collections.abc import Callable

import pytest

from retentive.storage import Engine

ALL = bool(os.environ.get("CI") or os.environ.get("RETENTIVE_ALL_ENGINES"))  # tests themselves see no such settings
Make = Callable[[pytest.FixtureRequest], str]

ENGINES: dict[str, Make] = {
    "sqlite": lambda request: str(request.getfixturevalue("db")),
    "postgres": lambda request: str(request.getfixturevalue("postgres")),
}
"""By name: how a fresh, empty target is made."""


def missing(engine: str, reason: object) -> None:
    """A server that cannot be had here is left out loudly; but not where all are asked for."""
    if ALL:
        pytest.fail(f"{engine} cannot be tested here: {reason}")
    pytest.skip(f"NOT TESTED: {engine} cannot be had here: {reason}")


def open_target(target: str) -> Engine:
    from retentive import config
    from retentive.storage import open_engine

    return open_engine(config.load(db=target))
