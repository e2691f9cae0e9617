"""How many tokens a text is for a language model, roughly and at once."""

import re

_WIDE = re.compile("[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U0001f000-\U0003ffff]")


def estimate(text: str) -> int:
    """A quarter of the ASCII characters, half of the others, every sign of Chinese, Japanese, Korean and every emoji.

    Within a fifth of what the tokenizers of current models count for prose.
    """
    if text.isascii():
        return (len(text) + 3) // 4
    wide = len(_WIDE.findall(text))
    narrow = len(text) - wide
    plain = len(text.encode("ascii", "ignore"))
    return wide + (plain + 2 * (narrow - plain) + 3) // 4
