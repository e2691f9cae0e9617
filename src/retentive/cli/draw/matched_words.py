"""Find the words of a question in the text of a hit, to highlight them."""

import re

from rich.text import Text

from retentive.text.terms import find_query_words

STYLE = "bold yellow"
_ENDING = re.compile(r"(?<=\w{3})('s|s|es|ed|ing)$")
_LONGEST_ENDING = 4  # letters that a word may have more than the one of the question: pet, pets; deploy, deployed


def highlight_words(text: Text, question: str) -> Text:
    """Highlight the words that the question has, too, also with other endings."""
    for word in find_query_words(question):
        text.highlight_regex(_make_pattern(word), STYLE)
    return text


def _make_pattern(word: str) -> re.Pattern[str]:
    if not word.isascii():  # a part of a word, where there are no blanks between them
        return re.compile(re.escape(word), re.IGNORECASE)
    stem = _ENDING.sub("", word)
    return re.compile(rf"(?<!\w){re.escape(stem)}\w{{0,{_LONGEST_ENDING}}}(?!\w)", re.IGNORECASE)
