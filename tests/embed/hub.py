"""A model hub on the loopback: real HTTP with range requests, and the ways in which a network fails."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from retentive.embed.catalogue import HubFile


class Hub(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.contents: dict[str, bytes | Path] = {}
        """By their addresses."""
        self.ranges = True
        """Whether a part of a file may be asked for."""
        self.cuts: list[int] = []
        """For the next answers, after how many bytes each breaks off."""
        self.asked: list[tuple[str, str]] = []
        """The address and the range of each request."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: object, client_address: object) -> None:
        """Be quiet about a client that hangs up before the end of a file."""

    def serve(self, file: HubFile, content: bytes | Path) -> None:
        self.contents[f"/{file.address}"] = content

    def count(self) -> Counter[str]:
        """How often each file was asked for, by its name there."""
        return Counter(address.rpartition("/")[2] for address, _ in self.asked)


class Handler(BaseHTTPRequestHandler):
    server: Hub

    def do_GET(self) -> None:
        wanted = self.headers.get("Range", "")
        self.server.asked.append((self.path, wanted))
        content = self.server.contents.get(self.path)
        if content is None:
            return self.send_error(404)
        found = re.fullmatch(r"bytes=(\d+)-", wanted) if self.server.ranges else None
        return self._answer(
            content.read_bytes() if isinstance(content, Path) else content, int(found[1]) if found else None
        )

    def _answer(self, content: bytes, start: int | None) -> None:
        if start is not None and start >= len(content):
            return self.send_error(416)
        rest = content[start or 0 :]
        self.send_response(200 if start is None else 206)
        self.send_header("Content-Length", str(len(rest)))
        self.end_headers()
        sent = self.server.cuts.pop(0) if self.server.cuts else len(rest)
        self.wfile.write(rest[:sent])
        self.close_connection = True
        return None

    def log_message(self, format: str, *args: object) -> None:
        """Be quiet."""


@contextmanager
def running_hub(files: Iterable[tuple[HubFile, bytes | Path]] = ()) -> Iterator[Hub]:
    with Hub() as hub:
        for file, content in files:
            hub.serve(file, content)
        thread = Thread(target=hub.serve_forever, args=(0.01,))
        thread.start()
        yield hub
        hub.shutdown()
        thread.join()
