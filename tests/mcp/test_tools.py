"""The tools as a model calls them: by name, with arguments that are checked first."""

from typing import Any

import pytest

from retentive import Retentive
from retentive.errors import Conflict, Invalid, NotFound
from retentive.mcp import arguments
from retentive.mcp.caller import Caller
from retentive.mcp.catalogue import Offer, select_tools
from retentive.mcp.tool import Answer

pytestmark = pytest.mark.engines


class Calls:
    def __init__(self, caller: Caller) -> None:
        self.caller = caller
        self.tools = select_tools(Offer.FULL, person=caller.person is not None)

    def __call__(self, name: str, /, **given: Any) -> Answer:
        tool = self.tools[name]
        answer = tool.run(self.caller, **arguments.parse_arguments(tool, given))
        assert set(tool.gives) <= set(answer.data)
        assert answer.text
        return answer


@pytest.fixture
def call(store: Retentive) -> Calls:
    return Calls(Caller(store))


@pytest.fixture
def project(store: Retentive) -> Calls:
    return Calls(Caller(store.in_namespace("billing"), ("default", "team/*"), "default"))


def test_what_is_kept_is_found_in_a_line_and_read_in_whole(call: Calls) -> None:
    kept = call("memory_add", content="The harbour opens at seven. " + "It is said twice. " * 20, tags=["sea"])
    (hit,) = call("memory_search", query="when does the harbour open?").data["hits"]
    assert hit["id"] == kept.data["id"]
    assert len(hit["text"]) == 200
    (whole,) = call("memory_get", ids=[hit["id"]]).data["items"]
    assert whole["content"].startswith("The harbour opens at seven.")
    assert whole["tags"] == ["sea"]
    assert len(whole["content"]) > 300


def test_a_correction_is_told(call: Calls) -> None:
    first = call("memory_add", content="The user's dog is called Rex", slot="user.dog.name")
    second = call("memory_add", content="The user's dog is called Max", slot="user.dog.name")
    assert second.data["superseded"] == [first.data["id"]]
    assert f"Replaced [{first.data['id']}] The user's dog is called Rex (slot: same slot" in second.text
    assert [hit["text"] for hit in call("memory_search", query="dog").data["hits"]] == ["The user's dog is called Max"]


def test_the_same_again_is_known_already(call: Calls) -> None:
    call("memory_add", content="Tea at four")
    again = call("memory_add", content="Tea at four")
    assert again.data["created"] is False
    assert again.text.startswith("Already known")


def test_what_has_expired_already_is_told(call: Calls) -> None:
    """A model that mistook the year would believe it kept."""
    kept = call("memory_add", content="The harbour is closed", expires="2020-01-01")
    assert "It expired on 2020-01-01" in kept.text
    assert "expired" not in call("memory_add", content="The ferry is late", expires="2999-01-01").text


def test_nothing_found_says_so(call: Calls) -> None:
    assert "Nothing found" in call("memory_search", query="zebra crossing").text


def test_of_several_ids_those_that_are_there_are_read(call: Calls) -> None:
    id = call("memory_add", content="Tea at four").data["id"]
    found = call("memory_get", ids=[id, "nobody"])
    assert [each["id"] for each in found.data["items"]] == [id]
    assert found.data["missing"] == ["nobody"]
    with pytest.raises(NotFound, match="nobody"):
        call("memory_get", ids=["nobody"])


def test_a_message_is_read_with_those_around_it(call: Calls) -> None:
    said = [{"role": "user", "content": f"line {n}"} for n in range(9)]
    call("session_append", session="talk", messages=said)
    found = call("memory_get", ids=["talk#5"]).data["items"]
    assert [each["content"] for each in found] == [f"line {n}" for n in range(2, 7)]


def test_a_message_that_is_not_there_is_missing(call: Calls) -> None:
    call("session_append", session="talk", messages=[{"role": "user", "content": "the only line"}])
    with pytest.raises(NotFound):
        call("memory_get", ids=["talk#2"])


def test_a_message_of_another_session_of_the_same_name_is_found(project: Calls, store: Retentive) -> None:
    project("session_append", session="talk", messages=[{"role": "user", "content": "here"}])
    for number in range(1, 4):
        store.sessions.append("talk", "user", f"there {number}")
    assert "there 3" in project("memory_get", ids=["talk#3"]).text


def test_an_update_changes_what_is_given(call: Calls) -> None:
    id = call("memory_add", content="Tea at for", slot="tea.time", importance=3).data["id"]
    changed = call("memory_update", id=id, content="Tea at four", slot="").data["memory"]
    assert (changed["content"], changed["importance"], "slot" in changed) == ("Tea at four", 3, False)
    with pytest.raises(Invalid, match="nothing to change"):
        call("memory_update", id=id)


