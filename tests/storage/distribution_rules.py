"""The rules that a statement obeys so that a cluster (Citus) can run it on the machine that has the namespace.

Each was learned from a statement that failed on a real cluster, or gave wrong data there without an error; those
are in `test_distribution.py`. A statement is read with a parser of SQL, after its fragments were put together.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import sqlglot
from sqlglot import exp

REFERENCE_TABLES = {"spaces", "meta", "tokens"}  # a copy on every machine
LOCAL_TABLES = {"commits", "migrations", "chunk_numbers", "access_log_n_seq"}  # on the coordinator alone
NUMBERED_TABLES = {"chunks", "statistics"}  # whose column n a sequence fills in where a statement does not
_KEYS = {"namespaces": "name"}  # of all other tables it is `namespace`
_NOT_PARSED = {"<#>": "<->", " OVERRIDING SYSTEM VALUE": ""}
_SCOPES = (exp.Select, exp.Update, exp.Delete)
_UTILITY = ("LOCK ", "SET ", "ANALYZE ", "VACUUM ")


class Rule(NamedTuple):
    name: str
    find: Callable[["Parsed"], Iterator[str]]
    is_for_whole_store: bool = True
    """Whether statements about the whole store obey it too."""


class Parsed(NamedTuple):
    tree: exp.Expr
    parameters: Sequence[str]
    distributed: frozenset[str]

    def is_distributed(self, table: exp.Table) -> bool:
        return table.name in self.distributed and table.name not in self.common_tables

    @property
    def common_tables(self) -> set[str]:
        return {cte.alias for cte in self.tree.find_all(exp.CTE)}


def parse_statement(sql: str, parameters: Sequence[str], distributed: frozenset[str]) -> Parsed:
    for theirs, ours in _NOT_PARSED.items():
        sql = sql.replace(theirs, ours)
    return Parsed(sqlglot.parse_one(sql, read="postgres"), parameters, distributed)


def find_bare_tables(sql: str, tables: frozenset[str]) -> list[str]:
    """Which of these tables the statement names without a schema."""
    if sql.startswith(_UTILITY):
        return []
    named = parse_statement(sql, (), frozenset()).tree.find_all(exp.Table)
    return [table.name for table in named if table.name in tables and not table.db]


def find_violations(
    sql: str, parameters: Sequence[str], distributed: frozenset[str], *, is_whole_store: bool = False
) -> list[str]:
    """The names of the rules that the statement breaks, each with the place."""
    if sql.startswith(_UTILITY):
        return [f"no session state: {sql}"] if sql.startswith("SET ") else []
    parsed = parse_statement(sql, parameters, distributed)
    rules = (rule for rule in RULES if rule.is_for_whole_store or not is_whole_store)
    return [f"{rule.name}: {place}" for rule in rules for place in rule.find(parsed)]


def _list_scopes(tree: exp.Expr) -> Iterator[exp.Expr]:
    yield from tree.find_all(*_SCOPES)


def _list_tables(scope: exp.Expr) -> list[exp.Table]:
    """The tables that a SELECT, UPDATE or DELETE itself names, without those of its subqueries."""
    sources: list[exp.Expr | None] = [join.this for join in scope.args.get("joins") or ()]
    source = scope.args.get("from_") or scope.args.get("from")
    if source:
        sources += [source.this, *(join.this for join in source.this.args.get("joins") or ())]
    if not isinstance(scope, exp.Select):
        sources.append(scope.this)
        sources += [join.this for join in scope.this.args.get("joins") or ()]
    for used in scope.args.get("using") or ():
        sources += [used, *(join.this for join in used.args.get("joins") or ())]
    return [each for each in sources if isinstance(each, exp.Table)]


def _list_conditions(scope: exp.Expr) -> Iterator[exp.Expr]:
    """What must hold for each row: the parts of WHERE and of every ON."""
    where = scope.args.get("where")
    own_joins = (join for join in scope.find_all(exp.Join) if join.find_ancestor(*_SCOPES) is scope)
    held = [where.this] if where else []
    for each in [*held, *(join.args["on"] for join in own_joins if join.args.get("on"))]:
        yield from _split_conjunction(each)


def _split_conjunction(condition: exp.Expr) -> Iterator[exp.Expr]:
    condition = condition.unnest()
    if isinstance(condition, exp.And):
        yield from _split_conjunction(condition.left)
        yield from _split_conjunction(condition.right)
    else:
        yield condition


def _names_key(side: exp.Expr, table: exp.Table, is_alone: bool) -> bool:
    key = _KEYS.get(table.name, "namespace")
    if not isinstance(side, exp.Column) or side.name != key:
        return False
    return side.table == table.alias_or_name or (is_alone and not side.table)


def _is_constant(side: exp.Expr, parameters: Sequence[str]) -> bool:
    """Whether it is a parameter of namespaces, or one of a set of them."""
    if isinstance(side, exp.Any):
        side = side.this.unnest()
    if not isinstance(side, exp.Parameter):
        return False
    name = parameters[int(side.name) - 1]
    return name in ("namespace", "namespaces", "name", "session_namespace")


def _is_bound(parsed: Parsed, scope: exp.Expr, table: exp.Table) -> bool:
    """Whether the namespace of a table is a constant, or that of a table outside the subquery for which it is one."""
    is_alone = len(_list_tables(scope)) == 1
    for condition in _list_conditions(scope):
        if not isinstance(condition, exp.EQ):
            continue
        for side, other in ((condition.left, condition.right), (condition.right, condition.left)):
            if _names_key(side, table, is_alone):
                if _is_constant(other, parsed.parameters):
                    return True
                if isinstance(other, exp.Column) and _is_bound_outside(parsed, scope, other):
                    return True
    return False


def _is_bound_outside(parsed: Parsed, scope: exp.Expr, column: exp.Column) -> bool:
    outer = scope.find_ancestor(*_SCOPES)
    while outer is not None:
        for table in _list_tables(outer):
            if column.table == table.alias_or_name and parsed.is_distributed(table):
                return _names_key(column, table, is_alone=False) and _is_bound(parsed, outer, table)
        outer = outer.find_ancestor(*_SCOPES)
    return False


def _find_unbound(parsed: Parsed) -> Iterator[str]:
    for scope in _list_scopes(parsed.tree):
        for table in _list_tables(scope):
            if parsed.is_distributed(table) and not _is_bound(parsed, scope, table):
                yield table.sql("postgres")


def _find_subqueries_in_values(parsed: Parsed) -> Iterator[str]:
    for insert in parsed.tree.find_all(exp.Insert):
        if isinstance(insert.expression, exp.Values) and insert.expression.find(exp.Select):
            yield insert.this.sql("postgres")


def _find_writes_in_with(parsed: Parsed) -> Iterator[str]:
    for cte in parsed.tree.find_all(exp.CTE):
        if cte.find(exp.Insert, exp.Update, exp.Delete):
            yield cte.alias


def _find_correlated_on_reference(parsed: Parsed) -> Iterator[str]:
    """Subqueries over distributed tables that name a column of a reference table outside."""
    for scope in _list_scopes(parsed.tree):
        outside = {each.alias_or_name for each in _list_tables(scope) if each.name in REFERENCE_TABLES}
        if len(outside) < len(_list_tables(scope)):
            continue
        for inner in scope.find_all(exp.Select):
            tables = [each for each in _list_tables(inner) if parsed.is_distributed(each)]
            if inner is not scope and tables and any(c.table in outside for c in inner.find_all(exp.Column)):
                yield tables[0].sql("postgres")


def _find_reference_writes(parsed: Parsed) -> Iterator[str]:
    """Writes of a reference table that read a distributed one in the same statement, outside a WITH."""
    for scope in parsed.tree.find_all(exp.Update, exp.Delete, exp.Insert):
        target = scope.this.this if isinstance(scope.this, exp.Schema) else scope.this
        if target.name in REFERENCE_TABLES:
            for table in scope.find_all(exp.Table):
                if parsed.is_distributed(table) and not table.find_ancestor(exp.CTE):
                    yield table.sql("postgres")


def _find_branches_without_from(parsed: Parsed) -> Iterator[str]:
    for union in parsed.tree.find_all(exp.SetOperation):
        for branch in (union.left.unnest(), union.right.unnest()):
            if isinstance(branch, exp.Select) and not (branch.args.get("from_") or branch.args.get("from")):
                yield branch.sql("postgres")


def _find_untyped_parameters(parsed: Parsed) -> Iterator[str]:
    """Parameters that are a column of a SELECT as they are: nothing says which type they have."""
    for select in parsed.tree.find_all(exp.Select):
        for column in select.expressions:
            if isinstance(column.unalias(), exp.Parameter):
                yield f":{parsed.parameters[int(column.unalias().name) - 1]}"


def _find_session_state(parsed: Parsed) -> Iterator[str]:
    for call in parsed.tree.find_all(exp.Anonymous):
        if call.name.lower() == "set_config":
            yield call.sql("postgres")


def _list_selected_inserts(parsed: Parsed) -> Iterator[tuple[exp.Table, list[str], exp.Select]]:
    """Each INSERT of what a SELECT finds in a distributed table: the table, the columns named and the SELECT."""
    for insert in parsed.tree.find_all(exp.Insert):
        schema, select = insert.this, insert.expression
        if isinstance(select, exp.Select) and isinstance(schema, exp.Schema) and parsed.is_distributed(schema.this):
            yield schema.this, [each.name for each in schema.expressions], select


def _find_foreign_namespaces(parsed: Parsed) -> Iterator[str]:
    """Rows whose namespace is not that of a row that is read: they travel through the coordinator."""
    for table, columns, select in _list_selected_inserts(parsed):
        place = columns.index(_KEYS.get(table.name, "namespace"))
        if not isinstance(select.expressions[place].unalias(), exp.Column):
            yield table.sql("postgres")


def _find_numbers_of_sequences(parsed: Parsed) -> Iterator[str]:
    for table, columns, _ in _list_selected_inserts(parsed):
        if table.name in NUMBERED_TABLES and "n" not in columns:
            yield table.sql("postgres")


RULES = (
    Rule("the namespace of every table is a constant", _find_unbound, is_for_whole_store=False),
    Rule("no subquery in VALUES", _find_subqueries_in_values),
    Rule("no part of a WITH writes", _find_writes_in_with),
    Rule("no subquery depends on a row of a reference table", _find_correlated_on_reference),
    Rule("who writes a reference table reads no other", _find_reference_writes),
    Rule("every branch of a UNION has a FROM", _find_branches_without_from),
    Rule("every parameter has a type", _find_untyped_parameters),
    Rule("no session state", _find_session_state),
    Rule("what is inserted stays where it was read", _find_foreign_namespaces, is_for_whole_store=False),
    Rule("what is selected and inserted brings its number", _find_numbers_of_sequences, is_for_whole_store=False),
)
