"""The HTTP application: tokens, host checks, limits, the health check, errors."""

import contextlib
import json
import random
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from retentive import Retentive
from retentive.errors import BadConfig
from retentive.http import HttpSettings, make_settings, open_app, serve
from retentive.http.rate import MAX_CALLERS, Buckets, client_address
from tests.engines import Sqld, sqld_or_skip
from tests.http.conftest import Serve, Served


async def nothing(*_: Any) -> None: ...


def asked(server: Served, headers: dict[str, str], *also: str) -> list[str]:
    answer = server.client.post("/mcp/search", headers=headers, json={"query": "harbour", "also": also})
    assert answer.status_code == 200, answer.text
    return sorted(answer.json())


def test_on_loopback_nobody_needs_a_token(served: Serve) -> None:
    server = served()
    assert server.client.get("/mcp").json() == {"namespace": "default", "token": None}
    assert server.client.get("/mcp/").status_code == 200
    assert server.client.get("/mcp", headers={"X-Retentive-Namespace": "work"}).json()["namespace"] == "work"


def test_a_token_that_is_given_counts_though_none_is_needed(served: Serve, secret: str) -> None:
    server = served()
    assert server.client.get("/mcp", headers=server.as_(secret)).json()["namespace"] == "alice"
    assert server.client.get("/mcp", headers=server.as_("rt_" + "x" * 43)).status_code == 401


def test_where_a_token_is_needed_all_else_is_refused(served: Serve, secret: str) -> None:
    server = served(require_token=True)
    for given in ({}, {"Authorization": secret}, {"Authorization": f"Basic {secret}"}, {"Authorization": "Bearer"}):
        answer = server.client.get("/mcp", headers=given)
        assert answer.status_code == 401
        assert answer.headers["WWW-Authenticate"].startswith("Bearer")
        assert answer.json()["error"]["hint"]
    assert server.client.get("/mcp", headers=[("Authorization", f"Bearer {secret}")] * 2).status_code == 401
    assert server.client.get("/mcp", headers={"Authorization": f"bearer  {secret}"}).status_code == 200


def test_a_token_opens_its_own_and_what_is_below(served: Serve, secret: str) -> None:
    server = served(require_token=True)
    assert asked(server, server.as_(secret)) == ["The harbour of alice is deep"]
    assert asked(server, server.as_(secret, "alice/coder")) == ["The harbour of alice/coder is deep"]
    assert len(asked(server, server.as_(secret), "alice/*", "bob/*")) == 2


def test_it_is_the_same_over_postgresql(postgres: str) -> None:
    with Retentive.open(postgres, embedder="hashing") as store:
        for name in ("alice", "alice/coder", "bob"):
            store.in_namespace(name).add(f"The harbour of {name} is deep")
        secret = store.tokens.create("alice", subtree=True).secret
    server = Served(postgres, require_token=True)
    try:
        assert len(asked(server, server.as_(secret), "alice/*", "bob/*")) == 2
        assert server.client.get("/mcp", headers=server.as_(secret, "bob")).status_code == 403
    finally:
        assert server.end()[0] == 0


def test_other_namespaces_are_forbidden(served: Serve, secret: str) -> None:
    server = served(require_token=True)
    for path, headers in (("/mcp", server.as_(secret, "bob")), ("/mcp", server.as_(secret, "alicent"))):
        answer = server.client.get(path, headers=headers)
        assert (answer.status_code, answer.json()["error"]["type"]) == (403, "Forbidden")
    assert server.client.get("/mcp", headers=server.as_(secret, "a//b")).status_code == 400
    twice = [*server.as_(secret, "alice").items(), ("X-Retentive-Namespace", "alice/coder")]
    assert server.client.get("/mcp", headers=twice).status_code == 400


def test_a_namespace_of_any_letters_can_be_named(served: Serve) -> None:
    server = served()
    named = {"X-Retentive-Namespace": "%C3%A4li/%C3%BC"}
    assert server.client.get("/mcp", headers=named).json()["namespace"] == "äli/ü"


