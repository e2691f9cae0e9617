"""The verbs of conversations: append messages, read them, summarise, replay, delete."""

import builtins
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import IO, Any

from retentive import clock
from retentive.conversations import chat_import, summaries
from retentive.conversations.append import append, make_empty_session
from retentive.conversations.condense import Condenser
from retentive.errors import Invalid, NotFound
from retentive.memories import daily_log
from retentive.model import (
    AppendResult,
    DeleteSessionResult,
    Event,
    ImportLogResult,
    ImportTrust,
    Message,
    Replay,
    Session,
    Summary,
)
from retentive.storage.tables import conversations, expectations, quarantine
from retentive.storage.tables.memories import namespace_step
from retentive.store import OpenStore, secret_policy, validate
from retentive.store.active_model import with_active_model
from retentive.store.person import open_person_store
from retentive.store.validate import UNSET, TimeInput, Unset
from retentive.store.views import changes, mutates
from retentive.store.write import Decision, write
from retentive.text.caches import clear_text_caches

BATCH_SIZE = 100  # messages per commit: a second or two of embedding, so progress is visible and little can be lost


class Sessions:
    """The sessions of a namespace. A session is created by its first message."""

    def __init__(self, store: OpenStore) -> None:
        self._store = store

    @changes
    def append(
        self,
        session: str,
        role: str,
        content: Any = None,
        speaker: str | None = None,
        time: TimeInput | None = None,
        sequence: int | None = None,
        payload: Any = None,
        tags: Iterable[str] = (),
    ) -> Event:
        """Store one message. It is durable and searchable on return.

        `role` is user, assistant, system, developer or tool. `content` is a text or a list of content blocks. It may be
        missing if the payload has tool calls. `payload` is any JSON: it is stored whole, and the arguments and results
        of tool calls in it are searched, too. Without a `sequence` the message gets the next one. A sequence that is
        not above the last is a `Conflict`. Filters find it by its `tags` and by those of its session.
        """
        given = Message(role, content, speaker, time, sequence, payload, tags)  # type: ignore[arg-type]  # checked next
        message = secret_policy.apply_policy_to_message(
            self._store, validate.parse_message(given, self._store.config.max_message)
        )
        (event,), _ = self._append(session, [message])
        return self._carry_out_requests(event)

    @changes
    def append_pair(
        self,
        session: str,
        user: str,
        assistant: str,
        *,
        user_speaker: str | None = None,
        assistant_speaker: str | None = None,
        time: TimeInput | None = None,
    ) -> tuple[Event, Event]:
        """Store a message of the user and its answer, both or neither."""
        question = {"role": "user", "content": user, "speaker": user_speaker, "time": time}
        answer = {"role": "assistant", "content": assistant, "speaker": assistant_speaker, "time": time}
        (first, second), _ = self._append(session, _validate_messages(self._store, [question, answer]))
        return self._carry_out_requests(first), second

    @mutates
    def append_many(
        self,
        session: str,
        messages: Iterable[Mapping[str, Any] | Message],
        progress: Callable[[int], None] | None = None,
    ) -> AppendResult:
        """Store many messages in order. Each is a mapping with the arguments of `append`; other keys go to its payload.

        A list is validated to its end before anything is stored. Up to a hundred messages are stored together or not
        at all. `progress` is called with how many are done.
        """
        if isinstance(messages, str | Mapping) or not isinstance(messages, Iterable):
            raise Invalid("append_many takes a list of messages", "Use append for one.")
        first = last = count = pending = 0
        known = self._store.tables.conversations.get(self._store.namespace, self._require_id(session))
        for batch in _split_batches(self._store, messages, known.last_sequence if known else 0):
            events, waiting = self._append(session, batch)
            first, last = first or events[0].sequence, events[-1].sequence
            count, pending = count + len(events), pending + waiting
            if progress:
                progress(count)
        return AppendResult(session=self._require_id(session), first=first, last=last, events=count, pending=pending)

    @mutates
    def import_log(
        self,
        path: str | Path | IO[bytes],
        format: str | None = None,
        session: str | None = None,
        me: str | None = None,
        progress: Callable[[int, int], None] | None = None,
        *,
        trust: str = ImportTrust.IMPORT,
    ) -> ImportLogResult:
        """Import the conversations of a file: OpenAI messages, an account export of Claude or ChatGPT, `Name: text`.

        `path` may also be a stream of bytes.

        Each conversation becomes a session, named by the export or after the file. `session` is the name for a file
        that holds a single one. If the file is imported again, only its new messages are stored. `me` is the user's
        name in it.

        Facts learned from it count as imported, and requests to forget in it are not carried out. With `trust="user"`
        you vouch for the file: its messages of the user count as said here.
        """
        return chat_import.import_log(self._store, self, path, format, session, me, trust, progress)

    @mutates
    def put(
        self,
        session: str,
        *,
        agent: str | Unset | None = UNSET,
        tags: Iterable[str] | Unset = UNSET,
        metadata: Mapping[str, Any] | Unset | None = UNSET,
    ) -> Session:
        """Set agent, tags or metadata of a session, and create it if it does not exist. Fields not given stay."""
        changes: dict[str, Any] = {}
        if not isinstance(agent, Unset):
            changes["agent"] = validate.optional_name(agent, "agent")
        if not isinstance(tags, Unset):
            changes["tags"] = secret_policy.apply_policy_to_json(self._store, validate.parse_tags(tags), "message")
        if not isinstance(metadata, Unset):
            given = validate.require_json_object(metadata, "metadata") or {}
            changes["metadata"] = secret_policy.apply_policy_to_json(self._store, given, "message")
        return self._put(self._require_id(session), changes)

    def get(self, session: str) -> Session:
        found = self._store.tables.conversations.get(self._store.namespace, self._require_id(session))
        if found is None:
            raise make_missing_error(session, self._store.namespace)
        return found

    def list(self, limit: int = 50, after: str | None = None) -> list[Session]:
        """Return sessions, the most recently active first. `after` is the last session of the page before."""
        last = None if after is None else self.get(after).id
        return self._store.tables.conversations.list_page(self._store.namespace, validate.positive_int(limit), last)

    def events(
        self,
        session: str,
        limit: int = 50,
        before: int | None = None,
        after: int | None = None,
        around: int | None = None,
    ) -> builtins.list[Event]:
        """Return messages in order: the newest, those before or after a sequence, or those around one."""
        if sum(each is not None for each in (before, after, around)) > 1:
            raise Invalid("before, after and around exclude each other", "Give one of them.")
        self.get(session)
        rows, key = self._store.tables.conversations, (self._store.namespace, self._require_id(session))
        count = validate.positive_int(limit)
        if after is not None:
            return rows.list_oldest(*key, count, validate.parse_sequence(after, "after"))
        if around is None:
            return rows.list_newest(
                *key, count, before=None if before is None else validate.parse_sequence(before, "before")
            )
        middle = validate.parse_sequence(around, "around")
        until = rows.list_newest(*key, count // 2 + 1, before=middle + 1)
        return until + (rows.list_oldest(*key, count - len(until), middle) if count > len(until) else [])

    @mutates
    def delete(self, session: str, *, dry_run: bool = False) -> DeleteSessionResult:
        """Delete a session permanently: messages, summary, index, notes, and the memories that are local to it.

        Global memories that were learned from it stay; their origin becomes "deleted session". `dry_run` only reports
        what would be deleted.
        """
        store, session_id = self._store, self._require_id(session)
        events, memories, chunks, logged = store.tables.conversations.count_rows(store.namespace, session_id)
        if not logged and not memories:
            raise make_missing_error(session, store.namespace)
        person = self._find_person_namespace(session_id)
        homes = [store.namespace, *([person] if person else [])]
        learned = sum(store.tables.conversations.count_learned(home, session_id, store.namespace) for home in homes)
        gone = DeleteSessionResult(session_id, events, memories, chunks, kept=learned)
        if not dry_run:
            store.journal.flush()
            daily_log.remove_session(store, session_id)
            expected = expectations.session_step(store.namespace, session_id)
            aside = quarantine.session_step(store.namespace, session_id)
            deleting = [aside, conversations.delete_step(store.namespace, session_id, clock.now()), expected]
            if person:
                deleting.append(conversations.unlink_step(person, store.namespace, session_id, clock.now()))
            store.engine.apply(deleting)
            store.journal.note_write()
            clear_text_caches()
            if store.engine.uses_local_index:
                store.images().erase(store.namespace, [space for space, _ in store.tables.chunks.list_spaces()])
        return gone

    def summary(self, session: str) -> Summary:
        """Return the summary of the older messages; it is empty, at epoch 0, before the first."""
        found = self._store.tables.conversations.load_summary(self._store.namespace, self._require_id(session))
        if found is None:
            raise make_missing_error(session, self._store.namespace)
        return found

    @mutates
    def set_summary(self, session: str, text: str, *, upto: int, epoch: int) -> Summary:
        """Write the summary if it is still at the epoch that was read; else raise `Stale`."""
        content = secret_policy.apply_policy(self._store, validate.require_text(text, "text").strip(), "message")
        if len(content) > self._store.config.max_content:
            raise Invalid(f"the summary has {len(content):,} characters", "The limit is the setting max_content.")
        last, seen = validate.parse_sequence(upto, "upto"), validate.parse_sequence(epoch, "epoch")
        return summaries.write_summary(self._store, self.summary(session), content, last, seen)

    @mutates
    def summarise(self, session: str, budget: int | None = None, condenser: Condenser | None = None) -> Summary:
        """Condense the oldest messages if a summary is due, and return the summary.

        It is due when at least 4 messages are not summarised and they fill 0.8 of the budget. Then the oldest are
        condensed until half is left. Appending does this by itself, by selecting sentences. This verb uses the language
        model of the setting `llm`, if there is one. The numbers are settings.
        """
        self.get(session)
        wanted = self._store.config.session_budget if budget is None else validate.parse_budget(budget)
        return summaries.summarise(
            self._store, self._require_id(session), wanted, condenser or summaries.open_llm_condenser(self._store)
        )

    def replay(self, session: str, budget: int = 2000, counter: Callable[[str], int] | None = None) -> Replay:
        """Return the conversation within a budget of tokens: the summary, then the newest messages that fit, in order.

        A tool call and its result are never separated.
        """
        return summaries.replay_session(self._store, self.summary(session), validate.parse_budget(budget), counter)

    def _find_person_namespace(self, session_id: str) -> str | None:
        """Return the namespace of a session's person, if it differs from this one and may be written."""
        session = self._store.tables.conversations.get(self._store.namespace, session_id)
        person_store = open_person_store(replace(self._store, person=session.person or "")) if session else None
        return person_store.namespace if person_store else None

    def _append(self, session: str, messages: Sequence[Message]) -> tuple[builtins.list[Event], int]:
        session_id = self._require_id(session)
        appended = append(self._store, session_id, messages)
        summaries.summarise_if_due(self._store, session_id, appended.waiting)
        return appended.events, appended.pending

    def _carry_out_requests(self, event: Event) -> Event:
        """What a message asks for is done with the model that is active now, as the message was kept with it."""
        return self._store.on_user_message(with_active_model(self._store, is_writing=True), event)

    def _put(self, session_id: str, changes: Mapping[str, Any]) -> Session:
        store = self._store

        def decide(now: int) -> Decision[None]:
            old = store.tables.conversations.get(store.namespace, session_id)
            new = replace(old or make_empty_session(store, session_id, now), **changes)
            steps = [namespace_step(store.namespace, now)]
            if old is None:
                steps += conversations.begin_steps(new, now)
            else:
                steps.append(conversations.update_step(old, new))
                if "tags" in changes:
                    steps.append(conversations.retag_step(new))
            return Decision(steps, None)

        write(store, decide, f"others kept changing session {session_id!r}")
        return self.get(session_id)

    @staticmethod
    def _require_id(session: Any) -> str:
        return validate.require_name(session, "session")


def _split_batches(store: OpenStore, messages: Iterable[Any], last: int) -> Iterator[Sequence[Message]]:
    """Yield batches of validated messages. A list is validated to its end first."""
    rest = iter(_validate_messages(store, messages, last=last) if isinstance(messages, Sequence) else messages)
    done = 0
    while batch := [*islice(rest, BATCH_SIZE)]:
        yield batch if isinstance(messages, Sequence) else _validate_messages(store, batch, done)
        done += len(batch)


def _validate_messages(store: OpenStore, messages: Sequence[Any], done: int = 0, last: int = 0) -> Sequence[Message]:
    """Return the messages, validated and with the secret policy applied."""
    return [
        secret_policy.apply_policy_to_message(store, each)
        for each in validate.parse_messages(messages, store.config.max_message, done, last)
    ]


def make_missing_error(session: str, namespace: str) -> NotFound:
    hint = "`sessions.list()` shows the existing ones."
    return NotFound(f"no session {session[:60]!r} in namespace {namespace!r}", hint)
