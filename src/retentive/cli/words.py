"""Counts in words."""

from collections.abc import Mapping


def format_count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or f'{one}s'}"


def join_counts(counts: Mapping[str, int]) -> str:
    """`62 fact, 40 project`, the largest first."""
    return ", ".join(f"{count:,} {name}" for name, count in sorted(counts.items(), key=lambda each: -each[1]))
