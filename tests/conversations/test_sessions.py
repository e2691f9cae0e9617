"""Conversations: the log, its index, its end."""

import unicodedata
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retentive import Retentive
from retentive.conversations.chunks import chunk_message
from retentive.errors import Conflict, Invalid, NotFound
from retentive.model import Message, Role
from retentive.text.messages import extract_text
from retentive.text.normalize import hash_content
from tests.support import Open

pytestmark = pytest.mark.engines

CALL = {"tool_calls": [{"id": "c1", "function": {"name": "book_vet", "arguments": '{"city": "Potsdam"}'}}]}


def said(store: Retentive, session: str) -> list[str]:
    return [event.content for event in store.sessions.events(session, limit=1000)]


def found(store: Retentive, query: str, **options: Any) -> list[str]:
    return [hit.id for hit in store.search(query, include="events", mode="text", **options)]


def test_the_first_message_makes_the_session(store: Retentive) -> None:
    event = store.sessions.append("s", "user", "Good morning", speaker="Anna", time="2026-03-02T09:00:00Z")
    assert (event.id, event.sequence, event.role, event.speaker) == ("s#1", 1, Role.USER, "Anna")
    assert event.time == datetime(2026, 3, 2, 9, tzinfo=UTC)
    session = store.sessions.get("s")
    assert (session.events, session.last_sequence, session.active) == (1, 1, event.time)


def test_numbers_rise_and_one_at_or_below_the_last_is_refused(store: Retentive) -> None:
    store.sessions.append("s", "user", "one", sequence=5)
    assert store.sessions.append("s", "user", "two").sequence == 6
    for sequence in (6, 5, 1):
        with pytest.raises(Conflict, match="not above the last, 6"):
            store.sessions.append("s", "user", "late", sequence=sequence)
    assert said(store, "s") == ["one", "two"]
    assert store.sessions.get("s").events == 2
    assert found(store, "late") == []


@pytest.mark.parametrize(
    "payload",
    [
        None,
        CALL,
        {"deep": [{"of": [1, 2.5, None, True, "ü"]}]},
        ["a", "list"],
        "a text",
        7,
    ],
)
def test_a_message_is_kept_whole(store: Retentive, payload: Any) -> None:
    """Text and payload read back as they were given, from another opening of the file too."""
    text = "  spaces, \ttabs\nand lines \u0301 stay as they are  "
    kept = store.sessions.append("s", "tool", text, payload=payload)
    (read,) = store.sessions.events("s")
    assert read == kept
    assert (read.content, read.payload) == (text, payload)


def test_a_pair_is_kept_in_one_call(store: Retentive) -> None:
    asked, answered = store.sessions.append_pair("s", "How late is it?", "Half past ten.", user_speaker="Anna")
    assert [(e.sequence, e.role, e.speaker) for e in (asked, answered)] == [(1, "user", "Anna"), (2, "assistant", None)]
    with pytest.raises(Invalid, match="message 2"):
        store.sessions.append_pair("s", "And now?", "")
    assert store.sessions.get("s").events == 2


def test_many_are_kept_in_order_and_in_one_go(store: Retentive) -> None:
    told: list[int] = []
    messages = [{"role": "user", "content": f"message {n}", "mood": "fine"} for n in range(1200)]
    done = store.sessions.append_many("s", messages, told.append)
    assert (done.first, done.last, done.events, done.pending) == (1, 1200, 1200, 0)
    assert told == [*range(100, 1300, 100)]
    events = store.sessions.events("s", limit=2000)
    assert [event.content for event in events] == [each["content"] for each in messages]
    assert events[7].payload == {"mood": "fine"}


def test_a_list_with_a_bad_message_keeps_nothing(store: Retentive) -> None:
    good = [{"role": "user", "content": f"message {n}"} for n in range(700)]
    with pytest.raises(Invalid, match="message 701: unknown role 'usr'"):
        store.sessions.append_many("s", [*good, {"role": "usr", "content": "x"}])
    with pytest.raises(NotFound):
        store.sessions.get("s")


