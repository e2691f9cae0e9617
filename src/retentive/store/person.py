"""Whom a memory is about decides where it lives: the person's namespace, or the project's.

A store may be opened with `person`, the namespace of the person who works in many projects. It is recorded with each
session that this writer begins or goes on with, so that whoever learns from the session later knows it, too. The
recorded name is the only one that learning goes by: it was set by somebody who may write there.

A claim that is surely about the person is compared, corrected and kept in the person's namespace, and the claim's mark
in the session commits with it. A doubtful one stays in the project, with a proposal to move it.
"""

from collections.abc import Iterator
from dataclasses import replace

from retentive.model import Bounds, Session
from retentive.storage import Step
from retentive.storage.tables import conversations
from retentive.store import OpenStore
from retentive.store.views import can_write

MIN_SURE = 0.8  # held out, .98 of what scores so is about the person (.99 by form alone); at .7 it is .96
MIN_DOUBTFUL = 0.5  # held out, .94 of what scores so is about the person, and .94 of what is about them scores so
RULE = "about the person"
REASON = "this seems to be about you rather than the project"


def may_read(store: OpenStore, namespace: str) -> bool:
    """Whether this view of the store may read a namespace."""
    names = tuple(name.strip() for name in store.config.restrict_to.split(",") if name.strip())
    views = (store.bounds, Bounds(names) if names else None)
    return all(view.cover(namespace) for view in views if view)


def find_person(store: OpenStore) -> OpenStore | None:
    """The parts for the namespace of the person; None if there is no other one, or it may not be written here."""
    if find_readable_person(store) is None or not can_write(store, store.person):
        return None
    return replace(store, namespace=store.person)


def find_readable_person(store: OpenStore) -> str | None:
    """The namespace of the person, if it is another one that may be read here."""
    name = store.person
    return name if name and name != store.namespace and may_read(store, name) else None


def person_steps(store: OpenStore, session: Session) -> Iterator[Step]:
    """Record whose session it is, for a writer who goes on with it.

    If it is another's, or that of one whose namespace this writer may not write, it is nobody's from now on: nothing
    that is said in it may reach that namespace through those who learn from it later.
    """
    person = find_person(store)
    if session.person is None and person:
        yield conversations.person_step(store.namespace, session.id, person.namespace)
    elif session.person:
        is_others = person is not None and person.namespace != session.person
        if is_others or find_person(replace(store, person=session.person)) is None:
            yield conversations.share_step(store.namespace, session.id)
