"""Rewrite the first person as the third: "I live in Porto with my wife" -> "The user lives in Porto with their wife."

Words are rewritten one by one. Quotations, code and addresses stay as they are.
  a. If the sentence begins with "I" or "we", the first one becomes the name, with the verb in the singular. Any further
     one becomes "they", whose verb needs no change, and "my" becomes "their".
  b. Otherwise ("My sister thinks I am mad") each becomes the name: "their" would be the sister's.
  c. A verb after "and" gets an s if the first verb got one: "I love sushi and eat it" -> "... and eats it".
  d. "We" becomes the speaker alone, which stays true ("We moved to Porto"), unless the words need several people
     ("We were teammates"). The sentence does not say who the others are.
"""

import re
from typing import NamedTuple

from retentive.judgement.extract.verbs import (
    MODALS,
    SHORT_NEGATIONS,
    is_adverb,
    is_past,
    to_plural_verb,
    to_singular_verb,
)

USER = "The user"

TOKEN = re.compile(
    r"\"[^\"\n]*\"|\u201c[^\u201d\n]*\u201d|`[^`\n]*`|\w+://\S+|[\w.+-]+@[\w.-]+|\w+(?:['\u2019-]\w+)*|\s+|.",
    re.DOTALL,
)
_SHORT_SUBJECT_VERB = re.compile(
    r"\b(i|we)'(m|re|ve|ll|d)\b(?=(\s+(?:\w+ly\s+|just\s+|also\s+|never\s+|always\s+)?(\w+))?)", re.IGNORECASE
)
_FULL_VERBS = {"m": "am", "re": "are", "ve": "have", "ll": "will"}
_PARTICIPLES_AFTER_HAD = frozenset("been better had gone done seen taken written got gotten".split())
_NEGATION_PATTERN = re.compile(rf"\b(?:{'|'.join(SHORT_NEGATIONS)})(?!\w)", re.IGNORECASE)
_CASUAL_FORMS = (
    (re.compile(r"\b(I|we)(?: am| are)? gonna\b"), r"\1 am going to"),
    (re.compile(r"\b(I|we) (?:have )?gotta\b"), r"\1 have to"),
    (re.compile(r"\bwanna\b"), "want to"),
)
_SPEAKER_AND_OTHER = re.compile(
    r"^(?P<lead>(?:[\w ]{2,30}, )?)(?:(?:me and (?P<a>(?:my|our) [\w' -]{2,30}?|[A-Z]\w+))"
    r"|(?P<b>(?:my|our) [\w'-]+(?: [\w'-]+)?|[A-Z]\w+) and (?:I|me|myself))\b(?=\s)",
    re.IGNORECASE,
)
_WORDS_FOR_SEVERAL = re.compile(
    r"\b(?:each other|one another|together|both|teammates|friends|roommates|flatmates|neighbou?rs|colleagues"
    r"|siblings|classmates|partners|co-?workers|twins|all (?:of us|agree\w*|had|have|are|were))\b",
    re.IGNORECASE,
)
_PLURAL_FIRST_PERSON = re.compile(r"^(?:(?:the|on|in|for|at|as) .{0,40})?\b(?:we|our|us)\b", re.IGNORECASE)
_SINGULAR_FIRST_PERSON = re.compile(r"\b(?:i|my|me|mine|myself)\b", re.IGNORECASE)
_LEADING_WORDS = frozenset(
    "in on at after since last this next for during every today yesterday recently lately currently now as before"
    " when once over until from by though although while because tomorrow tonight these sometimes usually often with"
    " to".split()
)
_CONJUNCTIONS = frozenset("and but then or".split())
_FIRST_PERSON_WORDS = frozenset("i we me us my our mine ours myself ourselves".split())
# A word before one of these is a verb: "and eat it", "and use Amex", but not "food and drink".
_WORDS_AFTER_VERB = frozenset(
    "a an the my our his her their its it them him me us some no two three more most at in on to with for as by"
    " from about every each up out all both only".split()
)
_SURE_OBJECTS = frozenset("it them my our".split())  # only a verb stands before these, or a small word
# Verbs that are hardly ever nouns: after "and" they need no object to be recognised.
_SURE_VERBS = frozenset(
    "eat speak live write prefer enjoy own keep go get see know want teach sing meditate listen bake bring become"
    " begin buy choose grow wear spend send sell believe attend commute subscribe".split()
)


