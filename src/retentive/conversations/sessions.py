"""Conversations: what was said, in order, and what it came to."""

import builtins
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import IO, Any

from retentive import clock
from retentive.conversations import chat_import, summaries
from retentive.conversations.append import append
from retentive.errors import Busy, Invalid, NotFound, Stale
from retentive.memories import daily_log
from retentive.model import (
    Appended,
    Deleted,
    Event,
    Imported,
    ImportTrust,
    Message,
    Replay,
    Session,
    Summary,
    from_micros,
)
from retentive.storage import Step, step
from retentive.storage.tables import conversations, expectations, quarantine
from retentive.storage.tables.memories import as_json, namespace_step
from retentive.store import OpenStore, secret_policy, validate
from retentive.store.person import find_person
from retentive.store.validate import UNSET, Unset, When
from retentive.store.views import writes
from retentive.store.write import MAX_ATTEMPTS
from retentive.text.token_counters import Condenser

BATCH = 100  # messages that share a commit: a second or two of embedding, so that progress is seen and little is lost


class Sessions:
    """The verbs of conversations. A session is made by its first message."""

    def __init__(self, store: OpenStore) -> None:
        self._store = store

    @writes
    def append(
        self,
        session: str,
        role: str,
        content: Any = None,
        speaker: str | None = None,
        time: When | None = None,
        sequence: int | None = None,
        payload: Any = None,
    ) -> Event:
        """Keep one message, durable and searchable on return.

        `role` is user, assistant, system, developer or tool. `content` is a text, or a list of content blocks, and may
        be missing where the payload has tool calls. `payload` is any JSON: it is kept whole, and the arguments and
        results of tool calls in it are searched too. Without a `sequence` it gets the next; one at or below the last
        is a `Conflict`.
        """
        given = Message(role, content, speaker, time, sequence, payload)  # type: ignore[arg-type]  # checked next
        said = secret_policy.message(self._store, validate.message(given, self._store.config.max_message))
        (event,), _ = self._append(session, [said])
        return self._store.handle_requests(self._store, event)

    @writes
    def append_pair(
        self,
        session: str,
        user: str,
        assistant: str,
        *,
        user_speaker: str | None = None,
        assistant_speaker: str | None = None,
        time: When | None = None,
    ) -> tuple[Event, Event]:
        """Keep what the user said and what was answered, both or neither."""
        said = {"role": "user", "content": user, "speaker": user_speaker, "time": time}
        answered = {"role": "assistant", "content": assistant, "speaker": assistant_speaker, "time": time}
        (first, second), _ = self._append(session, _checked(self._store, [said, answered]))
        return self._store.handle_requests(self._store, first), second

    @writes
    def append_many(
        self,
        session: str,
        messages: Iterable[Mapping[str, Any] | Message],
        progress: Callable[[int], None] | None = None,
    ) -> Appended:
        """Keep many, in their order. Each is a mapping with the arguments of `append`; other keys go to its payload.

        A list is checked to its end before anything is kept. Up to a hundred are kept whole or not at all.
        `progress` hears how many are done.
        """
        if isinstance(messages, str | Mapping) or not isinstance(messages, Iterable):
            raise Invalid("append_many takes a list of messages", "Use append for one.")
        first = last = count = pending = 0
        known = self._store.tables.conversations.get(self._store.namespace, self._name(session))
        for batch in _batches(self._store, messages, known.last_sequence if known else 0):
            events, waiting = self._append(session, batch)
            first, last = first or events[0].sequence, events[-1].sequence
            count, pending = count + len(events), pending + waiting
            if progress:
                progress(count)
        return Appended(self._name(session), first, last, count, pending)

    @writes
    def import_log(
        self,
        path: str | Path | IO[bytes],
        format: str | None = None,
        session: str | None = None,
        me: str | None = None,
        progress: Callable[[int, int], None] | None = None,
        *,
        trust: str = ImportTrust.IMPORT,
    ) -> Imported:
        """Keep the conversations of a file: OpenAI messages, an account export of Claude or ChatGPT, `Name: text`.

        `path` may also be a stream of bytes.

        Each conversation becomes a session, named by the export or after the file; `session` names the one of a file
        that holds one. Once more with the same file, only what is new in it is kept. `me` is the user's name in it.

        What is learned from it counts as an import, and requests to forget in it are not carried out. With
        `trust="user"` you vouch for the file: the messages of the user in it count as said here.
        """
        return chat_import.import_log(self._store, self, path, format, session, me, trust, progress)

    @writes
    def put(
        self,
        session: str,
        *,
        agent: str | Unset | None = UNSET,
        tags: Iterable[str] | Unset = UNSET,
        metadata: Mapping[str, Any] | Unset | None = UNSET,
    ) -> Session:
        """Say who talks in a session and what it is about; make it if it is not there. What is not given stays."""
        changes: dict[str, Any] = {}
        if not isinstance(agent, Unset):
            changes["agent"] = validate.name_of(agent, "agent")
        if not isinstance(tags, Unset):
            changes["tags"] = secret_policy.guarded_json(self._store, validate.tag_list(tags), "message")
        if not isinstance(metadata, Unset):
            given = validate.json_object(metadata, "metadata") or {}
            changes["metadata"] = secret_policy.guarded_json(self._store, given, "message")
        return self._put(self._name(session), changes)

    def get(self, session: str) -> Session:
        found = self._store.tables.conversations.get(self._store.namespace, self._name(session))
        if found is None:
            raise _not_found(session, self._store.namespace)
        return found

    def list(self, limit: int = 50, before: str | None = None) -> list[Session]:
        """The most recently active first. `before` is the last session of the page before."""
        last = None if before is None else self.get(before).id
        return self._store.tables.conversations.page(self._store.namespace, validate.limit_of(limit), last)

    def events(
        self,
        session: str,
        limit: int = 50,
        before: int | None = None,
        after: int | None = None,
        around: int | None = None,
    ) -> builtins.list[Event]:
        """Messages in their order: the newest; the newest before a sequence; the next after one; those around one."""
        if sum(each is not None for each in (before, after, around)) > 1:
            raise Invalid("before, after and around exclude each other", "Give one of them.")
        self.get(session)
        rows, key = self._store.tables.conversations, (self._store.namespace, self._name(session))
        count = validate.limit_of(limit)
        if after is not None:
            return rows.oldest(*key, count, validate.sequence_of(after, "after"))
        if around is None:
            return rows.newest(*key, count, before=None if before is None else validate.sequence_of(before, "before"))
        middle = validate.sequence_of(around, "around")
        until = rows.newest(*key, count // 2 + 1, before=middle + 1)
        return until + (rows.oldest(*key, count - len(until), middle) if count > len(until) else [])

    @writes
    def delete(self, session: str, *, dry_run: bool = False) -> Deleted:
        """Remove a session from the store, for good and at once: messages, summary, index, notes, local memories.

        Global memories that were learned from it stay; their origin reads "deleted session". `dry_run` only tells
        what would go.
        """
        store, name = self._store, self._name(session)
        key: dict[str, Any] = {"namespace": store.namespace, "session": name}
        events, memories, chunks, logged = store.tables.conversations.sizes(**key)
        if not logged and not memories:
            raise _not_found(session, store.namespace)
        person = self._find_person(name)
        homes = [store.namespace, *([person] if person else [])]
        learned = sum(store.tables.conversations.learned(home, name, store.namespace) for home in homes)
        gone = Deleted(name, events, memories, chunks, learned)
        if not dry_run:
            store.journal.flush()
            daily_log.strike_session(store, name)
            expected = expectations.session_step(store.namespace, name)
            aside = quarantine.session_step(store.namespace, name)
            deleting = [aside, step("session_delete", **key, talk=store.namespace, now=clock.now()), expected]
            if person:
                deleting.append(conversations.unlink_step(person, store.namespace, name, clock.now()))
            store.engine.apply(deleting)
            store.journal.wrote = True
            summaries.forget()
            if store.engine.in_process:
                store.images().erase(store.namespace, [space for space, _ in store.tables.chunks.spaces()])
        return gone

    def summary(self, session: str) -> Summary:
        """What the older messages came to; empty, with epoch 0, while there is none."""
        found = self._store.tables.conversations.summary(self._store.namespace, self._name(session))
        if found is None:
            raise _not_found(session, self._store.namespace)
        return found

    @writes
    def set_summary(self, session: str, text: str, *, upto: int, epoch: int) -> Summary:
        """Write the summary, if it is still at the epoch you read; else `Stale`, and nothing is changed."""
        content = secret_policy.guarded(self._store, validate.plain(text, "text").strip(), "message")
        if len(content) > self._store.config.max_content:
            raise Invalid(f"the summary has {len(content):,} characters", "The limit is the setting max_content.")
        last, seen = validate.sequence_of(upto, "upto"), validate.sequence_of(epoch, "epoch")
        return summaries.write(self._store, self.summary(session), content, last, seen)

    @writes
    def summarise(self, session: str, budget: int | None = None, condenser: Condenser | None = None) -> Summary:
        """Condense the oldest messages if it is time, and give the summary as it is then.

        It is time when enough messages (4) are not summarised and they fill most (0.8) of the budget; then the oldest
        are condensed until half is left. Appending does this by itself, in sentences that were said; asked for here,
        the language model of the setting `llm` writes it, if there is one. The numbers are settings.
        """
        self.get(session)
        wanted = self._store.config.session_budget if budget is None else validate.tokens_of(budget)
        return summaries.summarise(self._store, self._name(session), wanted, condenser or summaries.prose(self._store))

    def replay(self, session: str, budget: int = 2000, counter: Callable[[str], int] | None = None) -> Replay:
        """The conversation within a budget of tokens: the summary, then the newest messages that fit, in order.

        A tool call is never parted from its result.
        """
        return summaries.replay(self._store, self.summary(session), validate.tokens_of(budget), counter)

    def _find_person(self, name: str) -> str | None:
        """The namespace of the person of a session, if it is another one that may be written here."""
        session = self._store.tables.conversations.get(self._store.namespace, name)
        person = find_person(replace(self._store, person=session.person or "")) if session else None
        return person.namespace if person else None

    def _append(self, session: str, messages: Sequence[Message]) -> tuple[builtins.list[Event], int]:
        name = self._name(session)
        events, pending = append(self._store, name, messages)
        summaries.keep_up(self._store, name)
        return events, pending

    def _put(self, name: str, changes: Mapping[str, Any]) -> Session:
        store = self._store
        for _ in range(MAX_ATTEMPTS):
            now, old = clock.now(), store.tables.conversations.get(store.namespace, name)
            moment = from_micros(now)
            person = find_person(store)
            begun = Session(
                name, store.namespace, None, (), {}, moment, moment, 0, 0, person.namespace if person else None
            )  # fmt: skip
            new = replace(old or begun, **changes)
            steps: list[Step] = [namespace_step(store.namespace, now)]
            if old is None:
                steps += conversations.begin_steps(new, now)
            else:
                steps.append(conversations.update_step(old, new))
                if "tags" in changes:
                    steps.append(step("chunk_retag", namespace=store.namespace, session=name, tags=as_json(new.tags)))
            try:
                store.engine.apply(steps)
            except Stale:
                continue
            store.journal.wrote = True
            return self.get(name)
        raise Busy(f"others kept changing session {name!r}", "Retry in a moment.")

    @staticmethod
    def _name(session: Any) -> str:
        return validate.required(session, "session")


def _batches(store: OpenStore, messages: Iterable[Any], last: int) -> Iterator[Sequence[Message]]:
    """A list is checked to its end first."""
    rest = iter(_checked(store, messages, last=last) if isinstance(messages, Sequence) else messages)
    done = 0
    while batch := [*islice(rest, BATCH)]:
        yield batch if isinstance(messages, Sequence) else _checked(store, batch, done)
        done += len(batch)


def _checked(store: OpenStore, messages: Sequence[Any], done: int = 0, last: int = 0) -> Sequence[Message]:
    """As they may be kept: whole, in order, and with their secrets dealt with."""
    return [
        secret_policy.message(store, each) for each in validate.messages(messages, store.config.max_message, done, last)
    ]


def _not_found(session: str, namespace: str) -> NotFound:
    hint = "`retentive session list` shows those there are."
    return NotFound(f"no session {session[:60]!r} in namespace {namespace!r}", hint)
