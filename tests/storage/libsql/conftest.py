from collections.abc import Iterator
from pathlib import Path

import pytest

from retentive.storage.engines.libsql import LibsqlEngine
from tests.engines import Sqld, sqld_or_skip
from tests.storage.libsql.proxy import Proxy


@pytest.fixture
def url(sqld: Sqld) -> str:
    return sqld.database()


@pytest.fixture
def engine(url: str) -> Iterator[LibsqlEngine]:
    opened = LibsqlEngine(url)
    yield opened
    opened.close()


@pytest.fixture
def proxy(sqld: Sqld) -> Iterator[Proxy]:
    between = Proxy(sqld.port)
    yield between
    between.close()


@pytest.fixture
def through(url: str, sqld: Sqld, proxy: Proxy) -> Iterator[LibsqlEngine]:
    """The same store as `engine`, by way of the proxy."""
    opened = LibsqlEngine(url.replace(str(sqld.port), str(proxy.port)))
    yield opened
    opened.close()


@pytest.fixture
def own_sqld(tmp_path: Path) -> Iterator[Sqld]:
    """A server that a test may kill."""
    sqld_or_skip()
    server = Sqld(tmp_path)
    yield server
    server.stop()
