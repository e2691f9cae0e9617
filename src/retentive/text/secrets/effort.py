"""How much looking one text may cost: whatever it was made of, a megabyte takes a fraction of a second.

Real texts name a secret now and then. One that does so every few characters for pages is a list, or was made to be
slow. Three things are limited, by the length of the text, to more than real texts need:
  a. names that are looked at closely. Past the limit, a value must follow its name and a sign such as `=` directly;
  b. secrets that are told apart. Past the limit, the rest of the text is taken as one;
  c. characters that are searched again after a secret was found among them. Past the limit, they are taken as one.
"""

from dataclasses import dataclass

MIN_NAMES, CHARS_PER_NAME = 4_096, 512  # a close look takes 10 to 30 µs
MIN_SECRETS, CHARS_PER_SECRET = 1_024, 1_024  # each costs about 15 µs, most of it for the text between two
MIN_CHARS, SEARCHES = 100_000, 2.5  # ordinary texts are searched twice
CHARS_OF_A_SEARCH = 64  # in the time that a search takes at least, so many could be looked at


@dataclass(slots=True)
class Effort:
    """What is left for one text."""

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
