"""Score the sentences of a conversation for a summary, by form alone.

A sentence scores for what is hard to guess later: decisions, requests and instructions, facts about the speaker, names,
figures, paths and links. The words looked for are English; in other languages names, figures and length decide.
Greetings and thanks score 0.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import sqrt
from typing import NamedTuple

from retentive.model import Event, Role
from retentive.text.caches import text_cache
from retentive.text.clip import clip
from retentive.text.messages import find_tool_calls, find_tool_results
from retentive.text.sentences import CODE_FENCE, LIST_MARKER, SENTENCE_END
from retentive.text.terms import STOP_WORDS
from retentive.text.token_estimate import estimate_tokens

MAX_SENTENCE_CHARS = 240  # some forty words; a longer one is a pasted list or a log
MAX_EXCERPT_CHARS = 100  # of a tool's call or result, or of code: enough to see what it was
FULL_LENGTH = 12  # tokens; below this a sentence is worth less ("Use the second one"), above it not more

# The user's words are the facts, the assistant's mostly restate them, a tool's can be had again. System prompts are
# given to the model anyway.
ROLE_WEIGHTS = {Role.USER: 1.0, Role.SYSTEM: 0.7, Role.DEVELOPER: 0.7, Role.ASSISTANT: 0.6, Role.TOOL: 0.3}
_MACHINE_ROLES = (Role.ASSISTANT, Role.TOOL)


class Feature(NamedTuple):
    name: str
    pattern: re.Pattern[str]
    """In lower case."""
    weight: float
    max_count: int
    """More matches in one sentence do not count."""
    is_human_only: bool = False
    """Counts only in messages of people: the assistant's "I'm on it" and "Would you like ...?" say nothing."""


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
        is_human_only=True,
    ),
    Feature(
        "request",
        re.compile(r"\b(?:please|(?:can|could|would) you|i(?: need|'d like| want))\b"),
        1.5,
        1,
        is_human_only=True,
    ),
    Feature("question", re.compile(r"[?？؟]['\")\]]*$"), 1.0, 1, is_human_only=True),  # noqa: RUF001 - all three are meant
    Feature(
        "personal",
        re.compile(r"\b(?:i am|i'm|i've|i (?:have|live|work|like|love|hate|use)|my|our|we)\b"),
        1.5,
        1,
        is_human_only=True,
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
NAME_WEIGHT, MAX_NAMES = 1.0, 2

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
_MAX_GREETING_WORDS = 4  # words: "Thanks a lot, Dana!" is a greeting, "Hello, my name is Dana" is more

_WORD = re.compile(r"[^\W\d_]\w*")


def split_sentences(text: str) -> Iterator[str]:
    """Yield the sentences, with single blanks and clipped. A block of code yields its first line."""
    for part in CODE_FENCE.sub(lambda block: f"\n{first_line(block[1])}\n", text).splitlines():
        for sentence in SENTENCE_END.split(" ".join(part.split())):
            if short := clip(LIST_MARKER.sub("", sentence).strip(" ·"), MAX_SENTENCE_CHARS):
                yield short


def join_sentences(parts: Sequence[str]) -> str:
    """Join sentences on one line. A dot separates them where nothing else does, so that they can be split again."""
    texts = [*parts[:1]]
    for before, part in pairwise(parts):
        ends = SENTENCE_END.match(f"{before} {part}", len(before))
        texts.append(f" {part}" if ends else f" · {part}")
    return "".join(texts)


def message_sentences(event: Event) -> Iterator[tuple[str, Role]]:
    """Yield the sentences of a message with the role that said them. Tool calls and results are clipped."""
    if event.role is not Role.TOOL:
        yield from ((sentence, event.role) for sentence in split_sentences(event.content))
    made = (each.text for each in find_tool_calls(event.payload))
    got = (each.text for each in find_tool_results(event.payload))
    for text in (event.content if event.role is Role.TOOL else "", *made, *got):
        yield from ((sentence, Role.TOOL) for sentence in split_sentences(first_line(text)))


def first_line(text: str) -> str:
    """Return the first line that has a word in it, clipped."""
    first = next((line for line in text.splitlines() if _WORD.search(line)), "")
    return clip(" ".join(first.split()), MAX_EXCERPT_CHARS)


@text_cache(4096)
def score_sentence(sentence: str, role: Role) -> float:
    """Score a sentence; 0 for filler. Of two with the same features, the shorter scores higher."""
    found = _WORD.findall(sentence)
    if _is_filler(sentence, found):
        return 0.0
    excess = max(estimate_tokens(sentence) / FULL_LENGTH, 1.0)
    return ROLE_WEIGHTS[role] * sum(score_features(sentence, found, role).values()) / sqrt(excess)


def score_features(sentence: str, words: Sequence[str], role: Role) -> dict[str, float]:
    """Return the weights of the features of a sentence, by name."""
    lower = sentence.lower().replace("’", "'")  # noqa: RUF001 - as phones write it
    found = {
        feature.name: feature.weight * min(len(feature.pattern.findall(lower)), feature.max_count)
        for feature in FEATURES
        if not (feature.is_human_only and role in _MACHINE_ROLES)
    }
    found["name"] = NAME_WEIGHT * min(_count_names(words), MAX_NAMES)
    found["length"] = min(estimate_tokens(sentence) / FULL_LENGTH, 1.0)
    return found


def _count_names(words: Sequence[str]) -> int:
    """Count capitalised words, except the first and "I"."""
    return sum(len(word) > 1 and word[0].isupper() for word in words[1:])


def _is_filler(sentence: str, words: Sequence[str]) -> bool:
    """Return whether a sentence is a greeting, thanks, or only words that say nothing by themselves."""
    if len(words) <= _MAX_GREETING_WORDS and _OPENING.match(sentence):
        return True
    return _FILLER.issuperset(map(str.lower, words)) and not any(map(str.isdigit, sentence))
