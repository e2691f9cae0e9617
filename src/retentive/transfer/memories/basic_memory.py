"""Basic Memory: a folder of Markdown notes.

Front matter (`title`, `type`, `permalink`, `tags`, `created`), then prose, observations as
`- [category] text #tag (context)` and relations as `- relation_type [[Target]] (context)`. An observation is about its
note, whose title is put before it where it does not name it.
"""

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from retentive.conversations.formats.values import label, moment
from retentive.model import Refusal
from retentive.transfer.memories.blocks import Block, blocks, front
from retentive.transfer.memories.items import Item, Told, attempt, kind_of, relation, tags_of, told
from retentive.transfer.memories.mcp_memory import about
from retentive.transfer.memories.pages import MARKDOWN, Distinct, pages
from retentive.transfer.memories.source import Given, text_in

LOOKED_AT = 200  # notes of a folder, to tell the format

_OBSERVATION = re.compile(r"\[([^\[\]()]+)\]\s+(.+)", re.DOTALL)
_RELATION = re.compile(r"""(?:"([^"]+)"|'([^']+)'|([^\s\[]+))?\s*\[\[([^\[\]]+)\]\]\s*(?:\((.*)\))?""", re.DOTALL)
_LINK = re.compile(r"\[\[([^\[\]|]+)(?:\|([^\[\]]*))?\]\]")
_CLOCK = re.compile(r"[\d:.,\s-]+")
_TAGS = re.compile(r"(?<!\S)#([^\s#,;]+)")
_SECTIONS = ("observations", "relations")


class _Note(NamedTuple):
    file: str
    title: str
    id: str
    values: dict[str, Any]


def recognise(given: Given) -> bool:
    if not given.is_folder and not given.opening.startswith("---"):
        return False
    return any(_is_note(text_in(*each)) for each in islice(given.files(*MARKDOWN), LOOKED_AT))


def _is_note(text: str | Refusal) -> bool:
    if isinstance(text, Refusal) or not text.startswith("---"):
        return False
    page = front(text)
    if "permalink" in page.values:
        return True
    said = blocks(page.body) if "title" in page.values else ()
    return any(_observed(each) or _RELATION.fullmatch(each.text) for each in said)


def read(given: Given) -> Iterator[Told]:
    distinct = Distinct()
    for name, page in pages(given):
        if isinstance(page, Refusal):
            yield page
            continue
        title = label(page.values.get("title")) or PurePosixPath(name).stem
        note = _Note(name, title, label(page.values.get("permalink")) or name, page.values)
        for block in blocks(page.body, page.lines):
            yield attempt(_item, f"{name}, line {block.line}", note, block, distinct)


def _item(place: str, note: _Note, block: Block, distinct: Distinct) -> Item:
    related = _RELATION.fullmatch(block.text) if block.is_bullet else None
    if related:
        text, more = _related(note, related)
        heading = related[5]
    elif found := _observed(block):
        text, more, heading = _observation(note, *found)
    else:
        text, heading = _linked(block.text), None
        more = {**kind_of(*block.headings[::-1], note.values.get("type")), "tags": _TAGS.findall(block.text)}
    titles = [each for each in block.headings if each.lower() not in (*_SECTIONS, note.title.lower())]
    context = " > ".join(each for each in (note.title, *titles, heading) if each)
    told_apart = text if related else distinct.told(text, context, note.title)
    tags = tags_of(more.pop("tags", ()), note.values.get("tags"))
    return Item(place, told_apart, note.id, {**more, **tags, **told(context=context)}, *_times(note, place))


def _observed(block: Block) -> tuple[str, str] | None:
    """The category and the text, if it is an observation: clocks and marks of tasks are no categories."""
    found = _OBSERVATION.fullmatch(block.text) if block.is_bullet else None
    category = found[1].strip() if found else ""
    if not found or _CLOCK.fullmatch(category) or (len(category) == 1 and not category.isalnum()):
        return None
    return category, found[2]


def _observation(note: _Note, category: str, said: str) -> tuple[str, dict[str, Any], str | None]:
    context = None
    if said.endswith(")") and (start := said.rfind("(")) > 0:
        said, context = said[:start].rstrip(), said[start + 1 : -1].strip()
    tags = [category, *_TAGS.findall(said)]
    words = said.split(" ")
    while len(words) > 1 and words[-1].startswith("#"):
        words.pop()
    kind = kind_of(category, note.values.get("type"))
    return about(note.title, _linked(" ".join(words))), {**kind, "tags": tags}, context


def _related(note: _Note, found: re.Match[str]) -> tuple[str, dict[str, Any]]:
    verb = found[1] or found[2] or found[3] or "links to"
    target = found[4].partition("|")[0].strip()
    return relation(note.title, verb, target), {"tags": [note.title, target]}


def _linked(text: str) -> str:
    """Links between notes, as their words."""
    return _LINK.sub(lambda link: link[2] or link[1], text).strip()


def _times(note: _Note, place: str) -> tuple[Any, Any]:
    created = note.values.get("created") or note.values.get("date")
    return moment(created or None, place), moment(note.values.get("modified") or None, place)
