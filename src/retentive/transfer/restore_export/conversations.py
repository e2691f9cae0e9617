"""Restores sessions and their messages, compared with those in the store.

A new session is written with its messages. A stored session gets the messages that it lacks, unless the two differ
under one number: then they are two conversations of one name, and the stored one stays. Of the summaries and the
learning positions, the further one stays. A session whose messages take several commits is marked as unfinished until
the last one: nothing is learned from it, and a stopped import is continued.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from retentive.conversations.chunks import chunk_message, chunk_rows, following_row
from retentive.conversations.imported import find_imported, mark_imported
from retentive.errors import Invalid
from retentive.learning import apply_claims
from retentive.model import Event, ImportTrust, Role, from_micros
from retentive.storage import Step
from retentive.storage.tables import restore as restored_rows
from retentive.storage.tables.conversations import event_values
from retentive.storage.tables.transfer import ExportedSession
from retentive.store import validate
from retentive.store.views import can_write
from retentive.text.purged_message import PURGED, purge_payload
from retentive.transfer.export_format import EVENT_LINE, MIN_TIME, SESSION_LINE, Row
from retentive.transfer.export_reader import ExportLine
from retentive.transfer.restore_export import vectors
from retentive.transfer.restore_export.run import BatchPlan, Outcome, RestoreRun

UNFINISHED_MARK = "import"  # in the column `claims`, with `claims_left` 0: the import of the session goes on
OTHER_CONVERSATION = "another conversation of this name exists here, and stays"
NO_SESSION = "its session does not exist here, and has no line before this one"
BAD_CLAIMS = "its claims cannot be read"
DUPLICATE_NUMBER = "another message with this number came before it"
STATE_FIELDS = ("last_sequence", "events", "active", "summary", "summary_upto", "epoch", "learned_upto", "claims")
SESSION_FIELDS = ("agent", "tags", "metadata")
EVENT_FIELDS = ("role", "speaker", "content", "payload", "time")


@dataclass(frozen=True, slots=True)
class CurrentSession:
    """The session of the last lines. Its messages may come in several batches."""

    namespace: str = ""
    name: str = ""
    line: Row | None = None
    """The line of the session itself."""
    is_new: bool = False
    is_conflicting: bool = False
    """Whether the stored session of this name is another conversation."""
    is_open: bool = False
    """Whether more of its messages may follow."""


@dataclass(slots=True)
class SessionLines:
    """Consecutive lines of one session."""

    namespace: str
    name: str
    session_line: ExportLine | None = None
    events: list[ExportLine] = field(default_factory=list)
    may_continue: bool = False


def restore_sessions(
    run: RestoreRun, current: CurrentSession, namespace: str, entries: Sequence[ExportLine]
) -> CurrentSession:
    """Restore the lines of sessions. Returns the session that the next lines may continue."""
    entries = [entry for entry in entries if _has_readable_claims(run, entry)]
    groups = _group_by_session(namespace, entries) if entries else []
    if groups and current.is_open and (current.namespace, current.name) != (namespace, groups[0].name):
        current = finish_session(run, current)
    while groups:
        done, current = _restore_until_repeat(run, current, groups)
        groups = groups[done:]
    run.store.speakers.note_speakers(namespace, {each.row["speaker"] for each in entries if each.type == "event"})
    return current


def _has_readable_claims(run: RestoreRun, entry: ExportLine) -> bool:
    """Whether the pending claims of a session can be read when they are applied. If not, the line is refused."""
    try:
        for claim in json.loads(entry.row.get("claims") or "[]"):
            apply_claims.parse_action(claim)
    except (Invalid, KeyError, TypeError, ValueError):
        run.report.refuse(entry.number, BAD_CLAIMS)
        return False
    return True


def finish_session(run: RestoreRun, current: CurrentSession) -> CurrentSession:
    """Finish a session whose announced messages do not all follow."""
    if current.is_open:
        _restore_until_repeat(run, current, [SessionLines(current.namespace, current.name)])
    return CurrentSession()


def _restore_until_repeat(
    run: RestoreRun, current: CurrentSession, groups: Sequence[SessionLines]
) -> tuple[int, CurrentSession]:
    """Restore lines up to the first session that occurs twice. Returns how many groups that were."""
    names = [group.name for group in groups]
    distinct = next((at for at, name in enumerate(names) if name in names[:at]), len(names))
    after = current

    def decide(_now: int) -> BatchPlan:
        nonlocal after
        after, plan = current, BatchPlan()
        stored = _read_stored_sessions(run, groups[0].namespace, names[:distinct])
        for group in groups[:distinct]:
            after = _enter_session(after, group, stored.get(group.name))
            after = _decide(run, after, plan, group, stored.get(group.name))
        return plan

    run.apply(groups[0].namespace, decide)
    return distinct, after


def _group_by_session(namespace: str, entries: Sequence[ExportLine]) -> list[SessionLines]:
    groups: list[SessionLines] = []
    for entry in entries:
        is_own = entry.type == "session"
        name = entry.row["id" if is_own else "session"]
        if is_own or not groups or groups[-1].name != name:
            groups.append(SessionLines(namespace, name, entry if is_own else None))
        if not is_own:
            groups[-1].events.append(entry)
    groups[-1].may_continue = True
    return groups


def _read_stored_sessions(run: RestoreRun, namespace: str, names: Sequence[str]) -> dict[str, Row]:
    return {row.id: row._asdict() for row in run.rows(namespace).read_sessions(names)}


def _enter_session(current: CurrentSession, group: SessionLines, stored: Row | None) -> CurrentSession:
    if group.session_line:
        return CurrentSession(group.namespace, group.name, group.session_line.row, is_new=stored is None)
    return current if current.name == group.name else CurrentSession(group.namespace, group.name)


def _decide(
    run: RestoreRun, current: CurrentSession, plan: BatchPlan, group: SessionLines, stored: Row | None
) -> CurrentSession:
    if stored is None and not current.is_new:
        for entry in group.events:
            plan.refuse(entry, NO_SESSION)
        return current
    group = _drop_repeats(plan, group)
    known = _read_known_events(run, group) if stored else {}
    is_other = current.is_conflicting or (stored is not None and _is_closed_to_import(run, stored))
    numbered = _number_events(group)
    if is_other or not all(_is_same_event(known[key], entry) for key, entry in numbered if key in known):
        _keep_stored(plan, group)
        return replace(current, is_conflicting=True, is_open=False)
    missing = sorted(((key, entry) for key, entry in numbered if key not in known), key=lambda each: each[0])
    purged = _read_purged_numbers(run, group)
    new = [_blank_event(entry) if entry.row["time"] <= purged.get(key, MIN_TIME) else entry for key, entry in missing]
    last_number = _find_last_number(stored, group.events)
    continues = group.may_continue and current.line is not None and last_number < current.line["last_sequence"]
    state = _merge_state(current.line, stored, new, continues=continues)
    if current.line and not continues and (stored is None or _is_unfinished(stored)):
        state = _clear_derived_state(state, purged, current.line["created"])
    if group.session_line:
        plan.add_result(group.session_line, *_compare_session(group.session_line.row, stored, state))
    for key, entry in numbered:
        outcome_if_missing = Outcome.PURGED if entry.row["time"] <= purged.get(key, MIN_TIME) else Outcome.CREATED
        plan.add_result(entry, Outcome.SAME if key in known else outcome_if_missing)
    if not run.dry_run:
        plan.steps += _session_steps(run, current, stored, state, new)
    return replace(current, is_open=continues)


def _drop_repeats(plan: BatchPlan, group: SessionLines) -> SessionLines:
    """Drop repeated messages. Refuse those that differ from an earlier one of the same number."""
    first: dict[int, ExportLine] = {}
    for entry in group.events:
        before = first.setdefault(entry.row["sequence"], entry)
        if before is entry:
            continue
        if _is_same_event(EVENT_LINE.reencode(before.row), entry):
            plan.add_result(entry, Outcome.SAME)
        else:
            plan.refuse(entry, DUPLICATE_NUMBER)
    return replace(group, events=[*first.values()])


def _number_events(group: SessionLines) -> list[tuple[int, ExportLine]]:
    return [(entry.row["sequence"], entry) for entry in group.events]


def _read_known_events(run: RestoreRun, group: SessionLines) -> dict[int, Row]:
    """The stored messages of the same numbers."""
    if not group.events:
        return {}
    numbers = [entry.row["sequence"] for entry in group.events]
    rows = run.rows(group.namespace).read_events(group.name, min(numbers), max(numbers))
    wanted_numbers = {*numbers}
    return {row.sequence: EVENT_LINE.encode(row) for row in rows if row.sequence in wanted_numbers}


def _is_same_event(stored: Row, entry: ExportLine) -> bool:
    """Whether two messages are equal. A purged one equals any."""
    given = EVENT_LINE.reencode(entry.row)
    return PURGED in (stored["content"], given["content"]) or all(stored[name] == given[name] for name in EVENT_FIELDS)


def _read_purged_numbers(run: RestoreRun, group: SessionLines) -> dict[int, int]:
    """The numbers of purged messages of this session, and when. The session may have been deleted since."""
    prefix = f"{group.name}#"
    found: dict[int, int] = {}
    for page in run.rows(group.namespace).page_purges(after=(prefix, -1)):
        own = [(row.id.removeprefix(prefix), row.at) for row in page if row.id.startswith(prefix)]
        found |= {int(number): at for number, at in own if number.isdecimal()}
        if len(own) < len(page):
            break
    return found


def _blank_event(entry: ExportLine) -> ExportLine:
    left = purge_payload(EVENT_LINE.reencode(entry.row)["payload"])
    payload = EVENT_LINE.formats["payload"].decode(left)
    return entry._replace(row={**entry.row, "content": PURGED, "payload": payload, "vectors": []})


def _clear_derived_state(state: Row, purged: Mapping[int, int], created: int) -> Row:
    """The state without summary and claims, if they may repeat purged messages."""
    if not any(number <= state["summary_upto"] or state["claims"] for number, at in purged.items() if created <= at):
        return state
    return {**state, "summary": "", "summary_upto": 0, "claims": ""}


def _keep_stored(plan: BatchPlan, group: SessionLines) -> None:
    for entry in (*([group.session_line] if group.session_line else []), *group.events):
        plan.add_result(entry, Outcome.KEPT, f"session {group.name}: {OTHER_CONVERSATION}")


def _find_last_number(stored: Row | None, events: Sequence[ExportLine]) -> int:
    numbers = [entry.row["sequence"] for entry in events]
    last: int = max([*numbers, stored["last_sequence"] if stored else 0])
    return last


def _merge_state(given: Row | None, stored: Row | None, new: Sequence[ExportLine], *, continues: bool) -> Row:
    """The state of the session after these lines."""
    grown = _extend_state(stored or {**(given or {}), "events": 0, "last_sequence": 0}, new)
    is_written_by_import = stored is None or _is_unfinished(stored)
    if given is None or (continues and not is_written_by_import):
        return grown
    if continues:
        none = {"summary": "", "summary_upto": 0, "epoch": 0}
        return {**grown, **none, "learned_upto": grown["last_sequence"], "claims": UNFINISHED_MARK}
    if is_written_by_import:
        last = max(grown["last_sequence"], given["last_sequence"])
        return {name: given[name] for name in STATE_FIELDS} | {"events": grown["events"], "last_sequence": last}
    return _take_further_state(grown, given, stored or {})


def _is_unfinished(stored: Row) -> bool:
    return bool(stored["claims"] == UNFINISHED_MARK and not stored["claims_left"])


def _extend_state(state: Row, new: Sequence[ExportLine]) -> Row:
    times = [entry.row["time"] for entry in new]
    if state["events"] or not times:
        times.append(state["active"])
    counts = {
        "last_sequence": _find_last_number(state, new),
        "events": state["events"] + len(new),
        "active": max(times),
    }
    return {name: state[name] for name in STATE_FIELDS} | counts


def _take_further_state(grown: Row, given: Row, stored: Row) -> Row:
    made = dict(grown)
    if (given["epoch"], given["summary_upto"]) > (stored["epoch"], stored["summary_upto"]):
        made |= {name: given[name] for name in ("summary", "summary_upto", "epoch")}
    if given["learned_upto"] > stored["learned_upto"] and not stored["claims_left"]:
        made |= {name: given[name] for name in ("learned_upto", "claims")}
    return made | {"last_sequence": max(grown["last_sequence"], given["last_sequence"])}


def _compare_session(row: Row, stored: Row | None, state: Row) -> tuple[Outcome, str]:
    if stored is None:
        return Outcome.CREATED, ""
    if _is_unfinished(stored):
        return Outcome.SAME, ""
    mine, its = SESSION_LINE.reencode(stored), SESSION_LINE.reencode(row)
    if differ := [name for name in SESSION_FIELDS if mine[name] != its[name]]:
        return Outcome.KEPT, f"the stored session keeps its own {', '.join(differ)}"
    return (Outcome.SAME if _has_same_state(stored, state) else Outcome.EXTENDED), ""


def _has_same_state(stored: Row, state: Row) -> bool:
    return all(state[name] == stored[name] for name in STATE_FIELDS)


def _session_steps(
    run: RestoreRun, current: CurrentSession, stored: Row | None, state: Row, new: Sequence[ExportLine]
) -> Iterator[Step]:
    key = {"namespace": current.namespace, "session": current.name}
    if stored is None:
        session = _mark_as_import(run, _drop_unwritable_person(run, current.line or {}))
        state = {**key, **state, "claims_left": _count_claims(state["claims"])}
        yield from restored_rows.insert_session_steps(session, state)
    elif not _has_same_state(stored, state):
        left = stored["claims_left"] if state["claims"] == stored["claims"] else _count_claims(state["claims"])
        state = {**key, **state, "claims_left": left}
        yield restored_rows.update_session_state_step(ExportedSession(**stored), state)
    if new:
        yield from _event_steps(run, [entry.row for entry in new], was_here=stored is not None)


def _drop_unwritable_person(run: RestoreRun, row: Row) -> Row:
    """The session without a person whose namespace this view may not write: learning would write there later."""
    person = row.get("person")
    return {**row, "person": None} if person and not can_write(run.store, person) else row


def _mark_as_import(run: RestoreRun, row: Row) -> Row:
    """Mark a session of an export of trust IMPORT, such as a stranger's: what is learned from it counts as imported."""
    if run.trust is not ImportTrust.IMPORT:
        return row
    marked = mark_imported(SESSION_LINE.reencode(row)["metadata"], validate.MAX_SEQUENCE)
    return {**row, "metadata": SESSION_LINE.formats["metadata"].decode(marked)}


