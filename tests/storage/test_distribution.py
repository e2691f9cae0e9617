"""Every statement of PostgreSQL obeys the rules of a cluster, and each rule refuses the statement that taught it."""

import re

import pytest

from retentive.storage.columns import TABLES
from retentive.storage.engines.postgres.dialect import TABLE_NAMES, make_queries
from retentive.storage.queries import SqlStatement
from tests.engines import PAST
from tests.storage.distribution_rules import REFERENCE_TABLES, RULES, find_bare_tables, find_violations

DISTRIBUTED = frozenset({*TABLES, "texts", "postings", "statistics"} - REFERENCE_TABLES)
QUERIES = make_queries()
FILTERS = ["active", "statuses", "kinds", "sources", "tags", "min_importance", "min_confidence", "since", "until"]
OWN_FILTERS = {"session_list": ["before_session"], "record_list": ["after_record"]}
WHOLE_STORE = {  # what looks at every machine of a cluster, by its purpose
    # background work, once in a while
    "chunk_pending", "chunk_pending_count", "learning_waiting", "memory_expired", "work_due", "purge_due",
    "proposal_has_outdated", "proposal_prune",
    # which namespaces and spaces there are
    "namespace_list", "session_names", "space_counts", "space_release", "space_activate", "space_has_vectors",
    "chunk_without_vector", "chunk_without_vector_count", "vector_drop",
    # doctor and repair
    "memory_broken_chunks", "check_memories", "check_files", "check_chunks", "check_postings", "check_vectors",
    "check_statistics", "derived_rebuild", "quarantine_list", "orphan_chunks", "orphan_memory_history",
    "orphan_record_history", "record_list_changed", "session_wrong_counts", "session_list_incomplete",
    "session_list_without_row", "session_rebuild", "namespace_list_missing", "namespace_rebuild",
    # a move to another engine
    "copy_namespaces", "copy_memories", "copy_memory_history", "copy_sessions", "copy_session_state", "copy_events",
    "copy_records", "copy_record_history", "copy_record_links", "copy_skill_runs", "copy_files", "copy_access_log",
    "copy_purges", "copy_expectations", "copy_proposals", "copy_hidden_messages", "copy_measures", "copy_quarantine",
    "copy_leases", "copy_chunks", "copy_vectors",
}  # fmt: skip


def list_statements(name: str) -> list[SqlStatement]:
    """The statements of a query, with all filters that it may get."""
    of_chunks = "chunks t" in QUERIES.sql(name)
    past = [f"chunk_{each}" if of_chunks else each for each in PAST]
    fitting = OWN_FILTERS.get(name, [*FILTERS, "visible" if of_chunks else "local", *past])
    return QUERIES.statements(name, fitting)


@pytest.mark.parametrize("name", sorted(QUERIES.names))
def test_every_statement_can_be_run_by_a_cluster(name: str) -> None:
    is_whole_store = QUERIES.traits(name).scope == "store"
    for statement in list_statements(name):
        assert find_violations(statement.sql, statement.names, DISTRIBUTED, is_whole_store=is_whole_store) == []


@pytest.mark.parametrize("name", sorted(QUERIES.names))
def test_every_table_is_named_with_its_schema(name: str) -> None:
    """A pooler may give a connection whose search path is another one."""
    for statement in list_statements(name):
        assert find_bare_tables(statement.sql, TABLE_NAMES) == []


def test_the_statements_about_the_whole_store_are_known() -> None:
    assert {name for name in QUERIES.names if QUERIES.traits(name).scope == "store"} == WHOLE_STORE


