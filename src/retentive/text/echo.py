"""Texts of a language model that say nothing of their own: they repeat what the model was given."""

import json
import re

MIN_RUN = 6  # words in a row that two texts have in common by chance only if one knows the other

_WORD = re.compile(r"\w+")
_OBJECT = re.compile(r"""[\[{]\s*["'{]""")
_FIELD = re.compile(r'"(?:event|role|from|time|text|summary|speaker|known|claims|content)"\s*:')


def repeats_run(text: str, source: str, length: int = MIN_RUN) -> bool:
    """Whether so many words in a row of a text are also in a row in another."""
    runs = _find_runs(source, length)
    return any(run in runs for run in _find_runs(text, length))


def has_material(text: str) -> bool:
    """Whether a text has JSON in it: an object, a list, or a field of those that conversations are shown in."""
    bare = text.strip().strip("`").removeprefix("json").strip()
    return bool(_FIELD.search(text)) or (bool(_OBJECT.match(bare)) and _is_json(bare))


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _find_runs(text: str, length: int) -> set[tuple[str, ...]]:
    found = _WORD.findall(text.casefold())
    return {tuple(found[at : at + length]) for at in range(len(found) - length + 1)}
