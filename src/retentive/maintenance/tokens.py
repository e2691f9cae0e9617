"""Access tokens: who may come in over the network, to which namespaces.

A secret is 32 random bytes, so nobody can guess it, with however many tries a second, from its hash: one SHA-256 is
enough to keep. A slow hash with salt protects what people think up; here it would only make every request slower, and
let nobody look a token up by its hash.
"""

import builtins
import re
import secrets
from collections.abc import Sequence
from hashlib import sha256

from retentive import clock
from retentive.errors import Invalid, NotFound
from retentive.ids import new_ids
from retentive.model import Issued, Token, from_micros, to_micros
from retentive.storage.tables import tokens as rows
from retentive.store import OpenStore, validate
from retentive.store.validate import When
from retentive.store.views import whole

PREFIX = "rt_"
BYTES = 32
_SECRET = re.compile(PREFIX + r"[A-Za-z0-9_-]{43}")
USED_SECONDS = 60  # between two notes that a token was used


class Tokens:
    """The verbs of access tokens. They are about the whole store."""

    def __init__(self, store: OpenStore) -> None:
        self._store = store

    @whole
    def create(
        self,
        namespace: str | None = None,
        *,
        subtree: bool = False,
        read_only: bool = False,
        name: str | None = None,
        expires: When | None = None,
    ) -> Issued:
        """Make a token for a namespace, by default the store's own. Its secret is told here and never again.

        With `subtree` it opens the namespaces below, too. `name` is a label for people. After `expires`, a moment or
        a span such as `90d`, it opens nothing.
        """
        now = clock.now()
        end = validate.moment(expires, "expires")
        if end and to_micros(end) <= now:
            raise Invalid(f"expires is {end:%Y-%m-%d %H:%M}, which is past", "Give a time to come, or a span: 90d.")
        token = Token(
            id=new_ids(now, 1)[0],
            name=validate.name_of(name, "name"),
            namespace=self._store.namespace if namespace is None else validate.namespace_of(namespace),
            subtree=bool(subtree),
            read_only=bool(read_only),
            created=from_micros(now),
            expires=end,
            last_used=None,
            revoked=None,
        )
        secret = PREFIX + secrets.token_urlsafe(BYTES)
        self._store.engine.apply([rows.insert_step(token, _hash(secret))])
        return Issued(token, secret)

    @whole
    def list(self) -> builtins.list[Token]:
        """All of the store, also those that open nothing any more; the newest first."""
        self._store.journal.flush()
        return self._rows.all()

    @whole
    def revoke(self, id: str) -> Token:
        """From now on it opens nothing, in whatever process. Again changes nothing."""
        found = self._rows.get(validate.plain(id, "id"))
        if found is None:
            raise NotFound(f"no token {id[:60]!r}", "`retentive token list` shows those there are.")
        self._store.engine.apply([rows.revoke_step(found.id, clock.now())])
        return self._rows.get(found.id) or found

    @whole
    def verify(self, secret: str) -> Token | None:
        """The token of a secret, if it holds: not revoked, not expired. Asked anew each time."""
        if not _SECRET.fullmatch(str(secret)):
            return None
        return self._use(self._rows.find(_hash(secret)))

    @whole
    def verify_many(self, secrets: Sequence[str]) -> builtins.list[Token | None]:
        """The tokens of several secrets, in their order, looked up together."""
        hashes = [_hash(each) if _SECRET.fullmatch(str(each)) else None for each in secrets]
        found = self._rows.find_many([*{each for each in hashes if each}])
        return [self._use(found.get(each)) if each else None for each in hashes]

    def _use(self, token: Token | None) -> Token | None:
        """A token that holds, with a note that it was used."""
        now = clock.now()
        if token is None or not token.holds_at(from_micros(now)):
            return None
        if token.last_used is None or now - to_micros(token.last_used) > USED_SECONDS * 1_000_000:
            self._store.journal.used(token.id, now)
        return token

    @property
    def _rows(self) -> rows.Tokens:
        return self._store.tables.tokens


def _hash(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()
