"""What "I" and "we" are and do: told by the verb, each with what must follow it.

A rule is a test and a verdict; the first whose test holds decides. What was thought, felt and said is not kept, nor
what passes; what is owned, done often, begun, ended, planned or has happened is.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from retentive.learn.talk import vocabulary as words
from retentive.learn.talk.signs import DANGLING, JUDGED, TASK, TRIVIAL
from retentive.learn.talk.verbs import is_past
from retentive.learn.talk.vocabulary import is_concrete, is_told
from retentive.model import Kind


class Worth(NamedTuple):
    kind: Kind
    importance: int
    confidence: float = 0.6


class Deed(NamedTuple):
    """A verb of the speaker, what follows it (with the blank before), and the whole clause in lower case."""

    verb: str
    tail: str
    low: str
    negated: bool = False

    @property
    def rest(self) -> str:
        return f"{self.verb}{self.tail}"


TIME = re.compile(rf"\b{words.TIME}\b")
OFTEN = re.compile(
    r"\b(?:every|each|daily|weekly|monthly|yearly|usually|always|often|regularly|once a|twice a|times a|on \w+days"
    r"|most (?:days|weekends|mornings|evenings|nights|of the time)|in the (?:mornings?|evenings?|afternoons?)"
    r"|at night|before (?:bed|work)|after work|weekends?|sometimes|all the time|never|rarely|instead of"
    r"|for (?:years|\w+ years))\b"
)
_HEALTH = re.compile(rf"\b(?:{words.HEALTH})\b")
FAMILY = re.compile(
    rf"\b(?:{words.KIN}|{words.PETS}|married|divorced|engaged|widowed|wedding|birthday|anniversary|born)\b"
)
_ADVERBS = (
    r"(?: (?:also|just|always|never|only|already|recently|finally|not|even|ever|now|really|since|both|fully|actually"
    r"|long|entirely|completely|still|currently|all|mostly|strictly|originally|a bit|very|so))"
)
_STATE = re.compile(
    rf"^{_ADVERBS}* (?:(?P<self>{words.STATES})|(?P<taste>{words.LEANINGS})|(?P<role>{words.ROLES}))\b(?P<tail>.*)$"
)
_NO_ROLE = re.compile(
    rf"^{_ADVERBS}* (?:a|an|the|one) (?:of )?(?:(?:such|so|really|very|real|total|bit|little|lot|kind"
    rf"|few) )*(?:{words.EVALUATIONS}|mess|bit|little|one|only one|fan(?= too|$)|reason|type|kind|person who|same"
    r"|first to)\b"
)
_FOR_NOW = re.compile(
    rf"^{_ADVERBS}* (?:on|in|at|away|off|out|abroad|without|with|staying|(?:un)?available)\b.*\b(?:until|till)"
    rf" (?:.* )?{words.TIME}"
)
_NAMED = re.compile(r"\bI am (?:Dr\.? )?[A-Z][a-zà-ÿ]+(?: [A-Z]\w+)?(?:[,.!]|$| (?:and|from)\b)")
_GOING_ON = re.compile(rf"^{_ADVERBS}* ([a-z-]+ing)\b(.*)")
_GOING_TO = re.compile(r" to (\w+)(.*)")
_AFTER_ING = {  # what must follow, for these to tell something
    "trying": re.compile(
        r" (?:(?:out )?(?!to\b|out\b|for\b|at\b|into\b|it\b)\w|to (?:eat|lose|learn|quit|buy|find|get|stop|cut|save"
        r"|become|adopt|raise|improve|conceive|have)\b)"
    ),
    "looking": re.compile(r" (?:for an?|into|forward to (?:my|our|the))\b"),
    "getting": re.compile(r" (?:married|divorced|engaged|a|an|my|our|into)\b"),
    "thinking": re.compile(r" (?:of|about) \w+ing\b"),
    "writing": re.compile(r" (?!to\b|in\b)"),
    "seeing": re.compile(r" (?:a|an|my|our)\b"),
}
_PROJECTS = re.compile(r"(?:working on|(?:building|developing|writing|designing) (?:a|an|my|our))\b")
_NEGATED = re.compile(r" (?:not|never)(?: (?:really|even|ever|usually|actually|yet|often|always))? (\w+)(.*)")
_ABLE = re.compile(
    r" (?:only |also |no longer )?(?:eat|drink|have (?:dairy|gluten|nuts|caffeine|alcohol|sugar|meat)|stand|tolerate"
    r"|swim|drive|speak|cook|sing|ride|hear|see (?:out|well|colou?rs?)|digest|afford|run|walk|lift|fly)\b"
)
_BEEN = re.compile(
    r" been (?:a|an|the|in|at|on|to|with|married|diagnosed|vegetarian|vegan|into|sober|accepted|promoted)\b"
)
_BEEN_DOING = re.compile(r" been ((?:[a-z]+ly )?[a-z-]+ing)\b(.*)")
_STEADY = re.compile(r"\b(?:for|since|every)\b")
_NOT_OWNED = re.compile(r" (?:got )?(?:it|them|no idea|been|faith|so|lots|plenty|one|everything|what|always|no)\b")
_WOULD = re.compile(r" (?:really )?(?:love|like) to (?:also |be able to )?(\w+)(.*)")
_RATHER = re.compile(r" (?:much )?rather (?:not )?(?!be\b|die\b|see\b|know\b)\w+ (.*)")
_WILL = re.compile(r" (?:also |soon |finally |definitely |not )?(?:be (\w+)|(\w+))(.*)")
_WISH = re.compile(r" (?:to|of|on) (?:also )?(\w+)(.*)")
_LACKED = re.compile(  # what it tells something not to have
    rf"\b(?:{words.KIN}|{words.PETS}|{words.HEALTH}|car|tv|house|garden|phone|computer|licen[cs]e|degree|passport"
    r"|account)\b"
)
_HANDLED = re.compile(  # steps of a task at hand
    r"(?:ran|changed|updated|restarted|installed|removed|renamed|deleted|fixed|refactored|committed|pushed|merged"
    r"|enabled|reinstalled|configured|disabled|replaced|moved|cleared|tried|set|built"
    r"|wrote) (?:the (?!.*\b(?:marathon|race)\b)|clearing|running|using|restarting|setting|changing"
    r"|a (?:function|script|test|line|query))"
)
_NOT_LIKED = re.compile(
    r"^ (?:to (?:see|hear|know|chat|talk|help|think|say|be)|seeing|hearing|how|when|what|having|being|knowing|that"
    r"|it|all|the (?:way|idea|view|look|sound|colou?rs?|fact|vibes?)|everything|being able|every|talking)\b"
)


def being(verb: str, tail: str, clause: str) -> Worth | None:
    """Of "I am ..." and "I was ...": a name, a state that lasts, a leaning, a role, or what goes on."""
    low = f"{verb}{tail}"
    if _NAMED.search(clause):
        return Worth(Kind.PERSONAL, 8)
    if going := _GOING_ON.match(tail):
        return _ongoing(Deed(going[1], going[2], low))
    state = _STATE.match(tail)
    if not state:
        return Worth(topic(low, Kind.FACT), 5) if _FOR_NOW.match(tail) else None
    if state["self"]:
        return Worth(Kind.PERSONAL, 8 if _HEALTH.search(low) else 7)
    if state["taste"]:
        return Worth(Kind.PREFERENCE, 5) if is_concrete(state["taste"] + state["tail"]) else None
    kept = is_concrete(f"{state['role']} {state['tail']}") and not JUDGED.match(low) and not _NO_ROLE.match(tail)
    return Worth(topic(low, Kind.BACKGROUND), 7 if _HEALTH.search(low) else 6) if kept else None


def doing(deed: Deed) -> Worth | None:
    """Of a full verb: "I play the piano", "I moved to Oslo"."""
    return next((verdict(deed) for test, verdict in _RULES if test(deed)), None)


def auxiliary(verb: str, tail: str, low: str) -> Worth | None:
    """Of "I do not ...", "I have ...", "I will ...", "I cannot ..."."""
    deed = Deed(verb, tail, low)
    if verb in ("do", "did"):
        negated = _NEGATED.match(tail)
        return doing(Deed(negated[1], negated[2], low, negated=True) if negated else deed)
    verdict = _AUXILIARIES.get(verb)
    return verdict(deed) if verdict else None


def is_vital(low: str) -> bool:
    return bool(_HEALTH.search(low) or FAMILY.search(low))


def topic(low: str, otherwise: Kind) -> Kind:
    return Kind.PERSONAL if is_vital(low) else otherwise


def _told(deed: Deed, kind: Kind, importance: int, *, kept: bool = True) -> Worth | None:
    """Of the speaker's own life if it is about family or health, and then it matters more."""
    if not kept:
        return None
    return Worth(topic(deed.low, kind), 7 if importance > 4 and is_vital(deed.low) else importance)  # noqa: PLR2004


