"""Which of several hits of one item is kept."""

from dataclasses import replace

from retentive.search.copies import keep_first_hits
from tests.search.test_newer_first import hit


def test_the_first_hit_of_an_item_keeps_its_place() -> None:
    first, second, again = hit("a", 1.0), hit("b", 0.5), hit("a", 0.2)
    assert keep_first_hits([first, second, again]) == [first, second]


def test_items_of_two_namespaces_are_two() -> None:
    mine = hit("a", 1.0)
    theirs = replace(mine, item=replace(mine.item, namespace="other"))
    assert keep_first_hits([mine, theirs]) == [mine, theirs]
