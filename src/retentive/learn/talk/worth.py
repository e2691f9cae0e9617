"""Does a clause state something lasting about its speaker, and of what kind is it?

The clause comes as it was said, in the first person, without fillers, its short forms in full. First what speaks
against it is looked for (`signs.py`): it asks, wishes, addresses the other, points at something that is not in it. Then
it is told by its subject: "I" and "we" by their verb (`deeds.py`), "my ..." by what is owned, others only in a few
forms. What no rule knows is left out: a wrong memory costs more than a missing one.
"""

import re

from retentive.learn.talk import vocabulary as words
from retentive.learn.talk.deeds import AUXILIARIES, FAMILY, Deed, Worth, auxiliary, being, doing, is_vital, topic
from retentive.learn.talk.signs import DANGLING, FELT, JUDGED, is_talk, is_unclear
from retentive.learn.talk.verbs import is_adverb, is_past
from retentive.learn.talk.vocabulary import is_concrete
from retentive.model import Kind

HEDGED = 0.4  # also of hearsay: less than the 0.6 of what was said plainly
LONGEST_SUBJECT = 7  # words before the verb of "my ..."

_HEDGES = re.compile(
    r"^(?:(?:i|we) (?:think|guess|believe|suppose|reckon|assume|(?:am|are) (?:pretty|fairly) sure)(?: that)?|maybe"
    r"|perhaps|probably|apparently|i am not (?:entirely )?sure,? but),? (?=\w)"
)
_HEDGING = re.compile(r"\b(?:maybe|perhaps|probably|might|possibly|apparently|not sure)\b")
_HEARSAY = re.compile(
    r"^(?:(?:my|our|a|an|the|some|one of my) [\w' -]{2,30}?|[a-z]\w+|people|someone|they) (?:just |once |recently "
    r"|also )?(?:said|says|told (?:me|us)|mentioned|claims?|claimed|thinks|believes|suggested|recommended|reckons"
    r"|heard) (?!so\b|it\b|that[.!]?$|hi\b|yes\b|no\b)(?P<told>\w.{6,})"
    r"|^i (?:just )?(?:heard|read|saw)(?: (?:on|in) [\w' ]{2,30})? that (?=(?:the|a|an|my|our|his|her|their|he|she"
    r"|they|it|there|some|many|most|all|no|\w+ (?:is|are|was|were|has|have|will|can))\b)(?P<read>.{6,})"
)
_FOUND_OUT = re.compile(
    r"^i (?:just |actually |also |finally |have )*(?:checked|called|phoned|rang|asked|confirmed|looked it up)\b"
    r"(?: [\w']+){0,5}?(?::|,| and| that) (?P<told>(?:the|it|they) \w.{6,})"
)
_AT_HAND = re.compile(
    r"\b(?:code|logs?|files?|functions?|tests?|errors?|scripts?|output|config\w*|quer(?:y|ies)|builds?|console|servers?)\b"
)
_LEAD = (
    r"(?:(?:in|on|at|because of|due to|after|since|last|this|next|for|during"
    r"|every(?= (?:\w+ )?(?:\w*day|week|weekend|month|year|morning|evening|night|summer|winter|spring|fall|autumn"
    r"|time|christmas)\b)|today|yesterday|recently|lately|currently|now|as|before|when|once|over|until|from|by"
    r"|tomorrow|tonight|these days|sometimes|usually|back|right now|nowadays|a (?:few|couple)|two|three|besides"
    r"|apart|with|to)\b[^;.]{0,60}?,? )?"
)
_ADVERBS = (
    r"(?:(?:also|really|just|still|now|always|usually|often|only|never|recently|finally|even|actually|currently"
    r"|mostly|absolutely|definitely|especially|personally|sometimes|already|once|both|all|then|truly|totally|kind of"
    r"|kinda|too|no longer|exclusively|mainly|first|rarely|officially|eventually|accidentally|typically|generally"
    r"|regularly) )*"
)
_FIRST = re.compile(
    rf"^{_LEAD}(?:i|we)(?: and (?:my|our) [\w'-]+(?: [\w'-]+)?| both"
    rf"| all)? (?P<rest>{_ADVERBS}(?P<verb>[\w'-]+)(?P<tail>.*))$"
)
_PAIR = re.compile(
    rf"^{_LEAD}(?:(?:(?:my|our) [\w'-]+(?: [\w'-]+)?|[a-z]\w+) and (?:i|me)"
    rf"|me and (?:my [\w'-]+|[a-z]\w+)) (?P<rest>{_ADVERBS}(?P<verb>[\w'-]+)(?P<tail>.*))$"
)
_OWNED = re.compile(rf"^{_LEAD}(?:one of )?(?:my|our) (?P<rest>\w.*)$")
_ABSTRACT = re.compile(
    r"^(?:mood|impact|determination|dedication|chance|outlet|escape|chill|way|day|days|bad|pleasure|point|thoughts?"
    r"|hearts?|minds?|goodness|god|questions?|guess|head|apologies|condolences|turn|fault|hope|wish|week|weekend"
    r"|time|life|lives|soul|journey|journeys|feelings?|opinion|experiences?|way|word|eyes?|face|spirits?|thing|pics?"
    r"|photos?|code|function|script|question|error|bodies|body|love|stress|motivation|passion and|last|recent|hard"
    r"|very|biggest|own|inner|mental|moments?|bond|connection|friendship|creativity|self|stomach|smile|support"
    r"|fingers)$"
)
_PREDICATES = re.compile(
    r"^(?:is|are|was|were|has|have|had|will|cannot|does|do|did|lives?|works?|loves?|likes?|hates?|enjoys?|prefers?"
    r"|plays?|teaches|studies|runs?|uses?|speaks?|goes|attends?|needs?|wants?|charges|costs?|starts?|ends?|gets?"
    r"|takes?|owns?|comes?|drives?|includes?|lasts?)$"
)
_IS_MINE = re.compile(
    r"^(?!(?:it|this|that|they|there|here|what|he|she|which|these|those|being|having"
    r"|seeing)\b)(?P<np>[\w'&. -]{2,50}?) (?:is|are|was|became|is called) (?:(?:definitely|still|also|now|probably"
    r"|one of|always|by far|currently) )*(?:my|our) (?P<noun>[\w -]+)"
)
_TO_ME = re.compile(
    r"^(?!(?:it|this|that|they|there|he|she|which|what)\b)[\w'&. -]{2,50}? (?:took over|corrected|diagnosed"
    r"|prescribed|hired|fired|promoted|offered|taught|lent|invited|assigned|transferred|gave|left|raised|proposed"
    r"|adopted|named|sold|bought|moved)\b.*\b(?:me|my|us|our)\b"
)
_DECIDED = re.compile(
    r"^(?:(?:(?:so|ok|okay|then|after [\w ,]{2,40}?),? )?(?:we|i) (?:have )?(?:both |all |finally |just "
    r"|also )?(?:decided|agreed (?:to|on|that)|chose|settled on|opted|picked|committed to"
    r"|(?:will|are going to|am going to) (?:use|go with|stick (?:with|to)|switch to|adopt|deploy|standardi[sz]e))"
    r"|let's (?:go with|use|stick (?:with|to)|switch to|standardi[sz]e)|(?:the )?(?:decision|plan|agreement) is"
    r"|going with)\b(?P<tail>.{4,})"
)
_TURNED_OUT = re.compile(
    r"^(?:the|our|my|it)\b.{0,60}?\b(?:failed|broke|crashed|worked|passed|succeeded"
    r"|went down)\b.{0,80}\b(?:because|due to|after|when|thanks to)\b"
    r"|^(?:that|this|it|\w+ing .{2,60}?|.{2,60}) (?:fixed|solved) (?:it|the \w+)"
    r"|^(?:the )?(?:fix|root cause|cause|problem|issue|bug|solution|culprit) (?:was|is|turned out)\b.{6,}"
    r"|\bturn(?:s|ed) out (?:that |to be )?\w.{5,}"
)
_PROJECT = re.compile(
    r"^(?:the|our) (?:[\w'-]+ ){0,2}?(?:project|app|application|repo|repository|server|api|database|db|service"
    r"|backend|frontend|product|stack|codebase|pipeline|cluster|website|site|company|startup|deadline|release|launch"
    r"|migration|budget|sprint|office|meeting|demo|schema|library|package|contract|invoice|client|customer|team"
    r"|pricing|price|domain|password policy|style guide|ci|staging|production)s?(?: for [\w' -]{2,30}?"
    r"| of [\w' -]{2,30}?)? (?:is|are|uses?|runs?|has|have|lives|needs|must|will|requires?|should|depends"
    r"|supports?|starts|ends|ships|deploys|listens|was|moved|costs?)\b(?P<tail>.{3,})"
)
_CALLED = re.compile(r"I want to be called [A-Z]")
_FAVOURITE = re.compile(r"(?:all-time )?(?:absolute )?favou?rite")
_NO_FAVOURITE = re.compile(r"\w+ (?:when|that|the way|how)\b")
_PEOPLE = re.compile(rf"\b(?:{words.PEOPLE})\b")
_TURNED_WELL = re.compile(rf"\bout (?:to be )?(?:(?:a|an|so|really|total|very) )*(?:{words.EVALUATIONS})\b")
_REACHED = re.compile(r"\b(?:e-?mail|phone(?: number)?|number|address)$")
_IDENTITY = re.compile(r"(?:(?:full|first|last|nick|middle) ?)?name$|pronouns|age$")


