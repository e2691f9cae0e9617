"""A store, moved."""

from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from retentive import config
from retentive.errors import Invalid, NotFound
from retentive.storage import Engine, open_engine
from retentive.storage.upkeep import Upkeep
from retentive.transfer.migrate import Moved
from retentive.transfer.migrate import migrate as moving


def migrate(
    source: str, target: str, settings: Mapping[str, Any], progress: Callable[[str, int], None] | None
) -> list[Moved]:
    if source == target:
        raise Invalid("source and target are the same")
    if "://" not in source and not Path(source).expanduser().is_file():
        raise NotFound(f"there is no store at {source}", "Give the file, or the address of the server.")
    with closing(_opened(source, settings)) as old, closing(_opened(target, settings)) as new:
        return moving(old, new, Upkeep(old).store_id(), progress)


def _opened(where: str, settings: Mapping[str, Any]) -> Engine:
    given = config.load(**{**settings, "db": where})
    if given.restrict_to:
        hint = "Leave `restrict_to` out, for this one call."
        raise Invalid("only some namespaces are let through, and a move takes all of them", hint)
    return open_engine(given)
