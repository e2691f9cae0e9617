"""Hits of a search: relevance as a bar, the words of the question highlighted; and the sum of a score as a tree."""

from collections.abc import Iterator
from datetime import datetime

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text
from rich.tree import Tree

from retentive.cli.describe_hit import describe_hit, get_kind, get_locator, get_tags, list_share_facts
from retentive.cli.draw.console import has_blocks, plain
from retentive.cli.draw.matched_words import highlight_words
from retentive.cli.draw.signs import format_age, make_bar, shorten_path
from retentive.cli.draw.tables import make_grid
from retentive.ids import shorten_id
from retentive.model import Hit, Passage, Results

MAX_EXCERPT_CHARS = 300  # of a hit on the screen: three or four lines
BAR_CELLS = 10
_RANK_WIDTH, _NUMBER_WIDTH = 3, 4
_HIT_WIDTHS = (_RANK_WIDTH, BAR_CELLS, _NUMBER_WIDTH, None)
TEXT_INDENT = _RANK_WIDTH + BAR_CELLS + _NUMBER_WIDTH + 3 * 2  # where the text of a hit begins
GOOD_RELEVANCE, FAIR_RELEVANCE = 0.7, 0.4  # 0.4 is the default of the setting `min_relevance`


def make_hits(results: Results, now: datetime, *, with_why: bool) -> Group:
    parts: list[RenderableType] = []
    for rank, hit in enumerate(results.hits, start=1):
        parts.append(make_hit(rank, hit, results.query, now))
        if with_why:
            parts.append(Padding(make_score_tree(hit), (0, 0, 1, TEXT_INDENT)))
    return Group(*parts)


def make_hit(rank: int, hit: Hit, question: str, now: datetime) -> RenderableType:
    style = relevance_style(hit.relevance)
    bar = Text(make_bar(hit.relevance, BAR_CELLS, blocks=has_blocks()), style)
    text = plain(describe_hit(hit))
    text.truncate(MAX_EXCERPT_CHARS, overflow="ellipsis")
    rows: list[tuple[RenderableType, ...]] = [
        (plain(f"{rank:3}"), bar, Text(f"{hit.relevance:.2f}", style), highlight_words(text, question)),
        ("", "", "", make_details(hit, now)),
    ]
    if hit.outdated:
        rows.append(("", "", "", plain(_shorten_mark(hit), "yellow")))
    return make_grid(*rows, widths=_HIT_WIDTHS)


def relevance_style(relevance: float) -> str:
    return "green" if relevance >= GOOD_RELEVANCE else "yellow" if relevance >= FAIR_RELEVANCE else "dim"


def make_details(hit: Hit, now: datetime) -> Text:
    """Make the line below a hit: its kind, its age, where to find it again, its tags."""
    parts = [
        get_kind(hit),
        format_age(hit.time, now),
        shorten_path(get_locator(hit)) if isinstance(hit.item, Passage) else shorten_id(hit.id),
    ]
    return plain("  ".join([*parts, *(f"#{tag}" for tag in get_tags(hit))]), "dim")


def _shorten_mark(hit: Hit) -> str:
    newer = hit.outdated.newer_id if hit.outdated else None
    return str(hit.outdated) + (f", see {shorten_id(newer)}" if newer else "")


def make_score_tree(hit: Hit) -> Tree:
    """Make the tree of what a score is made of: shares that add up, then factors."""
    why, total = hit.why, sum(hit.why.shares.values())
    tree = Tree(plain(f"score {hit.score:.4f}"), guide_style="dim")
    if total:
        shares = tree.add(plain(f"  {total:7.4f}  sum of the signals"))
        for name, share, detail in list_share_facts(hit):
            shares.add(Text.assemble(plain(f"{share:+7.4f}  {name:10}"), plain(detail, "dim")))
    elif not why.pair:
        tree.add(plain("exact match"))
    for sign, value, name in _list_factors(hit):
        tree.add(plain(f"{sign} {value:7.4f}  {name}"))
    return tree


def _list_factors(hit: Hit) -> Iterator[tuple[str, float, str]]:
    why = hit.why
    yield "x", why.confidence_factor, "confidence"
    yield "x", why.importance_factor, "importance"
    if why.time:
        yield "x", why.time.factor, f"time: {why.time.words} ({why.time.relation})"
        if why.time.bonus:
            yield "+", why.time.bonus, "time"
    if why.pair:
        yield "+", why.pair, "shown with the memory that it replaced, or that replaced it"
    if why.rerank:
        yield "+", why.rerank, "reranker"
