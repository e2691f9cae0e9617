"""Counts and reasons in words."""

from collections.abc import Mapping

SELF_EVIDENT_RULES = ("slot", "replaces", "judge")
"""Rules of replacements whose name adds nothing to the reason."""


def describe_reason(rule: str, reason: str) -> str:
    """Describe why a memory ended or may end: by which rule, and the evidence."""
    return reason if rule in SELF_EVIDENT_RULES else f"{rule}: {reason}"


def format_count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or f'{one}s'}"


def join_counts(counts: Mapping[str, int], most: int = 100) -> str:
    """`62 fact, 40 project, 12 others`, the largest first; at most `most` by name."""
    ranked = sorted(counts.items(), key=lambda each: -each[1])
    others = sum(count for _, count in ranked[most:])
    parts = [f"{count:,} {name}" for name, count in ranked[:most]]
    return ", ".join([*parts, f"{others:,} others"] if others else parts)
