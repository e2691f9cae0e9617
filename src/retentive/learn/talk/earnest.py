"""Which words of a message does its sender mean as a statement of their own?

Not what they quote, give as an example, or hand over to be translated, rewritten or played; and nothing at all of what
they ask not to be kept. What stands for something else is blanked or cut; spelling without apostrophes is mended, for
the rules know "I'm" and "don't".
"""

import re

_OFF_THE_RECORD = re.compile(
    r"\b(?:do not|don't|dont|please don't|no need to) (?:remember|save|store|keep|record|note) (?:this|that|it)\b"
    r"|\boff the record\b|\bbetween (?:you and me|us)\b(?=,? (?:don't|keep it))",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"\"[^\"\n]{2,}\"|\u201c[^\u201d\n]{2,}\u201d|«[^»\n]{2,}»")
_EXAMPLE = re.compile(r"\b(?:e\.g\.|eg:|for example:|for instance:|such as:)[^\n]*", re.IGNORECASE)
_TASK = re.compile(
    r"(?:^|(?<=[.!?\n] )|(?<=\n))[ \t]*(?:please |can you |could you |now )*"
    r"(?:(?P<played>pretend|imagine|role-?play|act as|suppose you|let's play)|translate|rewrite|rephrase|proofread|"
    r"paraphrase|summari[sz]e|write|draft|compose|edit|improve|correct|fix) ?[^\n:.!?]*(?P<colon>:)?",
    re.IGNORECASE,
)
_SPELLED = {
    re.compile(rf"\b{wrong}\b", re.IGNORECASE): right
    for wrong, right in {
        "im": "I'm", "ive": "I've", "dont": "don't", "doesnt": "doesn't", "didnt": "didn't", "isnt": "isn't",
        "arent": "aren't", "wasnt": "wasn't", "werent": "weren't", "cant": "can't", "wont": "won't",
        "havent": "haven't", "hasnt": "hasn't", "couldnt": "couldn't", "wouldnt": "wouldn't", "shouldnt": "shouldn't",
    }.items()
}  # fmt: skip


def earnest(text: str) -> str:
    """The message without what is not meant so; every line stays a line."""
    if _OFF_THE_RECORD.search(text):
        return ""
    for task in _TASK.finditer(text):
        if task["played"] or task["colon"]:
            text = text[: task.start()]
            break
    text = _EXAMPLE.sub(_blank, _QUOTED.sub(_blank, text))
    for wrong, right in _SPELLED.items():
        text = wrong.sub(right, text)
    return text


def _blank(found: re.Match[str]) -> str:
    return " " * len(found.group())
