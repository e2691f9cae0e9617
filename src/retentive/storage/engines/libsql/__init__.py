"""The engine for libSQL servers (sqld and compatible ones): SQLite behind HTTP, shared by many machines.

It uses SQLite's dialect. `hrana.py` is the protocol, `batches.py` makes one batch of many steps. Differences to SQLite:

  a. The client holds no transaction open: a read is a single statement, a write one conditional batch.
  b. A write whose answer is lost is neither repeated blindly nor given up. Each batch writes its own name. If the
     answer is lost, `_was_committed` writes the same name in another way. The first of the two wins and the other
     fails: either the batch was committed, or it never will be and may be sent again under another name.
  c. The server does not let clients set `application_id`; a store is recognized by its tables.
  d. The server decides whether a commit waits for the disk (`facts()["durability"]`).
"""

import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from retentive.errors import Busy, Invalid, NotAStore, Stale, StorageError, Uncertain
from retentive.storage import NO_PARAMS, Finding, PageProgress, Params, RowCounts, ScrubResult, Step, step
from retentive.storage.consistency import check_agreement, check_pages
from retentive.storage.engine_search import SqliteSearch
from retentive.storage.engines.libsql.batches import Batch, split_statements
from retentive.storage.engines.libsql.hrana import (
    BadText,
    NotExecuted,
    OutcomeUnknown,
    Refused,
    Request,
    Server,
    backoff_pauses,
    encode_value,
)
from retentive.storage.migrations import find_missing, load_migrations
from retentive.storage.non_utf8_text import bind_non_utf8, decode_row, encode_set, has_non_utf8, select_as_bytes
from retentive.storage.queries import IN_JSON_ARRAY, Queries, use_question_marks
from retentive.storage.tokenizer import Tokenizer
from retentive.text.search_fields import FIELD_WEIGHTS

RECONNECT_SECONDS = 5.0  # seconds in which a server may be restarted without an error
OUTCOME_SECONDS = 30.0  # to find out whether a write was committed
MAX_ATTEMPTS = 20  # of a migration, if other clients migrate at the same time
OWN_TABLES = {"migrations", "meta", "memories", "chunks"}

T = TypeVar("T")


