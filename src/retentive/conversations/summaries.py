"""Write the rolling summary of a session, and rebuild the conversation from it."""

from collections.abc import Sequence
from dataclasses import replace

from retentive.conversations.condense import Condenser, ExtractiveCondenser, SummaryPolicy, choose_oldest
from retentive.conversations.imported import find_imported
from retentive.conversations.llm_summary import LlmCondenser
from retentive.conversations.replay import build_replay, render_summary
from retentive.conversations.turns import render_line
from retentive.errors import Busy, Invalid, NotFound, RetentiveError, Stale
from retentive.model import Event, Replay, Session, Summary, to_micros
from retentive.storage.tables import conversations
from retentive.storage.tables.conversations import PendingSummary
from retentive.store import OpenStore
from retentive.store.validate import clean_question
from retentive.store.write import MAX_ATTEMPTS
from retentive.text.caches import text_cache
from retentive.text.token_counters import TokenCounter
from retentive.text.token_estimate import estimate_tokens

PAGE_SIZE = 100  # messages read at a time
EXACT_COUNT_SHARE = 0.75  # a tokenizer may count a quarter more than the estimate: from here on it is asked
RETRY_GROWTH = 1.1  # after an attempt that condensed nothing, the next follows when a tenth more tokens wait
MAX_SUMMARY_SHARE = 0.5  # of a replay's budget for the summary: the newest words are worth as much as all older ones


def summarise_if_due(store: OpenStore, session_id: str, waiting: PendingSummary | None = None) -> None:
    """Summarise if it is due by the stored token estimates: an append reads no messages for it.

    `waiting` is what waits to be summarised, if that is known.
    An error is noted in the journal, and the next append tries again: the appended message is stored in any case.
    """
    if store.config.summarise:
        try:
            _summarise_if_due(store, session_id, waiting)
        except RetentiveError as error:
            store.journal.record_failure("summary", error)


def _summarise_if_due(store: OpenStore, session_id: str, waiting: PendingSummary | None) -> None:
    config, key = store.config, (store.namespace, session_id)
    waiting = waiting or store.tables.conversations.load_pending_summary(*key)
    if waiting is None or waiting.messages < config.summary_messages:
        return
    margin = 1.0 if config.tokenizer == "estimate" else EXACT_COUNT_SHARE
    trigger = margin * config.summary_trigger * config.session_budget - estimate_tokens(waiting.summary.text)
    retry = RETRY_GROWTH * store.tokens_at_failed_summary.get(key, 0)
    if waiting.tokens > max(trigger, retry):
        done = summarise(store, session_id, config.session_budget, None)
        store.tokens_at_failed_summary.pop(key, None)
        if done.epoch == waiting.summary.epoch:
            store.tokens_at_failed_summary[key] = waiting.tokens


def summarise(store: OpenStore, session_id: str, budget: int, condenser: Condenser | None) -> Summary:
    config, count = store.config, store.counter()
    policy = SummaryPolicy(
        min_messages=config.summary_messages, trigger=config.summary_trigger, target=config.summary_target,
        share=config.summary_share,
    )  # fmt: skip
    for _ in range(MAX_ATTEMPTS):
        session = store.tables.conversations.get(store.namespace, session_id)
        summary = store.tables.conversations.load_summary(store.namespace, session_id)
        if summary is None or session is None:
            raise NotFound(f"session {session_id!r} was deleted meanwhile")
        chosen = choose_oldest(_load_all_unsummarised(store, summary), budget, policy, count, count(summary.text))
        if not chosen:
            return summary
        visible = [event for event in chosen if not event.is_hidden]
        text = _condense(store, condenser, summary.text, visible, policy.limit(budget))
        try:
            return write_summary(store, summary, text, chosen[-1].sequence, summary.epoch, session)
        except Stale:
            continue  # another summarised first; what it left may be enough
    raise Busy(f"others kept summarising session {session_id!r}", "Retry in a moment.")


def open_llm_condenser(store: OpenStore) -> Condenser | None:
    """Return the condenser of the language model, if one is set. It is not used while a caller waits for an append."""
    llm = store.llm()
    if llm is None:
        return None
    return LlmCondenser(
        lambda instructions, material, tokens: llm.complete(instructions, material, None, max_tokens=tokens).text
    )


