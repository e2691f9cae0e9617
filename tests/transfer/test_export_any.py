"""Whatever is done to a store, its export restores it to the byte."""

import contextlib
import io
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retentive import Retentive
from retentive.errors import RetentiveError
from retentive.model import Kind, Source
from retentive.testing import parts_of
from retentive.transfer.restore_export.restore import restore
from tests.transfer.stores import exported

words = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=40)
known = st.sampled_from(["The dog is called Rex", "犬 🐕", "a\u2028b\nc"])
texts = words.filter(lambda text: bool(text.strip())) | known
names = st.sampled_from(["one", "two", "Größe", "三"])
times = st.sampled_from(["2019-05-04", "2023-01-01T10:00:00.000001Z", "2024-02-29"])
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(words, values, max_size=3)
options = st.fixed_dictionaries(
    {},
    optional={
        "kind": st.sampled_from([*map(str, Kind)]),
        "tags": st.lists(names, max_size=3),
        "importance": st.integers(1, 10),
        "confidence": st.floats(0, 1),
        "source": st.sampled_from([*map(str, Source)]),
        "context": texts,
        "session": names,
        "slot": st.sampled_from(["user.city", "car.colour"]),
        "expires": st.sampled_from(["2030-01-01", "90d"]),
        "valid_from": times,
        "metadata": objects,
        "origin": objects,
    },
)
Deed = Callable[[Retentive], Any]


def _nth(store: Retentive, number: int) -> str:
    found = store.list(100, status=["active", "superseded", "forgotten", "expired"], session="one")
    return found[number % len(found)].id if found else "none"


def _contact(store: Retentive, number: int) -> str:
    found = store.contacts.list()
    return found[number % len(found)].id if found else "none"


numbers = st.integers(0, 20)
deeds: st.SearchStrategy[Deed] = st.one_of(
    st.builds(lambda text, told: lambda store: store.add(text, **told), texts, options),
    st.builds(lambda text, told: lambda store: store.add(text, **told), texts, options),
    st.builds(lambda n, text: lambda store: store.update(_nth(store, n), content=text, reason=text), numbers, texts),
    st.builds(lambda n, tags: lambda store: store.update(_nth(store, n), tags=tags), numbers, st.lists(names)),
    st.builds(lambda n: lambda store: store.forget(_nth(store, n)), numbers),
    st.builds(lambda n: lambda store: store.restore(_nth(store, n)), numbers),
    st.builds(lambda n: lambda store: store.purge(_nth(store, n)), numbers),
    st.builds(lambda text, id: lambda store: store.notes.put(text, note_id=id), texts, names),
    st.builds(
        lambda name, text, told, when: lambda store: store.sessions.append(name, "user", text, payload=told, time=when),
        names, texts, values, times | st.none(),
    ),
    st.builds(lambda name, told, tags: lambda store: store.sessions.put(name, metadata=told, tags=tags), names, objects,
              st.lists(names)),
    st.builds(lambda name, text: lambda store: store.sessions.set_summary(name, text, upto=1, epoch=0), names, texts),
    st.builds(lambda name: lambda store: store.sessions.delete(name), names),
    st.builds(lambda: lambda store: store.learn()),
    st.builds(lambda text: lambda store: store.search(text), texts),
    st.builds(lambda name, notes: lambda store: store.contacts.create(name=name, notes=notes), names, texts),
    st.builds(lambda n, m: lambda s: s.contacts.merge(_contact(s, n), _contact(s, m)), numbers, numbers),
    st.builds(lambda n: lambda store: store.contacts.delete(_contact(store, n)), numbers),
    st.builds(lambda name, n: lambda s: s.projects.create(name=name, participants=[_contact(s, n)]), names,
              numbers),
    st.builds(lambda name: lambda store: store.skills.create(name=name), names),
    st.builds(lambda name, text: lambda store: store.skills.record(name, text), names, texts),
    st.builds(lambda: lambda store: store.profile.get()),
    st.builds(lambda text, n: lambda store: store.expectations.add(text, _nth(store, n)), texts, numbers),
)  # fmt: skip


def _begin(store: Retentive) -> None:
    """Something that deeds can be done to."""
    for text, slot in (("Living in Porto", "user.city"), ("The car is red", "car.colour"), ("Plain", None)):
        store.add(text, slot=slot)
    for name in ("one", "two"):
        store.contacts.create(name=f"{name} contact")
        store.skills.create(name=name)
        store.sessions.append(name, "user", "I work at Stripe.")


@given(st.lists(st.tuples(st.sampled_from(["default", "default", "other/place"]), deeds), max_size=40), st.booleans())
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
def test_an_export_restores_any_store_to_the_byte(done: list[tuple[str, Deed]], vectors: bool) -> None:
    with (
        Retentive.open(":memory:", embedder="hashing", secrets_in_memories="allow") as source,
        Retentive.open(":memory:", embedder="hashing") as target,
    ):
        _begin(source)
        for namespace, deed in done:
            with contextlib.suppress(RetentiveError):
                deed(source.in_namespace(namespace))
        before = exported(source, vectors=vectors)
        tally = restore(parts_of(target), io.BytesIO(before), dry_run=False, progress=None)
        assert tally.refusals == []
        assert exported(target, vectors=vectors) == before
        again = restore(parts_of(target), io.BytesIO(before), dry_run=False, progress=None)
        assert {outcome for counts in again.counts.values() for outcome in counts} <= {"same"}
        assert exported(target, vectors=vectors) == before
        assert [each.name for each in target.doctor() if not each.ok] == []
