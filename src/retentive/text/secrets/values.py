"""What a secret looks like once something was called a secret: the value after "password is" or `TOKEN=`.

People write about passwords far more often than they write one down, so a value has to earn belief. How much it must
show depends on how plainly it was named:
  plain    any word that is not one with which sentences about passwords go on ("wrong", "expired", "the");
  mixed    letters with digits or signs among them ("hunter2", "s3cret!"), but no technical term, date or unit;
  dense    long and mixed: what machines issue;
  digits   a PIN.
"""

import re
from enum import IntEnum


class Need(IntEnum):
    PLAIN = 0
    MIXED = 1
    DENSE = 2


# Open places: somebody is to fill something in, or something was taken out.
_OPEN = re.compile(
    r"\A[<$%{\[(]|\.\.\.|…|\*\*\*|•••|xxx|\$\{|\{\{|\$\(|%\(|\A(?P<one>.)(?P=one)*+\Z|\A[_.*•-]+\Z",
    re.IGNORECASE | re.DOTALL,
)
_EXAMPLE = re.compile(
    r"your|example|placeholder|change[-_ ]?me|redacted|dummy|insert|replace|removed|hidden|omitted|masked|censored"
    r"|goes[-_]?here|foobar|not[-_ ]?real|lorem|todo|_here|my[-_](?:secret|password|token|api)|abcdef|123456789abc|deadbeef"
    r"|0{8}|\A(?:test|fake|sample|default|secret|password|token)\Z",
    re.IGNORECASE,
)

# Code that gets a secret from somewhere, and names of things: calls, attributes, variables, files, addresses.
_CODE = re.compile(
    r"""[A-Za-z_][\w.]*[(\[].*             # getpass(), environ["X"]
    | [@&*!]?[A-Za-z_]+(?:(?:\.|::|->)[A-Za-z_]\w*)+   # config.token
    | [A-Z]+(?:_[A-Z0-9]+)+                # API_KEY
    | _*[a-z]+[0-9]?(?:_+[a-z0-9]*[a-z])+  # api_key, md5_of
    | --?[a-z].* | \w+(?:\|\w+)+ | [A-Za-z_-]+=.*
    | [A-Za-z]+(?:-[A-Za-z]+)+
    | [a-z]+(?:[A-Z][a-z]+)+               # apiKey
    | \.{0,2}/.* | ~/.* | [A-Za-z]:\\.* | [\w-]+(?:/[\w.-]+)+ | \S+\.(?:py|js|ts|txt|json|ya?ml|md|pem|env|ini|conf|html|com|org|net|io)
    | [a-z][a-z0-9+.-]{1,12}://.*          # an address; a password in it has a rule of its own
    | [\w.+-]+@[\w-]+\.[\w.-]+             # mail
    | .*[=;{}]\s*                          # half of an expression
    | (?:arn|urn):.* | [|:\\].*
    """,
    re.VERBOSE | re.DOTALL,
)

_TECHNICAL = re.compile(
    r"""(?:sha|aes|md|rsa|utf|base|oauth|pbkdf|argon|bcrypt|scrypt|ed|x|wpa|wps|http|ipv|rfc|iso|nist|fips|win|windows|python
        |hmac|hs|rs|es|ps|ecdsa|secp|curve|cbc|gcm|crc|crypt|ntlmv?|tlsv?|sslv?|ssh|version|v|ver|md|kerberos|level|top|mp
        |part|step|chapter|page|section|figure|table|line|item|option|type|class|group|case|col|covid|web|gpt|q|h|f|u|t|p)
        [-_ ]?[0-9]+[a-z]{0,3}(?:[-_.:/][0-9a-z]+){0,4}
    | [0-9]+(?:[.,:/-][0-9]+)*(?:st|nd|rd|th|s|m|h|d|x|k|g|w|y|%|ms|mb|gb|kb|px|am|pm|min|mins|hrs?|days?|bits?|bytes?
        |chars?|characters?|digits?|times?|years?|months?|weeks?|hours?|minutes?|letters?|words?|plus|or|and|to|€|£|\$|°|c|f)?[+]?
    | [0-9]+[-_]?(?:bit|byte|digit|char|character|letter|word|day|month|year|step|factor|way|hour|minute)[\w-]*
    | [0-9]{4}-[0-9]{2}-[0-9]{2}\S* | [0-9]{1,2}[ap]m | 2fa | mfa | 1password\S* | keepass\S* | u2f | fido2 | k8s | s3 | ec2
    | i18n | a11y | p@ssw0rd\S{0,4} | [a-z]+'[a-z]{1,3} | [a-z]+(?:['’][a-z]{1,3}) | \#[0-9a-f]{3,8} | [a-z]+[0-9]*/[a-z]+[0-9]*(?:/[a-z0-9]+)*
    | [0-9]+(?:x|/|:|\.)[0-9]+
    """,
    re.VERBOSE | re.IGNORECASE,
)

