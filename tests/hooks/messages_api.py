"""A model behind Anthropic's Messages API on the loopback: it streams the answers that a test gave it.

Clients also ask for other things: whether the server is there, how many tokens a text has, a title. Such requests are
recorded, too, but take none of the answers.
"""

import contextlib
import itertools
import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any, NamedTuple

USAGE = {"input_tokens": 10, "output_tokens": 10, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
DEFAULT_ANSWER = "Done."


class ToolCall(NamedTuple):
    """An answer that calls a tool."""

    name: str
    input: dict[str, Any]


Answer = str | ToolCall


class Request(NamedTuple):
    method: str
    path: str
    body: dict[str, Any]

    @property
    def is_turn(self) -> bool:
        """Whether the model is to go on with the conversation: then it is offered tools."""
        return self.method == "POST" and self.path.partition("?")[0] == "/v1/messages" and bool(self.body.get("tools"))

    @property
    def texts(self) -> list[str]:
        """The texts of all messages, with those of the results of tools."""
        return [text for message in self.body["messages"] for text in _iterate_texts(message["content"])]

    @property
    def tool_results(self) -> list[str]:
        blocks = [block for message in self.body["messages"] for block in message["content"] if isinstance(block, dict)]
        results = [block["content"] for block in blocks if block["type"] == "tool_result"]
        return ["\n".join(_iterate_texts(result)) for result in results]


class MessagesServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: list[Answer] = []
        self.requests: list[Request] = []
        self._numbers = itertools.count(1)
        self._lock = Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def turns(self) -> list[Request]:
        return [each for each in self.requests if each.is_turn]

    def start(self) -> None:
        Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    def stop(self) -> None:
        self.shutdown()
        self.server_close()

    def record(self, request: Request) -> dict[str, Any]:
        """Record a request and return the message that answers it."""
        with self._lock:
            self.requests.append(request)
            has_answer = request.is_turn and bool(self.answers)
            return build_message(self.answers.pop(0) if has_answer else DEFAULT_ANSWER, next(self._numbers), request)


class Handler(BaseHTTPRequestHandler):
    server: MessagesServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else each event waits 40 ms for an acknowledgement

    def do_HEAD(self) -> None:
        self.server.record(Request("HEAD", self.path, {}))
        self.send({})

    def do_GET(self) -> None:
        self.server.record(Request("GET", self.path, {}))
        self.send({})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}")
        message = self.server.record(Request("POST", self.path, body))
        with contextlib.suppress(ConnectionError):  # the client may have ended
            match self.path.partition("?")[0]:
                case "/v1/messages" if body.get("stream"):
                    self.stream(message)
                case "/v1/messages":
                    self.send(message)
                case "/v1/messages/count_tokens":
                    self.send({"input_tokens": USAGE["input_tokens"]})
                case _:
                    self.send({})

    def send(self, answer: dict[str, Any]) -> None:
        content = b"" if self.command == "HEAD" else json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def stream(self, message: dict[str, Any]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for event in iterate_events(message):
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())

    def log_message(self, format: str, *args: object) -> None:
        """Be quiet."""


def build_message(answer: Answer, number: int, request: Request) -> dict[str, Any]:
    if isinstance(answer, ToolCall):
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": answer.name, "input": answer.input}
    else:
        block = {"type": "text", "text": answer}
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": request.body.get("model"),
        "content": [block],
        "stop_reason": "tool_use" if isinstance(answer, ToolCall) else "end_turn",
        "stop_sequence": None,
        "usage": USAGE,
    }


def iterate_events(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the events of which a streamed message consists."""
    (block,) = message["content"]
    if block["type"] == "text":
        empty_block, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
    else:
        written = json.dumps(block["input"])
        empty_block, delta = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": written}
    end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    yield {"type": "content_block_start", "index": 0, "content_block": empty_block}
    yield {"type": "ping"}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    yield {"type": "message_delta", "delta": end, "usage": USAGE}
    yield {"type": "message_stop"}


def _iterate_texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for block in content:
            yield from _iterate_texts(block.get("text") or block.get("content"))
