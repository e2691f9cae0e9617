"""The check-up of a store. A check is an entry of `CHECKS`: what it is called, and what finds out."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from retentive.errors import Closed, EmbedError, RetentiveError
from retentive.index import HNSW_FROM, has_graphs
from retentive.maintenance import diagnose
from retentive.maintenance.integrity import check_integrity
from retentive.memories.daily_log import PART
from retentive.model import SpaceState
from retentive.records.reindex import unsearchable
from retentive.storage import Finding
from retentive.storage.damage import collect_damage
from retentive.store import OpenStore

REPAIR = "Run `retentive doctor --repair`."
LARGE = "pip install 'retentive[large]' makes it faster"
MAX_NAMED = 5  # rows that a finding names; of more, their number


class Check(NamedTuple):
    """`examine` may raise any of our errors: an examination that cannot be made is a finding, too."""

    name: str
    examine: Callable[[OpenStore], Sequence[Finding]]


def doctor(store: OpenStore, *, verify: bool = False) -> list[Finding]:
    """`verify`: compare every row with what integrity mode sealed."""
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


def _one(name: str, broken: Iterable[object], sound: str, remedy: str = REPAIR, begin: str = "") -> list[Finding]:
    """A finding about things that should not be there; `begin` stands before their names."""
    found = [str(each) for each in broken]
    if not found:
        return [Finding(name, ok=True, detail=sound)]
    more = f"; {len(found) - MAX_NAMED} more" if len(found) > MAX_NAMED else ""
    return [Finding(name, ok=False, detail=f"{begin}{'; '.join(found[:MAX_NAMED])}{more}", remedy=remedy)]


def _schema(store: OpenStore) -> list[Finding]:
    return [Finding("schema", ok=True, detail=f"number {store.engine.facts()['schema']}, up to date")]


def _database(store: OpenStore) -> list[Finding]:
    return store.engine.check()


def _values(store: OpenStore) -> list[Finding]:
    return _one("rows", diagnose.find_damaged(store), "every row can be read, every text matches its hash")


def _missing(store: OpenStore) -> list[Finding]:
    missing = [
        *(str(each) for each in diagnose.find_missing_messages(store)),
        *(f"a part of session {name}" for name in diagnose.find_lost_sessions(store)),
        *(f"the entry of namespace {name}" for name in diagnose.find_lost_namespaces(store)),
        *(f"the owner of {each}" for each in diagnose.find_orphans(store)),
    ]
    return _one("missing rows", missing, "none")


def _vector_values(store: OpenStore) -> list[Finding]:
    sound = "all are finite and of length one"
    return _one("vector values", (str(each) for each in diagnose.find_bad_vectors(store)), sound)


def _conversations(store: OpenStore) -> list[Finding]:
    broken = [
        f"{each.session.id} (a message is not what it was)" if each.stale else each.session.id
        for each in diagnose.find_unsearchable(store)
    ]
    return _one("conversations", broken, "every message can be searched", begin="not all can be searched of ")


def _files(store: OpenStore) -> list[Finding]:
    broken = [path for _, _, path in store.tables.files.broken()]
    again = "Run `retentive doctor --repair`, then `retentive index` on their folder."
    return _one("files", broken, "every passage can be searched", again, "not all can be searched of ")


def _records(store: OpenStore) -> list[Finding]:
    broken = [f"{row.type} {row.id}" for row in unsearchable(store)]
    sound = "every profile, contact, project and skill can be searched"
    return _one("records", broken, sound, begin="not all can be searched of ")


def _model(store: OpenStore) -> list[Finding]:
    if store.embedder is None:
        return [Finding("model", ok=True, detail="switched off: searches use full text alone")]
    try:
        store.embedder.embed_query("a question")
    except EmbedError as error:
        return [Finding("model", ok=False, detail=str(error), remedy=error.hint)]
    described = ", ".join(f"{name}: {value}" for name, value in store.embedder.describe().items() if value)
    return [Finding("model", ok=True, detail=described)]


def _pending(store: OpenStore) -> list[Finding]:
    count = store.tables.chunks.pending_count(store.space)
    if store.space is None:
        return [Finding("vectors", ok=True, detail=f"none are made; {count} would be")]
    detail = f"{count} pending{_explain_slowness(store)}"
    return [Finding("vectors", not count, detail, "Run `retentive backfill`." if count else "")]


def _explain_slowness(store: OpenStore) -> str:
    """What is missing for a store of this size, if something is. It answers all the same."""
    if not store.engine.in_process or has_graphs():
        return ""
    largest = max((count for _, _, count in store.tables.chunks.vector_counts()), default=0)
    return f"; every search looks at all {largest}: {LARGE}" if largest >= HNSW_FROM else ""


def _spaces(store: OpenStore) -> list[Finding]:
    """One space is active; others take room until they are dropped."""
    counts = {name: count for name, _, count in store.tables.chunks.vector_counts()}
    stored = [each for each in store.tables.spaces.all() if each.state is not SpaceState.DROPPED or counts[each.name]]
    named = ", ".join(f"{each.name} ({each.state}, {counts[each.name]} vectors)" for each in stored) or "none"
    return [Finding("spaces", ok=True, detail="; ".join(filter(None, (named, store.active.difference))))]


def _quarantine(store: OpenStore) -> list[Finding]:
    """What was set aside is no fault of the store as it is now."""
    rows = store.tables.quarantine.all()
    if not rows:
        return [Finding("quarantine", ok=True, detail="empty")]
    named = "; ".join(f"{each.table} {each.key} ({each.reason})" for each in rows[-MAX_NAMED:])
    detail = f"{len(rows)} damaged rows set aside, see `retentive doctor --quarantine`; the newest: {named}"
    return [Finding("quarantine", ok=True, detail=detail)]


def _daily(store: OpenStore) -> list[Finding]:
    log, said = store.daily, store.config.daily_log
    if log is None or said == "off":
        return [Finding("daily log", ok=True, detail="off")]
    failed = store.journal.failures.get(PART) or log.problem()
    detail = failed or (f"in {log.folder}" if log.on else f"servers write it to {log.folder}")
    return [Finding("daily log", not failed, detail, "See `daily_log_folder` in the settings." if failed else "")]


CHECKS = (
    Check("schema", _schema),
    Check("database", _database),
    Check("rows", _values),
    Check("missing rows", _missing),
    Check("vector values", _vector_values),
    Check("conversations", _conversations),
    Check("files", _files),
    Check("records", _records),
    Check("model", _model),
    Check("vectors", _pending),
    Check("spaces", _spaces),
    Check("quarantine", _quarantine),
    Check("daily log", _daily),
)
