"""What happens to records between the moment they are read and the moment they are written."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from retentive import Retentive
from retentive.errors import NotFound
from retentive.testing import before_apply, parts_of
from tests.support import Open

pytestmark = pytest.mark.engines

Meanwhile = Callable[[str, Callable[[], object]], None]


@pytest.fixture
def meanwhile(store: Retentive) -> Iterator[Meanwhile]:
    """Something happens once, right before a batch that has a step of this query."""
    with ExitStack() as stack:
        yield lambda query, happens: stack.enter_context(before_apply(store, happens, query))


def is_whole(store: Retentive) -> bool:
    return all(finding.ok for finding in store.doctor())


def said(store: Retentive) -> str:
    return json.dumps([each.record.document for each in store.profile.history() if each.record])


def test_a_contact_that_goes_is_not_named_by_a_new_project(store: Retentive, meanwhile: Meanwhile) -> None:
    anna = store.contacts.create(name="Anna")
    meanwhile("link_insert", lambda: store.contacts.delete(anna.id))
    with pytest.raises(NotFound, match="was deleted"):
        store.projects.create(name="Apollo", participants=[anna.id])
    assert not store.projects.list()


def test_a_contact_that_is_renamed_is_found_so_in_a_new_project(store: Retentive, meanwhile: Meanwhile) -> None:
    anna = store.contacts.create(name="Anna")
    meanwhile("link_insert", lambda: store.contacts.update(anna.id, name="Quigley"))
    made = store.projects.create(name="Apollo", participants=[anna.id])
    assert [hit.id for hit in store.search("quigley", mode="text", include="projects")] == [made.id]
    assert is_whole(store)


def test_a_project_that_is_changed_or_made_stays_found_while_a_contact_is_renamed(
    store: Retentive, meanwhile: Meanwhile
) -> None:
    anna = store.contacts.create(name="Anna")
    made = store.projects.create(name="Apollo", participants=[anna.id])

    def others() -> None:
        store.projects.update(made.id, description="zeppelins")
        store.projects.create(name="Gemini", participants=[anna.id])

    meanwhile("record_update", others)
    store.contacts.update(anna.id, name="Quigley")
    assert len(store.search("quigley", mode="text", include="projects")) == 2
    assert [hit.id for hit in store.search("zeppelins", mode="text")] == [made.id]
    assert is_whole(store)


def test_a_fact_that_is_purged_before_it_flows_is_not_in_the_profile(store: Retentive, meanwhile: Meanwhile) -> None:
    meanwhile("record_insert", lambda: store.purge([hit.id for hit in store.search("Xanthippulus", mode="text")]))
    store.add("My dog is called Xanthippulus", slot="user.dog.name")
    assert store.profile.get().document == {}
    assert "Xanthippulus" not in said(store)


def test_a_fact_that_flows_while_it_is_purged_leaves_nothing(store: Retentive, meanwhile: Meanwhile) -> None:
    fact = store.add("My dog is called Xanthippulus", slot="user.dog.name")
    store.purge("profile")
    meanwhile("memory_delete", lambda: store.profile.set("city", "Oslo"))
    store.purge(fact.id)
    assert store.profile.get().document == {"city": "Oslo"}
    assert "Xanthippulus" not in said(store)


def test_a_rollback_does_not_bring_back_what_is_purged_meanwhile(store: Retentive, meanwhile: Meanwhile) -> None:
    store.profile.set("city", "Oslo")
    fact = store.add("My dog is called Xanthippulus", slot="user.dog.name")
    store.add("My dog is called Max", slot="user.dog.name")
    meanwhile("record_update", lambda: store.purge(fact.id))
    assert store.profile.rollback(2).document == {"city": "Oslo"}
    assert "Xanthippulus" not in said(store)


def test_a_purge_takes_the_runs_and_those_that_were_merged(store: Retentive) -> None:
    anna, ann, annie = (store.contacts.create(name=name) for name in ("Xantha", "Xanthia", "Xanthippa"))
    store.contacts.merge(ann.id, annie.id)
    store.contacts.merge(anna.id, ann.id)
    gone = store.purge(anna.id)
    assert ({*gone.ids}, gone.remaining) == ({anna.id, ann.id, annie.id}, ())
    for each in (anna, ann, annie):
        with pytest.raises(NotFound):
            store.contacts.history(each.id)
    skill = store.skills.create(name="Report")
    store.skills.record(skill.id, "sent")
    store.purge(skill.id)
    assert parts_of(store).engine.read("run_last", {"namespace": "default", "skills": [skill.id]}) == []


def test_a_profile_is_purged_alone_or_with_its_facts(store: Retentive) -> None:
    fact = store.add("My dog is called Xanthippulus", slot="user.dog.name")
    store.profile.set("city", "Oslo")
    alone = store.purge("profile")
    assert (alone.ids, alone.complete, alone.proof.startswith("incomplete")) == (("profile",), True, False)
    assert store.profile.get().document == {"dog": {"name": "Xanthippulus"}}
    both = store.purge([fact.id, "profile"])
    assert (both.remaining, store.profile.get().document) == ((), {})


def test_who_was_the_first_of_a_project_is_found_as_one_of_many(open_store: Open) -> None:
    store = open_store()
    anna, bob = (store.contacts.create(name=name).id for name in ("Anna", "Bob"))
    made = store.projects.create(name="Apollo", primary_contact=anna, participants=[bob])
    store.projects.update(made.id, primary_contact=None, participants=[anna, bob])
    assert "Participants: Anna, Bob." in store.search("apollo", include="projects")[0].excerpt
    assert is_whole(store)
