"""A provider of language models on the loopback. It speaks Anthropic's Messages and OpenAI's Chat Completions."""

import contextlib
import json
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, NamedTuple

KEY = "sk-test-0123456789"


class Reply(NamedTuple):
    """What it answers to one request."""

    text: str = "Good morning."
    status: int = 200
    headers: dict[str, str] = {}  # noqa: RUF012 - nobody writes into it
    error: str = ""
    stop: str = ""
    """Why the model ended, if not because it was done: `length` or `refusal`."""
    delay: float = 0.0
    broken: bool = False
    """The connection ends in the middle of the body."""
    body: bytes = b""
    """This very body."""
    usage: bool = True


class Provider(ThreadingHTTPServer):
    """Answers with the replies it was given, one after the other, the last one for ever."""

    daemon_threads = True

    def __init__(self, *replies: Reply | Callable[[dict[str, Any]], Reply]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.replies = [*replies]
        self.asked: list[dict[str, Any]] = []
        Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def next(self, asked: dict[str, Any]) -> Reply:
        self.asked.append(asked)
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        return reply(asked) if callable(reply) else reply

    def stop(self) -> None:
        self.shutdown()
        self.server_close()


class Handler(BaseHTTPRequestHandler):
    server: Provider

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        reply = self.server.next(asked)
        time.sleep(reply.delay)
        is_messages = self.path == "/v1/messages"
        given = self.headers.get("x-api-key") or self.headers["Authorization"].removeprefix("Bearer ")
        if given != KEY:
            reply = Reply(status=401, error=f"invalid key {given}")
        body = reply.body or json.dumps((_messages if is_messages else _completions)(reply)).encode()
        self.send_response(reply.status)
        for name, value in {"Content-Type": "application/json", **reply.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) * (2 if reply.broken else 1)))
        self.end_headers()
        with contextlib.suppress(ConnectionError):  # the client may have given up
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Be quiet."""


def _messages(reply: Reply) -> dict[str, Any]:
    if reply.status >= 300:
        return {"type": "error", "error": {"type": "some_error", "message": reply.error}}
    stop = {"length": "max_tokens"}.get(reply.stop, reply.stop or "end_turn")
    usage = {"input_tokens": 90, "cache_read_input_tokens": 10, "output_tokens": 7} if reply.usage else {}
    content = [{"type": "thinking", "thinking": "Hm.", "signature": "x"}, {"type": "text", "text": reply.text}]
    return {"type": "message", "role": "assistant", "content": content, "stop_reason": stop, "usage": usage}


def _completions(reply: Reply) -> dict[str, Any]:
    if reply.status >= 300:
        return {"error": {"message": reply.error, "type": "some_error"}}
    refused = reply.stop == "refusal"
    message = {"role": "assistant", "content": None if refused else reply.text}
    message |= {"refusal": "I cannot help with that."} if refused else {}
    choice = {"index": 0, "message": message, "finish_reason": "stop" if refused else reply.stop or "stop"}
    return {"choices": [choice], "usage": {"prompt_tokens": 100, "completion_tokens": 7} if reply.usage else None}
