"""What is called a secret: a name ("password", `FOO_TOKEN`), a link ("is", `=`), and a value that looks like one.

Between name and link there may be what it is for ("the password for the router is ..."), or other words; the farther
apart they are, the more the value must show (`values.Need`). A name that is only about secrets ("password manager",
`token_count`) names none.
"""

# ruff: noqa: RUF001 - quotes, dashes and colons as people type them

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from retentive.text.secrets import commands, hints, values, words
from retentive.text.secrets.effort import Effort
from retentive.text.secrets.values import Need

Found = tuple[str, int, int]

SAID, SETTING, LOGIN = "password in prose", "password in a setting", "login in prose"
TOKEN, PIN, CVV, PHRASE = "key or token", "PIN or code", "card security code", "passphrase"
RULES = (SAID, SETTING, LOGIN, commands.COMMAND, TOKEN, commands.HEADER, PIN, CVV, PHRASE)

# A text with more names than this is looked at in groups, and a group that repeats is looked at once. No rule looks
# farther back or ahead than a group's window: the longest is a token of 4,096 characters after seven words.
GROUP_SIZE = 128
CHARS_BEFORE, CHARS_AFTER = 128, 5_120

_NAME = re.compile(
    r"""
      (?P<password>
          pass(?:words?|wd|codes?|wort|ord) | pwd | (?<![a-z])pw(?![a-z])
        | kennwort | zugangscode | mots?\ de\ passe | (?<![a-z])mdp | contrase[ñn]as? | (?<![a-z])clave | senhas?
        | palavra[-\ ]passe | wachtwoord | l[öo]senord | adgangskode | salasana | has[łl]o | heslo | jelszó | şifre
        | parola? | парол\w{0,3} | 密[码碼] | 口令 | パスワード | 暗証番号 | 비밀번호 )
    | (?P<phrase> passphrases? | (?<![a-z])phrase | mnemonic )
    | (?P<pass> pass )
    | (?P<pin> (?<![a-z])pin(?:\ ?(?:code|number))? | (?<![a-z])otp )
    | (?P<cvv> (?<![a-z])cv[vc]2? )
    | (?P<code> (?<![a-z])codes? | (?<![a-z])combination )
    | (?P<secret> secrets?(?:[\ _-]?(?:access[\ _-]?)?key(?:[\ _-]base)?)? )
    | (?P<token> tokens? )
    | (?P<key> keys? )
    | (?P<login> (?<![a-z])(?:log-?in|log\ in|sign\ in|credentials?|creds)(?:\ (?:info|details|data))? )
    | (?P<header> (?<![a-z])(?:bearer|basic)\ + )
    | (?P<authorization> (?<![a-z])(?:proxy-)?authorization )
    | (?P<curl> (?<![a-z])curl\  )
    | (?P<mysql> (?<![a-z])(?:mysql|mariadb) )
    | (?P<vendor> contribsys | snyk\ (?:auth|config\ set\ api) | sonar\.(?:login|token) )
    | (?P<sql> identified\ by\  )
    """,
    re.VERBOSE,
)
_ENGLISH = re.compile(r"pass(?:words?|wd|codes?)|pwd|pw")

# After a name: it is about secrets, and none itself.
_ABOUT = re.compile(rf"[ _-]?{words.any_of(words.ABOUT)}(?![^\W_])")
# The end of an identifier: `API_KEY_PROD`, `password2`.
_REST = (
    r"(?:[_-]?(?:[0-9]{1,3}|v[0-9]|prod(?:uction)?|dev|test|staging|live|main|backup|root|admin|value))?(?![a-z0-9_-])"
)

