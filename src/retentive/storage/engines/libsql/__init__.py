"""A libSQL server (sqld, or who speaks its protocol) as an engine: SQLite behind HTTP, shared by many machines.

It speaks SQLite's dialect; `hrana.py` is the protocol, `batches.py` makes one batch of many steps. What differs:

  a. No transaction is held open from here: reads are single statements, a write is one conditional batch.
  b. A write whose answer is lost is neither repeated blindly nor given up. Each batch has a name, written with it. If
     the answer does not come, `_kept` writes the same name in another way: whoever of the two is first decides, and
     the other fails. Either the batch was kept, or it never will be and may be sent again under another name.
  c. The server does not let clients set `application_id`; a store is known by its tables.
  d. Whether a commit waits for the disk is the server's to decide (`facts()["durability"]`).
"""

import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from retentive.errors import Busy, Invalid, NotAStore, Stale, StorageError, Uncertain
from retentive.storage import NOTHING, Finding, Pages, Params, Scrubbed, Step, step
from retentive.storage.broken_text import bind_broken, has_broken, read_out, spell_out, write_set
from retentive.storage.brute_force import Scanning
from retentive.storage.consistency import agreement, whole
from retentive.storage.engines.libsql.batches import Batch, statements
from retentive.storage.engines.libsql.hrana import (
    BadText,
    Refused,
    Request,
    Server,
    Unanswered,
    Unreached,
    pauses,
    sent,
)
from retentive.storage.migrations import migrations, missing
from retentive.storage.queries import Queries, parameters
from retentive.storage.tokenizer import Tokenizer
from retentive.text.fields import FIELD_WEIGHTS

PATIENCE = 5.0  # seconds in which a server may be restarted without anyone noticing
LOST_SECONDS = 30.0  # that are spent on learning what became of a write
TRIES = 20  # of migrating, each lost to another client that migrated too
OURS = {"migrations", "meta", "memories", "chunks"}

T = TypeVar("T")


