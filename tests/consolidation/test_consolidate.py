"""Old memories are consolidated: what is made, what it cites, and how a run is undone."""

import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from retentive import Consolidation, Retentive, Status, Task
from retentive.consolidation import consolidate as verb
from retentive.errors import Forbidden, Invalid, NotFound
from retentive.memories.add import make_draft
from retentive.memories.write import write_memories
from retentive.model import Replacement
from retentive.testing import Clock, parts_of
from tests.forkserver import ForkedProgram
from tests.llm.provider import KEY, Provider, Reply
from tests.storage.test_processes import PROGRAMS
from tests.support import Open

pytestmark = pytest.mark.engines

SHORT, FULL = "The user lives in Oslo.", "I live in Oslo, Norway"
DAY_SECONDS = 86_400


@pytest.fixture
def plain(open_store: Open) -> Retentive:
    """A store that compares no words when a memory is added, so that restatements stay."""
    return open_store(corrections=False)


def run(store: Retentive, **options: Any) -> Consolidation:
    return store.consolidate(**{"older_than": 0, **options})


def active(store: Retentive) -> list[str]:
    return sorted(each.content for each in store.list(limit=1000))


def add_outcomes(store: Retentive, count: int = 6, **options: Any) -> list[str]:
    return [
        store.add(
            f"Build {number} went to staging.",
            **{"kind": "outcome", "tags": ["alpha"], "valid_from": f"2026-03-{number + 1:02}", **options},
        ).id
        for number in range(count)
    ]


def test_restatements_become_one_memory_that_cites_them(plain: Retentive) -> None:
    """The fullest text, the highest marks, all tags, the earliest time, and the slot."""
    old = plain.add(SHORT, tags=["home"], importance=8, confidence=0.5, valid_from="2020-01-01")
    new = plain.add(FULL, tags=["norway"], slot="user.home")
    done = run(plain)
    (group,) = done.groups
    assert (group.rule, group.text, [each.id for each in group.cited]) == ("refinement", FULL, [old.id, new.id])
    made = plain.get(group.id or "")
    assert (made.content, made.tags, made.importance, made.confidence) == (FULL, ("home", "norway"), 8, 0.9)
    assert (made.slot, made.valid_from) == ("user.home", datetime(2020, 1, 1, tzinfo=UTC))
    assert made.origin == {"consolidation": done.run, "rule": "refinement", "memories": [old.id, new.id]}
    assert active(plain) == [FULL]


def test_the_originals_are_superseded_and_say_why(plain: Retentive) -> None:
    old, new = plain.add(SHORT).id, plain.add("I live in Oslo").id
    done = run(plain)
    for id in (old, new):
        assert (plain.get(id).status, plain.get(id).superseded_by) == (Status.SUPERSEDED, done.groups[0].id)
        last = plain.history(id)[-1]
        assert (last.actor, last.action) == ("consolidation", "superseded")
        assert (last.reason or "").startswith("restatement: ")
        assert done.run is not None
        assert f"undo: `undo_consolidation('{done.run}')`" in (last.reason or "")


def test_why_shows_what_a_memory_was_made_of_and_their_messages(plain: Retentive) -> None:
    said = plain.sessions.append("monday", "user", "I live in Oslo")
    old = plain.add(SHORT, origin={"session": "monday", "events": [said.sequence]}).id
    new = plain.add("I live in Oslo!").id
    made = run(plain).groups[0].id or ""
    story = plain.why(made)
    assert {each.id for each in story.replaced} == {old, new}
    assert [each.id for each in story.messages] == [said.id]


def test_what_differs_stays(plain: Retentive) -> None:
    texts = ["My dog is Max", "My dog is Luna", "I eat meat", "I don't eat meat", "Call Anna at 9", "Call Anna at 10"]
    for text in texts:
        plain.add(text)
    assert run(plain).groups == ()
    assert active(plain) == sorted(texts)


