"""Hits that say the same are one, and say how many there are."""

import pytest

from retentive import Retentive

pytestmark = pytest.mark.engines


def test_the_same_words_in_several_conversations_are_one_hit(store: Retentive) -> None:
    for session in ("monday", "tuesday", "friday"):
        store.sessions.append(session, "user", "The boat leaves at noon!", speaker="Ana")
    store.sessions.append("friday", "user", "the boat leaves at noon", speaker="Ben")
    store.sessions.append("friday", "user", "The boat leaves at nine.", speaker="Ana")
    hits = store.search("when does the boat leave?")
    found = {(hit.event.speaker, hit.content.rstrip("!.").lower(), hit.copies) for hit in hits}
    assert found == {
        ("Ana", "the boat leaves at noon", 2),
        ("Ben", "the boat leaves at noon", 0),
        ("Ana", "the boat leaves at nine", 0),
    }


def test_folded_hits_make_room_for_others(store: Retentive) -> None:
    for number in range(8):
        store.sessions.append(f"s{number}", "user", "The boat leaves at noon!", speaker="Ana")
    for colour in ("red", "blue"):
        store.add(f"The boat that leaves is {colour}")
    hits = store.search("which boat leaves at noon?", 3)
    assert len(hits) == 3
    assert sum(hit.copies for hit in hits) == 7


def test_two_namespaces_keep_their_own(store: Retentive) -> None:
    store.add("The boat leaves at noon")
    store.in_namespace("work").add("The boat leaves at noon")
    hits = store.search("boat", namespaces=["work"])
    assert {(hit.item.namespace, hit.copies) for hit in hits} == {("work", 0), (store.namespace, 0)}
