"""The story of a memory: its changes as differences, and where it came from as a tree."""

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text
from rich.tree import Tree

from retentive.cli.draw.console import plain
from retentive.cli.draw.memories import make_status
from retentive.hints import for_terminal
from retentive.ids import shorten_id
from retentive.model import Event, HistoryEntry, Memory, Provenance, Source, describe_source

_PIECE = re.compile(r"\s+|\w+|[^\w\s]")
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
REMOVED_STYLE, ADDED_STYLE = "red strike", "bold green"
FIELD_TITLES = {"superseded_by": "replaced by", "valid_from": "true since", "valid_to": "true until"}
ORIGIN_OF_MESSAGES = ("session", "event", "events", "sequence")
_UNIMPORTANT = frozenset(("content", "content_hash", "version", "updated", "access_count", "last_access", "id",
                          "namespace", "created"))  # fmt: skip


def make_history(changes: Sequence[HistoryEntry], present: Mapping[str, Any], *, has_colour: bool) -> Group:
    """Make the changes of a memory, from its creation on: when, what, by whom, why; and what became different."""
    states = [each.before for each in changes[1:]] + [present]
    parts: list[RenderableType] = []
    for change, after in zip(changes, states, strict=True):
        parts.append(_make_heading(change))
        parts += [Padding(line, (0, 0, 0, 2)) for line in _make_differences(change.before, after, has_colour)]
    return Group(*parts)


def _make_heading(change: HistoryEntry) -> Text:
    reason = for_terminal(change.reason or "")
    who = f" by {change.actor}" if change.before is not None else f", {describe_source(Source(change.actor))}"
    heading = Text.assemble(plain(f"{change.at:%Y-%m-%d %H:%M}  ", "dim"), plain(change.action, "bold"), plain(who))
    return heading + plain(f": {reason}") if reason else heading


def _make_differences(
    before: Mapping[str, Any] | None, after: Mapping[str, Any] | None, has_colour: bool
) -> Iterator[Text]:
    if after is None:
        return
    if before is None:
        yield plain(after["content"])
        return
    if before["content"] != after["content"]:
        yield make_word_difference(before["content"], after["content"], has_colour=has_colour)
    for name in before:
        if name not in _UNIMPORTANT and name in after and before[name] != after[name]:
            yield Text.assemble(
                plain(f"{FIELD_TITLES.get(name, name)}: ", "dim"),
                plain(_format_value(before[name])),
                " → ",
                plain(_format_value(after[name])),
            )


def _format_value(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, str) and _INSTANT.fullmatch(value):
        return f"{value[:10]} {value[11:16]}"
    return "none" if value is None else shorten_id(str(value))


def split_pieces(text: str) -> list[str]:
    """Split a text into words, blanks and signs, which a difference is made of."""
    return _PIECE.findall(text)


def make_word_difference(before: str, after: str, *, has_colour: bool) -> Text:
    """Make one text of two: words removed and added, in colours, or as `[-old-]` and `{+new+}` without."""
    old, new = split_pieces(before), split_pieces(after)
    text = Text()
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            text.append_text(plain("".join(new[c:d])))
            continue
        if removed := "".join(old[a:b]):
            text.append_text(plain(removed if has_colour else f"[-{removed}-]", REMOVED_STYLE))
        if added := "".join(new[c:d]):
            space = " " if has_colour and removed and not removed[-1].isspace() else ""
            text.append_text(plain(space + (added if has_colour else f"{{+{added}+}}"), ADDED_STYLE))
    return text


def make_provenance(story: Provenance) -> Tree:
    """Make the tree of where a memory came from and what became of it."""
    tree = Tree(_make_memory_line(story.memory), guide_style="dim")
    tree.add(plain(_describe_beginning(story.memory)))
    _add_branch(tree, "learned from", [*map(_make_message, story.messages), *map(_make_missing, story.missing)])
    _add_branch(tree, "replaced", [_make_memory_line(each) for each in story.replaced])
    changes = [_make_heading(each) for each in story.changes if each.before is not None]
    _add_branch(tree, "changed", changes)
    _add_branch(tree, "replaced by", [_make_memory_line(each) for each in story.replaced_by])
    return tree


def _describe_beginning(memory: Memory) -> str:
    origin = [f"{name} {value}" for name, value in (memory.origin or {}).items() if name not in ORIGIN_OF_MESSAGES]
    return f"{memory.created:%Y-%m-%d}  {', '.join([describe_source(memory.source), *origin])}"


def _add_branch(tree: Tree, title: str, leaves: Sequence[Text]) -> None:
    if leaves:
        branch = tree.add(plain(title, "cyan"))
        for leaf in leaves:
            branch.add(leaf)


def _make_memory_line(memory: Memory) -> Text:
    line = Text.assemble(plain(memory.content, "bold"), plain(f"  {memory.created:%Y-%m-%d}", "dim"))
    line.append_text(plain(f"  {shorten_id(memory.id)}", "dim"))
    status = make_status(memory.status)
    return line + plain("  ") + status if status.plain else line


def _make_message(event: Event) -> Text:
    return Text.assemble(
        plain(f"{event.id}  {event.time:%Y-%m-%d}  ", "dim"), plain(f"{event.speaker or event.role}: {event.content}")
    )


def _make_missing(id: str) -> Text:
    return plain(f"{id}  no longer there", "dim")
