"""What happens to a session while it is being learned from."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from retentive import Retentive
from retentive.errors import Busy, NotFound
from retentive.judgement import Judgement
from retentive.judgement.extract.candidates import CandidateSentence
from retentive.learning import learn
from retentive.model import Event
from retentive.storage.tables import learning
from retentive.store import Lazy, OpenStore
from retentive.testing import parts_of

pytestmark = pytest.mark.engines

ANY = ["active", "superseded", "forgotten", "expired"]


def meanwhile(store: Retentive, happens: Callable[[], Any]) -> OpenStore:
    """The parts of a store, in which something happens once, after messages were read and before claims are kept."""
    rules, changed, todo = parts_of(store).rules(), Judgement(), [happens]

    def find_candidates(events: Sequence[Event]) -> list[CandidateSentence]:
        found = rules.find_candidates(events)
        if todo:
            todo.pop()()
        return found

    changed.find_candidates = find_candidates
    return replace(parts_of(store), rules=Lazy(lambda: changed))


def everything(store: Retentive) -> list[str]:
    return sorted(memory.content for memory in store.list(limit=100, status=ANY))


def test_nothing_is_learned_of_a_message_that_is_purged_meanwhile(store: Retentive) -> None:
    """Not even if it was read before: a language model may take a minute to answer."""
    store.sessions.append("s", "user", "I live in Porto.")
    store.sessions.append("s", "user", "I work at Stripe.")
    learn.learn(meanwhile(store, lambda: store.purge("s#1")), "s")
    assert everything(store) == ["The user works at Stripe."]


def test_a_summary_that_is_being_written_does_not_keep_what_is_purged_meanwhile(store: Retentive) -> None:
    """There is none yet that the purge could clear."""
    store.sessions.append("s", "user", "I live in Porto.")
    store.purge("s#1")
    assert store.sessions.summary("s").epoch == 1


def test_a_session_begun_anew_under_the_same_name_is_another(store: Retentive) -> None:
    """What was read in the one that was deleted is not kept, and all of the new one is read."""

    def anew() -> None:
        store.sessions.delete("s")
        store.sessions.append("s", "user", "I work at Stripe.")

    store.sessions.append_many("s", [{"role": "user", "content": text} for text in ("I live in Porto.", "Hi.", "Ho.")])
    learned = learn.learn(meanwhile(store, anew), "s")
    assert (learned.upto, everything(store)) == (1, ["The user works at Stripe."])


def test_a_session_that_is_deleted_meanwhile_keeps_no_other_from_being_learned(store: Retentive) -> None:
    for name in ("a", "b"):
        store.sessions.append(name, "user", f"I visited {name.upper()}nkara.", time="2026-01-01")
    with pytest.raises(NotFound):
        learn.learn(meanwhile(store, lambda: store.sessions.delete("a")), "a")
    store.sessions.append("a", "user", "I visited Ankara.", time="2026-01-01")
    parts = meanwhile(store, lambda: store.sessions.delete("a"))
    assert [each.session for each in learn.learn_due(parts, 0)] == ["b"]


def test_a_claim_that_can_never_be_kept_does_not_stop_what_comes_after(store: Retentive) -> None:
    store.sessions.append("s", "user", "I live in Porto.")
    parts = parts_of(store)
    state = learn._load_state(parts, "s")
    said = {"source": "explicit", "kind": "fact", "events": [1], "slot": None, "confidence": 0.9, "importance": 5}
    times = {"said": "2026-01-01T00:00:00+00:00", "valid_from": None, "expires": None}
    deeds = [("forget", "!!!"), ("keep", "The user lives in Porto.")]
    claims = json.dumps([{"verb": verb, "content": content, **said, **times} for verb, content in deeds])
    read = parts.tables.conversations.list_oldest("default", "s", 1, 0)
    parts.engine.apply([learning.begin_step("default", state, read, claims, 2)])
    (learned,) = store.learn("s")
    assert (len(learned.kept), learned.refused) == (1, ("no words to search for",))


def test_a_message_is_kept_though_what_it_asks_for_cannot_be_done_now(store: Retentive) -> None:
    """The caller would say it again. It is done when the session is learned from."""
    store.sessions.append("s", "user", "Hello.")
    store.sessions.append("s", "user", "Hello there.")
    rules = Judgement()
    rules.parse = _busy
    busy = replace(parts_of(store), rules=Lazy(lambda: rules))
    (event,) = store.sessions.events("s", limit=1)
    asking = replace(event, content="Remember that my desk is blue.")
    assert learn.handle_requests(busy, asking).requests == ()
    assert "others" in parts_of(store).journal.failures["requests"]


def _busy(_: str) -> Any:
    raise Busy("others kept changing it", "Retry in a moment.")
