"""Changes of JSON documents: merge patches (RFC 7396), JSON Patch (RFC 6902), pointers (RFC 6901), schemas.

Documents are never changed in place: each function gives a new one.
"""

import copy
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from retentive.errors import Invalid

LARGEST = 1_000_000  # characters of JSON that a patch may make on its way: copies of copies double a document
SHOWN = 300  # characters of an error, which may repeat a document
_MISSING = object()
_INDEX = re.compile(r"0|[1-9][0-9]{0,15}")  # of a list; no list has more entries than can be counted so


def same(first: Any, second: Any) -> bool:
    """As JSON: true is not 1, 1.0 is not 1, and the order of names in an object is nothing."""
    return json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True)


def merged(document: Any, patch: Any) -> Any:
    """By a merge patch: null removes, objects are gone into, all else takes the place of what was there."""
    if not isinstance(patch, Mapping):
        return patch
    made = dict(document) if isinstance(document, Mapping) else {}
    for name, value in patch.items():
        if value is None:
            made.pop(name, None)
        else:
            made[name] = merged(made.get(name), value)
    return made


def patched(document: Any, operations: Any) -> Any:
    """By a JSON Patch: all of its operations, or none."""
    import jsonpatch

    if not isinstance(operations, Sequence) or isinstance(operations, str):
        raise Invalid("a JSON Patch is a list of operations", 'As [{"op": "add", "path": "/name", "value": "Anna"}].')
    made = copy.deepcopy(document)
    try:
        for each in operations:
            made = jsonpatch.JsonPatch([each]).apply(made, in_place=True)
            if each["op"] == "copy" and len(json.dumps(made)) > LARGEST:
                raise Invalid("the JSON Patch copies too much", f"No more than {LARGEST:,} characters in all.")
    except (jsonpatch.JsonPatchException, jsonpatch.JsonPointerException) as error:
        raise Invalid(f"the JSON Patch cannot be applied: {str(error)[:SHOWN]}", "Nothing was changed.") from error
    except RecursionError as error:
        raise Invalid("the JSON Patch makes a document that is too deep", "Nothing was changed.") from error
    except (TypeError, KeyError, ValueError, AttributeError, IndexError) as error:  # of operations that are none
        raise Invalid(f"not a JSON Patch: {str(error)[:SHOWN]}", "RFC 6902 has what one looks like.") from error
    return made


def differences(before: Any, after: Any, pointer: str = "") -> Iterator[dict[str, Any]]:
    """A JSON Patch that makes one of the other; lists that differ are replaced whole."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in (each for each in before if each not in after):
            yield {"op": "remove", "path": f"{pointer}/{_escaped(name)}"}
        for name, value in after.items():
            place = f"{pointer}/{_escaped(name)}"
            if name not in before:
                yield {"op": "add", "path": place, "value": value}
            else:
                yield from differences(before[name], value, place)
    elif not same(before, after):
        yield {"op": "replace", "path": pointer, "value": after}


def pointer_of(path: str) -> str:
    """A JSON pointer, of one or of names with dots between them."""
    if not path or path.startswith("/"):
        return path
    return "".join(f"/{_escaped(part)}" for part in path.split("."))


def at(document: Any, pointer: str, otherwise: Any = None) -> Any:
    """What stands there."""
    for part in _parts(pointer):
        if isinstance(document, Mapping):
            document = document.get(part, _MISSING)
        elif isinstance(document, list) and _INDEX.fullmatch(part):
            document = document[int(part)] if int(part) < len(document) else _MISSING
        else:
            document = _MISSING
        if document is _MISSING:
            return otherwise
    return document


def placed(document: Any, pointer: str, value: Any) -> Any:
    """With this value there; objects that are missing on the way are made."""
    first, *rest = _parts(pointer) or [""]
    if not pointer:
        return value
    if isinstance(document, list):
        operation = "replace" if rest == [] and at(document, f"/{first}", _MISSING) is not _MISSING else "add"
        inner = placed(at(document, f"/{first}", {}), _pointer(rest), value) if rest else value
        return patched(
            document, [{"op": "replace" if rest else operation, "path": f"/{_escaped(first)}", "value": inner}]
        )
    if not isinstance(document, Mapping):
        raise Invalid(f"{pointer} is inside of what is no object", "Set what is above it first.")
    return {**document, first: placed(document.get(first, {}), _pointer(rest), value) if rest else value}


def removed(document: Any, pointer: str) -> Any:
    """Without what is there, and without objects that are empty then."""
    first, *rest = _parts(pointer) or [""]
    if not isinstance(document, Mapping) or first not in document:
        return document
    inner = removed(document[first], _pointer(rest)) if rest else None
    others = {name: value for name, value in document.items() if name != first}
    return {name: inner if name == first else value for name, value in document.items()} if inner else others


def leaves(document: Any, pointer: str = "") -> Iterator[tuple[str, Any]]:
    """Every value that is no object, by its pointer."""
    if isinstance(document, Mapping) and document:
        for name, value in document.items():
            yield from leaves(value, f"{pointer}/{_escaped(name)}")
    elif pointer:
        yield pointer, document


def checked_schema(schema: Any) -> Mapping[str, Any] | None:
    """A JSON Schema that can be used, or None."""
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


def meet(document: Any, schema: Mapping[str, Any] | None) -> None:
    """Refuse what a schema does not allow. Nothing is fetched: a schema that points elsewhere is refused."""
    if schema is None:
        return
    from jsonschema.validators import validator_for
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    validator = validator_for(schema)(schema, registry=Registry())
    try:
        problems = sorted(validator.iter_errors(document), key=lambda problem: problem.json_path)
    except Unresolvable as error:
        told = str(error)[:SHOWN]
        raise Invalid(f"the schema refers to what is not in it: {told}", "Write it out in the schema.") from error
    except RecursionError as error:
        raise Invalid("the schema refers to itself without end", "Let what it refers to be inside.") from error
    if problems:
        told = "; ".join(f"{problem.json_path}: {problem.message}" for problem in problems[:3])
        hint = "`retentive profile schema` shows what is allowed."
        raise Invalid(f"the schema of this profile does not allow it: {told[:500]}", hint)


def _parts(pointer: str) -> list[str]:
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def _pointer(parts: Sequence[str]) -> str:
    return "".join(f"/{_escaped(part)}" for part in parts)


def _escaped(part: str) -> str:
    return part.replace("~", "~0").replace("/", "~1")
