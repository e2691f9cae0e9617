"""Do two memories say the same? Decided by their form alone; the answer is no where there is doubt.

The naive ways fail. Vectors of "I eat meat" and "I do not eat meat" lie close together, and so do those of the left and
the right knee. Sets of keywords do not see who reports to whom. So each text gets a *canonical form*: its words in
their order, with only those differences removed that change nothing. Two memories say the same if their forms are
equal. A form is a key, so a namespace is grouped in one pass, without comparing pairs.

These differences are removed, and no others:
  a. articles, "our", emphasis ("really", "currently", "please"), punctuation, quotes, and what leads up to a statement;
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
from retentive.judgement.corrections.statement import parse_statement
from retentive.judgement.extract.person import plain
from retentive.judgement.extract.verbs import is_past
from retentive.model import ConsolidationRule, Kind, Memory, find_trust

NOT_CONSOLIDATED = frozenset({Kind.NOTE, Kind.FILE})  # known by an id of their own
EXACT_KINDS = frozenset({Kind.INSTRUCTION, Kind.DECISION})  # their order and extent matter: no lists, no refinements
MIN_GROUP = 2
KEY_BYTES = 16  # of a hash: two of 100,000 forms collide once in 10^28 namespaces, and texts are compared again
MAX_GROUP = 50  # memories that become one; more say the same in a later run

_EMPTY = frozenset("a an the our really currently now also please actually simply".split())
_BE = frozenset("am is are".split())
_SAME_WORD = {"has": "have", "does": "do", "lives": "live", "works": "work", "uses": "use", "cannot": "can not"}
_ONGOING = {"living": "live", "working": "work", "using": "use", "residing": "reside"}
_SHORT_VERBS = frozenset("he's she's it's that's there's here's who's what's where's let's how's one's".split())
_NOT_TURNED = frozenset(
    "not no never i it this that these those he she they we you there what who which all every each some most many few"
    " both either neither only nothing everything if when while because than".split()
)
_ORDINALS = {"1st": "first", "2nd": "second", "3rd": "third"}
_SPELLINGS = {"favourite": "favorite", "colour": "color", "favourites": "favorites", "colours": "colors"}
_ADVERBS = frozenset(
    "always usually often never sometimes rarely also really currently now still mostly generally only just no longer"
    " normally typically regularly hardly ever".split()
)
_MONTHS = "january february march april may june july august september october november december".split()
_MONTH = "|".join(_MONTHS)
_DAY_MONTH = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)? (?:of )?({_MONTH})\b", re.IGNORECASE)
_MONTH_DAY = re.compile(rf"\b({_MONTH}) (\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)", re.IGNORECASE)
_CLOCK = re.compile(r"(?<=\d) ?([ap])\.?m\b\.?", re.IGNORECASE)
_USER_SUBJECT = re.compile(r"^(?:[Tt]he user|User) (?=[a-z])")
_USER = re.compile(r"\b[Tt]he user(?P<own>'s)?\b")
# Without a comma, "no", "so" and "update" are words of the statement: "No dogs are allowed".
_LEAD = re.compile(
    r"^(?:(?:(?:actually|also|by the way|btw|fyi)\b[\s,:;!-]*)"
    r"|(?:(?:correction|update|note|so|and|ok|okay|well|oh|sorry|no|hey|hi|anyway)\s*[,:;!]\s*))+",
    re.IGNORECASE,
)
_BREAK = re.compile(r"(?<=\w)[.!?;](?=\s+\S)")
_NAME = r"[A-ZÀ-Þ][\w'.-]*"
_NAMES = rf"{_NAME}(?: {_NAME})*"
_LIST = re.compile(rf"(?<=[a-z] )(?<!\bbetween ){_NAME}(?:, {_NAME})* and {_NAME}(?! {_NAME})")
_ORDERED = re.compile(r"\b(?:respectively|then|first|before|after|from|\d+ and)\b", re.IGNORECASE)
_QUOTES = "\"'`“”„«»‘’()[]{}"  # noqa: RUF001 - all of these are typed
_ENDS = ".,;:!?…"
_DASHES = frozenset("- – — •".split())  # noqa: RUF001 - all of these are typed

_DEICTIC = re.compile(
    r"\b(?:today|tonight|yesterday|tomorrow|this|next|last|ago|recently|lately|just|soon|later|earlier|upcoming"
    r"|heute|gestern|morgen|hier|demain|aujourd'hui|hoy|ayer|mañana)\b",
    re.IGNORECASE,
)
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_NEGATED = re.compile(r"\b(?:not|no|never|none|nor|neither|without|hardly|nicht|kein\w*|pas|ne|n'\w+)\b", re.IGNORECASE)

_PLACE_TAIL = re.compile(rf"^(?P<base>.*\b(?:live|lives|living|based|reside|resides) in {_NAMES}), {_NAMES}$")
_EMPLOYER_TAIL = re.compile(
    rf"^(?P<base>.*\b(?:work|works|working|employed) (?:at|for|by) {_NAMES})(?:,)? in {_NAMES}$"
)
_NAMED_TAIL = re.compile(
    rf"^(?P<base>(?:[Mm]y|[Oo]ur) [\w' -]+?(?: is| is called| is named|'s name is) {_NAMES})"
    r", an? [\w-]+(?: [\w-]+){0,3}$"
)
_TAILS = (_PLACE_TAIL, _EMPLOYER_TAIL, _NAMED_TAIL)
# A tail that may limit a statement: "I work at Siemens in May" says less than "I work at Siemens".
_LIMITING_TAIL = re.compile(
    r"\b(?:and|or|but|who|which|that|with|until|if|when|bit|lot|while|few|little|time|day|week|month|year|former|ex"
    rf"|{_MONTH}|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|weekends?|spring|summer|autumn|fall|winter"
    r"|sometimes|mostly|usually|maybe|perhaps)\b|\d",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Group:
    """Memories that become one."""

    rule: ConsolidationRule
    memories: tuple[Memory, ...]
    """The oldest first."""
    text: str


@dataclass(slots=True)
class FormIndex:
    """The ids of memories by their forms. It holds no texts: a namespace of 100,000 memories takes some 40 MB."""

    ids: dict[bytes, list[str]] = field(default_factory=dict)
    fuller: dict[bytes, set[bytes]] = field(default_factory=dict)
    """By the form of the shorter statement: the forms that refine it."""

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
        """The ids of memories that say the same, in each group; a statement with two refinements joins neither."""
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
    said = memory.content if text is None else text
    if memory.kind in NOT_CONSOLIDATED or memory.expires or "\n" in said.strip() or len(said) > MAX_STATEMENT_CHARS:
        return None
    words = canonical_words(said, sorts_lists=memory.kind not in EXACT_KINDS)
    if not words:
        return None
    day = f"{memory.valid_from:%Y-%m-%d}" if _tells_of_its_day(memory.kind, said, words) else ""
    # What the user said and what came from elsewhere stay apart: one memory of both would end what is trusted more.
    trust = find_trust(memory.source)
    key = (memory.session, memory.kind.value, memory.context, words, day, trust)
    return blake2b(repr(key).encode(), digest_size=KEY_BYTES).digest()


def _tells_of_its_day(kind: Kind, text: str, words: Sequence[str]) -> bool:
    """Whether the same words on another day tell of something else."""
    if _DEICTIC.search(text):
        return True
    if _YEAR.search(text):
        return False
    has_past = any(is_past(word) or word in ("was", "were", "did") for word in words)
    return kind is Kind.OUTCOME or (has_past and parse_statement(text).is_event)


def is_same(first: str, second: str) -> bool:
    """Whether two texts say the same, or one refines the other."""
    one, other = canonical_words(first), canonical_words(second)
    return one == other or one in _bases(second) or other in _bases(first)


def _bases(text: str) -> list[tuple[str, ...]]:
    base = find_base(text)
    return [canonical_words(base)] if base else []


def find_base(text: str) -> str | None:
    """The shorter statement that a text refines: "I live in Oslo" for "I live in Oslo, Norway"."""
    said = _to_first_person(_without_lead(text))
    if _NEGATED.search(said) or "?" in said:
        return None
    for form in _TAILS:
        found = form.match(said)
        if found and not _LIMITING_TAIL.search(said[found.end("base") :]):
            return found["base"]
    return None


def canonical_words(text: str, *, sorts_lists: bool = True) -> tuple[str, ...]:
    """The words of a text without the differences that change nothing."""
    stated = _without_lead(text)
    is_about_user = bool(_USER_SUBJECT.match(stated))
    said = _to_first_person(stated)
    said = _CLOCK.sub(r"\1m", said)
    said = _DAY_MONTH.sub(r"\2 \1", _MONTH_DAY.sub(r"\1 \2", said))
    said = _BREAK.sub(" | ", said)
    if sorts_lists:
        said = _sort_list(said)
    words = _spell(said)
    if is_about_user:
        words = _to_plural_verb(words)
    words = _join_forms(words)
    return (*words, "?") if "?" in text else tuple(words)


def _without_lead(text: str) -> str:
    said = plain(text.strip()).rstrip(" .!")
    lead = _LEAD.match(said)
    return said[lead.end() :] if lead and lead.end() < len(said) else said


def _to_first_person(stated: str) -> str:
    said = _USER_SUBJECT.sub("I ", stated)
    return _USER.sub(lambda found: "my" if found["own"] else "I", said)


def _sort_list(said: str) -> str:
    """The names of the one list of a text in the order of the alphabet."""
    if len(re.findall(r"\band\b", said, re.IGNORECASE)) != 1 or _ORDERED.search(said):
        return said
    found = _LIST.search(said)
    if not found:
        return said
    names = sorted(re.split(r", | and ", found[0]))
    return f"{said[: found.start()]}{', '.join(names[:-1])} and {names[-1]}{said[found.end() :]}"


def _spell(said: str) -> list[str]:
    """The words one by one, in small letters where case says nothing."""
    raw = said.split()
    words: list[str] = []
    for place, each in enumerate(raw):
        follows_number = place + 1 < len(raw) and raw[place + 1][:1].isdigit()
        if each in _DASHES and not follows_number:
            continue
        word = _fold(_strip(each), is_first=place == 0)
        if word == "too" and place == len(raw) - 1:
            continue
        if word in _EMPTY and (each.islower() or place == 0) and not _is_quantity(raw[place : place + 2]):
            continue
        if word:
            words += _SPELLINGS.get(word, _ORDINALS.get(word, _SAME_WORD.get(word, word))).split()
    return words


def _is_quantity(words: Sequence[str]) -> bool:
    """Whether an article is part of a quantity: "a few" is more than "few"."""
    return words[0].lower() == "a" and words[-1].lower() in ("few", "little", "bit", "lot", "couple", "number", "third")


def _strip(word: str) -> str:
    """Without quotes around it and punctuation behind it; `5'` and `C++` stay."""
    bare = word.rstrip(_ENDS)
    if not bare[:-1].isdigit():
        bare = bare.rstrip(_QUOTES + _ENDS)
    return bare.lstrip(_QUOTES)


def _fold(word: str, *, is_first: bool) -> str:
    """In small letters, unless case may tell two words apart: `DEBUG`, vitamin `B`, `iOS`."""
    if word.lower() not in _SHORT_VERBS:
        word = word.removesuffix("'s")
    if word == "I" or (is_first and len(word) <= 1):
        return word.lower()
    if any(letter.isupper() for letter in word[1:]) or (len(word) == 1 and word.isupper()):
        return word
    return word.casefold()


def _to_plural_verb(words: Sequence[str]) -> list[str]:
    """The verb of "I" as people say it: "I likes" is "I like"."""
    place = 1
    while place < len(words) and words[place] in _ADVERBS:
        place += 1
    if place >= len(words):
        return [*words]
    return [*words[:place], _plural_verb(words[place]), *words[place + 1 :]]


def _plural_verb(verb: str) -> str:
    if verb in ("is", "was", "am", "are", "were") or not verb.isalpha() or verb.endswith("ss"):
        return verb
    if verb.endswith(("sses", "shes", "ches", "xes", "zes", "oes")):
        return verb[:-2]
    return f"{verb[:-3]}y" if verb.endswith("ies") else verb.removesuffix("s")


def _join_forms(words: Sequence[str]) -> list[str]:
    """One form for sentences that have several."""
    said = [("be" if word in _BE else word) for word in words]
    said = _join_ongoing(said)
    said = _join_employer(said)
    said = _join_called(said)
    said = _join_used_as(said)
    return _turn_copula(said)


def _join_ongoing(said: list[str]) -> list[str]:
    """Write "is living" as "live"."""
    joined: list[str] = []
    for word in said:
        if word in _ONGOING and joined and joined[-1] == "be":
            joined[-1] = _ONGOING[word]
        else:
            joined.append(word)
    return joined


def _join_employer(said: list[str]) -> list[str]:
    """Write "works for Siemens" as "works at Siemens"; "works for 8 hours" stays."""
    joined = [*said]
    for place in range(1, len(said) - 1):
        if said[place - 1 : place + 1] == ["work", "for"] and not said[place + 1][0].isdigit():
            joined[place] = "at"
    return joined


def _join_called(said: list[str]) -> list[str]:
    """Write "my dog is called Max", "my dog's name is Max" and "the name of my dog is Max" as "my dog is Max"."""
    if said.count("be") != 1 or "not" in said:
        return said
    if said[:2] == ["name", "of"]:
        said = said[2:]
    if said[-4:-2] == ["name", "of"]:
        said = [*said[:-4], *said[-2:]]
    place = said.index("be")
    if place > 1 and said[0] == "my" and said[place - 1] == "name":
        said = [*said[: place - 1], *said[place:]]
        place -= 1
    if said[place + 1 : place + 2] in (["called"], ["named"]) and place + 2 < len(said):
        said = [*said[: place + 1], *said[place + 2 :]]
    return said


def _join_used_as(said: list[str]) -> list[str]:
    """Write "I use Zed as my editor" as "my editor is Zed"."""
    if said[:2] != ["i", "use"] or said.count("as") != 1 or said[said.index("as") + 1 :][:1] != ["my"]:
        return said
    place = said.index("as")
    return [*said[place + 1 :], "be", *said[2:place]]


def _turn_copula(said: list[str]) -> list[str]:
    """Write "Radiohead is my favorite band" as "my favorite band is Radiohead"."""
    if said.count("be") != 1 or "|" in said or _NOT_TURNED.intersection(said):
        return said
    place = said.index("be")
    left, right = said[:place], said[place + 1 :]
    if right[:1] == ["my"] and left[:1] not in ([], ["my"]):
        return [*right, "be", *left]
    return said


def choose_text(memories: Iterable[Memory]) -> str:
    """The wording that says most; of equals the newest."""
    return max(memories, key=lambda each: (*_measure(each.content), each.valid_from, each.id)).content


def _measure(text: str) -> tuple[int, int]:
    """How many words a text has: those of its form first, because "The user" is no more than "I"."""
    return len(canonical_words(text)), len(_to_first_person(_without_lead(text)).split())


def make_group(memories: Sequence[Memory]) -> Group | None:
    """The group of memories that a `FormIndex` found, as they are now; None if they no longer fit together."""
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
    return Group(rule, tuple(members), text)


def _differ_in_metadata(members: Sequence[Memory]) -> bool:
    """Whether two of them give the same key another value."""
    known: dict[str, object] = {}
    for each in members:
        for name, value in each.metadata.items():
            if known.setdefault(name, value) != value:
                return True
    return False
