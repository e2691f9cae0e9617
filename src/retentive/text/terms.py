"""Splits text into words as the full-text index sees them.

FTS5's `unicode61` splits at white space and punctuation, so a Chinese, Japanese or Thai sentence would be one token
and no word inside it could be found. A custom tokenizer would help, but remote engines cannot load one. So the text
is segmented before it is stored: runs of such scripts become overlapping pairs of characters (`東京都` -> `東京 京都`),
which finds any word of two characters or more. The same function segments documents and questions.
"""

import re
import unicodedata

# Scripts written without blanks (Thai, Lao, Myanmar, Khmer, kana, Han), and Hangul, whose particles cling to the word.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1100-\u11ff\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_UNSPACED_RUN = re.compile(f"[{_UNSPACED}]+")
# Everything between blanks and punctuation. Not `\\w`, which leaves out the vowel signs of Thai and Hindi.
_WORD = re.compile(
    "[^\\s\u0000-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb-\u00bf\u2000-\u206f"
    "\u3000-\u3004\u3008-\u3020\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]+"
)

# Words that a question needs and an answer does not. Without them: R@10 .558 -> .605 on LoCoMo turns.
STOP_WORDS = frozenset(
    "a about after all also am an and any are as at be because been before being but by can could did do does doing"
    " for from had has have having he her here hers him his how i if in into is it its itself just me more most my"
    " myself no nor not now of off on once only or other our ours out over own same she should so some such than that"
    " the their theirs them then there these they this those through to too under until up very was we were what when"
    " where which while who whom why will with would you your yours yourself"
    " s t d ll m re ve don didn doesn isn wasn aren weren haven hasn hadn won wouldn couldn shouldn".split()
)


def _split_into_pairs(match: re.Match[str]) -> str:
    run = match.group()
    pairs = [run[at : at + 2] for at in range(len(run) - 1)] or [run]
    return f" {' '.join(pairs)} "


def segment_text(text: str) -> str:
    """Segment a text for the full-text index. Scripts with blanks between their words stay as they are."""
    if text.isascii():
        return text
    return _UNSPACED_RUN.sub(_split_into_pairs, unicodedata.normalize("NFC", text))


def split_words(text: str) -> list[str]:
    """Split a text into its words, in the case in which they are written."""
    return _WORD.findall(segment_text(text.replace("\0", " ")))


def find_unspaced_runs(text: str) -> list[str]:
    """Find the runs of a text in scripts without blanks between words."""
    return _UNSPACED_RUN.findall(text)


def find_spaced_words(text: str) -> list[str]:
    """Find the words of a text in scripts with blanks between words."""
    return _WORD.findall(_UNSPACED_RUN.sub(" ", text.replace("\0", " ")))


def find_query_words(text: str, limit: int = 64) -> list[str]:
    """Find the distinct words to search for, in order. Stop words are included only if there are no others.

    `limit` bounds the work for a pasted document: more than 64 different words do not change the ranking.
    """
    distinct = dict.fromkeys(split_words(text.lower()))
    content_words = [word for word in distinct if word not in STOP_WORDS]
    return (content_words or list(distinct))[:limit]