class LibsqlEngine(SqliteSearch):
    dialect = "sqlite"
    uses_local_index = True
    integrity = None  # integrity mode is for files; here the server has the rows
    deployment = None

    def __init__(self, target: str, token: str = "", ca_file: str = "") -> None:
        self._server = Server(target, token, ca_file)
        self.target = self._server.address.shown
        self._tokenizer = Tokenizer()
        self._is_down = False
        weights = ", ".join(map(str, FIELD_WEIGHTS))
        self._queries = Queries((self.dialect, "libsql"), IN_JSON_ARRAY, weights=weights)
        try:
            self.migrate()
        except BaseException:
            self.close()
            raise

    def read(self, query: str, params: Params = NO_PARAMS, filters: Sequence[str] = ()) -> list[tuple[Any, ...]]:
        statement = self._statement(query, params, filters)
        try:
            return self._repeat(lambda: self._server.rows(statement))
        except BadText:
            return self._read_as_bytes(statement)

    def apply(self, steps: Iterable[Step]) -> None:
        work = [replace(each, rows=[*each.rows]) for each in steps]
        error = self._try_write(work)
        for pause in backoff_pauses(self._patience()):
            if error is None:
                break
            time.sleep(pause)
            error = self._try_write(work)
        self._is_down = error is not None
        if error is not None:
            hint = f"{_REACH_HINT} Nothing of this write was stored."
            raise Busy(f"{self.target} did not accept the write: {error}", hint)

    def tokens(self, text: str) -> list[str]:
        """Tokenize with SQLite in this process: it has the same tokenizer as the server."""
        return self._tokenizer(text)

    def migrate(self) -> None:
        for _ in range(MAX_ATTEMPTS):
            batch = self._plan_migration()
            if batch is None:
                return
            try:
                self._repeat(partial(self._run_batch, batch))
            except Stale:
                continue  # another client was first, or our own batch whose answer was lost
        raise Busy(f"{self.target}: other clients kept changing the schema")

    def check(self) -> list[Finding]:
        facts = self.facts()
        return [
            Finding("server", ok=True, detail=_describe_server(facts)),
            check_pages([row[0] for row in self.read("server_integrity")], "Restore a backup of the server."),
            *check_agreement(self),
        ]

    def rebuild(self) -> None:
        self.apply([step("derived_rebuild")])

    def backup(self, target: Path, progress: PageProgress) -> RowCounts:  # noqa: ARG002 - the server's
        hint = "Use the server's own backups, or copy it into a file: `Retentive.migrate(SERVER, FILE)`."
        raise Invalid("the store is on a libSQL server, which makes its own backups", hint)

    def scrub(self, patience: float, *, reclaim: bool = False) -> ScrubResult:  # noqa: ARG002 - nobody is waited for
        """Optimize the full-text index. The server lets no client overwrite free pages or truncate its log."""
        self.apply([step("text_optimize")])
        return ScrubResult(
            done=True,
            detail="no row or posting is left; the server's file may keep the bytes in free pages until they are used"
            " again, and so may its log, its replicas and its backups",
        )

    def facts(self) -> Mapping[str, Any]:
        size, free, durability, version, schema_version = self.read("server_facts")[0]
        return {
            "engine": "libsql",
            "url": self.target,
            "bytes": size,
            "free_bytes": free,
            "schema": schema_version,
            "sqlite": version,
            "server": self._server.version(),
            "durability": durability,
        }

    def close(self) -> None:
        self._server.close()

    def _statement(self, query: str, params: Params = NO_PARAMS, filters: Sequence[str] = ()) -> Request:
        sql = self._queries.sql(query, filters)
        if has_non_utf8(params.values()):
            sql = bind_non_utf8(sql, params)
        sql, names = use_question_marks(sql)
        values = (params[name] for name in names)
        plain = (encode_set(v) if isinstance(v, tuple | list) else v for v in values)
        return {"sql": sql, "args": [encode_value(value) for value in plain]}

    def _read_as_bytes(self, statement: Request) -> list[tuple[Any, ...]]:
        """The rows of a query in which a text is not UTF-8."""
        columns = self._repeat(lambda: self._server.count_columns(statement["sql"]))
        as_bytes = {**statement, "sql": select_as_bytes(statement["sql"], columns)}
        return [decode_row(row) for row in self._repeat(lambda: self._server.rows(as_bytes))]

    def _patience(self) -> float:
        """No seconds while the server is known to be down: closing a store must not wait for each of its writes."""
        return 0.0 if self._is_down else RECONNECT_SECONDS

    def _repeat(self, action: Callable[[], T], seconds: float | None = None) -> T:
        """Repeat an action that may run twice until the server answers, or `seconds` (default: patience) are over."""
        for pause in backoff_pauses(self._patience() if seconds is None else seconds):
            try:
                return self._run(action)
            except (NotExecuted, OutcomeUnknown, Busy):
                time.sleep(pause)
        try:
            answer = self._run(action)
        except (NotExecuted, OutcomeUnknown) as error:
            self._is_down = True
            raise Busy(f"{self.target} does not answer: {error}", _REACH_HINT) from error
        self._is_down = False
        return answer

    def _run(self, action: Callable[[], T]) -> T:
        """Run an action once, and translate a refusal of the server."""
        try:
            return action()
        except Refused as error:
            raise error.translate(self.target) from error

    def _try_write(self, work: Sequence[Step]) -> Exception | None:
        """Send a write. None if it was committed, else the reason why it surely was not and may be tried again."""
        name = str(uuid.uuid4())
        batch = Batch(self._queries)
        for each in (step("batch_record", id=name), *work):
            batch.step(each)
        try:
            self._run(partial(self._run_batch, batch))
        except (NotExecuted, Busy) as error:
            return error
        except OutcomeUnknown as error:
            return None if self._was_committed(name) else error
        return None

    def _run_batch(self, batch: Batch) -> None:
        try:
            (result,) = self._server.pipeline([{"type": "batch", "batch": {"steps": batch.build()}}])
        except Refused as error:
            if error.code == "RESPONSE_TOO_LARGE":
                raise OutcomeUnknown(str(error)) from error
            raise
        for place, refusal in enumerate(result["step_errors"]):
            if not refusal:
                continue
            if query := batch.find_guard(place):
                raise Stale(f"{self.target}: {query} found data that changed since it was read")
            raise Refused(refusal)

    def _was_committed(self, name: str) -> bool:
        """Whether the batch of this name was committed. If not, it never will be."""
        claim = self._statement("batch_cancel", {"id": name})
        try:
            rows = self._repeat(lambda: self._server.rows(claim), OUTCOME_SECONDS)
        except StorageError as error:
            hint = f"{_REACH_HINT} Check whether it was stored before you write it again."
            raise Uncertain(f"{self.target} did not confirm the write: {error}", hint) from error
        return bool(rows[0][0] == "kept")

    def _plan_migration(self) -> Batch | None:
        """The batch that brings the schema up to date, guarded by the state that was read; None if it is up to date."""
        tables = {name for (name,) in self.read("table_names")}
        if tables and not tables >= OWN_TABLES:
            raise NotAStore(f"{self.target} is a database of another program", "Choose another; it was not changed.")
        applied: dict[int, str] = dict(self.read("migration_list")) if tables else {}
        todo = find_missing(load_migrations(self.dialect), applied, self.target)
        if not todo and "batches" in tables:
            return None
        batch = Batch(self._queries)
        batch.step(step("bookkeeping_create"))
        same, _ = use_question_marks(self._queries.sql("migration_guard"))
        batch.guard("migrate", same, [len(applied)])
        now = time.time_ns() // 1000
        for each in todo:
            for sql in split_statements(each.sql):
                batch.add(sql)
            batch.step(step("migration_insert", number=each.number, name=each.name, hash=each.hash, now=now))
        return batch


_REACH_HINT = "Check that the server is running and can be reached from here."


def _describe_server(facts: Mapping[str, Any]) -> str:
    waits = "commits wait for the disk" if facts["durability"] == "full" else "commits do not wait for the disk"
    return f"{facts['server'] or 'of unknown version'}, SQLite {facts['sqlite']}, {waits}"
