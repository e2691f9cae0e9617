"""Which attribute does a statement give a value to?

Only attributes that a person has once, and only in words that name the value: "My rent is 1500" fills `user.rent`, but
"My laptop is slow" fills nothing, or it would take the place of "My laptop is a MacBook". Statements come as
`reading.plain` makes them: in the first person and without contractions.
"""

import re

from retentive.learn.statements.areas import stems, topics
from retentive.learn.statements.lists import LISTS, any_of, members
from retentive.learn.statements.statement import Slot

_NAMES = r"[A-ZÀ-Þ][\w'&.-]*(?:[ ,]+(?:[A-ZÀ-Þ][\w'&.-]*|(?:de|of|del|la|and)(?= (?:la )?[A-ZÀ-Þ])))*"
_OWNED = any_of("attributes")
_IS = (
    r"(?:is|are|was|will be)(?: now| currently| actually)?(?: called| named| about| at| with| on)?|"
    r"(?:went|gone|going|is going) (?:up|down) (?:from [\w$€£., ]+ )?to|"
    r"(?:has |have |is |was |got )*(?:been )?"
    r"(?:changed|increased|dropped|risen|moved|raised|pushed|corrected|switched|cut|extended)"
    r"(?: back| up| down)?(?: from [\w$€£., ]+)? to"
)
_MY = re.compile(
    rf"(?:^|, )(?:my|our|the)(?: new| current| updated)? (?P<what>{_OWNED}) (?:{_IS})\s+(?P<value>.+)", re.IGNORECASE
)
_IS_MINE = re.compile(
    rf"(?:^|[.;,]\s|\band |\bsay )(?:put )?(?P<value>(?:(?! and |[,;]).)+?)(?: is|\sdown as)(?: now)? (?:my|our)"
    rf"(?: new| current)? (?P<what>{_OWNED})(?! (?:is|are|said|told|says|wants))\b",
    re.IGNORECASE,
)
_CHANGED = re.compile(
    rf"\b(?:raised|increased|lowered|changed|updated|moved|corrected|extended|reduced|pushed|bumped|cut|set)"
    rf" (?:the|my|our) (?:\w+ )?(?P<what>{_OWNED}) (?:from [\w$€£., ]+ )?(?:back )?to (?P<value>.+)",
    re.IGNORECASE,
)
_KIN_NAMED = re.compile(
    r"^(?:my|our) (?P<who>[\w-]+?)'s name is (?P<value>.+)|"
    r"^(?:my|our) (?P<who2>[\w-]+) is (?:called|named) (?P<value2>.+)",
    re.IGNORECASE,
)
_COUNT = r"(?:\d+|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:-\w+)?|\w+teen|ten|eleven|twelve)"
_MAIL = r"[\w.+-]+@[\w-]+\.[\w.]+"
_OFTEN = "(?: now| just| recently| happily| officially| finally| newly| currently| about| around)*"
_PATTERNS = {
    slot: re.compile(pattern)
    for slot, pattern in {
        "name": rf"(?i:\bmy name is|\bcalls? me|\bi go by|^i am called) (?P<value>{_NAMES})",
        "pronouns": r"(?i)\b(?P<value>\w+/\w+) pronouns|\buse (?P<value2>(?:she|he|they|ze|xe)/\w+)",
        "email": rf"(?i)\b(?:use|reach|write to|contact|e-?mail)\b[^@]*?(?P<value>{_MAIL})",
        "age": rf"(?i)^(?:i am|i have|i|\w+){_OFTEN} (?:turned |am )?(?P<value>{_COUNT})(?: years old| now|$|[,.])"
        rf"|^i(?: have)?{_OFTEN} turned (?P<value2>{_COUNT})\b",
        "weight": rf"(?i)(?:\bweighs?|^i am{_OFTEN} (?:down to|up to|at)){_OFTEN} (?P<value>\d[\d.]*)"
        r"(?= ?(?:kg|kilo|pounds|lbs|st\b|stone|$))",
        "salary": r"(?i)^(?:i|we)(?: now)? (?:earn|make) (?P<value>[$€£]?\d[\d.,]*k?)(?= (?:a|per) year|k?$|k\b)",
        "status": rf"(?i)\b(?:am|are|is|got|been|became|was){_OFTEN} "
        r"(?P<value>single|married|divorced|engaged|widowed|separated|remarried|dating|in a relationship)\b"
        rf"|^(?:i|we)(?: have)?{_OFTEN} (?P<value2>divorced|separated|broke up|split up|married|eloped)\b"
        r"|^i (?:have |got |finally )+a (?P<value3>girlfriend|boyfriend|fiancee?|fiancée?)\b",
        "boss": rf"\b(?i:report|reporting|reports) to (?P<value>{_NAMES})",
        "address": r"\b(?i:send|deliver|ship|mail)\b.* to (?P<value>\d+ [A-Z].+)",
    }.items()
}
_JOINED_TOO = {"chat", "social", "sport", "programming", "club", "study", "music", "pastime", "faith", "politics"}
_CIRCLE = "(?:party|club|meetup|group|team|gym|choir|band|community|church|union|course|class|call|channel|server)"
_DWELLING = "(?:house|flat|apartment|home|place)"
_HOME = re.compile(
    r"\b(?:(?:live|lives|living|reside|resides|based|settled)(?: now| currently| right now| here)? (?:in|at|out of)"
    r"|(?:moved|relocated|move)(?: back| house| home| out| up| down| over| here)?(?: from [\w ]+?)? to"
    rf"|settled into (?:the|our|my) new {_DWELLING} in|{_DWELLING} is in|keys to (?:my|our) (?:\w+ )?{_DWELLING} in)"
    rf"\s+(?P<value>(?:the )?{_NAMES})",
)
_DWELLS = re.compile(rf"(?i:my|our) (?:\w+ )?{_DWELLING} is in (?P<value>{_NAMES})")
_SOMEONE = re.compile(r"(?:(?:Dr|Mr|Ms|Mrs|Prof)\.? )?[A-ZÀ-Þ]")
_OF_THE_USER = {"name", "pronouns", "email", "address"}
_EMPLOYER = re.compile(
    r"\b(?:(?:work|works|working|job|role|position|consultant|engineer|designer|manager|nurse|analyst|developer|"
    r"starting|interning|intern|teach|architect|scientist|accountant)(?: now| currently)? (?:at|for)"
    rf"|(?:employed|hired) by)\s+(?:the )?(?P<value>{_NAMES})",
)
_JOINED = re.compile(
    rf"\b(?:joined|joining|join|started (?:working )?at)\s+(?P<value>{_NAMES})(?! (?:[a-z]+ )?{_CIRCLE})"
)
# Of one of several: "our budget for the trip is ...", "in project X, our manager is ...".
_OF_ONE = re.compile(r"\bfor (?:the|our|my|their|project|team|client|[A-Z])(?! (?:moment|time being))", re.IGNORECASE)
_IN_ONE = re.compile(r"(?:in|for|on|at|with) [^,]+, ", re.IGNORECASE)
_END = re.compile(
    r"(?<!\bdr)(?<!\bmr)(?<!\bms)(?<!\bst)(?<!\bmrs)[.;!](?:\s|$)|, (?:and|so|but) | (?:since|because|instead|after) ",
    re.IGNORECASE,
)


