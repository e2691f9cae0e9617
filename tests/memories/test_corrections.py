"""What a new memory corrects by its words alone."""

from datetime import UTC, datetime

import pytest

from retentive import Retentive
from retentive.testing import Clock
from tests.dialogue import known
from tests.support import Open

pytestmark = pytest.mark.engines


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The user lives in Lisbon.", "The user relocated to Porto."),  # the same slot in other words
        ("My sister Ana lives in Porto.", "Ana relocated to Faro."),
        ("My favourite editor is Vim.", "My favourite editor is Helix."),
        ("I use VS Code as my editor.", "I switched from VS Code to Zed."),  # a word of change
        ("I smoke ten cigarettes a day.", "I quit smoking."),  # an end
        ("I have a cat named Tom.", "I no longer have a cat."),
        ("Our deadline is March 3.", "Our deadline is March 9."),  # a number
    ],
)
@pytest.mark.engines("sqlite")
def test_a_correction_takes_the_place_of_what_it_corrects(store: Retentive, old: str, new: str) -> None:
    first = store.add(old)
    second = store.add(new)
    assert second.superseded == (first.id,)
    assert store.get(first.id).superseded_by == second.id


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I play the guitar.", "I also play the piano."),  # an addition
        ("I live in Lisbon.", "If I moved to Berlin I would miss the sea."),  # supposed
        ("I live in Lisbon.", "My brother moved to Berlin."),  # of another
        ("My sister is vegan.", "My sister moved to Braga."),  # of the same, but something else
        ("My sister Ana is a doctor.", "Ana moved to Faro."),
        ("I have a dog named Bolt.", "Bolt no longer eats kibble."),
        ("I live in Lisbon.", "Someone said I moved to Berlin."),  # hearsay
        ("I am allergic to nuts.", "I am allergic to cats."),  # there can be two
        ("I own a boat.", "I am thinking about selling my boat."),  # a thought
    ],
)
@pytest.mark.engines("sqlite")
def test_what_is_added_supposed_or_of_others_corrects_nothing(store: Retentive, old: str, new: str) -> None:
    store.add(old)
    assert store.add(new).superseded == ()
    assert known(store) == sorted([old, new])


def test_words_name_the_slot(store: Retentive) -> None:
    assert store.add("My favourite colour is green.").memory.slot == "user.favorite_color"


def test_corrections_may_be_switched_off(open_store: Open) -> None:
    store = open_store(corrections=False)
    store.add("The user lives in Lisbon.")
    moved = store.add("The user moved to Porto.")
    assert (moved.superseded, moved.memory.slot) == ((), None)
    assert len(known(store)) == 2


def test_a_slot_that_is_given_decides_alone(store: Retentive) -> None:
    store.add("The user lives in Lisbon.")
    assert store.add("The user moved to Porto.", slot="trips.last").superseded == ()


def test_notes_are_not_corrected(store: Retentive) -> None:
    store.notes.put("The user lives in Lisbon.")
    assert store.add("The user moved to Porto.").superseded == ()


def test_a_late_fact_is_kept_as_what_held_before(store: Retentive) -> None:
    now = store.add("The user lives in Porto.", valid_from="2026-03-01")
    late = store.add("The user lives in Lisbon.", valid_from="2024-01-01")
    assert known(store) == ["The user lives in Porto."]
    assert (late.memory.status, late.memory.superseded_by) == ("superseded", now.id)
    assert late.memory.valid_to == datetime(2026, 3, 1, tzinfo=UTC)


def test_words_say_when_a_memory_ends(store: Retentive, time: Clock) -> None:
    time.micros = 1_772_452_800_000_000  # 2 March 2026
    stay = store.add("The user is in Madrid until June 1.")
    assert stay.memory.expires == datetime(2026, 6, 2, tzinfo=UTC)
    assert store.add("The user likes Madrid.").memory.expires is None
    time.forward(95 * 86_400)
    assert known(store) == ["The user likes Madrid."]


def test_the_end_of_one_sentence_is_not_the_end_of_the_others(store: Retentive, time: Clock) -> None:
    time.micros = 1_772_452_800_000_000  # 2 March 2026
    assert store.add("The user lives in Lisbon. They are in Madrid until June 1.").memory.expires is None
    time.forward(95 * 86_400)
    assert len(known(store)) == 1


def test_an_end_that_is_given_goes_before_words(store: Retentive, time: Clock) -> None:
    time.micros = 1_772_452_800_000_000
    stay = store.add("The user is in Madrid until June 1.", expires="2026-04-01")
    assert stay.memory.expires == datetime(2026, 4, 1, tzinfo=UTC)


def test_the_end_of_a_chain_is_found_from_its_beginning(store: Retentive) -> None:
    ids = [store.add(f"The user lives in {city}.").id for city in ("Lisbon", "Porto", "Faro")]
    assert known(store) == ["The user lives in Faro."]
    assert [store.get(id).superseded_by for id in ids] == [*ids[1:], None]


PROJECT_TALK = (
    "The user is building a booking page for a climbing gym with Django 4.2.",
    "The user is trying to add a calendar widget to the booking page.",
    "The user has added a calendar widget to the booking page with htmx.",
    "The user is having trouble with the time zones in the booking page's calendar.",
    "The user has heard that storing times in UTC is a good practice.",
    "The user is worried that the booking page will be slow on weekends.",
    "The user noticed that the booking page takes 900 ms when the calendar has many events.",
    "The user has added an index on the events table to speed up the calendar.",
    "The user is also using Django 4.2 for the staff pages of the climbing gym.",
    "The user needs help with the tests of the booking page.",
    "The user is trying to write tests for the staff pages.",
    "The user is not sure how to structure the tests of the calendar.",
)


def test_steps_of_a_long_project_replace_nothing(open_store: Open) -> None:
    """They share their words and their topic, and each adds to the others."""
    store = open_store(embedder="minilm")
    added = [store.add(text) for text in PROJECT_TALK]
    assert not any(each.replaced for each in added)
    # That they are trying to add a widget is over; one more pair is borderline.
    assert sum(len(each.proposals) for each in added) <= 2
