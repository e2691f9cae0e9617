"""Words as the full-text index sees them.

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
_RUN = re.compile(f"[{_UNSPACED}]+")
# Everything between blanks and punctuation. Not `\\w`, which leaves out the vowel signs of Thai and Hindi.
_WORD = re.compile(
    "[^\\s\u0000-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb-\u00bf\u2000-\u206f"
    "\u3000-\u3004\u3008-\u3020\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]+"
)

# Words that a question needs and an answer does not (taking them out: R@10 .558 -> .605 on LoCoMo turns).
STOP_WORDS = frozenset(
    "a about after all also am an and any are as at be because been before being but by can could did do does doing"
    " for from had has have having he her here hers him his how i if in into is it its itself just me more most my"
    " myself no nor not now of off on once only or other our ours out over own same she should so some such than that"
    " the their theirs them then there these they this those through to too under until up very was we were what when"
    " where which while who whom why will with would you your yours yourself"
    " s t d ll m re ve don didn doesn isn wasn aren weren haven hasn hadn won wouldn couldn shouldn".split()
)


def _pairs(match: re.Match[str]) -> str:
    run = match.group()
    return f" {' '.join(run[i : i + 2] for i in range(len(run) - 1)) or run} "


def terms(text: str) -> str:
    """The text as it is given to the full-text index. Text of spaced scripts comes back as it was."""
    if text.isascii():
        return text
    return _RUN.sub(_pairs, unicodedata.normalize("NFC", text))


def tokens(text: str) -> list[str]:
    """All words of a text, as they are written."""
    return _WORD.findall(terms(text.replace("\0", " ")))


def find_unspaced(text: str) -> list[str]:
    """The stretches of a text in scripts that are written without blanks."""
    return _RUN.findall(text)


def find_words(text: str) -> list[str]:
    """The words of a text in scripts that have blanks between them."""
    return _WORD.findall(_RUN.sub(" ", text.replace("\0", " ")))


def words(text: str, limit: int = 64) -> list[str]:
    """The distinct words of a question that are worth looking for, in order. Stop words only if there is nothing else.

    `limit` bounds the work for a pasted document: past 64 different words more of them do not change the ranking.
    """
    found = dict.fromkeys(tokens(text.lower()))
    return ([word for word in found if word not in STOP_WORDS] or list(found))[:limit]