def _ongoing(deed: Deed) -> Worth | None:
    """Of what goes on: "I am learning piano" is kept, "I am watching it" passes."""
    verb, tail, low = deed.verb, deed.tail, deed.low
    needed = _AFTER_ING.get(verb)
    if verb not in words.PROGRESSIVE or not is_told(tail) or (needed and not needed.match(tail)):
        return None
    if any(sign.match(tail) for sign in (TASK, TRIVIAL)) or DANGLING.match(deed.rest) or JUDGED.search(low):
        return None
    if verb == "going":
        to = _GOING_TO.match(tail)
        kept = bool(to and to[1] in words.PLANNED | words.WISHED and is_concrete(to[2])) or bool(TIME.search(tail))
        return _told(deed, Kind.FACT, 5, kept=kept)
    return _told(deed, Kind.PROJECT if _PROJECTS.match(deed.rest) else Kind.FACT, 4 if low.startswith("w") else 5)


def _able(deed: Deed) -> Worth | None:
    kept = _ABLE.match(deed.tail) and is_concrete(deed.tail) and not DANGLING.match(deed.low)
    return Worth(Kind.PERSONAL if deed.verb == "cannot" else Kind.FACT, 6) if kept else None


def _having(deed: Deed) -> Worth | None:
    """Owning, or a perfect: "I have a dog", "I have moved to Porto", "I have been playing for a year"."""
    bare = re.sub(rf"^{_ADVERBS}+(?= )", "", deed.tail)
    if been := _BEEN_DOING.match(bare):
        return _been_doing(been[1], been[2], deed)
    if _BEEN.match(bare):
        return _told(deed, Kind.BACKGROUND, 5, kept=is_told(bare) and not JUDGED.search(deed.low))
    verb, _, rest = bare[1:].partition(" ")
    if verb in words.PARTICIPLES or is_past(verb):
        done = Deed(words.PARTICIPLES.get(verb, verb), f" {rest}", deed.low)
        return doing(done) or _never(deed, verb, rest)
    return _owning(deed, bare)


