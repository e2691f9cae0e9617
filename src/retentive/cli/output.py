"""Print answers: tables and colour for people, rows with tabs for pipes, JSON."""

import json
import shutil
import sys
import time
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from retentive import config, serialize
from retentive.errors import RetentiveError
from retentive.hints import for_terminal
from retentive.model import (
    Contact,
    Event,
    Hit,
    Memory,
    Passage,
    Record,
    RefusedItem,
    Results,
    RetrieverScore,
    TimeMatch,
)

if TYPE_CHECKING:
    from retentive.served_namespaces import ServedNamespaces

_CONTROL_CATEGORIES = ("Cc", "Cs", "Zl", "Zp")
_DIRECTION_MARKS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_WIDE_COLUMNS = 90  # columns from which a table of memories shows more than id and content
_MAX_EXCERPT_COLUMNS = 300  # characters of a hit on the screen: three or four lines
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
    print_raw(_escape_controls(text) if is_screen else text)


def print_error(error: RetentiveError, *, as_json: bool) -> None:
    if as_json:
        sys.stderr.write(json.dumps(serialize.error(error, for_terminal), ensure_ascii=False) + "\n")
        return
    message = sanitise(str(error)).removesuffix(".")
    hint = f" {for_terminal(error.hint)}" if error.hint else ""
    sys.stderr.write(f"{paint('error:', 'red', sys.stderr)} {message}.{sanitise(hint)}\n")