def test_pages_of_events(store: Retentive) -> None:
    store.sessions.append_many("s", [{"role": "user", "content": str(n)} for n in range(1, 21)])

    def numbers(**place: int) -> list[int]:
        return [event.sequence for event in store.sessions.events("s", **place)]

    assert numbers(limit=3) == [18, 19, 20]
    assert numbers(limit=3, before=18) == [15, 16, 17]
    assert numbers(limit=3, after=4) == [5, 6, 7]
    assert numbers(limit=5, around=10) == [8, 9, 10, 11, 12]
    assert numbers(limit=5, around=20) == [18, 19, 20]
    assert numbers(limit=1, around=10) == [10]
    assert numbers(limit=100, after=0) == [*range(1, 21)]


def test_sessions_are_listed_by_their_last_activity(store: Retentive) -> None:
    for name, day in (("old", "2026-01-01"), ("new", "2026-03-01"), ("middle", "2026-02-01")):
        store.sessions.append(name, "user", "hello", time=day)
    assert [each.id for each in store.sessions.list()] == ["new", "middle", "old"]
    store.sessions.append("old", "user", "again", time="2026-04-01")
    store.sessions.append("new", "user", "an old letter", time="2020-01-01")
    assert [each.id for each in store.sessions.list()] == ["old", "new", "middle"]
    assert [each.id for each in store.sessions.list(limit=2, after="old")] == ["new", "middle"]


def test_a_session_carries_agent_tags_and_metadata(store: Retentive) -> None:
    store.sessions.append("s", "user", "The release is on Tuesday")
    put = store.sessions.put("s", agent="coder", tags=["work"], metadata={"url": "x"})
    assert (put.agent, put.tags, put.metadata, put.events) == ("coder", ("work",), {"url": "x"}, 1)
    assert store.sessions.put("s", agent="tester").tags == ("work",)
    store.sessions.append("s", "assistant", "The release is noted")
    assert found(store, "release", tags=["work"]) == ["s#1", "s#2"]
    assert found(store, "release", tags=["home"]) == []
    assert store.sessions.put("made by put").events == 0
    assert store.sessions.append("made by put", "user", "hi").sequence == 1


def test_what_was_said_is_found_with_its_place(store: Retentive) -> None:
    store.sessions.append("s", "user", "We adopted a beagle")
    store.sessions.append("s", "assistant", None, payload=CALL)
    store.sessions.append("s", "tool", "booked with Dr. Weber", payload={"tool_call_id": "c1"})
    (hit,) = store.search("Weber", include="events", mode="text", limit=1)
    assert (hit.type, hit.id, hit.span, hit.event.sequence) == ("event", "s#3", (3, 3), 3)
    assert found(store, "Potsdam") == ["s#2", "s#3", "s#1"]
    around = store.sessions.events(hit.event.session, limit=3, around=hit.event.sequence)
    assert [event.sequence for event in around] == [2, 3]


def test_the_same_words_again_extend_the_range(store: Retentive, db: Path) -> None:
    store.sessions.append("s", "user", "The gate code is 4711", time="2026-01-01")
    store.sessions.append("s", "user", "Something else")
    store.sessions.append("s", "user", "The  gate code\nis 4711", time="2026-02-01")
    store.sessions.append("t", "user", "The gate code is 4711")
    hits = store.search_conversations("gate code", mode="text", session="s", limit=1)
    assert [(hit.id, hit.span) for hit in hits] == [("s#1", (1, 3))]
    assert found(store, "gate", since="2026-01-15", until="2026-03-01") == ["s#1"]
    rows = apsw.Connection(str(db)).execute("SELECT count(*) FROM chunks WHERE session = 's'").fetchall()
    assert rows == [(2,)]


def test_the_same_words_twice_in_one_load_are_one_chunk(store: Retentive) -> None:
    messages = [{"role": "user", "content": text} for text in ("yes", "The gate is open", "yes", "yes")]
    store.sessions.append_many("s", messages)
    (hit,) = store.search_conversations("yes", limit=1)
    assert hit.span == (1, 4)


