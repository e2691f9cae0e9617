"""Conversations: a session of ten thousand messages, imported, appended to, searched, replayed, deleted.

The store itself is measured with hashed vectors, so that the time of a model does not hide it; beside it, what a
shorter session takes with the model.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import dialogue
from benchmarks.dialogue import Dialogue, Message
from benchmarks.diy import Log
from benchmarks.measure import Figure, Target, percentile, timed, turns
from benchmarks.ours import open_ours, settle
from benchmarks.stores import WARM_UP
from retentive import Context, Replay, Retentive
from retentive.text.token_estimate import estimate_tokens

SESSION = "talk"
QUESTIONS = 50
APPENDS = 200
APPENDS_WITH_MODEL = 50
REPLAYS = 50  # of each budget
REPLAY_BUDGETS = (1000, 4000, 16_000)
CONTEXT_BUDGETS = (500, 2000, 8000)
BUDGET_WITH_MODEL = 2000

# Messages appended before a summary is asked for: more than fill what the last one left free of the session's budget
# (a tenth of 8,000 tokens, about fifteen messages).
CONDENSED = 20
CONDENSATIONS = 5

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation in both builds."""

    given: Dialogue
    folder: Path
    ours: Retentive
    log: Log

    def close(self) -> None:
        self.ours.close()
        self.log.close()

    def append(self, message: Message) -> None:
        self.ours.sessions.append(SESSION, **_as_ours(message))


def figures(folder: Path, size: int, with_model: int, say: Say) -> Iterator[tuple[int, Figure]]:
    """Each with the number of messages in its session."""
    wanted = {"questions": QUESTIONS + WARM_UP, "extra": APPENDS + CONDENSED * CONDENSATIONS}
    given = dialogue.make(size, **wanted)
    yield from ((size, figure) for figure in _of_the_store(given, folder / "store", say))
    some = dialogue.make(with_model, **wanted)
    yield from ((with_model, figure) for figure in _with_the_model(some, folder / "model", say))


def _of_the_store(given: Dialogue, folder: Path, say: Say) -> Iterator[Figure]:
    talk, rate = _built(given, folder, "hashing")
    yield Figure("import of a chat log", "messages/s", rate)
    _warm(talk)
    say(f"imported; answers from {talk.ours.stats()['index']}")
    yield from _appends(talk)
    _warm(talk)
    yield _searches(talk)
    yield from _replays(talk)
    for budget in CONTEXT_BUDGETS:
        yield from _contexts(talk, budget)
    yield from _condensations(talk)
    yield _deletion(talk)
    talk.close()


def _with_the_model(given: Dialogue, folder: Path, say: Say) -> Iterator[Figure]:
    talk, rate = _built(given, folder, "minilm")
    yield Figure("import of a chat log, with the model", "messages/s", rate)
    _warm(talk)
    say("imported with the model")
    seconds: list[float] = []
    for message in given.extra[:APPENDS_WITH_MODEL]:
        timed(seconds, partial(talk.append, message))
    yield Figure("single durable append with the model, p50", "ms", percentile(seconds, 50))
    _warm(talk)
    seconds = []
    for question in given.questions[:-WARM_UP]:  # each once: the vector of a question is remembered
        timed(seconds, partial(_context, talk, question, BUDGET_WITH_MODEL))
    what = f"context in {BUDGET_WITH_MODEL:,} tokens with the model, p50"
    yield Figure(what, "ms", percentile(seconds, 50))
    talk.close()


def _built(given: Dialogue, folder: Path, embedder: str) -> tuple[Talk, float]:
    """The session in both builds, memories beside it in ours, and how many messages a second were imported."""
    folder.mkdir(parents=True)
    talk = Talk(given, folder, open_ours(folder, embedder=embedder), Log(folder / "log.db"))
    talk.ours.search(given.questions[0])  # loads the model
    path = folder / f"{SESSION}.jsonl"
    dialogue.write(given.messages, path)
    seconds: list[float] = []
    imported = timed(seconds, partial(talk.ours.sessions.import_log, path))
    _expect(imported.events == len(given.messages), f"{imported.events} of {len(given.messages)} were imported")
    talk.ours.add_many(given.memories)
    talk.log.append(SESSION, *given.messages)
    return talk, len(given.messages) / seconds[0]


def _as_ours(message: Message) -> dict[str, Any]:
    names = {"role": "role", "content": "content", "name": "speaker", "timestamp": "time"}
    return {ours: message[name] for name, ours in names.items()}


