"""Forgetting by words and by filters, one or many; and by the rules of retention. Softly: `restore` undoes it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from retentive import clock
from retentive.errors import Busy, Conflict, Invalid, NotFound, Stale
from retentive.memories.hide import Forgetting, hide_steps
from retentive.model import Candidates, Forgotten, Memory, Scope, Status, from_micros, to_micros
from retentive.search import search
from retentive.search.retrievers import text_matches
from retentive.storage.tables import memories
from retentive.store import OpenStore, validate
from retentive.store.scope import Filters, scope
from retentive.store.write import MAX_ATTEMPTS
from retentive.text.retention import rules
from retentive.text.terms import terms, words

if TYPE_CHECKING:
    from retentive.storage import Step

AT_ONCE = 200  # that share a commit
MOST_BATCHES = 50  # of retention in one round of upkeep: ten thousand memories, some seconds; the rest next time
LOOKED_AT = 1000  # of the best matches, for those that have every word
NEAREST = 5  # to choose from, where none has
NAMED = 5  # in a message
BYGONE = frozenset("old older former previous earlier outdated obsolete past".split())
"""Words that say which of several is meant and need not stand in it: the one that was replaced, if there is one."""


def candidates(store: OpenStore, text: str, filters: Filters) -> Candidates:
    """What the words may be about: memories that have every one of them, in content, context, tags or slot."""
    asked = words(validate.question(text))
    if not asked:
        raise Invalid("no words to go by", "Say what to forget: a few words that stand in it.")
    found = _having(store, asked, _scope(store, filters))
    meant = [word for word in asked if word not in BYGONE]
    if not found and 0 < len(meant) < len(asked):
        replaced: Filters = {"status": [Status.SUPERSEDED], **filters}
        found = _having(store, meant, _scope(store, replaced)) or _having(store, meant, _scope(store, filters))
    if found:
        return Candidates(text, tuple(found))
    near = search.search(
        store, search.asking(store, text, _scope(store, filters), limit=None)
    )  # only what is similar enough
    return Candidates(text, (), tuple(_of_session((hit.memory for hit in near), filters))[:NEAREST])


def forget_matching(
    store: OpenStore,
    text: str | None,
    filters: Filters,
    *,
    confirm: bool,
    dry_run: bool,
    reason: str | None,
    actor: str,
) -> Forgotten:
    validate.why(reason, actor)
    if text is None and not filters:
        raise Invalid("neither words nor filters", "Say what to forget; all of a namespace goes by kind=[...].")
    found = _chosen(store, text, filters)
    if dry_run or not found:
        return Forgotten(tuple(found), done=not dry_run)
    if len(found) > 1 and not confirm:
        hint = "Say it more exactly, forget them by id, or confirm that all are meant (confirm=True, --yes)."
        raise Conflict(f"{len(found)} memories match: {_named(found)}", hint)
    return Forgotten(tuple(forget_all(store, found, reason, actor)), done=True)


def forget_all(store: OpenStore, doomed: Sequence[Memory], reason: str | None, actor: str) -> list[Memory]:
    """In batches, each whole or not at all. What was forgotten or purged meanwhile is left as it is."""
    rest, done = iter(doomed), []
    while batch := [*islice(rest, AT_ONCE)]:
        done += _forget(store, batch, reason, actor, with_messages=True)
    return done


def apply_retention(store: OpenStore) -> Iterator[int]:
    """Forget what the rules do not keep, and tell how many after each commit: a write waits for no more than one."""
    for batch in islice(outlived(store), MOST_BATCHES):
        yield len(_forget(store, batch, "retention", "upkeep", with_messages=False))


def outlived(store: OpenStore) -> Iterator[list[Memory]]:
    """What the rules of retention do not keep. The same again until it is forgotten."""
    wanted = rules(store.config.retention)
    namespaces = store.tables.memories.namespaces() if wanted else ()
    for rule in wanted:
        for namespace in filter(rule.holds_for, namespaces):
            while batch := store.tables.memories.outlived(namespace, rule, clock.now(), AT_ONCE):
                yield batch


def _chosen(store: OpenStore, text: str | None, filters: Filters) -> list[Memory]:
    if text is None:
        return [*_of_session(_all(store, _scope(store, filters)), filters)]
    found = candidates(store, text, filters)
    if not found.memories:
        like = f"; like it are: {_named(found.nearest)}" if found.nearest else ""
        hint = "Nothing is forgotten on a likeness: look with `retentive search`, and forget it by id."
        raise NotFound(f"no memory has all of the words {text[:60]!r}{like}", hint)
    return [*found.memories]


def _all(store: OpenStore, within: Scope) -> Iterator[Memory]:
    """Read to the end before anything is changed."""
    page = store.tables.memories.page(within, AT_ONCE)
    while page:
        yield from page
        page = store.tables.memories.page(within, AT_ONCE, page[-1].id)


def _having(store: OpenStore, meant: Sequence[str], within: Scope) -> list[Memory]:
    tokens = store.engine.tokens
    wanted = {*tokens(terms(" ".join(meant)))}
    matches = text_matches(store, meant, within, LOOKED_AT)
    owners = dict.fromkeys((match.namespace, match.owner) for match in matches)
    seen = store.tables.memories.some([id for _, id in owners], within)
    having = (seen[owner] for owner in owners if owner in seen and wanted <= {*tokens(terms(_said(seen[owner])))})
    return [each for each in having if within.session in (None, each.session)]


def _said(memory: Memory) -> str:
    return " ".join((memory.content, memory.context or "", *memory.tags, memory.slot or ""))


def _scope(store: OpenStore, filters: Filters) -> Scope:
    validate.known(filters, Filters, "forget")
    return scope([store.namespace], include="memories", **filters)


def _of_session(found: Iterator[Memory], filters: Filters) -> Iterator[Memory]:
    """A question in a session sees global memories, too; forgetting in one means its own."""
    session = filters.get("session")
    return (each for each in found if session is None or each.session == session)


def _forget(
    store: OpenStore, batch: Sequence[Memory], reason: str | None, actor: str, *, with_messages: bool
) -> list[Memory]:
    """Retention makes room and hides no messages: nobody asked for what they say to be forgotten."""
    left = [memory for memory in batch if memory.status is not Status.FORGOTTEN]
    for _ in range(MAX_ATTEMPTS):
        moment = from_micros(clock.now())
        done = [replace(old, status=Status.FORGOTTEN, updated=moment, version=old.version + 1) for old in left]
        steps: list[Step] = []
        for old, new in zip(left, done, strict=True):
            steps += memories.status_steps(old, new, actor, reason)
        if with_messages:
            steps += hide_steps(store, [Forgetting(old) for old in left], to_micros(moment))
        try:
            if steps:
                store.engine.apply(steps)
                store.journal.wrote = True
        except Stale:
            left = _again(store, left)
            continue
        return done
    raise Busy("others kept changing the same memories", "Retry in a moment.")


def _again(store: OpenStore, batch: Sequence[Memory]) -> list[Memory]:
    found = (store.tables.memories.get(each.namespace, each.id, clock.now()) for each in batch)
    return [each for each in found if each and each.status is not Status.FORGOTTEN]


def _named(found: Sequence[Memory]) -> str:
    names = "; ".join(f"{each.id} ({each.content[:60]})" for each in found[:NAMED])
    return names + (f"; and {len(found) - NAMED} more" if len(found) > NAMED else "")