def _been_doing(verb: str, tail: str, deed: Deed) -> Worth | None:
    steady = _STEADY.search(tail) or verb in words.PROGRESSIVE
    return _told(
        deed,
        Kind.FACT,
        5,
        kept=bool(steady) and is_told(tail) and verb not in words.VAGUE_ING and not JUDGED.search(deed.low),
    )


def _never(deed: Deed, verb: str, rest: str) -> Worth | None:
    """What one has never done tells something, too: "I have never had a driver's license"."""
    kept = "never" in deed.tail[:8] and is_concrete(rest) and verb not in ("seen", "felt", "thought", "heard", "said")
    return _told(deed, Kind.FACT, 4, kept=kept and not JUDGED.search(deed.low))


def _owning(deed: Deed, bare: str) -> Worth | None:
    if bare.startswith(" to "):
        return _told(deed, Kind.FACT, 5, kept=bool(OFTEN.search(deed.low) or TIME.search(deed.low)))
    unkept = TASK.match(bare) or _NOT_OWNED.match(bare) or JUDGED.search(deed.low)
    return _told(deed, Kind.FACT, 5, kept=is_concrete(bare) and not unkept)


def _would(deed: Deed) -> Worth | None:
    if (rather := _RATHER.match(deed.tail)) and is_concrete(rather[1]):
        return Worth(Kind.PREFERENCE, 5)
    wish = _WOULD.match(deed.tail)
    kept = wish and wish[1] in words.WISHED - words.VAGUE and is_concrete(wish[2])
    return Worth(Kind.PREFERENCE, 4) if kept and wish and not DANGLING.match(f"{wish[1]}{wish[2]}") else None