def vital(statement: str) -> bool:
    """Does it bear on the user's safety, whatever is asked?"""
    return _VITAL.search(statement) is not None


_VITAL = re.compile(r"\b(?:allerg\w+|anaphyla\w+|epilep\w+|diabeti\w+|coeliac|celiac)\b", re.IGNORECASE)


def judge(clause: str) -> Worth | None:
    """What a clause is worth; None if it is not kept."""
    low = clause.lower()
    if hearsay := _HEARSAY.match(low):
        return _hearsay(low, hearsay["told"] or hearsay["read"])
    if (found_out := _FOUND_OUT.match(low)) and not _AT_HAND.search(low):
        return None if is_talk(found_out["told"]) or JUDGED.search(low) else Worth(topic(low, Kind.FACT), 5)
    if hedge := _HEDGES.match(low):
        found = judge(clause[hedge.end() :])
        return found and found._replace(confidence=HEDGED)
    if is_talk(low) or is_unclear(low):
        return None
    found = _project(low) or _speaker(clause, low) or _owned(low) or _others(low)
    return found and (found._replace(confidence=HEDGED) if _HEDGING.search(low) else found)


def _hearsay(low: str, told: str) -> Worth | None:
    return None if is_talk(told) or JUDGED.search(told) else Worth(topic(low, Kind.FACT), 4, HEDGED)


