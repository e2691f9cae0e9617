"""The rolling summary of a session, and the conversation rebuilt from it."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from retentive.conversations.condense import Extractive, Policy, oldest
from retentive.conversations.imported import find_imported
from retentive.conversations.llm_summary import Prose
from retentive.conversations.replay import render_summary
from retentive.conversations.replay import replay as replayed
from retentive.conversations.turns import line
from retentive.errors import Busy, Invalid, NotFound, RetentiveError, Stale
from retentive.model import Event, Replay, Session, Summary, to_micros
from retentive.storage import step
from retentive.store import OpenStore
from retentive.store.validate import question
from retentive.store.write import MAX_ATTEMPTS
from retentive.text.token_counters import Condenser, Counter
from retentive.text.tokens import estimate

PAGE = 100  # messages read at a time
EARLY = 0.75  # another tokenizer may count a quarter more than the estimate: from here on tokens are really counted
FRUITLESS = 1.1  # after a look that found nothing to condense, the next when there is a tenth more
LARGEST_SHARE = 0.5  # of a replay's budget for the summary: the newest words are worth as much as all older ones


def keep_up(store: OpenStore, session: str) -> None:
    """Summarise if it is time. Told from the estimates kept with the events: an append reads no messages for it.

    What was appended is kept, whatever becomes of this: a failure is noted, and the next append tries again.
    """
    if store.config.summarise:
        try:
            _keep_up(store, session)
        except RetentiveError as error:
            store.journal.failed("summary", error)


def _keep_up(store: OpenStore, session: str) -> None:
    config, key = store.config, (store.namespace, session)
    due = store.tables.conversations.due(*key)
    if due is None:
        return
    state, count, tokens = due
    early = 1.0 if config.tokenizer == "estimate" else EARLY
    enough = early * config.summary_trigger * config.session_budget - estimate(state.text)
    if count >= config.summary_messages and tokens > max(
        enough, FRUITLESS * store.sessions_without_progress.get(key, 0)
    ):
        done = summarise(store, session, config.session_budget, None)
        store.sessions_without_progress.pop(key, None)
        if done.epoch == state.epoch:
            store.sessions_without_progress[key] = tokens


def summarise(store: OpenStore, session: str, budget: int, condenser: Condenser | None) -> Summary:
    config, count = store.config, store.counter()
    policy = Policy(config.summary_messages, config.summary_trigger, config.summary_target, config.summary_share)
    for _ in range(MAX_ATTEMPTS):
        about = store.tables.conversations.get(store.namespace, session)
        state = store.tables.conversations.summary(store.namespace, session)
        if state is None or about is None:
            raise NotFound(f"session {session!r} was deleted meanwhile")
        chosen = oldest(_unsummarised(store, state), budget, policy, count, count(state.text))
        if not chosen:
            return state
        visible = [event for event in chosen if not event.is_hidden]
        text = _condensed(store, condenser, state.text, visible, policy.limit(budget))
        try:
            return write(store, state, text, chosen[-1].sequence, state.epoch, about)
        except Stale:
            continue  # another summarised first; what it left may be enough
    raise Busy(f"others kept summarising session {session!r}", "Retry in a moment.")


def prose(store: OpenStore) -> Condenser | None:
    """The language model, if there is one. It is not asked while someone waits for an append."""
    writer = store.writer()
    if writer is None:
        return None
    return Prose(lambda instructions, material, tokens: writer.write(instructions, material, None, tokens=tokens).text)


def write(store: OpenStore, state: Summary, text: str, upto: int, epoch: int, about: Session | None = None) -> Summary:
    """Compare and swap: refused with `Stale` unless the summary is still at this epoch, and of this very session."""
    if upto < state.upto and epoch == state.epoch:
        raise Invalid(f"the summary covers messages up to {state.upto} already; upto is {upto}")
    values: dict[str, Any] = {
        "namespace": store.namespace,
        "session": state.session,
        "text": text,
        "upto": upto,
        "epoch": epoch,
    }
    values["created"] = to_micros(about.created) if about else None
    try:
        store.engine.apply([step("summary_put", expect=1, **values)])
    except Stale as error:
        raise error if about else _refused(store, state.session, upto, epoch) from error
    store.journal.wrote = True
    return Summary(state.session, text, upto, epoch + 1)


def replay(store: OpenStore, state: Summary, budget: int, counter: Counter | None) -> Replay:
    count = counter or store.counter()
    events, earlier = latest(store, state, budget, count)
    summary = fit_summary(state.text, int(LARGEST_SHARE * budget), count)
    about = store.tables.conversations.get(store.namespace, state.session)
    imported = find_imported(about.metadata) if about else 0
    return replayed(state.session, summary, events, earlier, budget, count, imported)


def latest(
    store: OpenStore, state: Summary, budget: int, count: Counter, end: int | None = None
) -> tuple[list[Event], int]:
    """The newest messages that no summary covers, more than fit the budget, and how many lie before them.

    All of them before the sequence `end`.
    """
    waiting = store.tables.conversations.unsummarised(store.namespace, state.session, state.upto, end)
    events: list[Event] = []
    tokens = 0
    while len(events) < waiting and tokens <= budget:
        before = events[0].sequence if events else end
        page = store.tables.conversations.newest(store.namespace, state.session, PAGE, state.upto, before)
        if not page:
            break  # deleted meanwhile
        events = page + events
        tokens += sum(count(line(event)) for event in page)
    return events, max(0, waiting - len(events))


def fit_summary(text: str, room: int, count: Counter) -> str:
    """A summary that fits as it is shown: quoted, and below its heading."""
    limit = room
    while text and limit > 0:
        made = shortened(text, limit, count)
        excess = count(render_summary(made)) - room
        if not made or excess <= 0:
            return made
        limit -= excess
    return ""


def shortened(text: str, limit: int, count: Counter) -> str:
    """A summary that fits."""
    if count(text) <= limit:
        return text
    can_be_key = getattr(count, "__hash__", None) is not None
    return (_shortened if can_be_key else _shortened.__wrapped__)(text, limit, count)


@lru_cache(64)
def _shortened(text: str, limit: int, count: Counter) -> str:
    """The same one is asked for with every question of a session."""
    return Extractive().condense(text, (), limit, count)


def forget() -> None:
    """What this process remembers of summaries."""
    _shortened.cache_clear()


def _unsummarised(store: OpenStore, state: Summary) -> list[Event]:
    events: list[Event] = []
    while page := store.tables.conversations.oldest(
        store.namespace, state.session, PAGE, events[-1].sequence if events else state.upto
    ):
        events += page
    return events


def _condensed(store: OpenStore, condenser: Condenser | None, summary: str, events: Sequence[Event], limit: int) -> str:
    """By the condenser that was given; by ours if it fails or does not keep to the limit."""
    count = store.counter()
    if condenser is not None:
        try:
            text: object = condenser.condense(summary, events, limit, count)
        except Exception as error:  # noqa: BLE001 - it is the caller's code and may fail in any way
            store.journal.failed("condenser", f"{type(error).__name__}: {error}")
        else:
            if isinstance(text, str) and (told := question(text).replace("\0", " ").strip()) and count(told) <= limit:
                return told
            store.journal.failed("condenser", "gave no text, or more than its limit")
    return Extractive().condense(summary, events, limit, count)


def _refused(store: OpenStore, session: str, upto: int, epoch: int) -> RetentiveError:
    now = store.tables.conversations.summary(store.namespace, session)
    if now is None:
        return NotFound(f"session {session!r} was deleted meanwhile")
    if now.epoch != epoch or upto <= now.upto:
        hint = "Read the summary again and write on from there."
        return Stale(f"the summary of session {session!r} is at epoch {now.epoch}, not {epoch}", hint)
    return Invalid(f"session {session!r} has no message {upto} yet", "Give the sequence of its last message or less.")
