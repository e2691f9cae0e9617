"""Decide by form alone whether two memories say the same. In doubt, they do not.

The naive ways fail. Vectors of "I eat meat" and "I do not eat meat" are close together, and so are those of the left
and the right knee. Sets of keywords do not see who reports to whom. So each text gets a *canonical form*: its words in
order, without the differences that do not change the meaning. Two memories say the same if their forms are equal. A
form is a key, so a namespace is grouped in one pass, without comparing pairs.

These differences are removed, and no others:
  a. articles, "our", emphasis ("really", "currently"), punctuation, quotes, and lead-ins such as "by the way";
  b. the person: "The user likes tea" is "I like tea"; short forms: "don't" is "do not";
  c. a few forms of one sentence: "is living" and "lives", "works for" and "works at", "is called" and "is", "X is my Y"
     and "my Y is X", "I use X as my Y" and "my Y is X";
  d. the order of names in a plain list, and of the day and the month in a date.

Negation, numbers, names, tenses, prepositions, modal verbs and quantities stay, so a difference in one keeps two
memories apart. A *refinement* says more of the same value: "I live in Oslo" and "I live in Oslo, Norway".
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

from retentive.judgement import MAX_STATEMENT_CHARS
from retentive.judgement.corrections.statement import cut_lead_in, parse_statement, replace_user
from retentive.judgement.extract.person import expand_short_forms
from retentive.judgement.extract.verbs import is_past
from retentive.model import ConsolidationRule, Kind, Memory, find_trust

NOT_CONSOLIDATED = frozenset({Kind.NOTE, Kind.FILE})  # known by an id of their own
EXACT_KINDS = frozenset({Kind.INSTRUCTION, Kind.DECISION})  # their order and extent matter: no lists, no refinements
MIN_GROUP = 2
KEY_BYTES = 16  # of a hash: two of 100,000 forms collide once in 10^28 namespaces, and texts are compared again
MAX_GROUP = 50  # memories that are merged at once; a later run merges the rest

_EMPTY_WORDS = frozenset("a an the our really currently now also please actually simply".split())
_BE_FORMS = frozenset("am is are".split())
_WORD_VARIANTS = {"has": "have", "does": "do", "lives": "live", "works": "work", "uses": "use", "cannot": "can not"}
_ONGOING_VERBS = {"living": "live", "working": "work", "using": "use", "residing": "reside"}
_WORDS_WITH_SHORT_IS = frozenset("he's she's it's that's there's here's who's what's where's let's how's one's".split())
_WORDS_AGAINST_TURNING = frozenset(
    "not no never i it this that these those he she they we you there what who which all every each some most many few"
    " both either neither only nothing everything if when while because than".split()
)
_ORDINALS = {"1st": "first", "2nd": "second", "3rd": "third"}
_SPELLINGS = {"favourite": "favorite", "colour": "color", "favourites": "favorites", "colours": "colors"}
_ADVERBS_BEFORE_VERB = frozenset(
    "always usually often never sometimes rarely also really currently now still mostly generally only just no longer"
    " normally typically regularly hardly ever".split()
)
_MONTHS = "january february march april may june july august september october november december".split()
_MONTH = "|".join(_MONTHS)
_DAY_MONTH = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)? (?:of )?({_MONTH})\b", re.IGNORECASE)
_MONTH_DAY = re.compile(rf"\b({_MONTH}) (\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)", re.IGNORECASE)
_CLOCK_SUFFIX = re.compile(r"(?<=\d) ?([ap])\.?m\b\.?", re.IGNORECASE)
_USER_AS_SUBJECT = re.compile(r"^(?:[Tt]he user|User) (?=[a-z])")
# Without a comma, "no", "so" and "update" are words of the statement: "No dogs are allowed".
_LEAD_IN = re.compile(
    r"^(?:(?:(?:actually|also|by the way|btw|fyi)\b[\s,:;!-]*)"
    r"|(?:(?:correction|update|note|so|and|ok|okay|well|oh|sorry|no|hey|hi|anyway)\s*[,:;!]\s*))+",
    re.IGNORECASE,
)
_SENTENCE_BREAK = re.compile(r"(?<=\w)[.!?;](?=\s+\S)")
_PROPER_NAME = r"[A-ZÀ-Þ][\w'.-]*"
_PROPER_NAMES = rf"{_PROPER_NAME}(?: {_PROPER_NAME})*"
_LIST_OF_NAMES = re.compile(
    rf"(?<=[a-z] )(?<!\bbetween ){_PROPER_NAME}(?:, {_PROPER_NAME})* and {_PROPER_NAME}(?! {_PROPER_NAME})"
)
_ORDER_WORDS = re.compile(r"\b(?:respectively|then|first|before|after|from|\d+ and)\b", re.IGNORECASE)
_QUOTES = "\"'`“”„«»‘’()[]{}"  # noqa: RUF001 - all of these are typed
_END_MARKS = ".,;:!?…"
_DASHES = frozenset("- – — •".split())  # noqa: RUF001 - all of these are typed

_RELATIVE_TIME_WORDS = re.compile(
    r"\b(?:today|tonight|yesterday|tomorrow|this|next|last|ago|recently|lately|just|soon|later|earlier|upcoming"
    r"|heute|gestern|morgen|hier|demain|aujourd'hui|hoy|ayer|mañana)\b",
    re.IGNORECASE,
)
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_NEGATION_WORDS = re.compile(
    r"\b(?:not|no|never|none|nor|neither|without|hardly|nicht|kein\w*|pas|ne|n'\w+)\b", re.IGNORECASE
)

_PLACE_TAIL = re.compile(
    rf"^(?P<base>.*\b(?:live|lives|living|based|reside|resides) in {_PROPER_NAMES}), {_PROPER_NAMES}$"
)
_EMPLOYER_TAIL = re.compile(
    rf"^(?P<base>.*\b(?:work|works|working|employed) (?:at|for|by) {_PROPER_NAMES})(?:,)? in {_PROPER_NAMES}$"
)
_NAMED_TAIL = re.compile(
    rf"^(?P<base>(?:[Mm]y|[Oo]ur) [\w' -]+?(?: is| is called| is named|'s name is) {_PROPER_NAMES})"
    r", an? [\w-]+(?: [\w-]+){0,3}$"
)
_REFINING_TAILS = (_PLACE_TAIL, _EMPLOYER_TAIL, _NAMED_TAIL)
# Words in a tail that limit a statement: "I work at Siemens in May" says less than "I work at Siemens".
_LIMITING_TAIL = re.compile(
    r"\b(?:and|or|but|who|which|that|with|until|if|when|bit|lot|while|few|little|time|day|week|month|year|former|ex"
    rf"|{_MONTH}|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|weekends?|spring|summer|autumn|fall|winter"
    r"|sometimes|mostly|usually|maybe|perhaps)\b|\d",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class SameMeaningGroup:
    """Memories that are merged into one."""

    rule: ConsolidationRule
    memories: tuple[Memory, ...]
    """The oldest first."""
    text: str


@dataclass(slots=True)
class FormIndex:
    """The ids of memories by their forms. It holds no texts: a namespace of 100,000 memories takes some 40 MB."""

    ids: dict[bytes, list[str]] = field(default_factory=dict)
    fuller: dict[bytes, set[bytes]] = field(default_factory=dict)
    """The forms that refine a shorter statement, by its form."""

    def add(self, memory: Memory) -> None:
        key = find_form(memory)
        if key is None:
            return
        self.ids.setdefault(key, []).append(memory.id)
        base = find_base(memory.content) if memory.kind not in EXACT_KINDS else None
        if base is not None:
            shorter = find_form(memory, base)
            if shorter is not None and shorter != key:
                self.fuller.setdefault(shorter, set()).add(key)

    def groups(self) -> list[list[str]]:
        """Groups of ids of memories that say the same. A statement with two refinements joins neither."""
        merged = {shorter: next(iter(keys)) for shorter, keys in self.fuller.items() if len(keys) == 1}
        joined: dict[bytes, list[str]] = {}
        for key, ids in self.ids.items():
            target = _follow(key, merged)
            joined.setdefault(target, []).extend(ids)
        return [ids[:MAX_GROUP] for ids in joined.values() if len(ids) > 1]


def _follow(key: bytes, merged: Mapping[bytes, bytes]) -> bytes:
    """The fullest form of a statement. Each step has more words, so this ends."""
    while key in merged:
        key = merged[key]
    return key


def find_form(memory: Memory, text: str | None = None) -> bytes | None:
    """A key that is equal for memories of one scope that say the same; None if the memory is not consolidated.

    With `text`, the key that the memory would have with this text.
    """
    text = memory.content if text is None else text
    if memory.kind in NOT_CONSOLIDATED or memory.expires or "\n" in text.strip() or len(text) > MAX_STATEMENT_CHARS:
        return None
    words = make_canonical_words(text, sorts_lists=memory.kind not in EXACT_KINDS)
    if not words:
        return None
    day = f"{memory.valid_from:%Y-%m-%d}" if _depends_on_day(memory.kind, text, words) else ""
    # Statements of the user and of other sources stay apart: merging them would end the more trusted memory.
    trust = find_trust(memory.source)
    key = (memory.session, memory.kind.value, memory.context, words, day, trust)
    return blake2b(repr(key).encode(), digest_size=KEY_BYTES).digest()


def _depends_on_day(kind: Kind, text: str, words: Sequence[str]) -> bool:
    """Whether the same words mean something else on another day."""
    if _RELATIVE_TIME_WORDS.search(text):
        return True
    if _YEAR.search(text):
        return False
    has_past = any(is_past(word) or word in ("was", "were", "did") for word in words)
    return kind is Kind.OUTCOME or (has_past and parse_statement(text).is_event)


def is_same(first: str, second: str) -> bool:
    """Whether two texts say the same, or one refines the other."""
    one, other = make_canonical_words(first), make_canonical_words(second)
    return one == other or one in _list_bases(second) or other in _list_bases(first)


def _list_bases(text: str) -> list[tuple[str, ...]]:
    base = find_base(text)
    return [make_canonical_words(base)] if base else []


def find_base(text: str) -> str | None:
    """The shorter statement that a text refines: "I live in Oslo" for "I live in Oslo, Norway"."""
    sentence = _to_first_person(_strip_lead_in(text))
    if _NEGATION_WORDS.search(sentence) or "?" in sentence:
        return None
    for pattern in _REFINING_TAILS:
        found = pattern.match(sentence)
        if found and not _LIMITING_TAIL.search(sentence[found.end("base") :]):
            return found["base"]
    return None


def make_canonical_words(text: str, *, sorts_lists: bool = True) -> tuple[str, ...]:
    """The words of a text without the differences that do not change its meaning."""
    statement = _strip_lead_in(text)
    is_about_user = bool(_USER_AS_SUBJECT.match(statement))
    sentence = _to_first_person(statement)
    sentence = _CLOCK_SUFFIX.sub(r"\1m", sentence)
    sentence = _DAY_MONTH.sub(r"\2 \1", _MONTH_DAY.sub(r"\1 \2", sentence))
    sentence = _SENTENCE_BREAK.sub(" | ", sentence)
    if sorts_lists:
        sentence = _sort_list(sentence)
    words = _normalise_words(sentence)
    if is_about_user:
        words = _drop_verb_ending(words)
    words = _unify_forms(words)
    return (*words, "?") if "?" in text else tuple(words)


def _strip_lead_in(text: str) -> str:
    return cut_lead_in(expand_short_forms(text.strip()).rstrip(" .!"), _LEAD_IN)


def _to_first_person(statement: str) -> str:
    return replace_user(_USER_AS_SUBJECT.sub("I ", statement))


def _sort_list(sentence: str) -> str:
    """Sort the names of a list, if the sentence has one list."""
    if len(re.findall(r"\band\b", sentence, re.IGNORECASE)) != 1 or _ORDER_WORDS.search(sentence):
        return sentence
    found = _LIST_OF_NAMES.search(sentence)
    if not found:
        return sentence
    names = sorted(re.split(r", | and ", found[0]))
    return f"{sentence[: found.start()]}{', '.join(names[:-1])} and {names[-1]}{sentence[found.end() :]}"


def _normalise_words(sentence: str) -> list[str]:
    """Split a sentence into words: one spelling for each, small letters where case means nothing."""
    raw = sentence.split()
    words: list[str] = []
    for place, each in enumerate(raw):
        follows_number = place + 1 < len(raw) and raw[place + 1][:1].isdigit()
        if each in _DASHES and not follows_number:
            continue
        word = _fold_case(_strip_punctuation(each), is_first=place == 0)
        if word == "too" and place == len(raw) - 1:
            continue
        if word in _EMPTY_WORDS and (each.islower() or place == 0) and not _is_quantity(raw[place : place + 2]):
            continue
        if word:
            words += _SPELLINGS.get(word, _ORDINALS.get(word, _WORD_VARIANTS.get(word, word))).split()
    return words


def _is_quantity(words: Sequence[str]) -> bool:
    """Whether an article is part of a quantity: "a few" is more than "few"."""
    return words[0].lower() == "a" and words[-1].lower() in ("few", "little", "bit", "lot", "couple", "number", "third")


def _strip_punctuation(word: str) -> str:
    """Strip quotes around a word and punctuation behind it; `5'` and `C++` stay."""
    bare = word.rstrip(_END_MARKS)
    if not bare[:-1].isdigit():
        bare = bare.rstrip(_QUOTES + _END_MARKS)
    return bare.lstrip(_QUOTES)


def _fold_case(word: str, *, is_first: bool) -> str:
    """Put a word in small letters, unless its case has a meaning: `DEBUG`, vitamin `B`, `iOS`."""
    if word.lower() not in _WORDS_WITH_SHORT_IS:
        word = word.removesuffix("'s")
    if word == "I" or (is_first and len(word) <= 1):
        return word.lower()
    if any(letter.isupper() for letter in word[1:]) or (len(word) == 1 and word.isupper()):
        return word
    return word.casefold()


def _drop_verb_ending(words: Sequence[str]) -> list[str]:
    """Take the s off the verb after "I": "I likes" becomes "I like"."""
    place = 1
    while place < len(words) and words[place] in _ADVERBS_BEFORE_VERB:
        place += 1
    if place >= len(words):
        return [*words]
    return [*words[:place], _strip_verb_ending(words[place]), *words[place + 1 :]]


def _strip_verb_ending(verb: str) -> str:
    if verb in ("is", "was", "am", "are", "were") or not verb.isalpha() or verb.endswith("ss"):
        return verb
    if verb.endswith(("sses", "shes", "ches", "xes", "zes", "oes")):
        return verb[:-2]
    return f"{verb[:-3]}y" if verb.endswith("ies") else verb.removesuffix("s")


def _unify_forms(words: Sequence[str]) -> list[str]:
    """Give sentences that have several forms one form."""
    words = [("be" if word in _BE_FORMS else word) for word in words]
    words = _unify_ongoing(words)
    words = _unify_employer(words)
    words = _unify_called(words)
    words = _unify_used_as(words)
    return _turn_copula(words)


def _unify_ongoing(words: list[str]) -> list[str]:
    """Write "is living" as "live"."""
    joined: list[str] = []
    for word in words:
        if word in _ONGOING_VERBS and joined and joined[-1] == "be":
            joined[-1] = _ONGOING_VERBS[word]
        else:
            joined.append(word)
    return joined


def _unify_employer(words: list[str]) -> list[str]:
    """Write "works for Siemens" as "works at Siemens"; "works for 8 hours" stays."""
    joined = [*words]
    for place in range(1, len(words) - 1):
        if words[place - 1 : place + 1] == ["work", "for"] and not words[place + 1][0].isdigit():
            joined[place] = "at"
    return joined


def _unify_called(words: list[str]) -> list[str]:
    """Write "my dog is called Max", "my dog's name is Max" and "the name of my dog is Max" as "my dog is Max"."""
    if words.count("be") != 1 or "not" in words:
        return words
    if words[:2] == ["name", "of"]:
        words = words[2:]
    if words[-4:-2] == ["name", "of"]:
        words = [*words[:-4], *words[-2:]]
    place = words.index("be")
    if place > 1 and words[0] == "my" and words[place - 1] == "name":
        words = [*words[: place - 1], *words[place:]]
        place -= 1
    if words[place + 1 : place + 2] in (["called"], ["named"]) and place + 2 < len(words):
        words = [*words[: place + 1], *words[place + 2 :]]
    return words


def _unify_used_as(words: list[str]) -> list[str]:
    """Write "I use Zed as my editor" as "my editor is Zed"."""
    if words[:2] != ["i", "use"] or words.count("as") != 1 or words[words.index("as") + 1 :][:1] != ["my"]:
        return words
    place = words.index("as")
    return [*words[place + 1 :], "be", *words[2:place]]


def _turn_copula(words: list[str]) -> list[str]:
    """Write "Radiohead is my favorite band" as "my favorite band is Radiohead"."""
    if words.count("be") != 1 or "|" in words or _WORDS_AGAINST_TURNING.intersection(words):
        return words
    place = words.index("be")
    left, right = words[:place], words[place + 1 :]
    if right[:1] == ["my"] and left[:1] not in ([], ["my"]):
        return [*right, "be", *left]
    return words


def choose_text(memories: Iterable[Memory]) -> str:
    """The wording with the most words; among equals, the newest."""
    return max(memories, key=lambda each: (*_count_words(each.content), each.valid_from, each.id)).content


def _count_words(text: str) -> tuple[int, int]:
    """The number of words of a text's form, then of the text: "The user" counts no more than "I"."""
    return len(make_canonical_words(text)), len(_to_first_person(_strip_lead_in(text)).split())


def make_group(memories: Sequence[Memory]) -> SameMeaningGroup | None:
    """Make a group of memories that a `FormIndex` found; None if they no longer say the same."""
    members = sorted(memories, key=lambda each: (each.valid_from, each.id))
    forms = [find_form(each) for each in members]
    if len(members) < MIN_GROUP or None in forms or len({find_trust(each.source) for each in members}) > 1:
        return None
    if len({each.slot for each in members if each.slot}) > 1 or _differ_in_metadata(members):
        return None
    text = choose_text(members)
    if not all(is_same(each.content, text) for each in members):
        return None
    rule = ConsolidationRule.RESTATEMENT if len({*forms}) == 1 else ConsolidationRule.REFINEMENT
    return SameMeaningGroup(rule, tuple(members), text)


def _differ_in_metadata(members: Sequence[Memory]) -> bool:
    """Whether two memories have different values for one metadata key."""
    known: dict[str, object] = {}
    for each in members:
        for name, value in each.metadata.items():
            if known.setdefault(name, value) != value:
                return True
    return False