# Statements as they were when they failed on a cluster of Citus, or were wrong there: cut to what it was about.
REFUSED = {
    "the namespace of every table is a constant": [
        # read from all shards: two of the seven parts of a hybrid search
        ("WITH a AS MATERIALIZED (SELECT namespace, term FROM postings WHERE namespace = ANY (:namespaces))"
        " SELECT p.chunk FROM a JOIN postings p ON p.namespace = a.namespace AND p.term = a.term"),
        ("WITH b AS MATERIALIZED (SELECT namespace, n FROM chunks WHERE namespace = ANY (:namespaces))"
        " SELECT v.chunk FROM b JOIN vectors v ON v.namespace = b.namespace AND v.chunk = b.n"),
        # complex joins are only supported when all distributed tables are co-located
        ("SELECT p.place, e.content FROM unnest(:namespaces::text[], :sequences::bigint[]) WITH ORDINALITY"
        " AS p (namespace, sequence, place) LEFT JOIN events e ON e.namespace = p.namespace AND e.sequence ="
        " (SELECT min(x.sequence) FROM events x WHERE x.namespace = p.namespace AND x.sequence > p.sequence)"
        " AND e.namespace = ANY (:namespaces)"),
        "SELECT t.n FROM chunks t LEFT JOIN vectors v ON v.namespace = t.namespace WHERE t.namespace = :namespace",
        "DELETE FROM chunks WHERE owner = :owner",
        "UPDATE texts x SET tags = :tags FROM chunks c WHERE c.namespace = :namespace AND x.chunk = c.n",
    ],
    "no subquery in VALUES": [
        # subqueries are not supported within INSERT queries: every message that was appended
        ("INSERT INTO chunks (namespace, owner, tags) VALUES (:namespace, :owner,"
        " (SELECT tags FROM sessions WHERE namespace = :namespace AND id = :session))"),
        ("INSERT INTO vectors (namespace, space, chunk, vector) VALUES (:namespace,"
        " (SELECT id FROM spaces WHERE name = :space), :chunk, :vector::halfvec)"),
    ],
    "no part of a WITH writes": [
        # wrong without an error: `old` is the row after the UPDATE, so the postings of the old words stay
        ("WITH changed AS (UPDATE texts x SET tags = :f_tags WHERE x.namespace = :namespace RETURNING x.*),"
        " gone AS (DELETE FROM postings p USING changed x, texts old WHERE p.namespace = :namespace"
        " AND old.namespace = :namespace AND old.chunk = x.chunk AND p.term = ANY (old.terms))"
        " SELECT count(*) FROM changed"),
        # COPY FROM not supported with row-level security
        ("WITH new AS (INSERT INTO chunks (namespace, owner) VALUES (:namespace, :owner) RETURNING namespace, n)"
        " INSERT INTO texts (namespace, chunk) SELECT new.namespace, new.n FROM new"),
    ],
    "no subquery depends on a row of a reference table": [
        # correlated subqueries are not supported when the FROM clause contains a reference table
        ("SELECT s.name, (SELECT count(*) FROM vectors v WHERE v.space = s.id AND v.namespace = ANY (:namespaces))"
        " FROM spaces s"),
    ],
    "who writes a reference table reads no other": [
        ("UPDATE spaces SET state = 'kept' WHERE name = :space AND NOT EXISTS (SELECT 1 FROM vectors v"
        " WHERE v.namespace = :namespace)"),
    ],
    "every branch of a UNION has a FROM": [
        # cannot push down this subquery. Subqueries without a FROM clause are not supported with union operator
        ("SELECT h.before FROM memory_history h WHERE h.namespace = :namespace"
        " UNION ALL SELECT :status::text WHERE true"),
    ],
    "every parameter has a type": [
        # could not determine data type of parameter $1
        "INSERT INTO leases (namespace, name, holder) SELECT :namespace, :name, :holder",
    ],
    "no session state": [
        # could not create distributed plan: every batch of fifty rows
        "SET LOCAL plan_cache_mode = force_generic_plan",
        # workers are not told: a restricted view saw nothing
        "SELECT set_config('retentive.namespaces', :allowed::text, true)",
    ],
    "what is inserted stays where it was read": [
        ("INSERT INTO proposals (namespace, id) SELECT :namespace::text, :id::text WHERE EXISTS"
        " (SELECT 1 FROM memories WHERE namespace = :namespace AND id = :older)"),
    ],
    "what is selected and inserted brings its number": [
        ("INSERT INTO statistics (namespace, rows, tokens) SELECT c.namespace, -count(*), 0 FROM chunks c"
        " WHERE c.namespace = :namespace GROUP BY c.namespace"),
    ],
}  # fmt: skip


def test_every_rule_has_a_statement_that_taught_it() -> None:
    assert {rule.name for rule in RULES} == {*REFUSED}


@pytest.mark.parametrize(("rule", "sql"), [(rule, sql) for rule, taught in REFUSED.items() for sql in taught])
def test_a_statement_that_failed_on_a_cluster_is_refused(rule: str, sql: str) -> None:
    names: dict[str, int] = {}
    numbered = re.sub(r"(?<!:):([a-z]\w*)", lambda match: f"${names.setdefault(match[1], len(names) + 1)}", sql)
    assert [found for found in find_violations(numbered, [*names], DISTRIBUTED) if found.startswith(rule)]


@pytest.mark.parametrize(
    "sql",
    [
        (
            "SELECT 1 FROM events e WHERE e.namespace = $1 AND EXISTS"
            " (SELECT 1 FROM hidden_messages h WHERE h.namespace = e.namespace AND h.sequence = e.sequence)"
        ),
        (
            "INSERT INTO vectors (namespace, space, chunk) SELECT c.namespace, s.id, c.n FROM chunks c"
            " CROSS JOIN spaces s WHERE c.namespace = $1"
        ),
        "SELECT 1 FROM namespaces WHERE name = $1",
        (
            "WITH lacking AS MATERIALIZED (SELECT t.n FROM chunks t WHERE t.namespace = $1)"
            " UPDATE spaces SET state = 'active' WHERE NOT EXISTS (SELECT 1 FROM lacking)"
        ),
    ],
)
def test_what_a_cluster_runs_is_not_refused(sql: str) -> None:
    assert find_violations(sql, ["namespace"], DISTRIBUTED) == []
