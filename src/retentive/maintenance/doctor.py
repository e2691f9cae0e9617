"""Check the health of a store. Each entry of `CHECKS` is one check: its name and its function."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from retentive.errors import Closed, EmbedError, RetentiveError
from retentive.index import HNSW_FROM, has_graphs
from retentive.maintenance import diagnose
from retentive.maintenance.integrity import check_integrity
from retentive.maintenance.scale import check_setup
from retentive.memories.daily_log import DAILY_LOG_PART
from retentive.model import SpaceState
from retentive.records.reindex import find_unsearchable
from retentive.storage import Finding
from retentive.storage.damage import collect_damage
from retentive.store import OpenStore

REPAIR_HINT = "Run `repair()`."
UNSEARCHABLE_PREFIX = "not everything can be found in "
LARGE_HINT = "pip install 'retentive[large]' makes searches faster"
MAX_NAMED_ROWS = 5  # rows that a finding names; the others are counted


class Check(NamedTuple):
    """One check. If `examine` raises one of our errors, that is its finding."""

    name: str
    examine: Callable[[OpenStore], Sequence[Finding]]


def run_checks(store: OpenStore, *, verify: bool = False) -> list[Finding]:
    """Run every check. `verify`: compare every row with its seal of integrity mode."""
    integrity = Check("integrity", partial(check_integrity, verify=verify))
    return [finding for check in (*CHECKS, integrity) for finding in _examine(store, check)]


def _examine(store: OpenStore, check: Check) -> Sequence[Finding]:
    try:
        with collect_damage():  # rows that cannot be read are a finding of their own
            return check.examine(store)
    except Closed:
        raise
    except RetentiveError as error:
        return [Finding(check.name, ok=False, detail=str(error), remedy=error.hint)]


def _report_broken(
    name: str, broken: Iterable[object], sound: str, remedy: str = REPAIR_HINT, prefix: str = ""
) -> list[Finding]:
    """Return one finding: `sound` if nothing is broken, else the broken things, with `prefix` before their names."""
    found = [str(each) for each in broken]
    if not found:
        return [Finding(name, ok=True, detail=sound)]
    more = f"; {len(found) - MAX_NAMED_ROWS} more" if len(found) > MAX_NAMED_ROWS else ""
    return [Finding(name, ok=False, detail=f"{prefix}{'; '.join(found[:MAX_NAMED_ROWS])}{more}", remedy=remedy)]


def _check_schema(store: OpenStore) -> list[Finding]:
    return [Finding("schema", ok=True, detail=f"number {store.engine.facts()['schema']}, up to date")]


def _check_database(store: OpenStore) -> list[Finding]:
    return store.engine.check()


def _check_rows(store: OpenStore) -> list[Finding]:
    return _report_broken("rows", diagnose.find_damaged(store), "every row can be read, every text matches its hash")


def _check_missing_rows(store: OpenStore) -> list[Finding]:
    missing = [
        *(str(each) for each in diagnose.find_missing_messages(store)),
        *(f"a part of session {name}" for name in diagnose.find_lost_sessions(store)),
        *(f"the entry of namespace {name}" for name in diagnose.find_lost_namespaces(store)),
        *(f"the owner of {each}" for each in diagnose.find_orphans(store)),
    ]
    return _report_broken("missing rows", missing, "none")


def _check_vector_values(store: OpenStore) -> list[Finding]:
    sound = "all are finite and of length one"
    return _report_broken("vector values", (str(each) for each in diagnose.find_bad_vectors(store)), sound)


def _check_conversations(store: OpenStore) -> list[Finding]:
    broken = [
        f"{each.session.id} (a message was changed)" if each.stale else each.session.id
        for each in diagnose.find_unsearchable(store)
    ]
    return _report_broken("conversations", broken, "every message can be searched", prefix=UNSEARCHABLE_PREFIX)


def _check_files(store: OpenStore) -> list[Finding]:
    broken = [path for _, _, path in store.tables.files.list_broken()]
    again = "Run `repair()`, then `files.index(PATH)` on their folder."
    return _report_broken("files", broken, "every passage can be searched", again, UNSEARCHABLE_PREFIX)


def _check_records(store: OpenStore) -> list[Finding]:
    broken = [f"{row.type} {row.id}" for row in find_unsearchable(store)]
    sound = "every profile, contact, project and skill can be searched"
    return _report_broken("records", broken, sound, prefix=UNSEARCHABLE_PREFIX)


def _check_model(store: OpenStore) -> list[Finding]:
    if store.embedder is None:
        return [Finding("model", ok=True, detail="switched off: searches use keywords only")]
    try:
        store.embedder.embed_query("a question")
    except EmbedError as error:
        return [Finding("model", ok=False, detail=str(error), remedy=error.hint)]
    described = ", ".join(f"{name}: {value}" for name, value in store.embedder.describe().items() if value)
    return [Finding("model", ok=True, detail=described)]


def _check_vectors(store: OpenStore) -> list[Finding]:
    count = store.tables.chunks.count_pending(store.space)
    if store.space is None:
        return [Finding("vectors", ok=True, detail=f"none; {count} would be computed")]
    slowness = _explain_slowness(store)
    how = "; they are computed in the background, or at once by `backfill()`" if count else ""
    return [Finding("vectors", ok=True, detail=f"{count} pending{how}{slowness}")]


def _explain_slowness(store: OpenStore) -> str:
    """Return which package would make searches of this large store faster, if it is not installed."""
    if not store.engine.uses_local_index or has_graphs():
        return ""
    largest = max((count for _, _, count in store.tables.chunks.count_vectors()), default=0)
    return f"; every search looks at all {largest}: {LARGE_HINT}" if largest >= HNSW_FROM else ""


def _check_spaces(store: OpenStore) -> list[Finding]:
    """List the spaces. One is active; the others take disk space until they are dropped."""
    counts = {name: count for name, _, count in store.tables.chunks.count_vectors()}
    stored = [each for each in store.tables.spaces.all() if each.state is not SpaceState.DROPPED or counts[each.name]]
    named = ", ".join(f"{each.name} ({each.state}, {counts[each.name]} vectors)" for each in stored) or "none"
    return [Finding("spaces", ok=True, detail="; ".join(filter(None, (named, store.active.difference))))]


def _check_quarantine(store: OpenStore) -> list[Finding]:
    """List the rows in quarantine. They are no fault of the store as it is now."""
    rows = store.tables.quarantine.all()
    if not rows:
        return [Finding("quarantine", ok=True, detail="empty")]
    named = "; ".join(f"{each.table} {each.key} ({each.reason})" for each in rows[-MAX_NAMED_ROWS:])
    detail = f"{len(rows)} damaged rows set aside, see `quarantine()`; the newest: {named}"
    return [Finding("quarantine", ok=True, detail=detail)]


def _check_daily_log(store: OpenStore) -> list[Finding]:
    log = store.daily
    if log is None or store.config.daily_log == "off":
        return [Finding("daily log", ok=True, detail="off")]
    failed = store.journal.failures.get(DAILY_LOG_PART) or log.find_problem()
    detail = failed or (f"in {log.folder}" if log.on else f"servers write it to {log.folder}")
    return [Finding("daily log", not failed, detail, "See `daily_log_folder` in the settings." if failed else "")]


CHECKS = (
    Check("schema", _check_schema),
    Check("database", _check_database),
    Check("setup", check_setup),
    Check("rows", _check_rows),
    Check("missing rows", _check_missing_rows),
    Check("vector values", _check_vector_values),
    Check("conversations", _check_conversations),
    Check("files", _check_files),
    Check("records", _check_records),
    Check("model", _check_model),
    Check("vectors", _check_vectors),
    Check("spaces", _check_spaces),
    Check("quarantine", _check_quarantine),
    Check("daily log", _check_daily_log),
)