def _is_closed_to_import(run: RestoreRun, stored: Row) -> bool:
    """Whether a stored session must not be continued by an export of trust IMPORT, such as a stranger's file."""
    return run.trust is ImportTrust.IMPORT and not find_imported(SESSION_LINE.reencode(stored)["metadata"])


def _count_claims(claims: str) -> int:
    return len(json.loads(claims)) if claims and claims != UNFINISHED_MARK else 0


def _event_steps(run: RestoreRun, rows: Sequence[Row], *, was_here: bool) -> Iterator[Step]:
    namespace, name = rows[0]["namespace"], rows[0]["session"]
    table, events = run.store.tables.conversations, [_make_event(row) for row in rows]
    cut = [chunk_message(event) for event in events]
    previous = table.list_newest(namespace, name, 1, before=events[0].sequence) if was_here else []
    known = table.find_known_hashes(namespace, name, [each.hash for own in cut for each in own]) if was_here else ()
    found = chunk_rows(events, cut, previous[0] if previous else None, known)
    values = [event_values(event) | {"heeded": row["heeded"]} for event, row in zip(events, rows, strict=True)]
    yield from restored_rows.insert_event_steps(
        values,
        [*found.new_rows.values()],
        [*found.extended_rows.values()],
        [following_row(each, events[0]) for each in previous],
    )
    owned = {(row["owner"], row["ordinal"]) for row in found.new_rows.values()}
    given = [
        vectors.OwnedVector(namespace, "event", event.id, vector)
        for event, row in zip(events, rows, strict=True)
        for vector in row["vectors"]
        if (event.id, vector["ordinal"]) in owned
    ]
    yield from vectors.insert_steps(run, given)


def _make_event(row: Row) -> Event:
    payload: Any = None if row["payload"] is None else json.loads(row["payload"])
    message = row["sequence"], Role(row["role"]), row["speaker"], row["content"], payload
    tags = tuple(json.loads(row["tags"])) if row["tags"] else ()
    return Event(row["namespace"], row["session"], *message, from_micros(row["time"]), tags=tags)
