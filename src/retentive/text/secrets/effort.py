"""Limits the cost of a search: any text of a megabyte takes a fraction of a second.

Real texts name a secret now and then. A text that does so every few characters for pages is a list, or was made to be
slow. Three numbers are limited, by the length of the text, to more than real texts need:
  a. names that are checked by all rules. Beyond, a value must follow its name and a sign such as `=` directly;
  b. separate secrets. Beyond, the rest of the text counts as one;
  c. characters that are searched again after a secret was found among them. Beyond, they count as one secret.
"""

from dataclasses import dataclass

MIN_NAMES, CHARS_PER_NAME = 4_096, 512  # a close look takes 10 to 30 µs
MIN_SECRETS, CHARS_PER_SECRET = 1_024, 1_024  # each costs about 15 µs, most of it for the text between two
MIN_CHARS, SEARCHES = 100_000, 2.5  # ordinary texts are searched twice
CHARS_OF_A_SEARCH = 64  # in the time that a search takes at least, so many could be looked at


@dataclass(slots=True)
class Effort:
    """The remaining effort for one text."""

    names: int
    secrets: int
    chars: int

    @classmethod
    def for_text(cls, text: str) -> "Effort":
        size = len(text)
        names, secrets = MIN_NAMES + size // CHARS_PER_NAME, MIN_SECRETS + size // CHARS_PER_SECRET
        return cls(names, secrets, MIN_CHARS + int(SEARCHES * size))

    def may_look_closely(self, names: int) -> bool:
        self.names -= names
        return self.names >= 0

    def may_search(self, chars: int) -> bool:
        self.chars -= chars + CHARS_OF_A_SEARCH
        return self.chars >= 0