def test_a_token_for_reading_does_not_write(served: Serve, db: Path) -> None:
    with Retentive.open(db, embedder="none") as store:
        secret = store.tokens.create("alice", read_only=True).secret
    server = served()
    answer = server.client.post("/mcp/add", headers=server.as_(secret), content="Mine")
    assert (answer.status_code, answer.json()["error"]["type"]) == (403, "Forbidden")


def test_a_token_that_is_revoked_is_refused_from_then_on(served: Serve, secret: str, db: Path) -> None:
    server = served()
    assert server.client.get("/mcp", headers=server.as_(secret)).status_code == 200
    with Retentive.open(db, embedder="none") as store:
        store.tokens.revoke(store.tokens.list()[0].id)
    assert server.client.get("/mcp", headers=server.as_(secret)).status_code == 401


def test_who_listens_to_others_needs_a_token(db: Path) -> None:
    everywhere = HttpSettings(host="0.0.0.0")  # noqa: S104 - what is tested
    with Retentive.open(db, embedder="none") as store:
        with pytest.raises(BadConfig, match="no token"):
            open_app(store, nothing, everywhere)
        open_app(store, nothing, HttpSettings(host="192.168.1.5", require_token=True))
        open_app(store, nothing, HttpSettings(host="::1"))
        open_app(store, nothing, HttpSettings(host="localhost"))
        made = store.tokens.create("alice").token
        open_app(store, nothing, everywhere)
        store.tokens.revoke(made.id)
        with pytest.raises(BadConfig, match="no token"):
            open_app(store, nothing, everywhere)


def test_who_listens_to_others_asks_everybody(served: Serve, secret: str) -> None:
    server = served(host="0.0.0.0")  # noqa: S104 - what is tested
    assert server.client.get("/mcp").status_code == 401
    assert server.client.get("/mcp", headers=server.as_(secret)).status_code == 200


@pytest.mark.parametrize(
    ("host", "origin", "expected"),
    [
        ("localhost", None, 200),
        ("LOCALHOST:8765", None, 200),
        ("127.0.0.1:1", None, 200),
        ("[::1]:8765", None, 200),
        ("memory.example.org", None, 200),  # allowed
        ("evil.example.org", None, 421),
        ("evil.example.org:8765", None, 421),
        ("127.0.0.1.example.org", None, 421),
        ("192.168.1.5", None, 421),  # we are bound to loopback
        ("localhost@evil.example.org", None, 421),
        ("localhost", "http://localhost:3000", 200),
        ("localhost", "https://memory.example.org", 200),
        ("localhost", "http://evil.example.org", 403),
        ("localhost", "http://localhost.evil.example.org", 403),
        ("localhost", "http://localhost@evil.example.org", 403),
        ("localhost", "null", 403),
        ("localhost", "file://", 403),
        ("localhost", "chrome-extension://abcdef", 403),
    ],
)
def test_names_that_are_not_ours_are_turned_away(own: Served, host: str, origin: str | None, expected: int) -> None:
    headers = {"Host": host} | ({"Origin": origin} if origin else {})
    assert own.client.get("/mcp", headers=headers).status_code == expected
    assert own.client.get("/health", headers=headers).status_code == expected


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Any:
    server = Served(tmp_path_factory.mktemp("own") / "m.db", allow_hosts=["memory.example.org"], max_request=10_000)
    yield server
    server.end()


def test_any_address_in_digits_is_ours_where_we_listen_on_all(served: Serve, secret: str) -> None:
    server = served(host="0.0.0.0")  # noqa: S104 - what is tested
    assert server.client.get("/mcp", headers={**server.as_(secret), "Host": "192.168.1.5:8765"}).status_code == 200
    assert server.client.get("/mcp", headers={**server.as_(secret), "Host": "evil.example.org"}).status_code == 421


def test_a_body_up_to_the_limit_arrives_whole(own: Served) -> None:
    assert own.client.post("/mcp/size", content=b"x" * 10_000).json() == 10_000
    assert own.client.post("/mcp/size", content=iter([b"x" * 5000] * 2)).json() == 10_000