def test_a_dry_run_changes_nothing(plain: Retentive) -> None:
    """It shows the same groups as the run itself."""
    plain.add(SHORT)
    plain.add(FULL)
    add_outcomes(plain)
    before = [plain.get(each.id) for each in plain.list()]
    told = run(plain, dry_run=True)
    assert (told.run, told.done, [each.id for each in told.groups]) == (None, False, [None, None])
    assert [replace(each, access_count=0, last_access=None) for each in plain.list()] == [
        replace(each, access_count=0, last_access=None) for each in before
    ]
    assert [each.text for each in run(plain).groups] == [each.text for each in told.groups]


def test_only_old_memories_are_consolidated(open_store: Open, time: Clock) -> None:
    """By the setting, unless the caller says otherwise."""
    store = open_store(corrections=False, consolidate_after=10)
    store.add(SHORT)
    time.forward(11 * DAY_SECONDS)
    store.add("I live in Oslo")
    assert store.consolidate().groups == ()
    assert store.consolidate(older_than=20).scanned == 0
    time.forward(11 * DAY_SECONDS)
    assert len(store.consolidate().groups) == 1


def test_a_second_run_finds_nothing(plain: Retentive) -> None:
    plain.add(SHORT)
    plain.add(FULL)
    add_outcomes(plain)
    assert len(run(plain).groups) == 2
    assert run(plain).groups == ()


def test_a_made_memory_takes_up_what_is_told_later(plain: Retentive) -> None:
    plain.add(SHORT)
    plain.add("I live in Oslo")
    first = run(plain).groups[0].id
    third = plain.add("I live in Oslo!").id
    (group,) = run(plain).groups
    assert {each.id for each in group.cited} == {first, third}


def test_a_slot_that_had_another_value_since_begins_with_its_holder(plain: Retentive) -> None:
    """The memory that is made does not claim the time of another value."""
    plain.add("I live in Oslo", valid_from="2019-01-01")
    plain.add("I live in Bergen", slot="user.home", valid_from="2020-01-01")
    plain.add("The user lives in Oslo.", slot="user.home", valid_from="2022-01-01")
    made = plain.get(run(plain).groups[0].id or "")
    assert (made.slot, made.valid_from.year, made.status) == ("user.home", 2022, Status.ACTIVE)
    assert [hit.content for hit in plain.list(as_of="2021-01-01")] == ["I live in Bergen", "I live in Oslo"]


def test_outcomes_of_a_project_become_a_dated_summary(plain: Retentive) -> None:
    ids = add_outcomes(plain)
    (group,) = run(plain).groups
    made = plain.get(group.id or "")
    assert (group.rule, group.by, made.kind, made.tags) == ("outcomes", "sentences", "outcome", ("alpha",))
    assert made.content.splitlines()[0] == "Outcomes (alpha) from 2026-03-01 to 2026-03-06:"
    assert "- 2026-03-03: Build 2 went to staging." in made.content
    assert [each.id for each in group.cited] == ids
    assert active(plain) == [made.content]


def test_a_question_about_the_past_is_answered_by_the_outcomes_themselves(plain: Retentive) -> None:
    """The summary holds from the last of them on."""
    add_outcomes(plain)
    run(plain)
    assert plain.list(as_of="2026-03-02")[0].content == "Build 1 went to staging."
    assert len(plain.list(as_of="2026-03-20")) == 1


@pytest.mark.parametrize(
    "options",
    [
        {"tags": []},  # of no known project
        {"importance": 9},  # always shown as it is
        {"kind": "fact"},  # no outcome
        {"valid_from": "2026-03-01", "expires": "2099-01-01"},  # ends by itself
    ],
)
def test_other_outcomes_stay_as_they_are(plain: Retentive, options: dict[str, Any]) -> None:
    add_outcomes(plain, **options)
    assert run(plain).groups == ()


