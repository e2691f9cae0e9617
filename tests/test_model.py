"""The whole library against a dictionary."""

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from retentive import Retentive, clock
from retentive.errors import Conflict, NotFound
from retentive.model import from_micros
from retentive.testing import Clock
from tests.sizes import choose

WORDS = ("apple", "bridge", "cello", "desert", "engine", "forest")
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
slots = st.sampled_from([None, None, "one", "two"])
sessions = st.sampled_from([None, "s"])


class Model(RuleBasedStateMachine):
    """Rows as a plain dictionary: id -> what the store should say of it."""

    ids = Bundle("ids")

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.real_now, self.clock = clock.now, Clock()
        clock.now = self.clock
        self.rows: dict[str, dict[str, Any]] = {}
        self.said: dict[str, list[str]] = {}
        self.forgotten_texts: set[str] = set()
        self.store = self.opened()

    def opened(self) -> Retentive:
        return Retentive.open(Path(self.folder.name) / "memory.db", embedder="hashing")

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
            clock.now = self.real_now
            self.folder.cleanup()

    def visible(self) -> dict[str, dict[str, Any]]:
        """Active rows, with what has run out by now marked so."""
        for row in self.rows.values():
            if row["status"] == "active" and row["expires"] is not None and row["expires"] <= self.clock.micros:
                row["status"] = "expired"
        return {id: row for id, row in self.rows.items() if row["status"] == "active"}

    def twin(self, text: str, session: str | None, besides: str = "") -> str | None:
        """One that says the same; notes are not compared."""
        if "note" in self.rows.get(besides, {}):
            return None
        same = (id for id, r in self.visible().items() if (r["text"], r["session"]) == (text, session))
        return next((id for id in same if id != besides and "note" not in self.rows[id]), None)

    def holder(self, slot: str | None, session: str | None, besides: str = "") -> str | None:
        found = (id for id, r in self.visible().items() if slot and (r["slot"], r["session"]) == (slot, session))
        return next((id for id in found if id != besides), None)

    def until(self, hours: int) -> int:
        """To a second: the clock goes on by microseconds only when it is looked at."""
        return (self.clock.micros // 1_000_000 + hours * 3600) * 1_000_000

    @rule(target=ids, text=texts, slot=slots, session=sessions, hours=st.sampled_from([None, None, 1, 5]))
    def add(self, text: str, slot: str | None, session: str | None, hours: int | None) -> str:
        twin, holder = self.twin(text, session), self.holder(slot, session)
        expires = from_micros(self.until(hours)) if hours else None
        added = self.store.add(text, slot=slot, session=session, expires=expires)
        assert added.created is (twin is None)
        if holder and holder != added.id:
            assert added.superseded == (holder,)
            self.rows[holder] |= {"status": "superseded", "by": added.id}
        if twin:
            assert added.id == twin
            row = self.rows[twin]
            row["slot"] = slot or row["slot"]
            if row["expires"] is not None and (hours is None or self.until(hours) > row["expires"]):
                row["expires"] = None if hours is None else self.until(hours)
        else:
            row = {"text": text, "slot": slot, "session": session, "status": "active"}
            self.rows[added.id] = {**row, "expires": hours and self.until(hours)}
        return added.id

    @rule(session=st.sampled_from(["s", "t"]), said=st.lists(texts, min_size=1, max_size=3))
    def say(self, session: str, said: list[str]) -> None:
        before = self.said.setdefault(session, [])
        done = self.store.sessions.append_many(session, [{"role": "user", "content": text} for text in said])
        assert (done.first, done.last) == (len(before) + 1, len(before) + len(said))
        before += said

    @rule(session=st.sampled_from(["s", "t"]))
    def delete_session(self, session: str) -> None:
        gone = [id for id, row in self.rows.items() if row["session"] == session]
        if gone or session in self.said:
            deleted = self.store.sessions.delete(session)
            assert (deleted.events, deleted.memories) == (len(self.said.pop(session, [])), len(gone))
            for id in gone:
                del self.rows[id]
        else:
            self.refused(lambda: self.store.sessions.delete(session))

    @rule(target=ids, text=texts, id=st.sampled_from(["note 1", "note 2"]), session=sessions)
    def put_note(self, text: str, id: str, session: str | None) -> str:
        self.store.notes.put(text, note_id=id, session=session)
        row = {"text": text, "slot": None, "session": session, "status": "active", "expires": None, "note": True}
        self.rows[id] = row
        return id

    @rule(id=st.sampled_from(["note 1", "note 2"]))
    def delete_note(self, id: str) -> None:
        there = id in self.visible()
        assert self.store.notes.delete(id) is there
        if there:
            self.rows[id] |= {"status": "forgotten", "before": "active"}
            self.forgotten_texts.add(self.rows[id]["text"])

    @rule(id=ids, text=texts)
    def update(self, id: str, text: str) -> None:
        if id not in self.rows:
            return
        row = self.rows[id]
        doubles = self.twin(text, row["session"], besides=id)
        if id not in self.visible() or doubles:
            self.refused(lambda: self.store.update(id, content=text))
        else:
            assert self.store.update(id, content=text).content == text
            row["text"] = text

    @rule(id=ids)
    def forget(self, id: str) -> None:
        self.visible()
        if id not in self.rows:
            return
        row = self.rows[id]
        if row["status"] != "forgotten":
            row["before"] = row["status"]
        row["status"] = "forgotten"
        self.forgotten_texts.add(row["text"])
        assert self.store.forget(id).status == "forgotten"

    @rule(id=ids)
    def restore(self, id: str) -> None:
        if id not in self.rows:
            return
        row = self.rows[id]
        self.visible()
        if row["status"] == "active":
            assert self.store.restore(id).status == "active"
        elif row["status"] == "superseded":
            self.undo(id, row)
        elif row["status"] != "forgotten" or self.would_double(id, row):
            self.refused(lambda: self.store.restore(id))
        else:
            self.store.restore(id)
            row["status"] = row["before"]

    @rule(id=ids)
    def purge(self, id: str) -> None:
        if id in self.rows:
            assert self.store.purge(id).complete
            del self.rows[id]
        else:
            self.refused(lambda: self.store.purge(id))

    @rule(session=st.sampled_from(["s", "t"]), number=st.integers(1, 6))
    def purge_message(self, session: str, number: int) -> None:
        said = self.said.get(session, [])
        if number <= len(said) and said[number - 1] != "[purged]":
            assert self.store.purge(f"{session}#{number}").complete
            said[number - 1] = "[purged]"
        else:
            self.refused(lambda: self.store.purge(f"{session}#{number}"))

    def undo(self, id: str, row: dict[str, Any]) -> None:
        """What took its place is superseded in its turn: what it leads to, or what holds its slot."""
        last = row["by"]
        while self.rows.get(last, {}).get("by"):
            last = self.rows[last]["by"]
        closed = {last, self.holder(row["slot"], row["session"])} & self.visible().keys()
        twin = self.twin(row["text"], row["session"], id)
        ran_out = row["expires"] is not None and row["expires"] <= self.clock.micros
        if ran_out or (twin and twin not in closed):
            self.refused(lambda: self.store.restore(id))
            return
        assert self.store.restore(id).superseded_by is None
        row |= {"status": "active", "by": None}
        for other in closed:
            self.rows[other] |= {"status": "superseded", "by": id}

    def would_double(self, id: str, row: dict[str, Any]) -> bool:
        returns = row["before"] == "active"
        return returns and bool(
            self.twin(row["text"], row["session"], id) or self.holder(row["slot"], row["session"], id)
        )

    def refused(self, action: Any) -> None:
        try:
            action()
        except (Conflict, NotFound):
            return
        raise AssertionError("it was not refused")

    @rule(hours=st.integers(1, 4))
    def wait(self, hours: int) -> None:
        self.clock.forward(hours * 3600)

    @rule()
    def reopen(self) -> None:
        assert [finding for finding in self.store.doctor() if not finding.ok] == []
        self.store.close()
        self.store = self.opened()

    @rule()
    def upkeep(self) -> None:
        self.store.upkeep()

    @rule(word=st.sampled_from(WORDS), session=sessions)
    def search(self, word: str, session: str | None) -> None:
        rows = {id: r for id, r in self.visible().items() if r["session"] in (None, session)}
        having = {id for id, row in rows.items() if word in row["text"].split()}
        ask = partial(self.store.search, word, limit=100, session=session, fold_copies=False)
        assert {hit.id for hit in ask(mode="text", include="memories")} == having
        assert {hit.id for hit in ask(mode="vector", include="memories")} == set(rows)
        said = {(name, text) for name, texts in self.said.items() if session in (None, name) for text in texts}
        # Forgetting hides the messages that say the same, in whatever order.
        gone = {word for text in self.forgotten_texts for word in text.split()}
        seen = {(name, text) for name, text in said if gone.isdisjoint(text.split())}
        assert seen <= {(h.event.session, h.content) for h in ask(mode="vector", include="events")} <= said
        found = ask(mode="text", include="events")
        assert {(h.event.session, h.content) for h in found} >= {each for each in seen if word in each[1].split()}
        for hit in found:
            first, last = hit.span or (0, 0)
            assert self.said[hit.event.session][first - 1] == self.said[hit.event.session][last - 1] == hit.content

    @invariant()
    def reads_back_what_was_said(self) -> None:
        if hasattr(self, "store"):
            for session, texts in self.said.items():
                assert [event.content for event in self.store.sessions.events(session, limit=1000)] == texts

    @invariant()
    def lists_the_active(self) -> None:
        if hasattr(self, "store"):
            listed = {m.id: (m.content, m.slot) for m in self.store.list(limit=200, session="s")}
            assert listed == {id: (row["text"], row["slot"]) for id, row in self.visible().items()}


Model.TestCase.settings = settings(max_examples=choose(20, 200), stateful_step_count=40, deadline=None)
test_the_library_behaves_like_a_dictionary = Model.TestCase