def test_forgetting_by_id_can_be_tried_first_and_undone(call: Calls) -> None:
    id = call("memory_add", content="Tea at four").data["id"]
    assert call("memory_delete", ids=[id], dry_run=True).data["done"] is False
    assert call("memory_search", query="tea").data["hits"]
    assert call("memory_delete", ids=[id]).data["done"] is True
    assert not call("memory_search", query="tea").data["hits"]
    call("memory_restore", id=id)
    assert call("memory_search", query="tea").data["hits"]
    assert [each["action"] for each in call("memory_history", id=id).data["changes"]][-2:] == ["forgotten", "restored"]


def test_an_id_that_is_not_there_keeps_the_others_from_being_forgotten(call: Calls) -> None:
    id = call("memory_add", content="Tea at four").data["id"]
    with pytest.raises(NotFound):
        call("memory_delete", ids=[id, "nobody"])
    assert call("memory_search", query="tea").data["hits"]


def test_several_by_words_need_a_yes(call: Calls) -> None:
    for hour in ("four", "five"):
        call("memory_add", content=f"Tea at {hour}")
    with pytest.raises(Conflict):
        call("memory_delete", words="tea")
    assert len(call("memory_delete", words="tea", confirm=True).data["memories"]) == 2
    with pytest.raises(Invalid):
        call("memory_delete")


def test_a_context_has_what_bears_on_the_question(call: Calls) -> None:
    call("memory_add", content="Always answer in French", kind="instruction", importance=9)
    call("memory_add", content="The harbour opens at seven")
    context = call("memory_context", query="harbour opens", budget=300)
    assert "Always answer in French" in context.text
    assert "harbour" in context.data["text"]
    assert context.data["tokens"] <= 300


def test_what_was_asked_for_in_plain_words_is_done_and_told(call: Calls) -> None:
    said = call("session_append", session="talk", messages=[{"role": "user", "content": "Remember that I like figs."}])
    assert "Remembered" in said.text
    assert call("memory_search", query="figs", include=["memories"]).data["hits"]


def test_messages_before_a_bad_one_are_kept_and_told(call: Calls) -> None:
    good, bad = {"role": "user", "content": "one"}, {"role": "user", "content": "two", "time": "never o'clock"}
    with pytest.raises(Invalid) as caught:
        call("session_append", session="talk", messages=[good, bad])
    assert "talk#1" in caught.value.hint
    assert len(call("session_read", session="talk").data["messages"]) == 1


def test_a_note_lives_under_its_id(call: Calls) -> None:
    call("note", note_id="plan", text="first")
    call("note", note_id="plan", text="second")
    assert call("note", action="get", note_id="plan").text == call("note", note_id="plan").text == "[plan] second"
    assert [each["id"] for each in call("note").data["notes"]] == ["plan"]
    assert [each["id"] for each in call("note", action="list", tags=["home"]).data["notes"]] == []
    assert call("note", action="delete", note_id="plan").data["done"] is True
    with pytest.raises(Invalid, match="needs a note_id"):
        call("note", action="get")
    with pytest.raises(Invalid, match="needs text"):
        call("note", action="put")


def test_conversations_can_be_listed_read_summarised_and_deleted(call: Calls) -> None:
    call("session_append", session="talk", messages=[{"role": "user", "content": "The tide turns at noon"}])
    assert [each["id"] for each in call("session_list").data["sessions"]] == ["talk"]
    assert call("session_summary", session="talk", make=True).data["epoch"] == 0
    assert [hit["id"] for hit in call("conversation_search", query="tide").data["hits"]] == ["talk#1"]
    assert call("session_learn", session="talk").data["sessions"][0]["events"] == 1
    assert call("session_delete", session="talk").data["done"] is False
    assert call("session_delete", session="talk", dry_run=False).data["done"] is True
    assert not call("session_list").data["sessions"]


def test_a_purge_is_a_dry_run_until_it_is_not(call: Calls) -> None:
    id = call("memory_add", content="Tea at four").data["id"]
    assert call("memory_purge", ids=[id]).data["done"] is False
    assert call("memory_purge", ids=[id], dry_run=False).data["done"] is True
    with pytest.raises(NotFound):
        call("memory_get", ids=[id])


def test_many_are_kept_listed_and_counted(call: Calls) -> None:
    assert call("memory_add_many", contents=["one fig", "two figs", "one fig"]).data["created"] == 2
    page = call("memory_list", limit=1)
    assert "after=" in page.text
    assert len(call("memory_list", after=page.data["next"]).data["memories"]) == 1
    assert call("memory_stats").data["memories"] == 2
    assert call("memory_backfill").data == {"done": 0, "remaining": 0}


def test_a_project_reads_the_person_and_keeps_to_itself(project: Calls, store: Retentive) -> None:
    personal = project("memory_add", content="The user is allergic to nuts", personal=True).data["id"]
    own = project("memory_add", content="Nuts and bolts are billed by weight").data["id"]
    assert store.get(personal).namespace == "default"
    assert {hit["id"] for hit in project("memory_search", query="nuts").data["hits"]} == {personal, own}
    assert [hit.id for hit in store.search("nuts")] == [personal]
    assert "allergic" in project("memory_context", query="nuts").text
    assert project("memory_get", ids=[personal]).data["items"]


