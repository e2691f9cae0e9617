"""Contacts and projects: who is meant, what becomes of links, and what plain questions find."""

import pytest

from retentive import Retentive
from retentive.errors import Conflict, NotFound

pytestmark = pytest.mark.engines


@pytest.fixture
def people(store: Retentive) -> dict[str, str]:
    made = [
        store.contacts.create(
            name="Anna Kowalska", aliases=["Ania"], email="anna@acme.example", company="Acme", role="CTO"
        ),
        store.contacts.create(name="Bob Smith", phone="+47 555 01 99", company="Globex"),
        store.contacts.create(name="Roberta Smith", company="Initech", type="ignored"),
    ]
    return {each.name.split()[0].lower(): each.id for each in made}


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("Anna Kowalska", ["anna"]),
        ("ANNA", ["anna"]),
        ("ania", ["anna"]),  # an alias
        ("Ana Kowalsky", ["anna"]),  # misspelt
        ("smith", ["bob", "roberta"]),  # whoever is to be ignored comes last
        ("anna@acme.example", ["anna"]),
        ("4755501 99", ["bob"]),  # however a number is grouped
        ("acme", ["anna"]),
        ("cto", ["anna"]),
        ("bo", ["bob"]),  # a beginning
        ("Zbigniew", []),
        ("", []),
    ],
)  # fmt: skip
def test_contacts_are_found_by_whatever_is_known(
    store: Retentive, people: dict[str, str], asked: str, found: list[str]
) -> None:
    assert [each.id for each in store.contacts.find(asked)] == [people[name] for name in found]


def test_a_name_that_two_have_is_a_conflict_that_names_both(store: Retentive, people: dict[str, str]) -> None:
    other = store.contacts.create(name="Anna Kowalska")
    with pytest.raises(Conflict, match=f"may be one of 2 contacts: .*{other.id}"):
        store.contacts.get("anna kowalska")
    assert store.contacts.get("Ania").id == people["anna"]


def test_projects_and_skills_have_names_of_their_own(store: Retentive) -> None:
    made = store.projects.create(name="Apollo")
    with pytest.raises(Conflict, match=made.id):
        store.projects.create(name="APOLLO")
    other = store.projects.create(name="Gemini")
    with pytest.raises(Conflict, match="already"):
        store.projects.update(other.id, name="apollo")
    store.projects.delete(made.id)
    store.projects.create(name="Apollo")
    with pytest.raises(Conflict, match="already"):
        store.projects.rollback(made.id, 1)


def test_a_project_names_contacts_by_whatever_they_are_called(store: Retentive, people: dict[str, str]) -> None:
    made = store.projects.create(
        name="Apollo", primary_contact="ania", participants=["anna@acme.example", "Bob Smith", people["bob"]]
    )
    assert (made.primary_contact, made.participants) == (people["anna"], (people["anna"], people["bob"]))
    assert [hit.id for hit in store.search("who takes part with Bob?", include="projects")] == [made.id]
    with pytest.raises(NotFound, match="no contact 'Zed'"):
        store.projects.update(made.id, participants=["Zed"])


def test_a_contact_that_goes_is_named_no_more_and_the_project_stays(store: Retentive, people: dict[str, str]) -> None:
    made = store.projects.create(name="Apollo", primary_contact="bob smith", participants=["ania", "bob smith"])
    store.contacts.delete(people["bob"])
    left = store.projects.get(made.id)
    assert (left.primary_contact, left.participants, left.version) == (None, (people["anna"],), 2)
    assert store.projects.history(made.id)[-1].reason == f"contact {people['bob']} was deleted"
    assert store.search("smith", mode="text", include="projects").hits == ()
    assert store.projects.rollback(made.id, 1).participants == (people["anna"],)


def test_a_contact_that_is_called_otherwise_is_found_so_in_its_projects(
    store: Retentive, people: dict[str, str]
) -> None:
    made = store.projects.create(name="Apollo", participants=["bob smith"])
    store.contacts.update(people["bob"], name="Robert Quigley")
    assert [hit.id for hit in store.search("quigley", mode="text", include="projects")] == [made.id]


def test_merging_keeps_both_histories_and_all_that_was_known(store: Retentive, people: dict[str, str]) -> None:
    other = store.contacts.create(name="A. Kowalska", email="ak@home.example", phone="123456", notes="Likes tea")
    project = store.projects.create(name="Apollo", participants=[other.id, people["anna"]])
    made = store.contacts.merge(people["anna"], other.id, reason="the same person")
    assert (made.email, made.phone, made.aliases) == ("anna@acme.example", "123456", ("Ania", "A. Kowalska"))
    assert made.notes == "Likes tea\nAlso email: ak@home.example"
    assert store.projects.get(project.id).participants == (people["anna"],)
    with pytest.raises(NotFound, match=f"merged into {made.id}"):
        store.contacts.get(other.id)
    told = [(each.id, each.version, each.action) for each in store.contacts.history(made.id)]
    assert sorted(told) == sorted(
        [
            (made.id, 1, "created"),
            (other.id, 1, "created"),
            (made.id, 2, "merged"),
            (other.id, 2, "merged away"),
        ]
    )
    assert store.contacts.rollback(other.id, 1).name == "A. Kowalska"


@pytest.mark.parametrize("question", ["Who do I know at Acme?", "what is Anna's role?"])
def test_plain_questions_find_the_contact(store: Retentive, people: dict[str, str], question: str) -> None:
    store.add_many(["Acme was founded in 1990", "The user plays a role in a theatre", "Lunch is at noon"])
    assert people["anna"] in [hit.id for hit in store.search(question)[:2]]


def test_a_context_has_the_contact_that_a_question_is_about(store: Retentive, people: dict[str, str]) -> None:
    made = store.context("what is Anna Kowalska's role at Acme?")
    assert "Anna Kowalska is CTO at Acme." in made.text
    assert people["anna"] in made.cites
