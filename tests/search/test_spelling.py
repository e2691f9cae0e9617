"""Misspelt words of questions: what is suspected, what is tried, what is found."""

import pytest

from retentive import Retentive
from retentive.search.spelling import find_suspects, list_edits, measure_distance, suggest_english
from tests.support import Open


@pytest.mark.parametrize(
    ("question", "suspects"),
    [
        ("what is she alergic to?", ["alergic"]),
        ("which resturant does Pryia like", ["resturant", "pryia"]),
        # ordinary words, short words, numbers and other scripts are not
        ("when does the train leave for Porto at 17:45?", []),
        ("xyz abc1234 東京", []),
    ],
)
def test_words_that_are_no_english_words_are_suspected(question: str, suspects: list[str]) -> None:
    assert find_suspects(question) == suspects


@pytest.mark.parametrize(
    ("word", "meant"),
    [("alergic", "allergic"), ("restaurnat", "restaurant"), ("apointment", "appointment"), ("vegetarain", "vegetarian"),
     ("accomodations", "accommodations"), ("embarasment", "embarrassment")],
)  # fmt: skip
def test_a_misspelt_word_is_near_what_was_meant(word: str, meant: str) -> None:
    assert meant in suggest_english(word)


@pytest.mark.parametrize(
    ("first", "second", "distance"),
    [("boat", "boat", 0), ("boat", "baot", 1), ("boat", "boats", 1), ("boat", "oat", 1), ("boat", "goad", 2)],
)
def test_distances_count_letters(first: str, second: str, distance: int) -> None:
    assert measure_distance(first, second, 2) == distance
    assert (distance == 1) == (second in list_edits(first))


@pytest.fixture
def notes(open_store: Open) -> Retentive:
    store = open_store(embedder="none")
    store.add_many(
        ["Priya is allergic to shellfish", "The restaurant opens at nine", "Der Zahnarzt ist in der Lindenstrasse"]
    )
    return store


@pytest.mark.engines
@pytest.mark.parametrize(
    ("question", "found", "note"),
    [
        ("alergic", "Priya is allergic to shellfish", "'alergic' was read as 'allergic'"),
        ("when does the resturant open?", "The restaurant opens at nine", "'resturant' was read as 'restaurant'"),
        # a name and a word of another language, which no table has
        ("Pryia", "Priya is allergic to shellfish", "'pryia' was read as 'priya'"),
        ("zahnartz", "Der Zahnarzt ist in der Lindenstrasse", "'zahnartz' was read as 'zahnarzt'"),
    ],
)
def test_a_misspelt_word_finds_what_was_meant_and_says_so(
    notes: Retentive, question: str, found: str, note: str
) -> None:
    hits = notes.search(question)
    assert hits[0].content == found
    assert note in hits.notes


@pytest.mark.engines
def test_a_word_that_is_there_is_not_corrected(notes: Retentive) -> None:
    notes.add("Alergic is the name of a band")
    hits = notes.search("alergic")
    assert hits[0].content == "Alergic is the name of a band"
    assert not any("was read as" in note for note in hits.notes)


@pytest.mark.engines
def test_no_word_of_another_namespace_is_told(notes: Retentive) -> None:
    notes.in_namespace("other").add("The codename is Wolkenstein")
    assert not any("was read as" in note for note in notes.search("wolkenstien").notes)
