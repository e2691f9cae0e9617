"""Times in questions, through the library. It is Friday, 15 January 2027."""

from typing import Any

import pytest

from retentive import Retentive
from retentive.errors import Invalid
from retentive.model import Results, TimeRelation
from retentive.testing import parts_of
from tests.support import Open, Run

pytestmark = [pytest.mark.engines, pytest.mark.usefixtures("time")]

MOVE = "We moved from Berlin to Porto on 4 March 2024"


def append(store: Retentive, *lines: tuple[str, str], session: str = "s") -> None:
    for day, text in lines:
        store.sessions.append(session, "user", text, time=day)


def list_contents(results: Results) -> list[str]:
    return [hit.content for hit in results]


def test_what_was_said_then_comes_first_where_only_the_time_is_asked_for(store: Retentive) -> None:
    """However much else there is that resembles the question more."""
    messages = [{"role": "user", "content": f"what did I do, day {n}", "time": "2026-03-01"} for n in range(60)]
    store.sessions.append_many("old", messages)
    append(store, ("2027-01-05", "Repaired the espresso machine"), ("2027-01-08", "Met the plumber"))
    assert set(list_contents(store.search("What did I do last week?", 2))) == {
        "Repaired the espresso machine",
        "Met the plumber",
    }


def test_a_span_lifts_and_does_not_filter(store: Retentive) -> None:
    append(store, ("2026-05-02", "We deployed Atlas to Leipzig"), ("2026-09-02", "We deployed Atlas to Dresden"))
    for month, first in (("May", "Leipzig"), ("September", "Dresden")):
        found = list_contents(store.search(f"Where did we deploy Atlas in {month}?"))
        assert len(found) == 2
        assert found[0].endswith(first)


def test_what_is_told_later_counts_as_of_the_time_it_tells_of(store: Retentive) -> None:
    append(
        store,
        ("2026-04-20", "The hike to the lakes last month was wonderful"),
        ("2026-08-20", "The hike to the lakes today was wet"),
    )
    best = store.search("How was the hike to the lakes in March?")[0]
    assert best.content.endswith("wonderful")
    assert best.why.time is not None
    assert best.why.time.relation is TimeRelation.MENTIONED


def test_a_fact_that_began_in_the_span_wins_over_one_that_began_later(store: Retentive) -> None:
    store.add("The user rented a flat in Porto", valid_from="2022-03-01")
    store.add("The user rented a flat in Braga", valid_from="2024-03-01")
    assert list_contents(store.search("Which flat did the user rent in 2022?"))[0].endswith("Porto")
    assert list_contents(store.search("Which flat did the user rent after 2023?"))[0].endswith("Braga")


def test_every_score_is_the_sum_it_shows(store: Retentive) -> None:
    append(store, ("2026-05-02", "We deployed Atlas"), ("2026-09-02", "Atlas is deployed"))
    for question in ("deployed Atlas in May 2026", "What did we do in May 2026?", "the latest of Atlas"):
        for hit in store.search(question):
            why = hit.why
            assert why.time is not None
            weighed = sum(why.shares.values()) * why.confidence_factor * why.importance_factor
            assert hit.score == pytest.approx(weighed * why.time.factor + why.time.bonus)


def test_a_hit_says_what_was_read_and_how_it_stands_to_it(store: Retentive) -> None:
    append(store, ("2026-05-02", "We deployed Atlas"))
    (hit,) = store.search("What was deployed in May 2026?")
    assert hit.why.time is not None
    assert (hit.why.time.words, hit.why.time.relation) == ("May 2026", TimeRelation.INSIDE)
    assert [f"{end:%Y-%m-%d}" for end in (hit.why.time.since, hit.why.time.until) if end] == [
        "2026-05-01",
        "2026-06-01",
    ]


def test_a_question_without_a_time_takes_no_step_more(store: Retentive) -> None:
    store.add("The dog is called Rex")
    results = store.search("What is the dog called?")
    assert "when" not in results.timings
    assert results[0].why.time is None


def test_of_likes_the_newer_comes_first_where_it_is_asked_for(store: Retentive) -> None:
    for year, place in ((2024, "Leipzig"), (2026, "Dresden"), (2025, "Halle")):
        store.add(f"Atlas was released at {place}", valid_from=f"{year}-12-01", importance=9 if year == 2024 else 5)
    store.add("The office has a cat")
    assert list_contents(store.search("Where was Atlas released?"))[0].endswith("Leipzig")
    assert list_contents(store.search("Where was Atlas released most recently?"))[0].endswith("Dresden")


def test_a_time_that_hangs_on_an_event_is_looked_up(store: Retentive) -> None:
    append(store, ("2023-11-02", "I rented a flat"), ("2024-03-20", MOVE), ("2024-06-01", "I rented a house"))
    for question, first in (
        ("What did I rent before the move?", "I rented a flat"),
        ("What did I rent after the move?", "I rented a house"),
    ):
        results = store.search(question)
        assert list_contents(results)[0] == first
        assert "2024-03-04" in results.notes[0]
        assert MOVE in results.notes[0]


