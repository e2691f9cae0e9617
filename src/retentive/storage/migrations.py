"""Numbered schema files. Each is applied once, in order, and recorded with its hash."""

import hashlib
from pathlib import Path
from typing import NamedTuple

from retentive.errors import Corrupt, NewerSchema

_FOLDER = Path(__file__).parent / "schema"


class Migration(NamedTuple):
    number: int
    name: str
    sql: str

    @property
    def hash(self) -> str:
        return hashlib.sha256(self.sql.encode()).hexdigest()


def load_migrations(dialect: str) -> list[Migration]:
    found = []
    for path in sorted((_FOLDER / dialect).glob("*.sql")):
        number, _, name = path.stem.partition("_")
        found.append(Migration(int(number), name, path.read_text("utf-8")))
    return found


def find_missing(known: list[Migration], applied: dict[int, str], where: str) -> list[Migration]:
    """The migrations still to be applied. Refuses a store of a newer program, and one with other migrations."""
    newest = known[-1].number
    if max(applied, default=0) > newest:
        raise NewerSchema(f"{where} has schema {max(applied)}; this Retentive knows schemas up to {newest}")
    for migration in known:
        if applied.get(migration.number, migration.hash) != migration.hash:
            raise Corrupt(f"{where}: schema {migration.number} ({migration.name}) is not the one this program knows")
    return [migration for migration in known if migration.number not in applied]