class LibsqlEngine(Scanning):
    dialect = "sqlite"
    in_process = True
    integrity = None  # for files: here the server keeps the rows

    def __init__(self, target: str, token: str = "", ca_file: str = "") -> None:
        self._server = Server(target, token, ca_file)
        self.target = self._server.address.shown
        self._tokenizer = Tokenizer()
        self._down = False
        weights = ", ".join(map(str, FIELD_WEIGHTS))
        each = "IN (SELECT value FROM json_each(:{}))"
        self._queries = Queries((self.dialect, "libsql"), each, weights=weights)
        try:
            self.migrate()
        except BaseException:
            self.close()
            raise

    def read(self, query: str, params: Params = NOTHING, filters: Sequence[str] = ()) -> list[tuple[Any, ...]]:
        statement = self._statement(query, params, filters)
        try:
            return self._answered(lambda: self._server.rows(statement))
        except BadText:
            return self._read_broken(statement)

    def apply(self, steps: Iterable[Step]) -> None:
        work = [replace(each, rows=[*each.rows]) for each in steps]
        trouble = self._attempt(work)
        for pause in pauses(self._patience()):
            if trouble is None:
                break
            time.sleep(pause)
            trouble = self._attempt(work)
        self._down = trouble is not None
        if trouble is not None:
            raise Busy(f"{self.target} did not take the write: {trouble}", f"{_UP} Nothing of this write was kept.")

    def tokens(self, text: str) -> list[str]:
        """By SQLite in this process: the same tokenizer as the server's."""
        return self._tokenizer(text)

    def migrate(self) -> None:
        for _ in range(TRIES):
            batch = self._migration()
            if batch is None:
                return
            try:
                self._answered(partial(self._carry_out, batch))
            except Stale:
                continue  # another client was first, or a lost answer of ours
        raise Busy(f"{self.target}: other clients kept changing the schema")

    def check(self) -> list[Finding]:
        facts = self.facts()
        return [
            Finding("server", ok=True, detail=_server(facts)),
            whole([row[0] for row in self.read("server_integrity")], "Restore a backup of the server's."),
            *agreement(self),
        ]

    def rebuild(self) -> None:
        self.apply([Step("derived_rebuild", [{}])])

    def backup(self, target: Path, progress: Pages) -> Mapping[str, int]:  # noqa: ARG002 - the server's
        hint = "Use the server's own backups, or copy it into a file: `retentive migrate SERVER FILE`."
        raise Invalid("the store is on a libSQL server, and so are its backups", hint)

    def scrub(self, patience: float, *, reclaim: bool = False) -> Scrubbed:  # noqa: ARG002 - nobody is waited for
        """As far as a client can: the server lets none overwrite free pages or cut its log."""
        self.apply([step("text_optimize")])
        return Scrubbed(
            done=True,
            detail="no row or posting is left; the server's file may keep the bytes in free pages until they are used"
            " again, and so may its log, its replicas and its backups",
        )

    def facts(self) -> Mapping[str, Any]:
        size, free, durability, version, number = self.read("server_facts")[0]
        return {
            "engine": "libsql",
            "url": self.target,
            "bytes": size,
            "free_bytes": free,
            "schema": number,
            "sqlite": version,
            "server": self._server.version(),
            "durability": durability,
        }

    def close(self) -> None:
        self._server.close()

    def _statement(self, query: str, params: Params = NOTHING, filters: Sequence[str] = ()) -> Request:
        sql = self._queries.sql(query, filters)
        if has_broken(params.values()):
            sql = bind_broken(sql, params)
        sql, names = parameters(sql)
        values = (params[name] for name in names)
        given = (write_set(v) if isinstance(v, tuple | list) else v for v in values)
        return {"sql": sql, "args": [sent(value) for value in given]}

    def _read_broken(self, statement: Request) -> list[tuple[Any, ...]]:
        """The rows of a query in which a text is not UTF-8."""
        columns = self._answered(lambda: self._server.count_columns(statement["sql"]))
        spelled_out = {**statement, "sql": spell_out(statement["sql"], columns)}
        return [read_out(row) for row in self._answered(lambda: self._server.rows(spelled_out))]

    def _patience(self) -> float:
        """Once lost, it comes back with the first answer: closing a store must not wait for each thing it has to do."""
        return 0.0 if self._down else PATIENCE

    def _answered(self, action: Callable[[], T], seconds: float | None = None) -> T:
        """What may be done twice, until it is answered."""
        for pause in pauses(self._patience() if seconds is None else seconds):
            try:
                return self._told(action)
            except (Unreached, Unanswered, Busy):
                time.sleep(pause)
        try:
            answer = self._told(action)
        except (Unreached, Unanswered) as error:
            self._down = True
            raise Busy(f"{self.target} does not answer: {error}", _UP) from error
        self._down = False
        return answer

    def _told(self, action: Callable[[], T]) -> T:
        try:
            return action()
        except Refused as error:
            raise error.ours(self.target) from error

    def _attempt(self, work: Sequence[Step]) -> Exception | None:
        """None if it was kept; else why it surely was not, and may be tried again."""
        name = str(uuid.uuid4())
        batch = Batch(self._queries)
        for each in (step("batch_kept", id=name), *work):
            batch.step(each)
        try:
            self._told(partial(self._carry_out, batch))
        except (Unreached, Busy) as error:
            return error
        except Unanswered as error:
            return None if self._kept(name) else error
        return None

    def _carry_out(self, batch: Batch) -> None:
        try:
            (result,) = self._server.pipeline([{"type": "batch", "batch": {"steps": batch.finished()}}])
        except Refused as error:
            if error.code == "RESPONSE_TOO_LARGE":
                raise Unanswered(str(error)) from error
            raise
        for place, refusal in enumerate(result["step_errors"]):
            if refusal and (what := batch.guarded(place)):
                raise Stale(f"{self.target}: {what} found another state than the one it was decided on")
            if refusal:
                raise Refused(refusal)

    def _kept(self, name: str) -> bool:
        """Was the batch of this name kept? If not, it never will be."""
        asked = self._statement("batch_never", {"id": name})
        try:
            rows = self._answered(lambda: self._server.rows(asked), LOST_SECONDS)
        except StorageError as error:
            hint = f"{_UP} Look whether it is there before you write it again."
            raise Uncertain(f"{self.target} did not say whether the write was kept: {error}", hint) from error
        return bool(rows[0][0] == "kept")

    def _migration(self) -> Batch | None:
        """What brings the schema up to date, if it is still as it was read here."""
        tables = {name for (name,) in self.read("table_names")}
        if tables and not tables >= OURS:
            raise NotAStore(f"{self.target} is a database of another program", "Choose another; it was left as it is.")
        applied: dict[int, str] = dict(self.read("migration_list")) if tables else {}
        todo = missing(migrations(self.dialect), applied, self.target)
        if not todo and "batches" in tables:
            return None
        batch = Batch(self._queries)
        batch.step(step("bookkeeping"))
        same, _ = parameters(self._queries.sql("migration_same"))
        batch.guard("migrate", same, [len(applied)])
        now = time.time_ns() // 1000
        for each in todo:
            for sql in statements(each.sql):
                batch.add(sql)
            batch.step(step("migration_insert", number=each.number, name=each.name, hash=each.hash, now=now))
        return batch


_UP = "See whether the server is up and can be reached from here."


def _server(facts: Mapping[str, Any]) -> str:
    waits = "commits wait for the disk" if facts["durability"] == "full" else "commits do not wait for the disk"
    return f"{facts['server'] or 'of unknown version'}, SQLite {facts['sqlite']}, {waits}"
