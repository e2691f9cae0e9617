"""Passwords in command lines and request headers: `curl -u`, `mysql -p`, `Authorization:`, and keys of a few tools.

Here the position shows that the value is a password, so it may be a plain word. Only placeholders are ignored.
"""

import base64
import binascii
import re
from collections.abc import Callable, Iterator

from retentive.text.secrets import values
from retentive.text.secrets.values import Strictness

Found = tuple[str, int, int]

COMMAND, HEADER, VENDOR = "password in a command", "authorization header", "key or token"

MIN_HEADER_CHARS = 12  # shorter words after "Bearer" are prose
CHARS_OF_HEADER_NAME = 20  # `Authorization` with quotes, brackets and blanks
MIN_MYSQL_CHARS = 4  # `-pr` and `-pvf` are flags of other commands

# A command may go on in the next line after a backslash. `-sSu` is several flags in one.
_CURL = re.compile(
    r"""(?:[^\n\\]|\\\n|\\){0,300}?(?<=\s)(?:-[fgikLnNOsSv]{0,6}[uU]\s{0,3}|--(?:proxy-)?user(?:=|\s{1,3}))
    (?: "(?P<user2>[^:"\n]{0,64}):(?P<value2>[^"\n]{1,128})"
      | '(?P<user1>[^:'\n]{0,64}):(?P<value1>[^'\n]{1,128})'
      | (?P<user0>[^\s:"']{0,64}):(?!//)["']?(?P<value0>[^\s"'`]{1,128}) )""",
    re.VERBOSE,
)
# The password follows `-p` without a blank; after a blank stands the name of the database.
_MYSQL = re.compile(r"[\w.-]{0,20}(?=\s)[^\n|;&]{0,200}?\s-p[\"']?(?P<value>[^\s\"'`]{1,128})")
_PORTS = re.compile(r"[0-9.]+:[0-9]+(?:/\w+)?")

_QUOTED = re.compile(r"[\"'](?P<value>[^\"'\n]{1,100})[\"']")
_HEADER = re.compile(r"(?P<value>[A-Za-z0-9_\-+/=.~]{12,2000}+)")
# `Authorization: SSWS 00a…`, `"Authorization": "token 9f…"`, `.set("Authorization", "9f…")`; Bearer and Basic are found
# by their own names.
_AUTHORIZATION = re.compile(
    r"""["'\]]{0,2}\s{0,2}[:=,]\s{0,3}["'`]?(?!(?:bearer|basic|digest|aws4-hmac-sha256)\b)
    (?:[A-Za-z][\w-]{1,20}\s{1,2}(?:token=)?)?["']?(?P<value>[A-Za-z0-9_\-+/=.~:]{12,2000}+)""",
    re.VERBOSE | re.IGNORECASE,
)
_VENDORS = re.compile(
    r"""(?:
      contribsys(?:\.com|__COM)["']?[ =:]{1,3}["']?(?P<sidekiq>[0-9a-f]{8}:[0-9a-f]{8})
    | snyk\s(?:auth|config\sset\sapi=)\s?(?P<snyk>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})
    | sonar\.(?:login|token)["']?\s?[=:]\s?["']?(?P<sonar>[0-9a-f]{40})
    )(?![\w-])""",
    re.VERBOSE | re.IGNORECASE,
)


def find_curl_login(text: str, name: re.Match[str]) -> Iterator[Found]:
    login = _CURL.match(text, name.end() - 1)
    if login:
        quotes = next(quotes for quotes in "012" if login[f"value{quotes}"])
        if not is_example_login(login[f"user{quotes}"], login[f"value{quotes}"]):
            yield COMMAND, *login.span(f"value{quotes}")


def find_mysql_password(text: str, name: re.Match[str]) -> Iterator[Found]:
    command = _MYSQL.match(text, name.end())
    if command is None or _PORTS.fullmatch(command["value"]):
        return
    if len(command["value"]) >= MIN_MYSQL_CHARS and not values.is_placeholder(command["value"]):
        yield COMMAND, *command.span("value")


def find_sql_password(text: str, name: re.Match[str]) -> Iterator[Found]:
    value = _QUOTED.match(text, name.end())
    if value and not values.is_placeholder(value["value"]):
        yield COMMAND, *value.span("value")


def find_header_value(text: str, name: re.Match[str]) -> Iterator[Found]:
    """Find the value after `Bearer` or `Basic`."""
    value = _HEADER.match(text, name.end())
    if value is None:
        return
    login = _decode_login(value["value"]) if name[0][:2].lower() == "ba" else None
    if login:
        is_secret = not is_example_login(*login)
    else:
        is_secret = _is_scheme(text, name) and values.is_likely_secret(
            value["value"], Strictness.DENSE, MIN_HEADER_CHARS
        )
    if is_secret:
        yield HEADER, *value.span()


def _is_scheme(text: str, name: re.Match[str]) -> bool:
    """Whether a word names a scheme: "basic" does only after the name of a header."""
    before = text[max(0, name.start() - CHARS_OF_HEADER_NAME) : name.start()]
    return name[0][:2].lower() == "be" or "authorization" in before.lower()


def find_authorization(text: str, name: re.Match[str]) -> Iterator[Found]:
    """Find the value of an `Authorization` header with another scheme than Bearer and Basic, or without one."""
    header = _AUTHORIZATION.match(text, name.end())
    if header and values.is_likely_secret(header["value"], Strictness.DENSE, MIN_HEADER_CHARS):
        yield HEADER, *header.span("value")


def find_vendor_key(text: str, name: re.Match[str]) -> Iterator[Found]:
    """Find a key without a shape of its own, right after its command or setting."""
    match = _VENDORS.match(text, name.start())
    if match and match.lastgroup and not values.is_placeholder(match[match.lastgroup]):
        yield VENDOR, *match.span(match.lastgroup)


def is_example_login(user: str, password: str) -> bool:
    """Whether a login is an example of manuals, such as `user:pass` and `name:password`."""
    documented = password.lower() == "password" or (user.lower(), password.lower()) == ("user", "pass")
    return documented or values.is_open(password)


def _decode_login(value: str) -> tuple[str, str] | None:
    """Decode user and password of a `Basic` header; None if it has none."""
    try:
        decoded = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
    user, colon, password = decoded.partition(":")
    return (user, password) if colon and password and decoded.isprintable() else None


FINDERS: dict[str, Callable[[str, re.Match[str]], Iterator[Found]]] = {
    "header": find_header_value, "authorization": find_authorization, "curl": find_curl_login,
    "mysql": find_mysql_password, "sql": find_sql_password, "vendor": find_vendor_key,
}  # fmt: skip
