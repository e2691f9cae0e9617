"""Answers for people (tables, colour) and for pipes (tabs, nothing else)."""

import json
import shutil
import sys
import time
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Any

from retentive import config, serialize
from retentive.errors import RetentiveError
from retentive.model import Contact, Event, Hit, Leg, Memory, Passage, Record, Refusal, Results, Timing

_OBEYED = ("Cc", "Cs", "Zl", "Zp")
_TURNING = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_WIDE = 90  # columns from which a table of memories shows more than id and content
_EXCERPT = 300  # characters of a hit on the screen: three or four lines
_NAME = 15  # columns of the name of a field of a record
_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


def paint(text: str, style: str, stream: Any = None) -> str:
    stream = stream or sys.stdout
    return f"\033[{_CODES[style]}m{text}\033[0m" if config.wants_colour(stream.isatty()) else text


def say(text: str = "") -> None:
    sys.stdout.write(text + "\n")


def as_json(value: Any) -> None:
    say(json.dumps(value, ensure_ascii=False, indent=2 if sys.stdout.isatty() else None))


def failure(error: RetentiveError, *, as_json: bool) -> None:
    if as_json:
        sys.stderr.write(json.dumps(serialize.error(error), ensure_ascii=False) + "\n")
        return
    hint = f" {error.hint}" if error.hint else ""
    sys.stderr.write(f"{paint('error:', 'red', sys.stderr)} {line(str(error)).removesuffix('.')}.{line(hint)}\n")


