"""Sessions and their messages, held against those that are here.

A session that is new is written with its messages. One that is here gets those messages that it lacks, unless the two
say different things under one number: then they are two conversations of one name, and the one here stays. Of summary
and learning what is further stays. A session whose messages come in several commits is marked as under way meanwhile:
nothing is learned from it, and an import that was stopped is gone on with.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from retentive.conversations.chunks import heard, sliced, slices
from retentive.conversations.imported import find_imported, mark_imported
from retentive.errors import Invalid
from retentive.learning import apply_claims
from retentive.model import Event, ImportTrust, Role, from_micros
from retentive.storage import Step, step
from retentive.storage.tables.conversations import event_values
from retentive.store import validate
from retentive.store.views import can_write
from retentive.text.purged_message import PURGED, blanked
from retentive.transfer.export_format import EARLIEST, EVENT, SESSION, Row
from retentive.transfer.export_reader import Entry
from retentive.transfer.restore_export import vectors
from retentive.transfer.restore_export.run import Decided, Desk, Outcome

UNDER_WAY = "import"  # in place of claims, of which none is left
ANOTHER = "another conversation of this name is here, and stays"
ORPHAN = "its session is not here, and has no line before it"
UNREADABLE = "its claims cannot be read"
TWICE = "another message of this number came before it"
STATE = ("last_sequence", "events", "active", "summary", "summary_upto", "epoch", "learned_upto", "claims")
ABOUT = ("agent", "tags", "metadata")
SAID = ("role", "speaker", "content", "payload", "time")
PAGE = 1000  # purges read at a time
MOST = 1_000_000  # messages here between the first and the last of a batch


@dataclass(frozen=True, slots=True)
class Talk:
    """The session that the last lines were of: its messages may come in several batches."""

    namespace: str = ""
    name: str = ""
    given: Row | None = None
    """Its own line."""
    is_new: bool = False
    is_other: bool = False
    """Whether the one here is another conversation."""
    is_open: bool = False
    """Whether more of its messages are to come."""


@dataclass(slots=True)
class Group:
    """Consecutive lines of one session."""

    namespace: str
    name: str
    own: Entry | None = None
    events: list[Entry] = field(default_factory=list)
    may_go_on: bool = False


def take_in(desk: Desk, talk: Talk, namespace: str, entries: Sequence[Entry]) -> Talk:
    """The session that may go on with the next lines."""
    entries = [entry for entry in entries if _is_readable(desk, entry)]
    groups = _groups(namespace, entries) if entries else []
    if groups and talk.is_open and (talk.namespace, talk.name) != (namespace, groups[0].name):
        talk = finish(desk, talk)
    while groups:
        done, talk = _some(desk, talk, groups)
        groups = groups[done:]
    desk.store.people.heard(namespace, {each.row["speaker"] for each in entries if each.type == "event"})
    return talk


def _is_readable(desk: Desk, entry: Entry) -> bool:
    """Whether what is still to be kept of a session can be, once its turn comes."""
    try:
        for claim in json.loads(entry.row.get("claims") or "[]"):
            apply_claims.read(claim)
    except (Invalid, KeyError, TypeError, ValueError):
        desk.tally.refuse(entry.number, UNREADABLE)
        return False
    return True


def finish(desk: Desk, talk: Talk) -> Talk:
    """Of which no more is to come, though more was told of."""
    if talk.is_open:
        _some(desk, talk, [Group(talk.namespace, talk.name)])
    return Talk()


def _some(desk: Desk, talk: Talk, groups: Sequence[Group]) -> tuple[int, Talk]:
    """As many as are of different sessions."""
    names = [group.name for group in groups]
    distinct = next((at for at, name in enumerate(names) if name in names[:at]), len(names))
    after = talk

    def decide(_: int) -> Decided:
        nonlocal after
        after, decided = talk, Decided()
        here = _here(desk, groups[0].namespace, names[:distinct])
        for group in groups[:distinct]:
            after = _entered(after, group, here.get(group.name))
            after = _decide(desk, after, decided, group, here.get(group.name))
        return decided

    desk.apply(groups[0].namespace, decide)
    return distinct, after


def _groups(namespace: str, entries: Sequence[Entry]) -> list[Group]:
    found: list[Group] = []
    for entry in entries:
        is_own = entry.type == "session"
        name = entry.row["id" if is_own else "session"]
        if is_own or not found or found[-1].name != name:
            found.append(Group(namespace, name, entry if is_own else None))
        if not is_own:
            found[-1].events.append(entry)
    found[-1].may_go_on = True
    return found


def _here(desk: Desk, namespace: str, names: Sequence[str]) -> dict[str, Row]:
    rows = desk.store.engine.read("export_session_some", {"namespace": namespace, "ids": [*names]})
    return {row[1]: dict(zip([*SESSION.shapes, "claims_left"], row, strict=True)) for row in rows}


def _entered(talk: Talk, group: Group, here: Row | None) -> Talk:
    if group.own:
        return Talk(group.namespace, group.name, group.own.row, is_new=here is None)
    return talk if talk.name == group.name else Talk(group.namespace, group.name)


def _decide(desk: Desk, talk: Talk, decided: Decided, group: Group, here: Row | None) -> Talk:
    if here is None and not talk.is_new:
        for entry in group.events:
            decided.refuse(entry, ORPHAN)
        return talk
    group = _once(decided, group)
    known = _known(desk, group) if here else {}
    is_other = talk.is_other or (here is not None and _is_the_users(desk, here))
    if is_other or not all(_says_the_same(known[key], entry) for key, entry in _keyed(group) if key in known):
        _leave_out(decided, group)
        return replace(talk, is_other=True, is_open=False)
    fresh = sorted(((key, entry) for key, entry in _keyed(group) if key not in known), key=lambda each: each[0])
    gone = _purged(desk, group)
    new = [_blank(entry) if entry.row["time"] <= gone.get(key, EARLIEST) else entry for key, entry in fresh]
    more = group.may_go_on and talk.given is not None and _last(here, group.events) < talk.given["last_sequence"]
    wanted = _wanted(talk.given, here, new, more=more)
    if talk.given and not more and (here is None or _is_under_way(here)):
        wanted = _without(wanted, gone, talk.given["created"])
    if group.own:
        decided.settle(group.own, *_outcome(group.own.row, here, wanted))
    for key, entry in _keyed(group):
        absent = Outcome.PURGED if entry.row["time"] <= gone.get(key, EARLIEST) else Outcome.CREATED
        decided.settle(entry, Outcome.SAME if key in known else absent)
    if not desk.dry_run:
        decided.steps += _steps(desk, talk, here, wanted, new)
    return replace(talk, is_open=more)


def _once(decided: Decided, group: Group) -> Group:
    """Without what says the same once more, or something else under the same number."""
    first: dict[int, Entry] = {}
    for entry in group.events:
        before = first.setdefault(entry.row["sequence"], entry)
        if before is entry:
            continue
        if _says_the_same(EVENT.again(before.row), entry):
            decided.settle(entry, Outcome.SAME)
        else:
            decided.refuse(entry, TWICE)
    return replace(group, events=[*first.values()])


def _keyed(group: Group) -> list[tuple[int, Entry]]:
    return [(entry.row["sequence"], entry) for entry in group.events]


def _known(desk: Desk, group: Group) -> dict[int, Row]:
    """The messages here of the same numbers."""
    if not group.events:
        return {}
    numbers = [entry.row["sequence"] for entry in group.events]
    asked = {"namespace": group.namespace, "session": group.name, "k1": min(numbers) - 1, "upto": max(numbers)}
    rows = desk.store.engine.read("export_events", {**asked, "limit": MOST})
    wanted = {*numbers}
    return {row[2]: EVENT.encode(row) for row in rows if row[2] in wanted}


def _says_the_same(here: Row, entry: Entry) -> bool:
    """But for what was purged in either."""
    there = EVENT.again(entry.row)
    return PURGED in (here["content"], there["content"]) or all(here[name] == there[name] for name in SAID)


def _purged(desk: Desk, group: Group) -> dict[int, int]:
    """Messages of this name that were purged here, and when; the session may have been deleted since."""
    prefix = f"{group.name}#"
    found: dict[int, int] = {}
    after = {"k1": prefix, "k2": -1}
    while page := desk.store.engine.read("export_purges", {"namespace": group.namespace, **after, "limit": PAGE}):
        own = [(id.removeprefix(prefix), at) for _, id, at, *_ in page if id.startswith(prefix)]
        found |= {int(number): at for number, at in own if number.isdecimal()}
        if len(own) < PAGE:
            break
        after = {"k1": page[-1][1], "k2": page[-1][2]}
    return found


def _blank(entry: Entry) -> Entry:
    left = blanked(EVENT.again(entry.row)["payload"])
    payload = EVENT.shapes["payload"].back(left)
    return entry._replace(row={**entry.row, "content": PURGED, "payload": payload, "vectors": []})


def _without(wanted: Row, gone: Mapping[int, int], created: int) -> Row:
    """A state that says nothing of messages that were purged here."""
    if not any(number <= wanted["summary_upto"] or wanted["claims"] for number, at in gone.items() if created <= at):
        return wanted
    return {**wanted, "summary": "", "summary_upto": 0, "claims": ""}


def _leave_out(decided: Decided, group: Group) -> None:
    for entry in (*([group.own] if group.own else []), *group.events):
        decided.settle(entry, Outcome.KEPT, f"session {group.name}: {ANOTHER}")


def _last(here: Row | None, events: Sequence[Entry]) -> int:
    numbers = [entry.row["sequence"] for entry in events]
    last: int = max([*numbers, here["last_sequence"] if here else 0])
    return last


def _wanted(given: Row | None, here: Row | None, new: Sequence[Entry], *, more: bool) -> Row:
    """The state that the session is to have after these lines."""
    grown = _grown(here or {**(given or {}), "events": 0, "last_sequence": 0}, new)
    is_ours = here is None or _is_under_way(here)
    if given is None or (more and not is_ours):
        return grown
    if more:
        none = {"summary": "", "summary_upto": 0, "epoch": 0}
        return {**grown, **none, "learned_upto": grown["last_sequence"], "claims": UNDER_WAY}
    if is_ours:
        last = max(grown["last_sequence"], given["last_sequence"])
        return {name: given[name] for name in STATE} | {"events": grown["events"], "last_sequence": last}
    return _further(grown, given, here or {})


def _is_under_way(here: Row) -> bool:
    return bool(here["claims"] == UNDER_WAY and not here["claims_left"])


def _grown(state: Row, new: Sequence[Entry]) -> Row:
    times = [entry.row["time"] for entry in new]
    if state["events"] or not times:
        times.append(state["active"])
    counts = {"last_sequence": _last(state, new), "events": state["events"] + len(new), "active": max(times)}
    return {name: state[name] for name in STATE} | counts


def _further(grown: Row, given: Row, here: Row) -> Row:
    made = dict(grown)
    if (given["epoch"], given["summary_upto"]) > (here["epoch"], here["summary_upto"]):
        made |= {name: given[name] for name in ("summary", "summary_upto", "epoch")}
    if given["learned_upto"] > here["learned_upto"] and not here["claims_left"]:
        made |= {name: given[name] for name in ("learned_upto", "claims")}
    return made | {"last_sequence": max(grown["last_sequence"], given["last_sequence"])}


def _outcome(row: Row, here: Row | None, wanted: Row) -> tuple[Outcome, str]:
    if here is None:
        return Outcome.CREATED, ""
    if _is_under_way(here):
        return Outcome.SAME, ""
    mine, its = SESSION.again(here), SESSION.again(row)
    if differ := [name for name in ABOUT if mine[name] != its[name]]:
        return Outcome.KEPT, f"what is said of it here stays: {', '.join(differ)}"
    return (Outcome.SAME if _is_as_it_was(here, wanted) else Outcome.EXTENDED), ""


def _is_as_it_was(here: Row, wanted: Row) -> bool:
    return all(wanted[name] == here[name] for name in STATE)


def _steps(desk: Desk, talk: Talk, here: Row | None, wanted: Row, new: Sequence[Entry]) -> Iterator[Step]:
    key = {"namespace": talk.namespace, "session": talk.name}
    if here is None:
        yield Step("put_sessions", [_with_mark(desk, _with_person(desk, talk.given or {}))])
        yield Step("put_session_state", [{**key, **wanted, "claims_left": _left(wanted["claims"])}])
    elif not _is_as_it_was(here, wanted):
        left = here["claims_left"] if wanted["claims"] == here["claims"] else _left(wanted["claims"])
        guard = {f"old_{name}": here[name] for name in ("last_sequence", "epoch", "learned_upto", "claims_left")}
        yield step("state_restore", expect=1, **key, **wanted, **guard, claims_left=left)
    if new:
        yield from _event_steps(desk, [entry.row for entry in new], was_here=here is not None)


def _with_person(desk: Desk, row: Row) -> Row:
    """A session, without a person whose namespace this view may not write: others would write there for it."""
    person = row.get("person")
    return {**row, "person": None} if person and not can_write(desk.store, person) else row


def _with_mark(desk: Desk, row: Row) -> Row:
    """A session of a stranger's export, marked so: what is learned from it counts as an import."""
    if desk.trust is not ImportTrust.IMPORT:
        return row
    marked = mark_imported(SESSION.again(row)["metadata"], validate.LAST)
    return {**row, "metadata": SESSION.shapes["metadata"].back(marked)}


