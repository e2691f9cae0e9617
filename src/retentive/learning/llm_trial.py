"""Try a language model on a short conversation: measure its speed, check its JSON and list the claims it finds.

Nothing is read from the store, and nothing is stored.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from retentive.config import Config
from retentive.errors import BadConfig, LlmError, Unusable
from retentive.learning.llm_quota import CountingLanguageModel
from retentive.llm import Completion, LanguageModel, open_configured
from retentive.model import Event, LlmTrial, Role, from_micros

GREETING_PROMPT = "Answer with the one word: ready"
GREETING_TOKENS = 200  # one word; some models think before they write it
SAMPLE_MICROS = 1_772_442_000_000_000  # Monday 2 March 2026, 09:00 UTC: the same sample whenever it is tried
SAMPLE_MESSAGES = (
    (Role.ASSISTANT, "Good morning! Where are you these days?"),
    (Role.USER, "Hi! I moved to Porto last week, with my dog Rex. And I work at Stripe now."),
    (Role.ASSISTANT, "Porto has the best bakeries. Shall I write long answers?"),
    (Role.USER, "No, please always keep your answers short. Can you recommend a book?"),
)


@dataclass(slots=True)
class _RecordingLanguageModel:
    """A `LanguageModel` that keeps the answers of another."""

    inner: LanguageModel
    answers: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.inner.name

    def complete(
        self, instructions: str, material: str, schema: Mapping[str, Any] | None, *, max_tokens: int
    ) -> Completion:
        completion = self.inner.complete(instructions, material, schema, max_tokens=max_tokens)
        self.answers.append(completion.text)
        return completion

    def close(self) -> None:
        self.inner.close()


def try_llm(settings: Config) -> LlmTrial:
    """Try the configured model. Raises `BadConfig` if there is none.

    The trial does not count towards the daily quota, which is in a store.
    """
    llm = open_configured(settings)
    if llm is None:
        raise BadConfig("no language model is set", "Set one in llm, such as openai:MODEL.")
    try:
        return try_language_model(llm, settings.llm_answer_tokens)
    finally:
        llm.close()


def try_language_model(llm: LanguageModel, max_tokens: int) -> LlmTrial:
    """Ask for one word, then for the claims of the sample. `max_tokens` limits an answer. A failure is in `error`."""
    from retentive.learning.llm.extract import EXTRACT_PROMPT, extract_claims

    recorder = _RecordingLanguageModel(llm)
    counted = CountingLanguageModel(recorder)
    start = time.perf_counter()
    latency, found, error = 0.0, None, None
    try:
        counted.complete(GREETING_PROMPT, GREETING_PROMPT, None, max_tokens=min(max_tokens, GREETING_TOKENS))
        latency = time.perf_counter() - start
        start = time.perf_counter()
        found = extract_claims(counted, _make_sample(), max_tokens=max_tokens)
    except LlmError as failure:
        error = str(failure)
    answers = recorder.answers[1:]
    return LlmTrial(
        model=llm.name,
        prompt=EXTRACT_PROMPT,
        latency=round(latency, 3),
        seconds=round(time.perf_counter() - start, 3),
        answers=len(answers),
        valid=sum(map(_is_valid, answers)),
        claims=tuple(claim.content for claim in found.claims) if found else (),
        rejected=found.rejected if found else (),
        error=error,
        cost=counted.cost,
    )


def _make_sample() -> list[Event]:
    time = from_micros(SAMPLE_MICROS)
    return [
        Event("sample", "sample", number, role, speaker=None, content=text, payload=None, time=time)
        for number, (role, text) in enumerate(SAMPLE_MESSAGES, start=1)
    ]


def _is_valid(answer: str) -> bool:
    from retentive.learning.llm.validate import read_claims

    try:
        read_claims(answer)
    except Unusable:
        return False
    return True
