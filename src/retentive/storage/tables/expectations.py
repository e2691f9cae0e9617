"""The table of expectations: questions, and the ids of the memories that they should find."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from retentive.frozen_dataclass import dataclass
from retentive.model import Expectation, from_micros, to_micros
from retentive.storage import Engine, Step, step
from retentive.storage.damage import TEXTS, WHOLE, decodes, read_intact, read_list, require_types


@dataclass(frozen=True, slots=True)
class ExpectationRows:
    engine: Engine

    def all(self, namespace: str) -> list[Expectation]:
        """All expectations of a namespace, the oldest first."""
        return read_intact(self.engine, "expectation_list", {"namespace": namespace}, _decode_expectation)


def insert_step(given: Expectation) -> Step:
    return step(
        "expectation_insert",
        namespace=given.namespace,
        id=given.id,
        question=given.question,
        session=given.session,
        finds=json.dumps(given.finds, ensure_ascii=False),
        absent=json.dumps(given.absent, ensure_ascii=False),
        depth=given.within,
        created=to_micros(given.created),
    )


def delete_step(namespace: str, ids: Iterable[str]) -> Step:
    return Step("expectation_delete", [{"namespace": namespace, "id": id} for id in ids])


def session_step(namespace: str, session: str) -> Step:
    """Delete the expectations of a session that is deleted."""
    return step("expectation_delete_of_session", namespace=namespace, session=session)


@decodes("expectations", "namespace id question session finds absent depth created")
def _decode_expectation(row: Sequence[Any]) -> Expectation:
    namespace, id, question, session, finds, absent, within, created = row
    require_types((namespace, id, question, session), TEXTS)
    require_types((within,), WHOLE)
    found_ids, absent_ids = tuple(read_list(finds)), tuple(read_list(absent))
    return Expectation(id, namespace, question, found_ids, absent_ids, within, session, from_micros(created))
