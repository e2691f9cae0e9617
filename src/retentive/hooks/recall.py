"""Recall the memories that help with a prompt."""

from __future__ import annotations

import re
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from retentive.embed import open_configured
from retentive.errors import EmbedError
from retentive.hooks.blocks import Block, Group, build_block
from retentive.hooks.request import LATE_THREAD_NAME, HookCall, HookOptions, find_target
from retentive.hooks.transcript import is_program_text, strip_added

if TYPE_CHECKING:
    from collections.abc import Iterable

    from retentive.config import Config
    from retentive.model import Memory, Space

PROMPT_BUDGET = 500  # tokens
EMBEDDING_SHARE = 0.4  # of the time limit. After it, keyword search answers alone. The model usually takes a tenth
MAX_PROMPT_MEMORIES = 3  # few: what does not bear on a prompt distracts the model
QUESTION_HEAD_CHARS, QUESTION_TAIL_CHARS = 700, 300  # of a long prompt: text pasted in between is not the question

_COMMAND = re.compile(r"/[\w:.-]+(?:\s|$)")
_ASSENT_WORDS = frozenset(
    "a ahead alright and as be by continue correct done exactly fine go good great it keep let looks me next nice no "
    "now ok okay on one ones option perfect please proceed right s same so sounds stop sure thank thanks that the then "
    "this try up wait y yeah yep yes you again n".split()
)


def recall_for_prompt(call: HookCall, options: HookOptions) -> Block:
    """Build the block of memories that are relevant to a prompt and were not shown before."""
    question = extract_question(call.prompt)
    if not question:
        return Block("")
    target = find_target(call, options)
    question_vector = QuestionVector(question, target.settings, EMBEDDING_SHARE * options.time_limit)
    seen = target.state.load_shown()
    with target.open(target.settings.embedder) as store:
        space = store.space
        if question_vector.is_of(space):
            vector = question_vector.wait()
            has_vector = vector is not None
        else:  # the store has another model than the setting names; the search embeds with it
            vector = None
            has_vector = space is not None and can_embed_at_once(target.settings, space.model or "")
        found = store.search_for_prompt(
            question,
            MAX_PROMPT_MEMORIES,
            vector=vector,
            mode="hybrid" if has_vector else "text",
            min_similarity=target.settings.min_similarity or None,
            namespaces=target.served.also_read,
        )
        relevant = drop_seen([hit.memory for hit in found], seen)
        outdated = {hit.id: hit.outdated for hit in found if hit.outdated}
        budget = PROMPT_BUDGET if options.budget is None else options.budget
        block = build_block([Group("", relevant)], budget, outdated)
        shown = [memory for memory in relevant if memory.id in block.shown]
        store.injections.log_shown(shown, call.session_name, question)
    if block.shown:
        target.state.save_shown((*seen, *block.shown))
    return block


def extract_question(prompt: str) -> str:
    """Return the question in a prompt; "" for a slash command, a notification or a mere yes."""
    text = strip_added(prompt)
    if not text or is_program_text(prompt) or _COMMAND.match(text):
        return ""
    if set(re.findall(r"[^\W_]+", text.lower())) <= _ASSENT_WORDS:
        return ""
    if len(text) <= QUESTION_HEAD_CHARS + QUESTION_TAIL_CHARS:
        return text
    return f"{text[:QUESTION_HEAD_CHARS]}\n{text[-QUESTION_TAIL_CHARS:]}"


def drop_seen(memories: Iterable[Memory], seen: Iterable[str]) -> list[Memory]:
    known = {*seen}
    return [each for each in memories if each.id not in known]


class QuestionVector:
    """Embeds a question in a thread while the store is being opened."""

    def __init__(self, question: str, settings: Config, seconds: float) -> None:
        self._embedder = open_configured(settings, download=False)
        self._vector: Any = None
        self._thread = threading.Thread(target=self._embed, args=(question,), name=LATE_THREAD_NAME, daemon=True)
        self._deadline = time.monotonic() + seconds
        self._is_started = self._embedder is not None and can_embed_at_once(settings, settings.embedder)
        if self._is_started:
            self._thread.start()

    def is_of(self, space: Space | None) -> bool:
        """Whether the vector is of the store's own space: the store may have another model than the setting names."""
        return bool(self._embedder and space and self._embedder.space.name == space.name)

    def wait(self) -> Any:
        """Return the vector; None if it is not ready within the time limit."""
        if self._is_started:
            self._thread.join(max(0.0, self._deadline - time.monotonic()))
        return self._vector

    def _embed(self, question: str) -> None:
        with suppress(EmbedError):  # then keyword search answers alone
            self._vector = self._embedder.embed_query(question) if self._embedder else None


def can_embed_at_once(settings: Config, model: str) -> bool:
    """Whether a model embeds without a long pause. Int8 MiniLM needs seconds if its rebuilt graph is not cached."""
    from retentive.embed import is_int8_minilm, minilm_embedder

    if not is_int8_minilm(model, settings.precision) or settings.model_path:
        return True

    options = minilm_embedder.MiniLMOptions(Path(settings.cache).expanduser())
    return minilm_embedder.find_cached_model(options, minilm_embedder.find_source(options)) is not None
