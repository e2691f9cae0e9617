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
from retentive.storage.tables.files import FileRows
from retentive.storage.tables.quarantine import Quarantine
from retentive.storage.tables.spaces import Spaces
from retentive.store import Parts

REPAIR = "Run `retentive doctor --repair`."
LARGE = "pip install 'retentive[large]' makes it faster"
MAX_NAMED = 5  # rows that a finding names; of more, their number


class Check(NamedTuple):
    """`examine` may raise any of our errors: an examination that cannot be made is a finding, too."""

    name: str
    examine: Callable[[Parts], Sequence[Finding]]


def doctor(parts: Parts, *, verify: bool = False) -> list[Finding]:
    """`verify`: compare every row with what integrity mode sealed."""
    integrity = Check("integrity", partial(check_integrity, verify=verify))
    return [finding for check in (*CHECKS, integrity) for finding in _examine(parts, check)]


def _examine(parts: Parts, check: Check) -> Sequence[Finding]:
    try:
        with collect_damage():  # rows that cannot be read are a finding of their own
            return check.examine(parts)
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


def _schema(parts: Parts) -> list[Finding]:
    return [Finding("schema", ok=True, detail=f"number {parts.engine.facts()['schema']}, up to date")]


def _database(parts: Parts) -> list[Finding]:
    return parts.engine.check()


def _values(parts: Parts) -> list[Finding]:
    return _one("rows", diagnose.find_damaged(parts), "every row can be read, every text matches its hash")


def _missing(parts: Parts) -> list[Finding]:
    missing = [
        *(str(each) for each in diagnose.find_missing_messages(parts)),
        *(f"a part of session {name}" for name in diagnose.find_lost_sessions(parts)),
        *(f"the entry of namespace {name}" for name in diagnose.find_lost_namespaces(parts)),
        *(f"the owner of {each}" for each in diagnose.find_orphans(parts)),
    ]
    return _one("missing rows", missing, "none")


def _vector_values(parts: Parts) -> list[Finding]:
    sound = "all are finite and of length one"
    return _one("vector values", (str(each) for each in diagnose.find_bad_vectors(parts)), sound)


def _conversations(parts: Parts) -> list[Finding]:
    broken = [
        f"{each.session.id} (a message is not what it was)" if each.stale else each.session.id
        for each in diagnose.find_unsearchable(parts)
    ]
    return _one("conversations", broken, "every message can be searched", begin="not all can be searched of ")


def _files(parts: Parts) -> list[Finding]:
    broken = [path for _, _, path in FileRows(parts.engine).broken()]
    again = "Run `retentive doctor --repair`, then `retentive index` on their folder."
    return _one("files", broken, "every passage can be searched", again, "not all can be searched of ")


def _records(parts: Parts) -> list[Finding]:
    broken = [f"{row.type} {row.id}" for row in unsearchable(parts)]
    sound = "every profile, contact, project and skill can be searched"
    return _one("records", broken, sound, begin="not all can be searched of ")


def _model(parts: Parts) -> list[Finding]:
    if parts.embedder is None:
        return [Finding("model", ok=True, detail="switched off: searches use full text alone")]
    try:
        parts.embedder.embed_query("a question")
    except EmbedError as error:
        return [Finding("model", ok=False, detail=str(error), remedy=error.hint)]
    described = ", ".join(f"{name}: {value}" for name, value in parts.embedder.describe().items() if value)
    return [Finding("model", ok=True, detail=described)]


def _pending(parts: Parts) -> list[Finding]:
    count = parts.chunks.pending_count(parts.space)
    if parts.space is None:
        return [Finding("vectors", ok=True, detail=f"none are made; {count} would be")]
    detail = f"{count} pending{_explain_slowness(parts)}"
    return [Finding("vectors", not count, detail, "Run `retentive backfill`." if count else "")]


def _explain_slowness(parts: Parts) -> str:
    """What is missing for a store of this size, if something is. It answers all the same."""
    if not parts.engine.in_process or has_graphs():
        return ""
    largest = max((count for _, _, count in parts.chunks.vector_counts()), default=0)
    return f"; every search looks at all {largest}: {LARGE}" if largest >= HNSW_FROM else ""


def _spaces(parts: Parts) -> list[Finding]:
    """One space is active; others take room until they are dropped."""
    counts = {name: count for name, _, count in parts.chunks.vector_counts()}
    stored = [each for each in Spaces(parts.engine).all() if each.state is not SpaceState.DROPPED or counts[each.name]]
    named = ", ".join(f"{each.name} ({each.state}, {counts[each.name]} vectors)" for each in stored) or "none"
    return [Finding("spaces", ok=True, detail="; ".join(filter(None, (named, parts.active.difference))))]


def _quarantine(parts: Parts) -> list[Finding]:
    """What was set aside is no fault of the store as it is now."""
    rows = Quarantine(parts.engine).all()
    if not rows:
        return [Finding("quarantine", ok=True, detail="empty")]
    named = "; ".join(f"{each.table} {each.key} ({each.reason})" for each in rows[-MAX_NAMED:])
    detail = f"{len(rows)} damaged rows set aside, see `retentive doctor --quarantine`; the newest: {named}"
    return [Finding("quarantine", ok=True, detail=detail)]


def _daily(parts: Parts) -> list[Finding]:
    log, said = parts.daily, parts.config.daily_log
    if log is None or said == "off":
        return [Finding("daily log", ok=True, detail="off")]
    failed = parts.journal.failures.get(PART) or log.problem()
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
