"""From the first person to the third: "I live in Porto with my wife" -> "The user lives in Porto with their wife."

Words are taken one by one; what is in quotes, code and addresses stays as it is.
  a. Where "I" or "we" is what the sentence begins with, the first becomes the name, with the verb in the singular; any
     further one becomes "they", whose verb needs no change, and "my" becomes "their".
  b. Else ("My sister thinks I am mad") each becomes the name: "their" would be the sister's.
  c. A verb after "and" gets its s where the first one had it: "I love sushi and eat it" -> "... and eats it".
  d. "We" is told of the speaker alone, which stays true ("We moved to Porto"), unless the words need several
     ("We were teammates"). Who the others are, the sentence does not say.
"""

import re
from typing import NamedTuple

from retentive.judgement.extract.verbs import MODALS, NOT, is_adverb, is_past, plural, singular

USER = "The user"

TOKEN = re.compile(
    r"\"[^\"\n]*\"|\u201c[^\u201d\n]*\u201d|`[^`\n]*`|\w+://\S+|[\w.+-]+@[\w.-]+|\w+(?:['\u2019-]\w+)*|\s+|.",
    re.DOTALL,
)
_SHORT = re.compile(
    r"\b(i|we)'(m|re|ve|ll|d)\b(?=(\s+(?:\w+ly\s+|just\s+|also\s+|never\s+|always\s+)?(\w+))?)", re.IGNORECASE
)
_LONG = {"m": "am", "re": "are", "ve": "have", "ll": "will"}
_HAD = frozenset("been better had gone done seen taken written got gotten".split())
_NEGATED = re.compile(rf"\b(?:{'|'.join(NOT)})(?!\w)", re.IGNORECASE)
_CASUAL = (
    (re.compile(r"\b(I|we)(?: am| are)? gonna\b"), r"\1 am going to"),
    (re.compile(r"\b(I|we) (?:have )?gotta\b"), r"\1 have to"),
    (re.compile(r"\bwanna\b"), "want to"),
)
_PAIR = re.compile(
    r"^(?P<lead>(?:[\w ]{2,30}, )?)(?:(?:me and (?P<a>(?:my|our) [\w' -]{2,30}?|[A-Z]\w+))"
    r"|(?P<b>(?:my|our) [\w'-]+(?: [\w'-]+)?|[A-Z]\w+) and (?:I|me|myself))\b(?=\s)",
    re.IGNORECASE,
)
_SEVERAL = re.compile(
    r"\b(?:each other|one another|together|both|teammates|friends|roommates|flatmates|neighbou?rs|colleagues"
    r"|siblings|classmates|partners|co-?workers|twins|all (?:of us|agree\w*|had|have|are|were))\b",
    re.IGNORECASE,
)
_OF_GROUP = re.compile(r"^(?:(?:the|on|in|for|at|as) .{0,40})?\b(?:we|our|us)\b", re.IGNORECASE)
_SINGULAR = re.compile(r"\b(?:i|my|me|mine|myself)\b", re.IGNORECASE)
_LEADS = frozenset(
    "in on at after since last this next for during every today yesterday recently lately currently now as before"
    " when once over until from by though although while because tomorrow tonight these sometimes usually often with"
    " to".split()
)
_AND = frozenset("and but then or".split())
_FIRST = frozenset("i we me us my our mine ours myself ourselves".split())
# After these a verb is a verb: "and eat it", "and use Amex", but not "food and drink".
_OBJECTS = frozenset(
    "a an the my our his her their its it them him me us some no two three more most at in on to with for as by"
    " from about every each up out all both only".split()
)
_ITS = frozenset("it them my our".split())  # only a verb stands before these, or a small word
# Verbs that are hardly ever nouns: after "and" they need no object to be known.
_SURE = frozenset(
    "eat speak live write prefer enjoy own keep go get see know want teach sing meditate listen bake bring become"
    " begin buy choose grow wear spend send sell believe attend commute subscribe".split()
)


class _Names(NamedTuple):
    name: str
    own: bool
    """The speaker is what the sentence is about."""
    several: bool


def plain(text: str) -> str:
    """Straight apostrophes, and the short forms of "I am", "we have", "do not" in full."""
    text = text.replace("’", "'").replace("`s", "'s")  # noqa: RUF001 - as phones write it
    if "'" in text:
        text = _SHORT.sub(_in_full, text)
        text = _NEGATED.sub(lambda found: _cased(NOT[found[0].lower()], found[0]), text)
    for pattern, full in _CASUAL:
        text = pattern.sub(full, text)
    return text


def third(sentence: str, name: str = USER) -> str:
    """The sentence as others would say it, as a whole sentence. One without a first person is only made whole."""
    text = plain(sentence)
    paired = _PAIR.match(text)
    if paired:
        other = re.sub(r"^(?:My|Our)\b", "my", paired["a"] or paired["b"])
        text = f"{paired['lead']}I and {other}{text[paired.end() :]}"
    words = TOKEN.findall(text)
    names = _Names(name, _is_own(words), bool(paired) or _needs_several(text))
    return whole("".join(_Rewriting(words, names, text).run()))


def whole(text: str) -> str:
    """A capital at the beginning, a full stop at the end, single blanks."""
    text = re.sub(r"\s+([,.;:!?]+(?!\S))", r"\1", " ".join(text.split())).strip(" ,;:-–—")  # noqa: RUF001
    text = re.sub(r"[!.…\s]+$", "", text)
    if not text:
        return ""
    end = "" if text[-1] in "?。！？" else "."  # noqa: RUF001
    return f"{text[0].upper()}{text[1:]}{end}"


