"""Embeds in a thread of its own, without a pause, and leaves in the middle of it."""

import sys
import threading
from contextlib import suppress
from pathlib import Path

from retentive.embed.minilm_embedder import MiniLMEmbedder
from retentive.errors import EmbedError

begun = threading.Event()
model = MiniLMEmbedder(Path(sys.argv[1]))


def work() -> None:
    with suppress(EmbedError):
        while True:
            begun.set()
            model.embed(["nobody ever counted what the cellar holds " * 60] * 8)


model.embed(["loaded"])
threading.Thread(target=work, daemon=True).start()
begun.wait()
