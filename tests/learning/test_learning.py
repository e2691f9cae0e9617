"""What a store knows after two weeks of talk, without a language model."""

import pytest

from retentive import Retentive
from retentive.testing import Clock
from tests.dialogue import Played, known, play, read
from tests.support import Open

KNOWN = """\
From now on, answer in British English.
The user called the clinic: it closes at 7pm on Fridays.
The user cut down to one coffee a day.
The user has a dog named Bolt.
The user has an exam on Tuesday (17 March 2026).
The user is Marta.
The user is a nurse.
The user is allergic to penicillin.
The user is vegetarian.
The user moved to Coimbra.
The user now works at the university hospital in Coimbra.
The user runs along the river every morning.
The user switched from VS Code to Zed.
The user's birthday is on 12 April.
The user's mother is called Teresa.
The user's shift planner is written in Rust now.
The user's sister is vegan.
The user's sister moved to Braga.
We decided to use Postgres in production.
"""

NEVER = "Berlin Guido semicolon Faro Madrid Carlos queen king swordfish Evil Hell Root teacher steak fado boat chillies"
"""Words of jokes, quotes, code, recalled memories, tools, wishes and the assistant."""


@pytest.fixture
def played(open_store: Open, time: Clock) -> Played:
    return play(open_store(embedder="minilm"), time, read("fortnight.txt"))


@pytest.fixture
def store(played: Played, open_store: Open) -> Retentive:
    assert played.learned
    return open_store(embedder="minilm")


@pytest.mark.engines
def test_after_two_weeks_what_holds_is_known(store: Retentive, played: Played) -> None:
    assert len(played.events) > 60
    assert set(KNOWN.splitlines()) <= {*known(store)}


def test_nothing_is_known_that_was_quoted_recalled_joked_or_said_by_others(store: Retentive) -> None:
    words = {word.strip(".,") for text in known(store) for word in text.split()}
    assert words.isdisjoint(NEVER.split())


def test_what_is_surely_over_is_kept_as_what_held_before(store: Retentive, played: Played) -> None:
    ended = {each.content for learned in played.learned for each in learned.replaced}
    assert "The user uses VS Code as their editor." in ended
    assert all(store.get(id).superseded_by for learned in played.learned for id in learned.superseded)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The user lives in Lisbon.", "The user moved to Coimbra."),
        ("The user's sister lives in Porto.", "The user's sister moved to Braga."),
        ("The user drinks three coffees a day.", "The user cut down to one coffee a day."),
    ],
)
def test_a_change_is_ended_or_proposed(played: Played, older: str, newer: str) -> None:
    proposed = {(each.older, each.newer) for learned in played.learned for each in learned.proposals}
    ended = {each.content for learned in played.learned for each in learned.replaced}
    assert older in ended or (older, newer) in proposed


def test_what_was_said_again_in_other_words_is_surer_not_double(store: Retentive, played: Played) -> None:
    again = {store.get(id).content for learned in played.learned for id in learned.reinforced}
    assert {"The user lives in Lisbon.", "The user is allergic to penicillin."} <= again


def test_a_state_with_an_end_is_known_until_then(store: Retentive, played: Played) -> None:
    store.upkeep()
    (duty,) = store.list(status="expired")
    assert duty.content == "The user is on call until Sunday (8 March 2026)."
    assert played.learned


def test_a_clear_wish_to_forget_is_done_and_an_unclear_one_asks(store: Retentive, played: Played) -> None:
    clear, unclear = (request for event in played.events for request in event.requests if request.verb == "forget")
    assert store.get(clear.memories[0]).content == "The user's favourite colour is green."
    assert not unclear.memories
    assert {each.content for each in unclear.candidates} >= {
        "The user's sister is vegan.",
        "The user's sister moved to Braga.",
    }


def test_what_was_asked_for_is_done_once(store: Retentive, played: Played) -> None:
    """Learning finds the words again, which says nothing new."""
    to_keep = [request for event in played.events for request in event.requests if request.verb == "keep"]
    asked = [id for request in to_keep for id in request.memories]
    assert [store.get(id).confidence for id in asked][1:] == [0.9, 0.9]
    assert len(asked) == 3


def test_no_secret_of_the_talk_is_in_the_store(store: Retentive, played: Played) -> None:
    said = "\n".join(event.content for event in store.sessions.events("away"))
    assert played.events
    assert not any(secret in said for secret in ("hunter2", "Tr0ub4dor"))
    assert said.count("[redacted: ") == 2


def test_a_session_that_was_learned_gives_nothing_more(store: Retentive, played: Played) -> None:
    again = [store.learn(each.session)[0] for each in played.learned]
    assert {(each.events, each.kept, each.reinforced) for each in again} == {(0, (), ())}


def test_a_note_that_says_the_same_takes_the_place_of_nothing(open_store: Open) -> None:
    """A note is its owner's, who may delete it: what is learned is kept beside it."""
    store = open_store()
    store.notes.put("The user lives in Porto.", note_id="home")
    store.sessions.append("s", "user", "I live in Porto.")
    (learned,) = store.learn("s")
    assert [store.get(id).content for id in learned.kept] == ["The user lives in Porto."]
    assert learned.reinforced == ()