def test_a_question_with_a_vector_loads_no_model_to_look_up_an_event(open_store: Open) -> None:
    """The occasion is found by its words; the vector says what the question means, not when it was."""
    store = open_store(embedder="minilm")
    days = ("2023-11-02", "2024-03-20", "2024-06-01")
    texts = ("The user rented a flat", MOVE, "The user rented a house")
    vectors = [[float(place == number) for place in range(384)] for number in range(3)]
    store.add_many([{"text": text, "valid_from": day} for day, text in zip(days, texts, strict=True)], vectors)
    results = store.search("What did the user rent after the move?", vector=[1.0] * 384)
    assert MOVE in results.notes[0]
    embedder = parts_of(store).embedder
    assert embedder
    assert embedder.describe()["loaded"] == "no"


def test_a_birthday_is_looked_up_in_the_year_that_is_named(store: Retentive) -> None:
    store.add("The user's birthday is on 5 May")
    append(store, ("2023-05-05", "Ann gave me a bicycle"), ("2024-05-05", "Ann gave me a lamp"))
    for year, gift in ((2023, "bicycle"), (2024, "lamp")):
        found = list_contents(store.search(f"What did Ann give me on my birthday in {year}?"))
        assert found[0] == f"Ann gave me a {gift}"


@pytest.mark.parametrize("words", ["before the concert", "that weekend", "two weeks later", "when I was young"])
def test_what_cannot_be_read_is_told_and_the_question_answered(store: Retentive, words: str) -> None:
    store.add("The user played tennis")
    results = store.search(f"What did the user play {words}?")
    assert list_contents(results) == ["The user played tennis"]
    assert [note for note in results.notes if "not understood as a time" in note and words in note]
    context = store.context(f"What did the user play {words}?")
    assert [note for note in context.notes if words in note]


def test_a_question_about_the_past_is_asked_then(store: Retentive) -> None:
    append(
        store, ("2026-05-06", "Rowed on the lake"), ("2026-05-13", "Rowed on the river"), ("2027-01-06", "Rowed home")
    )
    assert list_contents(store.search("Where did I row last week?"))[0] == "Rowed home"
    assert list_contents(store.search("Where did I row last week?", as_of="2026-05-20"))[0] == "Rowed on the river"


def test_last_week_counts_from_when_the_question_is_asked(store: Retentive) -> None:
    """With `now`, in the question and in the options; what was said later is still there."""
    append(store, ("2026-05-13", "Rowed on the river"), ("2027-01-06", "Rowed home"))
    found = list_contents(store.search("Where did I row last week?", now="2026-05-20"))
    assert found == ["Rowed on the river", "Rowed home"]
    assert list_contents(store.search("Where did I row?", now="2026-05-20", since="8d", until="1d")) == found[:1]
    text = store.context("Where did I row last week?", now="2026-05-20", budget=200).text
    assert "river" in text
    with pytest.raises(Invalid, match="now"):
        store.search("Where did I row?", now="someday")


def test_the_terminal_takes_the_time_of_a_question(run: Run) -> None:
    run("session", "append", "s", "Rowed on the river", "--time", "2026-05-13")
    run("session", "append", "s", "Rowed home", "--time", "2027-01-06")
    assert "river" in run("search", "Where did I row last week?", "--now", "2026-05-20", "--limit", "1")
    assert "river" in run("context", "Where did I row last week?", "--now", "2026-05-20")


def test_filters_hold_beside_a_time(store: Retentive) -> None:
    append(store, ("2026-05-06", "Rowed on the lake"), ("2026-05-20", "Rowed on the river"))
    found = store.search("What did I do in May 2026?", since="2026-05-10", until="2026-05-15")
    assert list_contents(found) == []
    assert list_contents(store.search("What did I do in May 2026?", since="2026-05-10")) == ["Rowed on the river"]


def test_all_of_a_time_without_a_limit(store: Retentive) -> None:
    append(store, *((f"2027-01-{4 + n:02}", f"Item {n} of quite another kind") for n in range(7)))
    append(store, ("2026-10-10", "Something else entirely"))
    found = store.search("What did I do last week?", None)
    assert len(found) == 7


def test_a_context_has_what_is_of_the_time_asked_for(store: Retentive) -> None:
    append(store, ("2027-01-05", "Repaired the espresso machine"))
    append(store, ("2026-03-05", "Painted the fence"), session="other")
    text = store.context("What did I do last week?").text
    assert "espresso" in text
    assert "fence" not in text


