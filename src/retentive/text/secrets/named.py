"""Finds values that are called a secret: a name ("password", `FOO_TOKEN`), a link ("is", `=`), and a fitting value.

Between name and link there may be a purpose ("the password for the router is ..."), or other words. The farther apart
they are, the more the value must look like a secret (`values.Strictness`). A name that is only about secrets ("password
manager", `token_count`) is ignored.
"""

# ruff: noqa: RUF001 - quotes, dashes and colons as people type them

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from retentive.text.secrets import commands, hints, values, words
from retentive.text.secrets.effort import Effort
from retentive.text.secrets.values import Strictness

SecretSpan = tuple[str, int, int]

PROSE, SETTING, LOGIN = "password in prose", "password in a setting", "login in prose"
TOKEN, PIN, CVV, PHRASE = "key or token", "PIN or code", "card security code", "passphrase"
RULES = (PROSE, SETTING, LOGIN, commands.COMMAND, TOKEN, commands.HEADER, PIN, CVV, PHRASE)

# A text with more names than this is looked at in groups, and a group that repeats is looked at once. No rule looks
# farther back or ahead than a group's window: the longest is a token of 4,096 characters after seven words.
GROUP_SIZE = 128
CHARS_BEFORE, CHARS_AFTER = 128, 5_120

