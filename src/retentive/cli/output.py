"""Print answers: tables and colour for people, rows with tabs for pipes, JSON."""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol

from retentive import config, serialize
from retentive.cli.describe_hit import explain_score, get_kind, get_locator
from retentive.cli.sanitise import escape_controls
from retentive.cli.sanitise import sanitise as sanitise  # noqa: PLC0414 - part of what this module offers
from retentive.cli.words import format_count as format_count  # noqa: PLC0414 - part of what this module offers
from retentive.errors import Conflict, RetentiveError, outcome
from retentive.hints import for_terminal
from retentive.ids import shorten_id
from retentive.model import Hit, Memory, RefusedItem, Results

PARTLY_DONE_EXIT_CODE = outcome(Conflict("")).exit_code  # some of what was given was refused, the rest is kept

if TYPE_CHECKING:
    from retentive.served_namespaces import ServedNamespaces

_VALUE_NAME_COLUMNS = 14  # columns of the name of a value of a memory or a file
_FIELD_NAME_COLUMNS = 15  # columns of the name of a field of a record
_STYLE_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


def paint(text: str, style: str, stream: Any = None) -> str:
    """Colour a text for people. The text is put on one line, without control characters."""
    stream, text = stream or sys.stdout, sanitise(text)
    return f"\033[{_STYLE_CODES[style]}m{text}\033[0m" if config.wants_colour(stream.isatty()) else text


def print_raw(text: str = "") -> None:
    """Print a text as it is, with its colours. Texts of a store must go through `sanitise` or `paint` before."""
    sys.stdout.write(text + "\n")


def print_line(text: str) -> None:
    """Print a text on one line, without control characters."""
    print_raw(sanitise(text))


def print_json(value: Any) -> None:
    """Print an answer as JSON. Its notes name commands. On a terminal, control characters are escaped."""
    if isinstance(value, dict) and isinstance(value.get("notes"), list):
        value = {**value, "notes": [for_terminal(note) for note in value["notes"]]}
    is_screen = sys.stdout.isatty()
    text = json.dumps(value, ensure_ascii=False, indent=2 if is_screen else None)
    print_raw(escape_controls(text) if is_screen else text)


def print_error(error: RetentiveError, *, as_json: bool) -> None:
    if as_json:
        sys.stderr.write(json.dumps(serialize.error(error, for_terminal), ensure_ascii=False) + "\n")
        return
    message = f"{sanitise(str(error)).removesuffix('.')}."
    hint = sanitise(for_terminal(error.hint))
    if sys.stderr.isatty():
        from retentive.cli.draw.messages import draw_message

        draw_message("error:", "bold red", message, hint)
    else:
        sys.stderr.write(f"error: {message}{hint and f' {hint}'}\n")


def print_table(heads: Sequence[str], rows: Iterable[Sequence[Any]], *, wraps: bool = False) -> None:
    """Print a table: for people aligned and cut to the screen, for pipes one row a line with tabs between, uncut.

    `wraps`: its last column is wrapped for people, not cut. People do not see columns that are empty.
    """
    cells = [["" if cell is None else str(cell) for cell in row] for row in rows]
    if not sys.stdout.isatty():
        for row in cells:
            print_raw("\t".join(map(sanitise, row)))
        return
    from retentive.cli.draw.console import draw
    from retentive.cli.draw.tables import Column, make_table

    if not cells:
        print_hint("none")
        return
    used = [number for number in range(len(heads)) if any(row[number] for row in cells)]
    columns = [Column(heads[number], is_flexible=number == used[-1]) for number in used]
    draw(make_table(columns, [[row[number] for number in used] for row in cells], wraps=wraps))


def print_memories(memories: Sequence[Memory]) -> None:
    if not sys.stdout.isatty():
        rows = [(each.id, each.kind, each.status, f"{each.created:%Y-%m-%d}", each.content) for each in memories]
        print_table((), rows)
    elif not memories:
        print_raw('nothing yet: retentive add "..." adds the first memory')
    else:
        from retentive.cli.draw.console import draw
        from retentive.cli.draw.memories import make_memory_table

        draw(make_memory_table(memories, datetime.now(UTC)))


def print_memory(memory: Memory) -> None:
    for line in memory.content.splitlines():
        print_raw(paint(line, "bold"))
    values = serialize.memory(memory)
    print_values({name: values[name] for name in values if name not in ("content", "content_hash", "version")})


