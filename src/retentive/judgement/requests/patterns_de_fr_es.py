"""Requests in German, French and Spanish, in their commonest forms. A kept statement stays in its language."""

import re
from typing import NamedTuple


class ForeignRequest(NamedTuple):
    is_keep: bool
    is_rule: bool
    start: int
    """Where the text to keep or forget starts in the sentence."""


_REQUEST_START = (
    r"^(?:(?:bitte|also|und|ok|okay|hallo|hey|s'il (?:te|vous) plaît|et|bonjour|salut|por favor|y|hola|oye)[\s,!]+)*"
)
_KEEP_REQUEST = re.compile(
    _REQUEST_START + r"(?:(?:merke? dir|merken sie sich|denke? daran|vergiss nicht|behalte im kopf"
    r"|notiere?(?: dir)?)(?:\s+bitte)?\s*(?:,\s*dass\s+|:\s*)|(?:souviens-toi|rappelle-toi|retiens|n'oublie pas"
    r"|n'oubliez pas|souvenez-vous|notez?)(?:\s*:\s*|\s+(?:bien )?(?:que\s+|qu'))"
    r"|(?:recuerda|recuerde|no olvides|no te olvides de|ten en cuenta|apunta|anota)(?:\s*:\s*"
    r"|\s+que\s+))(?P<what>\S.{2,})$",
    re.IGNORECASE,
)
_STANDING_RULE = re.compile(
    _REQUEST_START + r"(?P<what>(?:ab (?:jetzt|sofort|heute)|von nun an|künftig|in zukunft|désormais|dorénavant"
    r"|à partir de maintenant|a partir de ahora|de ahora en adelante|desde ahora)[\s,]+\S.{3,})$",
    re.IGNORECASE,
)
_FORGET_REQUEST = re.compile(
    _REQUEST_START
    + r"(?:vergiss(?:\s+bitte)?,?\s+(?:dass\s+)?(?=ich |mein|unser|was ich)|oublie(?:z)?\s+(?:que\s+|qu')?(?=je "
    r"|j'|mon |ma |mes |notre |nos |ce que j)|olvida(?:te)?\s+(?:de\s+)?(?:que\s+)?(?=mi |mis |nuestr|lo que|vivo"
    r"|soy|tengo|trabajo|me ))(?P<what>\S.{2,})$",
    re.IGNORECASE,
)


def find_foreign_request(sentence: str) -> ForeignRequest | None:
    if sentence.rstrip().endswith("?"):
        return None
    for pattern, is_keep, is_rule in (
        (_KEEP_REQUEST, True, False),
        (_STANDING_RULE, True, True),
        (_FORGET_REQUEST, False, False),
    ):
        if found := pattern.match(sentence):
            return ForeignRequest(is_keep, is_rule, found.start("what"))
    return None


_VERB_AT_END = re.compile(
    r"(?P<who>ich|wir|er|sie|es|(?:mein|unser|der|die|das)\w* \w+|[A-ZÄÖÜ]\w+) (?P<rest>.+) (?P<verb>\w+)[\s.!]*$"
)


def move_verb_forward(clause: str) -> str:
    """Undo the German word order after "dass": "ich in Köln wohne" -> "ich wohne in Köln". Leave other clauses."""
    found = _VERB_AT_END.match(clause) if re.match(r"(?:ich|wir|mein|unser)", clause) else None
    return f"{found['who']} {found['verb']} {found['rest']}" if found else clause
