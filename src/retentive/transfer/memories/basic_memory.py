"""Basic Memory: a folder of Markdown notes.

Front matter (`title`, `type`, `permalink`, `tags`, `created`), then prose, observations as
`- [category] text #tag (context)` and relations as `- relation_type [[Target]] (context)`. An observation is about its
note: the title of the note is put before it, unless the text has it.
"""

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from retentive.conversations.formats.values import clean_name, parse_time
from retentive.model import RefusedItem
from retentive.transfer.memories.blocks import NoteBlock, parse_blocks, parse_front_matter
from retentive.transfer.memories.graph import add_subject
from retentive.transfer.memories.items import (
    ImportItem,
    ReadResult,
    drop_empty,
    guess_kind,
    make_tags,
    render_relation,
    try_make,
)
from retentive.transfer.memories.pages import MARKDOWN_ENDINGS, RepeatedTexts, read_pages
from retentive.transfer.memories.source import ImportSource, read_text

MAX_SAMPLED_NOTES = 200  # of a folder, to recognise the format

_OBSERVATION = re.compile(r"\[([^\[\]()]+)\]\s+(.+)", re.DOTALL)
_RELATION = re.compile(r"""(?:"([^"]+)"|'([^']+)'|([^\s\[]+))?\s*\[\[([^\[\]]+)\]\]\s*(?:\((.*)\))?""", re.DOTALL)
_LINK = re.compile(r"\[\[([^\[\]|]+)(?:\|([^\[\]]*))?\]\]")
_CLOCK_TIME = re.compile(r"[\d:.,\s-]+")
_TAGS = re.compile(r"(?<!\S)#([^\s#,;]+)")
_SECTIONS = ("observations", "relations")


class _Note(NamedTuple):
    file: str
    title: str
    id: str
    values: dict[str, Any]


def recognise(source: ImportSource) -> bool:
    if not source.is_folder and not source.head_text.startswith("---"):
        return False
    return any(_is_note(read_text(*each)) for each in islice(source.files(*MARKDOWN_ENDINGS), MAX_SAMPLED_NOTES))


def _is_note(text: str | RefusedItem) -> bool:
    if isinstance(text, RefusedItem) or not text.startswith("---"):
        return False
    page = parse_front_matter(text)
    if "permalink" in page.values:
        return True
    blocks = parse_blocks(page.body) if "title" in page.values else ()
    return any(_parse_observation(block) or _RELATION.fullmatch(block.text) for block in blocks)


def read(source: ImportSource) -> Iterator[ReadResult]:
    repeated = RepeatedTexts()
    for name, page in read_pages(source):
        if isinstance(page, RefusedItem):
            yield page
            continue
        title = clean_name(page.values.get("title")) or PurePosixPath(name).stem
        note = _Note(name, title, clean_name(page.values.get("permalink")) or name, page.values)
        for block in parse_blocks(page.body, page.lines):
            yield try_make(_make_item, f"{name}, line {block.line}", note, block, repeated)


def _make_item(place: str, note: _Note, block: NoteBlock, repeated: RepeatedTexts) -> ImportItem:
    relation = _RELATION.fullmatch(block.text) if block.is_bullet else None
    if relation:
        text, more = _render_relation(note, relation)
        heading = relation[5]
    elif observation := _parse_observation(block):
        text, more, heading = _render_observation(note, *observation)
    else:
        text, heading = _replace_links(block.text), None
        more = {**guess_kind(*block.headings[::-1], note.values.get("type")), "tags": _TAGS.findall(block.text)}
    titles = [each for each in block.headings if each.lower() not in (*_SECTIONS, note.title.lower())]
    context = " > ".join(each for each in (note.title, *titles, heading) if each)
    text = text if relation else repeated.distinguish(text, context, note.title)
    tags = make_tags(more.pop("tags", ()), note.values.get("tags"))
    options = {**more, **tags, **drop_empty(context=context)}
    return ImportItem(place, text, note.id, options, *_parse_times(note, place))


def _parse_observation(block: NoteBlock) -> tuple[str, str] | None:
    """The category and the text of an observation. Clock times and task marks in brackets are no categories."""
    found = _OBSERVATION.fullmatch(block.text) if block.is_bullet else None
    category = found[1].strip() if found else ""
    if not found or _CLOCK_TIME.fullmatch(category) or (len(category) == 1 and not category.isalnum()):
        return None
    return category, found[2]


def _render_observation(note: _Note, category: str, text: str) -> tuple[str, dict[str, Any], str | None]:
    context = None
    if text.endswith(")") and (start := text.rfind("(")) > 0:
        text, context = text[:start].rstrip(), text[start + 1 : -1].strip()
    tags = [category, *_TAGS.findall(text)]
    words = text.split(" ")
    while len(words) > 1 and words[-1].startswith("#"):
        words.pop()
    kind = guess_kind(category, note.values.get("type"))
    return add_subject(note.title, _replace_links(" ".join(words))), {**kind, "tags": tags}, context


def _render_relation(note: _Note, found: re.Match[str]) -> tuple[str, dict[str, Any]]:
    verb = found[1] or found[2] or found[3] or "links to"
    target = found[4].partition("|")[0].strip()
    return render_relation(note.title, verb, target), {"tags": [note.title, target]}


def _replace_links(text: str) -> str:
    """Replace links between notes by their words."""
    return _LINK.sub(lambda link: link[2] or link[1], text).strip()


def _parse_times(note: _Note, place: str) -> tuple[Any, Any]:
    created = note.values.get("created") or note.values.get("date")
    return parse_time(created or None, place), parse_time(note.values.get("modified") or None, place)
