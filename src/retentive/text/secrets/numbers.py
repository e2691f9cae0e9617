"""Finds card numbers: digits in the groups that cards have, the prefix of an issuer, and a check digit that is right.

Numbers without blanks count only at the lengths that most cards have (15 and 16): bar codes, times and the ids
of services are numbers of 13, 14 and 17 to 19 digits, and one in ten of them has a right check digit by chance.
"""

import re
from collections.abc import Iterator, Sequence

CARD = "card number"
RULES = (CARD,)

_SHAPE = re.compile(
    r"""(?<![\w.+-])(?:
      [0-9]{15,16}
    | [0-9]{4}(?P<sign>[ -])[0-9]{4}(?P=sign)[0-9]{4}(?P=sign)[0-9]{4}(?:(?P=sign)[0-9]{3})?
    | [0-9]{4}(?P<other>[ -])[0-9]{6}(?P=other)[0-9]{4,5}
    )(?![\w-])(?!\.[0-9])""",
    re.VERBOSE,
)

# Visa; Mastercard; American Express; Discover; JCB; Diners Club; UnionPay; Maestro as banks still issue it.
_ISSUER = re.compile(
    r"(?:4[0-9]{15}(?:[0-9]{3})?|5[1-5][0-9]{14}|2(?:22[1-9]|2[3-9][0-9]|[3-6][0-9]{2}|7[01][0-9]|720)[0-9]{12}"
    r"|3[47][0-9]{13}|6(?:011|5[0-9]{2}|4[4-9][0-9])[0-9]{12}|35(?:2[89]|[3-8][0-9])[0-9]{12}"
    r"|3(?:0[0-5]|[689][0-9])[0-9]{11}|62[0-9]{14}(?:[0-9]{3})?|6759[0-9]{12})"
)

_DOUBLED_DIGIT_SUMS = str.maketrans("0123456789", "0246813579")  # the digits of twice each, added


def find_cards(text: str, places: Sequence[int]) -> Iterator[tuple[str, int, int]]:
    known: dict[str, bool] = {}
    for place in places:
        match = _SHAPE.match(text, place)
        if match is None:
            continue
        if match[0] not in known:
            known[match[0]] = is_card(match[0].replace(" ", "").replace("-", ""))
        if known[match[0]]:
            yield CARD, *match.span()


def is_card(digits: str) -> bool:
    return _ISSUER.fullmatch(digits) is not None and len(set(digits)) > 1 and _has_valid_checksum(digits)


def _has_valid_checksum(digits: str) -> bool:
    """Luhn's sum: every second digit from the right counts twice, and its digits are added."""
    doubled = digits[-2::-2].translate(_DOUBLED_DIGIT_SUMS)
    return sum(map(int, digits[-1::-2] + doubled)) % 10 == 0