_FOR = words.any_of(words.FOR)
_IS = (
    r"(?:is|was|are|were|will\ be|should\ be|reads|ist|war|lautet|heißt|sind|est|était|c'est|es|era|é|è|är|er|jest|je"
    r"|это|is\ dit)"
)
_THEN = (
    r"(?:\ +(?:now|still|currently|just|simply|actually|always|again|also|literally|called|jetzt|immer\ noch|maintenant"
    r"|toujours|ahora|sempre|nu)){0,2}"
)
_LINKS = rf"""
      (?P<assign> \s{{0,3}}(?:=>|:=|->|→|={{1,3}}|[:：]\*{{0,2}}|>(?=[^\s<>]{{1,100}}</))\s{{0,4}} )
    | (?P<said> (?:'s|’s|\s{{1,3}}{_IS}{_THEN}(?:\s{{0,2}}[:=])?)\s{{1,3}} )
    | (?P<to> \s{{1,3}}(?:(?:has\ been|was|is|got|to\ be)\s)?(?:(?:set|changed|reset|updated|switched)\s)?
        (?:back\s)?to\s{{1,3}}
      | [?.!,]?\s{{1,3}}it(?:['’]s|\s(?:is|was))\s
      | \s{{1,3}}-p\s? | \s{{1,3}}[–—-]{{1,2}}\s{{1,3}} | \s{{1,3}}auf\s | \s{{1,3}}\()
    | (?P<cjk> \s?(?:は|是|为|為|은|는|이|가)\s?[:：]?\s? )
"""
_VALUE = r"""
    (?: (?P<open>\\?["'`“”„«‘]{1,2}|\*\*)(?P<quoted>[^"'`“”»’\n\\*]{1,100})["'`“”»’\\*]
      | \\?["'`“„«]?(?P<bare>[^\s"'`“”«»]\S{0,199}) )
"""
_END = r"""\\?["'`*_\])]{0,3}"""


def _pattern(between: str, links: str) -> re.Pattern[str]:
    return re.compile(rf"{_REST}{_END}{between}(?:{links}){_VALUE}", re.VERBOSE)


# From near to far.
_NEAR = _pattern("", _LINKS)
_FOR_IT = _pattern(rf"\s{{1,3}}{_FOR}(?:\s{{1,3}}[^\s:=;]{{1,30}}){{1,7}}?", _LINKS)
_FAR = _pattern(r"(?:\s{1,3}[^\s:=;.!?]{1,30}){1,6}?", _LINKS)
_BESIDE = _pattern("", r"(?P<beside>\s{1,3})")

# All but the first need a blank after the name, and a value that is not plain has a digit or a sign. Both are quick to
# look for, and most names in prose have neither.
_BLANK = re.compile(rf"{_REST}{_END}\s", re.VERBOSE)
_SIGN = re.compile(r"[^A-Za-z_\s'’.,:;/()-]")  # and letters of other scripts: one set is quicker than two
_REACH = 600  # characters: seven words of thirty, a link and the longest value, with their blanks

# For texts with too many names to look at each: name, sign and a value with letters and digits.
_QUICK = re.compile(
    r"""(?:(?P<password>pass(?:words?|wd|code)?|pwd)|secret|token|(?:api|secret|access|auth)[_-]?key)
    ["'\]]{0,2}\s{0,2}[:=]\s{0,2}["'`]?
    (?P<value>(?=[0-9]{0,40}[a-z])(?=[^\s0-9"'`,;]{0,40}[0-9])[^\s"'`,;]{8,200})""",
    re.VERBOSE,
)

# The longest value that is looked at; tokens may be longer and are taken whole.
_LOOKED_AT = 200
_REST_OF_TOKEN = re.compile(r"[A-Za-z0-9_\-+/=.~%]{0,4096}+")

# Words that only code and settings stop at; prose stops at blanks.
_STOPS = re.compile(r"[\s\"'`,;&<>)\]}]")
_TRAIL = ".,;:!?)]}\"'`”»"
_CLAUSE_ENDS = re.compile(
    r"[.,;:!?)\]}\"'`]*(?:\s*$|\s*\n|\s+(?:and|but|for|or|so|if|on|in|btw|please|thanks|und|et|y)\b|[.,;!)]\s)"
)
_SPACED_SIGN = re.compile(r"\s+=+>?\s+")
_LINE_ENDS = re.compile(r"[.;!?&]?\s*(?:$|\n)|[;&]|\s+(?:#|//)|[.,!?] ")
_UNITS = re.compile(rf"[ -]*{words.any_of(words.UNITS)}")

