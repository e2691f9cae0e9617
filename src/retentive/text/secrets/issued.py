"""Finds secrets with a shape of their own: keys and tokens of services, private keys, passwords in URLs.

Common shapes are taken from detect-secrets. It is imported when a word begins like one of them, and not before: the
import takes 140 ms, because it brings an HTTP client for a verification that is never asked for here. Only the patterns
of its plugins are used, so it reaches no network and no log, and answers with places (its own scan gives texts, and for
GitHub's tokens only their first letters). What they match counts if it stands alone, for they also match inside long
base64. Ours are the shapes that it lacks or sees only in part.
"""

import re
from collections.abc import Iterator
from functools import cache

from retentive.text.secrets import commands, values
from retentive.text.secrets.words import join_by_first_letter

Found = tuple[str, int, int]

PRIVATE_KEY, URL, JWT = "private key", "password in a URL", "JSON web token"

# A shape begins where a word begins, so no text is read twice from its middle.
_OWN_SHAPES = {
    "Anthropic key": r"sk-ant-[\w-]{20,}",
    "OpenAI key": r"sk-(?:proj|svcacct|admin|None)-[\w-]{20,}|sk-[A-Za-z0-9]{32,}",
    "API key": r"sk-(?=[\w-]{0,80}[0-9])[a-z]{2,8}(?:-v[0-9])?-[\w-]{20,}|sk-(?=[a-z]{0,40}[0-9A-Z])[A-Za-z0-9]{16,31}",
    "Hugging Face token": r"(?:hf|api_org)_(?=[a-z]{0,40}[0-9A-Z])[A-Za-z0-9]{20,}",
    "Google key": r"AIza[\w-]{35}|GOCSPX-[\w-]{20,}|ya29\.[\w-]{20,}|1//0[\w-]{30,}",
    "GitHub token": r"github_pat_\w{22,}",
    "Slack token": r"xapp-[0-9]-[\w-]{20,}|xox[a-z](?:\.xox[a-z])?-[\w-]{20,}",
    "Stripe key": r"[rs]k_(?:live|test|prod)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,}",
    "Retentive token": r"rt_[\w-]{43}",
    "npm token": r"npm_[A-Za-z0-9]{36}",
    "PyPI token": r"pypi-[\w-]{50,}",
    "Azure key": r"sig=[A-Za-z0-9%+/]{40,}(?:%3D|=)",
    "AWS access key": r"ABSK[A-Za-z0-9+/]{100,300}={0,2}|bedrock-api-key-[A-Za-z0-9+/]{60,4000}={0,2}",
    "Discord token": (r"[MNO](?=[A-Za-z_-]{0,26}[0-9])[\w-]{23,27}\.[\w-]{6}\.(?=[A-Za-z_-]{0,38}[0-9])[\w-]{27,40}"),
    # An app's token is its number and its secret.
    "Facebook token": r"EAA(?=[A-Za-z]{0,60}[0-9])[A-Za-z0-9]{90,}|[0-9]{15,16}\|[\w-]{27}",
    "Fly.io token": r"fo1_[\w-]{43}|fm(?:1[ar]|2)_[A-Za-z0-9+/]{60,}={0,3}",
    "Grafana token": r"glc_[A-Za-z0-9+/]{32,400}={0,2}|gls?a_[\w-]{30,}|eyJrIjoi[A-Za-z0-9+/]{60,400}={0,2}",
    "Heroku key": r"HRKU-(?:AA[\w-]{58}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})",
    "Snyk token": r"snyk_[a-z]{3}\.[0-9a-f]{8}\.eyJ[\w-]{20,}\.[\w-]{20,}",
    "Sonar token": r"sq[apu]_[0-9a-f]{40}",
    "Sourcegraph token": r"sgp_(?:(?:[0-9a-f]{16}|local)_)?[0-9a-f]{40}|(?:slk|sgd)_[0-9a-f]{64}",
    "1Password key": (
        r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}|ops_eyJ[\w+/-]{100,}={0,3}"
    ),
    "service token": (
        r"do[opr]_v1_[0-9a-f]{64}|shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}|lin_api_\w{30,}|(?:secret|ntn)_[A-Za-z0-9]{43,}"
        r"|dapi[0-9a-f]{32}|dp\.(?:pt|st|ct)\.\w{40,}|hv[sb]\.[\w-]{24,}|gsk_[A-Za-z0-9]{40,}|xai-[A-Za-z0-9]{40,}"
        r"|pplx-[A-Za-z0-9]{40,}|r8_[A-Za-z0-9]{30,}|ATATT3[\w=-]{50,}|dckr_pat_[\w-]{20,}"
        r"|pat[A-Za-z0-9]{14}\.[0-9a-f]{64}|PMAK-[0-9a-f-]{40,}|NRAK-[A-Z0-9]{27}"
        r"|sntry[su]_[\w+/=]{40,}"
        r"|sbp_[0-9a-f]{40}|tvly-[\w-]{20,}|figd_[\w-]{30,}|AGE-SECRET-KEY-1[0-9A-Z]{58}|tskey-[\w-]{20,}"
        r"|AKCp[A-Za-z0-9]{60,}"
    ),
    # Unsigned, the third part is empty; its dot is often lost.
    JWT: r"eyJ[\w-]{8,}\.e[wy][\w-]{9,}(?:\.[\w-]*)?",
}

