"""A proposal, so that a person can decide: both texts with what differs, their days, and the reason."""

from difflib import SequenceMatcher

from rich.console import Group
from rich.padding import Padding
from rich.text import Text

from retentive.cli.draw.console import plain
from retentive.cli.draw.stories import split_pieces
from retentive.cli.draw.tables import make_grid
from retentive.cli.words import describe_reason
from retentive.ids import shorten_id
from retentive.model import Proposal

NEWER_STYLE, OLDER_STYLE = "bold green", "bold yellow"
_NAME_WIDTH, _DAY_WIDTH = 5, 10


def make_proposal(each: Proposal, number: int, count: int) -> Group:
    """Make the lines of a proposal: what it is about, the texts, and why."""
    what = f"move it to {each.move_to}?" if each.move_to else "does the newer one replace the older one?"
    title = Text.assemble(plain(f"{number} of {count}  ", "dim"), plain(what, "bold"))
    title.append_text(plain(f"  {shorten_id(each.id)}", "dim"))
    newer, older = mark_differences(each.newer, each.older)
    rows = [(plain("older", OLDER_STYLE), plain(f"{each.older_time:%Y-%m-%d}", "dim"), older)]
    if each.move_to:
        rows = [(plain("text"), plain(f"{each.older_time:%Y-%m-%d}", "dim"), plain(each.older))]
    else:
        rows.insert(0, (plain("newer", NEWER_STYLE), plain(f"{each.newer_time:%Y-%m-%d}", "dim"), newer))
    rows.append((plain("why"), Text(""), plain(describe_reason(each.rule, each.reason))))
    grid = make_grid(*rows, widths=(_NAME_WIDTH, _DAY_WIDTH, None))
    return Group(title, Padding(grid, (0, 0, 0, 2)))


def mark_differences(newer: str, older: str) -> tuple[Text, Text]:
    """Mark the words that only one of two texts has."""
    new, old = split_pieces(newer), split_pieces(older)
    newer_text, older_text = Text(), Text()
    for tag, a, b, c, d in SequenceMatcher(None, new, old, autojunk=False).get_opcodes():
        newer_text.append_text(plain("".join(new[a:b]), "" if tag == "equal" else NEWER_STYLE))
        older_text.append_text(plain("".join(old[c:d]), "" if tag == "equal" else OLDER_STYLE))
    return newer_text, older_text
