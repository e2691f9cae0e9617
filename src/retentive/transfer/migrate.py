"""Moves a store into another, empty one of any engine: `copy_rows.py` between two stores that are opened here."""

from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any

from retentive import config
from retentive.errors import Invalid, NotFound
from retentive.fs.paths import parse_path
from retentive.fs.regular_files import require_regular
from retentive.storage import Engine, open_engine
from retentive.storage.tables.metrics import Metrics
from retentive.transfer.copy_rows import Moved, copy_store


def migrate(
    source: str, target: str, settings: Mapping[str, Any], progress: Callable[[str, int], None] | None
) -> list[Moved]:
    if source == target:
        raise Invalid("source and target are the same")
    if config.load(**settings).restrict_to:
        raise Invalid(
            "a migration copies all namespaces, but `restrict_to` allows only some", "Unset it for the migration."
        )
    if "://" not in source:
        path = parse_path(source)
        require_regular(path)
        if not path.is_file():
            raise NotFound(f"there is no store at {source}", "Give the file, or the address of the server.")
    with closing(_open_engine(source, settings)) as old, closing(_open_engine(target, settings)) as new:
        return copy_store(old, new, Metrics(old).store_id(), progress)


def _open_engine(where: str, settings: Mapping[str, Any]) -> Engine:
    return open_engine(config.load(**{**settings, "db": where}))
