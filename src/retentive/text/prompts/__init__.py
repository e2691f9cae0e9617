"""The texts that language models are asked with, one file for each version of each.

A released file never changes: memories name the version that they were found with. Another text is another file, with
the next number. `$name` in a text is a place for a value.
"""

from functools import cache
from importlib.resources import files
from string import Template
from typing import NamedTuple


class Prompt(NamedTuple):
    name: str
    """With its version, such as `extract-1`."""
    text: str

    def fill(self, **values: object) -> str:
        """The text with a value in each of its places."""
        return Template(self.text).substitute(values)


@cache
def load_prompt(name: str) -> Prompt:
    return Prompt(name, (files(__name__) / f"{name}.txt").read_text("utf-8"))
