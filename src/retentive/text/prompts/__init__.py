"""Prompts for language models, one file per version.

A released file never changes, because memories record the version that found them. A changed prompt is a new file with
the next number. `$name` is a placeholder.
"""

from functools import cache
from importlib.resources import files
from string import Template
from typing import NamedTuple


class Prompt(NamedTuple):
    name: str
    """Includes the version, such as `extract-1`."""
    text: str

    def fill(self, **values: object) -> str:
        """Fill the placeholders with values."""
        return Template(self.text).substitute(values)


@cache
def load_prompt(name: str) -> Prompt:
    return Prompt(name, (files(__name__) / f"{name}.txt").read_text("utf-8"))
