"""What is learned about the person in a project is kept in the person's namespace; doubt stays and is proposed."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from retentive import Retentive
from retentive.errors import Conflict, Forbidden, Invalid, NotFound
from retentive.learning.apply_claims import Action, render_action
from retentive.model import Claim, Event, Kind, LearnResult, Memory, Source
from retentive.storage.tables import learning
from retentive.store.person import MIN_DOUBTFUL, MIN_SURE
from retentive.testing import parts_of
from tests.support import Open, Place

pytestmark = pytest.mark.engines

MAX_CLAIM_CONFIDENCE, DOUBTFUL, PROJECT = MIN_SURE, MIN_DOUBTFUL, MIN_DOUBTFUL - 0.01
REX = "The user's dog is called Rex."


@pytest.fixture
def project(open_store: Open) -> Retentive:
    return open_store(namespace="project", person="me")


@pytest.fixture
def person(project: Retentive) -> Retentive:
    return project.in_namespace("me")


def learn(store: Retentive, text: str, personal: float, said: str = "", *, session: str = "s") -> LearnResult:
    """Have a message found to state a claim that is about the person with this probability, and learn it."""
    event = store.sessions.append(session, "user", said or text)
    wait_for(store, event, text, personal)
    (learned,) = store.learn(session)
    return learned


def wait_for(store: Retentive, event: Event, text: str, personal: float) -> None:
    """Write a claim down as reading does: found, and still to be kept."""
    claim = Claim(text, Kind.FACT, event.time, (event.sequence,), personal=personal)
    state = parts_of(store).tables.learning.get(store.namespace, event.session)
    assert state is not None
    claims = json.dumps([render_action(Action("keep", claim, Source.EXTRACTED))])
    parts_of(store).engine.apply([learning.begin_step(store.namespace, state, [event], claims, 1)])


def texts(store: Retentive, **filters: str) -> list[str]:
    return [memory.content for memory in store.list(**filters)]  # type: ignore[arg-type]  # a status


def only(store: Retentive) -> Memory:
    (memory,) = store.list()
    return memory


class TestWhere:
    def test_what_is_surely_about_the_person_is_kept_with_the_person(
        self, project: Retentive, person: Retentive
    ) -> None:
        learned = learn(project, REX, MAX_CLAIM_CONFIDENCE)
        assert (texts(project), texts(person)) == ([], [REX])
        assert learned.kept == learned.personal == (only(person).id,)
        assert not project.proposals.list()

    def test_what_is_about_the_project_stays(self, project: Retentive, person: Retentive) -> None:
        learned = learn(project, "The staging database is on port 5433.", PROJECT)
        assert (len(texts(project)), texts(person), learned.personal) == (1, [], ())
        assert not project.proposals.list()

    def test_doubt_stays_in_the_project_and_is_proposed(self, project: Retentive, person: Retentive) -> None:
        learned = learn(project, REX, DOUBTFUL)
        assert (texts(project), texts(person)) == ([REX], [])
        (proposal,) = project.proposals.list()
        assert (proposal.move_to, proposal.older_id, proposal.newer_id) == ("me", *[only(project).id] * 2)
        assert learned.proposals == (proposal,)

    def test_without_a_person_everything_stays(self, open_store: Open) -> None:
        store = open_store(namespace="project")
        learn(store, REX, 1.0)
        assert texts(store) == [REX]
        assert not store.proposals.list()

    def test_in_the_persons_own_namespace_everything_stays(self, person: Retentive) -> None:
        learn(person, REX, DOUBTFUL)
        assert texts(person) == [REX]
        assert not person.proposals.list()

    def test_a_request_is_judged_and_kept_with_the_person(self, project: Retentive, person: Retentive) -> None:
        event = project.sessions.append("s", "user", "Remember that my boss is Priya.")
        assert texts(person) == ["The user's boss is Priya."]
        assert event.requests[0].namespace == "me"
        assert event.requests[0].memories == (only(person).id,)

    def test_a_request_about_a_group_stays_in_the_project(self, project: Retentive, person: Retentive) -> None:
        project.sessions.append("s", "user", "Remember that we deploy on Fridays.")
        assert (len(texts(project)), texts(person)) == (1, [])

    def test_a_request_of_an_old_log_is_kept_with_the_person(self, project: Retentive, person: Retentive) -> None:
        project.sessions.append_many("s", [{"role": "user", "content": "Remember that my boss is Priya."}])
        project.learn("s")
        assert texts(person) == ["The user's boss is Priya."]

    def test_talk_of_several_people_stays_in_the_project(self, project: Retentive, person: Retentive) -> None:
        for speaker in ("Ana", "Bo"):
            project.sessions.append("s", "user", "My sister Eva works at Acme as a nurse.", speaker)
        project.learn("s")
        assert texts(person) == []

    def test_a_fact_in_a_slot_reaches_the_persons_profile(self, project: Retentive, person: Retentive) -> None:
        learn(project, "The user's dog is called Rex.", MAX_CLAIM_CONFIDENCE)
        assert person.profile.get().document == {"dog": {"name": "Rex"}}
        assert project.profile.get().document == {}


class TestChanges:
    def test_said_again_in_another_project_it_is_reinforced(self, project: Retentive, person: Retentive) -> None:
        learn(project, REX, MAX_CLAIM_CONFIDENCE)
        before = only(person).confidence
        learned = learn(project.in_namespace("other"), REX, DOUBTFUL)
        assert learned.reinforced == learned.personal == (only(person).id,)
        assert only(person).confidence > before
        assert texts(project.in_namespace("other")) == []

    def test_a_correction_ends_what_is_known_of_the_person(self, project: Retentive, person: Retentive) -> None:
        learn(project, "The user lives in Porto.", MAX_CLAIM_CONFIDENCE)
        learned = learn(project.in_namespace("other"), "The user lives in Lisbon.", MAX_CLAIM_CONFIDENCE)
        assert texts(person) == ["The user lives in Lisbon."]
        assert {*learned.superseded} < {*learned.personal}

    def test_a_doubtful_correction_of_what_is_known_of_the_person_goes_there(
        self, project: Retentive, person: Retentive
    ) -> None:
        learn(project, "The user lives in Porto.", MAX_CLAIM_CONFIDENCE)
        learn(project, "The user lives in Lisbon.", DOUBTFUL)
        assert (texts(project), texts(person)) == ([], ["The user lives in Lisbon."])

    def test_a_correction_of_what_the_project_knows_stays_there_and_is_proposed(
        self, project: Retentive, person: Retentive
    ) -> None:
        project.add("The user lives in Porto.", valid_from="2020-01-01")
        learn(project, "The user lives in Lisbon.", MAX_CLAIM_CONFIDENCE)
        assert (texts(project), texts(person)) == (["The user lives in Lisbon."], [])
        assert [each.move_to for each in project.proposals.list()] == ["me"]

    def test_a_request_to_forget_reaches_the_person(self, project: Retentive, person: Retentive) -> None:
        learn(project, REX, MAX_CLAIM_CONFIDENCE)
        event = project.sessions.append("s", "user", "Forget that my dog is called Rex.")
        assert event.requests[0].memories == (only_forgotten(person).id,)
        assert event.requests[0].namespace == "me"

    def test_a_request_to_forget_means_the_project_first(self, project: Retentive, person: Retentive) -> None:
        project.add(REX)
        person.add(REX)
        project.sessions.append("s", "user", "Forget that my dog is called Rex.")
        assert (texts(project), texts(person)) == ([], [REX])

    def test_scratch_that_reaches_what_was_just_learned_of_the_person(
        self, project: Retentive, person: Retentive
    ) -> None:
        learn(project, REX, MAX_CLAIM_CONFIDENCE)
        project.sessions.append("s", "user", "Scratch that.")
        assert texts(person) == []

    def test_a_value_that_was_meant_otherwise_is_corrected_with_the_person(
        self, project: Retentive, person: Retentive
    ) -> None:
        learn(project, "The user's birthday is on 12 May.", MAX_CLAIM_CONFIDENCE)
        project.sessions.append("s", "user", "No, I meant 14 May.")
        project.learn("s")
        assert texts(person) == ["The user's birthday is on 14 May."]
        assert texts(project) == []

    def test_what_was_forgotten_with_the_person_is_not_learned_again(
        self, project: Retentive, person: Retentive
    ) -> None:
        event = project.sessions.append("s", "user", "My dog is called Rex.")
        person.forget(person.add(REX).id)
        wait_for(project, event, REX, DOUBTFUL)
        (learned,) = project.learn("s")
        assert learned.refused == ("it was forgotten later",)
        assert (texts(project), texts(person)) == ([], [])


def only_forgotten(store: Retentive) -> Memory:
    (memory,) = store.list(status="forgotten")
    return memory


class TestOrigin:
    def test_why_shows_the_messages_of_the_project(self, project: Retentive, person: Retentive) -> None:
        learn(project, REX, MAX_CLAIM_CONFIDENCE, "My dog is called Rex.")
        told = person.why(only(person).id)
        assert told.memory.origin == {"namespace": "project", "session": "s", "events": [1]}
        assert [(event.namespace, event.content) for event in told.messages] == [("project", "My dog is called Rex.")]

    def test_an_origin_that_somebody_made_up_opens_no_other_namespace(self, open_store: Open) -> None:
        store = open_store(namespace="project")
        store.sessions.append("s", "user", "My dog is called Rex.")
        other = store.in_namespace("other")
        made = other.add(REX, origin={"namespace": "project", "session": "s", "events": [1]})
        assert (other.why(made.id).messages, other.why(made.id).missing) == ((), ("s#1",))
        other.purge(made.id, with_origin=True)
        assert store.sessions.events("s")[0].content == "My dog is called Rex."

    def test_a_view_without_the_project_sees_no_messages(self, project: Retentive, person: Retentive) -> None:
        learn(project, REX, MAX_CLAIM_CONFIDENCE)
        assert person.restricted("me").why(only(person).id).missing == ("s#1",)

    def test_a_purge_names_the_messages_of_the_project(self, project: Retentive, person: Retentive) -> None:
        learn(project, REX, MAX_CLAIM_CONFIDENCE)
        gone = person.purge(only(person).id, dry_run=True)
        assert ("message", "s#1", "project") in {(each.place, each.id, each.namespace) for each in gone.remaining}

    def test_a_purge_with_its_origin_reaches_the_messages_of_the_project(
        self, project: Retentive, person: Retentive
    ) -> None:
        learn(project, REX, MAX_CLAIM_CONFIDENCE, "My dog is called Rex.")
        id = only(person).id
        gone = person.purge(id, with_origin=True)
        assert gone.ids == (id, "s#1")
        assert gone.removed["messages"] == gone.removed["memories"] == 1
        assert "Rex" not in project.sessions.events("s")[0].content
        with pytest.raises(NotFound, match="purged"):
            person.why(id)

    def test_a_refused_purge_leaves_the_messages_of_the_project(self, project: Retentive, person: Retentive) -> None:
        learn(project, "The user's dog is called Xanthippulus.", MAX_CLAIM_CONFIDENCE, "He has a strange name.")
        with pytest.raises(Invalid, match="the reason repeats"):
            person.purge(only(person).id, with_origin=True, reason="too few dogs are called Xanthippulus")
        assert project.sessions.events("s")[0].content == "He has a strange name."

    def test_a_purge_of_a_message_names_what_was_learned_from_it(self, project: Retentive, person: Retentive) -> None:
        learn(project, REX, MAX_CLAIM_CONFIDENCE)
        gone = project.purge("s#1", dry_run=True)
        assert ("memory", only(person).id, "me") in {(each.place, each.id, each.namespace) for each in gone.remaining}

    def test_deleting_the_session_is_told_in_the_origin(self, project: Retentive, person: Retentive) -> None:
        learn(project, REX, MAX_CLAIM_CONFIDENCE)
        assert project.sessions.delete("s").kept == 1
        assert only(person).origin == {"namespace": "project", "session": "deleted session"}

    def test_deleting_a_session_of_the_same_name_elsewhere_is_not(self, project: Retentive, person: Retentive) -> None:
        learn(project, REX, MAX_CLAIM_CONFIDENCE)
        person.sessions.append("s", "user", "Hello there")
        assert person.sessions.delete("s").kept == 0
        assert person.why(only(person).id).messages


class TestProposal:
    def test_accepted_it_moves(self, project: Retentive, person: Retentive) -> None:
        learn(project, REX, DOUBTFUL)
        (proposal,) = project.proposals.list()
        moved = project.proposals.accept(proposal.id)
        assert (texts(project), texts(person)) == ([], [REX])
        assert moved.newer_id == only(person).id
        assert [*project.proposals.list()] == []
        assert [each.content for each in person.why(moved.newer_id).messages] == [REX]
        assert (project.history(proposal.older_id)[-1].reason or "").startswith("moved to namespace me: ")

    def test_a_restored_one_is_there_again(self, project: Retentive, person: Retentive) -> None:
        learn(project, REX, DOUBTFUL)
        moved = project.proposals.accept(project.proposals.list()[0].id)
        project.restore(moved.older_id)
        assert (texts(project), texts(person)) == ([REX], [REX])
        assert not project.proposals.list()

    def test_accepted_it_corrects_what_is_known_there(self, project: Retentive, person: Retentive) -> None:
        learn(project, "The user lives in Lisbon.", DOUBTFUL)
        (proposal,) = project.proposals.list()
        person.add("The user lives in Porto.", valid_from="2020-01-01")
        project.proposals.accept(proposal.id)
        assert texts(person) == ["The user lives in Lisbon."]

    def test_rejected_it_stays(self, project: Retentive) -> None:
        learn(project, REX, DOUBTFUL)
        project.proposals.reject(project.proposals.list()[0].id)
        assert (texts(project), [*project.proposals.list()]) == ([REX], [])

    def test_a_rejected_text_that_is_learned_anew_is_not_proposed(self, project: Retentive) -> None:
        learn(project, REX, DOUBTFUL)
        project.proposals.reject(project.proposals.list()[0].id)
        project.forget(only(project).id)
        learn(project, REX, DOUBTFUL)
        assert (texts(project), [*project.proposals.list()]) == ([REX], [])

    def test_decided_twice_it_is_a_conflict(self, project: Retentive) -> None:
        learn(project, REX, DOUBTFUL)
        (proposal,) = project.proposals.list()
        project.proposals.reject(proposal.id)
        with pytest.raises(Conflict, match="rejected already"):
            project.proposals.accept(proposal.id)

    def test_a_changed_memory_is_not_moved(self, project: Retentive) -> None:
        learn(project, REX, DOUBTFUL)
        (proposal,) = project.proposals.list()
        project.update(only(project).id, content="The user's dog is called Max.")
        assert [*project.proposals.list()] == []
        with pytest.raises(Conflict, match="changed or ended"):
            project.proposals.accept(proposal.id)

    def test_a_view_that_may_not_write_there_cannot_accept_it(self, project: Retentive, person: Retentive) -> None:
        learn(project, REX, DOUBTFUL)
        with pytest.raises(Forbidden):
            project.restricted("project").proposals.accept(project.proposals.list()[0].id)
        assert (texts(project), texts(person)) == ([REX], [])

    def test_a_purge_takes_it_along(self, project: Retentive) -> None:
        learn(project, REX, DOUBTFUL)
        assert project.purge(only(project).id).removed["proposals"] == 1


class TestRestricted:
    def test_a_view_of_the_project_alone_keeps_everything_there(self, project: Retentive, person: Retentive) -> None:
        view = project.restricted("project")
        event = view.sessions.append("s", "user", "Remember that my boss is Priya.")
        assert event.requests[0].namespace is None
        assert (len(texts(project)), texts(person)) == (1, [])
        assert project.sessions.get("s").person is None

    def test_a_view_of_both_keeps_it_with_the_person(self, project: Retentive, person: Retentive) -> None:
        project.restricted(["project", "me"]).sessions.append("s", "user", "Remember that my boss is Priya.")
        assert len(texts(person)) == 1

    def test_what_a_view_without_the_person_says_never_reaches_them(
        self, project: Retentive, person: Retentive
    ) -> None:
        project.sessions.append("s", "user", "Hello there, how are you?")
        assert project.sessions.get("s").person == "me"
        event = project.restricted("project").sessions.append("s", "user", "My dog is called Rex.")
        wait_for(project, event, REX, MAX_CLAIM_CONFIDENCE)
        project.learn("s")
        assert (texts(project), texts(person), project.sessions.get("s").person) == ([REX], [], "")

    def test_a_session_that_two_persons_share_is_nobodys(self, project: Retentive, person: Retentive) -> None:
        project.sessions.append("s", "user", "Hello there, how are you?")
        bob = project.in_namespace("project", person="bob")
        learn(bob, REX, MAX_CLAIM_CONFIDENCE)
        assert (texts(project), texts(person), texts(project.in_namespace("bob"))) == ([REX], [], [])

    def test_an_import_by_a_view_brings_no_person_that_it_may_not_write(
        self, project: Retentive, tmp_path: Path
    ) -> None:
        project.sessions.append("s", "user", "Hello there, how are you?")
        project.export(tmp_path / "out.jsonl")
        with Retentive.open(":memory:", "project", embedder="none") as other:
            other.restricted("project").import_memories(tmp_path / "out.jsonl")
            assert other.sessions.get("s").person is None


class TestRecorded:
    def test_the_session_says_whose_it_is(self, project: Retentive) -> None:
        project.sessions.put("begun")
        project.sessions.append("said", "user", "Hello")
        assert [each.person for each in project.sessions.list()] == ["me", "me"]

    def test_an_older_session_is_recorded_by_the_next_message(self, project: Retentive) -> None:
        project.in_namespace("project", person="").sessions.append("s", "user", "Hello")
        assert project.sessions.get("s").person is None
        project.sessions.append("s", "user", "Hello again")
        assert project.sessions.get("s").person == "me"

    def test_learning_records_the_person_of_a_session_that_has_none(
        self, project: Retentive, person: Retentive
    ) -> None:
        event = project.in_namespace("project", person="").sessions.append("s", "user", REX)
        wait_for(project, event, REX, MAX_CLAIM_CONFIDENCE)
        project.learn("s")
        assert (texts(person), project.sessions.get("s").person) == ([REX], "me")

    def test_the_worker_goes_by_what_is_recorded(self, open_store: Open) -> None:
        store = open_store(namespace="work", person="boss", learn_after=0)
        mine, plain = store.in_namespace("project", person="me"), store.in_namespace("plain", person="")
        for each in (mine, plain):
            wait_for(each, each.sessions.append("s", "user", REX, time="2026-01-01"), REX, MAX_CLAIM_CONFIDENCE)
        store.worker().once()
        found = {name: texts(store.in_namespace(name)) for name in ("me", "project", "plain", "boss")}
        assert found == {"me": [REX], "project": [], "plain": [REX], "boss": []}

    def test_a_claim_is_done_once(self, project: Retentive, person: Retentive) -> None:
        learn(project, REX, MAX_CLAIM_CONFIDENCE)
        (again,) = project.learn("s")
        assert (again.events, again.kept, len(texts(person))) == (0, (), 1)

    @pytest.fixture
    def moved(self, project: Retentive, tmp_path: Path) -> Iterator[Retentive]:
        """The same in another store, by an export and an import."""
        learn(project, REX, DOUBTFUL)
        learn(project, "The user prefers tea.", MAX_CLAIM_CONFIDENCE)
        project.export(tmp_path / "out.jsonl", namespaces="*")
        with Retentive.open(tmp_path / "other.db", "project", embedder="hashing") as other:
            other.import_memories(tmp_path / "out.jsonl")
            yield other

    def test_an_import_restores_sessions_and_proposals(self, project: Retentive, moved: Retentive) -> None:
        assert moved.sessions.get("s") == project.sessions.get("s")
        assert moved.proposals.list() == project.proposals.list()
        assert len(moved.in_namespace("me").why(only(moved.in_namespace("me")).id).messages) == 1
        moved.proposals.accept(moved.proposals.list()[0].id)
        assert REX in texts(moved.in_namespace("me"))

    def test_an_export_without_namespaces_leaves_the_person_out(self, project: Retentive, tmp_path: Path) -> None:
        learn(project, REX, MAX_CLAIM_CONFIDENCE)
        assert project.export(tmp_path / "out.jsonl").namespaces == ("project",)

    def test_an_export_of_what_was_imported_has_the_same_bytes(self, moved: Retentive, tmp_path: Path) -> None:
        moved.export(tmp_path / "again.jsonl", namespaces="*")
        assert (tmp_path / "again.jsonl").read_bytes() == (tmp_path / "out.jsonl").read_bytes()

    @pytest.mark.parametrize("engine", ["sqlite", "libsql", "postgres"])
    def test_a_migration_carries_sessions_and_proposals(
        self, project: Retentive, target: str, place: Place, engine: str
    ) -> None:
        learn(project, REX, DOUBTFUL)
        expected = project.sessions.get("s"), project.proposals.list()
        project.close()  # what it counts must not be written while it is copied
        there = place(engine)
        Retentive.migrate(target, there)
        with Retentive.open(there, "project", embedder="hashing") as other:
            assert (other.sessions.get("s"), other.proposals.list()) == expected


class TestSeen:
    def test_a_search_in_the_project_sees_the_person(self, project: Retentive, person: Retentive) -> None:
        kept = person.add(REX)
        assert [hit.id for hit in project.search("what is my dog called?")] == [kept.id]
        assert "Rex" in project.context("what is my dog called?", min_relevance=0.0).text

    def test_whoever_names_namespaces_sees_those(self, project: Retentive, person: Retentive) -> None:
        person.add(REX)
        assert not project.search("what is my dog called?", namespaces=["other"])

    def test_a_view_without_the_person_sees_the_project_alone(self, project: Retentive, person: Retentive) -> None:
        person.add(REX)
        assert not project.restricted("project").search("what is my dog called?")

    def test_a_list_is_of_the_namespace_alone(self, project: Retentive, person: Retentive) -> None:
        person.add(REX)
        assert [*project.list()] == []

    def test_another_namespace_keeps_the_person(self, project: Retentive) -> None:
        assert project.in_namespace("other").person == "me"
        assert project.in_namespace("other", person="").person is None