def table(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Aligned and cut to the screen for people; for pipes, a row a line with tabs between, nothing cut."""
    cells = [[line("" if cell is None else str(cell)) for cell in row] for row in rows]
    if not sys.stdout.isatty():
        for row in cells:
            say("\t".join(row))
        return
    widths = [max(map(_width, column)) for column in zip(heads, *cells, strict=True)]
    room = shutil.get_terminal_size().columns - sum(widths[:-1]) - 2 * (len(widths) - 1)
    widths[-1] = max(20, min(widths[-1], room))
    say("  ".join(paint(head.ljust(width), "dim") for head, width in zip(heads, widths, strict=True)))
    for row in cells:
        say("  ".join(_padded(_fit(cell, width), width) for cell, width in zip(row, widths, strict=True)).rstrip())


def memories(found: Iterable[Memory]) -> None:
    rows = [(each.id, each.kind, each.status, f"{each.created:%Y-%m-%d}", each.content) for each in found]
    if rows and sys.stdout.isatty() and shutil.get_terminal_size().columns < _WIDE:
        table(("id", "content"), [(row[0], row[4]) for row in rows])
    elif rows or not sys.stdout.isatty():
        table(("id", "kind", "status", "made", "content"), rows)
    else:
        say('nothing yet: retentive add "..." keeps a first memory')


def memory(each: Memory) -> None:
    say(paint(each.content, "bold"))
    for name, value in serialize.memory(each).items():
        if name not in ("content", "content_hash", "version") and value not in (None, [], {}):
            shown = json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value
            say(f"  {paint(name.ljust(14), 'dim')} {shown}")


def fields(title: str, found: Iterable[tuple[str, str]]) -> None:
    say(paint(line(title), "bold"))
    for name, value in found:
        first, *rest = value.splitlines() or [""]
        say(f"  {paint(name.ljust(_NAME), 'dim')} {line(first)}")
        for each in rest:
            say(f"  {' ' * _NAME} {line(each)}")


def results(found: Results, *, with_why: bool) -> None:
    if not sys.stdout.isatty():
        table((), [_row(each) for each in found.hits])
    for place, each in enumerate(found.hits if sys.stdout.isatty() else (), start=1):
        say(f"{place:3}  {paint(f'{each.score:.2f}', 'green')}  {_fit(line(_said(each)), _EXCERPT)}")
        say(f"           {paint(_about(each), 'dim')}")
        if each.outdated:
            say(f"           {paint(each.outdated.mark, 'yellow')}")
    if with_why:
        for each in found.hits:
            say(f"{each.id}  {explained(each)}")
    if sys.stdout.isatty():
        milliseconds = found.timings.get("total", 0) * 1000
        summary = f"{len(found)} found by {found.tier} search" if found else "nothing found"
        say(paint(f"{summary} in {milliseconds:.1f} ms", "dim"))
    notes(found.notes)


def _row(hit: Hit) -> tuple[str, ...]:
    """A hit as columns for pipes; one that is outdated has one column more."""
    mark = (hit.outdated.mark,) if hit.outdated else ()
    return (_known(hit), f"{hit.score:.4f}", _kind(hit), hit.content, *mark)


def notes(found: Iterable[str]) -> None:
    for note in found:
        sys.stderr.write(f"{paint('note:', 'yellow', sys.stderr)} {note}\n")


def refusals(found: Iterable[Refusal]) -> None:
    """Print what was not kept, and why, to stderr."""
    head = paint("refused:", "yellow", sys.stderr)
    for each in found:
        sys.stderr.write(f"{head} {line(f'{each.place}: {each.reason}')}\n")


def body(text: str) -> None:
    """A text of several lines, each without what a terminal would obey."""
    say("\n".join(map(line, text.splitlines())) if sys.stdout.isatty() else text)


def counted(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or f'{one}s'}"


def aside(text: str) -> None:
    """For people only."""
    if sys.stdout.isatty():
        say(paint(text, "dim"))


def explained(hit: Hit) -> str:
    why = hit.why
    legs = {"text": why.text, "vector": why.vector}
    parts = [f"{name} {share:+.3f}{_leg(legs.get(name))}" for name, share in why.shares.items() if share]
    factors = f"confidence {why.confidence_factor:.2f} x importance {why.importance_factor:.2f}"
    when = _when(why.when) if why.when else ""
    found = " ".join(parts) or ("shown for its pair" if why.pair == hit.score else "found as it stands")
    pair = f" {why.pair:+.3f} [pair]" if why.pair else ""
    return f"{hit.score:.4f} = ({found}) x {factors}{when}{pair}; relevance {hit.relevance:.2f}"


def _when(timing: Timing) -> str:
    bonus = f" + {timing.bonus:.2f}" if timing.bonus else ""
    return f" x when {timing.factor:.2f}{bonus} [{line(timing.words)}: {timing.relation}{_bounds(timing)}]"


def _bounds(timing: Timing) -> str:
    ends = [f"{word} {end:%Y-%m-%d}" for word, end in (("since", timing.since), ("until", timing.until)) if end]
    return f", {' '.join(ends)}" if ends else ""


def _leg(leg: Leg | None) -> str:
    return f" [rank {leg.rank}, score {leg.score:.3f}]" if leg else ""


def _kind(hit: Hit) -> str:
    match hit.item:
        case Memory(kind=kind):
            return kind
        case Event(speaker=speaker, role=role):
            return speaker or role
        case _:
            return hit.type


def _known(hit: Hit) -> str:
    """What it is found again by: of a passage, where it stands."""
    return hit.item.place if isinstance(hit.item, Passage) else hit.id


def _said(hit: Hit) -> str:
    """The part that matched; of a contact a visiting card, of other records their lines in one."""
    match hit.item:
        case Contact() as who:
            at = " at ".join(each for each in (who.role, who.company) if each)
            also = f" ({', '.join(who.aliases)})" if who.aliases else ""
            parts = (f"{who.name}{also}{f', {at}' if at else ''}", who.email, who.phone, who.notes)
            return " · ".join(each for each in parts if each)
        case Record():
            return " · ".join(each.removesuffix(".") for each in hit.excerpt.splitlines())
        case _:
            return hit.excerpt


def _about(hit: Hit) -> str:
    if isinstance(hit.item, Passage):
        return f"{line(hit.item.place)}  {hit.time:%Y-%m-%d}"
    tags = hit.item.tags if isinstance(hit.item, Memory) else ()
    return "  ".join((_kind(hit), f"{hit.time:%Y-%m-%d}", hit.id, *(f"#{tag}" for tag in tags)))


def progress(total: int | None, what: str) -> Callable[..., None]:
    """A line on the terminal that tells how far it is, how fast, and how long still. Silent in a pipe."""
    begun, last = time.monotonic(), 0.0

    def tell(done: int, of: int | None = total) -> None:
        nonlocal last
        now = time.monotonic()
        if not sys.stderr.isatty() or (now - last < 0.1 and done != of):  # noqa: PLR2004
            return
        last, rate = now, done / max(now - begun, 1e-6)
        left = f", {(of - done) / rate:.0f} s left" if of and rate else ""
        end = "\n" if done == of else ""
        sys.stderr.write(f"\r{what}: {done}{f' of {of}' if of else ''} ({rate:.0f}/s{left})   {end}")
        sys.stderr.flush()

    return tell


def line(text: str) -> str:
    """On one line, without what a terminal would obey: control characters, and marks that turn the direction."""
    return "".join(" " if unicodedata.category(letter) in _OBEYED or letter in _TURNING else letter for letter in text)


def _width(text: str) -> int:
    """Cells of the screen: Chinese and Japanese signs take two, marks none."""
    if text.isascii():
        return len(text)
    return sum(map(_cells, text))


def _cells(letter: str) -> int:
    if unicodedata.combining(letter) or unicodedata.category(letter) == "Cf":
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def _padded(text: str, width: int) -> str:
    return text + " " * (width - _width(text))


def _fit(text: str, width: int) -> str:
    if _width(text) <= width:
        return text
    ends = accumulate(map(_cells, text))
    return text[: sum(end < width for end in ends)] + "…"
