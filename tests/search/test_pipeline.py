"""What speaks for a message, over every engine: whom it is about, what is around it, its session, and its words."""

import numpy as np
import pytest

from retentive import Retentive
from retentive.search.thresholds import keep_near_best
from retentive.storage.tables.conversations import Conversations
from retentive.testing import parts_of
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
    speakers, spoken = parts_of(talk).tables.conversations.speakers(talk.namespace)
    assert (speakers, spoken) == (("Ana", "Ben"), True)
    assert parts_of(talk).tables.conversations.speakers("nobody") == ((), False)


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


def test_plain_fusions_use_the_two_searches_alone(talk: Retentive) -> None:
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


def test_the_chunks_of_one_long_text_do_not_crowd_out_the_rest(store: Retentive) -> None:
    store.add(" ".join(f"In paragraph {n} the boats in the harbour are painted, boat after boat." for n in range(700)))
    for lake in range(5):
        store.add(f"A boat was seen on lake {lake}")
    assert len(store.search("boats painted in the harbour", 5).hits) == 5


def test_what_contains_the_question_as_it_stands_must_be_relevant_enough_too(store: Retentive) -> None:
    store.add("the setting is called zq-!!-xx")
    assert store.search("-!!-", None, min_relevance=0.5).tier == "substring"
    assert not store.search("-!!-", None, min_relevance=0.95).hits


def test_a_bar_keeps_all_that_a_vector_alone_finds_above_it(store: Retentive) -> None:
    store.add_many([{"text": f"The {colour} boat is in the harbour"} for colour in ("red", "green", "blue")])
    store.add("Rent is due on the first of the month")
    vector = [*map(float, parts_of(store).embedder.embed_query("a boat in the harbour"))]  # type: ignore[union-attr]
    hits = store.search("", 10, vector=vector).hits
    assert len(hits) == 4
    for bar in (hit.relevance for hit in hits):
        above = [hit.id for hit in hits if hit.relevance >= bar]
        assert [hit.id for hit in store.search("", None, vector=vector, min_relevance=bar - 1e-9)] == above


def test_two_thresholds_hold_together(talk: Retentive) -> None:
    for hit in talk.search("boat with green pictures of walnuts", min_similarity=0.99, min_relevance=0.0):
        raise AssertionError(hit.content)


def test_a_score_below_nothing_is_the_sum_it_shows_and_a_time_still_lifts_it(store: Retentive) -> None:
    store.sessions.append("s", "assistant", "Hm.", time="2026-03-03")
    store.sessions.append("s", "assistant", "Ah.", time="2025-01-03")
    hits = store.search("what did I paint in March 2026?")
    assert [hit.content for hit in hits] == ["Hm.", "Ah."]
    for hit in hits:
        why = hit.why
        weighed = sum(why.shares.values()) * why.confidence_factor * why.importance_factor
        assert weighed < 0
        assert why.time
        assert hit.score == pytest.approx(weighed * why.time.factor + why.time.bonus)


def test_speakers_are_looked_up_again_only_for_a_new_one(talk: Retentive) -> None:
    people = parts_of(talk).speakers
    known = people.load(parts_of(talk).tables.conversations, (talk.namespace,))
    talk.sessions.append("june", "user", "That was all for today.", speaker="Ana")
    assert people.load(parts_of(talk).tables.conversations, (talk.namespace,)) is known
    talk.sessions.append("june", "user", "Hello to all of you.", speaker="Zoe")
    assert "zoe" in people.load(parts_of(talk).tables.conversations, (talk.namespace,)).names


def test_a_look_that_began_before_a_name_was_new_is_not_remembered(talk: Retentive) -> None:
    class Slow(Conversations):
        def speakers(self, namespace: str) -> tuple[tuple[str, ...], bool]:
            seen = super().speakers(namespace)
            talk.sessions.append("june", "user", "Hello to all of you.", speaker="Zoe")
            return seen

    people, conversations = parts_of(talk).speakers, parts_of(talk).tables.conversations
    assert "zoe" not in people.load(Slow(conversations.engine), (talk.namespace,)).names
    assert "zoe" in people.load(conversations, (talk.namespace,)).names


def test_a_day_in_two_times_of_a_question_is_listed_once(open_store: Open) -> None:
    store = open_store(embedder="none")
    store.add("The roof was mended", valid_from="2026-03-03")
    hits = store.search("what happened on 3 March 2026 or in March 2026?").hits
    assert [hit.content for hit in hits] == ["The roof was mended"]


def test_a_text_full_of_events_asks_about_none_of_them(store: Retentive) -> None:
    store.add("We moved to Berlin on 3 May 2026")
    assert store.search("what changed before the move to Berlin?").notes
    assert not store.search("before the move, after the exam, since the trip, during the war, until the end, ").notes


@pytest.mark.parametrize(
    ("fact", "question", "other"),
    [
        ("小明喜欢吃苹果和香蕉", "小明喜欢吃什么", "小王在北京工作了三年"),
        ("彼は東京に住んでいます", "彼は東京に住む", "昨日は雨が降りました"),
    ],
)
@pytest.mark.parametrize("embedder", ["none", "hashing"])
def test_words_of_scripts_without_blanks_count_as_words(
    open_store: Open, fact: str, question: str, other: str, embedder: str
) -> None:
    store = open_store(embedder=embedder)
    store.add(fact)
    store.add(other)
    assert [hit.content for hit in store.search(question, None)] == [fact]
    assert fact in store.context(question).text


@pytest.mark.parametrize("question", ["boat harbour", "Which boat leaves the harbour at noon?", "quarterly taxation"])
def test_without_a_limit_nothing_near_the_best_is_left_out_unread(store: Retentive, question: str) -> None:
    """A threshold of one's own has every candidate read; what is near the best of those is the same."""
    generator = np.random.default_rng(4)
    towards = generator.standard_normal(384)
    vectors = [0.02 * n * towards + generator.standard_normal(384) for n in range(60)]
    words = "boat harbour noon sail anchor garden fence budget".split()
    texts = [" ".join([*generator.choice(words, 4), f"number {n}"]) for n in range(60)]
    store.add_many(texts, vectors=vectors)
    every = store.search(question, vector=towards, limit=None, min_relevance=parts_of(store).config.min_relevance)
    found = store.search(question, vector=towards, limit=None)
    assert [hit.id for hit in found] == [hit.id for hit in keep_near_best(every.hits)]
