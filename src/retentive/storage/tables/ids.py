"""Ids that begin or end with a part, over the tables whose rows people name by their ids."""

from typing import NamedTuple

from retentive.frozen_dataclass import dataclass
from retentive.storage import Engine

RECORDS = ("contact", "project", "skill")


class IdMatch(NamedTuple):
    """An id, and a text by which people know its row."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Ids:
    engine: Engine

    def find(self, namespace: str, of: str, part: str, limit: int) -> list[IdMatch]:
        """Find ids that begin or end with a part, which has hex digits and dashes only."""
        params = {"beginning": f"{part}%", "ending": f"%{part}", "limit": limit}
        if of == "token":
            rows = self.engine.read("id_of_token", params)
        elif of in RECORDS:
            rows = self.engine.read("id_of_record", {**params, "namespace": namespace, "type": of})
        else:
            rows = self.engine.read(f"id_of_{of}", {**params, "namespace": namespace})
        return [IdMatch(id, text if isinstance(text, str) else "") for id, text in rows if isinstance(id, str)]