def write_summary(
    store: OpenStore, summary: Summary, text: str, upto: int, epoch: int, session: Session | None = None
) -> Summary:
    """Write the summary if it is still at this epoch and of this very session; else raise `Stale`."""
    if upto < summary.upto and epoch == summary.epoch:
        raise Invalid(f"the summary covers messages up to {summary.upto} already; upto is {upto}")
    try:
        created = to_micros(session.created) if session else None
        expected = replace(summary, epoch=epoch)
        store.engine.apply([conversations.set_summary_step(store.namespace, expected, text, upto, created)])
    except Stale as error:
        raise error if session else _explain_refusal(store, summary.session, upto, epoch) from error
    store.journal.note_write()
    return Summary(summary.session, text, upto, epoch + 1)


def replay_session(store: OpenStore, summary: Summary, budget: int, counter: TokenCounter | None) -> Replay:
    count = counter or store.counter()
    events, earlier = load_unsummarised(store, summary, budget, count)
    text = fit_summary(summary.text, int(MAX_SUMMARY_SHARE * budget), count)
    session = store.tables.conversations.get(store.namespace, summary.session)
    imported = find_imported(session.metadata) if session else 0
    return build_replay(summary.session, text, events, earlier, budget, count, imported)


def load_unsummarised(
    store: OpenStore, summary: Summary, budget: int, count: TokenCounter, end: int | None = None
) -> tuple[list[Event], int]:
    """Return the newest messages that no summary covers, and how many more lie before them.

    Enough are read to exceed the budget. With `end`, only messages before that sequence count.
    """
    waiting = store.tables.conversations.count_unsummarised(store.namespace, summary.session, summary.upto, end)
    events: list[Event] = []
    tokens = 0
    while len(events) < waiting and tokens <= budget:
        before = events[0].sequence if events else end
        page = store.tables.conversations.list_newest(store.namespace, summary.session, PAGE_SIZE, summary.upto, before)
        if not page:
            break  # deleted meanwhile
        events = page + events
        tokens += sum(count(render_line(event)) for event in page)
    return events, max(0, waiting - len(events))


def fit_summary(text: str, room: int, count: TokenCounter) -> str:
    """Shorten a summary so that it fits as it is shown: quoted, below its heading."""
    limit = room
    while text and limit > 0:
        made = shorten_summary(text, limit, count)
        excess = count(render_summary(made)) - room
        if not made or excess <= 0:
            return made
        limit -= excess
    return ""


def shorten_summary(text: str, limit: int, count: TokenCounter) -> str:
    """Shorten a summary to at most so many tokens."""
    if count(text) <= limit:
        return text
    can_be_key = getattr(count, "__hash__", None) is not None
    return (_condense_summary if can_be_key else _condense_summary.__wrapped__)(text, limit, count)


@text_cache(64)
def _condense_summary(text: str, limit: int, count: TokenCounter) -> str:
    """Condense a summary. It is cached: every question of a session needs the same one."""
    return ExtractiveCondenser().condense(text, (), limit, count)


def _load_all_unsummarised(store: OpenStore, summary: Summary) -> list[Event]:
    events: list[Event] = []
    while page := store.tables.conversations.list_oldest(
        store.namespace, summary.session, PAGE_SIZE, events[-1].sequence if events else summary.upto
    ):
        events += page
    return events


def _condense(store: OpenStore, condenser: Condenser | None, summary: str, events: Sequence[Event], limit: int) -> str:
    """Condense with the given condenser, or with the default if that fails or exceeds the limit."""
    count = store.counter()
    if condenser is not None:
        try:
            text: object = condenser.condense(summary, events, limit, count)
        except Exception as error:  # noqa: BLE001 - it is the caller's code and may fail in any way
            store.journal.record_failure("condenser", f"{type(error).__name__}: {error}")
        else:
            cleaned = clean_question(text).replace("\0", " ").strip() if isinstance(text, str) else ""
            if cleaned and count(cleaned) <= limit:
                return cleaned
            store.journal.record_failure("condenser", "gave no text, or more than its limit")
    return ExtractiveCondenser().condense(summary, events, limit, count)


def _explain_refusal(store: OpenStore, session_id: str, upto: int, epoch: int) -> RetentiveError:
    now = store.tables.conversations.load_summary(store.namespace, session_id)
    if now is None:
        return NotFound(f"session {session_id!r} was deleted meanwhile")
    if now.epoch != epoch or upto <= now.upto:
        hint = "Read the summary again and continue from there."
        return Stale(f"the summary of session {session_id!r} is at epoch {now.epoch}, not {epoch}", hint)
    return Invalid(
        f"session {session_id!r} has no message {upto} yet", "Give at most the sequence number of its last message."
    )
