"""`Retentive`: an open store and its verbs. Each checks its arguments and calls the capability that does the work.

What a plain add or search does not need is imported by the verb that needs it: that halves the time of `import`.
"""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, Unpack

from retentive import config
from retentive.api.maintenance import MaintenanceVerbs
from retentive.config.settings import MAX_RRF_K
from retentive.errors import Invalid
from retentive.fs.folders import make_data_folder
from retentive.memories import add, edit
from retentive.model import Fusion, Mode, Page, Query, Reach
from retentive.opening import open_store
from retentive.search import search
from retentive.storage.damage import collect_damage
from retentive.store import validate
from retentive.store.active_model import CLOSING_BATCHES, complete_own_writes, with_active_model
from retentive.store.scope import View, make_scope, resolve_namespaces
from retentive.store.validate import UNSET
from retentive.store.views import changes, make_bounds, mutates, require_readable, restrict_store
from retentive.transfer import leftover_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path
    from types import TracebackType

    from retentive.config import Settings
    from retentive.conversations.sessions import Sessions
    from retentive.files.verbs import Files
    from retentive.maintenance.integrity import Integrity
    from retentive.maintenance.models import Models
    from retentive.maintenance.scale import Scale
    from retentive.maintenance.tokens import Tokens
    from retentive.memories.expectations import Expectations
    from retentive.memories.injections import Injections
    from retentive.memories.notes import Notes
    from retentive.memories.proposals import Proposals
    from retentive.model import (
        Access,
        AddManyResult,
        AddResult,
        Consolidation,
        Context,
        ForgetCandidates,
        ForgetResult,
        HistoryEntry,
        LearnResult,
        Memory,
        Provenance,
        PurgeResult,
        Results,
        Space,
        UndoConsolidationResult,
    )
    from retentive.records.contacts import Contacts
    from retentive.records.profile import ProfileVerbs
    from retentive.records.projects import Projects
    from retentive.records.skills import Skills
    from retentive.store import OpenStore
    from retentive.store.scope import Filters
    from retentive.store.validate import MemoryOptions, TimeInput, Unset
    from retentive.text.token_counters import TokenCounter