def test_neighbours_speaker_and_date_help_to_find_a_message(store: Retentive) -> None:
    """They count, and less than the words themselves."""
    for speaker, text in (
        ("Anna", "Tell me where the wedding is."),
        ("Bo", "In Lisbon"),
        ("Anna", "Lovely, in spring then."),
    ):
        store.sessions.append("s", "user", text, speaker=speaker, time="2023-05-08")
    store.sessions.append("t", "user", "The taxes are due", speaker="Cleo", time="2024-10-10")
    assert found(store, "wedding") == ["s#1", "s#2"]
    assert found(store, "spring") == ["s#3", "s#2"]
    assert {*found(store, "Anna")} == {"s#1", "s#3"}
    assert found(store, "Thursday in October 2024") == ["t#1"]


def test_what_is_searched_can_be_chosen(store: Retentive) -> None:
    memory = store.add("The heron nests by the lake").id
    event = store.sessions.append("s", "user", "A heron flew by").id
    note = store.notes.put("Feed the heron").id
    assert {hit.id for hit in store.search("heron")} == {memory, event, note}
    assert {hit.id for hit in store.search("heron", include=("memories",))} == {memory, note}
    assert {hit.id for hit in store.search("heron", include=["events", "files"])} == {event}
    assert {hit.id for hit in store.search_conversations("heron")} == {event}
    assert {hit.id for hit in store.search("heron", kind="note")} == {note}
    assert {hit.id for hit in store.search("heron", source="conversation")} == {event}
    with pytest.raises(Invalid, match="cannot include 'notes'"):
        store.search("heron", include="notes")


def test_a_session_narrows_what_was_said_and_widens_what_is_known(store: Retentive) -> None:
    everywhere = store.add("A global heron").id
    local = store.add("A heron of this session", session="s").id
    mine = store.sessions.append("s", "user", "My heron").id
    other = store.sessions.append("t", "user", "Your heron").id
    assert {hit.id for hit in store.search("heron")} == {everywhere, mine, other}
    assert {hit.id for hit in store.search("heron", session="s")} == {everywhere, local, mine}


def test_namespaces_do_not_hear_each_other(open_store: Open) -> None:
    one, two = open_store(namespace="one"), open_store(namespace="two")
    one.sessions.append("s", "user", "A secret heron")
    two.sessions.append("s", "user", "A public heron")
    assert [hit.content for hit in one.search("heron")] == ["A secret heron"]
    assert said(two, "s") == ["A public heron"]
    two.sessions.delete("s")
    assert said(one, "s") == ["A secret heron"]


def test_without_an_embedder_messages_wait_for_their_vectors(open_store: Open) -> None:
    store = open_store(embedder="none")
    done = store.sessions.append_many("s", [{"role": "user", "content": "The heron nests"}] * 2)
    assert done.pending == 1
    assert found(store, "heron") == ["s#1"]
    store.close()
    store = open_store()
    assert store.backfill().done == 1
    (hit,) = store.search("The heron nests", mode="vector")
    assert hit.why.vector is not None
    assert hit.why.vector.score > 0.99


def test_words_that_no_index_knows_are_found_as_they_stand(open_store: Open) -> None:
    store = open_store(embedder="none")
    store.sessions.append("s", "user", "See https://example.org/a%20b_c")
    assert [hit.id for hit in store.search("0b_")] == ["s#1"]
    assert [hit.id for hit in store.search("0bx")] == []


MARK = "zyxquokka"


