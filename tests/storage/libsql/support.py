"""A write that tells how often it was done."""

from retentive.storage import step
from retentive.storage.engines.libsql import LibsqlEngine

COUNTED = step("measure_add", namespace="n", measure="m", tier="", bucket=0, count=1)


def total(engine: LibsqlEngine) -> int:
    return sum(count for *_, count in engine.read("measure_list", {"namespace": "n"}))