def test_outcomes_of_two_projects_or_months_are_not_mixed(plain: Retentive) -> None:
    for number in range(4):
        plain.add(f"Alpha {number} done", kind="outcome", tags=["alpha"], valid_from="2026-03-01")
        plain.add(f"Beta {number} done", kind="outcome", tags=["beta"], valid_from="2026-03-01")
        plain.add(f"April {number} done", kind="outcome", tags=["alpha"], valid_from="2026-04-01")
    assert run(plain).groups == ()


def test_undo_brings_back_what_a_run_replaced(plain: Retentive) -> None:
    """And what the run made is forgotten; the same is not done again."""
    plain.add(SHORT)
    plain.add(FULL, slot="user.home")
    add_outcomes(plain)
    before = active(plain)
    done = run(plain)
    undone = plain.undo_consolidation(done.run or "")
    assert active(plain) == before
    assert {plain.get(id).status for id in undone.forgotten} == {Status.FORGOTTEN}
    assert (len(undone.forgotten), len(undone.restored), undone.left) == (2, 8, ())
    assert run(plain).groups == ()


def test_undo_leaves_a_memory_that_was_changed_or_forgotten_since(plain: Retentive) -> None:
    for pair in (("I like tea", "I like tea."), ("I like rye", "I like rye."), ("I like figs", "I like figs.")):
        for text in pair:
            plain.add(text)
    done = run(plain)
    tea, rye, figs = (
        next(each.id or "" for each in done.groups if word in each.text) for word in ("tea", "rye", "figs")
    )
    plain.update(tea, content="I like green tea")
    plain.forget(rye)
    undone = plain.undo_consolidation(done.run or "")
    assert undone.forgotten == (figs,)
    assert sorted(undone.left) == sorted(
        [
            f"{tea} was changed since; what it replaced stays as it is",
            f"{rye} is forgotten since; what it replaced stays as it is",
        ]
    )
    assert active(plain) == ["I like figs", "I like figs.", "I like green tea"]


def test_undo_of_an_earlier_run_names_the_later_one(plain: Retentive) -> None:
    plain.add(SHORT)
    plain.add("I live in Oslo")
    first = run(plain)
    plain.add("I live in Oslo!")
    second = run(plain)
    (left,) = plain.undo_consolidation(first.run or "").left
    assert f"undo_consolidation('{second.run}')" in left
    plain.undo_consolidation(second.run or "")
    assert len(plain.undo_consolidation(first.run or "").restored) == 0  # what it made was restored, so changed
    assert len(active(plain)) == 2


def test_undo_keeps_what_took_a_text_or_a_slot_meanwhile(plain: Retentive) -> None:
    old = plain.add(SHORT).id
    plain.add(FULL)
    done = run(plain)
    again = plain.add(SHORT).id
    undone = plain.undo_consolidation(done.run or "")
    assert undone.left == (f"{old} stays replaced: {again} says the same or holds its slot",)
    assert active(plain) == [FULL, SHORT]


def test_undo_tells_of_what_was_purged(plain: Retentive) -> None:
    old = plain.add(SHORT).id
    plain.add(FULL)
    done = run(plain)
    plain.purge(old)
    undone = plain.undo_consolidation(done.run or "")
    assert (undone.left, active(plain)) == ((f"{old} is gone",), [FULL])


def test_a_run_that_never_was_is_not_found(store: Retentive) -> None:
    with pytest.raises(NotFound):
        store.undo_consolidation("nothing")


def test_one_original_can_be_restored_by_itself(plain: Retentive) -> None:
    """Both texts then stay: the next run leaves them alone."""
    old = plain.add(SHORT).id
    plain.add(FULL)
    run(plain)
    plain.restore(old)
    assert active(plain) == [FULL, SHORT]
    assert run(plain).groups == ()


def propose(store: Retentive, text: str, older: str) -> None:
    draft = make_draft(parts_of(store), text, {})
    write_memories(parts_of(store), [draft._replace(proposes=(Replacement(older, "same home", "Oslo"),))])


