"""Access tokens: each lets a client use some namespaces over the network.

The store keeps only the SHA-256 of a secret. That is enough: a secret is 32 random bytes, which nobody can guess from
the hash. A slow salted hash protects passwords that people choose. Here it would make every request slower, and a token
could not be looked up by its hash.
"""

import builtins
import re
import secrets
from collections.abc import Sequence
from hashlib import sha256

from retentive import clock
from retentive.errors import Invalid, NotFound
from retentive.ids import new_ids
from retentive.model import NewToken, Token, from_micros, to_micros
from retentive.storage.tables import tokens as rows
from retentive.store import OpenStore, validate
from retentive.store.validate import TimeInput
from retentive.store.views import whole_store

TOKEN_PREFIX = "rt_"  # noqa: S105 - what every secret begins with
SECRET_BYTES = 32
_SECRET_PATTERN = re.compile(TOKEN_PREFIX + r"[A-Za-z0-9_-]{43}")
USE_RECORD_SECONDS = 60  # between two records that a token was used


class Tokens:
    """The verbs of access tokens, which concern the whole store."""

    def __init__(self, store: OpenStore) -> None:
        self._store = store

    @whole_store
    def create(
        self,
        namespace: str | None = None,
        *,
        subtree: bool = False,
        read_only: bool = False,
        name: str | None = None,
        expires: TimeInput | None = None,
    ) -> NewToken:
        """Create a token for a namespace, by default the store's own. Its secret is returned only here.

        With `subtree`, the token also opens the namespaces below. `name` is a label for people. `expires` is a time or
        a span such as `90d`; the token is invalid after it.
        """
        now = clock.now()
        end = validate.parse_time(expires, "expires")
        if end and to_micros(end) <= now:
            raise Invalid(
                f"expires is {end:%Y-%m-%d %H:%M}, which is in the past", "Give a future time, or a span: 90d."
            )
        token = Token(
            id=new_ids(now, 1)[0],
            name=validate.optional_name(name, "name"),
            namespace=self._store.namespace if namespace is None else validate.require_namespace(namespace),
            subtree=bool(subtree),
            read_only=bool(read_only),
            created=from_micros(now),
            expires=end,
            last_used=None,
            revoked=None,
        )
        secret = TOKEN_PREFIX + secrets.token_urlsafe(SECRET_BYTES)
        self._store.engine.apply([rows.insert_step(token, _hash(secret))])
        return NewToken(token, secret)

    @whole_store
    def list(self) -> builtins.list[Token]:
        """Return all tokens of the store, newest first, also revoked and expired ones."""
        self._store.journal.flush()
        return self._rows.all()

    @whole_store
    def revoke(self, id: str) -> Token:
        """Revoke a token for all processes at once. Revoking it again changes nothing."""
        found = self._rows.get(validate.require_text(id, "id"))
        if found is None:
            raise NotFound(f"no token {id[:60]!r}", "`tokens.list()` shows the existing ones.")
        self._store.engine.apply([rows.revoke_step(found.id, clock.now())])
        return self._rows.get(found.id) or found

    @whole_store
    def verify(self, secret: str) -> Token | None:
        """Return the token of a secret, read from the store, if it is neither revoked nor expired."""
        if not _SECRET_PATTERN.fullmatch(str(secret)):
            return None
        return self._use(self._rows.find(_hash(secret)))

    @whole_store
    def verify_many(self, secrets: Sequence[str]) -> builtins.list[Token | None]:
        """Return the tokens of several secrets, in their order, with one query."""
        hashes = [_hash(each) if _SECRET_PATTERN.fullmatch(str(each)) else None for each in secrets]
        found = self._rows.find_many([*{each for each in hashes if each}])
        return [self._use(found.get(each)) if each else None for each in hashes]

    def _use(self, token: Token | None) -> Token | None:
        """Return the token if it is valid, and record that it was used."""
        now = clock.now()
        if token is None or not token.holds_at(from_micros(now)):
            return None
        if token.last_used is None or now - to_micros(token.last_used) > USE_RECORD_SECONDS * 1_000_000:
            self._store.journal.record_token_use(token.id, now)
        return token

    @property
    def _rows(self) -> rows.TokenRows:
        return self._store.tables.tokens


def _hash(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()