def is_of_group(sentence: str) -> bool:
    """Whether a team or a family speaks, not one of them: "we use pnpm", "our staging URL is ..."."""
    return bool(_OF_GROUP.search(sentence)) and not _SINGULAR.search(sentence)


def possessive(name: str) -> str:
    return f"{name}'s"


class _Rewriting:
    """One pass over the words of a sentence."""

    def __init__(self, words: list[str], names: _Names, text: str) -> None:
        self.words, self.names, self.text = words, names, text
        self.mentioned = False
        self.pending: str | None = None  # a subject waits for its verb: "one" or "many"
        self.inflects = False  # the last verb of the name got an s, so a verb after "and" may need one

    def run(self) -> list[str]:
        return [self._word(place, word) for place, word in enumerate(self.words)]

    def _word(self, place: int, word: str) -> str:
        low = word.lower()
        if low in _FIRST and self._is_meant(place, word):
            return self._first_person(place, low)
        if not word[0].isalpha():
            if word in ",;:(" and self.pending is None:
                self.inflects = self.inflects and word == ","
            return word
        if self.pending:
            return self._verb(word)
        if self._goes_on(place, low):
            return singular(word, self.text)
        if low in ("to", *MODALS):
            self.inflects = False
        return word

    def _is_meant(self, place: int, word: str) -> bool:
        """Not the US, not World War I, not a gold mine."""
        if word == "I":
            return bool(self._after(place, 1)) and self.words[place + 1].isspace()
        mine = word.lower() == "mine" and place > 1 and self.words[place - 2].lower() not in ("is", "was", "are", "of")
        return not mine and (len(word) == 1 or not word.isupper())

    def _first_person(self, place: int, low: str) -> str:
        if low in ("i", "we"):
            return self._subject(place)
        again = self.names.own
        if low in ("me", "us"):
            return "them" if again else self._name(place)
        if low in ("my", "our"):
            return "their" if again else possessive(self._name(place))
        if low in ("mine", "ours"):
            return "theirs" if again else possessive(self._name(place))
        return "themselves" if again else self._name(place)

    def _subject(self, place: int) -> str:
        if self.names.own and self.mentioned:
            self.pending, self.inflects = "many", False
            return "they"
        self.mentioned = True
        self.pending = "many" if self.names.several and self.names.own else "one"
        others = " and others" if self.names.several and self._after(place, 1).lower() != "and" else ""
        return self._name(place) + others if self.names.own else self._name(place)

    def _verb(self, word: str) -> str:
        if is_adverb(word) or word.lower() in ("and", "their", "my") or (self.pending == "many" and word[0].isupper()):
            return word
        if self.names.several and self.pending == "many" and word.lower() not in ("am", "was", "are", "were"):
            self.pending = None
            return word
        one, self.pending = self.pending == "one", None
        self.inflects = one and word.lower() not in (*MODALS, "did")
        return singular(word, self.text) if one else plural(word)

    def _goes_on(self, place: int, low: str) -> bool:
        """A further verb of the same subject: after "and", perhaps an adverb, and not a noun that looks like one."""
        back = place - 2
        while back > 0 and is_adverb(self.words[back]):
            back -= 2
        if back < 0 or self.words[back].lower() not in _AND or not low.isalpha() or is_past(low) or is_adverb(low):
            return False
        if low in ("am", "have", "do"):
            return self.mentioned and self.names.own and not self.names.several
        after = self._after(place, 1)
        objects = after.lower() in _OBJECTS or after[:1].isupper()
        if low in _VERBS:
            return self.inflects and (low in _SURE or objects or after.endswith(("s", "ing")))
        return self.inflects and after.lower() in _ITS and low not in _OBJECTS and not low.endswith(("ing", "s"))

    def _after(self, place: int, number: int) -> str:
        at = place + 2 * number
        return self.words[at] if at < len(self.words) else ""

    def _name(self, place: int) -> str:
        name = self.names.name
        return _small(name) if name == USER and place else name


_VERBS = _SURE | frozenset(
    "deploy test push host store develop ship release design sell love hate like use drive read take make need"
    " sleep hold think hope try volunteer work run play cook drink walk travel dance swim paint draw call visit"
    " train study practice practise ride watch help lead manage build plan move focus exercise journal code order"
    " pay hike climb support".split()
)


def _is_own(words: list[str]) -> bool:
    """Is the speaker the subject? "After my surgery I stopped running" begins with when, not with who."""
    found = [word.lower() for word in words if word.lower() in _FIRST]
    leads = bool(words) and words[0].lower() in _LEADS
    return bool(found) and (found[0] in ("i", "we") or (leads and ("i" in found or "we" in found)))


def _needs_several(text: str) -> bool:
    """Of "we" only: "We were teammates", "We are a team of five"."""
    group = re.match(r"we (?P<are>(?:are|were) (?:a|an|the|all|both)\b)?", text, re.IGNORECASE)
    return bool(group and (group["are"] or _SEVERAL.search(text)))


def _in_full(found: re.Match[str]) -> str:
    who, short, following = found[1], found[2].lower(), (found[4] or "").lower()
    who = "I" if who == "i" else who
    if short != "d":
        return f"{who} {_LONG[short]}"
    return f"{who} {'had' if following in _HAD or following.endswith('ed') else 'would'}"


def _cased(text: str, like: str) -> str:
    return text[0].upper() + text[1:] if like[0].isupper() else text


def _small(text: str) -> str:
    return text[0].lower() + text[1:]
