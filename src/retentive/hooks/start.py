"""Recall at the start of a conversation: who the person is, what the project is, and what was decided."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Unpack

from retentive.hooks.blocks import Block, Group, build_block
from retentive.hooks.recall import drop_seen
from retentive.hooks.request import NO_EMBEDDER, HookCall, HookOptions, find_target
from retentive.judgement.extract.kinds import is_vital
from retentive.model import VITAL_IMPORTANCE, Successor
from retentive.records.render import profile_without_memories, render_profile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from retentive.api import Retentive
    from retentive.model import Memory
    from retentive.served_namespaces import ServedNamespaces
    from retentive.store.scope import View

START_BUDGET = 600  # tokens
START_CANDIDATES = 300  # newest memories of each kind that are read from each namespace, before ranking
MAX_ESSENTIAL = 8  # memories about the person that are shown before the groups take turns: a third of the block
MAX_PROFILE_LINES = 8
PERSONAL_KINDS = ("instruction", "preference", "personal", "background")
WORK_KINDS = ("project", "instruction", "preference", "pattern", "fact")  # in the order in which they are shown


def recall_at_start(call: HookCall, options: HookOptions) -> Block:
    """Build the block for the start of a conversation. A resumed one still has the memories shown before."""
    target = find_target(call, options)
    target.state.prune()
    is_resumed = call.source == "resume"
    seen = target.state.load_shown() if is_resumed else []
    with target.open(NO_EMBEDDER) as store:
        groups = [
            group._replace(memories=drop_seen(group.memories, seen), facts=() if is_resumed else group.facts)
            for group in _load_groups(store, target.served)
        ]
        outdated = _load_outdated(store, target.served)
        block = build_block(groups, START_BUDGET if options.budget is None else options.budget, outdated)
        shown = {memory.id: memory for group in groups for memory in group.memories if memory.id in block.shown}
        store.injections.log_shown(shown.values(), call.session_name)
    target.state.save_shown((*seen, *block.shown))
    return block


def _load_groups(store: Retentive, served: ServedNamespaces) -> list[Group]:
    """Load what is vital, who the person is, what the project is, and what was decided lately."""
    person_view = store.in_namespace(served.person) if served.person else store
    names = [name for name in store.namespaces(served.also_read) if name != store.namespace]
    views = [store, *map(store.in_namespace, names)]
    work_views = [view for view in views if view is store or view.namespace != person_view.namespace]
    vital = _rank(_list_newest(views, min_importance=VITAL_IMPORTANCE))
    work = [memory for kind in WORK_KINDS for memory in _rank(_list_newest(work_views, kind=kind))]
    decisions = _list_newest(work_views, kind="decision")
    return [
        Group("Most important", vital, essential=len(vital)),
        _load_person(person_view),
        Group("About this project" if served.person else "About the work", work),
        Group("Recent decisions", sorted(decisions, key=lambda each: each.valid_from, reverse=True)),
    ]


def _load_person(view: Retentive) -> Group:
    """Load who the person is: name, role, health and standing instructions, then the rest."""
    # Each kind by itself: facts are many, and would push out the rest.
    listed = [memory for kind in (*PERSONAL_KINDS, "fact") for memory in _list_newest([view], kind=kind)]
    about = _rank(each for each in listed if each.kind in PERSONAL_KINDS or (each.slot or "").startswith("user."))
    order = {each.id: _order_in_person(each) for each in about}
    about.sort(key=lambda each: order[each.id])
    essential_count = sum(number < len(_PERSON_ORDER) for number in order.values())
    lines = render_profile(profile_without_memories(view.profile.get(), [*order])).splitlines()
    return Group("About the user", about, min(essential_count, MAX_ESSENTIAL), lines[:MAX_PROFILE_LINES])


_PERSON_ORDER: tuple[Callable[[Memory], bool], ...] = (
    lambda memory: memory.slot == "user.name",
    lambda memory: memory.slot in {"user.title", "user.employer"} or memory.kind == "background",
    lambda memory: memory.kind in PERSONAL_KINDS and is_vital(memory.content),
    lambda memory: memory.kind in {"instruction", "preference"},
)
"""What comes first about a person: name, role, health, standing instructions and wishes."""


def _order_in_person(memory: Memory) -> int:
    matching = (number for number, matches in enumerate(_PERSON_ORDER) if matches(memory))
    return next(matching, len(_PERSON_ORDER))


def _list_newest(views: Iterable[Retentive], **filters: Unpack[View]) -> list[Memory]:
    return [memory for view in views for memory in view.list(START_CANDIDATES, **filters)]


def _load_outdated(store: Retentive, served: ServedNamespaces) -> dict[str, Successor]:
    """Load the newer memories that may replace an older one, by the older one's id."""
    names = dict.fromkeys((store.namespace, *store.namespaces(served.also_read)))
    open_proposals = chain.from_iterable(store.in_namespace(name).proposals.list() for name in names)
    return {each.older_id: Successor(each.newer_id, each.newer_time, is_certain=False) for each in open_proposals}


def _rank(memories: Iterable[Memory]) -> list[Memory]:
    return sorted(memories, key=lambda each: (each.importance, each.valid_from), reverse=True)
