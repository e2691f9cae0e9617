"""A language model with a limit for each day, counted in the store: it holds for all processes of a namespace."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from retentive import clock
from retentive.errors import LlmError, Paused, Spent, Stale
from retentive.llm import Writer, Written
from retentive.model import Cost
from retentive.storage import Engine
from retentive.storage.tables.metrics import Upkeep, usage_step

DAY = 86_400_000_000  # microseconds; days are those of UTC


@dataclass(slots=True)
class Counted:
    """A `Writer` that counts what asking it came to."""

    writer: Writer
    cost: Cost = field(default_factory=Cost)

    @property
    def name(self) -> str:
        return self.writer.name

    def write(self, instructions: str, material: str, schema: Mapping[str, Any] | None, *, tokens: int) -> Written:
        try:
            answer = self.writer.write(instructions, material, schema, tokens=tokens)
        except (Spent, Paused):
            raise  # nobody was asked
        except LlmError as error:
            self.cost = self.cost.plus(Cost(1, error.tokens - error.tokens_out, error.tokens_out))
            raise
        self.cost = self.cost.plus(Cost(1, answer.tokens_in, answer.tokens_out))
        return answer

    def close(self) -> None:
        self.writer.close()


@dataclass(frozen=True, slots=True)
class Metered:
    """A `Writer` that is not asked more than `calls` times, nor after `tokens` were read and written.

    No answer has more than `answer_tokens`: a weak model may not end by itself.
    """

    writer: Writer
    engine: Engine
    namespace: str
    calls: int
    tokens: int
    answer_tokens: int

    @property
    def name(self) -> str:
        return self.writer.name

    def write(self, instructions: str, material: str, schema: Mapping[str, Any] | None, *, tokens: int) -> Written:
        day = clock.now() // DAY
        self._take(day)
        try:
            answer = self.writer.write(instructions, material, schema, tokens=min(tokens, self.answer_tokens))
        except Paused:
            self.engine.apply([usage_step(self.namespace, "llm_calls", day, -1)])  # nobody was asked
            raise
        except LlmError as error:
            self._note(day, error.tokens)
            raise
        self._note(day, answer.tokens_in + answer.tokens_out)
        return answer

    def close(self) -> None:
        self.writer.close()

    def _take(self, day: int) -> None:
        """One call of the day's, if there is one left."""
        if Upkeep(self.engine).usage(self.namespace, "llm_tokens", day) >= self.tokens:
            raise Spent(f"today's {self.tokens:,} tokens are used up", "Raise llm_tokens_per_day, or wait.")
        if Upkeep(self.engine).usage(self.namespace, "llm_calls", day) >= self.calls:
            raise self._asked_out()
        try:
            self.engine.apply([usage_step(self.namespace, "llm_calls", day, 1, self.calls)])
        except Stale as error:  # another process had the last one
            raise self._asked_out() from error

    def _asked_out(self) -> Spent:
        return Spent(f"today's {self.calls:,} questions are used up", "Raise llm_calls_per_day, or wait.")

    def _note(self, day: int, tokens: int) -> None:
        if tokens:
            self.engine.apply([usage_step(self.namespace, "llm_tokens", day, tokens)])
