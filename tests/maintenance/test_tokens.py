"""Access tokens: what opens, what does not, and what the store keeps of them."""

import json
from hashlib import sha256
from pathlib import Path

import pytest

from retentive import Retentive
from retentive.errors import Invalid, NotFound
from retentive.testing import Clock
from tests.support import Open, Run

pytestmark = pytest.mark.engines


def test_a_token_is_known_by_its_secret(store: Retentive) -> None:
    made = store.tokens.create("alice", subtree=True, read_only=True, name="laptop")
    assert [*store.tokens.list()] == [made.token]
    assert store.tokens.verify(made.secret) == made.token
    assert (made.token.namespace, made.token.subtree, made.token.read_only) == ("alice", True, True)


def test_a_secret_is_random_and_nowhere_shown_again(store: Retentive) -> None:
    made = [store.tokens.create("alice") for _ in range(3)]
    assert all(each.secret.startswith("rt_") and len(each.secret) == 46 for each in made)
    assert len({each.secret for each in made}) == 3
    assert made[0].secret not in repr(made[0])
    assert made[0].secret not in repr(store.tokens.list())


def test_of_a_secret_only_its_hash_is_in_the_file(db: Path) -> None:
    with Retentive.open(db, embedder="none") as store:
        secret = store.tokens.create("alice").secret
    written = b"".join(path.read_bytes() for path in db.parent.glob("memory.db*"))
    assert sha256(secret.encode()).hexdigest().encode() in written
    assert secret.encode() not in written


@pytest.mark.parametrize(
    "secret",
    ["", "rt_", "rt_" + "A" * 43, "rt_" + "A" * 42 + "\n", "rt_" + "é" * 43, "x" * 100_000, "rt_\0", "' OR 1=1 --"],
)
def test_what_is_no_secret_opens_nothing(store: Retentive, secret: str) -> None:
    store.tokens.create("alice")
    assert store.tokens.verify(secret) is None


def test_a_secret_with_one_letter_changed_opens_nothing(store: Retentive) -> None:
    secret = store.tokens.create("alice").secret
    assert store.tokens.verify(secret[:-5] + ("A" if secret[-5] != "A" else "B") + secret[-4:]) is None


def test_a_revoked_token_opens_nothing_in_any_process(open_store: Open) -> None:
    here, there = open_store(), open_store()
    made = here.tokens.create("alice")
    assert there.tokens.verify(made.secret)
    gone = here.tokens.revoke(made.token.id)
    assert gone.revoked is not None
    assert there.tokens.verify(made.secret) is None
    assert here.tokens.revoke(made.token.id) == gone


def test_several_secrets_are_looked_up_together(store: Retentive, time: Clock) -> None:
    first, second, revoked = (store.tokens.create(name) for name in ("a", "b", "c"))
    brief = store.tokens.create("d", expires="1d")
    store.tokens.revoke(revoked.token.id)
    time.forward(2 * 86_400)
    given = [second.secret, "rt_" + "x" * 43, revoked.secret, "", brief.secret, first.secret, second.secret]
    found = store.tokens.verify_many(given)
    assert [each and each.id for each in found] == [
        second.token.id, None, None, None, None, first.token.id, second.token.id,
    ]  # fmt: skip
    assert store.tokens.verify_many([]) == []


def test_a_token_opens_until_it_expires(store: Retentive, time: Clock) -> None:
    made = store.tokens.create("alice", expires="1h")
    time.forward(3590)
    assert store.tokens.verify(made.secret)
    time.forward(20)
    assert store.tokens.verify(made.secret) is None
    assert [each.id for each in store.tokens.list()] == [made.token.id]


def test_its_last_use_is_known_to_the_minute(store: Retentive, time: Clock) -> None:
    made = store.tokens.create("alice")
    store.tokens.verify(made.secret)
    first = store.tokens.list()[0].last_used
    assert first is not None
    time.forward(30)
    store.tokens.verify(made.secret)
    assert store.tokens.list()[0].last_used == first
    time.forward(60)
    store.tokens.verify(made.secret)
    later = store.tokens.list()[0].last_used
    assert later is not None
    assert later > first


def test_what_cannot_be_a_token_is_refused(store: Retentive) -> None:
    for given in ({"namespace": "a//b"}, {"expires": "2001-01-01"}, {"name": "two\nlines"}, {"namespace": "*"}):
        with pytest.raises(Invalid):
            store.tokens.create(**given)  # type: ignore[arg-type]
    with pytest.raises(NotFound):
        store.tokens.revoke("nothing")
    assert [*store.tokens.list()] == []


def test_a_token_of_ours_is_a_secret_like_any_other(store: Retentive) -> None:
    with pytest.raises(Invalid, match="Retentive token"):
        store.add(f"The way in is {store.tokens.create('alice').secret}")


def test_on_the_terminal(run: Run) -> None:
    secret = run("token", "create", "--namespace", "alice", "--subtree", "--name", "laptop").strip()
    assert secret.startswith("rt_")
    row = run("token", "list").strip().split("\t")
    assert (row[1], row[4], row[5:]) == ("active", "-", ["alice and below, read and write", "laptop"])
    assert json.loads(run("token", "list", "--json"))["tokens"][0]["id"] == row[0]
    assert run("token", "revoke", row[0]) == f"revoked {row[0]}\n"
    assert run("token", "list").split("\t")[1] == "revoked"
