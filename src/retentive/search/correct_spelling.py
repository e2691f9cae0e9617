"""Corrects misspelt words of a question by the words that the store has."""

from collections.abc import Sequence
from itertools import chain

from retentive.errors import Closed, StorageError, Unwritable
from retentive.model import Scope
from retentive.search.retrievers import search_keywords
from retentive.search.spelling import list_edits, suggest_english
from retentive.store import OpenStore

MAX_TRIED = 5  # corrections of one word that are searched


def correct_spelling(store: OpenStore, suspects: Sequence[str], scope: Scope) -> dict[str, str]:
    """Correct words that no text of the namespaces has, if a text has a word one letter away.

    A search must not fail for it: if the store cannot be read, the words stay as they are.
    """
    try:
        found = {word: _correct(store, word, scope) for word in _list_unknown(store, suspects, scope)}
    except (Closed, Unwritable):
        raise
    except StorageError:
        return {}
    return {word: meant for word, meant in found.items() if meant}


def _list_unknown(store: OpenStore, suspects: Sequence[str], scope: Scope) -> list[str]:
    """Words that no text of the namespaces has. Most suspects are names that are there: one quick query tells."""
    terms = {word: store.engine.tokens(word) for word in suspects}
    known = store.tables.chunks.find_known_terms(scope.namespaces, [*chain.from_iterable(terms.values())])
    return [word for word, own in terms.items() if known.isdisjoint(own)]


def _correct(store: OpenStore, word: str, scope: Scope) -> str | None:
    """The best correction of a word that finds something; None if there is none."""
    english = suggest_english(word)
    terms = {term: other for other in reversed(english) for term in store.engine.tokens(other)}
    # The store has stems, not words: those of another language, and of names, are found by the letters of the stem.
    stems = [edit for term in store.engine.tokens(word) for edit in sorted(list_edits(term))]
    known = store.tables.chunks.find_known_terms(scope.namespaces, [*terms, *stems])
    candidates = dict.fromkeys(chain((terms[term] for term in terms if term in known), known.intersection(stems)))
    tried = sorted(candidates, key=lambda other: (other not in english, other))[:MAX_TRIED]
    return next((other for other in tried if search_keywords(store, [other], scope, 1)), None)
