"""What is forgotten leaves searches and contexts, with the messages that say it; the log keeps them."""

from collections.abc import Callable
from typing import Any

import pytest

from retentive import Memory, Retentive
from retentive.memories.mentions import gives_away, read_fact, repeats_fact
from retentive.testing import Clock, parts_of
from tests.support import Open, Place, Run

pytestmark = pytest.mark.engines

SAID = "My dog Rex loves the park"
QUESTION = "what is the dog called?"


def add_learned_memory(
    store: Retentive, said: str = SAID, fact: str = "The user's dog is called Rex", session: str = "s"
) -> Memory:
    """Keep a memory that was learned from a message."""
    event = store.sessions.append(session, "user", said)
    return store.add(fact, origin={"session": session, "events": [event.sequence]}).memory


def read_answers(store: Retentive, session: str | None = "s") -> str:
    """All that a search and a context show."""
    hits = store.search(f"{QUESTION} Rex", 20, fold_copies=False)
    made = store.context(f"{QUESTION} Rex", session=session, min_relevance=0)
    return "\n".join([made.text, *(hit.excerpt for hit in hits)])


FORGETTING: dict[str, Callable[[Retentive, Memory], object]] = {
    "by id": lambda store, memory: store.forget(memory.id),
    "by words": lambda store, _: store.forget_matching("dog called"),
    "by filters": lambda store, _: store.forget_matching(kind=["fact"], confirm=True),
    "by a request": lambda store, _: store.sessions.append("s", "user", "Forget that my dog is called Rex."),
}


@pytest.mark.parametrize("how", FORGETTING)
def test_the_message_that_a_forgotten_memory_came_from_is_not_shown(store: Retentive, how: str) -> None:
    """Neither searches nor contexts quote it, whichever way the memory was forgotten."""
    memory = add_learned_memory(store)
    store.sessions.append("s", "assistant", "What a nice companion!")
    assert "Rex" in read_answers(store)
    FORGETTING[how](store, memory)
    assert store.get(memory.id).status == "forgotten"
    assert "Rex" not in read_answers(store).replace(f"{QUESTION} Rex", "")


def test_messages_that_repeat_the_value_are_not_shown(store: Retentive) -> None:
    """Also those of other sessions; a message that only shares a word stays."""
    memory = add_learned_memory(store)
    store.sessions.append("other", "user", "Our dog Rex barked all night")
    store.sessions.append("other", "user", "A dog barked all night")
    store.sessions.append("other", "user", "T. Rex was a dinosaur")
    store.forget(memory.id)
    shown = read_answers(store, "other")
    assert "Our dog Rex" not in shown
    assert "A dog barked" in shown
    assert "dinosaur" in shown


def test_messages_that_repeat_a_memory_without_an_origin_are_not_shown(store: Retentive) -> None:
    """A memory that somebody added says no less where it was said."""
    store.sessions.append("s", "user", SAID)
    store.forget(store.add("The user's dog is called Rex").id)
    assert "Rex" not in read_answers(store).replace(f"{QUESTION} Rex", "")


def test_restore_brings_the_messages_back(store: Retentive) -> None:
    """A memory that is active again may be found where it was said."""
    memory = add_learned_memory(store)
    before = read_answers(store)
    store.forget(memory.id)
    store.restore(memory.id)
    assert read_answers(store) == before
    assert not any(event.is_hidden for event in store.sessions.events("s"))


def test_a_message_stays_hidden_while_one_of_its_memories_is_forgotten(store: Retentive) -> None:
    """Two memories came from one message; both must be restored."""
    dog = add_learned_memory(store, "My dog Rex lives in Porto")
    home = store.add("The user lives in Porto", origin=dog.origin)
    store.forget(dog.id)
    store.forget(home.id)
    store.restore(home.id)
    assert store.sessions.events("s")[0].is_hidden
    store.restore(dog.id)
    assert not store.sessions.events("s")[0].is_hidden


