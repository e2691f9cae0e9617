"""What a secret looks like once something was called a secret: the value after "password is" or `TOKEN=`.

People write about passwords far more often than they write one down, so a value has to earn belief. How much it must
show depends on how plainly it was named:
  plain    any word that is not one with which sentences about passwords go on ("wrong", "expired", "the");
  mixed    letters with digits or signs among them ("hunter2", "s3cret!"), but no technical term, date or unit;
  dense    long and mixed: what machines issue;
  digits   a PIN.
"""

# ruff: noqa: RUF001 - apostrophes as people type them

import re
from collections.abc import Callable
from enum import IntEnum
from itertools import islice

from retentive.text.secrets import words
from retentive.text.secrets.words import gather

SHORTEST = 4  # characters of a password; shorter ones are words and numbers nearly always
RANDOM, SOME = 24, 3  # characters of a text by chance, and of each kind in it


class Need(IntEnum):
    PLAIN = 0
    MIXED = 1
    DENSE = 2


# Open places: somebody is to fill something in, or something was taken out.
_OPENS = tuple("<$%{[(")
_OPEN = ("...", "…", "***", "•••", "xxx", "${", "{{", "$(", "%(")
_RULE = "_.*•-"  # a line to write on

# Over the value in lower case, for that is ten times as quick as a pattern that ignores case.
_EXAMPLE = re.compile(gather(words.EXAMPLES.split()))
_EXAMPLES = {"test", "fake", "sample", "default", "secret", "password", "token"}

# Code that gets a secret from somewhere, and names of things: calls, attributes, variables, files, addresses.
_CODE = re.compile(
    r"""[A-Za-z_][\w.]*[(\[].*             # getpass(), environ["X"]
    | [@&*!]?[A-Za-z_]+(?:(?:\.|::|->)[A-Za-z_]\w*)+   # config.token
    | [A-Z]+(?:_[A-Z0-9]+)+                # API_KEY
    | _*[a-z]+[0-9]?(?:_+[a-z0-9]*[a-z])+  # api_key, md5_of
    | --?[a-z].* | \w+(?:\|\w+)+ | [A-Za-z_-]+=.*
    | [A-Za-z]+(?:-[A-Za-z]+)+
    | [a-z]+(?:[A-Z][a-z]+)+               # apiKey
    | \.{0,2}/.* | ~/.* | [A-Za-z]:\\.* | [\w-]+(?:/[\w.-]+)+
    | \S+\.(?:py|js|ts|txt|json|ya?ml|md|pem|env|ini|conf|html|com|org|net|io)
    | [a-z][a-z0-9+.-]{1,12}://.*          # an address; a password in it has a rule of its own
    | [\w.+-]+@[\w-]+\.[\w.-]+             # mail
    | .*[=;{}]\s*                          # half of an expression
    | (?:arn|urn):.* | [|:\\].*
    """,
    re.VERBOSE | re.DOTALL,
)

_TECHNICAL = re.compile(
    rf"""{words.any_of(words.TERMS)}[-_ ]?[0-9]+[a-z]{{0,3}}(?:[-_.:/][0-9a-z]+){{0,4}}
    | [0-9]+(?:[.,:/x-][0-9]+)*{words.any_of(words.SIZES)}?[+]?
    | [0-9]+[-_]?(?:bit|byte|digit|char|character|letter|word|day|month|year|step|factor|way|hour|minute)[\w-]*
    | [0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}\S* | [0-9]{{1,2}}[ap]m | {words.any_of(words.PRODUCTS)}
    | [a-z]+['’][a-z]{{1,3}} | \#[0-9a-f]{{3,8}}
    | [a-z]+[0-9]*/[a-z]+[0-9]*(?:/[a-z0-9]+)*
    """,
    re.VERBOSE | re.IGNORECASE,
)

_ORDINARY = frozenset(words.ORDINARY.split())
_ENDINGS = re.compile(r".{2,}(?:ed|ing|able|ible|ful|less|ous|ive|ly|tion)")

_NAMED = re.compile("password|passwd|secret|token")  # "mypassword", "notasecret"

_ALPHABET = re.compile(r"[A-Za-z0-9_\-+/=.~!@#$%^&*:|]+")
_BASE64 = re.compile(r"[A-Za-z0-9+/=]{16}")
_DIGIT, _LETTER = re.compile(r"\d"), re.compile(r"[^\W\d_]")
_TWO_DIGITS, _TWO_LETTERS = re.compile(r"\d\D*+\d"), re.compile(r"[^\W\d_][\W\d_]*+[^\W\d_]")
_NOT_WORD = re.compile(r"[^\w\s'’.,:;/()-]")


def is_open(value: str) -> bool:
    """A place to be filled: `<password>`, `$TOKEN`, `{{key}}`, `***`, `sk-...`."""
    lower = value.lower()
    if value.startswith(_OPENS) or any(sign in lower for sign in _OPEN):
        return True
    is_one_sign = lower[:1] * len(lower) == lower
    return value != "" and (is_one_sign or not value.strip(_RULE))


def is_placeholder(value: str) -> bool:
    lower = value.lower()
    return is_open(value) or lower in _EXAMPLES or _EXAMPLE.search(lower) is not None


def has_base64(text: str) -> bool:
    return _BASE64.search(text) is not None


def is_believed(value: str, need: Need, length: int) -> bool:
    """The cheap conditions come first: most values have no digit, and the patterns for examples and code are slow."""
    if len(value) < length or not _meets(value, need):
        return False
    return not is_placeholder(value) and (_CODE.fullmatch(value) is None or _is_random(value))


def _meets(value: str, need: Need) -> bool:
    match need:
        case Need.PLAIN:
            return is_mixed(value) or _is_plain(value)
        case Need.MIXED:
            return is_mixed(value)
        case _:
            return _is_dense(value)


def is_mixed(value: str) -> bool:
    bare = value.strip(".,;:!?\"'`()*_=\\")
    if len(bare) < SHORTEST or _LETTER.search(bare) is None:
        return False
    mixed = _DIGIT.search(bare) is not None or _NOT_WORD.search(bare) is not None
    return mixed and _TECHNICAL.fullmatch(bare) is None


def _is_random(value: str) -> bool:
    """Too long and too mixed for a path or the name of a variable."""
    if len(value) < RANDOM or " " in value or "(" in value:
        return False
    return all(_has_some(value, kind) for kind in (str.isdigit, str.isupper, str.islower))


def _has_some(value: str, is_kind: Callable[[str], bool]) -> bool:
    return len(list(islice(filter(is_kind, value), SOME))) == SOME


def _is_plain(value: str) -> bool:
    """One word of letters that does not go on about passwords."""
    word = value.strip(".,;:!?").lower()
    return len(word) >= SHORTEST and word.isalpha() and may_begin(word) and not _NAMED.search(word)


def _is_dense(value: str) -> bool:
    mixed = _TWO_DIGITS.search(value) is not None and _TWO_LETTERS.search(value) is not None
    return mixed and _ALPHABET.fullmatch(value) is not None and _TECHNICAL.fullmatch(value) is None


def may_begin(word: str) -> bool:
    """A phrase; "stored" and "too" begin a sentence."""
    return word not in _ORDINARY and not _ENDINGS.fullmatch(word)
