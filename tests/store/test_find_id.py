"""Ids that are given in part, as people read and type them."""

import json

import pytest

from retentive import Retentive
from retentive.errors import Forbidden, Invalid, NotFound
from retentive.ids import shorten_id
from tests.support import Open, Run

pytestmark = pytest.mark.engines


@pytest.fixture
def id(store: Retentive) -> str:
    return store.add("The user likes tea").memory.id


@pytest.mark.parametrize("part", [slice(-8, None), slice(-4, None), slice(0, 30), slice(0, 4)])
def test_a_beginning_or_an_end_stands_for_the_id(store: Retentive, id: str, part: slice) -> None:
    assert store.find_id(id[part]) == id


@pytest.mark.parametrize("text", ["ffffffff", "todo", "", "SESSION#7", "a%", "____"])
def test_what_is_no_part_of_an_id_stays(store: Retentive, id: str, text: str) -> None:
    assert id != text == store.find_id(text)


def test_several_ids_are_listed_with_their_texts(store: Retentive, id: str) -> None:
    other = store.add("The user's bicycle is green").memory.id
    with pytest.raises(Invalid) as caught:
        store.find_id(id[:4])
    assert all(each in str(caught.value) for each in (id, other, "The user likes tea", "bicycle"))


def test_an_id_that_somebody_chose_counts_for_more_than_a_part(store: Retentive, id: str) -> None:
    store.notes.put("Call Anna", note_id=id[-4:])
    assert store.find_id(id[-4:]) == id[-4:]


def test_ids_of_other_namespaces_are_not_found(open_store: Open, id: str) -> None:
    assert open_store(namespace="other").find_id(id[-8:]) == id[-8:]
    with pytest.raises(NotFound):
        open_store(namespace="other").get(id[-8:])


def test_each_kind_of_row_has_its_own_ids(store: Retentive, id: str) -> None:
    anna = store.contacts.create(name="Anna Keller").id
    token = store.tokens.create().token.id
    asked = store.expectations.add("what does the user drink?", finds=[id]).id
    found = [store.find_id(each[-8:], of) for of, each in (("contact", anna), ("token", token), ("expectation", asked))]
    assert found == [anna, token, asked]
    assert store.find_id(anna[-8:], "memory") == anna[-8:]
    with pytest.raises(Invalid):
        store.find_id("abcd1234", "planet")


def test_a_view_finds_no_tokens(store: Retentive) -> None:
    token = store.tokens.create().token.id
    with pytest.raises(Forbidden):
        store.restricted("default").find_id(token[-8:], "token")


def test_a_contact_may_be_called_like_the_end_of_an_id(store: Retentive) -> None:
    store.contacts.create(name="Fae")
    assert store.find_id("abba", "contact") == "abba"


@pytest.mark.parametrize("verb", ["get", "update --importance 9", "history", "why", "forget", "restore", "purge --yes"])
def test_every_verb_takes_a_short_id(run: Run, verb: str) -> None:
    id = run("add", "The user likes tea").split()[-1]
    name, *options = verb.split()
    assert run(name, shorten_id(id), *options, "--json")


def test_a_page_may_be_continued_by_a_short_id(run: Run) -> None:
    for text in ("The bridge is closed", "The user likes tea"):
        run("add", text)
    first = json.loads(run("list", "--limit", "1", "--json"))
    rest = json.loads(run("list", "--after", shorten_id(first["next"]), "--json"))
    assert [each["content"] for each in rest["memories"]] == ["The bridge is closed"]


def test_a_part_of_several_ids_is_wrong_input(run: Run, refused: Run) -> None:
    id = run("add", "The bridge is closed").split()[-1]
    run("add", "The user likes tea")
    assert "matches several ids" in refused("get", id[:6], code=2)
