"""A store keeps its model, and changes it when it is told to."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from retentive import Retentive
from retentive.errors import BadConfig, Conflict, EmbedError, Invalid, NotFound
from retentive.memories.add import make_draft
from retentive.memories.write import write_memories
from retentive.model import ReembedProgress, Space, SpaceState
from retentive.storage import step
from retentive.testing import parts_of
from tests.embed.stand_ins import write_folder
from tests.engines import ENGINES, behind_its_back
from tests.small_model import Forgetful, SmallModel, open_with_small
from tests.support import Open, Place, Run

pytestmark = pytest.mark.engines

TEXTS = ["The dog is called Rex", "The boat lies in the harbour", "Deploys happen on Tuesdays", "The desk is blue"]


def vectors(store: Retentive) -> dict[str, int]:
    return {each["name"]: each["vectors"] for each in store.stats()["spaces"]}


def states(store: Retentive) -> dict[str, str]:
    return {each.name: each.state.value for each in parts_of(store).tables.spaces.all()}


@pytest.fixture
def filled(target: str) -> str:
    with Retentive.open(target, embedder="hashing") as store:
        store.add_many(TEXTS)
    return target


# Opened with another model than the store's


def test_a_store_remembers_the_model_of_its_first_vector(open_store: Open) -> None:
    store = open_store()
    assert store.reembed_status() == []
    store.add("one")
    (figures,) = store.reembed_status()
    assert (figures.space.name, figures.space.model, figures.space.state) == ("hashing-384", "hashing", "active")
    assert (figures.vectors, figures.pending) == (1, 0)


def test_opened_with_another_model_it_answers_and_writes_with_its_own(filled: str) -> None:
    with Retentive.open(filled, embedder="minilm") as store:
        assert store.space is not None
        assert (store.space.name, store.space.model) == ("hashing-384", "hashing")
        results = store.search("boat harbour")
        assert results[0].content == TEXTS[1]
        assert results[0].why.vector is not None
        assert not store.add("The cat is called Minka").pending
        store.sessions.append("s", "user", "A message")
        assert vectors(store) == {"hashing-384": 6}


def test_it_says_so_once_in_a_search_and_always_in_stats_and_doctor(filled: str) -> None:
    with Retentive.open(filled, embedder="minilm") as store:
        (note,) = store.search("boat").notes
        assert "hashing" in note
        assert "reembed(model='minilm')" in note
        assert store.search("boat").notes == ()
        assert store.stats()["model_difference"] == note
        assert note in next(each.detail for each in store.doctor() if each.name == "spaces")
    with Retentive.open(filled, embedder="hashing") as store:
        assert store.search("boat").notes == ()
        assert store.stats()["model_difference"] == ""


def test_with_none_no_vectors_are_made_or_used(filled: str) -> None:
    with Retentive.open(filled, embedder="none") as store:
        assert store.search("boat")[0].why.vector is None
        assert store.add("The cat is called Minka").pending
        assert vectors(store) == {"hashing-384": 4}
        assert store.space is None


def test_a_store_without_vectors_takes_the_new_model(target: str) -> None:
    with Retentive.open(target, embedder="hashing") as store:
        store.purge(store.add("one").id)
        assert states(store) == {"hashing-384": "active"}
    with Retentive.open(target, embedder="minilm") as store:
        assert store.stats()["model_difference"] == ""
        store.add("two")
        assert states(store) == {"all-MiniLM-L6-v2": "active", "hashing-384": "kept"}


def test_a_model_that_cannot_be_opened_leaves_full_text_and_pending_vectors(filled: str) -> None:
    with open_with_small(filled) as store:
        assert store.reembed(SmallModel()).switched
    with Retentive.open(filled, embedder="hashing") as store:
        results = store.search("boat harbour")
        assert results[0].content == TEXTS[1]
        assert results.tier == "text"
        assert any("small-64" in note and "cannot be opened" in note for note in results.notes)
        assert store.add("The cat is called Minka").pending
        assert vectors(store) == {"hashing-384": 4, "small-64": 4}
        model = next(each for each in store.doctor() if each.name == "model")
        assert not model.ok
        assert "reembed(model='hashing')" in model.remedy
        with pytest.raises(EmbedError):
            store.backfill()
    with open_with_small(filled) as store:
        assert store.backfill().done == 1
        assert store.search("Minka cat")[0].why.vector is not None


def test_a_setting_that_names_no_model_is_refused_and_a_stored_one_is_not_needed(filled: str) -> None:
    behind_its_back_of(filled, "UPDATE spaces SET model = '/nowhere/at/all'")
    with Retentive.open(filled, embedder="hashing") as store:  # the space is the setting's own: nothing else is opened
        assert store.search("boat")[0].why.vector is not None
    with Retentive.open(filled, embedder="minilm") as store:
        assert store.search("boat").tier == "text"


def behind_its_back_of(target: str, sql: str) -> None:
    with Retentive.open(target, embedder="none") as store:
        behind_its_back(store, sql)


@pytest.mark.engines("sqlite")
def test_a_folder_is_found_again_from_another_folder(
    filled: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_folder(tmp_path / "here" / "model")
    monkeypatch.chdir(tmp_path / "here")
    with Retentive.open(filled, embedder="hashing") as store:
        assert store.reembed("./model").switched
        assert store.reembed_status()[0].space.model == str(tmp_path / "here" / "model")
    monkeypatch.chdir(tmp_path)
    with Retentive.open(filled, embedder="hashing") as store:
        assert store.search("boat harbour")[0].why.vector is not None
    (tmp_path / "here" / "model").rename(tmp_path / "elsewhere")
    with Retentive.open(filled, embedder="hashing") as store:
        results = store.search("boat harbour")
        assert (results.tier, results[0].content) == ("text", TEXTS[1])
        assert any(str(tmp_path / "here") in note for note in results.notes)


def test_vectors_that_callers_bring_have_a_space_of_their_own(target: str) -> None:
    with Retentive.open(target, embedder="none") as store:
        store.add("one", vector=[1, 0, 0])
        assert states(store) == {"given-3": "given"}
        assert store.search(vector=[1, 0, 0])[0].content == "one"
    with Retentive.open(target, embedder="hashing") as store:
        store.add("two")
        assert states(store) == {"given-3": "given", "hashing-384": "active"}
        store.reembed(SmallModel())
        store.reembed_drop_old()
    with Retentive.open(target, embedder="none") as store:
        assert store.search(vector=[1, 0, 0])[0].content == "one"


def test_a_store_of_an_earlier_version_keeps_the_model_that_most_of_its_vectors_are_of(filled: str) -> None:
    with open_with_small(filled) as store:
        store.reembed("minilm")  # a store that was opened with two models has vectors of both
        engine = parts_of(store).engine
        engine.apply([step("remove_vectors", namespace="default", chunk=1, space="hashing-384")])
        number = 19 if engine.uses_local_index else 17
        for sql in (
            "DROP INDEX spaces_active",
            *(f"ALTER TABLE spaces DROP COLUMN {name}" for name in ("model", "state", "changed")),
            "ALTER TABLE events DROP COLUMN tags",  # of a later migration
            f"DELETE FROM migrations WHERE number >= {number}",
        ):
            behind_its_back(store, sql)
    with Retentive.open(filled, embedder="hashing") as store:
        assert {each.name: (each.model, each.state) for each in parts_of(store).tables.spaces.all()} == {
            "all-MiniLM-L6-v2": ("minilm", "active"),
            "hashing-384": ("hashing", "kept"),
        }
        assert store.search("boat harbour")[0].why.vector is not None
        assert "minilm" in store.stats()["model_difference"]


# Another model for the store


def test_a_store_changes_to_a_model_of_another_dimension(filled: str) -> None:
    with open_with_small(filled) as store:
        heard: list[ReembedProgress] = []
        done = store.reembed(SmallModel(), progress=heard.append)
        assert (done.space, done.previous, done.embedded, done.switched) == ("small-64", "hashing-384", 4, True)
        building = [each for each in heard if each.stage == "building"]
        assert (building[-1].done, building[-1].total, building[-1].seconds_left) == (4, 4, 0)
        assert [*dict.fromkeys(each.stage for each in heard)] == ["building", "switching", "switched"]
        assert states(store) == {"hashing-384": "kept", "small-64": "active"}
        hit = store.search("boat harbour")[0]
        assert hit.content == TEXTS[1]
        assert hit.why.vector is not None


def test_what_is_no_longer_active_is_embedded_too_so_that_the_past_is_found(filled: str) -> None:
    with open_with_small(filled) as store:
        old = store.add("The car is red", slot="user.car.colour", valid_from="2020-01-01")
        store.add("The car is green", slot="user.car.colour", valid_from="2021-01-01")
        store.reembed(SmallModel())
        store.reembed_drop_old()
        hits = store.search("car red", mode="vector", as_of="2020-06-01")
        assert old.id in [hit.id for hit in hits]


@pytest.mark.parametrize("other", ["asks", "writes"])
def test_a_process_that_was_open_before_the_switch_follows_it(filled: str, other: str) -> None:
    with open_with_small(filled) as before, open_with_small(filled) as changing:
        before.search("boat")
        changing.reembed(SmallModel())
        changing.reembed_drop_old()
        parts_of(before).active.expire_check()  # or a quarter of a second later: a look at a server holds for so long
        if other == "asks":
            assert before.search("boat harbour", mode="vector")[0].content == TEXTS[1]
        else:
            before.add("The cat is called Minka")
            before.sessions.append("s", "user", "A message")
            assert vectors(before) == {"small-64": 6}


def test_what_was_written_with_the_old_model_at_the_moment_of_the_switch_is_completed_by_its_writer(
    filled: str,
) -> None:
    with open_with_small(filled) as writer:
        old = parts_of(writer)
        with open_with_small(filled) as changing:
            changing.reembed(SmallModel())
        # a verb that chose its model before the switch, and writes after it
        write_memories(old, [make_draft(old, "The cat is called Minka", {})])
        assert old.tables.chunks.count_pending(SmallModel.space) == 1
        assert old.tables.chunks.count_vectors() == [("hashing-384", 384, 5), ("small-64", 64, 4)]
    with Retentive.open(filled, embedder="none") as store:
        assert parts_of(store).tables.chunks.count_pending(SmallModel.space) == 0


def test_a_long_load_goes_on_with_the_new_model(filled: str) -> None:
    with open_with_small(filled) as loading, open_with_small(filled) as changing:

        def give() -> Iterator[str]:
            yield from (f"item {n} of the load" for n in range(2000))
            yield "the last of a batch"
            changing.reembed(SmallModel())
            parts_of(loading).active.expire_check()
            yield from (f"item {n} of the rest" for n in range(50))

        assert loading.add_many(give()).pending == 0
        assert vectors(loading)["small-64"] == 4 + 2001 + 50
        assert vectors(loading)["hashing-384"] <= 4 + 2001


def test_rolling_back_gives_the_old_space_what_was_written_since(filled: str) -> None:
    with open_with_small(filled) as store:
        store.reembed(SmallModel())
        store.add("The cat is called Minka")
        store.update(store.search("blue desk")[0].id, content="The desk is red")
        done = store.reembed_rollback()
        assert (done.space, done.previous, done.embedded, done.switched) == ("hashing-384", "small-64", 2, True)
        assert states(store) == {"hashing-384": "active", "small-64": "kept"}
        assert store.stats()["vectors_pending"] == 0
        for question, content in (("cat Minka", "The cat is called Minka"), ("desk red", "The desk is red")):
            assert store.search(question, mode="vector")[0].content == content


def test_there_is_nothing_to_return_to_at_first_and_after_the_old_was_dropped(filled: str) -> None:
    with open_with_small(filled) as store:
        with pytest.raises(NotFound):
            store.reembed_rollback()
        store.reembed(SmallModel())
        assert store.reembed_drop_old() == ["hashing-384"]
        assert vectors(store) == {"small-64": 4}
        assert store.reembed_drop_old() == []
        with pytest.raises(NotFound):
            store.reembed_rollback()
        assert store.reembed("hashing").embedded == 4  # a dropped one can be built again


def test_a_switch_that_would_break_a_recall_test_is_refused_unless_it_is_forced(filled: str) -> None:
    with open_with_small(filled) as store:
        work = store.in_namespace("work")
        boat = work.add("The vessel is moored at the pier")
        work.add_many(f"Quite another matter, number {n}" for n in range(30))
        work.expectations.add("vessel moored pier", boat.id, within=1)
        assert work.search("vessel moored pier", mode="vector")[0].id == boat.id
        break_words(work, boat.id)
        refused = store.reembed(Forgetful())
        assert not refused.switched
        assert (refused.tests, len(refused.regressions)) == (1, 1)
        (worse,) = refused.regressions
        assert worse.before.passed
        assert not worse.after.passed
        assert states(store)["hashing-384"] == "active"
        assert work.search("vessel moored pier", mode="vector")[0].id == boat.id
        forced = store.reembed(Forgetful(), force=True)
        assert forced.switched
        assert forced.embedded == 0
        assert states(store)["forgetful-64"] == "active"


def break_words(store: Retentive, id: str) -> None:
    """Only its vector finds it: its words are not in the index."""
    if parts_of(store).engine.uses_local_index:
        sql = "UPDATE chunks_fts SET content = 'nothing' WHERE rowid IN (SELECT n FROM chunks WHERE owner = '{}')"
    else:
        sql = "DELETE FROM postings WHERE chunk IN (SELECT n FROM chunks WHERE owner = '{}')"
    behind_its_back(store, sql.format(id))


def test_a_recall_test_that_finds_the_same_in_another_order_is_shown_and_refuses_nothing(filled: str) -> None:
    with open_with_small(filled) as store:
        store.expectations.add("boat harbour", store.search("boat harbour")[0].id)
        done = store.reembed(SmallModel())
        assert done.switched
        assert done.tests == 1
        assert not done.regressions


class Broken(SmallModel):
    """Says another dimension than it has."""

    space = Space("broken-8", 8, 0.3)


class Dead(SmallModel):
    def embed(self, texts: Any) -> NDArray[np.float32]:
        raise EmbedError(f"nobody is there for {len(texts)} texts")


@pytest.mark.parametrize("model", [Broken(), Dead(), "none", "no such model"])
def test_a_model_that_does_not_work_changes_nothing(filled: str, model: Any) -> None:
    with open_with_small(filled) as store:
        with pytest.raises((EmbedError, Invalid, BadConfig)):
            store.reembed(model)
        assert states(store) == {"hashing-384": "active"}
        assert vectors(store) == {"hashing-384": 4}


def test_a_model_whose_dimension_changed_under_its_name_is_refused(filled: str) -> None:
    class Longer(SmallModel):
        space = Space("hashing-384", 64, 0.3)

    with open_with_small(filled) as store, pytest.raises(Conflict, match="384 dimensions"):
        store.reembed(Longer())


def test_the_same_model_again_only_fills_in_what_is_pending(filled: str) -> None:
    with Retentive.open(filled, embedder="none") as store:
        store.add("The cat is called Minka")
    with open_with_small(filled) as store:
        done = store.reembed("hashing")
        assert (done.embedded, done.previous, done.switched) == (1, None, True)
        assert states(store) == {"hashing-384": "active"}


def test_a_store_whose_texts_have_no_vectors_takes_the_model_at_once(target: str) -> None:
    with Retentive.open(target, embedder="none") as store:
        store.add_many(TEXTS)
    with Retentive.open(target, embedder="hashing") as store:
        assert store.reembed("minilm").embedded == 4
        store.add("one")
        assert vectors(store) == {"all-MiniLM-L6-v2": 5}


# What else knows of several spaces


def test_a_purged_text_has_no_vector_in_any_space(filled: str) -> None:
    with open_with_small(filled) as store:
        store.reembed(SmallModel())
        store.purge(store.search("boat harbour")[0].id)
        store.sessions.append("s", "user", "A secret was told here")
        store.sessions.delete("s")
        assert vectors(store) == {"hashing-384": 3, "small-64": 3}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_move_takes_all_spaces_along(place: Place, filled: str, engine: str) -> None:
    with open_with_small(filled) as store:
        store.reembed("minilm")
        before = [(each.space, each.vectors) for each in store.reembed_status()]
    where = place(engine)
    Retentive.migrate(filled, where)
    with Retentive.open(where, embedder="hashing") as store:
        assert [(each.space, each.vectors) for each in store.reembed_status()] == before
        assert store.reembed_rollback().embedded == 0


def test_an_export_with_vectors_brings_them_without_choosing_the_model(
    filled: str, place: Place, tmp_path: Path
) -> None:
    with open_with_small(filled) as store:
        store.reembed(SmallModel())
        store.export(tmp_path / "all.jsonl", vectors=True)
    with Retentive.open(place("sqlite"), embedder="hashing") as store:
        store.import_memories(tmp_path / "all.jsonl")
        assert states(store) == {"hashing-384": "active", "small-64": "kept"}
        assert vectors(store) == {"hashing-384": 4, "small-64": 4}
        assert store.stats()["vectors_pending"] == 0


def test_repair_keeps_every_space(filled: str) -> None:
    with open_with_small(filled) as store:
        store.reembed(SmallModel())
        store.repair()
        assert vectors(store) == {"hashing-384": 4, "small-64": 4}
        assert [each for each in store.doctor() if not each.ok] == []


@pytest.mark.engines("sqlite")
def test_a_backup_has_the_models_of_the_store(filled: str, tmp_path: Path) -> None:
    with open_with_small(filled) as store:
        store.reembed("minilm")
        store.backup(tmp_path / "copy.db")
    with Retentive.open(tmp_path / "copy.db", embedder="hashing") as store:
        assert states(store) == {"all-MiniLM-L6-v2": "active", "hashing-384": "kept"}
        assert store.search("boat")[0].why.vector is not None


def test_the_worker_fills_the_active_space(filled: str) -> None:
    with open_with_small(filled) as changing, open_with_small(filled) as working:
        worker = working.worker()
        worker.once()
        changing.reembed(SmallModel())
        with Retentive.open(filled, embedder="none") as other:
            other.add("The cat is called Minka")
        parts_of(working).active.expire_check()
        assert worker.once().done["vectors"] == 1
        assert vectors(changing) == {"hashing-384": 4, "small-64": 5}


def test_writers_that_leave_no_moment_are_asked_to_wait(filled: str) -> None:
    """A text is written between each look and each switch, until the switch is announced."""
    with open_with_small(filled) as store, open_with_small(filled) as writer:
        seen: list[str] = []

        def write(progress: ReembedProgress) -> None:
            if progress.stage == "switching":
                seen.append(states(store)["small-64"])
                if seen[-1] != "switching":
                    writer.add(f"written at {progress.done}")

        assert store.reembed(SmallModel(), progress=write).switched
        assert seen[-1] == SpaceState.SWITCHING
        assert len(seen) > 2
        assert store.stats()["vectors_pending"] == 0


# On the terminal


@pytest.mark.engines("sqlite")
def test_on_the_terminal(db: Path, run: Run, refused: Run) -> None:
    with Retentive.open(db, embedder="hashing") as store:
        store.add_many(TEXTS)
    assert "hashing-384" in run("reembed", "--status")
    assert "switched from hashing-384 to all-MiniLM-L6-v2" in run("reembed", "--model", "minilm")
    shown = json.loads(run("reembed", "--status", "--json"))["spaces"]
    assert [(each["name"], each["state"], each["vectors"]) for each in shown] == [
        ("all-MiniLM-L6-v2", "active", 4),
        ("hashing-384", "kept", 4),
    ]
    assert "reembed --model hashing" in refused("search", "boat", code=0)
    assert json.loads(run("reembed", "--rollback", "--json"))["space"] == "hashing-384"
    assert run("reembed", "--drop-old") == "dropped all-MiniLM-L6-v2\n"
    assert "needs exactly one action" in refused("reembed", code=2)
    assert "needs exactly one action" in refused("reembed", "--rollback", "--status", code=2)
