"""The first hits in another order: by a model in ONNX, or by a server that is asked over HTTP."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from retentive import Retentive
from retentive.errors import BadConfig
from retentive.rerank.cross_encoder import CrossEncoder
from tests.support import Open

TEXTS = ("The boat is red", "The boat is blue", "The boat is green and old", "The boat is in the harbour of Porto")
QUESTION = "which boat"


class Server:
    """A real server on this machine; `answer` gets the request and gives status and body."""

    def __init__(self, answer: Callable[[dict[str, Any]], tuple[int, Any]]) -> None:
        self.asked: list[tuple[dict[str, Any], str | None]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.asked.append((body, self.headers.get("Authorization")))
                status, told = answer(body)
                data = told.encode() if isinstance(told, str) else json.dumps(told).encode()
                self.send_response(status)
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1/rerank"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def serve() -> Iterator[Callable[..., Server]]:
    servers: list[Server] = []

    def start(answer: Callable[[dict[str, Any]], tuple[int, Any]]) -> Server:
        servers.append(Server(answer))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


def score_by_length(texts: list[str], name: str) -> list[dict[str, Any]]:
    """The longest first."""
    return [{"index": place, name: float(len(text))} for place, text in enumerate(texts)][::-1]


def list_contents(store: Retentive, limit: int = 10) -> list[str]:
    return [hit.content for hit in store.search(QUESTION, limit)]


def add_memories(store: Retentive) -> Retentive:
    store.add_many(TEXTS)
    return store


LONGEST_FIRST = sorted(TEXTS, key=len, reverse=True)


def test_a_provider_with_a_model_is_asked_as_cohere_is(serve: Callable[..., Server], open_store: Open) -> None:
    server = serve(lambda body: (200, {"results": score_by_length(body["documents"], "relevance_score")}))
    store = add_memories(
        open_store(
            rerank="provider", rerank_url=server.url, rerank_key="k1", rerank_model="rerank-3", embedder="hashing"
        )
    )
    assert list_contents(store) == LONGEST_FIRST
    (body, key), *_ = server.asked
    assert (body["model"], body["query"], key) == ("rerank-3", QUESTION, "Bearer k1")


def test_a_server_without_a_model_is_asked_as_text_embeddings_inference_is(
    serve: Callable[..., Server], open_store: Open
) -> None:
    server = serve(lambda body: (200, score_by_length(body["texts"], "score")))
    store = add_memories(open_store(rerank="provider", rerank_url=server.url, embedder="hashing"))
    assert list_contents(store) == LONGEST_FIRST
    assert server.asked[0][1] is None


def test_the_hits_stay_in_the_order_of_their_scores_and_say_why(serve: Callable[..., Server], open_store: Open) -> None:
    server = serve(lambda body: (200, score_by_length(body["texts"], "score")))
    store = add_memories(open_store(rerank="provider", rerank_url=server.url, embedder="hashing"))
    hits = store.search(QUESTION)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    for hit in hits:
        why = hit.why
        weighed = sum(why.shares.values()) * why.confidence_factor * why.importance_factor
        assert hit.score == pytest.approx(weighed + why.rerank)
    assert any(hit.why.rerank for hit in hits)
    assert hits.timings["rerank"] > 0


def test_one_hit_is_the_best_of_all_that_are_reranked(serve: Callable[..., Server], open_store: Open) -> None:
    server = serve(lambda body: (200, score_by_length(body["texts"], "score")))
    store = add_memories(open_store(rerank="provider", rerank_url=server.url, embedder="hashing"))
    assert list_contents(store, 1) == LONGEST_FIRST[:1]


def sleep_and_answer() -> tuple[int, Any]:
    time.sleep(0.5)
    return 200, []


@pytest.mark.parametrize(
    ("answer", "seconds", "note"),
    [
        (lambda _: (500, "out of order"), 10, "answered 500: out of order"),
        (lambda _: (200, "not json"), 10, "no valid ranking"),
        (lambda _: (200, {"results": []}), 10, "no valid ranking"),
        (lambda _: (200, [{"index": 99, "score": 1.0}]), 10, "texts that it was not given"),
        (lambda _: sleep_and_answer(), 0.1, "did not answer within 0.1 seconds"),
    ],
)
def test_a_search_goes_on_without_a_reranker_that_fails(
    serve: Callable[..., Server], open_store: Open, answer: Any, seconds: float, note: str
) -> None:
    server = serve(answer)
    plain = list_contents(add_memories(open_store(embedder="hashing")))
    store = open_store(rerank="provider", rerank_url=server.url, rerank_timeout=seconds, embedder="hashing")
    found = store.search(QUESTION)
    assert [hit.content for hit in found] == plain
    assert note in found.notes[0]


def test_a_server_that_hangs_costs_one_search_its_time(serve: Callable[..., Server], open_store: Open) -> None:
    server = serve(lambda _: sleep_and_answer())
    store = open_store(rerank="provider", rerank_url=server.url, rerank_timeout=0.1, embedder="hashing")
    add_memories(store)
    assert "did not answer" in store.search(QUESTION).notes[0]
    for _ in range(20):
        assert "not asked for" in store.search(QUESTION).notes[0]
    assert len(server.asked) == 1


def test_a_server_that_is_not_there_is_noted(open_store: Open) -> None:
    store = add_memories(open_store(rerank="provider", rerank_url="http://127.0.0.1:9/rerank", embedder="hashing"))
    assert "could not be reached" in store.search(QUESTION).notes[0]


@pytest.mark.parametrize("kind", ["model", "provider"])
def test_a_reranker_that_is_not_set_up_is_an_error_that_says_what_to_set(open_store: Open, kind: str) -> None:
    store = add_memories(open_store(rerank=kind, embedder="hashing"))
    with pytest.raises(BadConfig) as raised:
        store.search(QUESTION)
    assert "rerank_" in raised.value.hint


def make_cross_encoder(folder: Path) -> Path:
    """A small model that gives each pair the number of its tokens, and a tokenizer for it."""
    folder.mkdir()
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0, "[SEP]": 1}, unk_token="[UNK]"))  # noqa: S106
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(pair="$A [SEP] $B:1", special_tokens=[("[SEP]", 1)])
    tokenizer.save(str(folder / "tokenizer.json"))
    ids, mask = (
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"])
        for name in ("input_ids", "attention_mask")
    )
    scores = helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["batch", 1])
    axis = helper.make_tensor("axis", TensorProto.INT64, [1], [1])
    nodes = [
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("ReduceSum", ["mask", "axis"], ["scores"], keepdims=1),
        helper.make_node("Identity", ["input_ids"], ["unused"]),
    ]
    graph = helper.make_graph(nodes, "tokens", [ids, mask], [scores], [axis])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, str(folder / "model.onnx"))
    return folder


def test_a_cross_encoder_of_ones_own_orders_the_hits(open_store: Open, tmp_path: Path) -> None:
    folder = make_cross_encoder(tmp_path / "cross")
    store = add_memories(open_store(rerank="model", rerank_model=str(folder), embedder="hashing"))
    assert list_contents(store)[:2] == [TEXTS[3], TEXTS[2]]


def test_the_threads_of_a_cross_encoder_use_no_processor_time_while_they_wait(tmp_path: Path) -> None:
    session, *_ = CrossEncoder(make_cross_encoder(tmp_path / "cross"))._load()
    assert session.get_session_options().get_session_config_entry("session.intra_op.allow_spinning") == "0"


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json"])
def test_a_damaged_or_missing_model_is_noted(open_store: Open, tmp_path: Path, missing: str) -> None:
    folder = make_cross_encoder(tmp_path / "cross")
    store = add_memories(open_store(rerank="model", rerank_model=str(folder), embedder="hashing"))
    (folder / missing).write_bytes(b"damaged")
    assert "not reranked" in store.search(QUESTION).notes[0]
    (folder / missing).unlink()
    assert missing in store.search(QUESTION).notes[0]


def test_a_model_that_takes_too_long_is_left_out(open_store: Open, tmp_path: Path) -> None:
    folder = make_cross_encoder(tmp_path / "cross")
    store = open_store(rerank="model", rerank_model=str(folder), rerank_timeout=0.01, embedder="hashing")
    store.add_many([f"The boat number {n} is {'very ' * 200}old" for n in range(40)])
    found = store.search(QUESTION, 40)
    assert len(found.hits) == 40
