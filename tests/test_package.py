"""The package as a whole: its names, its imports, its schema, its errors."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

import retentive
from retentive import errors
from retentive.config import SETTINGS, Settings, mask_secrets, resolve
from retentive.errors import BadConfig, Corrupt, RetentiveError, outcome
from retentive.ids import new_ids
from retentive.storage.engines.sqlite import SqliteEngine
from retentive.storage.migrations import load_migrations
from retentive.text.search_fields import FIELD_WEIGHTS, SEARCH_FIELDS
from tests.engines import PAST

SOURCE = Path(retentive.__file__).parent
QUERIES = SOURCE / "storage" / "queries"
_FRAGMENT = re.compile(r"^-- fragment: (\w+)$", re.MULTILINE)
HEAVY = {
    "detect_secrets",
    "markdown_it",
    "pydantic",
    "pypdf",
    "numpy",
    "onnx",
    "onnxruntime",
    "tokenizers",
    "usearch",
    "httpx",
    "yaml",
    "apsw",
    "platformdirs",
    "click",
    "rich",
}


def test_public_names_are_sorted_and_there() -> None:
    assert retentive.__all__ == sorted(retentive.__all__, key=lambda name: (name.startswith("_"), name))
    assert all(getattr(retentive, name) for name in retentive.__all__)
    with pytest.raises(AttributeError):
        _ = retentive.nothing


@pytest.mark.parametrize(
    ("code", "allowed"),
    [
        ("from retentive.cli import main; main([])", set()),  # --help
        ("import retentive.api", {"apsw"}),  # the library, until it is asked to do something
        (
            "from retentive import Retentive; m = Retentive.open(':memory:'); m.search('x', mode='text')",
            {"apsw", "platformdirs"},
        ),
    ],
)
def test_what_is_heavy_is_imported_late(code: str, allowed: set[str]) -> None:
    report = "; import sys; print('LOADED', *sys.modules)"
    run = subprocess.run([sys.executable, "-c", code + report], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.rpartition("LOADED")[2].split())
    assert loaded & HEAVY <= allowed


COUNTING = """
import re._compiler
compile, compiled = re._compiler.compile, []

def count(*given):
    compiled.append(given)
    return compile(*given)

