"""Recognises output of a language model that only repeats its input, or the JSON of its prompt."""

import json
import re

MIN_RUN_WORDS = 6  # two texts rarely share so many words in a row by chance

_WORD = re.compile(r"\w+")
_JSON_START = re.compile(r"""[\[{]\s*["'{]""")
_PROMPT_FIELD = re.compile(r'"(?:event|role|from|time|text|summary|speaker|known|claims|content)"\s*:')


def shares_word_run(text: str, source: str, length: int = MIN_RUN_WORDS) -> bool:
    """Whether `length` consecutive words of a text also stand in the source, in the same order."""
    runs = _find_runs(source, length)
    return any(run in runs for run in _find_runs(text, length))


def has_json(text: str) -> bool:
    """Whether a text is JSON, or holds a field of the JSON in which prompts show conversations."""
    bare = text.strip().strip("`").removeprefix("json").strip()
    return bool(_PROMPT_FIELD.search(text)) or (bool(_JSON_START.match(bare)) and _is_json(bare))


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _find_runs(text: str, length: int) -> set[tuple[str, ...]]:
    words = _WORD.findall(text.casefold())
    return {tuple(words[at : at + length]) for at in range(len(words) - length + 1)}