@pytest.mark.parametrize("is_rejected", [False, True])
def test_a_pair_that_was_proposed_or_rejected_is_not_merged(plain: Retentive, is_rejected: bool) -> None:
    propose(plain, FULL, plain.add(SHORT).id)
    if is_rejected:
        plain.proposals.reject(plain.proposals.list()[0].id)
    assert run(plain).groups == ()
    assert active(plain) == [FULL, SHORT]


def test_a_memory_with_an_open_proposal_about_another_is_left_alone(plain: Retentive) -> None:
    """Otherwise the proposal would lose its memory before anybody saw it."""
    tea = plain.add("I like tea").id
    plain.add("The user likes tea.")
    propose(plain, "I like coffee", tea)
    assert run(plain).groups == ()
    assert len(plain.proposals.list()) == 1


def test_the_limit_bounds_a_run_and_the_next_goes_on(plain: Retentive) -> None:
    for word in ("tea", "rye", "figs"):
        plain.add(f"I like {word}")
        plain.add(f"I like {word}.")
    first = run(plain, limit=2)
    assert (len(first.groups), first.complete) == (2, False)
    assert (len(run(plain, limit=2).groups), len(active(plain))) == (1, 3)


def test_progress_is_told(plain: Retentive, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verb, "PAGE_SIZE", 2)
    for text in ("I like tea", "I like tea.", "I like rye"):
        plain.add(text)
    heard: list[tuple[int, int]] = []
    run(plain, progress=lambda *told: heard.append(told))
    assert heard == [(2, 0), (3, 0), (3, 1)]


def test_namespaces_and_sessions_are_kept_apart(plain: Retentive) -> None:
    plain.add("I like tea", session="monday")
    plain.add("The user likes tea.", session="tuesday")
    plain.add("I like tea.")
    plain.in_namespace("other").add("I like tea!")
    assert run(plain).groups == ()


def test_memories_of_one_session_stay_in_it(plain: Retentive) -> None:
    plain.add("I like tea", session="monday")
    plain.add("The user likes tea.", session="monday")
    made = run(plain).groups[0].id or ""
    assert plain.get(made).session == "monday"


def test_a_view_for_reading_may_only_look(plain: Retentive) -> None:
    plain.add(SHORT)
    plain.add(FULL)
    view = plain.restricted("default", read_only=True)
    assert len(run(view, dry_run=True).groups) == 1
    with pytest.raises(Forbidden):
        run(view)
    with pytest.raises(Forbidden):
        view.undo_consolidation("run")


