"""A proxy that loses things, between a client and a libSQL server."""

import ssl
import threading
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Proxy:
    """Passes everything on, but for the one write after `lose` was set.

    `request`: it never reaches the server. `answer`: the server does it, and the client does not hear of it. `late`:
    the client gives up, and the server gets it when `release` is called. `everything`: as `answer`, and from then on
    no one gets through. `garbled`: as `answer`, and the client gets a page of ours. A number: it never reaches the
    server, and the client gets this status.
    """

    def __init__(self, port: int, tls: ssl.SSLContext | None = None) -> None:
        self.upstream = port
        self.lose = ""
        self.dead = False
        self.trips = 0
        """Requests so far."""
        self.released = threading.Event()
        self.late = b""
        """What the server answered to what came late."""
        self.arrived = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        if tls:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def close(self) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()

    def loses(self, body: bytes) -> str:
        if self.dead or b"BEGIN IMMEDIATE" not in body:
            return ""
        lost, self.lose = self.lose, ""
        self.dead = lost == "everything"
        return lost

    def forward(self, path: str, body: bytes, host: str) -> tuple[int, bytes]:
        upstream = HTTPConnection("127.0.0.1", self.upstream)
        upstream.request("POST", path, body, {"Host": host, "Content-Type": "application/json"})
        answer = upstream.getresponse()
        found = answer.status, answer.read()
        upstream.close()
        return found


def _handler(proxy: Proxy) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # else each answer waits 40 ms for an acknowledgement

        def do_POST(self) -> None:
            body, host = self.rfile.read(int(self.headers["Content-Length"])), self.headers["Host"]
            proxy.trips += 1
            was_dead, lost = proxy.dead, proxy.loses(body)
            if lost == "late":
                self._hang_up()
                proxy.released.wait(30)
                proxy.late = proxy.forward(self.path, body, host)[1]
                proxy.arrived.set()
            elif was_dead or lost == "request":
                self._hang_up()
            elif lost.isdigit():
                self._pass_on(int(lost), b"not now")
            else:
                status, answer = proxy.forward(self.path, body, host)
                if lost == "garbled":
                    self._pass_on(200, b"<html>Just a moment</html>")
                else:
                    self._hang_up() if lost else self._pass_on(status, answer)

        def _pass_on(self, status: int, answer: bytes) -> None:
            self.send_response(status)
            if status // 100 == 3:
                self.send_header("Location", "https://elsewhere.example:8443/v3/pipeline?a=b")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def _hang_up(self) -> None:
            self.close_connection = True
            self.connection.shutdown(2)

        def log_message(self, *_: Any) -> None: ...

    return Handler