@pytest.mark.parametrize("mode", ["text", "vector", "hybrid"])
@pytest.mark.parametrize("limit", [1, None])
def test_every_way_of_asking_knows_times(store: Retentive, mode: str, limit: int | None) -> None:
    append(store, ("2026-05-06", "Rowed on the lake with Ann"), ("2026-09-06", "Rowed on the lake with Bob"))
    found = store.search("rowed on the lake in September 2026", limit, mode=mode)
    assert list_contents(found)[0] == "Rowed on the lake with Bob"


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"since": "last week"}, ["new"]),
        ({"since": "in March 2026", "until": "in March 2026"}, ["march"]),  # both ends are meant whole
        ({"until": "the end of 2025"}, ["old"]),
        ({"since": "two weeks ago"}, ["new"]),
        ({"since": "March"}, ["march", "new"]),
        ({"as_of": "last year"}, ["march", "old"]),  # its last moment
        ({"as_of": "yesterday"}, ["march", "new", "old"]),
    ],
)
def test_filters_read_english(store: Retentive, filters: dict[str, Any], expected: list[str]) -> None:
    for name, day in (("old", "2025-06-01"), ("march", "2026-03-31T23:00"), ("new", "2027-01-06")):
        store.add(name, valid_from=day)
    assert sorted(memory.content for memory in store.list(**filters)) == expected


def test_options_of_a_memory_read_english(store: Retentive) -> None:
    memory = store.add("The user is in Rome", valid_from="last Monday", expires="next Friday").memory
    assert f"{memory.valid_from:%Y-%m-%d}" == "2027-01-11"
    assert f"{memory.expires:%Y-%m-%d}" == "2027-01-23"  # Friday counts


@pytest.mark.parametrize("odd", ["last mondy", "recently", "every Monday", "in March and April", "", "x" * 10_000])
def test_a_time_that_cannot_be_read_is_refused(store: Retentive, odd: str) -> None:
    for option in ("since", "until", "as_of", "known_at"):
        with pytest.raises(Invalid, match=f"{option}: cannot read") as caught:
            store.list(**{option: odd})  # type: ignore[arg-type]
        assert "last Monday" in caught.value.hint
    for option in ("expires", "valid_from"):
        with pytest.raises(Invalid, match=f"{option}: cannot read"):
            store.add("The user is in Rome", **{option: odd})  # type: ignore[arg-type]
    assert store.list().items == ()


@pytest.mark.parametrize(
    "question",
    [
        "What happened on 0001-01-01?",
        "What happened on 9999-12-30?",
        "before 0001-01-02 or after 9999-12-30",
        "around 9999-12-30",
        "99999999 years ago",
        "since " * 300 + "May",
        "in May 2020 " * 50,
        "before the " * 200,
        "[[[ before [ last week ]]]",
    ],
)
def test_no_question_is_too_odd(store: Retentive, question: str) -> None:
    store.add("It happened on 0001-01-01, and again on 9999-12-30")
    store.search(question)
    store.context(question)


def test_the_terminal_shows_it(run: Run) -> None:
    run("add", "The user rented a flat", "--valid-from", "last Monday")
    shown = run("search", "What was rented this week?", "--why")
    assert "x time 3.00 + 1.00 [this week: inside, since 2027-01-11 until 2027-01-18]" in shown
    assert '"relation":"inside"' in run("search", "What was rented this week?", "--json").replace(" ", "")


def test_without_an_embedder_a_time_still_counts(open_store: Open) -> None:
    with open_store(embedder="none") as store:
        append(store, ("2026-05-06", "Rowed on the lake"), ("2026-09-06", "Rowed on the river"))
        assert list_contents(store.search("Where did I row in May 2026?"))[0] == "Rowed on the lake"


def test_without_an_embedder_a_time_alone_gives_what_is_of_it(open_store: Open) -> None:
    with open_store(embedder="none") as store:
        append(store, ("2027-01-05", "Rowed on the lake"), ("2026-09-06", "Last week was dull"))
        store.add("The user sold the boat", valid_from="2027-01-06")
        results = store.search("What did I do last week?")
        assert list_contents(results) == ["The user sold the boat", "Rowed on the lake", "Last week was dull"]
        assert "Rowed" in store.context("What did I do last week?").text


def test_an_hour_of_no_day_tells_of_no_time(store: Retentive) -> None:
    """What is not before 9:30 does not tell of all the time until that morning."""
    store.add("No meetings before 9:30", valid_from="2026-05-04")
    hit = store.search("Which meetings were there on 5 March 2026?")[0]
    assert hit.why.time is not None
    assert hit.why.time.relation is TimeRelation.OUTSIDE


def test_what_is_of_the_time_asked_for_is_more_relevant_than_what_is_not(store: Retentive) -> None:
    """It need not have the words of that time."""
    store.add("We deployed Atlas to Leipzig", valid_from="2026-05-02")
    store.add("We deployed Atlas to Dresden", valid_from="2026-09-02")
    inside, outside = store.search("Where did we deploy Atlas in September 2026?")
    assert inside.content.endswith("Dresden")
    assert inside.relevance > outside.relevance + 0.05


def test_a_speaker_who_is_called_like_a_month_is_meant(store: Retentive) -> None:
    store.sessions.append("s", "user", "I hand the shop over to Samir", speaker="April", time="2026-08-02")
    hits = store.search("Who took over from April?")
    assert hits[0].why.time is None