# With these a sentence about a password goes on.
_ORDINARY = frozenset(
    """
    a about above absent accepted access account actually again all almost already also always an and another any anything
    applied as asked at attached available away bad based because been before being below best better between blank both
    broken but by called can case cached certain changed checked clear common complex compromised confidential
    configured considered correct cracked crap created critical crucial current currently dead declined default defined
    different disabled done down easy easily either empty enabled encoded encrypted enforced enough entered essential
    even ever every everything exactly expired exposed extremely fair false fine fixed for forever forgotten found free
    from funny garbage generated getting given going gone good great guessable hard hashed he her here hers hidden his
    horrible how huge i if ignored immediately important impossible in inactive included incorrect initially insecure
    inside interesting invalid irrelevant is isn it its just keep kept key king known lame later leaked left less letter
    like likely limited linked literally locked logged long longer lost made mandatory mask masked maybe me meant mine
    mismatched missing more most much must my necessary needed never new next no nobody none not nothing now null
    obsolete obvious of off old okay omitted on once one only open optional or other otherwise our ours out outdated over
    particularly personal plain please pointless possible posted preferably present presented pretty private probably
    prompted protected provided public put questionable quite random rather read ready really recommended refused
    rejected remembered required reset resolved right rotated safe saved same salted secret secure securely sent sensitive
    set shared she short should shown similar simple simply since so solid some somehow someone something sometimes
    somewhere soon still stolen stored string strong stronger stupid such super sure taken temporary terrible text than
    that the their theirs them then there these they this those though through to together tomorrow too totally tricky true
    trivial under unchanged undefined underneath unique unknown unless unlikely unset until up updated upper used useless
    usually valid validated very visible vital vulnerable was weak weaker weird well what when where whether which while
    who why wide will with within without wonderful wrong you your yours yes yet awful amazing awesome annoying boring
    ridiculous silly clever smart perfect ok nice cool ours everywhere anywhere nowhere today yesterday tonight case-sensitive
    str string int integer bool boolean bytes object number float array list dict map char varchar nil none null undefined
    true false yes no on off value values field input prompt type name username user users email mail login password passwd
    pass pwd secret token key code pin hash file path env environment variable literal optional any self args kwargs
    request response data form body header config settings options params credentials auth basic bearer digest plain
    hunter letmein-not what's it's that's
    """.split()  # fmt: skip
)
_ENDINGS = re.compile(r".{2,}(?:ed|ing|able|ible|ful|less|ous|ive|ly|tion)")

_NAMED = re.compile("password|passwd|secret|token")  # "mypassword", "notasecret"

_ALPHABET = re.compile(r"[A-Za-z0-9_\-+/=.~!@#$%^&*:|]+")
_BASE64 = re.compile(r"[A-Za-z0-9+/=]{16}")
_NOT_WORD = re.compile(r"[^\w\s'’.,:;/()-]")


def is_open(value: str) -> bool:
    """A place to be filled: `<password>`, `$TOKEN`, `{{key}}`, `***`, `sk-...`."""
    return _OPEN.search(value) is not None


def is_placeholder(value: str) -> bool:
    return is_open(value) or _EXAMPLE.search(value) is not None


def has_base64(text: str) -> bool:
    return _BASE64.search(text) is not None


def is_believed(value: str, need: Need, length: int) -> bool:
    if len(value) < length or is_placeholder(value) or (_CODE.fullmatch(value) and not _is_random(value)):
        return False
    match need:
        case Need.PLAIN:
            return is_mixed(value) or _is_plain(value)
        case Need.MIXED:
            return is_mixed(value)
        case _:
            return _is_dense(value)


def is_mixed(value: str) -> bool:
    bare = value.strip(".,;:!?\"'`()*_=\\")
    if len(bare) < 4 or _TECHNICAL.fullmatch(bare) or not re.search(r"[^\W_]", bare):
        return False
    digits = any(letter.isdigit() for letter in bare)
    letters = any(letter.isalpha() for letter in bare)
    return (digits and letters) or (letters and _NOT_WORD.search(bare) is not None)


def _is_random(value: str) -> bool:
    """Too long and too mixed for a path or the name of a variable."""
    kinds = (str.islower, str.isupper, str.isdigit)
    return (
        len(value) >= 24 and all(sum(map(kind, value)) > 2 for kind in kinds) and " " not in value and "(" not in value
    )


def _is_plain(value: str) -> bool:
    """One word of letters that does not go on about passwords."""
    word = value.strip(".,;:!?").lower()
    return len(word) > 3 and word.isalpha() and may_begin(word) and not _NAMED.search(word)


def _is_dense(value: str) -> bool:
    digits = sum(letter.isdigit() for letter in value)
    letters = sum(letter.isalpha() for letter in value)
    return digits > 1 and letters > 1 and _ALPHABET.fullmatch(value) is not None and not _TECHNICAL.fullmatch(value)


def may_begin(word: str) -> bool:
    """A phrase; "stored" and "too" begin a sentence."""
    return word not in _ORDINARY and not _ENDINGS.fullmatch(word)
