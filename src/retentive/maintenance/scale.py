"""Say how a store is set up, and spread it over the machines of a cluster."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from retentive.errors import Invalid
from retentive.maintenance.explain_setup import (
    FILE_FINDINGS,
    LIBSQL_FINDINGS,
    MEMORY_FINDINGS,
    explain_server,
    summarise_server,
)
from retentive.model.scale import PlannedStatement, ScaleReport, StoreKind
from retentive.storage import Finding
from retentive.store import OpenStore
from retentive.store.views import whole_store

if TYPE_CHECKING:
    from retentive.storage.engines.postgres.deployment import Deployment

Progress = Callable[[str], None]


class Scale:
    """On which machines the store is, and what follows from that."""

    def __init__(self, store: OpenStore) -> None:
        self._store = store

    @whole_store
    def check(self) -> ScaleReport:
        """Return what holds the store (a file, a server, a cluster), what follows, and the next step."""
        return describe_setup(self._store)

    @whole_store
    def distribute(
        self, shards: int | None = None, *, dry_run: bool = False, progress: Progress | None = None
    ) -> Sequence[PlannedStatement]:
        """Spread the store over the machines of a Citus cluster, each namespace on one. Return the statements.

        `shards`: into how many parts the namespaces are divided; by default the setting of the cluster. May be stopped
        and called again: it goes on where it was. `dry_run` only returns the statements.
        """
        deployment = _require_postgres(self._store)
        return _run(deployment, deployment.plan_distribution(shards), progress, dry_run=dry_run)

    @whole_store
    def undistribute(self, *, dry_run: bool = False, progress: Progress | None = None) -> Sequence[PlannedStatement]:
        """Bring all rows back to the coordinator. Return the statements. May be stopped and called again."""
        deployment = _require_postgres(self._store)
        return _run(deployment, deployment.plan_undistribution(), progress, dry_run=dry_run)


def describe_setup(store: OpenStore) -> ScaleReport:
    facts = store.engine.facts()
    deployment = store.engine.deployment
    if deployment is None:
        if facts["engine"] == "sqlite":
            findings = MEMORY_FINDINGS if facts["path"] == ":memory:" else FILE_FINDINGS
            return ScaleReport(StoreKind.FILE, str(facts["path"]), findings)
        return ScaleReport(StoreKind.LIBSQL, str(facts["url"]), LIBSQL_FINDINGS)
    where, setup = str(facts["where"]), deployment.describe()
    kind = StoreKind.CLUSTER if setup.citus else StoreKind.POSTGRES
    return ScaleReport(kind, where, tuple(explain_server(setup, where)), setup)


def check_setup(store: OpenStore) -> list[Finding]:
    """Return one finding for `doctor`: what is wrong with the setup, or in one line what it is."""
    report = describe_setup(store)
    wrong = [each for each in report.findings if not each.ok]
    if wrong:
        detail = "; ".join(f"{each.name}: {each.detail}" for each in wrong)
        return [Finding("setup", ok=False, detail=detail, remedy=" ".join(each.next_step for each in wrong))]
    detail = summarise_server(report.server) if report.server else report.findings[0].detail
    return [Finding("setup", ok=True, detail=detail)]


def _require_postgres(store: OpenStore) -> "Deployment":
    deployment = store.engine.deployment
    if deployment is None:
        hint = "Move it to PostgreSQL first: `migrate(SOURCE, TARGET)`."
        raise Invalid("only a store in PostgreSQL with Citus can be distributed", hint)
    return deployment


def _run(
    deployment: "Deployment", plan: list[PlannedStatement], progress: Progress | None, *, dry_run: bool
) -> list[PlannedStatement]:
    if not dry_run:
        deployment.run(plan, progress or _ignore)
    return plan


def _ignore(_: str) -> None:
    pass
