"""What speaks for a message, over every engine: whom it is about, what is around it, its session, and its words."""

import pytest

from retentive import Retentive
from tests.support import Open

TALK = {
    "june": [
        ("Ana", "How was your holiday by the sea, with all the family and the dogs along this time?"),
        ("Ben", "We rented a small boat and went fishing every single morning before breakfast was ready."),
        ("Ana", "I painted the harbour at sunset, and I will hang the picture up in the hall at home."),
        ("Ben", "What did you paint at the harbour?"),
    ],
    "july": [
        ("Ana", "The new kitchen is nearly done, and the plumber comes back on Thursday for the sink."),
        ("Ben", "I painted the garden fence green, and the neighbours were not amused by it at all."),
    ],
}


@pytest.fixture
def talk(store: Retentive) -> Retentive:
    for session, said in TALK.items():
        store.sessions.append_many(
            session, [{"role": "user", "speaker": speaker, "content": text} for speaker, text in said]
        )
    return store


pytestmark = pytest.mark.engines


def test_who_is_named_in_the_question_is_found_first(talk: Retentive) -> None:
    assert talk.search("What did Ana paint?")[0].event.speaker == "Ana"
    assert talk.search("What did Ben paint?")[0].event.speaker == "Ben"
    assert talk.search("What did Ben paint?")[0].why.shares["person"] > 0


def test_speakers_are_known_by_namespace(talk: Retentive) -> None:
    speakers, spoken = talk._parts.conversations.speakers(talk.namespace)
    assert (speakers, spoken) == (("Ana", "Ben"), True)
    assert talk._parts.conversations.speakers("nobody") == ((), False)


def test_a_new_speaker_is_known_at_once(talk: Retentive) -> None:
    assert talk.search("What did Zoe sell?")
    talk.sessions.append("june", "user", "I sold the old bicycle to a collector from the next village.", speaker="Zoe")
    hit = talk.search("What did Zoe sell?")[0]
    assert (hit.event.speaker, hit.why.shares["person"] > 0) == ("Zoe", True)


def test_the_first_of_one_hit_is_the_first_of_ten(talk: Retentive) -> None:
    for question in ("What did Ana paint?", "boat", "who repairs the sink?"):
        assert talk.search(question, limit=1)[0].id == talk.search(question, limit=10)[0].id


def test_a_memory_that_names_the_person_is_theirs_too(talk: Retentive) -> None:
    talk.add("Ana is allergic to walnuts")
    talk.add("Ben is allergic to peanuts")
    hits = talk.search("What is Ana allergic to?", include="memories")
    assert hits[0].content == "Ana is allergic to walnuts"
    assert hits[0].relevance > hits[1].relevance


def test_plain_fusions_look_at_the_legs_alone(talk: Retentive) -> None:
    for fusion in ("minmax", "rrf"):
        for hit in talk.search("What did Ana paint?", fusion=fusion):
            assert {*hit.why.shares} <= {"text", "vector"}


def test_a_bar_of_relevance_holds_with_a_limit_and_without(talk: Retentive) -> None:
    for limit in (10, None):
        hits = talk.search("What did Ana paint at the harbour?", limit, min_relevance=0.6)
        assert hits
        assert all(hit.relevance >= 0.6 for hit in hits)
    assert not talk.search("What is the boiling point of tungsten?", None, min_relevance=0.9)


def test_what_was_forgotten_meanwhile_is_not_weighed(open_store: Open) -> None:
    store = open_store()
    kept = store.add("The boat is called Marlin")
    gone = store.add("The boat is called Pelican")
    store.forget(gone.id)
    assert [hit.id for hit in store.search("what is the boat called?")] == [kept.id]