def print_values(values: Mapping[str, Any]) -> None:
    """Print a line for each value that is not empty."""
    for name, value in values.items():
        if value not in (None, [], {}):
            text = json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else str(value)
            print_raw(f"  {paint(name.ljust(_VALUE_NAME_COLUMNS), 'dim')} {sanitise(text)}")


def show_id(id: str) -> str:
    """Return an id as it is printed: short for people, who type it; whole in a pipe."""
    return shorten_id(id) if sys.stdout.isatty() else id


def print_fields(title: str, fields: Iterable[tuple[str, str]]) -> None:
    print_raw(paint(title, "bold"))
    for name, value in fields:
        first, *rest = value.splitlines() or [""]
        print_raw(f"  {paint(name.ljust(_FIELD_NAME_COLUMNS), 'dim')} {sanitise(first)}")
        for line in rest:
            print_line(f"  {' ' * _FIELD_NAME_COLUMNS} {line}")


def print_results(results: Results, *, with_why: bool) -> None:
    if sys.stdout.isatty():
        from retentive.cli.draw.console import draw
        from retentive.cli.draw.hits import make_hits

        draw(make_hits(results, datetime.now(UTC), with_why=with_why))
    else:
        print_table((), map(_build_row, results.hits))
        for hit in results.hits if with_why else ():
            print_line(f"{hit.id}  {explain_score(hit)}")
    milliseconds = results.timings.get("total", 0) * 1000
    summary = f"{len(results)} found by {results.tier} search" if results else "nothing found"
    print_hint(f"{summary} in {milliseconds:.1f} ms")
    print_notes(results.notes)


def _build_row(hit: Hit) -> tuple[str, ...]:
    """Build the columns of a hit for pipes. An outdated one has one column more."""
    mark = (hit.outdated.mark,) if hit.outdated else ()
    return (get_locator(hit), f"{hit.relevance:.4f}", get_kind(hit), hit.content, *mark)


def print_notes(notes: Iterable[str]) -> None:
    for note in notes:
        _print_aside("note:", for_terminal(note))


def print_refusals(refused: Iterable[RefusedItem]) -> None:
    """Print refused items with their reasons to standard error."""
    for each in refused:
        _print_aside("refused:", f"{each.place}: {each.reason}")


def _print_aside(mark: str, text: str) -> None:
    if sys.stderr.isatty():
        from retentive.cli.draw.messages import draw_message

        draw_message(mark, "yellow", text)
    else:
        sys.stderr.write(f"{mark} {sanitise(text)}\n")


def print_text(text: str) -> None:
    """Print a text of several lines. On a terminal each line is sanitised."""
    print_raw("\n".join(map(sanitise, text.splitlines())) if sys.stdout.isatty() else text)


def describe_earlier_name(served: "ServedNamespaces") -> str:
    """Say that the earlier name of a project is read, and how to copy what was saved under it."""
    return (
        f"Memories under the project's earlier name, {served.earlier!r}, are read too; new memories go to "
        f"{served.namespace!r}. To copy them there: `retentive -n {served.earlier} export old.jsonl`, then "
        f"`retentive import old.jsonl --into {served.namespace}`."
    )


def print_hint(text: str) -> None:
    """Print a text for people only, not for pipes."""
    if sys.stdout.isatty():
        print_raw(paint(text, "dim"))


class Progress(Protocol):
    """Shows the progress of work."""

    def report(self, done: int, total: int | None = None) -> None: ...
    def report_stage(self, stage: str, done: int, total: int | None = None) -> None: ...
    def show_name(self, name: str) -> None: ...
    def step_aside(self) -> AbstractContextManager[None]: ...


class _NoProgress:
    """Shows nothing, in a pipe."""

    def report(self, done: int, total: int | None = None) -> None: ...
    def report_stage(self, stage: str, done: int, total: int | None = None) -> None: ...
    def show_name(self, name: str) -> None: ...
    def step_aside(self) -> AbstractContextManager[None]:
        return nullcontext()


@contextmanager
def show_progress(what: str, unit: str = "", total: int | None = None) -> Iterator[Progress]:
    """Show the progress of work on standard error, from its beginning to its end, if that is a terminal."""
    if not sys.stderr.isatty():
        yield _NoProgress()
        return
    from retentive.cli.draw.progress import ProgressDisplay

    with ProgressDisplay(what, unit, total).run() as display:
        yield display
