"""Caches that hold texts of users are registered, so that a purge can empty them."""

import ast
from collections.abc import Iterator
from pathlib import Path

from retentive.text.caches import clear_text_caches, text_cache

PACKAGE = Path(__file__).parents[2] / "src" / "retentive"
WITHOUT_USER_TEXTS = {
    "clients/jsonc.py:_blank_comments": "the settings of other programs",
    "judgement/judges.py:load_judge": "names of judges",
    "model/times.py:from_micros": "numbers",
    "storage/engines/libsql/batches.py:split_statements": "our own SQL",
    "storage/queries.py:use_question_marks": "our own SQL",
    "text/prompts/__init__.py:load_prompt": "names of prompts",
}
"""Caches with keys that `lru_cache` may hold, and what their keys are."""


def test_cleared_caches_hold_no_text() -> None:
    length = text_cache(10)(len)
    length("The door opens with 4711")
    clear_text_caches()
    assert length.cache_info().currsize == 0


def test_each_cache_with_keys_is_registered() -> None:
    """`cache` for functions without arguments, `text_cache` for texts; anything else is listed above with a reason."""
    found = {
        f"{path.relative_to(PACKAGE).as_posix()}:{name}"
        for path in PACKAGE.rglob("*.py")
        if path != PACKAGE / "text" / "caches.py"
        for name in _find_unregistered(ast.parse(path.read_text("utf-8")))
    }
    assert found == {*WITHOUT_USER_TEXTS}


def _find_unregistered(module: ast.Module) -> Iterator[str]:
    """The functions that are cached with their arguments, but not by `text_cache`."""
    functions = [node for node in ast.walk(module) if isinstance(node, ast.FunctionDef)]
    for function in functions:
        named = {_name_of(each) for each in function.decorator_list}
        has_keys = bool(function.args.args or function.args.kwonlyargs)
        calls = (node for node in ast.walk(function) if isinstance(node, ast.Call))
        if (has_keys and named & {"cache", "lru_cache"}) or any(_name_of(each) == "lru_cache" for each in calls):
            yield function.name


def _name_of(node: ast.expr) -> str:
    """The name that a decorator or a call goes by: `lru_cache` of `functools.lru_cache(64)`."""
    while isinstance(node, ast.Call):
        node = node.func
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