def _is_the_users(desk: Desk, here: Row) -> bool:
    """Whether a session here must not be gone on with by a stranger's export."""
    return desk.trust is ImportTrust.IMPORT and not find_imported(SESSION.again(here)["metadata"])


def _left(claims: str) -> int:
    return len(json.loads(claims)) if claims and claims != UNDER_WAY else 0


def _event_steps(desk: Desk, rows: Sequence[Row], *, was_here: bool) -> Iterator[Step]:
    namespace, name = rows[0]["namespace"], rows[0]["session"]
    talks, events = desk.store.tables.conversations, [_event(row) for row in rows]
    cut = [slices(event) for event in events]
    previous = talks.newest(namespace, name, 1, before=events[0].sequence) if was_here else []
    known = talks.known(namespace, name, [each.hash for own in cut for each in own]) if was_here else ()
    found = sliced(events, cut, previous[0] if previous else None, known)
    values = [event_values(event) | {"heeded": row["heeded"]} for event, row in zip(events, rows, strict=True)]
    yield Step("put_events", values)
    yield Step("event_chunk_insert", [{**row, "space": None, "vector": None} for row in found.fresh.values()])
    yield Step("chunk_extend", [*found.again.values()])
    yield from (step("chunk_after", **heard(each, events[0])) for each in previous)
    owned = {(row["owner"], row["ordinal"]) for row in found.fresh.values()}
    yield from vectors.steps(
        desk,
        (
            (namespace, "event", event.id, each)
            for event, row in zip(events, rows, strict=True)
            for each in row["vectors"]
            if (event.id, each["ordinal"]) in owned
        ),
    )


def _event(row: Row) -> Event:
    payload: Any = None if row["payload"] is None else json.loads(row["payload"])
    said = row["sequence"], Role(row["role"]), row["speaker"], row["content"], payload
    return Event(row["namespace"], row["session"], *said, from_micros(row["time"]))