@pytest.mark.parametrize("wrong", [{"older_than": -1}, {"older_than": float("nan")}, {"limit": 0}])
def test_bounds_that_make_no_sense_are_refused(store: Retentive, wrong: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        store.consolidate(**wrong)


def test_a_memory_that_changes_meanwhile_keeps_its_group_as_it_is(
    plain: Retentive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The change comes between reading and writing."""
    old = plain.add(SHORT).id
    plain.add(FULL)
    original = write_memories

    def change_first(*given: Any, **named: Any) -> Any:
        plain.update(old, content="The user lives in Bergen.")
        return original(*given, **named)

    monkeypatch.setattr("retentive.consolidation.consolidate.write_memories", change_first)
    done = run(plain)
    assert (done.groups, len(done.notes)) == ((), 1)
    assert active(plain) == [FULL, "The user lives in Bergen."]


def test_two_runs_at_once_merge_each_group_once(open_store: Open) -> None:
    store, other = open_store(corrections=False), open_store(corrections=False)
    for number in range(20):
        store.add(f"Box {number} is red")
        store.add(f"The box {number} is red.")
    with ThreadPoolExecutor(2) as threads:
        done = [*threads.map(run, (store, other))]
    assert len(active(store)) == 20
    assert sum(len(each.groups) for each in done) == 20


def test_the_worker_does_it_if_the_setting_says_so(open_store: Open) -> None:
    """In every namespace; off by default."""
    store = open_store(corrections=False, consolidate=True, consolidate_after=0)
    for each in (store, store.in_namespace("other")):
        each.add(SHORT)
        each.add(FULL)
    heard: list[Task] = []
    status = store.worker(progress=lambda task, _: heard.append(task)).once()
    assert status.done["consolidate"] == 4
    assert active(store) == active(store.in_namespace("other")) == [FULL]
    assert Task("consolidate", "other") in heard


def test_the_worker_does_it_once_a_day(open_store: Open, time: Clock) -> None:
    """Over all processes: each run reads all old memories."""
    settings: dict[str, Any] = {"corrections": False, "consolidate": True, "consolidate_after": 0}
    store, other = open_store(**settings), open_store(**settings)
    store.add(SHORT)
    store.worker().once()
    store.add(FULL)
    other.worker().once()
    assert len(active(store)) == 2
    time.forward(DAY_SECONDS)
    other.worker().once()
    assert active(store) == [FULL]


def test_the_worker_leaves_memories_alone_by_default(open_store: Open) -> None:
    store = open_store(corrections=False, consolidate_after=0)
    store.add(SHORT)
    store.add(FULL)
    store.worker().once()
    assert len(active(store)) == 2


Play = Callable[..., Retentive]


@pytest.fixture
def play(open_store: Open) -> Iterator[Play]:
    """A store whose language model gives these answers."""
    running: list[Provider] = []

    def play_(*replies: Reply, **settings: Any) -> Retentive:
        provider = Provider(*replies)
        running.append(provider)
        model = {"llm": "openai:gpt-x", "llm_url": f"{provider.url}/v1", "llm_key": KEY, "llm_timeout": 10.0}
        return open_store(corrections=False, **model, **settings)

    yield play_
    for provider in running:
        provider.stop()


def test_a_language_model_writes_the_summary(play: Play) -> None:
    store = play(Reply("- 2026-03-01: builds 0 to 5 went to staging, one a day"))
    add_outcomes(store)
    (group,) = run(store).groups
    assert group.by == "openai:gpt-x"
    assert group.text.splitlines()[1] == "- 2026-03-01: builds 0 to 5 went to staging, one a day"


def test_a_dry_run_asks_no_language_model(play: Play) -> None:
    store = play(Reply("- 2026-03-01: all"), llm_calls_per_day=0)
    add_outcomes(store)
    told = run(store, dry_run=True)
    assert (told.groups[0].by, len(told.notes)) == ("sentences", 1)


def test_where_the_model_fails_or_is_used_up_sentences_are_chosen(play: Play) -> None:
    store = play(Reply("- 2026-03-01: all"), llm_calls_per_day=0)
    add_outcomes(store)
    done = run(store)
    assert (done.groups[0].by, len(done.groups[0].cited)) == ("sentences", 6)
    assert "used up" in done.notes[0]


def test_a_killed_run_leaves_whole_groups(db: Path) -> None:
    """Each group is merged or not; nothing is lost, and the next run does the rest."""
    count = 300
    with Retentive.open(db, embedder="hashing", corrections=False) as store:
        store.add_many(
            [text for number in range(count) for text in (f"Box {number} is red", f"The box {number} is red.")]
        )
    for attempt in range(3):
        with ForkedProgram(
            [sys.executable, str(PROGRAMS / "consolidator.py"), str(db)], stdout=subprocess.PIPE
        ) as process:
            assert process.stdout
            process.stdout.readline()
            time.sleep(random.Random(attempt).random() / 10)
            process.kill()
        with Retentive.open(db, embedder="hashing") as store:
            boxes = [each.content.removeprefix("The ").lower().strip(".") for each in store.list(limit=1000)]
            assert {*boxes} == {f"box {number} is red" for number in range(count)}
            merged = {each.id: each for each in store.list(limit=1000) if each.origin}
            superseded = store.list(limit=1000, status="superseded")
            assert len(superseded) == 2 * len(merged)
            assert {each.superseded_by for each in superseded} == {*merged}
    with Retentive.open(db, embedder="hashing") as store:
        run(store)
        assert len(store.list(limit=1000)) == count
