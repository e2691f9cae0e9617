"""Split Markdown notes into blocks: each bullet and each paragraph, with its headings.

This is not a full Markdown parser. It only finds where a thought begins and ends:
  a. a bullet is a block; a nested bullet is a block of its own, with the outer one as a heading;
  b. the next lines belong to the same block; after a blank line only if they are indented under its bullet;
  c. code belongs to the text before it, and is not parsed;
  d. a line that ends with a colon before a list ("Always:") is a heading of that list.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

_HEADING = re.compile(r"(#{1,6})(?:\s+(.*))?")
_BULLET = re.compile(r"(?:[-*+•]|\d{1,9}[.)])(?:\s+(.*))?")
_TASK = re.compile(r"\[[ xX-]\]\s+")
_RULE = re.compile(r"(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,}")
_UNDERLINE = re.compile(r"=+|--+")
_FENCE = re.compile(r"(`{3,}|~{3,})")
_KEY_PATTERN = re.compile(r"[A-Za-z_][\w .-]*")
MAX_HEADING_CHARS = 200
MAX_HEADINGS = 10
MAX_FRONT_MATTER_LINES = 500


class NoteBlock(NamedTuple):
    line: int
    text: str
    headings: tuple[str, ...]
    """The headings above it, the outermost first. Outer bullets count as headings."""
    is_bullet: bool


class NoteFrontMatter(NamedTuple):
    """The simple part of the YAML before a text, between two lines `---`: values and lists of values."""

    values: dict[str, Any]
    body: str
    lines: int
    """The number of lines of the front matter."""


def parse_blocks(text: str, before: int = 0) -> Iterator[NoteBlock]:
    """Yield the blocks of a text. `before` is the number of lines before it in the file."""
    parser = _BlockParser()
    for number, line in enumerate(_remove_comments(text).split("\n"), before + 1):
        yield from parser.take(number, line.expandtabs(4).rstrip())
    yield from parser.flush()


def _remove_comments(text: str) -> str:
    """Remove `<!-- ... -->`, but keep its line breaks."""
    parts, at = [], 0
    while (begin := text.find("<!--", at)) >= 0 and (end := text.find("-->", begin)) >= 0:
        parts += [text[at:begin], "\n" * text.count("\n", begin, end)]
        at = end + 3
    return "".join([*parts, text[at:]])


@dataclass(slots=True)
class _BlockParser:
    headings: list[tuple[int, str]] = field(default_factory=list)
    bullets: list[tuple[int, str]] = field(default_factory=list)
    """The bullets that the current line is under, with their indentation."""
    lead: str = ""
    """The line before a list, if it ends with a colon."""
    lines: list[str] = field(default_factory=list)
    """The lines of the current block."""
    first_line: int = 0
    indent: int | None = None
    """The indentation of the current bullet; None for a paragraph."""
    is_after_blank: bool = False
    fence: str = ""
    is_verbatim: bool = False

    def take(self, number: int, line: str) -> Iterator[NoteBlock]:
        text = line.strip()
        if self.fence:
            is_closing = text.startswith(self.fence) and not text.strip(self.fence[0])
            self.fence = "" if is_closing else self.fence
            self.lines.append(line)
        elif not text:
            self.is_after_blank = True
        elif fence := _FENCE.match(text):
            self.fence, self.is_verbatim, self.is_after_blank = fence[1], True, False
            self._begin_if_none(number)
            self.lines.append(line)
        else:
            yield from self._take_text(number, text, len(line) - len(line.lstrip()))
            self.is_after_blank = False

    def _take_text(self, number: int, text: str, indent: int) -> Iterator[NoteBlock]:
        if heading := _HEADING.fullmatch(text):
            yield from self.flush()
            self._begin_section(len(heading[1]), heading[2] or "")
        elif self._is_underlined(text):
            title = self.lines[0]
            self._clear()
            self._begin_section(1 if text[0] == "=" else 2, title)
        elif _RULE.fullmatch(text):
            yield from self.flush()
            self.bullets, self.lead = [], ""
        elif bullet := _BULLET.fullmatch(text):
            yield from self._begin_bullet(number, bullet[1] or "", indent)
        else:
            yield from self._add_line(number, text, indent)

    def _is_underlined(self, text: str) -> bool:
        is_one_line = len(self.lines) == 1 and not self.is_after_blank and self.indent is None
        return is_one_line and _UNDERLINE.fullmatch(text) is not None

    def _begin_section(self, level: int, title: str) -> None:
        self.headings = [each for each in self.headings if each[0] < level]
        if title := strip_marks(title):
            self.headings.append((level, title[:MAX_HEADING_CHARS]))
        self.bullets, self.lead = [], ""

    def _begin_bullet(self, number: int, text: str, indent: int) -> Iterator[NoteBlock]:
        before, outer_indent = self._join_lines(), self.indent
        is_lead = before.endswith(":") and (outer_indent is None or indent > outer_indent)
        if is_lead:
            self._clear()
        elif before:
            yield from self.flush()
        if before and outer_indent is not None:
            self.bullets.append((outer_indent, strip_marks(before)))
        elif is_lead:
            self.bullets, self.lead = [], strip_marks(before)
        self.bullets = [each for each in self.bullets if each[0] < indent]
        self.first_line, self.indent = number, indent
        self.lines = [_TASK.sub("", text, count=1)]

    def _add_line(self, number: int, text: str, indent: int) -> Iterator[NoteBlock]:
        text = text.removeprefix(">").strip() or ""
        is_in_bullet = self.indent is not None and indent > self.indent
        if self.lines and self.is_after_blank and not is_in_bullet:
            yield from self.flush()
            self.bullets, self.lead = [], ""
        self._begin_if_none(number)
        self.is_verbatim = self.is_verbatim or text.startswith("|")
        self.lines.append(text)

    def _begin_if_none(self, number: int) -> None:
        if not self.lines:
            self.first_line = number

    def _join_lines(self) -> str:
        if self.is_verbatim:
            return "\n".join(self.lines).strip()
        return " ".join(line for line in self.lines if line).strip()

    def flush(self) -> Iterator[NoteBlock]:
        text, line, is_bullet = self._join_lines(), self.first_line, self.indent is not None
        lead = [self.lead] if self.lead and is_bullet else []
        headings = [title for _, title in self.headings] + lead + [title for _, title in self.bullets]
        self._clear()
        if any(letter.isalnum() for letter in text):
            titles = (title[:MAX_HEADING_CHARS] for title in headings[:MAX_HEADINGS] if title)
            yield NoteBlock(line, text, tuple(titles), is_bullet)

    def _clear(self) -> None:
        self.lines, self.indent, self.is_verbatim, self.is_after_blank = [], None, False, False


def strip_marks(title: str) -> str:
    """Remove the marks of Markdown from a heading."""
    return title.replace("*", "").replace("`", "").strip().rstrip("#:").strip()


def parse_front_matter(text: str) -> NoteFrontMatter:
    lines = text.split("\n", MAX_FRONT_MATTER_LINES)
    if lines[0].strip() != "---":
        return NoteFrontMatter({}, text, 0)
    closing = (at for at, line in enumerate(lines) if at and line.strip() in ("---", "..."))
    end = next((at for at in closing if at < MAX_FRONT_MATTER_LINES), None)
    if end is None:
        return NoteFrontMatter({}, text, 0)
    return NoteFrontMatter(_parse_values(lines[1:end]), "\n".join(lines[end + 1 :]), end + 1)


def _parse_values(lines: list[str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    key = ""
    for line in lines:
        text = line.strip()
        if text.startswith("- ") and key:
            inner = values.get(key)
            values[key] = [*(inner if isinstance(inner, list) else []), _unquote(text[2:])]
        elif line[:1] not in (" ", "\t"):
            name, colon, value = text.partition(":")
            if colon and value[:1] in ("", " ", "\t") and _KEY_PATTERN.fullmatch(name):
                key = name.strip()
                values[key] = _parse_value(value)
    return values


def _parse_value(text: str) -> Any:
    text = text.strip()
    if text.startswith("[") and text.endswith("]"):
        return [_unquote(each) for each in text[1:-1].split(",") if each.strip()]
    return _unquote(text)


def _unquote(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text
