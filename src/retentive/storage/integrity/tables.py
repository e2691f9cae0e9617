"""The tables and columns that are sealed.

The MAC of a row covers these columns in this order: an addition to a released list needs a migration that seals every
store again. A test fails for a table or column that is missing in this module.
"""

from typing import NamedTuple


class SealedTable(NamedTuple):
    key: tuple[str, ...]
    columns: tuple[str, ...]
    """All sealed columns, with those of the key."""


def _table(key: str, columns: str) -> SealedTable:
    keys = tuple(key.split())
    return SealedTable(keys, (*keys, *columns.split()))


SEALED = {
    "namespaces": _table("name", "created"),
    "memories": _table(
        "namespace id",
        "session kind content context tags slot source origin confidence importance status superseded_by content_hash"
        " valid_from valid_to created updated expires metadata version",
    ),
    "memory_history": _table("namespace memory version", "action at actor reason before"),
    "chunks": _table(
        "n",
        "namespace owner_type owner ordinal text session kind source tags confidence importance status valid_from"
        " expires first_sequence last_sequence hash context",
    ),
    "sessions": _table("namespace id", "agent tags metadata created person"),
    "session_state": _table(
        "namespace session",
        "last_sequence events active summary summary_upto epoch learned_upto claims claims_left",
    ),
    "events": _table("namespace session sequence", "role speaker content payload time tokens heeded"),
    "hidden_messages": _table("namespace session sequence memory", "hidden"),
    "purges": _table("namespace id at", "actor reason gone"),
    "tokens": _table("id", "hash name namespace subtree read_only created expires revoked"),
    "expectations": _table("namespace id", "question session finds absent depth created"),
    "records": _table("namespace type id", "key body version created updated deleted merged_into"),
    "record_history": _table("namespace type id version", "action at actor reason body"),
    "record_links": _table("namespace target type id", ""),
    "skill_runs": _table("namespace skill at memory", ""),
    "files": _table(
        "namespace id",
        "path session kind hash size modified stamp title tags metadata links unit sections mark indexed version",
    ),
    "proposals": _table("namespace id", "newer older newer_hash older_hash rule reason status created decided move_to"),
}

UNSEALED_TABLES = {
    "meta": "what the program notes about its own work; the store's id is part of every MAC",
    "migrations": "the schema is compared with this program's own",
    "spaces": "derived",
    "vectors": "derived",
    "changes": "derived",
    "chunks_fts": "derived",
    "leases": "gone in minutes",
    "access_log": "a count of uses",
    "measures": "a count of uses",
    "integrity_log": "has its own chain",
    "quarantine": "what was damaged when it was put there",
}
UNSEALED_COLUMNS = {
    "memories": ("access_count", "last_access"),  # written by every search
    "tokens": ("last_used",),
    "events": ("tags",),  # came after stores had been sealed; searches go by those of the chunk, which are sealed
}