class Retentive(MaintenanceVerbs):
    """An open store. Safe to use from many threads, and beside other processes on the same file."""

    def __init__(self, store: OpenStore) -> None:
        self._store = store
        self._process = os.getpid()

    @cached_property
    def sessions(self) -> Sessions:
        from retentive.conversations.sessions import Sessions

        return Sessions(self._store)

    @cached_property
    def notes(self) -> Notes:
        from retentive.memories.notes import Notes

        return Notes(self._store)

    @cached_property
    def tokens(self) -> Tokens:
        from retentive.maintenance.tokens import Tokens

        return Tokens(self._store)

    @cached_property
    def expectations(self) -> Expectations:
        from retentive.memories.expectations import Expectations

        return Expectations(self._store)

    @cached_property
    def proposals(self) -> Proposals:
        from retentive.memories.proposals import Proposals

        return Proposals(self._store)

    @cached_property
    def injections(self) -> Injections:
        from retentive.memories.injections import Injections

        return Injections(self._store)

    @cached_property
    def profile(self) -> ProfileVerbs:
        from retentive.records.profile import ProfileVerbs

        return ProfileVerbs(self._store)

    @cached_property
    def contacts(self) -> Contacts:
        from retentive.records.contacts import Contacts

        return Contacts(self._store)

    @cached_property
    def projects(self) -> Projects:
        from retentive.records.projects import Projects

        return Projects(self._store)

    @cached_property
    def skills(self) -> Skills:
        from retentive.records.skills import Skills

        return Skills(self._store)

    @cached_property
    def files(self) -> Files:
        from retentive.files.verbs import Files

        return Files(self._store)

    @cached_property
    def integrity(self) -> Integrity:
        from retentive.maintenance.integrity import Integrity

        return Integrity(self._store)

    @cached_property
    def scale(self) -> Scale:
        from retentive.maintenance.scale import Scale

        return Scale(self._store)

    @cached_property
    def models(self) -> Models:
        from retentive.maintenance.models import Models

        return Models(self._store.config, self._store.bounds)

    @classmethod
    def open(cls, target: str | Path | None = None, namespace: str | None = None, **settings: Unpack[Settings]) -> Self:
        """Open a store; create it if it does not exist.

        `target` is a path, `:memory:`, or the address of a server (`libsql://host:port`); without one, the configured
        store. `settings` are those of `retentive.config`, such as `embedder="hashing"`.
        `embedder` may also be a function from a list of texts to their vectors, or an `Embedder`.
        """
        _check_names(settings)
        own = settings.pop("embedder") if not isinstance(settings.get("embedder"), str | None) else None
        given = config.load(db=None if target is None else str(target), namespace=namespace, **settings)
        if target is None and given.db == config.default_db():
            make_data_folder(config.data_folder())
        store = open_store(given, own)
        leftover_files.sweep_at_opening(store)
        return cls(store)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Write what is pending and close the store. Closing a restricted view does nothing."""
        if os.getpid() != self._process or self._store.bounds:
            return  # forked: the threads and connections are the other process's
        for watch in [*self._store.watches]:
            watch.stop()
        for worker in [*self._store.workers]:
            worker.stop()
        self._store.journal.close()
        if self._store.journal.has_written:
            self._store.active.expire_check()
            complete_own_writes(with_active_model(self._store), CLOSING_BATCHES)
            self._chores()
        if self._store.images.made:
            self._store.images.made.close()
        if self._store.llm.made:
            self._store.llm.made.close()
        if self._store.reranker.made:
            self._store.reranker.made.close()
        self._store.engine.close()
        self._store.active.close()

    @property
    def namespace(self) -> str:
        return self._store.namespace

    @property
    def person(self) -> str | None:
        """The namespace of the person, where what is learned about them is kept; None: what is learned stays here."""
        return self._store.person or None

    @property
    def space(self) -> Space | None:
        """The active embedding space; None: this process uses no vectors."""
        return with_active_model(self._store).space

    def in_namespace(self, namespace: str, *, person: str | None = None) -> Self:
        """The same open store for another namespace: costs nothing, so a server may ask for one with each request.

        Connections, index and model are shared; closing one closes them for all. `person` is another namespace of the
        person; None keeps the one there is, and an empty name means that there is none.
        """
        own = require_readable(self._store, validate.require_namespace(namespace))
        theirs = self._store.person if person is None else person and validate.require_namespace(person)
        return type(self)(replace(self._store, namespace=own, person=theirs))

    def restricted(
        self,
        namespaces: str | Sequence[str],
        *,
        subtree: bool = False,
        read_only: bool = False,
        also_read: str | Sequence[str] = (),
    ) -> Self:
        """The same open store for these namespaces alone: costs nothing, so a server may ask for one with each request.

        With `subtree` those below them, too. `also_read` names others, or prefixes such as `team/*`, that may be read
        and not changed. Access to others raises `Forbidden`, and so do verbs about the whole store; with
        `read_only` also those that write. On PostgreSQL row-level security enforces it as well.
        """
        within = make_bounds(namespaces, subtree=subtree, read_only=read_only, also_read=also_read)
        return type(self)(restrict_store(self._store, within))

    @changes
    def add(self, text: str, vector: Any = None, *, actor: str = "user", **options: Unpack[MemoryOptions]) -> AddResult:
        """Keep one memory, durable and searchable on return.

        Options: kind, tags, importance (1-10), confidence (0-1), source, context, session, slot, expires, valid_from,
        metadata, origin, replaces. A slot such as `user.dog.name` names what the memory is the value of: the memory
        that held it before is superseded. `replaces` has ids of memories that this one surely replaces. The same text
        again gives back the memory that is there. `actor` goes to the history of what it replaces.
        """
        return add.add(self._store, text, vector, options, actor)

    @mutates
    def add_many(
        self,
        items: Iterable[str | Mapping[str, Any]],
        vectors: Iterable[Any] | None = None,
        progress: Callable[[int], None] | None = None,
        *,
        actor: str = "user",
        **options: Unpack[MemoryOptions],
    ) -> AddManyResult:
        """Keep many. An item is a text, or a mapping with `text` and the options of `add`; `options` hold for all.

        A list is checked to its end before anything is kept; what a generator gives is checked two thousand at a time.
        Up to two thousand are kept whole or not at all; fewer where one depends on another, as by a slot, and where
        they are long (eight million characters together). `progress` is called with how many are done.
        """
        return add.add_many(self._store, items, vectors, progress, options, actor)

    def search(
        self,
        query: str = "",
        limit: int | None = 10,
        *,
        vector: Any = None,
        mode: str = Mode.HYBRID,
        fusion: str | None = None,
        vector_weight: float | None = None,
        rrf_k: int | None = None,
        min_similarity: float | None = None,
        min_relevance: float | None = None,
        namespaces: Sequence[str] = (),
        scope: str = Reach.ALL,
        include: str | Sequence[str] = (),
        ignored: bool = False,
        now: TimeInput | None = None,
        fold_copies: bool = True,
        **filters: Unpack[View],
    ) -> Results:
        """Find what answers a question, best first.

        `limit=None` gives all that is relevant enough (`min_relevance`, by default the setting of that name; or
        `min_similarity`, a cosine) instead of the best ten. `namespaces` adds others to look in: names, or prefixes
        such as `work/*`. `include` chooses what is searched, by default all: memories, events, files, profile,
        contacts, projects, skills. Contacts of type `ignored` are left out, unless `ignored=True`. Filters: session,
        kind, tags, source, status, min_importance, min_confidence, since, until. With a session, its own memories are
        seen beside the global ones, and of events only its own; with `scope="session"` nothing else is seen. `as_of`
        asks for what was true at a moment, `known_at` for what the store held to be true. Words such as "last week"
        count from `now`, if it is given. `rrf_k` is for `fusion="rrf"`, by default the setting. Messages in which one
        person says the same are one hit, unless `fold_copies=False`. Each hit says why it is there.
        """
        validate.reject_unknown(filters, View, "search")
        settings = self._store.config
        asked = Query(
            text=validate.clean_question(query),
            scope=make_scope(
                resolve_namespaces(self._store, namespaces),
                reach=scope,
                include=include,
                ignored=ignored,
                now=now,
                **filters,
            ),
            vector=vector,
            limit=None if limit is None else validate.positive_int(limit),
            mode=validate.parse_choice(Mode, mode, "mode"),
            fusion=validate.parse_choice(Fusion, fusion or settings.fusion, "fusion"),
            vector_weight=validate.parse_fraction(vector_weight, "vector_weight", settings.vector_weight),
            rrf_k=settings.rrf_k if rrf_k is None else validate.positive_int(rrf_k, "rrf_k", MAX_RRF_K),
            fold_copies=bool(fold_copies),
            min_similarity=validate.parse_fraction(min_similarity, "min_similarity", None),
            min_relevance=validate.parse_fraction(min_relevance, "min_relevance", None),
        )
        return search.search(with_active_model(self._store), asked)

    def search_for_prompt(
        self,
        prompt: str,
        limit: int = 3,
        *,
        vector: Any = None,
        mode: str = Mode.HYBRID,
        min_similarity: float | None = None,
        min_relevance: float | None = None,
        namespaces: Sequence[str] = (),
    ) -> Results:
        """Find the few memories that a model needs with a prompt, the likeliest to help first; often there are none.

        Unlike `search`, it drops what only shares a common name with the prompt, and prompts that no memory bears on
        get nothing. The access log has it only if the caller
        says that it was shown (`injections.log_shown`).
        """
        from retentive.search import prompt_memories

        asked = Query(
            text=validate.clean_question(prompt),
            scope=make_scope(resolve_namespaces(self._store, namespaces), include="memories", ignored=False, now=None),
            vector=vector,
            limit=validate.positive_int(limit),
            mode=validate.parse_choice(Mode, mode, "mode"),
            fusion=Fusion(self._store.config.fusion),
            vector_weight=self._store.config.vector_weight,
            rrf_k=self._store.config.rrf_k,
            min_similarity=validate.parse_fraction(min_similarity, "min_similarity", None),
            min_relevance=validate.parse_fraction(min_relevance, "min_relevance", None),
        )
        return prompt_memories.search_for_prompt(with_active_model(self._store), asked)

    def search_conversations(self, query: str = "", limit: int | None = 10, **options: Any) -> Results:
        """Find what was said: `search` among events only, with the same options."""
        return self.search(query, limit, **{**options, "include": "events"})

    def context(
        self,
        query: str = "",
        session: str | None = None,
        budget: int = 2000,
        recent: int = 10,
        *,
        top_k: int | None = None,
        min_similarity: float | None = None,
        min_relevance: float | None = None,
        namespaces: Sequence[str] = (),
        as_of: TimeInput | None = None,
        known_at: TimeInput | None = None,
        now: TimeInput | None = None,
        shares: Mapping[str, float] | None = None,
        counter: TokenCounter | None = None,
    ) -> Context:
        """Build the text that a model should read before it answers, in at most `budget` tokens.

        It has the profile, the session's summary, relevant memories, excerpts of conversations and the newest
        messages, in this order. Memories of importance 9 and 10 are always among them. At most `top_k` others are, 40
        if not given. Without a question and a session they are the most recent ones. `recent=0` leaves the messages
        out; otherwise there are the newest `recent`, and older ones, back to the summary, as far as the other parts
        leave room. `shares` says how much of the budget each may take before what is left is shared out:
        `{"summary": 0.2, "memories": 0.35, "excerpts": 0.15, "recent": 0.3}` if not set otherwise. `counter` counts
        tokens, by default the one of the setting `tokenizer`. The order is that of time, not of scores, so that the
        text changes only where something did. `as_of`, `known_at` and `now` are those of `search`.
        """
        from retentive.context import build as contexts

        asked = contexts.ContextRequest(
            text=validate.clean_question(query),
            scope=make_scope(
                resolve_namespaces(self._store, namespaces), session=session, as_of=as_of, known_at=known_at, now=now
            ),
            budget=validate.parse_budget(budget),
            recent=validate.parse_sequence(recent, "recent"),
            top_k=contexts.MAX_MEMORIES if top_k is None else validate.positive_int(top_k, "top_k"),
            min_similarity=validate.parse_fraction(min_similarity, "min_similarity", None),
            min_relevance=validate.parse_fraction(min_relevance, "min_relevance", None),
            shares=contexts.parse_shares(self._store, shares),
            count=counter or self._store.counter(),
        )
        return contexts.build_context(with_active_model(self._store), asked)

    def get(self, id: str) -> Memory:
        """One memory by its id, whatever its status."""
        return edit.get(self._store, id)

    def find_id(self, part: str, of: str = "memory") -> str:
        """The only id that begins or ends with a part of at least 4 characters. Anything else is returned as it is.

        `of` is memory, note, proposal, expectation, file, token, contact, project or skill. `Invalid` lists the
        candidates if there are several.
        """
        from retentive.store.find_id import find_id

        return find_id(self._store, validate.require_text(part, "part"), of)

    def list(self, limit: int = 50, after: str | None = None, **filters: Unpack[View]) -> Page[Memory]:
        """A page of memories, newest first. `after` is the `next` of the page before; filters are those of `search`."""
        validate.reject_unknown(filters, View, "list")
        seen = make_scope([self.namespace], **filters)
        last = None if after is None else edit.load(self._store, after).id
        with collect_damage() as damage:
            found = self._store.tables.memories.list_page(seen, validate.positive_int(limit) + 1, last)
        following = found[limit - 1].id if len(found) > limit else None
        return Page(tuple(found[:limit]), following, tuple(damage.notes()))

    @mutates
    def update(
        self,
        id: str,
        *,
        content: str | Unset = UNSET,
        kind: str | Unset = UNSET,
        tags: Iterable[str] | Unset = UNSET,
        importance: int | Unset = UNSET,
        confidence: float | Unset = UNSET,
        context: str | Unset | None = UNSET,
        slot: str | Unset | None = UNSET,
        expires: TimeInput | Unset | None = UNSET,
        valid_from: TimeInput | Unset = UNSET,
        metadata: Mapping[str, Any] | Unset = UNSET,
        reason: str | None = None,
        actor: str = "user",
    ) -> Memory:
        """Change what is given and leave the rest; how it was before stays in its history."""
        given = {
            "content": content, "kind": kind, "tags": tags, "importance": importance, "confidence": confidence,
            "context": context, "slot": slot, "expires": expires, "valid_from": valid_from, "metadata": metadata,
        }  # fmt: skip
        changes = {name: value for name, value in given.items() if value is not UNSET}
        return edit.update(self._store, id, changes, reason, actor)

    @mutates
    def forget(self, id: str, reason: str | None = None, actor: str = "user") -> Memory:
        """Stop returning a memory. `restore` undoes it."""
        return edit.forget(self._store, id, reason, actor)

    @mutates
    def forget_matching(
        self,
        words: str | None = None,
        *,
        confirm: bool = False,
        dry_run: bool = False,
        reason: str | None = None,
        actor: str = "user",
        **filters: Unpack[Filters],
    ) -> ForgetResult:
        """Forget the memories that have every word and pass every filter. Similarity does not count.

        More than one needs `confirm`, else it is a `Conflict` that names them. `dry_run` only reports what
        would be forgotten. The filters are those of `search`; with a session, only its own memories are meant.
        """
        from retentive.memories import forget

        return forget.forget_matching(
            self._store, words, filters, confirm=confirm, dry_run=dry_run, reason=reason, actor=actor
        )

    def candidates(self, words: str, **filters: Unpack[Filters]) -> ForgetCandidates:
        """The memories that "forget my old address" may mean, and whether that is clear."""
        from retentive.memories import forget

        return forget.find_forget_candidates(self._store, words, filters)

    @mutates
    def purge(
        self,
        ids: str | Sequence[str],
        *,
        with_origin: bool = False,
        dry_run: bool = False,
        reason: str | None = None,
        actor: str = "user",
        progress: Callable[[str, int, int], None] | None = None,
    ) -> PurgeResult:
        """Remove memories, or messages (`session#7`), permanently: rows, history, full text, vectors, logs, and bytes.

        The answer names what else repeats their text. `with_origin` purges of that the messages that say it or that
        they were learned from, the summaries over these, logged questions and expectations. `dry_run` only reports.
        `progress` is called with the step, how much of it is done, and how much there is.
        """
        from retentive.purge.purge import PurgeRequest, purge

        listed = [ids] if isinstance(ids, str) else [*ids]
        return purge(self._store, PurgeRequest(listed, with_origin, dry_run, reason, actor), progress)

    def why(self, id: str) -> Provenance:
        """Where a memory came from: its messages, what it took the place of, what took its place, its history."""
        from retentive.memories import provenance

        return provenance.explain_memory(self._store, id)

    @mutates
    def restore(self, id: str, reason: str | None = None, actor: str = "user") -> Memory:
        """Undo `forget`, or a replacement: what was superseded is current again.

        What replaced it stays, too, unless both hold the same slot: a slot has one value at a time. The same two texts
        do not replace each other again by themselves.
        """
        return edit.restore(self._store, id, reason, actor)

    @mutates
    def learn(
        self, session: str | None = None, progress: Callable[[LearnResult], None] | None = None
    ) -> Sequence[LearnResult]:
        """Learn memories from the messages that came since the last time.

        Of one session at once; without one, of all sessions of the namespace in which nothing was said for
        `learn_after` seconds. `progress` is called with the result of each.
        """
        from retentive.learning import learn

        if session is None:
            learned = learn.learn_due(self._store, self._store.config.learn_after)
        else:
            learned = iter([learn.learn(self._store, validate.require_name(session, "session"))])
        done = []
        for each in learned:
            done.append(each)
            if progress:
                progress(each)
        return done

    @mutates
    def consolidate(
        self,
        *,
        older_than: float | None = None,
        limit: int | None = None,
        dry_run: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Consolidation:
        """Merge old memories that say the same, and sum up many small outcomes of one project.

        Old are memories made more than `older_than` days ago, by default the setting `consolidate_after`. What is
        merged is superseded by a memory that cites it; `undo_consolidation` undoes a run. At most `limit` groups are
        made, 1,000 if it is not given; call it again for more. `dry_run` only reports. `progress` is called with how
        many memories were examined, and how many groups were made.
        """
        from retentive.consolidation import consolidate

        most = consolidate.MAX_GROUPS if limit is None else limit
        request = consolidate.make_request(self._store, older_than, most, dry_run=dry_run)
        return consolidate.consolidate(self._store, request, progress)

    @mutates
    def undo_consolidation(self, run: str, actor: str = "user") -> UndoConsolidationResult:
        """Undo a run of `consolidate`: what it replaced is active again, what it made is forgotten.

        A memory that was made and has been changed, replaced or forgotten since stays as it is, and the answer says so.
        """
        from retentive.consolidation import consolidate

        return consolidate.undo_consolidation(self._store, run, validate.require_text(actor, "actor"))

    def history(self, id: str) -> Sequence[HistoryEntry]:
        """The changes of a memory: when, by whom, why, and its state before."""
        return edit.history(self._store, id)

    def accesses(self, id: str | None = None, limit: int = 100) -> Sequence[Access]:
        """When memories were read, for which question and with what score; the newest first."""
        self._store.journal.flush()
        return self._store.tables.metrics.accesses(self.namespace, id, validate.positive_int(limit))


def _check_names(settings: Mapping[str, Any]) -> None:
    """Refuse keywords that are no settings, with a hint for the ones that people try."""
    if "db" in settings:
        raise Invalid("open has no keyword 'db': the store is its first argument", 'Write Retentive.open("memory.db").')
    unknown = set(settings) - {setting.name for setting in config.SETTINGS}
    if unknown:
        raise Invalid(f"unknown setting {min(unknown)!r}", "See docs/reference/settings.md.")