_SAYING = 7  # characters of a quoted password of several words
_DIGITS_OF_A_PASSWORD = 4
_DIGITS = re.compile(r"[#*]?[0-9]{3,10}[#*]?(?![\w.,/:-]*[0-9])")
_PIN_DIGITS = re.compile(
    r"[#*]?(?:[0-9]{4,8}|[0-9]{2}[ -][0-9]{2}(?:[ -][0-9]{2})?|[0-9]{3}[ -][0-9]{3})[#*]?(?![\w/:-]|[.,][0-9])"
)
_CODE_VALUE = re.compile(
    r"(?:[#*]?[0-9]{3,8}[#*]?|[0-9]{1,2}(?:[ -][0-9]{1,2}){2,3}|[0-9]{3}[ -][0-9]{3}"
    r"|(?=[A-Za-z-]*[0-9])[A-Z0-9][A-Za-z0-9-]{3,19})"
    r"(?![\w/:-]|[.,][0-9])"
)
# "Confirmation code": digits are sent to prove who somebody is; anything else is the code of a booking.
_CONFIRMATION_BEFORE = re.compile(r"\bconfirmation[ _-]$")
_CVV_DIGITS = re.compile(r"[0-9]{3,4}(?![\w.,/:-]*[0-9])")
_LOCKS = words.any_of(words.LOCKS)
_LOCK_BEFORE = re.compile(rf"\b{_LOCKS}(?:['’]s)?[ _-](?:[\w-]{{1,12}} )?$")
_LOCK_AFTER = re.compile(rf"\s(?:for|to|of|on|at|de|du|del|der|vom|von)\s(?:\w{{1,10}}\s){{0,2}}{_LOCKS}\b")
_KEY_BEFORE = tuple(words.KEYS.split())
_KEY_PREFIX = re.compile(r"[A-Z]{2}_[ _-]?$")
_MARKER_BEFORE = tuple(words.MARKERS.split())
_SEED_BEFORE = ("seed", "recovery", "secret", "backup", "wallet", "mnemonic", "pass")
_PHRASE_WORDS = re.compile(
    r"[\"'`“(]?(?:[0-9]{1,2}[.)] ?)?[a-z]{3,12}(?:[ ,]{1,3}(?:[0-9]{1,2}[.)] ?)?[a-z]{3,12}){3,23}(?![\w'’])"
)
_PHRASE_LINK = re.compile(r"s?(?:\s(?:for|of|to)(?:\s[^\s:=;]{1,20}){1,5}?)?\s?(?:[:=]|\sis:?|\swas:?|\sare:?)\s{1,3}")
_FUNCTION = frozenset(words.FUNCTION.split())

_BEFORE = re.compile(
    r"(?<!\S)(?P<value>\S{4,64})\s(?:is|was|as|ist|est|es|als|comme|como)\s"
    r"(?:my|the|our|your|his|her|their|a|das|mein|unser|le|mon|notre|la|mi|nuestra|its|dein|ihr)\s"
    r"(?:[\w'’-]{1,20}\s){0,3}$"
)
_BEFORE_LINKS = (" is ", " was ", " as ", " ist ", " est ", " es ", " als ", " comme ", " como ")
_PAIR = re.compile(
    r"""(?:\s(?:for|to|on|at|of|in|into|via)(?:\s[^\s:=;]{1,30}){1,5}?)?
    (?:\s(?:is|are|was|were|with|as|using|ist|sind|est|sont|son|es)|\s?[:=])\s{0,3}(?:user(?:name)?\s)?
    ["'`]?(?P<user>[\w.@+-]{2,64})["'`]?
    (?P<sign>\s?[/|:]\s?|\s(?:and|with|und|et|y|\+|-)\s(?:(?:the\s)?(?:password|pw|pass)\s)?|,\s?)
    ["'`]?(?P<value>[^\s"'`]{3,64})""",
    re.VERBOSE,
)