# Addresses that are secrets: whoever knows one may write there.
_ADDRESSES = {
    "Discord token": r"(?:\w{1,8}\.)?discord(?:app)?\.com/api/(?:v[0-9]{1,2}/)?webhooks/[0-9]{17,20}/[\w-]{60,80}",
    "Slack token": r"hooks\.slack\.com/(?:workflows|triggers)/[TE][A-Z0-9]{5,14}/[\w/]{20,200}",
    "Sumo Logic address": r"(?:[a-z0-9-]{1,30}\.){1,4}?sumologic\.com/receiver/v1/http/[\w=+/-]{40,200}",
}
_ADDRESS = re.compile(rf"https://(?:{'|'.join(f'({shape})' for shape in _ADDRESSES.values())})(?![\w-])")
_ADDRESS_NAMES = [*_ADDRESSES]

# Keys of Azure begin with anything and carry a mark at a fixed place: how many characters stand before it, and the key.
_AZURE_KEYS = {
    "Q~": (4, r"[\w~.-]{3}[0-9]Q~[\w~.-]{31,34}"),
    "ACDb": (76, r"[A-Za-z0-9+/]{82,86}=="),  # Cosmos
    "APIM": (76, r"[A-Za-z0-9+/]{82,86}=="),
    "+ABa": (76, r"[A-Za-z0-9+/]{82,86}=="),  # Batch
    "+AMC": (76, r"[A-Za-z0-9+/]{82,86}=="),  # Machine Learning
    "+ASt": (76, r"[A-Za-z0-9+/]{82,86}=="),  # Storage
    "+ASb": (33, r"[A-Za-z0-9+/]{43}="),  # Service Bus
    "+AEh": (33, r"[A-Za-z0-9+/]{43}="),  # Event Hub
    "+ARm": (33, r"[A-Za-z0-9+/]{43}="),  # Relay
    "AIoT": (33, r"[A-Za-z0-9+/]{43}="),
    "AzFu": (44, r"[\w-]{54}=="),  # Functions
    "AzSe": (42, r"[A-Za-z0-9]{52}"),  # Search
    "JQQJ9": (52, r"[A-Za-z0-9]{72,96}"),  # DevOps and most that are new
}
# A mark counts if no word goes on where its key would begin.
_AZURE_MARK = re.compile(
    "|".join(
        rf"{re.escape(mark)}(?<![\w~-].{{{before}}}{re.escape(mark)})" for mark, (before, _) in _AZURE_KEYS.items()
    )
)
# Base64 goes on over `+` and `/`; the other keys may follow a slash in an address.
_AZURE_SHAPES = {
    mark: (before, re.compile(rf"(?<![\w.~{'+/' if '+/' in shape else ''}-]){shape}(?![\w-])"))
    for mark, (before, shape) in _AZURE_KEYS.items()
}

