"""The findings of `doctor` as a table."""

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from retentive.cli.draw.console import plain
from retentive.cli.draw.tables import make_grid
from retentive.storage import Finding

_MARK_WIDTH, _NAME_WIDTH = 3, 13


def make_findings(findings: Sequence[Finding]) -> Table:
    """Make a row for each check; below a fault, what to do."""
    rows = []
    for each in findings:
        mark = plain("ok", "green") if each.ok else plain("BAD", "bold red")
        rows.append((mark, plain(each.name), plain(each.detail, "dim" if each.ok else "")))
        if not each.ok and each.remedy:
            rows.append((Text(""), Text(""), plain(f"-> {each.remedy}", "yellow")))
    return make_grid(*rows, widths=(_MARK_WIDTH, max(_NAME_WIDTH, *(len(each.name) for each in findings)), None))
