"""Restricted views as a user who is no superuser: what a tenant of a managed server is."""

import uuid
from collections.abc import Iterator
from contextlib import closing
from typing import NamedTuple

import pytest

from retentive import Retentive
from retentive.errors import Unwritable
from retentive.storage.engines.postgres import PostgresEngine
from retentive.storage.engines.postgres.policies import has_other_policies, write_policies
from retentive.storage.engines.postgres.transactions import ROLE
from retentive.storage.namespace_guard import NamespaceGuard
from retentive.testing import parts_of
from tests.engines import missing
from tests.server import FAST, Server


class Tenant(NamedTuple):
    """A user with a database of its own."""

    user: str
    url: str


@pytest.fixture
def own_server() -> Iterator[Server]:
    """A server on which nobody has made the role of restricted views."""
    try:
        server = Server(FAST)
    except (ImportError, OSError) as error:
        missing("PostgreSQL", error)
    else:
        yield server
        server.remove()


def make_tenant(server: Server, rights: str) -> Tenant:
    user = f"tenant_{uuid.uuid4().hex[:8]}"
    server.execute(f"CREATE ROLE {user} LOGIN NOSUPERUSER {rights}")
    server.execute(f"CREATE DATABASE {user} OWNER {user}")
    server.execute("CREATE EXTENSION vector", user)
    return Tenant(user, server.url(user, user))


def see_and_write_its_own(view: Retentive, expected: set[str]) -> None:
    for mode in ("text", "vector", "hybrid"):
        found = view.search("harbour", mode=mode, limit=10, include="memories")
        assert {hit.content for hit in found} == expected
        assert (found.tier, found.notes) == (mode, ())
    assert view.add("The harbour is new").created
    view.sessions.append("talk", "user", "The harbour was dredged")
    assert view.get(view.list()[0].id).content == "The harbour is new"


def fill(url: str) -> Retentive:
    store = Retentive.open(url, embedder="hashing")
    for name in ("alice", "bob"):
        store.in_namespace(name).add(f"The harbour of {name}")
    return store


def test_the_policies_of_a_cluster_have_no_subquery_and_hide_the_same(own_server: Server) -> None:
    tenant = make_tenant(own_server, "CREATEROLE")
    with fill(tenant.url) as store:
        engine = parts_of(store).engine
        assert isinstance(engine, PostgresEngine)
        with closing(engine._link.connect()) as connection:
            for is_cluster in (True, False):
                write_policies(connection, is_cluster=is_cluster)
                assert not has_other_policies(connection, is_cluster=is_cluster)
                assert has_other_policies(connection, is_cluster=not is_cluster)
                view = store.restricted("alice", also_read=["carol/*"])
                assert {hit.item.namespace for hit in view.search("harbour", limit=10)} == {"alice"}
                guarded = parts_of(view).engine
                assert isinstance(guarded, NamespaceGuard)
                assert guarded.engine.read("namespace_list") == [("alice",)]


@pytest.mark.parametrize("is_cluster", [False, True])
def test_who_may_make_roles_has_restricted_views(own_server: Server, is_cluster: bool) -> None:
    """Also with the statements that a cluster passes on to its machines, which any server understands."""
    tenant = make_tenant(own_server, "CREATEROLE")
    with fill(tenant.url) as store:
        engine = parts_of(store).engine
        assert isinstance(engine, PostgresEngine)
        engine._link.is_cluster = is_cluster
        see_and_write_its_own(store.restricted("alice"), {"The harbour of alice"})
        reading = store.restricted("alice", also_read=["bob"], read_only=True)
        assert {hit.item.namespace for hit in reading.search("harbour", namespaces=["alice", "bob"])} == {
            "alice",
            "bob",
        }
        assert len(store.in_namespace("bob").list()) == 1
        assert [finding for finding in store.doctor() if not finding.ok] == []


def test_who_may_make_roles_has_restricted_connections(own_server: Server) -> None:
    tenant = make_tenant(own_server, "CREATEROLE")
    fill(tenant.url).close()
    with Retentive.open(tenant.url, embedder="hashing", namespace="bob", restrict_to="bob") as store:
        see_and_write_its_own(store, {"The harbour of bob"})


def test_two_tenants_of_a_server_share_the_role(own_server: Server) -> None:
    """The second did not make it: somebody who may grants it, by what the error says."""
    first, second = make_tenant(own_server, "CREATEROLE"), make_tenant(own_server, "CREATEROLE")
    with fill(first.url) as store:
        see_and_write_its_own(store.restricted("alice"), {"The harbour of alice"})
    with fill(second.url) as store:
        with pytest.raises(Unwritable) as caught:
            store.restricted("alice")
        grant = caught.value.hint.rpartition("; ")[2] if caught.value.hint.endswith(";") else caught.value.hint
        assert f"GRANT {ROLE} TO <this user> WITH SET TRUE, INHERIT FALSE;" in grant
        own_server.execute(f"GRANT {ROLE} TO {second.user} WITH SET TRUE, INHERIT FALSE")
        see_and_write_its_own(store.restricted("alice"), {"The harbour of alice"})


def test_a_membership_without_the_right_to_assume_the_role_is_not_enough(own_server: Server) -> None:
    tenant = make_tenant(own_server, "")
    own_server.execute(f"CREATE ROLE {ROLE} NOLOGIN")
    own_server.execute(f"GRANT {ROLE} TO {tenant.user} WITH SET FALSE")
    with fill(tenant.url) as store:
        with pytest.raises(Unwritable, match="cannot prepare the role"):
            store.restricted("alice")
        own_server.execute(f"GRANT {ROLE} TO {tenant.user} WITH SET TRUE, INHERIT FALSE")
        see_and_write_its_own(store.restricted("alice"), {"The harbour of alice"})


@pytest.mark.parametrize("mode", ["hybrid", "text", "vector"])
def test_a_role_that_was_taken_away_is_an_error_and_no_poorer_answer(own_server: Server, mode: str) -> None:
    tenant = make_tenant(own_server, "")
    own_server.execute(f"CREATE ROLE {ROLE} NOLOGIN")
    own_server.execute(f"GRANT {ROLE} TO {tenant.user} WITH SET TRUE, INHERIT FALSE")
    with fill(tenant.url) as store:
        view = store.restricted("alice")
        assert view.search("harbour", mode=mode).hits
        own_server.execute(f"REVOKE {ROLE} FROM {tenant.user}")
        with pytest.raises(Unwritable, match="permission denied"):
            view.search("harbour", mode=mode)
