"""Markdown as people write it to be remembered: each bullet and each paragraph, under its headings.

Not a whole Markdown parser, only what tells where a thought begins and ends:
  a. a bullet is a block, one inside another is its own, with the outer one as a heading;
  b. lines that follow belong to a block, after a blank line only if they are indented under its bullet;
  c. code belongs to what is said before it, and nothing in it is looked at;
  d. what ends with a colon before a list ("Always:") is a heading of that list.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

_HEADING = re.compile(r"(#{1,6})(?:\s+(.*))?")
_BULLET = re.compile(r"(?:[-*+•]|\d{1,9}[.)])(?:\s+(.*))?")
_TASK = re.compile(r"\[[ xX-]\]\s+")
_RULE = re.compile(r"(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,}")
_UNDER = re.compile(r"=+|--+")
_FENCE = re.compile(r"(`{3,}|~{3,})")
_KEY = re.compile(r"[A-Za-z_][\w .-]*")
_LONGEST_HEADING = 200
_MOST_HEADINGS = 10
_LONGEST_FRONT = 500  # lines


class Block(NamedTuple):
    line: int
    text: str
    headings: tuple[str, ...]
    """Those above it, the outermost first; bullets that it is under count as such."""
    is_bullet: bool


class Front(NamedTuple):
    """What stands before a text between two lines `---`, as far as it is plain: values and lists of values."""

    values: dict[str, Any]
    body: str
    lines: int
    """How many it took up."""


def blocks(text: str, before: int = 0) -> Iterator[Block]:
    """`before` is how many lines of the file come before the text."""
    reader = _Reader()
    for number, line in enumerate(_without_comments(text).split("\n"), before + 1):
        yield from reader.take(number, line.expandtabs(4).rstrip())
    yield from reader.flush()


def _without_comments(text: str) -> str:
    """Without `<!-- ... -->`, the lines as many as before."""
    parts, at = [], 0
    while (begin := text.find("<!--", at)) >= 0 and (end := text.find("-->", begin)) >= 0:
        parts += [text[at:begin], "\n" * text.count("\n", begin, end)]
        at = end + 3
    return "".join([*parts, text[at:]])


@dataclass(slots=True)
class _Reader:
    headings: list[tuple[int, str]] = field(default_factory=list)
    bullets: list[tuple[int, str]] = field(default_factory=list)
    """The bullets around the present place, by their indentation."""
    lead: str = ""
    """What was said before a list, ending with a colon."""
    lines: list[str] = field(default_factory=list)
    """The block that is being read."""
    begun: int = 0
    indent: int | None = None
    """Of its bullet; None if it is none."""
    gap: bool = False
    fence: str = ""
    verbatim: bool = False

    def take(self, number: int, line: str) -> Iterator[Block]:
        said = line.strip()
        if self.fence:
            self.fence = "" if said.startswith(self.fence) and not said.strip(self.fence[0]) else self.fence
            self.lines.append(line)
        elif not said:
            self.gap = True
        elif fence := _FENCE.match(said):
            self.fence, self.verbatim, self.gap = fence[1], True, False
            self._begin_if_none(number)
            self.lines.append(line)
        else:
            yield from self._take(number, said, len(line) - len(line.lstrip()))
            self.gap = False

    def _take(self, number: int, said: str, indent: int) -> Iterator[Block]:
        if heading := _HEADING.fullmatch(said):
            yield from self.flush()
            self._head(len(heading[1]), heading[2] or "")
        elif self._is_underlined(said):
            title = self.lines[0]
            self._forget()
            self._head(1 if said[0] == "=" else 2, title)
        elif _RULE.fullmatch(said):
            yield from self.flush()
            self.bullets, self.lead = [], ""
        elif bullet := _BULLET.fullmatch(said):
            yield from self._bullet(number, bullet[1] or "", indent)
        else:
            yield from self._line(number, said, indent)

    def _is_underlined(self, said: str) -> bool:
        return bool(len(self.lines) == 1 and not self.gap and self.indent is None and _UNDER.fullmatch(said))

    def _head(self, level: int, title: str) -> None:
        self.headings = [each for each in self.headings if each[0] < level]
        if title := plain(title):
            self.headings.append((level, title[:_LONGEST_HEADING]))
        self.bullets, self.lead = [], ""

    def _bullet(self, number: int, said: str, indent: int) -> Iterator[Block]:
        text = self._text()
        if text.endswith(":") and (self.indent is None or indent > self.indent):
            outer = (self.indent, plain(text))
            self._forget()
            if outer[0] is None:
                self.bullets, self.lead = [], outer[1]
            else:
                self.bullets.append((outer[0], outer[1]))
        elif text:
            inner = None if self.indent is None else (self.indent, plain(text))
            yield from self.flush()
            self.bullets += [inner] if inner else []
        self.bullets = [each for each in self.bullets if each[0] < indent]
        self.begun, self.indent = number, indent
        self.lines = [_TASK.sub("", said, count=1)]

    def _line(self, number: int, said: str, indent: int) -> Iterator[Block]:
        said = said.removeprefix(">").strip() or ""
        under = self.indent is not None and indent > self.indent
        if self.lines and self.gap and not under:
            yield from self.flush()
            self.bullets, self.lead = [], ""
        self._begin_if_none(number)
        self.verbatim = self.verbatim or said.startswith("|")
        self.lines.append(said)

    def _begin_if_none(self, number: int) -> None:
        self.begun = self.begun if self.lines else number

    def _text(self) -> str:
        joined = ("\n" if self.verbatim else " ").join(each for each in self.lines if each or self.verbatim)
        return joined.strip()

    def flush(self) -> Iterator[Block]:
        text, line, is_bullet = self._text(), self.begun, self.indent is not None
        lead = [self.lead] if self.lead and is_bullet else []
        around = [title for _, title in self.headings] + lead + [title for _, title in self.bullets]
        self._forget()
        if any(letter.isalnum() for letter in text):
            titles = (title[:_LONGEST_HEADING] for title in around[:_MOST_HEADINGS] if title)
            yield Block(line, text, tuple(titles), is_bullet)

    def _forget(self) -> None:
        self.lines, self.indent, self.verbatim, self.gap = [], None, False, False


def plain(title: str) -> str:
    """A heading without its marks."""
    return title.replace("*", "").replace("`", "").strip().rstrip("#:").strip()


def front(text: str) -> Front:
    lines = text.split("\n", _LONGEST_FRONT)
    if lines[0].strip() != "---":
        return Front({}, text, 0)
    end = next((at for at, line in enumerate(lines[1:_LONGEST_FRONT], 1) if line.strip() in ("---", "...")), None)
    if end is None:
        return Front({}, text, 0)
    return Front(_values(lines[1:end]), "\n".join(lines[end + 1 :]), end + 1)


def _values(lines: list[str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    key = ""
    for line in lines:
        said = line.strip()
        if said.startswith("- ") and key:
            inner = values.get(key)
            values[key] = [*(inner if isinstance(inner, list) else []), _scalar(said[2:])]
        elif line[:1] not in (" ", "\t"):
            name, colon, value = said.partition(":")
            if colon and value[:1] in ("", " ", "\t") and _KEY.fullmatch(name):
                key = name.strip()
                values[key] = _value(value)
    return values


def _value(said: str) -> Any:
    said = said.strip()
    if said.startswith("[") and said.endswith("]"):
        return [_scalar(each) for each in said[1:-1].split(",") if each.strip()]
    return _scalar(said)


def _scalar(said: str) -> str:
    said = said.strip()
    return said[1:-1] if len(said) > 1 and said[0] == said[-1] and said[0] in "'\"" else said