def _project(low: str) -> Worth | None:
    if (decided := _DECIDED.match(low)) and is_concrete(decided["tail"]) and not DANGLING.match(f"x{decided['tail']}"):
        return Worth(Kind.DECISION, 6)
    if (told := _PROJECT.match(low)) and is_concrete(told["tail"]) and not JUDGED.search(low):
        return Worth(Kind.PROJECT, 5)
    return None


def _speaker(clause: str, low: str) -> Worth | None:
    found = _FIRST.match(low) or _PAIR.match(low)
    if not found or _CALLED.match(clause):
        return Worth(Kind.PERSONAL, 8) if found else None
    verb, tail = found["verb"], found["tail"]
    if verb in ("am", "are", "was", "were"):
        return being(verb, tail, clause)
    return auxiliary(verb, tail, low) if verb in AUXILIARIES else doing(Deed(verb, tail, low))


def _owned(low: str) -> Worth | None:
    found = _OWNED.match(low)
    said = found["rest"].split() if found else []
    place = _predicate(said)
    if not place:
        return None
    noun, verb, tail = " ".join(said[:place]), said[place], " ".join(said[place:])
    if _ABSTRACT.match(said[0]) or not is_concrete(tail) or FELT.search(tail) or DANGLING.match(tail):
        return None
    if _FAVOURITE.match(noun):
        return None if _NO_FAVOURITE.match(tail) else Worth(Kind.PREFERENCE, 5)
    return None if JUDGED.search(tail) else _belongs(noun, verb, low)


def _belongs(noun: str, verb: str, low: str) -> Worth:
    if FAMILY.search(noun):
        return Worth(Kind.PERSONAL, 7 if verb in ("is", "are", "has", "lives") else 5)
    if _PEOPLE.search(noun):
        return Worth(Kind.CONTACT, 5)
    if _IDENTITY.match(noun):
        return Worth(Kind.PERSONAL, 8)
    if _REACHED.search(noun):
        return Worth(Kind.PERSONAL, 7)
    return Worth(topic(low, Kind.FACT), 7 if is_vital(low) else 5)


def _predicate(said: list[str]) -> int | None:
    """Where the verb of "my ..." stands: early, with nothing before it that no name of a thing has."""
    for place, word in enumerate(said[:LONGEST_SUBJECT]):
        if place and (_PREDICATES.match(word) or is_past(word)):
            return place
        if (
            word in words.SMALL
            and not is_adverb(word)
            and word not in ("and", "of", "from", "at", "in", "for", "on", "own", "new", "old", "my")
        ):
            return None
    return None


def _others(low: str) -> Worth | None:
    if mine := _IS_MINE.match(low):
        unkept = any(_ABSTRACT.match(word) for word in mine["noun"].split()[:2]) or not is_concrete(mine["np"])
        kind = Kind.PREFERENCE if "favo" in mine["noun"] else topic(low, Kind.FACT)
        return None if unkept else Worth(kind, 5)
    if _TO_ME.match(low) and not JUDGED.search(low):
        return Worth(topic(low, Kind.FACT), 5)
    return Worth(Kind.OUTCOME, 5) if _TURNED_OUT.search(low) and not _TURNED_WELL.search(low) else None
