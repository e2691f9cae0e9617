"""A store, moved."""

from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from retentive import config
from retentive.errors import Invalid, NotFound
from retentive.storage import open_engine
from retentive.storage.upkeep import Upkeep
from retentive.transfer.migrate import Moved
from retentive.transfer.migrate import migrate as moving


def migrate(
    source: str, target: str, settings: Mapping[str, Any], progress: Callable[[str, int], None] | None
) -> list[Moved]:
    if source == target:
        raise Invalid("source and target are the same")
    if any(where.startswith("postgres") for where in (source, target)):
        raise Invalid("stores on PostgreSQL cannot be moved yet", "Files and libSQL servers can.")
    if "://" not in source and not Path(source).expanduser().is_file():
        raise NotFound(f"there is no store at {source}", "Give the file, or the address of the server.")
    opened = (closing(open_engine(config.load(**{**settings, "db": where}))) for where in (source, target))
    with next(opened) as old, next(opened) as new:
        return moving(old, new, Upkeep(old).store_id(), progress)