class _Speaker(NamedTuple):
    name: str
    is_subject: bool
    """The speaker is the subject of the sentence."""
    is_plural: bool


def expand_short_forms(text: str) -> str:
    """Straighten apostrophes, and write "I'm", "we've" and "don't" in full."""
    text = text.replace("’", "'").replace("`s", "'s")  # noqa: RUF001 - as phones write it
    if "'" in text:
        text = _SHORT_SUBJECT_VERB.sub(_expand_subject_verb, text)
        text = _NEGATION_PATTERN.sub(lambda found: _match_case(SHORT_NEGATIONS[found[0].lower()], found[0]), text)
    for pattern, full in _CASUAL_FORMS:
        text = pattern.sub(full, text)
    return text


def to_third_person(sentence: str, name: str = USER) -> str:
    """Rewrite a sentence of the speaker as others would say it, and make it a whole sentence."""
    text = expand_short_forms(sentence)
    pair = _SPEAKER_AND_OTHER.match(text)
    if pair:
        other = re.sub(r"^(?:My|Our)\b", "my", pair["a"] or pair["b"])
        text = f"{pair['lead']}I and {other}{text[pair.end() :]}"
    words = TOKEN.findall(text)
    speaker = _Speaker(name, _is_about_speaker(words), bool(pair) or _speaks_for_several(text))
    return to_whole_sentence("".join(_Rewriter(words, speaker, text).rewrite()))


def to_whole_sentence(text: str) -> str:
    """Give a text a capital at the start, a full stop at the end, and single blanks."""
    text = re.sub(r"\s+([,.;:!?]+(?!\S))", r"\1", " ".join(text.split())).strip(" ,;:-–—")  # noqa: RUF001
    text = re.sub(r"[!.…\s]+$", "", text)
    if not text:
        return ""
    end = "" if text[-1] in "?。！？" else "."  # noqa: RUF001
    return f"{text[0].upper()}{text[1:]}{end}"


def speaks_for_group(sentence: str) -> bool:
    """Whether a team or a family speaks, not one person: "we use pnpm", "our staging URL is ..."."""
    return bool(_PLURAL_FIRST_PERSON.search(sentence)) and not _SINGULAR_FIRST_PERSON.search(sentence)


def possessive(name: str) -> str:
    return f"{name}'s"