class Piece(NamedTuple):
    """A text to look at, and the same in lower case, with the same places.

    Patterns that ignore the case run over the latter: Python's engine takes twice as long to ignore it.
    """

    text: str
    lower: str


def find(text: str, places: Sequence[int], effort: Effort) -> Iterator[Found]:
    if not places:
        return
    piece = Piece(text, hints.lower(text))
    known: dict[tuple[str, int, int], list[Found]] = {}
    for first in range(0, len(places), GROUP_SIZE):
        group = places[first : first + GROUP_SIZE]
        start = max(0, group[0] - CHARS_BEFORE)
        key = (text[start : group[-1] + CHARS_AFTER], group[0] - start, len(group))
        if key not in known and not effort.may_look_closely(len(group)):
            yield from _find_quickly(piece, group[0])
            return
        if key not in known:
            known[key] = [(rule, begin - start, end - start) for rule, begin, end in _find_at(piece, group)]
        for rule, begin, end in known[key]:
            yield rule, start + begin, start + end


def _find_at(piece: Piece, places: Sequence[int]) -> Iterator[Found]:
    for place in places:
        name = _NAME.match(piece.lower, place)
        if not name or not name.lastgroup or _ABOUT.match(piece.lower, name.end()):
            continue
        if name.lastgroup in _FINDERS:
            yield from _FINDERS[name.lastgroup](piece, name)
        else:
            yield from commands.FINDERS[name.lastgroup](piece.text, name)


def _find_quickly(piece: Piece, start: int) -> Iterator[Found]:
    """What follows its name and a sign directly: one pattern for a text that has too many names."""
    for match in _QUICK.finditer(piece.lower, start):
        rule, need = (SETTING, Need.MIXED) if match["password"] else (TOKEN, Need.DENSE)
        begin, end = match.span("value")
        if values.is_believed(piece.text[begin:end], need, 8):
            yield rule, begin, end


def _password(piece: Piece, name: re.Match[str]) -> Iterator[Found]:
    english = _ENGLISH.fullmatch(name[0]) is not None
    yield from _first(_values(piece, name, Need.PLAIN if english else Need.MIXED, 3))
    yield from _said_before(piece, name)
    yield from _phrase_after(piece, name)


def _values(piece: Piece, name: re.Match[str], need: Need, length: int) -> Iterator[Found]:
    """What the name may be linked to, from near to far."""
    mixed = max(need, Need.MIXED)
    for pattern in _patterns_for(piece, name, need):
        is_near = pattern in (_NEAR, _FOR_IT)
        link = pattern.match(piece.lower, name.end())
        if link and (found := _value(piece, link, need if is_near else mixed, length, near=is_near)):
            yield found


def _patterns_for(piece: Piece, name: re.Match[str], need: Need) -> tuple[re.Pattern[str], ...]:
    """Those that may find a value, from near to far."""
    end = name.end()
    has_sign = _SIGN.search(piece.lower, end, end + _REACH) is not None
    if not has_sign and need != Need.PLAIN:
        return ()
    if _BLANK.match(piece.lower, end) is None:
        return (_NEAR,)
    return (_NEAR, _FOR_IT, _FAR, _BESIDE) if has_sign else (_NEAR, _FOR_IT)


