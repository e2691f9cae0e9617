"""Access tokens as rows, by the hash of their secrets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hmac import compare_digest
from typing import Any

from retentive.model import Token, from_micros, to_micros
from retentive.storage import Engine, Step, step
from retentive.storage.damage import TEXTS, decodes, read_intact, require_types


@dataclass(frozen=True, slots=True)
class Tokens:
    engine: Engine

    def find(self, hash: str) -> Token | None:
        """How long the look-up takes tells something of the hash, from which nothing can be told of the secret."""
        rows = self.engine.read("token_find", {"hash": hash})
        return _token(rows[0][1:]) if rows and compare_digest(rows[0][0], hash) else None

    def find_many(self, hashes: Sequence[str]) -> dict[str, Token]:
        """By their hashes."""
        rows = self.engine.read("token_find_many", {"hashes": [*hashes]}) if hashes else []
        return {row[0]: _token(row[1:]) for row in rows}

    def get(self, id: str) -> Token | None:
        rows = self.engine.read("token_get", {"id": id})
        return _token(rows[0]) if rows else None

    def all(self) -> list[Token]:
        """The newest first."""
        return read_intact(self.engine, "token_list", {}, _token)


def insert_step(token: Token, hash: str) -> Step:
    return step(
        "token_insert",
        id=token.id,
        hash=hash,
        name=token.name,
        namespace=token.namespace,
        subtree=int(token.subtree),
        read_only=int(token.read_only),
        created=to_micros(token.created),
        expires=None if token.expires is None else to_micros(token.expires),
    )


def revoke_step(id: str, at: int) -> Step:
    return step("token_revoke", id=id, at=at)


def use_step(used: Mapping[str, int]) -> Step:
    """By id: when it was last used."""
    return Step("token_use", [{"id": id, "at": at} for id, at in sorted(used.items())])


@decodes("tokens", "id name namespace subtree read_only created expires last_used revoked")
def _token(row: Sequence[Any]) -> Token:
    id, name, namespace, subtree, read_only, *times = row
    require_types((id, name, namespace), TEXTS)
    if {subtree, read_only} - {0, 1}:
        raise ValueError
    return Token(id, name, namespace, bool(subtree), bool(read_only), *map(_moment, times))  # type: ignore[arg-type]


def _moment(micros: int | None) -> datetime | None:
    return None if micros is None else from_micros(micros)