class _Rewriter:
    """Rewrites the words of a sentence in one pass."""

    def __init__(self, words: list[str], speaker: _Speaker, text: str) -> None:
        self.words, self.speaker, self.text = words, speaker, text
        self.is_named = False
        self.pending_verb: str | None = None  # a subject waits for its verb: "one" or "many"
        self.inflects = False  # the last verb of the name got an s, so a verb after "and" may need one

    def rewrite(self) -> list[str]:
        return [self._rewrite_word(place, word) for place, word in enumerate(self.words)]

    def _rewrite_word(self, place: int, word: str) -> str:
        low = word.lower()
        if low in _FIRST_PERSON_WORDS and self._is_pronoun(place, word):
            return self._rewrite_pronoun(place, low)
        if not word[0].isalpha():
            if word in ",;:(" and self.pending_verb is None:
                self.inflects = self.inflects and word == ","
            return word
        if self.pending_verb:
            return self._rewrite_verb(word)
        if self._is_further_verb(place, low):
            return to_singular_verb(word, self.text)
        if low in ("to", *MODALS):
            self.inflects = False
        return word

    def _is_pronoun(self, place: int, word: str) -> bool:
        """Not the US, not World War I, not a gold mine."""
        if word == "I":
            return bool(self._word_after(place, 1)) and self.words[place + 1].isspace()
        mine = word.lower() == "mine" and place > 1 and self.words[place - 2].lower() not in ("is", "was", "are", "of")
        return not mine and (len(word) == 1 or not word.isupper())

    def _rewrite_pronoun(self, place: int, low: str) -> str:
        if low in ("i", "we"):
            return self._rewrite_subject(place)
        again = self.speaker.is_subject
        if low in ("me", "us"):
            return "them" if again else self._render_name(place)
        if low in ("my", "our"):
            return "their" if again else possessive(self._render_name(place))
        if low in ("mine", "ours"):
            return "theirs" if again else possessive(self._render_name(place))
        return "themselves" if again else self._render_name(place)

    def _rewrite_subject(self, place: int) -> str:
        if self.speaker.is_subject and self.is_named:
            self.pending_verb, self.inflects = "many", False
            return "they"
        self.is_named = True
        self.pending_verb = "many" if self.speaker.is_plural and self.speaker.is_subject else "one"
        others = " and others" if self.speaker.is_plural and self._word_after(place, 1).lower() != "and" else ""
        return self._render_name(place) + others if self.speaker.is_subject else self._render_name(place)

    def _rewrite_verb(self, word: str) -> str:
        if (
            is_adverb(word)
            or word.lower() in ("and", "their", "my")
            or (self.pending_verb == "many" and word[0].isupper())
        ):
            return word
        if self.speaker.is_plural and self.pending_verb == "many" and word.lower() not in ("am", "was", "are", "were"):
            self.pending_verb = None
            return word
        one, self.pending_verb = self.pending_verb == "one", None
        self.inflects = one and word.lower() not in (*MODALS, "did")
        return to_singular_verb(word, self.text) if one else to_plural_verb(word)

    def _is_further_verb(self, place: int, low: str) -> bool:
        """A further verb of the same subject: after "and", perhaps an adverb, and not a noun that looks like one."""
        back = place - 2
        while back > 0 and is_adverb(self.words[back]):
            back -= 2
        if (
            back < 0
            or self.words[back].lower() not in _CONJUNCTIONS
            or not low.isalpha()
            or is_past(low)
            or is_adverb(low)
        ):
            return False
        if low in ("am", "have", "do"):
            return self.is_named and self.speaker.is_subject and not self.speaker.is_plural
        after = self._word_after(place, 1)
        objects = after.lower() in _WORDS_AFTER_VERB or after[:1].isupper()
        if low in _VERBS:
            return self.inflects and (low in _SURE_VERBS or objects or after.endswith(("s", "ing")))
        return (
            self.inflects
            and after.lower() in _SURE_OBJECTS
            and low not in _WORDS_AFTER_VERB
            and not low.endswith(("ing", "s"))
        )

    def _word_after(self, place: int, number: int) -> str:
        at = place + 2 * number
        return self.words[at] if at < len(self.words) else ""

    def _render_name(self, place: int) -> str:
        name = self.speaker.name
        return _lower_first(name) if name == USER and place else name


_VERBS = _SURE_VERBS | frozenset(
    "deploy test push host store develop ship release design sell love hate like use drive read take make need"
    " sleep hold think hope try volunteer work run play cook drink walk travel dance swim paint draw call visit"
    " train study practice practise ride watch help lead manage build plan move focus exercise journal code order"
    " pay hike climb support".split()
)


def _is_about_speaker(words: list[str]) -> bool:
    """Is the speaker the subject? "After my surgery I stopped running" begins with when, not with who."""
    found = [word.lower() for word in words if word.lower() in _FIRST_PERSON_WORDS]
    leads = bool(words) and words[0].lower() in _LEADING_WORDS
    return bool(found) and (found[0] in ("i", "we") or (leads and ("i" in found or "we" in found)))


def _speaks_for_several(text: str) -> bool:
    """Whether "we" cannot be the speaker alone: "We were teammates", "We are a team of five"."""
    group = re.match(r"we (?P<are>(?:are|were) (?:a|an|the|all|both)\b)?", text, re.IGNORECASE)
    return bool(group and (group["are"] or _WORDS_FOR_SEVERAL.search(text)))


def _expand_subject_verb(found: re.Match[str]) -> str:
    who, short, following = found[1], found[2].lower(), (found[4] or "").lower()
    who = "I" if who == "i" else who
    if short != "d":
        return f"{who} {_FULL_VERBS[short]}"
    return f"{who} {'had' if following in _PARTICIPLES_AFTER_HAD or following.endswith('ed') else 'would'}"


def _match_case(text: str, like: str) -> str:
    return text[0].upper() + text[1:] if like[0].isupper() else text


def _lower_first(text: str) -> str:
    return text[0].lower() + text[1:]
