"""Find links in Markdown: `[text](target)`, `[name]: target`, `<https://...>`, bare addresses, `[[note]]`.

A reference is reported where its target is defined, so that each line can be read by itself. No pattern here passes a
character more than a few times, whatever the line.
"""

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator

MAX_TARGET_CHARS = 2_000

_LINK = re.compile(
    r"""\[\[(?P<wiki>[^\[\]\n]+)\]\]
    | \]\([ \t]*(?:<(?P<bracketed>[^<>\n]*)>|(?P<inline>[^\s()<>]*(?:\([^\s()]*\)[^\s()]*)*)(?=[\s)]))
    | <(?P<auto>[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*|[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,8})>
    | (?P<bare>\bhttps?://[^\s<>"`\[\]|]+)""",
    re.VERBOSE,
)
_DEFINITION = re.compile(r" {0,3}\[(?!\^)[^\[\]]+\]:[ \t]*(?:<([^<>]*)>|(\S+))")
_BACKTICKS = re.compile(r"`+")
_EMBEDDED_SCHEMES = ("data:", "javascript:")


def find_links(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        if "[" in line or "<" in line or "://" in line:
            yield from filter(is_worth_keeping, _find_in_line(_remove_code(line)))


def is_worth_keeping(target: str) -> bool:
    """Return whether a target points somewhere, and is not itself the content."""
    return bool(target) and len(target) <= MAX_TARGET_CHARS and not target.lower().startswith(_EMBEDDED_SCHEMES)


def _find_in_line(line: str) -> Iterator[str]:
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


def _remove_code(line: str) -> str:
    """Replace spans with equally many backticks on both sides by blanks."""
    if "`" not in line:
        return line
    starts_by_length: dict[int, deque[int]] = defaultdict(deque)
    runs = [(run.start(), run.end()) for run in _BACKTICKS.finditer(line)]
    for start, end in runs:
        starts_by_length[end - start].append(start)
    parts, place = [], 0
    for start, end in runs:
        closing = starts_by_length[end - start]
        closing.popleft()
        if start >= place and closing:
            parts.append(line[place:start])
            place = closing[0] + end - start
    return " ".join([*parts, line[place:]])