def _value(piece: Piece, link: re.Match[str], need: Need, length: int, *, near: bool) -> Found | None:
    rule = SETTING if link.groupdict().get("assign") else SAID
    if link["quoted"]:
        start, end = link.span("quoted")
        word = piece.text[start:end]
        least = need if rule == SETTING or near else Need.MIXED
        believed = values.is_believed(word, least, length) or (near and need == Need.PLAIN and _is_saying(word))
        return (rule, start, end) if believed else None
    start = link.start("bare")
    end = _end_of(piece, link, setting=rule == SETTING)
    if not _is_bare(piece, start, end, need, length, link, near=near):
        return None
    rest = _REST_OF_TOKEN.match(piece.text, end) if end - start == _LOOKED_AT else None
    return rule, start, rest.end() if rest else end


def _is_saying(quoted: str) -> bool:
    return " " in quoted.strip() and len(quoted) >= _SAYING and not values.is_placeholder(quoted)


def _is_bare(piece: Piece, start: int, end: int, need: Need, length: int, link: re.Match[str], *, near: bool) -> bool:
    word = piece.text[start:end]
    parts = link.groupdict()
    if near and need == Need.PLAIN and (parts.get("said") or parts.get("assign") or parts.get("cjk")):
        if _DIGITS.fullmatch(word) and len(word) >= _DIGITS_OF_A_PASSWORD:
            return not _UNITS.match(piece.lower, end)
        if _may_be_plain(piece, end, link):
            return values.is_believed(word, Need.PLAIN, length)
    return values.is_believed(word, max(need, Need.MIXED), length)


def _may_be_plain(piece: Piece, end: int, link: re.Match[str]) -> bool:
    """The word is all that follows. In code it would stand in quotes, or close to its sign."""
    if not link["assign"]:
        return _CLAUSE_ENDS.match(piece.text, end) is not None
    code = link[0][:1] in "\"'`\\" or _SPACED_SIGN.fullmatch(link["assign"])
    return not code and _LINE_ENDS.match(piece.text, end) is not None


def _end_of(piece: Piece, link: re.Match[str], *, setting: bool) -> int:
    start, end = link.span("bare")
    if setting and (stop := _STOPS.search(piece.text, start + 1, end)):
        end = stop.start()
    while end - 1 > start and piece.text[end - 1] in _TRAIL and not (setting and piece.text[end - 1] in "!?"):
        end -= 1
    return end + 1 if piece.text[end : end + 1] == "!" else end


def _first(found: Iterator[Found]) -> Iterator[Found]:
    for each in found:
        yield each
        return


def _said_before(piece: Piece, name: re.Match[str]) -> Iterator[Found]:
    """As in: hunter2 is my password."""
    first = max(0, name.start() - 120)
    before = _text_before(piece, name, 120)
    if not before.endswith(" ") or not any(link in before for link in _BEFORE_LINKS):
        return
    match = _BEFORE.search(before)
    if match:
        start, end = first + match.start("value"), first + match.end("value")
        if values.is_believed(piece.text[start:end].strip(_TRAIL + "“«("), Need.MIXED, 4):
            yield SAID, start, end


def _text_before(piece: Piece, name: re.Match[str], size: int) -> str:
    return piece.lower[max(0, name.start() - size) : name.start()]


def _ends_with(before: str, endings: tuple[str, ...]) -> bool:
    """Whether a text ends with one of these, and perhaps a sign that joins it to the next word."""
    last = before.removesuffix("\n")
    return last.endswith(endings) or (last[-1:] in " _-" and last[:-1].endswith(endings))


def _pass(piece: Piece, name: re.Match[str]) -> Iterator[Found]:
    """The word alone means other things too; it needs a sign after it."""
    link = _NEAR.match(piece.lower, name.end())
    if link and (link["assign"] or piece.text.startswith(" -p", name.end())):
        yield from _first(filter(None, (_value(piece, link, Need.MIXED, 4, near=True),)))


def _machine(piece: Piece, name: re.Match[str]) -> Iterator[Found]:
    before = _text_before(piece, name, 14)
    if before.endswith(":") or (name.lastgroup == "token" and _ends_with(before, _MARKER_BEFORE)):
        return  # `:secret:x` and `X::Token` are names in a catalogue
    for _, start, end in _first(_values(piece, name, Need.DENSE, 8)):
        yield TOKEN, start, end