def test_the_log_shows_the_message_with_a_mark(store: Retentive) -> None:
    """Reading a session shows all that was said."""
    store.forget(add_learned_memory(store).id)
    (event,) = store.sessions.events("s")
    assert (event.content, event.is_hidden) == (SAID, True)


def test_what_is_said_anew_is_visible(store: Retentive) -> None:
    """Only what was said up to the forgetting is hidden, also if the very same words are said again."""
    store.forget(add_learned_memory(store).id)
    again = store.sessions.append("s", "user", SAID)
    store.sessions.append("t", "user", SAID)
    found = {hit.id for hit in store.search("dog Rex park", include="events", fold_copies=False)}
    assert found == {again.id, "t#1"}


def test_said_again_and_again_before_is_hidden_each_time(store: Retentive) -> None:
    """One slice of the index stands for all times that the same was said."""
    memory = add_learned_memory(store)
    store.sessions.append("s", "user", "Something else")
    store.sessions.append("s", "user", SAID)
    store.sessions.append("s", "user", "More of it")
    store.sessions.append("s", "user", SAID)
    store.forget(memory.id)
    assert [event.is_hidden for event in store.sessions.events("s")] == [True, False, True, False, True]


def test_a_substring_search_does_not_show_it(store: Retentive) -> None:
    """The last resort of a search goes through the log."""
    memory = add_learned_memory(store, "My dog answers to Rexolinus")
    store.update(memory.id, content="The user's dog is called Rexolinus")
    assert [hit.id for hit in store.search("exolin", include="events")] == ["s#1"]
    store.forget(memory.id)
    assert len(store.search("exolin", include="events")) == 0


def test_a_summary_loses_the_sentences_that_say_it(store: Retentive) -> None:
    """The rest of the summary stays, under another epoch."""
    memory = add_learned_memory(store)
    store.sessions.set_summary("s", "user: The dog is called Rex. The weather was fine.", upto=1, epoch=0)
    store.forget(memory.id)
    summary = store.sessions.summary("s")
    assert (summary.text, summary.upto, summary.epoch) == ("user: The weather was fine.", 1, 2)


def test_a_summary_that_is_made_later_does_not_say_it(store: Retentive) -> None:
    """A hidden message is not condensed."""
    store.forget(add_learned_memory(store).id)
    for number in range(40):
        store.sessions.append("s", "user", f"I decided on plan number {number}, which costs {number} euros")
    summary = store.sessions.summarise("s", budget=200)
    assert summary.upto > 1
    assert "Rex" not in summary.text


def test_a_replay_leaves_it_out(store: Retentive) -> None:
    """A conversation that is rebuilt for a model has no hidden message."""
    memory = add_learned_memory(store)
    store.sessions.append("s", "assistant", "Good to hear")
    store.forget(memory.id)
    assert store.sessions.replay("s").text == "assistant: Good to hear"


def test_a_request_that_names_the_value_is_not_shown(store: Retentive) -> None:
    """The words "forget my dog's name Rex" would tell it again."""
    add_learned_memory(store)
    request = store.sessions.append("s", "user", "Please forget that my dog is called Rex.")
    assert request.requests[0].memories
    assert [event.is_hidden for event in store.sessions.events("s")] == [True, True]


def test_a_request_that_is_logged_after_the_forgetting_is_not_shown(store: Retentive) -> None:
    """A client may forget first, and log what the user asked for when the turn is over."""
    memory = add_learned_memory(store)
    store.forget(memory.id)
    store.sessions.append("s", "user", "Please forget that the dog is called Rex.")
    assert [event.is_hidden for event in store.sessions.events("s")] == [True, True]
    store.restore(memory.id)
    assert not any(event.is_hidden for event in store.sessions.events("s"))


def test_purging_the_memory_keeps_its_messages_hidden(store: Retentive) -> None:
    """What was forgotten does not come back because more of it went."""
    memory = add_learned_memory(store)
    store.forget(memory.id)
    store.purge(memory.id)
    assert "Rex" not in read_answers(store).replace(f"{QUESTION} Rex", "")