def test_a_body_beyond_the_limit_is_refused(own: Served) -> None:
    """Though it does not say how long it is."""
    for body in (b"x" * 10_001, iter([b"x" * 6000] * 3)):
        answer = own.client.post("/mcp/size", content=body)
        assert (answer.status_code, answer.json()["error"]["type"]) == (413, "TooLarge")
    assert own.client.post("/mcp/size", content=b"x").json() == 1


def test_who_asks_too_often_waits(served: Serve, secret: str) -> None:
    """Each token for itself."""
    server = served(requests_per_second=1)
    answers = [server.client.get("/mcp") for _ in range(8)]
    assert [answer.status_code for answer in answers[:4]] == [200] * 4
    assert answers[-1].status_code == 429
    assert int(answers[-1].headers["Retry-After"]) >= 1
    assert server.client.get("/mcp", headers=server.as_(secret)).status_code == 200


def test_a_proxy_is_believed_only_if_it_is_trusted(served: Serve) -> None:
    for proxies, expected in (["127.0.0.1"], 200), (["10.0.0.1"], 429):
        server = served(requests_per_second=1, trusted_proxies=proxies)
        for _ in range(6):
            server.client.get("/mcp", headers={"X-Forwarded-For": "192.0.2.1"})
        assert server.client.get("/mcp", headers={"X-Forwarded-For": "192.0.2.2"}).status_code == expected


@pytest.mark.parametrize(
    ("host", "expected"),
    [("192.0.2.1", "192.0.2.1"), ("2001:db8::1", "2001:db8::/64"), ("2001:db8::2", "2001:db8::/64"), ("?", "?")],
)
def test_who_has_a_network_of_addresses_is_one_caller(host: str, expected: str) -> None:
    assert client_address({"client": (host, 1)}) == expected


def test_who_brings_wrong_tokens_waits_but_not_those_who_bring_right_ones(served: Serve, secret: str) -> None:
    server = served()
    assert server.client.get("/mcp", headers=server.as_(secret)).status_code == 200
    wrong = [server.client.get("/mcp", headers=server.as_(f"rt_{n:043}")).status_code for n in range(40)]
    assert wrong[:20] == [401] * 20
    assert 429 in wrong[20:]
    assert server.client.get("/mcp", headers=server.as_(secret)).status_code == 200


def test_buckets_fill_up_again_and_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    buckets = Buckets(2, 3)
    assert [buckets.take("a") for _ in range(4)] == [0.0, 0.0, 0.0, 0.5]
    now = 0.5
    assert [buckets.take("a"), buckets.take("a")] == [0.0, 0.5]
    for key in range(3 * MAX_CALLERS):
        buckets.take(str(key))
    assert len(buckets._held) <= MAX_CALLERS


def test_health_needs_no_token_and_tells_nothing_of_anybody(served: Serve, secret: str, db: Path) -> None:
    server = served(require_token=True)
    assert secret
    answer = server.client.get("/health")
    with Retentive.open(db, embedder="hashing") as store:
        assert (answer.status_code, answer.json()) == (200, {"status": "ok", **store.health()})
    assert server.client.head("/health").status_code == 200
    assert server.client.post("/health").status_code == 405
    assert str(db) not in answer.text


def test_at_a_wrong_address_one_is_told_the_right_one(served: Serve) -> None:
    answer = served().client.get("/")
    assert answer.status_code == 404
    assert "/mcp" in answer.json()["error"]["hint"]


def test_a_store_that_does_not_answer_is_unavailable(tmp_path: Path) -> None:
    """Within seconds, though the database would be waited for; and it is well again by itself."""
    sqld_or_skip()
    sqld = Sqld(tmp_path)
    server = Served(sqld.database())
    try:
        assert server.client.get("/health").status_code == 200
        sqld.stop()
        time.sleep(1.1)  # what was known is not told any more
        answer = server.client.get("/health", timeout=4)
        assert (answer.status_code, answer.json()["status"]) == (503, "unavailable")
        assert server.client.get("/mcp", headers=server.as_("rt_" + "x" * 43), timeout=30).status_code == 503
        sqld.start()
        deadline = time.monotonic() + 20
        while server.client.get("/health").status_code != 200 and time.monotonic() < deadline:
            time.sleep(0.1)
        assert server.client.get("/health").status_code == 200
    finally:
        server.end()
        sqld.stop()


