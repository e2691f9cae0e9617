"""The settings in groups; those that were changed stand out."""

from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.table import Table

from retentive.cli.draw.console import plain
from retentive.cli.draw.tables import make_grid
from retentive.config import SETTINGS, Value

_ORIGIN_WIDTH = 7  # `default`
_MEANINGS = {setting.name: setting.meaning for setting in SETTINGS}
_NAME_WIDTH = max(map(len, _MEANINGS))


def make_settings(found: Mapping[str, Value], groups: Mapping[str, Sequence[str]]) -> Group:
    """Make the groups. The first has the meaning of each setting, too."""
    parts: list[RenderableType] = []
    for title, names in groups.items():
        parts += [plain(title, "bold cyan"), _make_group(found, names, with_meaning=not parts)]
    return Group(*parts)


def _make_group(found: Mapping[str, Value], names: Sequence[str], *, with_meaning: bool) -> Table:
    rows: list[tuple[RenderableType, ...]] = []
    for name in names:
        value, origin = found[name]
        style = "dim" if origin == "default" else "bold"
        source = "" if origin == "default" else f"  (from {origin})"
        shown = plain(_format_value(value), style) + plain(source, "green")
        rows.append((plain(name), shown))
        if with_meaning:
            rows.append(("", plain(_MEANINGS[name], "dim")))
    return make_grid(*rows, widths=(_NAME_WIDTH, None), indent=2)


def _format_value(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value) if value != "" else "none"
