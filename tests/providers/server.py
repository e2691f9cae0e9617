"""A provider of embeddings on the loopback: OpenAI's `/v1/embeddings` and Ollama's `/api/embed`.

Its vectors are real ones, of the hashing embedder. It can be told to answer otherwise. As a program it serves on a port
until it is killed: `python -m tests.providers.server PORT`.
"""

import contextlib
import json
import math
import socket
import sys
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any, NamedTuple

from retentive.embed.hashing_embedder import HashingEmbedder

DIMENSION = 384


class Reply(NamedTuple):
    """How it answers one request."""

    status: int = 200
    headers: dict[str, str] = {}  # noqa: RUF012 - nobody writes into it
    error: str = ""
    delay: float = 0.0
    drip: float = 0.0
    """Seconds after each ten bytes of the body."""
    change: Callable[[list[list[float]]], list[list[float]]] = lambda vectors: vectors
    """What becomes of the right vectors."""
    body: bytes | None = None
    """This very body."""
    broken: bool = False
    """The connection ends in the middle of the body."""
    is_shuffled: bool = False
    usage: bool = True


class Asked(NamedTuple):
    path: str
    body: dict[str, Any]
    headers: dict[str, str]

    @property
    def texts(self) -> list[str]:
        return list(self.body["input"])


class EmbeddingServer(ThreadingHTTPServer):
    """Answers with the replies it was given, one after the other, the last one for ever."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, *replies: Reply | Callable[[Asked], Reply], port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.replies = [*(replies or (Reply(),))]
        self.asked: list[Asked] = []
        self.under_way = 0
        self.most_under_way = 0
        self.lock = Lock()
        self.connections: list[socket.socket] = []

    @property
    def url(self) -> str:
        """The base of its OpenAI-compatible endpoints."""
        return f"http://127.0.0.1:{self.server_port}/v1"

    def start(self) -> "EmbeddingServer":
        Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def stop(self) -> None:
        """End, and break off all connections, as a process that is killed does."""
        self.shutdown()
        self.server_close()
        for connection in self.connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def process_request(self, request: Any, client_address: Any) -> None:
        self.connections.append(request)
        super().process_request(request, client_address)

    def choose_reply(self, asked: Asked) -> Reply:
        with self.lock:
            self.asked.append(asked)
            reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        return reply(asked) if callable(reply) else reply


class Handler(BaseHTTPRequestHandler):
    server: EmbeddingServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else each answer waits 40 ms for an acknowledgement

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        asked = Asked(self.path, body, {name.lower(): value for name, value in self.headers.items()})
        with self.server.lock:
            self.server.under_way += 1
            self.server.most_under_way = max(self.server.most_under_way, self.server.under_way)
        try:
            self.answer(asked, self.server.choose_reply(asked))
        finally:
            with self.server.lock:
                self.server.under_way -= 1

    def answer(self, asked: Asked, reply: Reply) -> None:
        time.sleep(reply.delay)
        content = make_body(asked, reply) if reply.body is None else reply.body
        with contextlib.suppress(ConnectionError):  # the client may have given up
            self.send_response(reply.status)
            for name, value in {"Content-Type": "application/json", **reply.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content) * (2 if reply.broken else 1)))
            self.end_headers()
            self.write(content, reply.drip)
            self.close_connection = reply.broken

    def write(self, content: bytes, drip: float) -> None:
        size = 10 if drip else len(content)
        for start in range(0, len(content), size):
            self.wfile.write(content[start : start + size])
            time.sleep(drip)

    def log_message(self, format: str, *args: object) -> None:
        """Be quiet."""


def make_body(asked: Asked, reply: Reply) -> bytes:
    if reply.status >= 300:
        return json.dumps({"error": {"message": reply.error, "type": "some_error"}}).encode()
    vectors = reply.change(HashingEmbedder().embed(asked.texts).tolist())
    tokens = sum(len(text.split()) for text in asked.texts) if reply.usage else None
    if asked.path == "/api/embed":
        return json.dumps({"embeddings": vectors, "prompt_eval_count": tokens}).encode()
    rows = [{"index": place, "embedding": vector} for place, vector in enumerate(vectors)]
    if reply.is_shuffled:
        rows = [*rows[1::2], *rows[::2]]
    return json.dumps({"data": rows, "usage": {"prompt_tokens": tokens, "total_tokens": tokens}}).encode()


def shorten(vectors: list[list[float]]) -> list[list[float]]:
    """Vectors of another model."""
    return [vector[: DIMENSION // 2] for vector in vectors]


def spoil(vectors: list[list[float]]) -> list[list[float]]:
    return [[math.nan, *vector[1:]] for vector in vectors]


def blank(vectors: list[list[float]]) -> list[list[float]]:
    return [[0.0] * len(vector) for vector in vectors]


def drop_last(vectors: list[list[float]]) -> list[list[float]]:
    return vectors[:-1]


def repeat_last(vectors: list[list[float]]) -> list[list[float]]:
    return [*vectors, vectors[-1]]


def cut_one(vectors: list[list[float]]) -> list[list[float]]:
    return [vectors[0][:-1], *vectors[1:]]


if __name__ == "__main__":
    server = EmbeddingServer(port=int(sys.argv[1]))
    print(server.server_port, flush=True)
    server.serve_forever()