def crowded(store: Retentive) -> str:
    """A session with everything a session can have, and beside it what must stay; the id of what was learned."""
    store.sessions.append_many("gone", [{"role": "user", "content": f"{MARK} {n} " + "talk " * 200} for n in range(20)])
    store.sessions.append("gone", "assistant", None, payload={"tool_calls": [{"name": MARK, "input": {"x": MARK}}]})
    store.sessions.put("gone", agent=MARK, tags=[MARK], metadata={MARK: MARK})
    store.sessions.set_summary("gone", f"About {MARK}", upto=3, epoch=0)
    store.notes.put(f"A note on {MARK}", note_id="note", session="gone")
    local = store.add(f"A memory of {MARK}", session="gone", slot="a.b")
    store.update(local.id, content=f"Another memory of {MARK}")
    store.search(MARK, session="gone")
    store.sessions.append("stays", "user", "The heron stays")
    return store.add("The user likes herons", origin={"session": "gone", "events": [1], "url": "x"}).id


def test_a_deleted_session_leaves_nothing_behind(store: Retentive, db: Path) -> None:
    """No row, posting or vector: looked for in every column of every table, in the bytes of the file, by searching."""
    learned = crowded(store)
    assert store.sessions.delete("gone", dry_run=True).events == 21
    deleted = store.sessions.delete("gone")
    assert (deleted.events, deleted.memories, deleted.kept) == (21, 2, 1)
    store.close()
    connection = apsw.Connection(str(db))
    for (table,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
        for row in connection.execute(f"SELECT * FROM {table}"):
            values = [value if isinstance(value, bytes) else str(value).encode() for value in row]
            assert not [value for value in values if MARK.encode() in value or value == b"gone"], (table, row)
    assert MARK.encode() not in db.read_bytes()
    left = [("chunks", 2), ("vectors", 2), ("chunks_fts_docsize", 2), ("events", 1), ("sessions", 1), ("memories", 1)]
    for table, count in left:
        assert connection.execute(f"SELECT count(*) FROM {table}").fetchall() == [(count,)], table
    with Retentive.open(db, embedder="hashing") as again:
        assert not [hit for hit in again.search(MARK, session="gone", limit=1000) if MARK in hit.content]
        assert again.search(MARK, mode="text").hits == ()
        assert again.get(learned).origin == {"session": "deleted session", "url": "x"}
        assert all(finding.ok for finding in again.doctor())


def test_another_process_no_longer_finds_a_deleted_session(open_store: Open) -> None:
    one, two = open_store(), open_store()
    crowded(one)
    assert two.search(MARK, session="gone")
    one.sessions.delete("gone")
    assert not [hit for hit in two.search(MARK, session="gone", limit=1000) if MARK in hit.content]
    two.sessions.append("gone", "user", "A new beginning")
    assert said(one, "gone") == ["A new beginning"]


@pytest.mark.parametrize("verb", ["get", "events", "delete", "summary", "summarise"])
def test_a_session_that_is_not_there_is_not_found(store: Retentive, verb: str) -> None:
    with pytest.raises(NotFound, match="no session 'nobody'"):
        getattr(store.sessions, verb)("nobody")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("", "user", "x"), "session must have 1 to 200"),
        (("s", "usr", "x"), "unknown role 'usr'"),
        (("s", "user", ""), "needs a text or a payload"),
        (("s", "user", None), "needs a text or a payload"),
        (("s", "user", 7), "content must be text"),
        (("s", "user", "a\0b"), "NUL"),
        (("s", "user", "\ud800"), "not valid Unicode"),
        (("s", "user", "x", ""), "speaker must have 1 to 200"),
        (("s", "user", "x", None, "yesterday-ish"), "cannot read 'yesterday-ish'"),
        (("s", "user", "x", None, None, 0), "sequence is 0"),
        (("s", "user", "x", None, None, True), "sequence is True"),
        (("s", "user", "x", None, None, 2**60), "sequence is"),
        (("s", "user", "x", None, None, None, {1: 2}), "plain JSON"),
        (("s", "user", "x", None, None, None, float("nan")), "JSON"),
        (("s", "user", "x" * 10_000_001), "up to 10,000,000"),
        (("s", "user", ["text"], None, None, None, "text"), "must be an object"),
    ],
)
def test_a_bad_message_is_refused_and_changes_nothing(store: Retentive, arguments: Any, message: str) -> None:
    with pytest.raises(Invalid, match=message):
        store.sessions.append(*arguments)
    assert store.sessions.list() == []


