"""The namespace of the person: facts about somebody who works in many projects are kept in one place.

A store may be opened with `person`, the name of that namespace. It is recorded with each session that this writer
begins or continues, so that learning from the session later uses it, too. Learning uses the recorded name only: it was
set by a writer with access to that namespace.

A claim that is surely about the person is compared, corrected and written in the person's namespace, in one transaction
with the progress of learning. A doubtful claim stays in the project, with a proposal to move it.
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
MOVE_RULE = "about the person"
MOVE_REASON = "this seems to be about you rather than the project"


def may_read(store: OpenStore, namespace: str) -> bool:
    """Whether this view of the store may read a namespace."""
    names = tuple(name.strip() for name in store.config.restrict_to.split(",") if name.strip())
    views = (store.bounds, Bounds(names) if names else None)
    return all(view.cover(namespace) for view in views if view)


def open_person_store(store: OpenStore) -> OpenStore | None:
    """Open the store at the namespace of the person; None if there is no other one, or it may not be written here."""
    if find_person_namespace(store) is None or not can_write(store, store.person):
        return None
    return replace(store, namespace=store.person)


def find_person_namespace(store: OpenStore) -> str | None:
    """The namespace of the person, if it is another one that may be read here."""
    name = store.person
    return name if name and name != store.namespace and may_read(store, name) else None


def record_person_namespace_steps(store: OpenStore, session: Session) -> Iterator[Step]:
    """Record the namespace of the person with a session that this writer continues.

    The session of another person, or of one whose namespace this writer may not write, is nobody's from now on: nothing
    that is said in it may be learned into that namespace later.
    """
    person_store = open_person_store(store)
    if session.person is None and person_store:
        yield conversations.person_step(store.namespace, session.id, person_store.namespace)
    elif session.person:
        belongs_to_other = person_store is not None and person_store.namespace != session.person
        if belongs_to_other or open_person_store(replace(store, person=session.person)) is None:
            yield conversations.share_step(store.namespace, session.id)