def test_purging_with_the_origin_leaves_no_mark(store: Retentive) -> None:
    """A blank message hides nothing."""
    memory = add_learned_memory(store)
    store.forget(memory.id)
    store.purge(memory.id, with_origin=True)
    assert not any(event.is_hidden for event in store.sessions.events("s"))


def test_deleting_the_session_leaves_no_mark(store: Retentive) -> None:
    """A session of the same name begins anew."""
    store.forget(add_learned_memory(store).id)
    store.sessions.delete("s")
    assert not store.sessions.append("s", "user", SAID).is_hidden
    assert not store.sessions.events("s")[0].is_hidden


def test_retention_hides_no_messages(open_store: Open, time: Clock) -> None:
    """Room is made in the memories; nobody asked for what was said to be forgotten."""
    store = open_store(retention=["fact: 1d"])
    memory = add_learned_memory(store)
    time.forward(3 * 86_400)
    store.upkeep()
    assert store.get(memory.id).status == "forgotten"
    assert not store.sessions.events("s")[0].is_hidden


def test_a_restricted_view_hides_and_restores(open_store: Open) -> None:
    """Row-level security lets a view write the marks of its own namespace."""
    view = open_store(namespace="mine").restricted(["mine"])
    memory = add_learned_memory(view)
    view.forget(memory.id)
    assert view.sessions.events("s")[0].is_hidden
    view.restore(memory.id)
    assert not view.sessions.events("s")[0].is_hidden


def test_other_namespaces_are_left_alone(open_store: Open) -> None:
    """Forgetting in one namespace hides nothing in another."""
    mine, theirs = open_store(namespace="mine"), open_store(namespace="theirs")
    theirs.sessions.append("s", "user", SAID)
    mine.forget(add_learned_memory(mine).id)
    assert not theirs.sessions.events("s")[0].is_hidden


def test_a_repaired_index_still_hides(store: Retentive) -> None:
    """The index is made anew from the log; what is hidden stays so."""
    store.forget(add_learned_memory(store).id)
    store.repair()
    assert "Rex" not in read_answers(store).replace(f"{QUESTION} Rex", "")


def test_a_message_whose_fact_was_superseded_stands_below_what_replaced_it(store: Retentive, time: Clock) -> None:
    """It stays searchable, is marked, and the successor is lifted above it."""
    old = add_learned_memory(store)
    time.forward(86_400)
    event = store.sessions.append("t", "user", "We renamed the dog, he is Max now")
    origin = {"session": "t", "events": [event.sequence]}
    new = store.add("The user's dog is called Max", replaces=old.id, origin=origin)
    hits = [*store.search("My dog Rex loves the park", include=["memories", "events"])]
    ids = [hit.id for hit in hits]
    assert ids.index("s#1") > min(ids.index(new.id), ids.index(event.id))
    outdated = hits[ids.index("s#1")].outdated
    assert outdated is not None
    assert (outdated.newer_id, outdated.is_certain) == (new.id, True)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_a_context_marks_an_outdated_message_and_puts_it_last(store: Retentive, time: Clock) -> None:
    """The excerpts are in the order of time, but for what is outdated."""
    old = add_learned_memory(store)
    time.forward(86_400)
    event = store.sessions.append("t", "user", "Our dog Max loves the lake")
    origin = {"session": "t", "events": [event.sequence]}
    new = store.add("The user's dog is called Max", replaces=old.id, origin=origin).memory
    text = store.context("which dog loves what?", min_relevance=0).text
    assert text.index("Max loves the lake") < text.index(SAID)
    assert f"{SAID} (outdated since {new.valid_from:%Y-%m-%d})" in text


def test_a_message_that_still_backs_a_memory_is_not_outdated(store: Retentive) -> None:
    """One of two facts of a message was superseded; the other holds."""
    old = add_learned_memory(store, "My dog Rex lives in Porto with me")
    store.add("The user has a home in Porto", origin=old.origin)
    store.add("The user's dog is called Max", replaces=old.id)
    assert {hit.outdated for hit in store.search("dog Rex Porto", include="events")} == {None}