def test_content_blocks_are_read_and_kept(store: Retentive) -> None:
    blocks = [
        {"type": "text", "text": "Let me look"},
        {"type": "tool_use", "id": "t", "name": "lookup", "input": {"place": "Lisbon"}},
    ]
    event = store.sessions.append("s", "assistant", blocks)
    assert (event.content, event.payload) == ("Let me look", {"content": blocks})
    answer = [{"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "sunny"}]}]
    store.sessions.append("s", "user", answer)
    assert found(store, "Lisbon")[0] == "s#1"
    assert found(store, "sunny")[0] == "s#2"


@settings(max_examples=60, deadline=None)
@given(st.text(min_size=1, max_size=3000), st.sampled_from([None, CALL]))
def test_chunks_rejoin_to_what_can_be_read(text: str, payload: Any) -> None:
    """Each begins at most 96 characters before the end of the one before; together they are the whole text."""
    whole = extract_text(text, payload)
    ends = {0}
    for hash, part in chunk_message(Message(Role.USER, text, None, None, None, payload)):
        assert len(part) <= 640
        assert hash == hash_content(part)
        begins = {start for end in ends for start in range(max(0, end - 96), end + 1) if whole.startswith(part, start)}
        ends = {start + len(part) for start in begins}
    assert len(whole) in ends
    assert unicodedata.normalize("NFC", text.replace("\0", " ").strip()) in whole


def test_a_damaged_index_of_a_session_is_seen_and_mended(store: Retentive, db: Path, open_store: Open) -> None:
    store.sessions.append_many("s", [{"role": "user", "content": f"The heron number {n}"} for n in range(5)])
    store.close()
    connection = apsw.Connection(str(db))
    connection.execute("DELETE FROM chunks WHERE owner = 's#3'")
    connection.close()
    store = open_store()
    assert "conversations" in {finding.name for finding in store.doctor() if not finding.ok}
    store.repair()
    assert [finding for finding in store.doctor() if not finding.ok] == []
    assert {*found(store, "heron")} == {f"s#{n}" for n in range(1, 6)}
    assert found(store, "number 2")[0] == "s#3"


def test_equal_ids_in_two_namespaces_are_two_hits(open_store: Open) -> None:
    one, two = open_store(namespace="work/a"), open_store(namespace="work/b")
    for store, word in ((one, "grey"), (two, "white")):
        store.sessions.append("monday", "user", f"A {word} heron")
        store.notes.put(f"The {word} heron again", note_id="note")
    for mode in ("text", "vector"):
        found = one.search("heron", namespaces=["work/*"], mode=mode)
        assert {(hit.item.namespace, hit.id, "grey" in hit.content) for hit in found} == {
            (name, id, name == "work/a") for name in ("work/a", "work/b") for id in ("monday#1", "note")
        }


def test_a_session_described_first_is_as_recent_as_its_messages(store: Retentive) -> None:
    store.sessions.put("letters", agent="clerk")
    event = store.sessions.append("letters", "user", "Dear sir", time="1999-01-01")
    assert store.sessions.get("letters").active == event.time


def test_what_two_say_about_a_session_at_once_is_both_kept(open_store: Open) -> None:
    one, two = open_store(), open_store()
    one.sessions.append("s", "user", "The heron")

    def say(store: Retentive, **about: Any) -> None:
        for _ in range(20):
            store.sessions.put("s", **about)

    with ThreadPoolExecutor(2) as pool:
        done = [pool.submit(say, one, agent="coder"), pool.submit(say, two, tags=["work"])]
    assert [each.result() for each in done] == [None, None]
    session = one.sessions.get("s")
    assert (session.agent, session.tags) == ("coder", ("work",))
    assert found(one, "heron", tags=["work"]) == ["s#1"]


@pytest.mark.parametrize(
    ("message", "word"),
    [
        ({"type": "function_call", "call_id": "c", "name": "get_weather", "arguments": '{"city": "Lisbon"}'}, "Lisbon"),
        ({"tool_calls": [{"id": "c", "type": "custom", "custom": {"name": "run", "input": "ls Lisbon"}}]}, "Lisbon"),
        ({"content": None, "refusal": "I cannot help with Lisbon"}, "Lisbon"),
        ({"content": ({"type": "text", "text": "Lisbon it is"},)}, "Lisbon"),
        ({"content": "Lisbon", "name": ""}, "Lisbon"),
        ({"content": "", "attachments": [{"file_name": "a.txt", "extracted_content": "On Lisbon"}]}, "Lisbon"),
    ],
)
def test_messages_of_chat_interfaces_are_understood(store: Retentive, message: dict[str, Any], word: str) -> None:
    store.sessions.append_many("s", [{"role": "assistant", **message}])
    assert found(store, word) == ["s#1"]
    assert store.sessions.events("s")[0].speaker is None


def test_a_message_with_misspelt_keys_is_refused(store: Retentive) -> None:
    with pytest.raises(Invalid, match="message 1: a message without content, but with text"):
        store.sessions.append_many("s", [{"role": "user", "text": "hello"}])


def test_a_list_that_would_collide_later_keeps_nothing(store: Retentive) -> None:
    store.sessions.append("s", "user", "before", sequence=1000)
    late: list[dict[str, Any]] = [{"role": "user", "content": str(n)} for n in range(150)]
    late.append({"role": "user", "content": "x", "sequence": 500})
    with pytest.raises(Conflict, match="message 151: its sequence 500 is not above the last, 1150"):
        store.sessions.append_many("s", late)
    assert store.sessions.get("s").events == 1


def test_words_in_the_tail_of_a_long_message_are_found_as_they_stand(open_store: Open) -> None:
    store = open_store(embedder="none")
    store.sessions.append("s", "user", "word " * 300)
    store.sessions.append("s", "user", "word " * 300 + "abcwxyzdef")
    (hit,) = store.search("cwxyzd")
    assert hit.id == "s#2"
    assert "wxyz" in hit.excerpt


def test_origins_and_histories_of_a_deleted_session_go_too(store: Retentive) -> None:
    store.sessions.append("gone", "user", "hello")
    learned = store.add("From an event", origin={"event": "gone#1", "url": "x"}).id
    other = store.add("Of another session", origin={"session": "gone"}, session="t").id
    like = store.add("Of one that is called much the same", origin={"event": "gone-fishing#1"}).id
    note = store.notes.put("secret words", note_id="n", session="gone").id
    store.notes.put("open words", note_id="n")
    assert store.sessions.delete("gone").kept == 2
    assert store.get(learned).origin == {"session": "deleted session", "url": "x"}
    assert store.get(other).origin == {"session": "deleted session"}
    assert store.get(like).origin == {"event": "gone-fishing#1"}
    assert [change.action for change in store.history(note)] == ["created"]


def test_a_session_is_deleted_whatever_memories_say(store: Retentive) -> None:
    """Zero characters, and words about them, are nothing that a database may stumble over."""
    store.sessions.append("gone", "user", "hello")
    odd = store.add("JSON writes it as \\u0000", origin={"session": "gone", "path": "C:\\u0000\\", "key": "a\0b"}).id
    store.forget(odd)
    assert store.sessions.delete("gone").kept == 1
    assert (store.get(odd).origin or {})["path"] == "C:\\u0000\\"


def test_a_session_is_one_of_the_askers_own_namespace(open_store: Open) -> None:
    mine, theirs = open_store(namespace="me"), open_store(namespace="team")
    theirs.add("Their local heron", session="main")
    theirs.sessions.append("main", "user", "Their heron talk")
    own = mine.add("My local heron", session="main").id
    for mode in ("text", "vector"):
        found_ = mine.search("heron", session="main", namespaces=["team"], mode=mode)
        assert [hit.id for hit in found_] == [own]


def test_a_message_that_full_text_lost_is_seen_and_mended(store: Retentive, db: Path, open_store: Open) -> None:
    store.sessions.append_many("s", [{"role": "user", "content": f"The heron number {n}"} for n in range(5)])
    store.close()
    connection = apsw.Connection(str(db))
    connection.execute("DELETE FROM chunks_fts WHERE rowid = 3")
    connection.close()
    store = open_store()
    store.repair()
    assert [finding for finding in store.doctor() if not finding.ok] == []
    assert {*found(store, "heron")} == {f"s#{n}" for n in range(1, 6)}


def test_a_message_is_found_by_its_own_tags_and_those_of_its_session(store: Retentive) -> None:
    store.sessions.put("trip", tags=["travel"])
    ferry = store.sessions.append("trip", "user", "The ferry leaves at nine", tags=["sea", "plan"])
    store.sessions.append("trip", "user", "The ferry is white")
    assert ferry.tags == ("sea", "plan")
    assert store.sessions.events("trip")[0].tags == ("sea", "plan")
    assert [hit.id for hit in store.search("ferry", tags=["sea"])] == [ferry.id]
    assert [hit.id for hit in store.search("ferry", tags=["sea", "travel"])] == [ferry.id]
    assert len(store.search("ferry", tags=["travel"])) == 2
    assert not store.search("ferry", tags=["land"])
    assert store.search("ferry", tags=["sea"])[0].event.tags == ("sea", "plan")


def test_tags_of_messages_survive_other_tags_of_their_session(store: Retentive) -> None:
    store.sessions.append("trip", "user", "The ferry leaves at nine", tags=["sea"])
    store.sessions.append("trip", "user", "The train leaves at ten")
    store.sessions.put("trip", tags=["travel"])
    assert [hit.id for hit in store.search("leaves", tags=["sea", "travel"])] == ["trip#1"]
    store.sessions.put("trip", tags=[])
    assert [hit.id for hit in store.search("leaves", tags=["sea"])] == ["trip#1"]
    assert not store.search("leaves", tags=["travel"])


def test_a_repeated_message_has_the_tags_of_both(store: Retentive) -> None:
    store.sessions.append("trip", "user", "The ferry leaves at nine", tags=["sea"])
    store.sessions.append("trip", "user", "The ferry leaves at nine", tags=["plan"])
    store.sessions.append_many(
        "bus", [{"role": "user", "content": "The bus is late", "tags": [tag]} for tag in ("land", "road")]
    )
    for words, tags in (("ferry", ["sea", "plan"]), ("bus", ["land", "road"])):
        assert len(store.search(words, tags=tags)) == 1


def test_tags_of_messages_are_exported_and_come_back(store: Retentive, tmp_path: Path) -> None:
    store.sessions.append("trip", "user", "The ferry leaves at nine", tags=["sea"])
    store.export(tmp_path / "all.jsonl")
    store.import_memories(tmp_path / "all.jsonl", into="copy")
    copy = store.in_namespace("copy")
    assert copy.sessions.events("trip")[0].tags == ("sea",)
    assert [hit.id for hit in copy.search("ferry", tags=["sea"])] == ["trip#1"]
    old = (tmp_path / "all.jsonl").read_text("utf-8").replace(',"tags":["sea"]', "")
    (tmp_path / "old.jsonl").write_text(old, "utf-8")
    store.import_memories(tmp_path / "old.jsonl", into="older")
    assert store.in_namespace("older").sessions.events("trip")[0].tags == ()


def test_wrong_tags_of_a_message_are_refused(store: Retentive) -> None:
    with pytest.raises(Invalid, match="tag"):
        store.sessions.append("trip", "user", "The ferry leaves", tags=["a\nb"])
    with pytest.raises(Invalid, match="message 1"):
        store.sessions.append_many("trip", [{"role": "user", "content": "x", "tags": 3}])
