"""Parse chats as plain text: `Name: text`, and the lines that follow belong to it.

A time may stand before the name, in one of these ways; the last two are WhatsApp's:
    [2024-05-01 10:32] Anna: text
    2024-05-01T10:32:00Z Anna: text
    01/05/2024, 10:32 - Anna: text
    [01/05/2024, 10:32:11] Anna: text
Doubtful cases are decided so:
  a. 01/05/2024 is the first of May: the day comes first, unless a date of the same file (5/13/2024) shows otherwise.
  b. A time without a zone is UTC.
  c. Where the first line has a time, a line without one never begins a message. Where none has, `Note: ...` inside a
     message reads as a person called Note; nothing tells them apart.
  d. A line with a time in brackets or before a dash, but without a name, is a notice of the program: role system.
  e. A name is at most 40 characters and four words, and a blank follows its colon.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from typing import NamedTuple

from retentive.conversations.formats.values import ParsedConversation, clean_name
from retentive.errors import Invalid
from retentive.model import Message, Role

MAX_NAME_CHARS, MAX_NAME_WORDS = 40, 4  # what comes before a colon is a sentence from here on
MONTHS = 12

_ROLE_WORDS: Mapping[str, Role] = {
    **dict.fromkeys("user human me myself i you".split(), Role.USER),
    **dict.fromkeys(["assistant", "ai", "ai assistant", "bot", "chatbot", "agent", "model"], Role.ASSISTANT),
    "system": Role.SYSTEM,
    "tool": Role.TOOL,
}
_MODEL_NAME = re.compile(  # with a version, as in GPT-4o or Claude 3.5 Sonnet; Claude Monet is a person
    r"(?:claude|chatgpt|gpt|gemini|bard|copilot|llama|mistral|deepseek|grok|qwen|perplexity)"
    r"(?:[ -]?\d[\w.-]*(?: \w+)?)?"
)
_MARKS = "\u200e\u200f\u202a\u202b\u202c\u2068\u2069\ufeff"  # WhatsApp's marks of direction
_STAMP = re.compile(
    r"(?P<bracket>\[)?(?P<a>\d{4}|\d{1,2})[-/.](?P<b>\d{1,2})[-/.](?P<c>\d{4}|\d{1,2})(?:T|,?\s+)"
    r"(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<fraction>\d+))?)?"
    r"(?:\s?(?P<half>[ap])\.?\s?m\.?)?(?P<zone>Z|[+-]\d\d:?\d\d)?"
    r"(?(bracket)\])(?:\s*(?P<dash>[-\u2013\u2014])\s+|:?\s+)",
    re.IGNORECASE,
)
_NAME = re.compile("([^:\uff1a]+)(?::(?:[ \t]|$)|\uff1a[ \t]?)")
_SENTENCE = re.compile(r"[\[\]<>{}|#*`=\\/?!;,\"]|\d+[.)]\s")
_TIME = re.compile(r"\d[\d\s.,h-]*(?:[ap]\.?m\.?|h|uhr)?", re.IGNORECASE)
_SCHEMES = {"http", "https", "ftp", "sftp", "file", "mailto", "ws", "wss", "ssh"}


class _Turn(NamedTuple):
    """A message: its time, its name, and its lines."""

    stamp: re.Match[str] | None
    name: str | None
    lines: list[str]


def is_chat(text: str) -> bool:
    """Return whether the first line begins a message, and any message has a name."""
    lines = text.split("\n")
    return _parse_turn(lines[0]) is not None and any(turn.name for turn in map(_parse_turn, lines) if turn)


def parse_conversation(text: str, place: str, me: str | None = None) -> ParsedConversation:
    """Parse a file as one conversation. `me` is the name of the user."""
    turns = _split_turns(text, place)
    roles = _assign_roles([turn.name for turn in turns if turn.name], me, place)
    month_first = _is_month_first(turn.stamp for turn in turns if turn.stamp)
    return ParsedConversation(None, None, None, [_make_message(turn, roles, month_first=month_first) for turn in turns])


def _split_turns(text: str, place: str) -> list[_Turn]:
    turns: list[_Turn] = []
    for line in text.split("\n"):
        begun = _parse_turn(line)
        if begun and (begun.stamp or not (turns and turns[0].stamp)):
            turns.append(begun)
        elif turns:
            turns[-1].lines.append(line)
        else:
            hint = "Write each message as `Name: text`, and remove what comes before the first."
            raise Invalid(f"{place}: the first line does not say who speaks: {line[:40]!r}", hint)
    return turns


def _parse_turn(line: str) -> _Turn | None:
    """Return the message that begins with this line; None if none does."""
    bare = line.lstrip(_MARKS)
    stamp = _match_stamp(bare)
    rest = bare[stamp.end() :].lstrip(_MARKS) if stamp else bare
    named = _NAME.match(rest)
    name = named[1].strip().strip(_MARKS) if named else ""
    if named and (_is_short(name) if stamp else _is_name(name) and not rest[0].isspace()):
        return _Turn(stamp, name, [rest[named.end() :]])
    return _Turn(stamp, None, [rest]) if stamp and (stamp["bracket"] or stamp["dash"]) else None


def _match_stamp(line: str) -> re.Match[str] | None:
    found = _STAMP.match(line)
    return found if found and _parse_time(found) else None


def _is_short(name: str) -> bool:
    return 0 < len(name) <= MAX_NAME_CHARS and len(name.split()) <= MAX_NAME_WORDS


def _is_name(name: str) -> bool:
    """Return whether it names a person or a role, and is not the start of a sentence, a list, an address or a time."""
    return (
        _is_short(name)
        and (name[0].isalnum() or name[0] in "@+~_")
        and (name[0] == "+" or any(map(str.isalpha, name)))
        and not (_SENTENCE.search(name) or _TIME.fullmatch(name))
        and name.casefold() not in _SCHEMES
    )


def _is_month_first(stamps: Iterable[re.Match[str]]) -> bool:
    """Return whether a date of the file must have the month first, and none must have the day first."""
    pairs = [(int(stamp["a"]), int(stamp["b"])) for stamp in stamps if len(stamp["a"]) <= 2]  # noqa: PLR2004
    return any(b > MONTHS for _, b in pairs) and not any(a > MONTHS for a, _ in pairs)


def _parse_time(stamp: re.Match[str], *, month_first: bool = False) -> datetime | None:
    """Return the time of a stamp; None if there is no such day or hour."""
    a, b, c = (int(stamp[part]) for part in "abc")
    if len(stamp["a"]) == 4:  # noqa: PLR2004
        year, month, day = a, b, c
    else:
        year = c + 2000 if len(stamp["c"]) <= 2 else c  # noqa: PLR2004
        day, month = (b, a) if month_first or b > MONTHS else (a, b)
    try:
        return datetime(year, month, day, *_parse_clock(stamp), tzinfo=_parse_zone(stamp)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _parse_clock(stamp: re.Match[str]) -> tuple[int, int, int, int]:
    hour, half = int(stamp["hour"]), (stamp["half"] or "").lower()
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    return hour, int(stamp["minute"]), int(stamp["second"] or 0), int(f"{stamp['fraction'] or '0':0<6.6}")


def _parse_zone(stamp: re.Match[str]) -> tzinfo:
    return (datetime.strptime(stamp["zone"], "%z").tzinfo if stamp["zone"] else None) or UTC


def _assign_roles(names: Sequence[str], me: str | None, place: str) -> dict[str, Role]:
    """Return the role of each name. If two talk, the one that is not `me` is the assistant."""
    roles = {name.casefold(): _classify_name(name)[0] for name in names}
    if me is None:
        return roles
    mine = me.strip().casefold()
    if mine not in roles:
        raise Invalid(
            f"{place}: no speaker is called {me!r}", f"The names are: {', '.join(dict.fromkeys(names))[:200]}."
        )
    talking = {name for name, role in roles.items() if role not in (Role.SYSTEM, Role.TOOL)} | {mine}
    if len(talking) == 2:  # noqa: PLR2004
        roles |= dict.fromkeys(talking, Role.ASSISTANT)
    return roles | {mine: Role.USER}


def _classify_name(name: str) -> tuple[Role, str | None]:
    """Return the role of a name, and the speaker if the name is more than a word for a role."""
    word = name.casefold().removesuffix(" said")  # ChatGPT's page, copied, has `You said:`
    if word in _ROLE_WORDS:
        return _ROLE_WORDS[word], None
    if _MODEL_NAME.fullmatch(word):
        return Role.ASSISTANT, name[: len(word)]
    return Role.USER, clean_name(name)


def _make_message(turn: _Turn, roles: Mapping[str, Role], *, month_first: bool) -> Message:
    time = _parse_time(turn.stamp, month_first=month_first) if turn.stamp else None
    speaker = _classify_name(turn.name)[1] if turn.name else None
    role = roles[turn.name.casefold()] if turn.name else Role.SYSTEM
    return Message(role, _trim_blank_lines(turn.lines), speaker, time, None, None)


def _trim_blank_lines(lines: Sequence[str]) -> str:
    """Join lines without the blank ones at both ends."""
    filled = [number for number, line in enumerate(lines) if line.strip()]
    return "\n".join(lines[filled[0] : filled[-1] + 1]) if filled else ""
