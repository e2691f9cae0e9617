"""What the tests of PostgreSQL share: a row of each kind, and SQL beside the engine."""

from typing import Any

import psycopg

from retentive.model import Space

SPACE = Space("test-16", 16, 0.3)


def run(url: str, sql: str) -> list[Any]:
    with psycopg.connect(url, autocommit=True, options="-c search_path=retentive,public") as connection:
        cursor = connection.execute(sql)
        return cursor.fetchall() if cursor.description else []


def chunk(owner: str, content: str, namespace: str, **more: Any) -> dict[str, Any]:
    fields: dict[str, Any] = dict.fromkeys(["f_context", "f_tags", "f_before", "f_after", "f_speaker", "f_date"])
    facets = {"session": None, "kind": "fact", "source": "explicit", "tags": None, "confidence": 0.9, "importance": 5}
    part = {"owner_type": "memory", "owner": owner, "ordinal": 0, "text": None, "valid_from": 1, "expires": None}
    given = {"namespace": namespace, "space": SPACE.name, "vector": None, "f_content": content}
    return {**fields, **facets, **part, **given, **more}
