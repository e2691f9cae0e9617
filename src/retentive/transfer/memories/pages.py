"""Texts that people and models write to be remembered: `CLAUDE.md` and the like, and the files of Claude's memory tool.

Each bullet and each paragraph becomes a memory, with its headings as context. Where the same is said under two
headings, the second is told apart by its heading: a text is kept once.
"""

import html
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from retentive.conversations.formats.values import label
from retentive.model import Kind, Refusal
from retentive.transfer.memories.blocks import Block, Front, blocks, front
from retentive.transfer.memories.items import Item, Remark, Told, kind_of, readable, tags_of, told
from retentive.transfer.memories.source import Given, text_in

MARKDOWN = (".md", ".markdown", ".mdc")
WRITTEN = (*MARKDOWN, ".txt", ".xml")

_RULES = re.compile(r"(?i)(CLAUDE|AGENTS?|GEMINI|COPILOT-INSTRUCTIONS)(\.local)?\.md|\.?\w*rules(\.md)?|.*\.mdc")
_ALONE = re.compile(r"\s*@([~\w./\\-]+)\s*|\s*[-*+]\s+@([~\w-]*[./\\][~\w./\\-]*)\s*")
_IMPORT = re.compile(r"(?<![\w`@/.])@([~\w-]*[./\\][~\w./\\-]*\w)")  # and no `@anna`
_USUAL = (
    "claude",
    "claude.local",
    "agents",
    "agent",
    "gemini",
    "memory",
    "readme",
    "index",
)  # say nothing of what is in them
_CODE = re.compile(r"`[^`\n]*`")
_MARKED = re.compile(r"(?m)^(#{1,6} |\s*[-*+] )\S")
_TAG = re.compile(r"<(/?)([A-Za-z_][\w.:-]{0,100})((?:\s[^<>]{0,2000})?/?)>|<[?!][^<>]{0,2000}>")
_DEEPEST = 10  # elements around a text; what is deeper is told apart no further
_LINKED = re.compile(r"\[[^\[\]]*\]\((?:\./)?([^()\s:]+)\)")
# Of the memory files that Claude Code writes by itself: what their front matter calls `type`.
_TYPES = {"user": "personal", "feedback": "instruction", "project": "project", "reference": "fact"}


class Distinct:
    """Tells texts apart that stand under several headings."""

    def __init__(self) -> None:
        self._under: dict[str, str] = {}

    def told(self, text: str, context: str, heading: str) -> str:
        if self._under.setdefault(text, context) == context or not heading:
            return text
        return f"{heading}: {text}"


def recognise_markdown(given: Given) -> bool:
    if given.is_folder:
        return any(True for _ in given.files(*MARKDOWN))
    if not given.is_text:
        return False
    return given.name.lower().endswith(MARKDOWN) or (given.first is None and _MARKED.search(given.opening) is not None)


def pages(given: Given) -> Iterator[tuple[str, Front | Refusal]]:
    """Each page of Markdown by its name, or why it cannot be read."""
    for name, path in given.files(*MARKDOWN):
        text = text_in(name, path)
        yield name, text if isinstance(text, Refusal) else front(text)


def read_markdown(given: Given) -> Iterator[Told]:
    distinct = Distinct()
    for name, page in pages(given):
        if isinstance(page, Refusal):
            yield page
            continue
        usual = Kind.INSTRUCTION if _RULES.fullmatch(PurePosixPath(name).name) else None
        body, remarks = _without_imports(name, page)
        yield from remarks
        for block in blocks(body, page.lines):
            yield _item(name, _block(block), page, usual, distinct)


def _without_imports(name: str, page: Front) -> tuple[str, list[Remark]]:
    """The text without lines that only name another file (`@docs/git.md`), and a word on each file that it names."""
    lines, remarks, fenced = page.body.split("\n"), [], False
    for at, line in enumerate(lines):
        fenced ^= line.lstrip().startswith(("```", "~~~"))
        if "@" not in line or fenced:
            continue
        alone = _ALONE.fullmatch(line)
        found = [alone[1] or alone[2]] if alone else [each[1] for each in _IMPORT.finditer(_CODE.sub("", line))]
        remarks += [Remark(f"{name}, line {page.lines + at + 1}: @{each} is not followed") for each in found]
        lines[at] = "" if alone else line
    return "\n".join(lines), remarks


class _Said(NamedTuple):
    text: str
    line: int
    headings: tuple[str, ...]


def recognise_claude(given: Given) -> bool:
    """A folder called as the tool calls it, or one with texts that are not Markdown alone."""
    if not given.is_folder:
        return given.is_text and given.name.lower().endswith(".xml")
    endings = {PurePosixPath(name).suffix.lower() for name, _ in given.files(*WRITTEN)}
    called = given.path.absolute().name.lower() in ("memories", "memory")
    return bool(endings) and (called or not endings <= {*MARKDOWN})


def read_claude(given: Given) -> Iterator[Told]:
    distinct = Distinct()
    names = {name for name, _ in given.files(*WRITTEN)} if given.is_folder else set()
    for name, path in given.files(*WRITTEN):
        text = text_in(name, path)
        if isinstance(text, Refusal):
            yield text
            continue
        page = front(text)
        usual = _TYPES.get(str(page.values.get("type")).lower())
        is_xml = name.lower().endswith(".xml") or page.body.lstrip().startswith("<")
        for said in _elements(page.body) if is_xml else map(_block, blocks(page.body, page.lines)):
            link = _LINKED.match(said.text)
            if link and link[1] in names:  # an index, as Claude Code keeps one
                yield Remark(f"{name}, line {said.line}: {link[1]} is read itself")
            else:
                yield _item(name, said, page, usual, distinct)


def _block(block: Block) -> _Said:
    return _Said(block.text, block.line, block.headings)


def _elements(text: str) -> Iterator[_Said]:
    """What elements say, under their names. Models write XML that no parser takes, so only the tags are looked at."""
    text = text.replace("<![CDATA[", "").replace("]]>", "")
    around: list[str] = []
    at = before = 0
    for tag in _TAG.finditer(text):
        yield from _inside(text[at : tag.start()], before, around)
        closes, name, more = tag[1], tag[2], tag[3]
        if closes and name in around:
            del around[len(around) - 1 - around[::-1].index(name) :]
        elif name and not closes and not more.endswith("/") and len(around) < _DEEPEST:
            around.append(name)
        before += text.count("\n", at, tag.end())
        at = tag.end()
    yield from _inside(text[at:], before, around)


def _inside(text: str, before: int, around: list[str]) -> Iterator[_Said]:
    if not text.strip():
        return
    names = tuple(readable(name) for name in around)
    for block in blocks(html.unescape(text), before):
        yield _Said(block.text, block.line, (*names, *block.headings))


def _item(name: str, said: _Said, page: Front, usual: str | None, distinct: Distinct) -> Item:
    stem = PurePosixPath(name).stem
    file = label(page.values.get("name")) or ("" if stem.lower() in _USUAL else readable(stem))
    context = " > ".join(each for each in (file, *said.headings) if each)
    heading = said.headings[-1] if said.headings else file
    return Item(
        f"{name}, line {said.line}",
        distinct.told(said.text, context, heading),
        name,
        {**_kind(said, usual), **tags_of(page.values.get("tags")), **told(context=context, metadata=_about(page))},
    )


def _kind(said: _Said, usual: str | None) -> dict[str, str]:
    return kind_of(*reversed(said.headings)) or ({"kind": usual} if usual else {})


def _about(page: Front) -> Mapping[str, Any]:
    return told(description=label(page.values.get("description")))
