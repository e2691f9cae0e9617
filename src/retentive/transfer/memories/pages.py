"""Reads `CLAUDE.md` and similar files, and the files of Claude's memory tool.

Each bullet and each paragraph becomes a memory, with its headings as context. If the same text is under two headings,
the second one gets its heading as a prefix, because a store keeps each text once.
"""

import html
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from retentive.conversations.formats.values import clean_name
from retentive.model import Kind, RefusedItem
from retentive.transfer.memories.blocks import NoteBlock, NoteFrontMatter, parse_blocks, parse_front_matter
from retentive.transfer.memories.items import (
    ImportItem,
    ReadResult,
    Remark,
    drop_empty,
    guess_kind,
    make_tags,
    split_name,
)
from retentive.transfer.memories.source import ImportSource, read_text

MARKDOWN_ENDINGS = (".md", ".markdown", ".mdc")
TEXT_ENDINGS = (*MARKDOWN_ENDINGS, ".txt", ".xml")

_RULES_FILE = re.compile(r"(?i)(CLAUDE|AGENTS?|GEMINI|COPILOT-INSTRUCTIONS)(\.local)?\.md|\.?\w*rules(\.md)?|.*\.mdc")
_IMPORT_LINE = re.compile(r"\s*@([~\w./\\-]+)\s*|\s*[-*+]\s+@([~\w-]*[./\\][~\w./\\-]*)\s*")
_IMPORT = re.compile(r"(?<![\w`@/.])@([~\w-]*[./\\][~\w./\\-]*\w)")  # and no `@anna`
# File names that say nothing about the content.
_USUAL_NAMES = ("claude", "claude.local", "agents", "agent", "gemini", "memory", "readme", "index")
_CODE_SPAN = re.compile(r"`[^`\n]*`")
_MARKDOWN_LINE = re.compile(r"(?m)^(#{1,6} |\s*[-*+] )\S")
_TAG = re.compile(r"<(/?)([A-Za-z_][\w.:-]{0,100})((?:\s[^<>]{0,2000})?/?)>|<[?!][^<>]{0,2000}>")
_MAX_DEPTH = 10  # elements around a text whose names become headings
_LINK = re.compile(r"\[[^\[\]]*\]\((?:\./)?([^()\s:]+)\)")
# The values of `type` in the front matter of the memory files that Claude Code writes.
_KINDS_BY_TYPE = {"user": "personal", "feedback": "instruction", "project": "project", "reference": "fact"}


class RepeatedTexts:
    """Makes texts distinct that are repeated under several headings."""

    def __init__(self) -> None:
        self._contexts: dict[str, str] = {}

    def distinguish(self, text: str, context: str, heading: str) -> str:
        if self._contexts.setdefault(text, context) == context or not heading:
            return text
        return f"{heading}: {text}"


def recognise_markdown(source: ImportSource) -> bool:
    if source.is_folder:
        return any(True for _ in source.files(*MARKDOWN_ENDINGS))
    if not source.is_text:
        return False
    if source.name.lower().endswith(MARKDOWN_ENDINGS):
        return True
    return source.first_value is None and _MARKDOWN_LINE.search(source.head_text) is not None


def read_pages(source: ImportSource) -> Iterator[tuple[str, NoteFrontMatter | RefusedItem]]:
    """Each Markdown file with its name, or why it cannot be read."""
    for name, path in source.files(*MARKDOWN_ENDINGS):
        text = read_text(name, path)
        yield name, text if isinstance(text, RefusedItem) else parse_front_matter(text)


def read_markdown(source: ImportSource) -> Iterator[ReadResult]:
    repeated = RepeatedTexts()
    for name, page in read_pages(source):
        if isinstance(page, RefusedItem):
            yield page
            continue
        default_kind = Kind.INSTRUCTION if _RULES_FILE.fullmatch(PurePosixPath(name).name) else None
        body, remarks = _remove_imports(name, page)
        yield from remarks
        for block in parse_blocks(body, page.lines):
            yield _make_item(name, block, page, default_kind, repeated)


