"""Are the model's vectors the model's?"""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from retentive.embed import minilm_embedder
from retentive.embed.local_embedder import delay_interrupts
from retentive.embed.minilm_embedder import MiniLMEmbedder
from retentive.embed.minilm_known_vectors import load_known_vectors
from retentive.embed.onnx_encoder import split_into_batches
from retentive.embed.tokenizer import MAX_TOKENS, encode_text, load_tokenizer
from retentive.errors import EmbedError


def test_agrees_with_the_float_model(minilm: MiniLMEmbedder) -> None:
    """Every known text is within .985 of the float model's vector, and .99 on average."""
    texts, vectors = load_known_vectors()
    cosines = (minilm.embed(texts) * vectors).sum(axis=1)
    assert cosines.min() >= 0.985
    assert cosines.mean() >= 0.99


def test_meaning_ranks(minilm: MiniLMEmbedder) -> None:
    """The nearest text is the one that means the same, without sharing words."""
    question = minilm.embed_query("What pet does she have?")
    answers = minilm.embed(["Her dog is called Max.", "The invoice is due on Friday.", "Paris is in France."])
    similar = answers @ question
    assert similar.argmax() == 0
    assert similar[0] > minilm.space.min_similarity > similar[1:].max()


def test_same_vector_in_another_process(minilm: MiniLMEmbedder, cache: Path) -> None:
    """A vector kept today is found tomorrow."""
    code = f"""
import sys, pathlib
from retentive.embed import open_embedder
vector = open_embedder("minilm", cache=pathlib.Path({str(cache)!r})).embed_query("the same in every process")
sys.stdout.buffer.write(vector.tobytes())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert np.frombuffer(done.stdout, np.float32) @ minilm.embed_query("the same in every process") > 0.9999
    assert done.stderr == b""


def test_many_threads_load_once(cache: Path, minilm: MiniLMEmbedder) -> None:
    """However many threads come first, one model is loaded."""
    assert minilm.embed(["make sure it is cached"]).any()
    embedder = MiniLMEmbedder(cache)
    with ThreadPoolExecutor(8) as pool:
        loaded = list(pool.map(lambda _: embedder._load(), range(8)))
    assert len({id(one) for one in loaded}) == 1


@pytest.mark.parametrize("option", ["session.intra_op.allow_spinning", "session.inter_op.allow_spinning"])
def test_threads_that_wait_use_no_processor_time(minilm: MiniLMEmbedder, option: str) -> None:
    """ONNX Runtime's threads spin between two questions unless they are told not to."""
    options = minilm._load().encoder._session.get_session_options()
    assert options.get_session_config_entry(option) == "0"


@pytest.mark.parametrize("text", [" " * 1_000_000, "lorem ipsum, " * 80_000, "a" * 1_000_000, "漢" * 1_000_000])
def test_a_megabyte_is_cheap(minilm: MiniLMEmbedder, text: str) -> None:
    """What the model cannot see costs nothing."""
    start = time.perf_counter()
    minilm.embed([text])
    assert time.perf_counter() - start < 2


@pytest.mark.parametrize(
    "text",
    [
        "plain words, and more of them. " * 400,  # prose: the cut is far past the last token seen
        "\n" * 9000 + "words after much space",
        "x" * 9000 + " words after one long word",
        "漢字かな" * 3000,  # a script without spaces: every character is a word
    ],
)
def test_the_cut_is_not_seen(text: str) -> None:
    """Cutting a long text first gives the tokens that the whole of it gives."""
    words = load_tokenizer()
    assert encode_text(words, text) == words.encode(text).ids


def test_tokens_are_berts() -> None:
    """Lower case, no accents, pieces of words, special tokens around; special tokens in the text are only text."""
    words = load_tokenizer()
    assert encode_text(words, "Café unaffable") == [101, 7668, 14477, 20961, 3468, 102]
    assert encode_text(words, "[SEP]") == [101, 1031, 19802, 1033, 102]
    assert len(encode_text(words, "word " * 1000)) == MAX_TOKENS


def test_batches_hold_every_text_once() -> None:
    """Each place is in one batch, and long texts do not share one with many."""
    lengths = [256, 3, 256, 256, 10, 3, 500]
    found = list(split_into_batches(lengths))
    assert sorted(place for batch in found for place in batch) == list(range(len(lengths)))
    assert all(len(batch) * max(lengths[place] for place in batch) <= 512 for batch in found)


def test_describe_before_and_after(cache: Path, minilm: MiniLMEmbedder) -> None:
    """The doctor reads which file is used without loading it."""
    assert minilm.embed(["loaded"]).any()
    before = MiniLMEmbedder(cache).describe()
    assert before["loaded"] == "no"
    assert before["graph"] == minilm.describe()["graph"]
    assert Path(before["graph"]).name.startswith(f"minilm-{minilm_embedder.BUILD_VERSION}-")
    assert "degraded" not in minilm.describe()


def test_nothing_is_counted_or_reported(cache: Path, tmp_path: Path) -> None:
    """ONNX Runtime may keep a device id and a queue of reports in the user's cache folder; not with us."""
    code = "import sys; from pathlib import Path; from retentive.embed.minilm_embedder import MiniLMEmbedder; "
    code += "MiniLMEmbedder(Path(sys.argv[1])).embed(['a text'])"
    home = {**os.environ, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    home.pop("ORT_DISABLE_TELEMETRY", None)
    subprocess.run([sys.executable, "-c", code, str(cache)], env=home, check=True)
    assert [*tmp_path.rglob("*")] == []


def test_a_question_of_unknown_words_has_no_vector(minilm: MiniLMEmbedder) -> None:
    """They would all have the same; the caller is told, and looks for the words."""
    for question in ("\U0001f382", "\u0e22\u0e34\u0e19\u0e14\u0e35"):
        with pytest.raises(EmbedError, match="knows none"):
            minilm.embed_query(question)
    assert minilm.embed_query("a birthday \U0001f382 cake").shape == (384,)


def test_an_interrupt_waits_for_the_end_of_a_load() -> None:
    """Half an import would be a broken library."""
    done: list[str] = []
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it

    def load() -> None:
        with delay_interrupts():
            signal.raise_signal(signal.SIGINT)
            done.append("the load")

    try:
        with pytest.raises(KeyboardInterrupt):
            load()
    finally:
        signal.signal(signal.SIGINT, before)
    assert done == ["the load"]


@pytest.mark.usefixtures("minilm")
def test_a_program_may_end_while_a_thread_embeds(cache: Path) -> None:
    """A thread that comes back from the model to an interpreter that is gone would abort the process."""
    program = Path(__file__).parents[1] / "programs" / "embedder.py"
    ended = subprocess.run(
        [sys.executable, str(program), str(cache)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")