re._compiler.compile = count
from retentive import Retentive
store = Retentive.open(":memory:", embedder="none")
before = len(compiled)
store.add("The user prefers tea over coffee")
import sys
print(len(compiled) - before, *sys.modules)
"""


def test_a_first_memory_has_only_those_patterns_compiled_that_look_at_it() -> None:
    """Not those for conversations, secrets and times, of which it shows no sign."""
    run = subprocess.run([sys.executable, "-c", COUNTING], capture_output=True, text=True, check=True)
    number, *loaded = run.stdout.split()
    unneeded = (
        "learn.talk.candidates",
        "learn.talk.requests",
        "learn.asked.model",
        "text.secrets.named",
        "text.dates.grammar",
    )
    assert {f"retentive.{name}" for name in unneeded}.isdisjoint(loaded)
    assert int(number) < 100


def test_a_question_has_no_patterns_of_corrections_compiled() -> None:
    code = "from retentive import Retentive; Retentive.open(':memory:').search('tea', mode='text')"
    report = "; import sys; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code + report], capture_output=True, text=True, check=True)
    assert "retentive.judgement.corrections.statement" not in run.stdout.split()


def tree(kind: type[RetentiveError]) -> list[type[RetentiveError]]:
    return [kind, *(each for child in kind.__subclasses__() for each in tree(child))]


@pytest.mark.parametrize("kind", tree(RetentiveError))
def test_every_error_is_drawn_in_the_tree_and_has_an_outcome(kind: type[RetentiveError]) -> None:
    assert re.search(rf"\b{kind.__name__}\b", errors.__doc__ or "")
    assert outcome(kind("x")).exit_code > 0


def test_ids_sort_in_the_order_they_were_made() -> None:
    ids = [id for _ in range(4) for id in new_ids(1_800_000_000_000_000, 500)]
    assert ids == sorted(set(ids))
    assert all(re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", id) for id in ids)


def test_every_named_query_is_one_that_sqlite_accepts() -> None:
    """With all its filters; a parameter or column that is not there is found here."""
    engine = SqliteEngine(":memory:")
    queries = engine._queries
    filters = [name for name in _FRAGMENT.findall((QUERIES / "filters.sql").read_text()) if name != "before"]
    for name, text in queries._blocks["name"].items():
        bare = queries.sql(name)
        fitting = [each for each in filters if each != "visible" or "chunks t" in bare]
        if "sessions t" in bare or "records t" in bare:
            fitting = ["after_record"] if "records t" in bare else []
        elif "{filters}" in text:
            fitting += [("chunk_" if "chunks t" in bare else "") + moment for moment in PAST]
        sql = queries.sql(name, fitting if "{filters}" in text else ())
        params = dict.fromkeys(re.findall(r":(\w+)", sql))
        for statement in filter(None, (part.strip() for part in sql.split(";\n"))):
            engine._writer.execute(f"EXPLAIN {statement}", params).fetchall()
    engine.close()


def test_only_the_folder_of_storage_names_a_query() -> None:
    """Others make no `Step` and read from no engine themselves: the functions of `storage/tables` do."""
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        if SOURCE / "storage" in path.parents:
            continue
        nodes = [*ast.walk(ast.parse(path.read_text()))]
        imports = [node for node in nodes if isinstance(node, ast.ImportFrom) and node.module == "retentive.storage"]
        makers = {each.asname or each.name for node in imports for each in node.names if each.name in ("Step", "step")}
        for node in nodes:
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            if called in makers or re.search(r"(^|[._])engine\.read$", called):
                found.append(f"{path.relative_to(SOURCE)}:{node.lineno}: {called}")
    assert found == []


def test_the_fields_have_a_column_and_a_weight_each() -> None:
    engine = SqliteEngine(":memory:")
    columns = engine._writer.execute("SELECT name FROM pragma_table_info('chunks_fts')").fetchall()
    engine.close()
    assert tuple(name for (name,) in columns) == SEARCH_FIELDS
    assert len(SEARCH_FIELDS) == len(FIELD_WEIGHTS)


def test_migrations_are_numbered_without_a_gap() -> None:
    assert [each.number for each in load_migrations("sqlite")] == [*range(1, len(load_migrations("sqlite")) + 1)]


def test_a_schema_that_is_not_ours_is_refused(tmp_path: Path) -> None:
    SqliteEngine(str(tmp_path / "m.db")).close()
    connection = apsw.Connection(str(tmp_path / "m.db"))
    connection.execute("UPDATE migrations SET hash = 'x'")
    connection.close()
    with pytest.raises(Corrupt, match="schema 1"):
        SqliteEngine(str(tmp_path / "m.db"))


def test_open_is_typed_with_every_setting() -> None:
    assert {"db", "namespace", *Settings.__annotations__} == {setting.name for setting in SETTINGS}


def test_settings_come_from_argument_environment_file_default_in_this_order(tmp_path: Path) -> None:
    file = tmp_path / "c.toml"
    file.write_text('namespace = "file"\nembedder = "none"\nfusion = "rrf"\n')
    environment = {"RETENTIVE_NAMESPACE": "environment", "RETENTIVE_EMBEDDER": "hashing"}
    found = resolve({"namespace": "argument"}, environment, file)
    assert found["namespace"] == ("argument", "argument")
    assert found["embedder"] == ("hashing", "RETENTIVE_EMBEDDER")
    assert found["fusion"] == ("rrf", str(file))
    assert found["vector_weight"] == (0.65, "default")
    assert set(found) == {setting.name for setting in SETTINGS}


@pytest.mark.parametrize("text", ["colour = 1", "namespace = ", "download = 'maybe'", "threads = 1000"])
def test_a_bad_configuration_file_is_named(tmp_path: Path, text: str) -> None:
    file = tmp_path / "c.toml"
    file.write_text(text)
    with pytest.raises(BadConfig, match=re.escape(str(file))):
        resolve({}, {}, file)


def test_passwords_in_addresses_are_not_shown() -> None:
    found = mask_secrets(
        resolve({"db": "postgresql://anna:geheim@host:5432/memory", "auth_token": "abc"}, {}, Path("/none"))
    )
    assert found["db"].value == "postgresql://anna:***@host:5432/memory"
    assert found["auth_token"].value == "***"
    assert mask_secrets(resolve({"db": "a:b@c"}, {}, Path("/none")))["db"].value == "a:b@c"
