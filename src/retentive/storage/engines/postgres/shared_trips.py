"""Several readers side by side, whose questions to the server travel together.

Each reader is a thread. When all that still run wait for an answer, what they asked is sent in one round trip. So a
context, which makes two searches and some other reads, takes as many trips as the part that asks most often in
sequence.
"""

import contextvars
import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from psycopg import Cursor

from retentive.errors import RetentiveError
from retentive.storage.engines.postgres.transactions import Call

T = TypeVar("T")


class Question:
    """What one reader asks, and later its answer or the error."""

    def __init__(self, calls: Sequence[Call], *, is_search: bool, has_timeout: bool) -> None:
        self.calls, self.is_search, self.has_timeout = calls, is_search, has_timeout
        self.answer: list[Cursor[Any]] | None = None
        self.error: BaseException | None = None

    @property
    def is_done(self) -> bool:
        return self.answer is not None or self.error is not None


Ask = Callable[[Question], list[Cursor[Any]]]


class SharedTrips:
    def __init__(self, ask: Ask, readers: int) -> None:
        self._ask = ask
        self._running = readers
        """How many readers still run."""
        self._waiting: list[Question] = []
        self._changed = threading.Condition()

    def fetch(self, question: Question) -> list[Cursor[Any]]:
        """Wait until all other readers wait too, or have ended. The last of them sends what all asked."""
        with self._changed:
            self._waiting.append(question)
            self._send_if_all_wait()
            while not question.is_done:
                self._changed.wait()
        if question.error is not None:
            raise question.error
        return question.answer or []

    def run(self, works: Sequence[Callable[[], T]]) -> list[T]:
        """Run the works side by side and return their results. The first error is raised when all have ended."""
        results: dict[int, T] = {}
        errors: dict[int, BaseException] = {}

        def run_one(number: int, context: contextvars.Context) -> None:
            try:
                results[number] = context.run(works[number])
            except BaseException as error:  # noqa: BLE001 - raised again below, in the caller's thread
                errors[number] = error
            finally:
                self._leave()

        threads = [
            threading.Thread(target=run_one, args=(number, contextvars.copy_context()), name="retentive-reader")
            for number in range(1, len(works))
        ]
        for thread in threads:
            thread.start()
        run_one(0, contextvars.copy_context())
        for thread in threads:
            thread.join()
        if errors:
            raise errors[min(errors)]
        return [results[number] for number in range(len(works))]

    def _leave(self) -> None:
        with self._changed:
            self._running -= 1
            self._send_if_all_wait()

    def _send_if_all_wait(self) -> None:
        if self._waiting and len(self._waiting) == self._running:
            questions, self._waiting = self._waiting, []
            try:
                self._send(questions)
            except BaseException as error:
                for question in questions:
                    question.error = question.error or error
                raise
            finally:
                self._changed.notify_all()

    def _send(self, questions: Sequence[Question]) -> None:
        together = Question(
            [call for question in questions for call in question.calls],
            is_search=all(question.is_search for question in questions),
            has_timeout=all(question.has_timeout for question in questions),
        )
        try:
            cursors = iter(self._ask(together))
        except RetentiveError:
            self._send_one_by_one(questions)
            return
        for question in questions:
            question.answer = [next(cursors) for _ in question.calls]

    def _send_one_by_one(self, questions: Sequence[Question]) -> None:
        """Asked together they failed. Ask each alone, so that only the reader whose question fails gets the error."""
        for question in questions:
            try:
                question.answer = self._ask(question)
            except RetentiveError as error:
                question.error = error
