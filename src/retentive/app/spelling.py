"""Misspelt words of a question, corrected by what the store has."""

from collections.abc import Sequence
from itertools import chain

from retentive.app.legs import text_matches
from retentive.app.parts import Parts
from retentive.errors import Closed, StorageError
from retentive.model import Scope
from retentive.retrieve.spelling import list_edits, suggest_english

MAX_TRIED = 5  # corrections of one word that are searched for


def correct_spelling(parts: Parts, suspects: Sequence[str], scope: Scope) -> dict[str, str]:
    """What each word is taken to mean, if no text of the namespaces has it and one has a word one letter away.

    A search must not fail for it: if the store cannot be asked, the words stay as they are.
    """
    try:
        found = {word: _correct(parts, word, scope) for word in suspects}
    except Closed:
        raise
    except StorageError:
        return {}
    return {word: meant for word, meant in found.items() if meant}


def _correct(parts: Parts, word: str, scope: Scope) -> str | None:
    own = parts.engine.tokens(word)
    english = suggest_english(word)
    terms = {term: other for other in reversed(english) for term in parts.engine.tokens(other)}
    # The store has stems, not words: those of another language, and of names, are found by the letters of the stem.
    stems = [edit for term in own for edit in sorted(list_edits(term))]
    known = parts.chunks.known_terms(scope.namespaces, [*own, *terms, *stems])
    if known.intersection(own):
        return None
    candidates = dict.fromkeys(chain((terms[term] for term in terms if term in known), known.intersection(stems)))
    tried = sorted(candidates, key=lambda other: (other not in english, other))[:MAX_TRIED]
    return next((other for other in tried if text_matches(parts, [other], scope, 1)), None)
