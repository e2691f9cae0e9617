"""The queries of PostgreSQL. Tables are named with their schema: behind a pooler no search path can be relied on."""

import re

from retentive.storage.columns import TABLES
from retentive.storage.engines.postgres.codec import render_weights
from retentive.storage.engines.postgres.transactions import SCHEMA
from retentive.storage.queries import Queries
from retentive.text.search_fields import FIELD_WEIGHTS, SEARCH_FIELDS

DIALECT = "postgres"
TABLE_NAMES = frozenset({*TABLES, "texts", "postings", "statistics", "commits", "migrations"})
_SEQUENCES = ("chunk_numbers", "access_log_n_seq")
_NAMES = "|".join(sorted({*TABLE_NAMES, *_SEQUENCES}, key=len, reverse=True))
_TABLE = re.compile(rf"\b(FROM|JOIN|INTO|UPDATE|USING)( (?:{_NAMES})\b(?: [a-z])?(?:, (?:{_NAMES}) [a-z]\b)*)")
_UTILITY = re.compile(r"^(LOCK TABLE|ANALYZE|VACUUM)")
_NAME = re.compile(rf"(?<!\.)\b({_NAMES})\b")


def make_queries() -> Queries:
    fields = render_weights(dict(zip(SEARCH_FIELDS, FIELD_WEIGHTS, strict=True)))
    return Queries(DIALECT, "= ANY (:{})", qualify_tables, weighted=fields)


def qualify_tables(sql: str) -> str:
    """Put the schema before each table that a statement reads or writes. A column may have the name of a table."""
    if _UTILITY.match(sql.lstrip()):
        return _NAME.sub(rf"{SCHEMA}.\1", sql)
    return _TABLE.sub(lambda match: match[1] + _NAME.sub(rf"{SCHEMA}.\1", match[2]), sql)
