"""Changes of JSON documents: merge patches (RFC 7396), JSON Patch (RFC 6902), pointers (RFC 6901), schemas.

Documents are never changed in place: each function returns a new one.
"""

import copy
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from retentive.errors import Invalid

MAX_PATCHED_CHARS = 1_000_000  # of JSON during a patch: copies of copies double a document
MAX_ERROR_CHARS = 300  # characters of an error, which may repeat a document
_MISSING = object()
_LIST_INDEX = re.compile(r"0|[1-9][0-9]{0,15}")


def is_same_json(first: Any, second: Any) -> bool:
    """Compare two values as JSON: true is not 1, 1.0 is not 1, and the order of names does not matter."""
    return json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True)


def apply_merge_patch(document: Any, patch: Any) -> Any:
    """Apply a merge patch: null removes a value, objects are merged, everything else replaces."""
    if not isinstance(patch, Mapping):
        return patch
    merged = dict(document) if isinstance(document, Mapping) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = apply_merge_patch(merged.get(name), value)
    return merged


def apply_json_patch(document: Any, operations: Any) -> Any:
    """Apply a JSON Patch: all of its operations, or none."""
    import jsonpatch

    if not isinstance(operations, Sequence) or isinstance(operations, str):
        raise Invalid("a JSON Patch is a list of operations", 'As [{"op": "add", "path": "/name", "value": "Anna"}].')
    patched = copy.deepcopy(document)
    try:
        for each in operations:
            patched = jsonpatch.JsonPatch([each]).apply(patched, in_place=True)
            if each["op"] == "copy" and len(json.dumps(patched)) > MAX_PATCHED_CHARS:
                raise Invalid(
                    "the JSON Patch copies too much", f"No more than {MAX_PATCHED_CHARS:,} characters in all."
                )
    except (jsonpatch.JsonPatchException, jsonpatch.JsonPointerException) as error:
        raise Invalid(
            f"the JSON Patch cannot be applied: {str(error)[:MAX_ERROR_CHARS]}", "Nothing was changed."
        ) from error
    except RecursionError as error:
        raise Invalid("the JSON Patch makes a document that is too deep", "Nothing was changed.") from error
    except (TypeError, KeyError, ValueError, AttributeError, IndexError) as error:  # malformed operations
        raise Invalid(f"not a JSON Patch: {str(error)[:MAX_ERROR_CHARS]}", "See RFC 6902.") from error
    return patched


def diff_documents(before: Any, after: Any, pointer: str = "") -> Iterator[dict[str, Any]]:
    """Yield the JSON Patch that turns `before` into `after`. Lists that differ are replaced whole."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in (each for each in before if each not in after):
            yield {"op": "remove", "path": f"{pointer}/{_escape(name)}"}
        for name, value in after.items():
            path = f"{pointer}/{_escape(name)}"
            if name not in before:
                yield {"op": "add", "path": path, "value": value}
            else:
                yield from diff_documents(before[name], value, path)
    elif not is_same_json(before, after):
        yield {"op": "replace", "path": pointer, "value": after}


def to_pointer(path: str) -> str:
    """Return the JSON pointer of a path: a pointer itself, or names with dots between them."""
    if not path or path.startswith("/"):
        return path
    return "".join(f"/{_escape(part)}" for part in path.split("."))


def get_value(document: Any, pointer: str, otherwise: Any = None) -> Any:
    """Return the value at a pointer, or `otherwise` if there is none."""
    for part in _split_pointer(pointer):
        if isinstance(document, Mapping):
            document = document.get(part, _MISSING)
        elif isinstance(document, list) and _LIST_INDEX.fullmatch(part):
            document = document[int(part)] if int(part) < len(document) else _MISSING
        else:
            document = _MISSING
        if document is _MISSING:
            return otherwise
    return document


def set_value(document: Any, pointer: str, value: Any) -> Any:
    """Return the document with a value at a pointer. Missing objects on the way are created."""
    if not pointer:
        return value
    first, *rest = _split_pointer(pointer) or [""]
    if isinstance(document, list):
        present = get_value(document, f"/{first}", _MISSING)
        if rest:
            value = set_value({} if present is _MISSING else present, _join_pointer(rest), value)
        operation = "replace" if rest or present is not _MISSING else "add"
        return apply_json_patch(document, [{"op": operation, "path": f"/{_escape(first)}", "value": value}])
    if not isinstance(document, Mapping):
        raise Invalid(f"{pointer} is inside of a value that is not an object", "Set the enclosing value first.")
    inner = set_value(document.get(first, {}), _join_pointer(rest), value) if rest else value
    return {**document, first: inner}


def remove_value(document: Any, pointer: str) -> Any:
    """Return the document without the value at a pointer, and without objects that are empty then."""
    first, *rest = _split_pointer(pointer) or [""]
    if not isinstance(document, Mapping) or first not in document:
        return document
    inner = remove_value(document[first], _join_pointer(rest)) if rest else None
    if inner:
        return {name: inner if name == first else value for name, value in document.items()}
    return {name: value for name, value in document.items() if name != first}


def iter_leaves(document: Any, pointer: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every value that is not an object, with its pointer."""
    if isinstance(document, Mapping) and document:
        for name, value in document.items():
            yield from iter_leaves(value, f"{pointer}/{_escape(name)}")
    elif pointer:
        yield pointer, document


def check_schema(schema: Any) -> Mapping[str, Any] | None:
    """Return a valid JSON Schema as it is; raise `Invalid` for anything else but None."""
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import validator_for

    if schema is None:
        return None
    if not isinstance(schema, Mapping):
        raise Invalid(f"a schema is an object, not a {type(schema).__name__}")
    if not isinstance(schema.get("$schema", ""), str):
        raise Invalid("the $schema of a schema is a text", "Leave it out for the newest draft.")
    try:
        validator_for(schema).check_schema(schema)
    except SchemaError as error:
        raise Invalid(f"not a JSON Schema: {error.message} at {error.json_path}") from error
    return schema


def check_document(document: Any, schema: Mapping[str, Any] | None) -> None:
    """Refuse a document that the schema does not allow. A schema that refers to another document is refused, too."""
    if schema is None:
        return
    from jsonschema.validators import validator_for
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    validator = validator_for(schema)(schema, registry=Registry())
    try:
        problems = sorted(validator.iter_errors(document), key=lambda problem: problem.json_path)
    except Unresolvable as error:
        problem_text = str(error)[:MAX_ERROR_CHARS]
        raise Invalid(
            f"the schema refers to another document: {problem_text}", "Put all definitions into the schema."
        ) from error
    except RecursionError as error:
        raise Invalid("the schema refers to itself endlessly", "Remove the circular reference.") from error
    if problems:
        problem_text = "; ".join(f"{problem.json_path}: {problem.message}" for problem in problems[:3])
        hint = "`profile.get()` shows the schema."
        raise Invalid(f"the schema of this profile does not allow this: {problem_text[:500]}", hint)


def _split_pointer(pointer: str) -> list[str]:
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def _join_pointer(parts: Sequence[str]) -> str:
    return "".join(f"/{_escape(part)}" for part in parts)


def _escape(part: str) -> str:
    return part.replace("~", "~0").replace("/", "~1")