def _warm(talk: Talk) -> None:
    """As in a process that has been at it for a while."""
    asked = talk.given.questions[-WARM_UP:]
    settle(talk.ours, ((question, None) for question in asked))
    for question in asked:
        talk.ours.context(question, SESSION)
        talk.log.search(question)


def _appends(talk: Talk) -> Iterator[Figure]:
    """One message, one durable commit. Those that find the summary due, condense too."""
    ours: list[float] = []
    theirs: list[float] = []
    for message in talk.given.extra[:APPENDS]:
        timed(ours, partial(talk.append, message))
        timed(theirs, partial(talk.log.append, SESSION, message))
    for percent in (50, 95):
        what = f"single durable append, p{percent}"
        yield Figure(what, "ms", percentile(ours, percent), percentile(theirs, percent))


def _searches(talk: Talk) -> Figure:
    ours, theirs = _each_median(talk, talk.ours.search_conversations, talk.log.search)
    return Figure("search_conversations, p50", "ms", percentile(ours, 50), percentile(theirs, 50))


def _each_median(talk: Talk, *actions: Callable[[str], Any]) -> list[list[float]]:
    """Of each question the median seconds, by action, in turns."""
    asked = talk.given.questions[:-WARM_UP]
    seconds: list[list[list[float]]] = [[[] for _ in asked] for _ in actions]
    for turn in turns(len(asked)):
        for action, spent in zip(actions, seconds, strict=True):
            for at in turn:
                timed(spent[at], partial(action, asked[at]))
    return [[median(each) for each in spent] for spent in seconds]


def _replays(talk: Talk) -> Iterator[Figure]:
    for budget in REPLAY_BUDGETS:
        seconds: list[float] = []
        for _ in range(REPLAYS):
            replay = timed(seconds, partial(talk.ours.sessions.replay, SESSION, budget))
            _expect_within(replay, budget)
        yield Figure(f"replay in {budget:,} tokens, p50", "ms", percentile(seconds, 50))
        yield _used(f"replay in {budget:,} tokens, used", [replay.tokens], budget)


def _contexts(talk: Talk, budget: int) -> Iterator[Figure]:
    used: list[int] = []
    (seconds,) = _each_median(talk, lambda question: used.append(_context(talk, question, budget).tokens))
    for percent in (50, 95):
        yield Figure(f"context in {budget:,} tokens, p{percent}", "ms", percentile(seconds, percent))
    yield _used(f"context in {budget:,} tokens, used (median)", used, budget)


def _context(talk: Talk, question: str, budget: int) -> Context:
    made = talk.ours.context(question, SESSION, budget)
    _expect_within(made, budget)
    return made


def _used(what: str, tokens: Sequence[int], budget: int) -> Figure:
    return Figure(what, "tokens", median(tokens), targets=(Target(budget, of="value"),))


def _expect_within(made: Replay | Context, budget: int) -> None:
    """Counted here once more: what it says of itself is not believed."""
    counted = estimate_tokens(made.text)
    _expect(counted == made.tokens <= budget, f"{counted} tokens (it says {made.tokens}) in a budget of {budget}")


def _condensations(talk: Talk) -> Iterator[Figure]:
    """Asked for in a store that does not condense by itself, so that nothing else is in the time."""
    seconds: list[float] = []
    waiting = talk.given.extra[APPENDS:]
    with open_ours(talk.folder, embedder="hashing", summarise=False) as quiet:
        for start in range(0, len(waiting), CONDENSED):
            quiet.sessions.append_many(SESSION, [*map(_as_ours, waiting[start : start + CONDENSED])])
            before = quiet.sessions.summary(SESSION)
            after = timed(seconds, partial(quiet.sessions.summarise, SESSION))
            _expect(after.epoch == before.epoch + 1, "a summary was due and was not made")
    yield Figure("one condensation", "ms", percentile(seconds, 50))
    yield Figure("summary at the end, epoch", "", after.epoch)
    yield Figure("summary at the end, size", "tokens", estimate_tokens(after.text))


def _deletion(talk: Talk) -> Figure:
    seconds: list[float] = []
    gone = timed(seconds, partial(talk.ours.sessions.delete, SESSION))
    said = len(talk.given.messages) + len(talk.given.extra)
    _expect(gone.events == said, f"{gone.events} of {said} messages were deleted")
    return Figure("delete the session", "s", seconds[0])


def _expect(kept: bool, otherwise: str) -> None:
    """A promise, not a speed: a run in which it is broken has no figures."""
    if not kept:
        raise RuntimeError(otherwise)