def test_a_restored_memory_leaves_no_outdated_message(store: Retentive) -> None:
    """Undoing a replacement makes the message current again."""
    old = add_learned_memory(store)
    store.add("The user's dog is called Max", replaces=old.id)
    assert store.search("dog Rex park", include="events")[0].outdated
    store.restore(old.id)
    assert store.search("dog Rex park", include="events")[0].outdated is None


@pytest.mark.engines("sqlite")
def test_the_terminal_shows_the_mark(store: Retentive, run: Run) -> None:
    """`session show` says which messages are forgotten."""
    store.forget(add_learned_memory(store).id)
    assert f"(forgotten) {SAID}" in run("session", "show", "s")


DOG = "The user's dog is called Rex"


@pytest.mark.engines("sqlite")
@pytest.mark.parametrize(
    ("memory", "text", "repeated"),
    [
        (DOG, "my dog Rex is ill", True),
        (DOG, "Got a dog! Rex is three months old.", True),  # in two sentences that follow one another
        (DOG, "Rex called me yesterday", False),  # somebody else may have this name
        (DOG, "my dog is ill", False),  # does not say the name
        ("Anna's dog is called Rex", "Anna's dog is ill", False),
        ("Anna's dog is called Rex", "the dog, Rex, is ill", True),
        ("The user's sister Anna lives in Hamburg", "my sister Anna visits", True),
        ("The user's sister Anna lives in Hamburg", "I live in Hamburg", False),
        ("The user lives in Porto", "I live in Porto", True),
        ("The user lives in Porto", "Porto won the match", False),
        ("The user's phone number is 555-0199-23", "call my phone: 555-0199-23", True),
        ("The user's mail is anna.k@example.org", "write a mail to anna.k@example.org", True),
        ("The user has 2 dogs", "my 2 dogs are ill", True),
        ("The order of round 3 is item 7", "in round 3 we take item 9", False),  # short numbers are said of many things
        ("The user likes hiking", "I like hiking", True),
        ("The user likes hiking", "I would like to know which boots are good for hiking", False),
        ("The user is allergic to peanuts", "peanuts are cheap this week", False),
        ("The user is allergic to peanuts", "remember, I am allergic to peanuts", True),
    ],
)
def test_which_texts_repeat_a_memory(store: Retentive, memory: str, text: str, repeated: bool) -> None:
    """The value together with its subject, not a word that is shared by chance."""
    stem = parts_of(store).engine.tokens
    assert repeats_fact(read_fact(memory, stem), text, stem) is repeated


@pytest.mark.engines("sqlite")
@pytest.mark.parametrize(
    ("text", "shown"), [("forget my dog's name Rex", True), ("forget Rex", True), ("forget my dog's name", False)]
)
def test_which_requests_give_a_value_away(store: Retentive, text: str, shown: bool) -> None:
    """A request that names the value must not be quoted; one that does not may be."""
    stem = parts_of(store).engine.tokens
    assert gives_away(read_fact(DOG, stem), text, stem) is shown


def test_hidden_messages_come_back_from_an_export(open_store: Open, place: Place, tmp_path: Any) -> None:
    """A restored store hides what the exported one hid; once more nothing is new."""
    source = open_store()
    memory = add_learned_memory(source)
    source.forget(memory.id)
    path = tmp_path / "all.jsonl"
    source.export(path)
    target = open_store(target=place("sqlite"))
    assert target.import_memories(path, dry_run=True).lines["hidden"] == {"created": 1}
    assert target.import_memories(path).lines["hidden"] == {"created": 1}
    assert target.sessions.events("s")[0].is_hidden
    assert target.import_memories(path).lines["hidden"] == {"same": 1}
    target.restore(memory.id)
    assert target.import_memories(path).lines["hidden"] == {"kept": 1}
    assert not target.sessions.events("s")[0].is_hidden
