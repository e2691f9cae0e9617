"""Count the cost of a language model: a daily quota for all processes of a namespace, and a total for each session."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from retentive import clock
from retentive.errors import Busy, LlmError, Paused, Spent, Stale
from retentive.llm import Completion, LanguageModel
from retentive.model import LlmCost
from retentive.storage import Engine
from retentive.storage.tables.conversations import update_step
from retentive.storage.tables.metrics import Metrics, usage_step
from retentive.store import OpenStore
from retentive.store.write import Decision, write

MICROS_PER_DAY = 86_400_000_000  # days are those of UTC
COST_KEY = "llm_cost"  # the total cost of learning from a session, among its metadata


@dataclass(slots=True)
class CountingLanguageModel:
    """A `LanguageModel` that adds up its cost."""

    inner: LanguageModel
    cost: LlmCost = field(default_factory=LlmCost)

    @property
    def name(self) -> str:
        return self.inner.name

    def complete(
        self, instructions: str, material: str, schema: Mapping[str, Any] | None, *, max_tokens: int
    ) -> Completion:
        try:
            answer = self.inner.complete(instructions, material, schema, max_tokens=max_tokens)
        except (Spent, Paused):
            raise  # nobody was asked
        except LlmError as error:
            self.cost = self.cost.plus(LlmCost(1, error.tokens - error.tokens_out, error.tokens_out))
            raise
        self.cost = self.cost.plus(LlmCost(1, answer.tokens_in, answer.tokens_out))
        return answer

    def close(self) -> None:
        self.inner.close()


@dataclass(frozen=True, slots=True)
class QuotaLanguageModel:
    """A `LanguageModel` with a daily quota of `calls`, and of `tokens` read and written.

    `answer_tokens` limits each answer: a weak model may not stop by itself.
    """

    inner: LanguageModel
    engine: Engine
    namespace: str
    calls: int
    tokens: int
    answer_tokens: int

    @property
    def name(self) -> str:
        return self.inner.name

    def complete(
        self, instructions: str, material: str, schema: Mapping[str, Any] | None, *, max_tokens: int
    ) -> Completion:
        day = clock.now() // MICROS_PER_DAY
        self._take_call(day)
        try:
            answer = self.inner.complete(instructions, material, schema, max_tokens=min(max_tokens, self.answer_tokens))
        except Paused:
            self.engine.apply([usage_step(self.namespace, "llm_calls", day, -1)])  # nobody was asked
            raise
        except LlmError as error:
            self._add_tokens(day, error.tokens)
            raise
        self._add_tokens(day, answer.tokens_in + answer.tokens_out)
        return answer

    def close(self) -> None:
        self.inner.close()

    def _take_call(self, day: int) -> None:
        """Take one call of the day. Raises `Spent` if none is left."""
        if Metrics(self.engine).usage(self.namespace, "llm_tokens", day) >= self.tokens:
            raise Spent(f"today's {self.tokens:,} tokens are used up", "Raise llm_tokens_per_day, or wait.")
        if Metrics(self.engine).usage(self.namespace, "llm_calls", day) >= self.calls:
            raise self._make_quota_error()
        try:
            self.engine.apply([usage_step(self.namespace, "llm_calls", day, 1, self.calls)])
        except Stale as error:  # another process had the last one
            raise self._make_quota_error() from error

    def _make_quota_error(self) -> Spent:
        return Spent(f"today's {self.calls:,} calls are used up", "Raise llm_calls_per_day, or wait.")

    def _add_tokens(self, day: int, tokens: int) -> None:
        if tokens:
            self.engine.apply([usage_step(self.namespace, "llm_tokens", day, tokens)])


def record_cost(store: OpenStore, session: str, cost: LlmCost) -> None:
    """Add a cost to the total of a session. If other writers keep winning, it is dropped: the daily count has it."""

    def decide(_: int) -> Decision[None]:
        known = store.tables.conversations.get(store.namespace, session)
        if known is None:
            return Decision((), None)
        total = read_cost(known.metadata).plus(cost)
        new = replace(known, metadata={**known.metadata, COST_KEY: asdict(total)})
        return Decision([update_step(known, new)], None)

    if cost.calls:
        with suppress(Busy):
            write(store, decide, "others kept changing the same session")


def read_cost(metadata: Mapping[str, Any]) -> LlmCost:
    """The total cost in the metadata of a session. Anybody can write there, so bad values count as 0."""
    found = metadata.get(COST_KEY)
    costs = found if isinstance(found, Mapping) else {}
    values = (costs.get(each.name) for each in fields(LlmCost))
    return LlmCost(*(value if type(value) is int and value > 0 else 0 for value in values))
