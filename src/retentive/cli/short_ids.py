"""Complete the ids that were typed in part."""

from pathlib import Path

from retentive.api import Retentive
from retentive.cli.args import Arguments
from retentive.storage.tables.ids import RECORDS
from retentive.surface.field import Field

ANYTHING = ("memory", *RECORDS)  # what `purge` takes


def complete_ids(memory: Retentive, arguments: Arguments) -> None:
    for field in arguments.verb.fields:
        value = arguments.given.get(field.name)
        if field.of and isinstance(value, str):
            arguments.given[field.name] = _complete(memory, field, value)
        elif field.of and value:
            arguments.given[field.name] = [_complete(memory, field, each) for each in value]


def _complete(memory: Retentive, field: Field, text: str) -> str:
    if field.type == "path" and Path(text).exists():
        return text
    for of in ANYTHING if field.of == "anything" else (field.of,):
        if (id := memory.find_id(text, of)) != text:
            return id
    return text