def asked_for(slot: str) -> str | None:
    """The words in which people ask for what is in it, if those in which it is told are others."""
    found: str | None = LISTS["asked"].get(slot.rpartition(".")[2])
    return found


def slot_of(said: str, subject: str) -> Slot | None:
    """Of a statement about this subject; None where it fills none surely."""
    if subject == "world" and not re.match(r"(?:the|that) |.*\b(?:my|our|me)\b", said, re.IGNORECASE):
        return None
    if named := _KIN_NAMED.match(said):
        groups = {key.rstrip("2"): value for key, value in named.groupdict().items() if value}
        if groups["who"].lower() not in ("company", "startup", "app", "project", "product", "band"):
            return _slot(f"user.{groups['who'].lower()}", "name", groups["value"])
    return _owned(said) or _personal(said, subject)


def _owned(said: str) -> Slot | None:
    """An attribute by its name: my rent is 1500."""
    for pattern in (_IS_MINE, _MY, _CHANGED):
        if found := pattern.search(said):
            if _OF_ONE.search(found["value"]) or (found.start() and _IN_ONE.match(said)):
                return None
            attribute = _attribute(found["what"])
            # "My manager is based in Oslo" does not say who that is.
            if attribute not in members("persons") or _SOMEONE.match(found["value"]):
                return _slot("user", attribute, found["value"])
    return None


def _personal(said: str, subject: str) -> Slot | None:
    """What people say of themselves, and of those they know."""
    themselves = subject not in ("user", "world") or re.search(r"(?:^|, |and |so )(?:i|we|they)\b", said, re.IGNORECASE)
    for slot, pattern in _PATTERNS.items():
        if (themselves or slot in _OF_THE_USER) and (found := pattern.search(said)):
            own = "user" if subject == "world" else subject
            return _slot(own, slot, next(value for value in found.groupdict().values() if value))
    if themselves:
        return _place(said, subject)
    found = _DWELLS.match(said)
    return _slot("user", "home", found["value"]) if found else None


def _place(said: str, own: str) -> Slot | None:
    if (found := _HOME.search(said)) and not topics(stems(found["value"])):
        return _slot(own, "home", found["value"])
    if found := _EMPLOYER.search(said):
        return _slot(own, "employer", found["value"])
    # One joins much else beside employers: what is called "the", or known as something else, is none.
    found = _JOINED.search(said)
    known = {topic.area for topic in topics(stems(found["value"]))} if found else set[str]()
    return _slot(own, "employer", found["value"]) if found and not known & _JOINED_TOO else None


_SAME: dict[str, str] = LISTS["same_attribute"]


def _attribute(words: str) -> str:
    name = "_".join(re.findall(r"\w+", words.lower().replace("favourite", "favorite").replace("colour", "color")))
    return _SAME.get(name, name)


def _slot(own: str, name: str, value: str) -> Slot:
    said = _END.split(f"{value} ", maxsplit=1)[0].strip()
    return Slot(f"{own}.{name}", frozenset(stems(said)), said)
