"""Decides whether a value looks like a secret, after a name such as "password is" or `TOKEN=`.

People write about passwords far more often than they write one down. So a value must look like a secret. The less
plainly it was named, the stricter the check (`Strictness`):
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
from retentive.text.secrets.words import join_by_first_letter

MIN_PASSWORD_CHARS = 4  # characters of a password; shorter ones are words and numbers nearly always
MIN_RANDOM_CHARS, MIN_OF_EACH_KIND = 24, 3  # characters of a text by chance, and of each kind in it


class Strictness(IntEnum):
    """The degree to which a value must look like a secret to count as one."""

    PLAIN = 0
    MIXED = 1
    DENSE = 2


# Placeholders: a value is to be filled in, or was removed.
_OPENS = tuple("<$%{[(")
_OPEN = ("...", "…", "***", "•••", "xxx", "${", "{{", "$(", "%(")
_RULE = "_.*•-"  # a line to write on

# Runs on the value in lower case: a pattern that ignores case is ten times slower.
_EXAMPLE = re.compile(join_by_first_letter(words.EXAMPLES.split()))
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
    rf"""{words.join_alternatives(words.TERMS)}[-_ ]?[0-9]+[a-z]{{0,3}}(?:[-_.:/][0-9a-z]+){{0,4}}
    | [0-9]+(?:[.,:/x-][0-9]+)*{words.join_alternatives(words.SIZES)}?[+]?
    | [0-9]+[-_]?(?:bit|byte|digit|char|character|letter|word|day|month|year|step|factor|way|hour|minute)[\w-]*
    | [0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}\S* | [0-9]{{1,2}}[ap]m | {words.join_alternatives(words.PRODUCTS)}
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
    """Whether a value is to be filled in: `<password>`, `$TOKEN`, `{{key}}`, `***`, `sk-...`."""
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


def is_likely_secret(value: str, strictness: Strictness, length: int) -> bool:
    """Whether a value looks like a secret. Cheap conditions come first: most values have no digit."""
    if len(value) < length or not _is_strict_enough(value, strictness):
        return False
    return not is_placeholder(value) and (_CODE.fullmatch(value) is None or _is_random(value))


def _is_strict_enough(value: str, strictness: Strictness) -> bool:
    match strictness:
        case Strictness.PLAIN:
            return is_mixed(value) or _is_plain(value)
        case Strictness.MIXED:
            return is_mixed(value)
        case _:
            return _is_dense(value)


def is_mixed(value: str) -> bool:
    bare = value.strip(".,;:!?\"'`()*_=\\")
    if len(bare) < MIN_PASSWORD_CHARS or _LETTER.search(bare) is None:
        return False
    mixed = _DIGIT.search(bare) is not None or _NOT_WORD.search(bare) is not None
    return mixed and _TECHNICAL.fullmatch(bare) is None


def _is_random(value: str) -> bool:
    """Whether a value is too long and too mixed for a path or the name of a variable."""
    if len(value) < MIN_RANDOM_CHARS or " " in value or "(" in value:
        return False
    return all(_has_enough(value, kind) for kind in (str.isdigit, str.isupper, str.islower))


def _has_enough(value: str, is_kind: Callable[[str], bool]) -> bool:
    return len(list(islice(filter(is_kind, value), MIN_OF_EACH_KIND))) == MIN_OF_EACH_KIND


def _is_plain(value: str) -> bool:
    """Whether a value is one word of letters that sentences about passwords do not go on with."""
    word = value.strip(".,;:!?").lower()
    return len(word) >= MIN_PASSWORD_CHARS and word.isalpha() and may_begin_phrase(word) and not _NAMED.search(word)


def _is_dense(value: str) -> bool:
    mixed = _TWO_DIGITS.search(value) is not None and _TWO_LETTERS.search(value) is not None
    return mixed and _ALPHABET.fullmatch(value) is not None and _TECHNICAL.fullmatch(value) is None


def may_begin_phrase(word: str) -> bool:
    """Whether a word may begin a passphrase; "stored" and "too" begin a sentence."""
    return word not in _ORDINARY and not _ENDINGS.fullmatch(word)
