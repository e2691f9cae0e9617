"""The table of access tokens, found by the hash of their secrets."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from hmac import compare_digest
from typing import Any

from retentive.frozen_dataclass import dataclass
from retentive.model import Token, from_micros, to_micros
from retentive.storage import Engine, Step, step
from retentive.storage.damage import TEXTS, decodes, read_intact, require_types


@dataclass(frozen=True, slots=True)
class TokenRows:
    engine: Engine

    def find(self, hash: str) -> Token | None:
        """The time of this lookup may reveal something of the hash, but the hash reveals nothing of the secret."""
        rows = self.engine.read("token_find", {"hash": hash})
        if not rows:
            return None
        stored_hash, *token = rows[0]
        return _decode_token(token) if compare_digest(stored_hash, hash) else None

    def find_many(self, hashes: Sequence[str]) -> dict[str, Token]:
        """The tokens of these hashes, by hash."""
        rows = self.engine.read("token_find_many", {"hashes": [*hashes]}) if hashes else []
        return {hash: _decode_token(token) for hash, *token in rows}

    def get(self, id: str) -> Token | None:
        rows = self.engine.read("token_get", {"id": id})
        return _decode_token(rows[0]) if rows else None

    def all(self) -> list[Token]:
        """All tokens, the newest first."""
        return read_intact(self.engine, "token_list", {}, _decode_token)


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
    """Record when each token was last used, by id."""
    return Step("token_use", [{"id": id, "at": at} for id, at in sorted(used.items())])


@decodes("tokens", "id name namespace subtree read_only created expires last_used revoked")
def _decode_token(row: Sequence[Any]) -> Token:
    id, name, namespace, subtree, read_only, *times = row
    require_types((id, name, namespace), TEXTS)
    if {subtree, read_only} - {0, 1}:
        raise ValueError
    return Token(id, name, namespace, bool(subtree), bool(read_only), *map(_moment, times))  # type: ignore[arg-type]


def _moment(micros: int | None) -> datetime | None:
    return None if micros is None else from_micros(micros)