def _will(deed: Deed) -> Worth | None:
    plan = _WILL.match(deed.tail)
    if not plan or not is_concrete(plan[3] + (plan[1] or "")) or JUDGED.search(deed.low) or TRIVIAL.match(plan[3]):
        return None
    planned = plan[2] in words.PLANNED or plan[1] in words.PROGRESSIVE | {"on", "in", "at"}
    timed = TIME.search(deed.tail) and plan[2] not in words.PROMISED
    return _told(deed, Kind.FACT, 5, kept=bool(planned or timed) and "thinking" not in plan[3])


_AUXILIARIES: dict[str, Callable[[Deed], Worth | None]] = {
    "have": _having,
    "had": lambda deed: _having(deed) if deed.tail.startswith((" been", " always")) else _happened(deed),
    "will": _will,
    "would": _would,
    "can": _able,
    "cannot": _able,
    "could": _able,
}
AUXILIARIES = frozenset(_AUXILIARIES) | {"do", "did", "should", "must", "may", "might"}


def _liking(deed: Deed) -> Worth | None:
    kept = is_concrete(deed.tail) and not _NOT_LIKED.match(deed.tail) and deed.verb != "appreciate"
    return Worth(Kind.PREFERENCE, 5) if kept else None


def _wanting(deed: Deed) -> Worth | None:
    wish = _WISH.match(deed.tail)
    if not wish or deed.verb == "hope" or not is_told(wish[2]):
        return None
    kept = wish[1] in words.WISHED - words.VAGUE or deed.verb in ("plan", "intend") or TIME.search(deed.low)
    return _told(deed, Kind.FACT, 4, kept=bool(kept))


def _happened(deed: Deed) -> Worth | None:
    needed = words.TOLD_WITH.get(deed.verb)
    if needed is None and (deed.verb in words.UNTOLD or deed.negated):
        return None
    if needed is not None and not re.match(rf" (?:{needed})", deed.tail):
        return None
    kept = is_told(deed.tail) and not TASK.match(deed.tail) and not JUDGED.search(deed.low)
    return _told(deed, Kind.FACT, 5 if deed.verb in words.CHANGES or _HEALTH.search(deed.low) else 4, kept=kept)


def _habit(deed: Deed) -> Worth | None:
    known = deed.verb in words.HABITS and is_told(deed.tail if deed.verb in words.VAGUE else deed.rest)
    often = OFTEN.search(deed.low)
    if deed.negated and deed.verb == "have" and not _LACKED.search(deed.low):
        return None
    unkept = JUDGED.search(deed.low) or (TASK.match(deed.tail) and not often)
    kept = (known or (often and is_told(deed.rest) and deed.verb not in words.MENTAL)) and not unkept
    return _told(deed, Kind.PATTERN if often else Kind.FACT, 5, kept=bool(kept))


_RULES: tuple[tuple[Callable[[Deed], object], Callable[[Deed], Worth | None]], ...] = (
    (lambda deed: deed.verb in words.TASTE, _liking),
    (lambda deed: TRIVIAL.match(deed.tail) or DANGLING.match(deed.rest) or _HANDLED.match(deed.rest), lambda _: None),
    (lambda deed: deed.verb in words.WANTING, _wanting),
    (lambda deed: deed.rest.startswith("go by "), lambda _: Worth(Kind.PERSONAL, 8)),
    (
        lambda deed: deed.verb == "need",
        lambda deed: _told(deed, Kind.FACT, 5, kept=bool(TIME.search(deed.low)) and not deed.tail.startswith(" help")),
    ),
    (
        lambda deed: re.search(r"\bno longer\b|\bany ?more\b", deed.low),
        lambda deed: _told(deed, Kind.FACT, 6, kept=is_concrete(deed.rest) and deed.verb not in words.MENTAL),
    ),
    (
        lambda deed: deed.verb in words.HOME,
        lambda deed: Worth(Kind.PERSONAL, 7) if is_concrete(re.sub(r"^ up\b", "", deed.tail)) else None,
    ),
    (
        lambda deed: deed.verb in words.WORK and not re.match(r" (?:hard|well|late|into|so|out|with|for)\b", deed.tail),
        lambda deed: _told(deed, Kind.BACKGROUND, 6, kept=is_concrete(deed.tail) and not JUDGED.search(deed.low)),
    ),
    (lambda deed: is_past(deed.verb) or deed.verb in words.SAME_PAST, _happened),
    (lambda _: True, _habit),
)
