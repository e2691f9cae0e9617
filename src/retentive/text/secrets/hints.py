"""Finds the places that the rules must check, with one pattern over the lower-case text.

Every alternative begins with a letter in lower case, because then Python's engine skips to the next such letter, and
those that begin with the same one are gathered: 2.5 µs for a line of a hundred characters. Not gathered it takes 6 µs,
with one alternative that begins otherwise 15 µs, with IGNORECASE 24 µs.
"""

import re
from typing import NamedTuple

from retentive.text.secrets.words import join_by_first_letter

# "key" and "code" are in every JSON. Before a key that counts ends a word of `words.KEYS`; a code has a word before it
# or a blank after it.
_KEY = r"key(?:(?<=[adeghiknprsty2_]key)|(?<=[adeghiknprsty2_][ _\n-]key))"
_CODE = r"code(?:(?<=[ _-]code)|(?=s?\s))"

# Words that name a secret begin with one of these; `named` has the whole words. They may stand inside an identifier
# (`dbPassword`, `FOO_TOKEN`).
_NAMES = (
    r"pass(?:w|ph|co|ord|[^a-z]|\Z)", "pwd", r"pw[^a-z]", r"secret", r"token", _KEY, r"pin[^a-z]", _CODE, r"login",
    r"log in", r"sign in", r"credential", r"creds", r"cvv", r"cvc", r"combination", r"phrase", r"mnemonic", r"bearer",
    r"basic ", r"curl ", r"identified by", r"otp[^a-z]", r"authorization", r"mysql", r"mariadb", r"contribsys",
    r"snyk ", r"sonar\.",
    r"kennwort", r"zugang", r"mot de passe", r"mdp", r"contrase", r"clave", r"senha", r"palavra", r"wachtwoord",
    r"l[oö]senord", r"adgangskode", r"salasana", r"has[lł]o", r"heslo", r"jelszó", r"şifre", r"parol",
    r"парол", r"密码", r"密碼", r"口令", r"パスワード", r"暗証番号", r"비밀번호",
)  # fmt: skip

# A row of digits as long as the shortest card number; cards begin with these, and where a word begins.
_ROWS = [rf"{first}(?<![\w.+-].)(?:[ -]?[0-9]){{13}}" for first in "23456"]

_LONG_WORD = re.compile(r"[!-~]{20}")
_ADDRESS = "://"
_LETTER_TOKEN_PREFIXES = ("hf_", "api_org_")  # Hugging Face: 34 letters, often without a digit


_HINT = re.compile(join_by_first_letter((*_NAMES, *_ROWS)))
# For texts in ASCII, without the letters of other scripts, which make the engine's own look-up slower: 2.9 us, not 5.
_ASCII = [name.encode("ascii", "ignore").decode() for name in _NAMES if name[0].isascii()]
_ASCII_HINT = re.compile(join_by_first_letter((*_ASCII, *_ROWS)))
_DIGIT = re.compile("[0-9]")


class HintPlaces(NamedTuple):
    names: list[int]
    """The beginnings of words that may name a secret."""
    digits: list[int]
    """The beginnings of rows of at least fourteen digits."""
    long: bool
    """Whether there is an address, or a word of twenty characters: no token is shorter."""


def has_hint(text: str) -> bool:
    return (_ASCII_HINT if text.isascii() else _HINT).search(text.lower()) is not None or may_hold_token(text)


def may_hold_token(text: str) -> bool:
    """Whether a text may hold a token. Without an address it needs a digit, which nearly all tokens have."""
    if _DIGIT.search(text):
        return _has_long_word(text)
    return _ADDRESS in text or ("_" in text and any(prefix in text for prefix in _LETTER_TOKEN_PREFIXES))


def find_hints(text: str) -> HintPlaces:
    pattern = _ASCII_HINT if text.isascii() else _HINT
    places = [hint.start() for hint in pattern.finditer(to_lower(text))]
    if _DIGIT.search(text) is None:
        return HintPlaces(places, [], _has_long_word(text))
    digits = [place for place in places if text[place].isdigit()]
    return HintPlaces([place for place in places if not text[place].isdigit()], digits, _has_long_word(text))


def _has_long_word(text: str) -> bool:
    return _ADDRESS in text or _LONG_WORD.search(text) is not None


def to_lower(text: str) -> str:
    """Lower a text without changing its length: only the capital I with a dot becomes two letters."""
    return text.replace("İ", "I").lower()
