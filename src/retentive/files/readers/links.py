"""What a line of Markdown points to: `[text](target)`, `[name]: target`, `<https://...>`, bare addresses, `[[note]]`.

A reference counts where its target is defined, so that each line can be read by itself. No pattern here goes over a
character more than a few times, whatever the line.
"""

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator

LONGEST = 2_000  # characters of a target

_LINK = re.compile(
    r"""\[\[(?P<wiki>[^\[\]\n]+)\]\]
    | \]\([ \t]*(?:<(?P<bracketed>[^<>\n]*)>|(?P<inline>[^\s()<>]*(?:\([^\s()]*\)[^\s()]*)*)(?=[\s)]))
    | <(?P<auto>[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*|[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,8})>
    | (?P<bare>\bhttps?://[^\s<>"`\[\]|]+)""",
    re.VERBOSE,
)
_DEFINITION = re.compile(r" {0,3}\[(?!\^)[^\[\]]+\]:[ \t]*(?:<([^<>]*)>|(\S+))")
_TICKS = re.compile(r"`+")
_SCHEMES = ("data:", "javascript:")


def links(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        if "[" in line or "<" in line or "://" in line:
            yield from filter(worth, _line(_without_code(line)))


def worth(target: str) -> bool:
    """It points somewhere, and is not the thing itself."""
    return bool(target) and len(target) <= LONGEST and not target.lower().startswith(_SCHEMES)


def _line(line: str) -> Iterator[str]:
    defined = _DEFINITION.match(line)
    if defined:
        yield defined[1] or defined[2]
    for found in _LINK.finditer(line, defined.end() if defined else 0):
        kind = found.lastgroup
        target = found[kind] if kind else ""
        match kind:
            case "wiki":
                yield target.partition("|")[0].rstrip("\\").strip()
            case "bare":
                yield target.rstrip(".,;:!?'*_~" if "(" in target else ".,;:!?'*_~)")
            case _:
                yield target


def _without_code(line: str) -> str:
    """Spans between as many backticks on both sides, blanked."""
    if "`" not in line:
        return line
    later: dict[int, deque[int]] = defaultdict(deque)
    runs = [(run.start(), run.end()) for run in _TICKS.finditer(line)]
    for start, end in runs:
        later[end - start].append(start)
    kept, place = [], 0
    for start, end in runs:
        same = later[end - start]
        same.popleft()
        if start >= place and same:
            kept.append(line[place:start])
            place = same[0] + end - start
    return " ".join([*kept, line[place:]])