def _remove_imports(name: str, page: NoteFrontMatter) -> tuple[str, list[Remark]]:
    """Remove lines that only import another file (`@docs/git.md`), with a remark on each import."""
    lines, remarks, is_fenced = page.body.split("\n"), [], False
    for at, line in enumerate(lines):
        is_fenced ^= line.lstrip().startswith(("```", "~~~"))
        if "@" not in line or is_fenced:
            continue
        import_line = _IMPORT_LINE.fullmatch(line)
        imports = [import_line[1] or import_line[2]] if import_line else _IMPORT.findall(_CODE_SPAN.sub("", line))
        remarks += [Remark(f"{name}, line {page.lines + at + 1}: @{each} is not followed") for each in imports]
        lines[at] = "" if import_line else line
    return "\n".join(lines), remarks


def recognise_claude(source: ImportSource) -> bool:
    """A folder that has the name of the tool's folder, or has other texts than Markdown."""
    if not source.is_folder:
        return source.is_text and source.name.lower().endswith(".xml")
    endings = {PurePosixPath(name).suffix.lower() for name, _ in source.files(*TEXT_ENDINGS)}
    has_name = source.path.absolute().name.lower() in ("memories", "memory")
    return bool(endings) and (has_name or not endings <= {*MARKDOWN_ENDINGS})


def read_claude(source: ImportSource) -> Iterator[ReadResult]:
    repeated = RepeatedTexts()
    names = {name for name, _ in source.files(*TEXT_ENDINGS)} if source.is_folder else set()
    for name, path in source.files(*TEXT_ENDINGS):
        text = read_text(name, path)
        if isinstance(text, RefusedItem):
            yield text
            continue
        page = parse_front_matter(text)
        default_kind = _KINDS_BY_TYPE.get(str(page.values.get("type")).lower())
        is_xml = name.lower().endswith(".xml") or page.body.lstrip().startswith("<")
        for block in _parse_elements(page.body) if is_xml else parse_blocks(page.body, page.lines):
            link = _LINK.match(block.text)
            if link and link[1] in names:  # an index, as Claude Code keeps one
                yield Remark(f"{name}, line {block.line}: {link[1]} is read itself")
            else:
                yield _make_item(name, block, page, default_kind, repeated)


def _parse_elements(text: str) -> Iterator[NoteBlock]:
    """The texts of XML elements, with the element names as headings. Only tags are parsed: models write broken XML."""
    text = text.replace("<![CDATA[", "").replace("]]>", "")
    elements: list[str] = []
    at = before = 0
    for tag in _TAG.finditer(text):
        yield from _parse_inside(text[at : tag.start()], before, elements)
        is_closing, name, rest = tag[1], tag[2], tag[3]
        if is_closing and name in elements:
            del elements[len(elements) - 1 - elements[::-1].index(name) :]
        elif name and not is_closing and not rest.endswith("/") and len(elements) < _MAX_DEPTH:
            elements.append(name)
        before += text.count("\n", at, tag.end())
        at = tag.end()
    yield from _parse_inside(text[at:], before, elements)


def _parse_inside(text: str, before: int, elements: list[str]) -> Iterator[NoteBlock]:
    if not text.strip():
        return
    names = tuple(split_name(name) for name in elements)
    for block in parse_blocks(html.unescape(text), before):
        yield block._replace(headings=(*names, *block.headings))


def _make_item(
    name: str, block: NoteBlock, page: NoteFrontMatter, default_kind: str | None, repeated: RepeatedTexts
) -> ImportItem:
    stem = PurePosixPath(name).stem
    file = clean_name(page.values.get("name")) or ("" if stem.lower() in _USUAL_NAMES else split_name(stem))
    context = " > ".join(each for each in (file, *block.headings) if each)
    heading = block.headings[-1] if block.headings else file
    text = repeated.distinguish(block.text, context, heading)
    metadata = drop_empty(description=clean_name(page.values.get("description")))
    options = {
        **_choose_kind(block, default_kind),
        **make_tags(page.values.get("tags")),
        **drop_empty(context=context, metadata=metadata),
    }
    return ImportItem(f"{name}, line {block.line}", text, name, options)


def _choose_kind(block: NoteBlock, default_kind: str | None) -> dict[str, str]:
    return guess_kind(*reversed(block.headings)) or ({"kind": default_kind} if default_kind else {})
