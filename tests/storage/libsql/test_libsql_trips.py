"""How often the network is crossed: on a server far away, that is how long a call takes."""

from collections.abc import Callable, Iterator

import pytest

from retentive import Retentive
from retentive.testing import parts_of
from tests.engines import Sqld
from tests.storage.libsql.proxy import Proxy


@pytest.fixture
def store(url: str, sqld: Sqld, proxy: Proxy) -> Iterator[Retentive]:
    with Retentive.open(url.replace(str(sqld.port), str(proxy.port)), embedder="hashing") as opened:
        opened.add_many([f"Heron number {number} nests by the river" for number in range(30)])
        for number in range(10):
            said = [f"Where does stork {number} nest?", f"On chimney {number}."]
            opened.sessions.append_many(f"s{number}", [{"role": "user", "content": text} for text in said])
        for _ in range(3):
            opened.context("herons nest")
        yield opened


@pytest.mark.parametrize(
    ("call", "trips"),
    [
        (
            lambda store: store.search("heron 7", include="memories"),
            5,
        ),  # the model of the store, the newest change, words, memories, newer ones
        (lambda store: store.search("heron 7"), 7),  # and messages, and what replaced their facts
        (
            lambda store: store.sessions.append("s1", "user", "Thank you."),
            6,
        ),  # model, state, last, known; write; summary due?
        # The model; twice the newest change and the words; memories, messages, what came after them, what is vital, the
        # profile, and what is newer than those; and twice whether a text has "stork", which is in no list of words.
        (lambda store: store.context("where does the stork nest"), 14),
    ],
)
def test_a_call_takes_few_round_trips(
    store: Retentive, proxy: Proxy, call: Callable[[Retentive], object], trips: int
) -> None:
    parts_of(store).journal.flush()
    before = proxy.trips
    call(store)
    assert proxy.trips - before <= trips


def test_a_fact_of_the_user_takes_three_more_round_trips_than_another(store: Retentive, proxy: Proxy) -> None:
    """The profile is read with its facts, the facts are read whole, and the profile is written."""

    def count_trips(slot: str, content: str) -> int:
        before = proxy.trips
        store.add(content, slot=slot)
        return proxy.trips - before

    store.add("Zebras graze", slot="user.animal")  # makes the profile
    assert count_trips("user.dog.name", "Rex barks") - count_trips("team.dog.name", "Otto purrs") <= 3
