"""Which sentences of a conversation are worth keeping, by what can be seen without understanding them.

A sentence scores for what is hard to guess later: decisions, requests and instructions, what people say about
themselves, names, figures, places on disk and in the net. The words looked for are English; in other languages
names, figures and length decide. Greetings and thanks score nothing.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from math import sqrt
from typing import NamedTuple

from retentive.model import Event, Role
from retentive.text.fit import clip
from retentive.text.messages import answers, calls
from retentive.text.sentences import BULLET, END, FENCE
from retentive.text.terms import STOP_WORDS
from retentive.text.tokens import estimate

LONGEST = 240  # characters of a sentence: some forty words, past which it is a pasted list or a log
GLIMPSE = 100  # characters of a tool's call or result, or of code: what it was, not what it said
FULL_LENGTH = 12  # tokens; below this a sentence is worth less ("Use the second one"), above it not more

# The user's words are the facts, the assistant's mostly restate them, a tool's can be had again. System prompts are
# given to the model anyway.
ROLE_WEIGHTS = {Role.USER: 1.0, Role.SYSTEM: 0.7, Role.DEVELOPER: 0.7, Role.ASSISTANT: 0.6, Role.TOOL: 0.3}
_TALKERS = (Role.ASSISTANT, Role.TOOL)


class Feature(NamedTuple):
    name: str
    pattern: re.Pattern[str]
    """In lower case."""
    weight: float
    most: int
    """More of them in one sentence count no further."""
    people: bool = False
    """Counts only in what people say: the assistant's "I'm on it" and "Would you like ...?" tell nothing."""


# The weights order what is kept when there is room for little: a decision before an instruction, which outlasts a
# request, as does a fact about the user; these before a name, a figure or a question, of which several outweigh one.
FEATURES = (
    Feature(
        "decision",
        re.compile(
            r"\b(?:decided?|decision|agreed?|cho(?:se|sen)|settled on|(?:will|'ll|let's) (?:use|go with|keep|take)"
            r"|going (?:with|to use)|go with|switch(?:ed|ing)? (?:to|from)|moved? to|picked|approved|confirmed"
            r"|cancell?ed|rejected|postponed|instead of|no longer|deadline)\b"
        ),
        3.0,
        1,
    ),
    Feature(
        "instruction",
        re.compile(r"\b(?:always|never|must|(?:do not|don't)(?! know| think)|remember|make sure|prefer)\b"),
        2.5,
        1,
        people=True,
    ),
    Feature(
        "request",
        re.compile(r"\b(?:please|(?:can|could|would) you|i(?: need|'d like| want))\b"),
        1.5,
        1,
        people=True,
    ),
    Feature("question", re.compile(r"[?？؟]['\")\]]*$"), 1.0, 1, people=True),  # noqa: RUF001 - all three are meant
    Feature(
        "personal",
        re.compile(r"\b(?:i am|i'm|i've|i (?:have|live|work|like|love|hate|use)|my|our|we)\b"),
        1.5,
        1,
        people=True,
    ),
    Feature(
        "figure",  # a number, a link, a path, code, a file or a site: each begins with a sign of its own, for speed
        re.compile(
            r"\d+(?:[.,:/-]\d+)*|://\S+|/(?<=\w/)[\w.-]+/\S*|/(?<![\w/<]/)\w\S*|`[^`]+`|\.(?<=\w\.)[a-z]{2,4}\b"
        ),
        1.0,
        2,
    ),
)
NAME_WEIGHT, NAMES = 1.0, 2

_FILLER = STOP_WORDS | frozenset(
    "absolutely afternoon anything appreciate assist awesome bye cheers cool course day else evening excellent fine"
    " glad good goodbye got great happy hear hello help hey hi hmm know let lets like lol look looking looks luck makes"
    " morning much need nice night noted oh ok okay perfect please pleasure problem question really right say see"
    " sense sorry sounds sure take thank thanks thing time understood wait welcome well wonderful worries yeah yep"
    " yes".split()
)
_OPENING = re.compile(
    r"(?:hi|hello|hey|thanks|thank you|good (?:morning|evening|night|day)|bye|cheers|welcome)\b", re.IGNORECASE
)
_SHORT = 4  # words: "Thanks a lot, Dana!" is a greeting, "Hello, my name is Dana" is more

_WORD = re.compile(r"[^\W\d_]\w*")


def sentences(text: str) -> Iterator[str]:
    """The sentences, with single blanks and none too long. Of a block of code, its first line."""
    for part in FENCE.sub(lambda block: f"\n{glimpse(block[1])}\n", text).splitlines():
        for sentence in END.split(" ".join(part.split())):
            if short := clip(BULLET.sub("", sentence).strip(" ·"), LONGEST):
                yield short


def joined(parts: Sequence[str]) -> str:
    """Sentences on one line; where nothing else says that one ends, a dot does, so that they are found again."""
    texts = [*parts[:1]]
    for before, part in pairwise(parts):
        ends = END.match(f"{before} {part}", len(before))
        texts.append(f" {part}" if ends else f" · {part}")
    return "".join(texts)


def said(event: Event) -> Iterator[tuple[str, Role]]:
    """What a message says, sentence by sentence, and whose words they are. Of calls and results, a glimpse each."""
    if event.role is not Role.TOOL:
        yield from ((sentence, event.role) for sentence in sentences(event.content))
    made = (each.text for each in calls(event.payload))
    got = (each.text for each in answers(event.payload))
    for text in (event.content if event.role is Role.TOOL else "", *made, *got):
        yield from ((sentence, Role.TOOL) for sentence in sentences(glimpse(text)))


def glimpse(text: str) -> str:
    """The first line that has a word in it."""
    first = next((line for line in text.splitlines() if _WORD.search(line)), "")
    return clip(" ".join(first.split()), GLIMPSE)


@lru_cache(4096)
def score(sentence: str, role: Role) -> float:
    """What a sentence is worth; 0 for filler. Of two that tell as much, the shorter leaves more room."""
    found = _WORD.findall(sentence)
    if _filler(sentence, found):
        return 0.0
    excess = max(estimate(sentence) / FULL_LENGTH, 1.0)
    return ROLE_WEIGHTS[role] * sum(features(sentence, found, role).values()) / sqrt(excess)


def features(sentence: str, words: Sequence[str], role: Role) -> dict[str, float]:
    """What speaks for a sentence, by name."""
    lower = sentence.lower().replace("’", "'")  # noqa: RUF001 - as phones write it
    found = {
        feature.name: feature.weight * min(len(feature.pattern.findall(lower)), feature.most)
        for feature in FEATURES
        if not (feature.people and role in _TALKERS)
    }
    found["name"] = NAME_WEIGHT * min(_names(words), NAMES)
    found["length"] = min(estimate(sentence) / FULL_LENGTH, 1.0)
    return found


def _names(words: Sequence[str]) -> int:
    """Capitalised words, but for the first and "I"."""
    return sum(len(word) > 1 and word[0].isupper() for word in words[1:])


def _filler(sentence: str, words: Sequence[str]) -> bool:
    """Greetings, thanks, words that say nothing by themselves; or no word at all."""
    if len(words) <= _SHORT and _OPENING.match(sentence):
        return True
    return _FILLER.issuperset(map(str.lower, words)) and not any(map(str.isdigit, sentence))
