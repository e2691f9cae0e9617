"""Try a language model on a short conversation: how quick it is, whether it answers in JSON, and what it finds.

Nothing is read from the store, and nothing is kept.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from retentive.config import Config
from retentive.errors import BadConfig, LlmError, Unusable
from retentive.learning.quota import Counted
from retentive.llm import Writer, Written, open_configured
from retentive.model import Event, LlmTrial, Role, from_micros

GREETING = "Answer with the one word: ready"
GREETING_TOKENS = 200  # one word; some models think before they write it
MOMENT = 1_772_442_000_000_000  # Monday 2 March 2026, 09:00 UTC: the same sample whenever it is tried
SAMPLE = (
    (Role.ASSISTANT, "Good morning! Where are you these days?"),
    (Role.USER, "Hi! I moved to Porto last week, with my dog Rex. And I work at Stripe now."),
    (Role.ASSISTANT, "Porto has the best bakeries. Shall I write long answers?"),
    (Role.USER, "No, please always keep your answers short. Can you recommend a book?"),
)


@dataclass(slots=True)
class _Recorder:
    """A `Writer` that keeps the answers of another."""

    writer: Writer
    answers: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.writer.name

    def write(self, instructions: str, material: str, schema: Mapping[str, Any] | None, *, tokens: int) -> Written:
        written = self.writer.write(instructions, material, schema, tokens=tokens)
        self.answers.append(written.text)
        return written

    def close(self) -> None:
        self.writer.close()


def try_llm(settings: Config) -> LlmTrial:
    """The trial of the model that is set; `BadConfig` if there is none.

    It does not count for what may be asked in a day: that is counted in a store.
    """
    writer = open_configured(settings)
    if writer is None:
        raise BadConfig("no language model is set", "Name one in the setting llm, such as openai:MODEL.")
    try:
        return try_writer(writer, settings.llm_answer_tokens)
    finally:
        writer.close()


def try_writer(writer: Writer, tokens: int) -> LlmTrial:
    """Ask for one word, and for the claims of the sample. `tokens` limits an answer. What fails is told in `error`."""
    from retentive.learning.llm.extract import EXTRACT, extract

    recorder = _Recorder(writer)
    counted = Counted(recorder)
    begun = time.perf_counter()
    latency, found, error = 0.0, None, None
    try:
        counted.write(GREETING, GREETING, None, tokens=min(tokens, GREETING_TOKENS))
        latency = time.perf_counter() - begun
        begun = time.perf_counter()
        found = extract(counted, _make_sample(), tokens=tokens)
    except LlmError as failure:
        error = str(failure)
    answers = recorder.answers[1:]
    return LlmTrial(
        model=writer.name,
        prompt=EXTRACT,
        latency=round(latency, 3),
        seconds=round(time.perf_counter() - begun, 3),
        answers=len(answers),
        valid=sum(map(_is_valid, answers)),
        claims=tuple(claim.content for claim in found.claims) if found else (),
        rejected=found.rejected if found else (),
        error=error,
        cost=counted.cost,
    )


def _make_sample() -> list[Event]:
    time = from_micros(MOMENT)
    return [
        Event("sample", "sample", number, role, None, text, None, time)
        for number, (role, text) in enumerate(SAMPLE, start=1)
    ]


def _is_valid(answer: str) -> bool:
    from retentive.learning.llm.validate import read_claims

    try:
        read_claims(answer)
    except Unusable:
        return False
    return True
