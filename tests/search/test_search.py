"""Finding: tiers, scopes, filters, languages, thresholds, and the reasons given."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retentive import Retentive, Tier
from retentive.errors import Invalid
from retentive.model import Fusion, Match
from retentive.search.fuse import fuse
from retentive.search.order_matches import order_matches
from retentive.testing import Clock, parts_of
from tests.engines import SQLITE, behind_its_back
from tests.support import Open

pytestmark = pytest.mark.engines


def list_contents(store: Retentive, question: str, **options: Any) -> list[str]:
    return [hit.content for hit in store.search(question, **options)]


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("我在北京大学学习数学", "北京大学"),
        ("我在北京大学学习数学", "数学"),
        ("東京タワーに登りました", "タワー"),
        ("彼女は寿司が好きです", "寿司"),
        ("ฉันชอบกินข้าวผัด", "กินข้าว"),
        ("ฉันชอบกินข้าวผัด", "ผัด"),
        ("나는 서울에서 일한다", "서울"),
        ("Der Bürgermeister wohnt in Köln", "burgermeister koln"),
        ("Она живёт в Москве", "москве"),
        ("वह दिल्ली में रहती है", "दिल्ली"),
        ("She was running marathons", "run a marathon"),
    ],
)
def test_words_of_every_script_are_found(store: Retentive, text: str, question: str) -> None:
    store.add(text)
    store.add("Nothing to do with it")
    found = store.search(question, mode="text")
    assert [hit.content for hit in found] == [text]
    assert found.tier is Tier.TEXT


@pytest.mark.parametrize(
    "question",
    [
        '"',
        "'",
        "a AND",
        "NEAR(",
        "content:x",
        "x*",
        "-",
        "(",
        "😀",
        "a\0b",
        "\ud800",
        "%_\\",
        "; DROP TABLE memories",
        "^",
    ],
)
def test_any_question_is_safe(store: Retentive, question: str) -> None:
    store.add("a perfectly ordinary memory")
    for mode in ("hybrid", "text", "vector"):
        store.search(question, mode=mode)
    assert len(store.list()) == 1


def test_ten_thousand_words_are_a_question_too(store: Retentive) -> None:
    store.add("The needle is in the haystack")
    assert list_contents(store, "needle " + " ".join(f"word{n}" for n in range(10_000)), mode="text")


@given(st.text(max_size=200))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_no_question_breaks_it(store: Retentive, question: str) -> None:
    if question.strip():
        store.search(question)


def test_emoji_and_single_signs_are_found_as_they_stand(store: Retentive) -> None:
    store.add("Her favourite sign is 犬だ", confidence=0.5)
    store.add("犬がいる 🦩", confidence=0.9)
    found = store.search("犬", mode="text")
    assert found.tier is Tier.SUBSTRING
    assert [hit.content for hit in found] == ["犬がいる 🦩", "Her favourite sign is 犬だ"]
    assert list_contents(store, "🦩", mode="text") == ["犬がいる 🦩"]
    assert list_contents(store, "%", mode="text") == []


@pytest.mark.usefixtures("time")
def test_substrings_come_by_confidence_then_last_access(store: Retentive) -> None:
    first, second = store.add("xylophone-a1").id, store.add("xylophone-b1").id
    store.get(first)
    store.stats()
    found = store.search("phone-", mode="text")
    assert found.tier is Tier.SUBSTRING
    assert [hit.id for hit in found] == [first, second]


def test_an_empty_question_is_refused(store: Retentive) -> None:
    with pytest.raises(Invalid, match="empty"):
        store.search("  ")


def test_context_and_tags_are_searched(store: Retentive) -> None:
    store.add("Uses tabs", context="coding style of the parser team", tags=["zebra"])
    assert list_contents(store, "parser", mode="text") == ["Uses tabs"]
    assert list_contents(store, "zebra", mode="text") == ["Uses tabs"]


def test_namespaces_are_apart_unless_asked_for(open_store: Open) -> None:
    names = ("alice", "alice/coder", "alicex", "bob")
    stores = {name: open_store(namespace=name) for name in names}
    for name, store in stores.items():
        store.add(f"The secret word of {name}")
    alice = stores["alice"]
    assert list_contents(alice, "secret word") == ["The secret word of alice"]
    with_bob = list_contents(alice, "secret word", namespaces=["bob"])
    assert sorted(with_bob) == ["The secret word of alice", "The secret word of bob"]
    below = list_contents(stores["bob"], "secret word", namespaces=["alice/*"])
    assert sorted(below) == ["The secret word of alice", "The secret word of alice/coder", "The secret word of bob"]


def test_sessions_see_their_own_and_what_is_global(store: Retentive) -> None:
    store.add("global fact")
    store.add("fact of one", session="one")
    store.add("fact of two", session="two")
    assert list_contents(store, "fact") == ["global fact"]
    assert sorted(list_contents(store, "fact", session="one")) == ["fact of one", "global fact"]
    assert sorted(memory.content for memory in store.list(session="two")) == ["fact of two", "global fact"]


def test_other_processes_commits_are_seen_at_once(store: Retentive, open_store: Open) -> None:
    other = open_store()
    store.search("warm up")
    id = other.add("Said elsewhere").id
    assert list_contents(store, "elsewhere") == ["Said elsewhere"]
    other.update(id, content="Changed elsewhere")
    assert list_contents(store, "Changed elsewhere", mode="vector") == ["Changed elsewhere"]
    other.forget(id)
    assert list_contents(store, "elsewhere") == []


def test_answers_after_a_restart_are_the_same(store: Retentive, open_store: Open) -> None:
    store.add_many([f"fact {n} about {'cats' if n % 3 else 'dogs'}" for n in range(300)])
    before = [(hit.id, hit.score) for hit in store.search("what about dogs 7", limit=20)]
    store.close()
    assert [(hit.id, hit.score) for hit in open_store().search("what about dogs 7", limit=20)] == before


def test_a_long_memory_is_one_hit_with_the_part_that_matched(store: Retentive) -> None:
    filler = "This sentence is only here to fill the page with words of no interest. " * 20
    store.add(f"{filler}The treasure lies under the old oak. {filler}")
    found = store.search("treasure under the oak")
    assert len(found) == 1
    assert "treasure" in found[0].excerpt
    assert len(found[0].excerpt) <= 640


def test_the_many_chunks_of_one_memory_do_not_crowd_out_the_others(store: Retentive) -> None:
    store.add("The treasure lies under the old oak by the river, they say. " * 400)
    others = {store.add(f"treasure number {n}").id for n in range(9)}
    found = store.search("treasure under the oak", limit=10)
    assert len(found) == 10
    assert others < {hit.id for hit in found}


def test_every_hit_explains_its_score(store: Retentive) -> None:
    store.add("The cat sleeps on the sofa", importance=9, confidence=0.4)
    store.add("The dog sleeps on the floor")
    for fusion in ("blend", "minmax", "rrf"):
        for hit in store.search("where does the cat sleep", fusion=fusion):
            parts = [part for part in (hit.why.text, hit.why.vector) if part]
            fused = sum(hit.why.shares.values())
            related = hit.why.shares.get("related", 0.0)
            assert sum(part.weight * part.normal for part in parts) + related == pytest.approx(fused)
            assert hit.score == pytest.approx(fused * hit.why.confidence_factor * hit.why.importance_factor)
            assert hit.why.tier is Tier.HYBRID


def test_ties_go_to_the_newer(store: Retentive) -> None:
    for month in (3, 1, 2):
        store.add(f"Report {'abc'[month - 1]}x", valid_from=f"2020-0{month}-01", vector=[1.0] + [0.0] * 383)
    hits = store.search(vector=[1.0] + [0.0] * 383)
    assert [hit.memory.valid_from.month for hit in hits] == [3, 2, 1]


def test_a_threshold_search_gives_all_that_is_similar_and_no_more(open_store: Open) -> None:
    store = open_store(embedder="none")
    vectors = [[n / 100, (1 - (n / 100) ** 2) ** 0.5] for n in range(100)]
    store.add_many([f"item {n}" for n in range(100)], vectors=vectors)
    found = store.search(vector=[1.0, 0.0], limit=None, min_similarity=0.5)
    assert sorted(hit.content for hit in found) == sorted(f"item {n}" for n in range(50, 100))
    assert len(store.search(vector=[1.0, 0.0], limit=None, min_relevance=0.0)) == 100
    relevant = store.search(vector=[1.0, 0.0], limit=None)
    assert 0 < len(relevant) < 100
    assert min(hit.relevance for hit in relevant) >= 0.45
    assert len(store.search(vector=[1.0, 0.0], limit=7, min_similarity=0.5)) == 7


def test_in_a_threshold_search_keyword_search_has_a_floor_of_its_own(open_store: Open) -> None:
    store = open_store(embedder="none")
    store.add("quarterly budget review meeting")
    store.add("the budget hotel")
    found = store.search("quarterly budget review", limit=None)
    assert [hit.content for hit in found] == ["quarterly budget review meeting"]


def test_the_embedder_failing_degrades_and_says_so(open_store: Open, tmp_path: Any) -> None:
    store = open_store(embedder="minilm", model_path=str(tmp_path / "missing.onnx"))
    added = store.add("Kept all the same")
    assert added.pending
    found = store.search("kept")
    assert (found.tier, [hit.id for hit in found]) == (Tier.TEXT, [added.id])
    assert "vectors were not used" in found.notes[0]
    assert store.stats()["failures"]["embed"]


@pytest.mark.engines(*SQLITE)
def test_a_damaged_full_text_index_degrades_is_reported_and_repaired(store: Retentive) -> None:
    store.add("The lighthouse keeper")
    behind_its_back(store, "DELETE FROM chunks_fts_data WHERE id > 10")
    found = store.search("lighthouse keeper")
    assert [hit.content for hit in found] == ["The lighthouse keeper"]
    assert "full text was not used" in found.notes[0]
    assert not all(finding.ok for finding in store.doctor())
    store.repair()
    assert all(finding.ok for finding in store.doctor())
    assert store.search("lighthouse keeper").tier is Tier.HYBRID


@pytest.mark.engines(*SQLITE)
@pytest.mark.parametrize("lost", ["chunks_fts", "vectors", "meta"])
def test_a_search_never_fails_because_a_part_is_missing(store: Retentive, lost: str) -> None:
    store.add("The lighthouse keeper")
    action = "DELETE FROM" if lost == "meta" else "DROP TABLE"
    behind_its_back(store, f"{action} {lost}")
    found = store.search("lighthouse keeper")
    assert [hit.content for hit in found] == ["The lighthouse keeper"]
    assert bool(found.notes) is (lost != "meta")
    assert all(finding.ok for finding in store.doctor()) is (lost == "meta")


def test_damaged_pages_are_found_and_named(store: Retentive, db: Path) -> None:
    store.add_many([f"memory number {n} of many" for n in range(500)])
    store.close()
    data = bytearray(db.read_bytes())
    for page in range(len(data) // 8192, len(data) // 4096, 3):
        data[page * 4096 : page * 4096 + 4096] = bytes(range(256)) * 16
    db.write_bytes(data)
    with Retentive.open(db, embedder="none") as damaged:
        bad = {finding.name: finding for finding in damaged.doctor() if not finding.ok}
    assert "repair()" in bad["file"].remedy


def test_a_vector_search_without_vectors_is_not_a_substring_search(open_store: Open) -> None:
    store = open_store(embedder="none")
    store.add("something")
    found = store.search("something", mode="vector")
    assert (len(found), found.tier) == (0, Tier.VECTOR)


@pytest.mark.engines(*SQLITE)
def test_a_lost_slice_is_noticed_and_made_again(store: Retentive) -> None:
    store.add("".join(f"Sentence number {n} of a long story. " for n in range(100)))
    for lost in ("ordinal = 0", "ordinal = 2", "ordinal = (SELECT max(ordinal) FROM chunks)"):
        behind_its_back(store, f"DELETE FROM chunks WHERE {lost}")
        assert not all(finding.ok for finding in store.doctor())
        store.repair()
        assert [finding for finding in store.doctor() if not finding.ok] == []


@pytest.mark.engines(*SQLITE)
def test_repair_marks_what_has_run_out(store: Retentive, time: Clock) -> None:
    store.add("Soon over", expires="1h")
    time.forward(7200)
    behind_its_back(store, "DELETE FROM chunks")
    store.repair()
    assert [finding for finding in store.doctor() if not finding.ok] == []


@pytest.mark.engines(*SQLITE)
@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM chunks_fts WHERE rowid = 1",
        "DELETE FROM chunks WHERE n = 1",
        "UPDATE chunks SET status = 'forgotten' WHERE n = 1",
        "INSERT INTO vectors SELECT 999, space, vector FROM vectors LIMIT 1",
        "INSERT INTO chunks_fts (rowid, content) VALUES (999, 'ghost')",
    ],
)
def test_whatever_is_derived_can_be_made_again(store: Retentive, damage: str) -> None:
    store.add("The lighthouse keeper")
    forgotten = store.add("The shipwright").id
    store.forget(forgotten)
    behind_its_back(store, damage)
    assert not all(finding.ok for finding in store.doctor())
    store.repair()
    assert [finding for finding in store.doctor() if not finding.ok] == []
    assert store.search("lighthouse keeper").tier is Tier.HYBRID
    assert list_contents(store, "shipwright", mode="text") == []
    assert list_contents(store, "shipwright", mode="text", status="forgotten") == ["The shipwright"]


KINDS = ("fact", "preference", "note")
SOURCES = ("explicit", "extracted")
TAGS = ("a", "b", "c")
rows = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(KINDS),
        "source": st.sampled_from(SOURCES),
        "tags": st.lists(st.sampled_from(TAGS), unique=True),
        "importance": st.integers(1, 10),
        "confidence": st.sampled_from([0.1, 0.5, 0.9]),
        "day": st.integers(1, 28),
        "session": st.sampled_from([None, "s", "t"]),
        "forgotten": st.booleans(),
    }
)
filters = st.fixed_dictionaries(
    {},
    optional={
        "kind": st.lists(st.sampled_from(KINDS), min_size=1),
        "source": st.sampled_from(SOURCES),
        "tags": st.lists(st.sampled_from(TAGS), unique=True, max_size=2),
        "min_importance": st.integers(1, 10),
        "min_confidence": st.sampled_from([0.2, 0.6]),
        "since": st.integers(1, 28),
        "until": st.integers(1, 28),
        "session": st.sampled_from(["s", "t"]),
        "status": st.sampled_from(["active", "forgotten", ("active", "forgotten")]),
        "as_of": st.integers(1, 28),
    },
).filter(lambda wanted: not {"status", "as_of"} <= wanted.keys())


def is_allowed(row: dict[str, Any], wanted: dict[str, Any]) -> bool:
    """The filters, in plain Python."""
    status = "forgotten" if row["forgotten"] else "active"
    return (
        row["kind"] in wanted.get("kind", KINDS)
        and row["source"] == wanted.get("source", row["source"])
        and set(wanted.get("tags", ())) <= set(row["tags"])
        and row["importance"] >= wanted.get("min_importance", 1)
        and row["confidence"] >= wanted.get("min_confidence", 0)
        and wanted.get("since", 1) <= row["day"] < wanted.get("until", 99)
        and row["day"] <= wanted.get("as_of", 99)
        and row["session"] in (None, wanted.get("session"))
        and status
        in ([wanted["status"]] if isinstance(wanted.get("status"), str) else wanted.get("status", ["active"]))
    )


def make_day(number: int) -> datetime:
    return datetime(2024, 1, 1, tzinfo=UTC) + timedelta(days=number)


@given(st.lists(rows, max_size=25), st.lists(filters, min_size=1, max_size=4))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_filtered_search_equals_a_scan_over_the_filtered_rows(
    target: str, table: list[dict[str, Any]], asked: list[dict[str, Any]]
) -> None:
    place = target if "://" in target else ":memory:"
    with Retentive.open(place, namespace=uuid4().hex, embedder="hashing") as store:
        for number, row in enumerate(table):
            options = {name: row[name] for name in ("kind", "source", "tags", "importance", "confidence", "session")}
            id = store.add(f"common word and number {number}", valid_from=make_day(row["day"]), **options).id
            if row["forgotten"]:
                store.forget(id)
        for wanted in asked:
            expected = {f"common word and number {n}" for n, row in enumerate(table) if is_allowed(row, wanted)}
            given: dict[str, Any] = dict(wanted)
            given.update({name: make_day(wanted[name]) for name in ("since", "until", "as_of") if name in wanted})
            for mode in ("text", "vector", "hybrid"):
                assert set(list_contents(store, "common word", limit=100, mode=mode, **given)) == expected
            assert {memory.content for memory in store.list(limit=100, **given)} == expected


def match(chunk: int, score: float, owner: str = "", time: int = 0) -> Match:
    return Match(chunk, score, owner or f"m{chunk}", "memory", time, 1.0, 5, "default")


@pytest.mark.parametrize(
    ("text", "vector", "fusion", "weight", "expected"),
    [
        # both searches: the weighted sum decides
        (
            [match(1, 9.0), match(2, 1.0)],
            [match(2, 0.9), match(1, 0.1)],
            Fusion.MINMAX,
            0.6,
            [2, 1],
        ),
        (
            [match(1, 9.0), match(2, 1.0)],
            [match(2, 0.9), match(1, 0.1)],
            Fusion.MINMAX,
            0.3,
            [1, 2],
        ),
        # one search has nothing: the other has all the weight
        ([match(1, 2.0), match(2, 1.0)], [], Fusion.MINMAX, 0.6, [1, 2]),
        ([], [match(1, 0.2), match(2, 0.1)], Fusion.RRF, 0.6, [1, 2]),
        # ranks alone: first and third beat second and absent; the later row wins a tie
        (
            [match(1, 9.0), match(2, 8.9)],
            [match(3, 0.9), match(4, 0.8), match(1, 0.7)],
            Fusion.RRF,
            0.5,
            [1, 3, 4, 2],
        ),
        # two chunks of one owner are one answer, the better one
        (
            [match(1, 2.0, owner="m"), match(2, 1.0, owner="m"), match(3, 0.5)],
            [],
            Fusion.MINMAX,
            0.6,
            [1, 3],
        ),
        # equal scores: the newer first
        ([match(1, 1.0, time=5), match(2, 1.0, time=6)], [], Fusion.MINMAX, 0.6, [2, 1]),
    ],
)
def test_fusion_and_ranking(
    text: list[Match], vector: list[Match], fusion: Fusion, weight: float, expected: list[int]
) -> None:
    ranked = order_matches(fuse(text, vector, fusion, weight).scores())
    assert [chunk for _, _, chunk, _ in ranked] == expected


@pytest.mark.engines("sqlite")
def test_a_large_store_answers_from_its_image_as_the_database_does(open_store: Open) -> None:
    """Above 5,000 rows the postings move into the process; the answers stay."""
    store = open_store(embedder="none")
    words = [f"{a}{b}" for a in ("ka", "lo", "mi", "nu", "pe") for b in ("ta", "ro", "si", "vu", "ne", "do")]
    store.add_many(f"{words[n % 30]} {words[n % 7]} {words[n % 11]} number{n}" for n in range(5200))
    questions = [f"{words[n]} {words[n + 3]}" for n in range(5)]
    before = [[(hit.id, round(hit.score, 4)) for hit in store.search(question)] for question in questions]
    parts_of(store).images().wait(30)
    assert store.stats()["index"]["default"]["terms"] is True
    after = [[(hit.id, round(hit.score, 4)) for hit in store.search(question)] for question in questions]
    assert after == before
    id = store.add(f"{words[0]} {words[3]} fresh").id
    assert store.search(f"{words[0]} {words[3]} fresh")[0].id == id
    store.forget(id)
    assert id not in {hit.id for hit in store.search(f"{words[0]} {words[3]} fresh")}


def test_a_search_of_a_session_alone_finds_nothing_else(store: Retentive) -> None:
    own = store.add("The ferry leaves at nine", session="trip").id
    store.add("The ferry is white")
    store.add("The ferry is cheap", session="other")
    store.in_namespace("elsewhere").add("The ferry is late", session="trip")
    store.contacts.create(name="Ferry office")
    said = store.sessions.append("trip", "user", "is the ferry on time?").id
    store.sessions.append("other", "user", "the ferry again")
    found = store.search("ferry", session="trip", scope="session", namespaces=["elsewhere"])
    assert {hit.id for hit in found} == {own, said}
    assert [hit.id for hit in store.search("ferry", session="trip", scope="session", include="memories")] == [own]
    assert not store.search("ferry", session="none", scope="session")
    assert len(store.search("ferry", session="trip", scope="all")) > 2


def test_a_search_of_a_session_alone_needs_a_session(store: Retentive) -> None:
    with pytest.raises(Invalid, match="no session is given"):
        store.search("ferry", scope="session")
    with pytest.raises(Invalid, match="scope"):
        store.search("ferry", session="trip", scope="planet")


def test_a_search_of_a_session_alone_sees_no_global_memory_where_there_is_no_session(store: Retentive) -> None:
    store.add_many(f"The ferry number {number} is white" for number in range(300))  # enough for an image in memory
    store.search("ferry")
    assert not store.search("ferry", session="trip", scope="session")


def test_rrf_k_may_be_given_with_a_search(store: Retentive) -> None:
    """The larger it is, the closer the scores of the first ranks."""
    for number in range(5):
        store.add(f"The ferry number {number} is white")

    def spread(rrf_k: int) -> float:
        scores = [hit.score for hit in store.search("ferry number 3", fusion="rrf", rrf_k=rrf_k)]
        return scores[0] - scores[-1]

    assert spread(1) > spread(1000)
    with pytest.raises(Invalid, match="rrf_k"):
        store.search("ferry", rrf_k=0)