# detect-secrets checks only texts that have one of these prefixes.
_BEGINS = re.compile(
    r"(?<![A-Za-z0-9])(?=[A-Za-z0-9])(?:A3T|AKIA|ASIA|ABIA|ACCA|gh[opsru]_|gl[a-z]{2,6}-|GR1348941|xox|hooks\.slack|SG\.|sq0csp-"
    r"|sk-|[rs]k_live|AC[0-9a-z]{32}|SK[0-9a-z]{32}|[MNO][\w-]{23,25}\.|[0-9a-z]{32}-us[0-9]|[0-9]{8,10}:[\w-]{35}"
    r"|AccountKey=|pypi-)"
)
_LIBRARY_RULES = {
    "AWS Access Key": "AWS access key",
    "Azure Storage Account access key": "Azure key",
    "Discord Bot Token": "Discord token",
    "GitHub Token": "GitHub token",
    "GitLab Token": "GitLab token",
    "Mailchimp Access Key": "Mailchimp key",
    "OpenAI Token": "OpenAI key",
    "PyPI Token": "PyPI token",
    "SendGrid API Key": "SendGrid key",
    "Slack Token": "Slack token",
    "Square OAuth Secret": "Square key",
    "Stripe Access Key": "Stripe key",
    "Telegram Bot Token": "Telegram token",
    "Twilio API Key": "Twilio key",
}
# Texts in lower case, one of which is in every token of a rule.
_NEEDED = {
    "AWS access key": ("a3t", "akia", "asia", "abia", "acca", "aws"),
    "Azure key": ("accountkey=",),
    "Discord token": (".",),
    "GitHub token": ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    "GitLab token": ("gl", "gr1348941"),
    "Mailchimp key": ("-us",),
    "OpenAI key": ("t3blbkfj",),
    "PyPI token": ("pypi-ag",),
    "SendGrid key": ("sg.",),
    "Slack token": ("xox", "hooks.slack"),
    "Square key": ("sq0csp-",),
    "Stripe key": ("k_live_",),
    "Telegram token": (":",),
    "Twilio key": ("ac", "sk"),
}
# The window around a prefix in which its patterns run, because some are unbounded. The longest of these tokens has 200
# characters; a token that begins in the last 200 of a window belongs to the next window.
_BEFORE, _AFTER, _MAX_TOKEN_CHARS = 20, 500, 200

RULES = tuple(dict.fromkeys((PRIVATE_KEY, URL, *_OWN_SHAPES, *_ADDRESSES, *_LIBRARY_RULES.values())))

# Prefixes of keys, grouped by first letter: Python's engine would try plain alternatives one after the other.
_BEGINNINGS = (
    "sk[_-]", "sig=", "shp", "sq", "sgp_", "sgd_", "slk_", "snyk_", "sntry", "sbp_", "secret_", "hf_", "hv", "api_org_",
    "AIza", "ABSK", "A3-", "AKCp", "AGE-", "ATATT3", "GOCSPX-", "github_pat_", "gl", "gsk_", "ya29", "xapp-", "xox",
    "xai-", "rk_", "rt_", "r8_", "whsec_", "npm_", "ntn_", "NRAK-", "pypi-", "pplx-", "pat", "PMAK-", "bedrock-", "EAA",
    "eyJ", "fo1_", "fm", "figd_", "HRKU-", "ops_", "do", "dapi", "dp", "dckr_", "lin_", "tvly-", "tskey-", "1//0",
    *(rf"{letter}[\w-]{{23,27}}\." for letter in "MNO"), *(rf"{digit}[0-9]{{14,15}}\|" for digit in range(10)),
)  # fmt: skip
# The second look ahead passes over short words: no shape has fewer than twenty characters.
_LONG_WORD = rf"(?<![\w.~-])(?={join_by_first_letter(_BEGINNINGS)})(?=[A-Za-z0-9][\w~+/.-]{{19}}|sig=|[0-9]{{15}})"
_SHAPES = re.compile(rf"{_LONG_WORD}(?:{'|'.join(f'({shape})' for shape in _OWN_SHAPES.values())})(?![\w-])")
_NAMES = [*_OWN_SHAPES]
_MAX_PLACEHOLDER_CHARS = 500  # the part of a token in which dots or "example" show a placeholder

_USER_AND_PASSWORD = re.compile(r"://(?P<user>[^\s/:@?#\[\]]{0,64}):(?P<password>[^\s/@\"'<>]{1,128})@[\w\[]")