_NAME_PATTERN = re.compile(
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

# After a name: the words are about secrets, and no secret follows.
_ABOUT_SECRETS = re.compile(rf"[ _-]?{words.join_alternatives(words.ABOUT)}(?![^\W_])")
# The end of an identifier: `API_KEY_PROD`, `password2`.
_NAME_SUFFIX = (
    r"(?:[_-]?(?:[0-9]{1,3}|v[0-9]|prod(?:uction)?|dev|test|staging|live|main|backup|root|admin|value))?(?![a-z0-9_-])"
)

_FOR_WORDS = words.join_alternatives(words.FOR)
_IS_WORDS = (
    r"(?:is|was|are|were|will\ be|should\ be|reads|ist|war|lautet|heißt|sind|est|était|c'est|es|era|é|è|är|er|jest|je"
    r"|это|is\ dit)"
)
_ADVERBS = (
    r"(?:\ +(?:now|still|currently|just|simply|actually|always|again|also|literally|called|jetzt|immer\ noch|maintenant"
    r"|toujours|ahora|sempre|nu)){0,2}"
)
_LINKS = rf"""
      (?P<assign> \s{{0,3}}(?:=>|:=|->|→|={{1,3}}|[:：]\*{{0,2}}|>(?=[^\s<>]{{1,100}}</))\s{{0,4}} )
    | (?P<said> (?:'s|’s|\s{{1,3}}{_IS_WORDS}{_ADVERBS}(?:\s{{0,2}}[:=])?)\s{{1,3}} )
    | (?P<to> \s{{1,3}}(?:(?:has\ been|was|is|got|to\ be)\s)?(?:(?:set|changed|reset|updated|switched)\s)?
        (?:back\s)?to\s{{1,3}}
      | [?.!,]?\s{{1,3}}it(?:['’]s|\s(?:is|was))\s
      | \s{{1,3}}-p\s? | \s{{1,3}}[–—-]{{1,2}}\s{{1,3}} | \s{{1,3}}auf\s | \s{{1,3}}\()
    | (?P<cjk> \s?(?:は|是|为|為|은|는|이|가)\s?[:：]?\s? )
"""
_VALUE_PATTERN = r"""
    (?: (?P<open>\\?["'`“”„«‘]{1,2}|\*\*)(?P<quoted>[^"'`“”»’\n\\*]{1,100})["'`“”»’\\*]
      | \\?["'`“„«]?(?P<bare>[^\s"'`“”«»]\S{0,199}) )
"""
_NAME_END = r"""\\?["'`*_\])]{0,3}"""


def _compile_link(between: str, links: str) -> re.Pattern[str]:
    return re.compile(rf"{_NAME_SUFFIX}{_NAME_END}{between}(?:{links}){_VALUE_PATTERN}", re.VERBOSE)


# The links between a name and its value, from near to far.
_NEAR_LINK = _compile_link("", _LINKS)
_PURPOSE_LINK = _compile_link(rf"\s{{1,3}}{_FOR_WORDS}(?:\s{{1,3}}[^\s:=;]{{1,30}}){{1,7}}?", _LINKS)
_FAR_LINK = _compile_link(r"(?:\s{1,3}[^\s:=;.!?]{1,30}){1,6}?", _LINKS)
_BESIDE_LINK = _compile_link("", r"(?P<beside>\s{1,3})")

# All but the first link need a blank after the name, and a value that is not plain has a digit or a sign. Both are
# quick to look for, and most names in prose have neither.
_NAME_AND_BLANK = re.compile(rf"{_NAME_SUFFIX}{_NAME_END}\s", re.VERBOSE)
_SIGN_OR_DIGIT = re.compile(r"[^A-Za-z_\s'’.,:;/()-]")  # and letters of other scripts: one set is quicker than two
_MAX_LINK_CHARS = 600  # characters: seven words of thirty, a link and the longest value, with their blanks

# For texts with too many names to look at each: name, sign and a value with letters and digits.
_QUICK_PATTERN = re.compile(
    r"""(?:(?P<password>pass(?:words?|wd|code)?|pwd)|secret|token|(?:api|secret|access|auth)[_-]?key)
    ["'\]]{0,2}\s{0,2}[:=]\s{0,2}["'`]?
    (?P<value>(?=[0-9]{0,40}[a-z])(?=[^\s0-9"'`,;]{0,40}[0-9])[^\s"'`,;]{8,200})""",
    re.VERBOSE,
)

# The longest value that is looked at; tokens may be longer and are taken whole.
_MAX_VALUE_CHARS = 200
_REST_OF_TOKEN = re.compile(r"[A-Za-z0-9_\-+/=.~%]{0,4096}+")

# Words that only code and settings stop at; prose stops at blanks.
_CODE_STOPS = re.compile(r"[\s\"'`,;&<>)\]}]")
_TRAILING_SIGNS = ".,;:!?)]}\"'`”»"
_CLAUSE_ENDS = re.compile(
    r"[.,;:!?)\]}\"'`]*(?:\s*$|\s*\n|\s+(?:and|but|for|or|so|if|on|in|btw|please|thanks|und|et|y)\b|[.,;!)]\s)"
)
_SPACED_SIGN = re.compile(r"\s+=+>?\s+")
_LINE_ENDS = re.compile(r"[.;!?&]?\s*(?:$|\n)|[;&]|\s+(?:#|//)|[.,!?] ")
_UNIT_AFTER = re.compile(rf"[ -]*{words.join_alternatives(words.UNITS)}")

_MIN_PHRASE_CHARS = 7  # characters of a quoted password of several words
_MIN_PASSWORD_DIGITS = 4
_PASSWORD_DIGITS = re.compile(r"[#*]?[0-9]{3,10}[#*]?(?![\w.,/:-]*[0-9])")
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
_LOCKS = words.join_alternatives(words.LOCKS)
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
_FUNCTION_WORDS = frozenset(words.FUNCTION.split())

_VALUE_BEFORE = re.compile(
    r"(?<!\S)(?P<value>\S{4,64})\s(?:is|was|as|ist|est|es|als|comme|como)\s"
    r"(?:my|the|our|your|his|her|their|a|das|mein|unser|le|mon|notre|la|mi|nuestra|its|dein|ihr)\s"
    r"(?:[\w'’-]{1,20}\s){0,3}$"
)
_BEFORE_LINKS = (" is ", " was ", " as ", " ist ", " est ", " es ", " als ", " comme ", " como ")
_LOGIN_PAIR = re.compile(
    r"""(?:\s(?:for|to|on|at|of|in|into|via)(?:\s[^\s:=;]{1,30}){1,5}?)?
    (?:\s(?:is|are|was|were|with|as|using|ist|sind|est|sont|son|es)|\s?[:=])\s{0,3}(?:user(?:name)?\s)?
    ["'`]?(?P<user>[\w.@+-]{2,64})["'`]?
    (?P<sign>\s?[/|:]\s?|\s(?:and|with|und|et|y|\+|-)\s(?:(?:the\s)?(?:password|pw|pass)\s)?|,\s?)
    ["'`]?(?P<value>[^\s"'`]{3,64})""",
    re.VERBOSE,
)


class LoweredText(NamedTuple):
    """A text and its lower-case form; positions are the same in both.

    Patterns that ignore the case run over the latter: Python's engine takes twice as long to ignore it.
    """

    text: str
    lower: str


def find_named(text: str, places: Sequence[int], effort: Effort) -> Iterator[SecretSpan]:
    if not places:
        return
    piece = LoweredText(text, hints.to_lower(text))
    known: dict[tuple[str, int, int], list[SecretSpan]] = {}
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


def _find_at(piece: LoweredText, places: Sequence[int]) -> Iterator[SecretSpan]:
    for place in places:
        name = _NAME_PATTERN.match(piece.lower, place)
        if not name or not name.lastgroup or _ABOUT_SECRETS.match(piece.lower, name.end()):
            continue
        if name.lastgroup in _FINDERS:
            yield from _FINDERS[name.lastgroup](piece, name)
        else:
            yield from commands.FINDERS[name.lastgroup](piece.text, name)


def _find_quickly(piece: LoweredText, start: int) -> Iterator[SecretSpan]:
    """Find values right after a name and a sign: one pattern for a text with too many names."""
    for match in _QUICK_PATTERN.finditer(piece.lower, start):
        rule, strictness = (SETTING, Strictness.MIXED) if match["password"] else (TOKEN, Strictness.DENSE)
        begin, end = match.span("value")
        if values.is_likely_secret(piece.text[begin:end], strictness, 8):
            yield rule, begin, end


def _find_password(piece: LoweredText, name: re.Match[str]) -> Iterator[SecretSpan]:
    english = _ENGLISH.fullmatch(name[0]) is not None
    yield from _take_first(_find_values(piece, name, Strictness.PLAIN if english else Strictness.MIXED, 3))
    yield from _find_value_before(piece, name)
    yield from _find_phrase_after(piece, name)


def _find_values(piece: LoweredText, name: re.Match[str], strictness: Strictness, length: int) -> Iterator[SecretSpan]:
    """Yield the values that the name may be linked to, from near to far."""
    mixed = max(strictness, Strictness.MIXED)
    for pattern in _choose_patterns(piece, name, strictness):
        is_near = pattern in (_NEAR_LINK, _PURPOSE_LINK)
        link = pattern.match(piece.lower, name.end())
        if link and (found := _check_value(piece, link, strictness if is_near else mixed, length, near=is_near)):
            yield found


def _choose_patterns(piece: LoweredText, name: re.Match[str], strictness: Strictness) -> tuple[re.Pattern[str], ...]:
    """Choose the patterns that may find a value, from near to far."""
    end = name.end()
    has_sign = _SIGN_OR_DIGIT.search(piece.lower, end, end + _MAX_LINK_CHARS) is not None
    if not has_sign and strictness != Strictness.PLAIN:
        return ()
    if _NAME_AND_BLANK.match(piece.lower, end) is None:
        return (_NEAR_LINK,)
    return (_NEAR_LINK, _PURPOSE_LINK, _FAR_LINK, _BESIDE_LINK) if has_sign else (_NEAR_LINK, _PURPOSE_LINK)


def _check_value(
    piece: LoweredText, link: re.Match[str], strictness: Strictness, length: int, *, near: bool
) -> SecretSpan | None:
    rule = SETTING if link.groupdict().get("assign") else PROSE
    if link["quoted"]:
        start, end = link.span("quoted")
        word = piece.text[start:end]
        least = strictness if rule == SETTING or near else Strictness.MIXED
        is_phrase = near and strictness == Strictness.PLAIN and _is_phrase(word)
        return (rule, start, end) if is_phrase or values.is_likely_secret(word, least, length) else None
    start = link.start("bare")
    end = _find_value_end(piece, link, setting=rule == SETTING)
    if not _is_likely_bare_secret(piece, start, end, strictness, length, link, near=near):
        return None
    rest = _REST_OF_TOKEN.match(piece.text, end) if end - start == _MAX_VALUE_CHARS else None
    return rule, start, rest.end() if rest else end


def _is_phrase(quoted: str) -> bool:
    return " " in quoted.strip() and len(quoted) >= _MIN_PHRASE_CHARS and not values.is_placeholder(quoted)


def _is_likely_bare_secret(
    piece: LoweredText, start: int, end: int, strictness: Strictness, length: int, link: re.Match[str], *, near: bool
) -> bool:
    word = piece.text[start:end]
    parts = link.groupdict()
    if near and strictness == Strictness.PLAIN and (parts.get("said") or parts.get("assign") or parts.get("cjk")):
        if _PASSWORD_DIGITS.fullmatch(word) and len(word) >= _MIN_PASSWORD_DIGITS:
            return not _UNIT_AFTER.match(piece.lower, end)
        if _may_be_plain(piece, end, link):
            return values.is_likely_secret(word, Strictness.PLAIN, length)
    return values.is_likely_secret(word, max(strictness, Strictness.MIXED), length)


def _may_be_plain(piece: LoweredText, end: int, link: re.Match[str]) -> bool:
    """Whether a plain word ends its clause or line. In code it would be in quotes, or close to its sign."""
    if not link["assign"]:
        return _CLAUSE_ENDS.match(piece.text, end) is not None
    code = link[0][:1] in "\"'`\\" or _SPACED_SIGN.fullmatch(link["assign"])
    return not code and _LINE_ENDS.match(piece.text, end) is not None


def _find_value_end(piece: LoweredText, link: re.Match[str], *, setting: bool) -> int:
    start, end = link.span("bare")
    if setting and (stop := _CODE_STOPS.search(piece.text, start + 1, end)):
        end = stop.start()
    while end - 1 > start and piece.text[end - 1] in _TRAILING_SIGNS and not (setting and piece.text[end - 1] in "!?"):
        end -= 1
    return end + 1 if piece.text[end : end + 1] == "!" else end


def _take_first(found: Iterator[SecretSpan]) -> Iterator[SecretSpan]:
    for each in found:
        yield each
        return


def _find_value_before(piece: LoweredText, name: re.Match[str]) -> Iterator[SecretSpan]:
    """Find the value before its name: "hunter2 is my password"."""
    first = max(0, name.start() - 120)
    before = _get_text_before(piece, name, 120)
    if not before.endswith(" ") or not any(link in before for link in _BEFORE_LINKS):
        return
    match = _VALUE_BEFORE.search(before)
    if match:
        start, end = first + match.start("value"), first + match.end("value")
        if values.is_likely_secret(piece.text[start:end].strip(_TRAILING_SIGNS + "“«("), Strictness.MIXED, 4):
            yield PROSE, start, end


def _get_text_before(piece: LoweredText, name: re.Match[str], size: int) -> str:
    return piece.lower[max(0, name.start() - size) : name.start()]


def _ends_with(before: str, endings: tuple[str, ...]) -> bool:
    """Whether a text ends with one of these, and perhaps a sign that joins it to the next word."""
    last = before.removesuffix("\n")
    return last.endswith(endings) or (last[-1:] in " _-" and last[:-1].endswith(endings))


def _find_pass(piece: LoweredText, name: re.Match[str]) -> Iterator[SecretSpan]:
    """Find the value after "pass", which needs a sign after it because of its other meanings."""
    link = _NEAR_LINK.match(piece.lower, name.end())
    if link and (link["assign"] or piece.text.startswith(" -p", name.end())):
        yield from _take_first(filter(None, (_check_value(piece, link, Strictness.MIXED, 4, near=True),)))


def _find_machine_secret(piece: LoweredText, name: re.Match[str]) -> Iterator[SecretSpan]:
    before = _get_text_before(piece, name, 14)
    if before.endswith(":") or (name.lastgroup == "token" and _ends_with(before, _MARKER_BEFORE)):
        return  # `:secret:x` and `X::Token` are names in a catalogue
    for _, start, end in _take_first(_find_values(piece, name, Strictness.DENSE, 8)):
        yield TOKEN, start, end


def _find_key(piece: LoweredText, name: re.Match[str]) -> Iterator[SecretSpan]:
    is_named = _ends_with(_get_text_before(piece, name, 16), _KEY_BEFORE)
    if is_named or _KEY_PREFIX.search(piece.text[max(0, name.start() - 4) : name.start()]):
        yield from _find_machine_secret(piece, name)


def _find_pin(piece: LoweredText, name: re.Match[str]) -> Iterator[SecretSpan]:
    is_upper = piece.text[name.start() : name.end()].isupper()
    is_certain = is_upper or _LOCK_BEFORE.search(_get_text_before(piece, name, 30)) is not None
    yield from _find_digits(piece, name, PIN, _PIN_DIGITS, beside=is_certain)


def _find_code(piece: LoweredText, name: re.Match[str]) -> Iterator[SecretSpan]:
    before = _get_text_before(piece, name, 30)
    if _CONFIRMATION_BEFORE.search(before):
        yield from _find_digits(piece, name, PIN, _PIN_DIGITS, beside=True)
    elif _LOCK_BEFORE.search(before) or _LOCK_AFTER.match(piece.lower, name.end()):
        rule = CVV if before.endswith("security ") else PIN
        yield from _find_digits(piece, name, rule, _CODE_VALUE, beside=True)


def _find_cvv(piece: LoweredText, name: re.Match[str]) -> Iterator[SecretSpan]:
    yield from _find_digits(piece, name, CVV, _CVV_DIGITS, beside=True)


def _find_digits(
    piece: LoweredText, name: re.Match[str], rule: str, shape: re.Pattern[str], *, beside: bool
) -> Iterator[SecretSpan]:
    for pattern in (_NEAR_LINK, _PURPOSE_LINK, _BESIDE_LINK) if beside else (_NEAR_LINK, _PURPOSE_LINK):
        link = pattern.match(piece.lower, name.end())
        start = link.start("quoted" if link["quoted"] else "bare") if link else 0
        value = shape.match(piece.text, start) if link else None
        if value and not _UNIT_AFTER.match(piece.lower, value.end()):
            yield rule, *value.span()
            return


def _find_phrase(piece: LoweredText, name: re.Match[str]) -> Iterator[SecretSpan]:
    if name[0] != "phrase" or _ends_with(_get_text_before(piece, name, 12), _SEED_BEFORE):
        if name[0].startswith("pass"):
            yield from _take_first(_find_values(piece, name, Strictness.MIXED, 4))
        yield from _find_phrase_after(piece, name)


def _find_phrase_after(piece: LoweredText, name: re.Match[str]) -> Iterator[SecretSpan]:
    link = _PHRASE_LINK.match(piece.lower, name.end())
    row = _PHRASE_WORDS.match(piece.text, link.end()) if link else None
    if not row:
        return
    found = re.findall(r"[a-z]+", row[0])
    if not _FUNCTION_WORDS.intersection(found) and (name.lastgroup == "phrase" or values.may_begin_phrase(found[0])):
        yield PHRASE, *row.span()


def _find_login(piece: LoweredText, name: re.Match[str]) -> Iterator[SecretSpan]:
    pair = _LOGIN_PAIR.match(piece.lower, name.end())
    if not pair:
        return
    start, end = pair.span("value")
    while end - 1 > start and piece.text[end - 1] in _TRAILING_SIGNS.replace("!", ""):
        end -= 1
    shared = pair["sign"].strip() in {"/", ":", "|"} and name[0][0] == "c"
    strictness = Strictness.PLAIN if shared and _CLAUSE_ENDS.match(piece.text, end) else Strictness.MIXED
    if "=" not in pair["value"] and values.is_likely_secret(piece.text[start:end], strictness, 3):
        yield LOGIN, start, end


_FINDERS: dict[str, Callable[[LoweredText, re.Match[str]], Iterator[SecretSpan]]] = {
    "password": _find_password, "pass": _find_pass, "phrase": _find_phrase, "pin": _find_pin,
    "cvv": _find_cvv, "code": _find_code, "secret": _find_machine_secret, "token": _find_machine_secret,
    "key": _find_key, "login": _find_login,
}  # fmt: skip