def test_what_concerns_the_person_can_be_changed_from_a_project(project: Calls, store: Retentive) -> None:
    personal = project("memory_add", content="The user is allergic to nuts", personal=True).data["id"]
    project("memory_update", id=personal, importance=9)
    project("memory_delete", ids=[personal])
    assert store.get(personal).status == "forgotten"


def test_what_others_share_can_be_read_and_not_changed(project: Calls, store: Retentive) -> None:
    shared = store.in_namespace("team/rules").add("Invoices are sent on Fridays").id
    assert project("memory_get", ids=[shared]).data["items"]
    with pytest.raises(Invalid, match="team/rules"):
        project("memory_update", id=shared, importance=1)
    with pytest.raises(Invalid, match="team/rules"):
        project("memory_delete", ids=[shared])
    assert store.in_namespace("team/rules").get(shared).status == "active"


def test_no_other_namespace_is_ever_seen(project: Calls, store: Retentive) -> None:
    secret = store.in_namespace("alice").add("Alice sends invoices on Mondays").id
    store.in_namespace("alice").sessions.append("talk", "user", "invoices again")
    assert not project("memory_search", query="invoices").data["hits"]
    assert "Alice" not in project("memory_context", query="invoices").text
    forbidden: dict[str, dict[str, Any]] = {
        "memory_get": {"ids": [secret, "talk#1"]},
        "memory_history": {"id": secret},
        "memory_delete": {"ids": [secret]},
        "session_read": {"session": "talk"},
    }
    for name, given in forbidden.items():
        with pytest.raises(NotFound):
            project(name, **given)


def test_a_context_without_a_query_has_profile_vital_and_recent_memories(call: Calls) -> None:
    assert call("memory_context").text == "Nothing relevant is known."
    call("profile", changes={"city": "Oslo"})
    call("memory_add", content="Always answer in French", kind="instruction", importance=9)
    call("memory_add", content="The harbour opens at seven")
    found = call("memory_context").text
    for words in ("Oslo", "French", "harbour"):
        assert words in found
    assert "harbour" not in call("memory_context", query="zebra", top_k=1).text


def test_the_profile_of_the_project_is_shown_beside_that_of_the_person(project: Calls, store: Retentive) -> None:
    assert "project" not in project("profile").data
    project("profile", changes={"city": "Oslo"})
    store.in_namespace("billing").profile.set("language", "Rust")
    found = project("profile")
    assert found.data["document"] == {"city": "Oslo"}
    assert found.data["project"] == {"language": "Rust"}
    assert "Project billing:" in found.text
    assert "Rust" in found.text


def test_an_edit_reports_the_text_before(call: Calls) -> None:
    id = call("memory_add", content="Tea at for").data["id"]
    assert f"Replaced [{id}] Tea at for" in call("memory_update", id=id, content="Tea at four").text
    assert "Replaced" not in call("memory_update", id=id, importance=3).text


def test_what_a_message_asked_for_is_reported_with_the_texts_that_ended(call: Calls) -> None:
    old = call("memory_add", content="The user's boss is Priya.", slot="user.boss").data["id"]
    said = [{"role": "user", "content": "Remember that my boss is Jonas."}]
    kept = call("session_append", session="talk", messages=said)
    assert f"Replaced [{old}] The user's boss is Priya." in kept.text
    assert [each["id"] for each in kept.data["requests"][0]["replaced"]] == [old]
    gone = call("session_append", session="talk", messages=[{"role": "user", "content": "Forget my boss Jonas."}])
    assert f"Forgotten [{kept.data['requests'][0]['memories'][0]}] The user's boss is Jonas." in gone.text


def test_learning_reports_the_texts_that_ended(call: Calls) -> None:
    old = call("memory_add", content="The user's boss is Priya.", slot="user.boss").data["id"]
    call("session_append", session="talk", messages=[{"role": "user", "content": "My boss is Jonas now."}])
    assert f"Replaced [{old}] The user's boss is Priya." in call("session_learn", session="talk").text


def test_learning_reports_what_may_have_ended(call: Calls) -> None:
    old = call("memory_add", content="The user lives in Oslo.").data["id"]
    said = [{"role": "user", "content": "I just moved to Bergen, I live there now."}]
    call("session_append", session="talk", messages=said)
    assert f"may replace [{old}] The user lives in Oslo." in call("session_learn", session="talk").text


def test_a_restored_memory_reports_what_it_replaces(call: Calls) -> None:
    first = call("memory_add", content="The dog is called Rex", slot="dog.name").data["id"]
    second = call("memory_add", content="The dog is called Max", slot="dog.name").data["id"]
    restored = call("memory_restore", id=first)
    assert restored.data["replaced"] == [second]
    assert f"Replaced [{second}] The dog is called Max" in restored.text


def test_a_search_may_see_a_session_alone(call: Calls) -> None:
    call("memory_add", content="The harbour opens at seven")
    own = call("memory_add", content="The harbour is far", session="trip").data["id"]
    found = call("memory_search", query="harbour", session="trip", scope="session")
    assert [each["id"] for each in found.data["hits"]] == [own]