def test_what_fails_is_told_in_json(own: Served) -> None:
    assert own.client.get("/nothing").json()["error"]["message"] == "Not Found"
    answer = own.client.get("/mcp/fail")
    assert (answer.status_code, "ZeroDivision" in answer.text) == (500, False)
    assert own.client.get("/health").status_code == 200


def test_a_port_that_is_taken_is_told(db: Path) -> None:
    with socket.socket() as taken, Retentive.open(db, embedder="none") as store:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        settings = HttpSettings(port=taken.getsockname()[1])
        with pytest.raises(BadConfig, match="cannot listen"):
            serve(open_app(store, nothing, settings), settings)
    with pytest.raises(BadConfig, match="cannot listen"):
        serve(nothing, HttpSettings(host="no such host"))


def test_settings_come_from_the_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    from retentive import config

    assert make_settings(config.load()) == HttpSettings()
    monkeypatch.setenv("RETENTIVE_ALLOW_HOSTS", "a.example.org, b.example.org")
    monkeypatch.setenv("RETENTIVE_REQUIRE_TOKEN", "on")
    found = make_settings(config.load(serve_port=0))
    assert (found.allow_hosts, found.needs_token, found.port) == (("a.example.org", "b.example.org"), True, 0)


def test_half_a_request_is_not_waited_for(served: Serve) -> None:
    """Neither the first of a connection nor a later one; and who works is left alone."""
    server = served(idle_seconds=1)
    whole = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    for before in (b"", whole):
        with socket.create_connection(("127.0.0.1", server.port), timeout=8) as one:
            one.sendall(before + b"GET /health HTTP/1.1\r\nHost: local")
            while one.recv(4096):
                pass
    assert server.client.post("/mcp/add?seconds=3", content="Slow").status_code == 200


def raw(port: int, data: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=5) as one, contextlib.suppress(OSError):
        one.sendall(data)
        one.shutdown(socket.SHUT_WR)
        return one.recv(4096)
    return b""


def test_whatever_is_sent_is_answered_or_refused(served: Serve, secret: str) -> None:
    """Broken headers and bodies never give a 500, and the server goes on."""
    server, chance = served(), random.Random(7)
    names = ["Host", "Origin", "Authorization", "X-Retentive-Namespace", "Content-Length", "Content-Type", "X-Any"]
    names += ["Transfer-Encoding", "X-Forwarded-For", "Expect", "Connection", "Upgrade"]
    values = ["", "localhost", f"Bearer {secret}", "Bearer " + "é" * 50, "%", "%ff%00", "-1", "9" * 30, "chunked", "\t"]
    values += ["alice", "alice/" + "x" * 300, "../..", "null", "[::1", "1.2.3.4, 5", "a" * 5000, "100-continue", "\x7f"]
    for _ in range(300):
        lines = [f"{chance.choice(('GET', 'POST', 'PUT', 'OPTIONS', 'BREW'))} {chance.choice(PATHS)} HTTP/1.1"]
        lines += ["Host: localhost"] * chance.choice((0, 1, 1, 1, 2))
        lines += [f"{chance.choice(names)}: {chance.choice(values)}" for _ in range(chance.randrange(5))]
        body = chance.randbytes(chance.choice((0, 1, 100)))
        answer = raw(server.port, "\r\n".join(lines).encode("latin-1", "replace") + b"\r\n\r\n" + body)
        assert b" 500 " not in answer.split(b"\r\n")[0], (lines, answer)
    for _ in range(50):
        raw(server.port, chance.randbytes(chance.randrange(1, 2000)))
    for body in (b"", b"{", b"\xff\xfe", b"[" * 3000, json.dumps({"query": "\0"}).encode()):
        assert server.client.put("/mcp/size", content=body).status_code == 200
    assert server.client.get("/health").status_code == 200
    code, out, err = server.end()
    assert (code, "closed" in out, "Traceback" in err) == (0, True, False), err


PATHS = ["/mcp", "/mcp/", "/mcp/size", "/health", "/", "//mcp", "/mcp/../health", "/mcp?" + "a=b&" * 50, "/%00", "*"]