_PEM = re.compile(r"-----(?P<side>BEGIN|END) (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_PUTTY = re.compile(r"Private-Lines: [0-9]{1,4}")
# Headers (`Proc-Type: 4,ENCRYPTED`), and lines of base64; in JSON a line ends with a backslash and an n.
_BODY = re.compile(r"(?:(?:\s|\\[nr])*+(?:[A-Z][A-Za-z-]{2,20}: ?[^\n\\]{1,80}(?=[\n\\])|[A-Za-z0-9+/=]{16,}+))*+")


def find_issued(text: str) -> Iterator[Found]:
    yield from _find_private_keys(text)
    for pattern, names in ((_SHAPES, _NAMES), (_ADDRESS, _ADDRESS_NAMES)):
        for match in pattern.finditer(text):
            if not values.is_placeholder(match[0][:_MAX_PLACEHOLDER_CHARS]):
                yield names[(match.lastindex or 1) - 1], *match.span()
    yield from _find_azure_keys(text)
    for match in _USER_AND_PASSWORD.finditer(text):
        if not commands.is_example_login(match["user"], match["password"]):
            yield URL, *match.span("password")
    yield from _find_by_library(text)


def _find_azure_keys(text: str) -> Iterator[Found]:
    for mark in _AZURE_MARK.finditer(text):
        before, shape = _AZURE_SHAPES[mark[0]]
        key = shape.match(text, mark.start() - before) if mark.start() >= before else None
        if key and not values.is_placeholder(key[0]):
            yield "Azure key", *key.span()


def _find_private_keys(text: str) -> Iterator[Found]:
    """Find private keys, from their first line to their last one, or as far as the text looks like a key."""
    begin: int | None = None
    for mark in _PEM.finditer(text) if "PRIVATE KEY" in text else ():
        if mark["side"] == "BEGIN":
            begin = mark.start()
            yield from _find_key_with_body(text, begin, mark.end())
        elif begin is not None:
            if values.has_base64(text[begin : mark.start()]):
                yield PRIVATE_KEY, begin, mark.end()
            begin = None
    for mark in _PUTTY.finditer(text) if "PuTTY" in text else ():
        yield from _find_key_with_body(text, mark.end(), mark.end())


def _find_key_with_body(text: str, start: int, head: int) -> Iterator[Found]:
    body = _BODY.match(text, head)
    if body and body.end() > head:
        yield PRIVATE_KEY, start, body.end()


def _find_by_library(text: str) -> Iterator[Found]:
    """Find tokens by the patterns of detect-secrets. Equal windows are searched once."""
    known: dict[str, list[Found]] = {}
    hint = _BEGINS.search(text)
    while hint:
        start, end = max(0, hint.start() - _BEFORE), hint.start() + _AFTER
        window = text[start:end]
        if window not in known:
            known[window] = [*_find_in_window(window)]
        for rule, begin, stop in known[window]:
            yield rule, start + begin, start + stop
        hint = _BEGINS.search(text, end - _MAX_TOKEN_CHARS)


def _find_in_window(window: str) -> Iterator[Found]:
    lower = window.lower()
    for rule, pattern in _load_library():
        if any(each in lower for each in _NEEDED[rule]):
            yield from ((rule, *span) for span in _find_separate(pattern, window))


def _find_separate(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    for match in pattern.finditer(text):
        start, end = match.span()
        joined = text[start - 1 : start].isalnum() or text[end : end + 1].isalnum()
        if not joined and not values.is_placeholder(match[0]):
            yield start, end


@cache
def _load_library() -> list[tuple[str, re.Pattern[str]]]:
    from detect_secrets.plugins.aws import AWSKeyDetector
    from detect_secrets.plugins.azure_storage_key import AzureStorageKeyDetector
    from detect_secrets.plugins.discord import DiscordBotTokenDetector
    from detect_secrets.plugins.github_token import GitHubTokenDetector
    from detect_secrets.plugins.gitlab_token import GitLabTokenDetector
    from detect_secrets.plugins.mailchimp import MailchimpDetector
    from detect_secrets.plugins.openai import OpenAIDetector
    from detect_secrets.plugins.pypi_token import PypiTokenDetector
    from detect_secrets.plugins.sendgrid import SendGridDetector
    from detect_secrets.plugins.slack import SlackDetector
    from detect_secrets.plugins.square_oauth import SquareOAuthDetector
    from detect_secrets.plugins.stripe import StripeDetector
    from detect_secrets.plugins.telegram_token import TelegramBotTokenDetector
    from detect_secrets.plugins.twilio import TwilioKeyDetector

    plugins = (
        AWSKeyDetector, AzureStorageKeyDetector, DiscordBotTokenDetector, GitHubTokenDetector, GitLabTokenDetector,
        MailchimpDetector, OpenAIDetector, PypiTokenDetector, SendGridDetector, SlackDetector,
        SquareOAuthDetector, StripeDetector, TelegramBotTokenDetector, TwilioKeyDetector,
    )  # fmt: skip
    return [(_LIBRARY_RULES[plugin.secret_type], pattern) for plugin in plugins for pattern in plugin.denylist]