def print_table(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a table: for people aligned and cut to the screen, for pipes one row a line with tabs between, uncut."""
    cells = [[sanitise("" if cell is None else str(cell)) for cell in row] for row in rows]
    if not sys.stdout.isatty():
        for row in cells:
            print_raw("\t".join(row))
        return
    widths = [max(map(_measure_width, column)) for column in zip(heads, *cells, strict=True)]
    room = shutil.get_terminal_size().columns - sum(widths[:-1]) - 2 * (len(widths) - 1)
    widths[-1] = max(20, min(widths[-1], room))
    print_raw("  ".join(paint(head.ljust(width), "dim") for head, width in zip(heads, widths, strict=True)))
    for row in cells:
        print_raw("  ".join(_pad(_fit(cell, width), width) for cell, width in zip(row, widths, strict=True)).rstrip())


def print_memories(memories: Sequence[Memory]) -> None:
    is_screen = sys.stdout.isatty()
    if is_screen and not memories:
        print_raw('nothing yet: retentive add "..." keeps a first memory')
    elif is_screen and shutil.get_terminal_size().columns < _WIDE_COLUMNS:
        print_table(("id", "content"), [(each.id, each.content) for each in memories])
    else:
        rows = [(each.id, each.kind, each.status, f"{each.created:%Y-%m-%d}", each.content) for each in memories]
        print_table(("id", "kind", "status", "made", "content"), rows)


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


def print_fields(title: str, fields: Iterable[tuple[str, str]]) -> None:
    print_raw(paint(title, "bold"))
    for name, value in fields:
        first, *rest = value.splitlines() or [""]
        print_raw(f"  {paint(name.ljust(_FIELD_NAME_COLUMNS), 'dim')} {sanitise(first)}")
        for line in rest:
            print_line(f"  {' ' * _FIELD_NAME_COLUMNS} {line}")


def print_results(results: Results, *, with_why: bool) -> None:
    if sys.stdout.isatty():
        for rank, hit in enumerate(results.hits, start=1):
            _print_hit(rank, hit)
    else:
        print_table((), map(_build_row, results.hits))
    if with_why:
        for hit in results.hits:
            print_line(f"{hit.id}  {explain_score(hit)}")
    milliseconds = results.timings.get("total", 0) * 1000
    summary = f"{len(results)} found by {results.tier} search" if results else "nothing found"
    print_hint(f"{summary} in {milliseconds:.1f} ms")
    print_notes(results.notes)


def _print_hit(rank: int, hit: Hit) -> None:
    text = _fit(sanitise(_describe_hit(hit)), _MAX_EXCERPT_COLUMNS)
    print_raw(f"{rank:3}  {paint(f'{hit.score:.2f}', 'green')}  {text}")
    print_raw(f"           {paint(_format_details(hit), 'dim')}")
    if hit.outdated:
        print_raw(f"           {paint(hit.outdated.mark, 'yellow')}")


def _build_row(hit: Hit) -> tuple[str, ...]:
    """Build the columns of a hit for pipes. An outdated one has one column more."""
    mark = (hit.outdated.mark,) if hit.outdated else ()
    return (_get_locator(hit), f"{hit.score:.4f}", _get_kind(hit), hit.content, *mark)


def print_notes(notes: Iterable[str]) -> None:
    for note in notes:
        sys.stderr.write(f"{paint('note:', 'yellow', sys.stderr)} {sanitise(for_terminal(note))}\n")


def print_refusals(refused: Iterable[RefusedItem]) -> None:
    """Print refused items with their reasons to standard error."""
    head = paint("refused:", "yellow", sys.stderr)
    for each in refused:
        sys.stderr.write(f"{head} {sanitise(f'{each.place}: {each.reason}')}\n")


def print_text(text: str) -> None:
    """Print a text of several lines. On a terminal each line is sanitised."""
    print_raw("\n".join(map(sanitise, text.splitlines())) if sys.stdout.isatty() else text)


def format_count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or f'{one}s'}"


def describe_earlier_name(served: "ServedNamespaces") -> str:
    """Say that the earlier name of a project is read, and how to copy what was saved under it."""
    return (
        f"What was saved under the project's earlier name, {served.earlier!r}, is read too; new memories go to "
        f"{served.namespace!r}. To copy it there: `retentive -n {served.earlier} export old.jsonl`, then "
        f"`retentive import old.jsonl --into {served.namespace}`."
    )


def print_hint(text: str) -> None:
    """Print a text for people only, not for pipes."""
    if sys.stdout.isatty():
        print_raw(paint(text, "dim"))


def explain_score(hit: Hit) -> str:
    why = hit.why
    scores = {"text": why.text, "vector": why.vector}
    parts = [f"{name} {share:+.3f}{_format_retriever(scores.get(name))}" for name, share in why.shares.items() if share]
    factors = f"confidence {why.confidence_factor:.2f} x importance {why.importance_factor:.2f}"
    timing = _format_time_match(why.time) if why.time else ""
    if not parts:  # no signals: it was added beside its newer or older memory, or found by its letters alone
        parts = ["shown for its pair" if why.pair == hit.score else "found as it stands"]
    added = "".join(f" {share:+.3f} [{name}]" for name, share in (("pair", why.pair), ("rerank", why.rerank)) if share)
    return f"{hit.score:.4f} = ({' '.join(parts)}) x {factors}{timing}{added}; relevance {hit.relevance:.2f}"


def _format_time_match(timing: TimeMatch) -> str:
    bonus = f" + {timing.bonus:.2f}" if timing.bonus else ""
    return f" x time {timing.factor:.2f}{bonus} [{timing.words}: {timing.relation}{_format_bounds(timing)}]"


def _format_bounds(timing: TimeMatch) -> str:
    ends = [f"{word} {end:%Y-%m-%d}" for word, end in (("since", timing.since), ("until", timing.until)) if end]
    return f", {' '.join(ends)}" if ends else ""


def _format_retriever(score: RetrieverScore | None) -> str:
    return f" [rank {score.rank}, score {score.score:.3f}]" if score else ""


def _get_kind(hit: Hit) -> str:
    match hit.item:
        case Memory(kind=kind):
            return kind
        case Event(speaker=speaker, role=role):
            return speaker or role
        case _:
            return hit.type


def _get_locator(hit: Hit) -> str:
    """Return the place of a passage, and the id of any other hit. Both find it again."""
    return hit.item.place if isinstance(hit.item, Passage) else hit.id


def _describe_hit(hit: Hit) -> str:
    """Return the part that matched; the main fields of a contact; the lines of another record as one."""
    match hit.item:
        case Contact() as who:
            aliases = f" ({', '.join(who.aliases)})" if who.aliases else ""
            position = " at ".join(filter(None, (who.role, who.company)))
            heading = ", ".join(filter(None, (f"{who.name}{aliases}", position)))
            return " · ".join(filter(None, (heading, who.email, who.phone, who.notes)))
        case Record():
            return " · ".join(each.removesuffix(".") for each in hit.excerpt.splitlines())
        case _:
            return hit.excerpt


def _format_details(hit: Hit) -> str:
    if isinstance(hit.item, Passage):
        return f"{hit.item.place}  {hit.time:%Y-%m-%d}"
    tags = hit.item.tags if isinstance(hit.item, Memory) else ()
    return "  ".join((_get_kind(hit), f"{hit.time:%Y-%m-%d}", hit.id, *(f"#{tag}" for tag in tags)))


def make_progress(total: int | None, what: str) -> Callable[..., None]:
    """Return a function that shows progress, speed and remaining time on one line. Silent in a pipe."""
    begun, last = time.monotonic(), 0.0

    def show(done: int, of: int | None = total) -> None:
        nonlocal last
        now = time.monotonic()
        if not sys.stderr.isatty() or (now - last < 0.1 and done != of):  # noqa: PLR2004
            return
        last, rate = now, done / max(now - begun, 1e-6)
        left = f", {(of - done) / rate:.0f} s left" if of and rate else ""
        end = "\n" if done == of else ""
        sys.stderr.write(f"\r{what}: {done}{f' of {of}' if of else ''} ({rate:.0f}/s{left})   {end}")
        sys.stderr.flush()

    return show


def make_stage_progress() -> Callable[[str, int, int], None]:
    """Return a function that shows the progress of each stage on a line of its own."""
    stages: dict[str, Callable[..., None]] = {}

    def show(stage: str, done: int, of: int) -> None:
        stages.setdefault(stage, make_progress(None, stage))(done, of)

    return show


def sanitise(text: str) -> str:
    """Put a text on one line: control characters and marks that change the direction become spaces."""
    return "".join(" " if _is_control(letter) else letter for letter in text)


def _is_control(letter: str) -> bool:
    return unicodedata.category(letter) in _CONTROL_CATEGORIES or letter in _DIRECTION_MARKS


def _escape_controls(text: str) -> str:
    """Escape the characters of JSON that a terminal could obey. It stays the same JSON."""
    return "".join(f"\\u{ord(each):04x}" if _is_control(each) and each != "\n" else each for each in text)


def _measure_width(text: str) -> int:
    """Count the columns on the screen: Chinese and Japanese characters take two, combining marks none."""
    if text.isascii():
        return len(text)
    return sum(map(_count_cells, text))


def _count_cells(letter: str) -> int:
    if unicodedata.combining(letter) or unicodedata.category(letter) == "Cf":
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def _pad(text: str, width: int) -> str:
    return text + " " * (width - _measure_width(text))


def _fit(text: str, width: int) -> str:
    if _measure_width(text) <= width:
        return text
    ends = [*accumulate(map(_count_cells, text))]
    return text[: bisect_left(ends, width)] + "…"