def _key(piece: Piece, name: re.Match[str]) -> Iterator[Found]:
    is_named = _ends_with(_text_before(piece, name, 16), _KEY_BEFORE)
    if is_named or _KEY_PREFIX.search(piece.text[max(0, name.start() - 4) : name.start()]):
        yield from _machine(piece, name)


def _pin(piece: Piece, name: re.Match[str]) -> Iterator[Found]:
    is_upper = piece.text[name.start() : name.end()].isupper()
    is_certain = is_upper or _LOCK_BEFORE.search(_text_before(piece, name, 30)) is not None
    yield from _digits(piece, name, PIN, _PIN_DIGITS, beside=is_certain)


def _code(piece: Piece, name: re.Match[str]) -> Iterator[Found]:
    before = _text_before(piece, name, 30)
    if _CONFIRMATION_BEFORE.search(before):
        yield from _digits(piece, name, PIN, _PIN_DIGITS, beside=True)
    elif _LOCK_BEFORE.search(before) or _LOCK_AFTER.match(piece.lower, name.end()):
        rule = CVV if before.endswith("security ") else PIN
        yield from _digits(piece, name, rule, _CODE_VALUE, beside=True)


def _cvv(piece: Piece, name: re.Match[str]) -> Iterator[Found]:
    yield from _digits(piece, name, CVV, _CVV_DIGITS, beside=True)


def _digits(piece: Piece, name: re.Match[str], rule: str, shape: re.Pattern[str], *, beside: bool) -> Iterator[Found]:
    for pattern in (_NEAR, _FOR_IT, _BESIDE) if beside else (_NEAR, _FOR_IT):
        link = pattern.match(piece.lower, name.end())
        start = link.start("quoted" if link["quoted"] else "bare") if link else 0
        value = shape.match(piece.text, start) if link else None
        if value and not _UNITS.match(piece.lower, value.end()):
            yield rule, *value.span()
            return


def _phrase(piece: Piece, name: re.Match[str]) -> Iterator[Found]:
    if name[0] != "phrase" or _ends_with(_text_before(piece, name, 12), _SEED_BEFORE):
        if name[0].startswith("pass"):
            yield from _first(_values(piece, name, Need.MIXED, 4))
        yield from _phrase_after(piece, name)


def _phrase_after(piece: Piece, name: re.Match[str]) -> Iterator[Found]:
    link = _PHRASE_LINK.match(piece.lower, name.end())
    row = _PHRASE_WORDS.match(piece.text, link.end()) if link else None
    if not row:
        return
    said = re.findall(r"[a-z]+", row[0])
    if not _FUNCTION.intersection(said) and (name.lastgroup == "phrase" or values.may_begin(said[0])):
        yield PHRASE, *row.span()


def _login(piece: Piece, name: re.Match[str]) -> Iterator[Found]:
    pair = _PAIR.match(piece.lower, name.end())
    if not pair:
        return
    start, end = pair.span("value")
    while end - 1 > start and piece.text[end - 1] in _TRAIL.replace("!", ""):
        end -= 1
    shared = pair["sign"].strip() in {"/", ":", "|"} and name[0][0] == "c"
    need = Need.PLAIN if shared and _CLAUSE_ENDS.match(piece.text, end) else Need.MIXED
    if "=" not in pair["value"] and values.is_believed(piece.text[start:end], need, 3):
        yield LOGIN, start, end


_FINDERS: dict[str, Callable[[Piece, re.Match[str]], Iterator[Found]]] = {
    "password": _password, "pass": _pass, "phrase": _phrase, "pin": _pin, "cvv": _cvv, "code": _code,
    "secret": _machine, "token": _machine, "key": _key, "login": _login,
}  # fmt: skip
