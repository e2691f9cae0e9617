"""Chat logs as plain text."""

import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retentive.conversations.formats import detect
from retentive.conversations.formats.detect import Format
from retentive.errors import Invalid
from retentive.model import Message, Role


def read(path: Path, text: str, me: str | None = None, format: Format | None = None) -> list[Message]:
    path.write_bytes(text.encode())
    return [message for each in detect.read_conversations(path, format, me) for message in each.messages]


def said(messages: list[Message]) -> list[tuple[str | None, str]]:
    return [(each.speaker, each.content) for each in messages]


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    return tmp_path / "chat.txt"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Anna: hi\nBob: hello", [("Anna", "hi"), ("Bob", "hello")]),
        ("Anna: hi\r\nBob: hello\r\n", [("Anna", "hi"), ("Bob", "hello")]),
        ("\n\nAnna: one\ntwo\n  three\nBob: x", [("Anna", "one\ntwo\n  three"), ("Bob", "x")]),
        ("Anna: one\n\ntwo\n\n\nBob: x\n\n", [("Anna", "one\n\ntwo"), ("Bob", "x")]),  # blank lines inside stay
        ("Anna:\none\n", [("Anna", "one")]),
        ("Anna: \nBob: x", [("Bob", "x")]),  # nothing was said
        ("Anna: at 10:32 we go\n10:45 home", [("Anna", "at 10:32 we go\n10:45 home")]),
        ("Anna: see\nhttps://x.org: nice\nhttp: x", [("Anna", "see\nhttps://x.org: nice\nhttp: x")]),
        ("Anna: list\n- Milk: two\n1. Eggs: six\n  Tea: no", [("Anna", "list\n- Milk: two\n1. Eggs: six\n  Tea: no")]),
        ("Anna: x\n10 am: coffee\n12.30: lunch", [("Anna", "x\n10 am: coffee\n12.30: lunch")]),
        ("Anna: x\nthis is what I mean: y", [("Anna", "x\nthis is what I mean: y")]),  # five words
        ("A B C D: x", [("A B C D", "x")]),
        (f"{'n' * 40}: x\n{'m' * 41}: y", [("n" * 40, f"x\n{'m' * 41}: y")]),
        ("小明\uff1a你好\n小红\uff1a嗨", [("小明", "你好"), ("小红", "嗨")]),
        ("Anna : hi", [("Anna", "hi")]),
    ],
)
def test_lines_that_name_someone_begin_a_message(chat: Path, text: str, expected: list[tuple[str, str]]) -> None:
    """Names begin messages; other lines go on with them."""
    assert said(read(chat, text)) == expected


LETTERS = "[A-Za-zÄ-ÖØ-öø-ÿ]"
ROLES = "user human me myself i you assistant ai bot chatbot agent model system tool".split()
SCHEMES = "http https ftp sftp file mailto ws wss ssh".split()
names = st.from_regex(f"{LETTERS}{{1,9}}( {LETTERS}{{1,9}}){{0,3}}", fullmatch=True) | st.sampled_from(ROLES)
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r\n")).filter(str.strip)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(names.filter(lambda name: name.lower() not in SCHEMES), texts), min_size=1))
def test_what_is_written_reads_back(chat: Path, said: list[tuple[str, str]]) -> None:
    """Any list of names and single lines is read as it was written."""
    found = read(chat, "\n".join(f"{name}: {text}" for name, text in said))
    expected = [(None if name.lower() in ROLES else name, text) for name, text in said]
    assert [(each.speaker, each.content) for each in found] == expected
    assert [each.sequence for each in found] == [*range(1, len(said) + 1)]


@pytest.mark.parametrize(
    ("name", "role", "speaker"),
    [
        ("User", Role.USER, None),
        ("HUMAN", Role.USER, None),
        ("Me", Role.USER, None),
        ("You said", Role.USER, None),  # ChatGPT's page, copied
        ("Assistant", Role.ASSISTANT, None),
        ("AI", Role.ASSISTANT, None),
        ("bot", Role.ASSISTANT, None),
        ("Agent", Role.ASSISTANT, None),
        ("Claude", Role.ASSISTANT, "Claude"),
        ("Claude 3.5 Sonnet", Role.ASSISTANT, "Claude 3.5 Sonnet"),
        ("ChatGPT said", Role.ASSISTANT, "ChatGPT"),
        ("GPT-4o mini", Role.ASSISTANT, "GPT-4o mini"),
        ("Gemini", Role.ASSISTANT, "Gemini"),
        ("copilot", Role.ASSISTANT, "copilot"),
        ("Llama 3", Role.ASSISTANT, "Llama 3"),
        ("System", Role.SYSTEM, None),
        ("tool", Role.TOOL, None),
        ("Claude Monet", Role.USER, "Claude Monet"),
        ("Anna", Role.USER, "Anna"),
    ],
)
def test_names_tell_roles(chat: Path, name: str, role: Role, speaker: str | None) -> None:
    """Words for roles and names of models have their role; everyone else is a person."""
    (found,) = read(chat, f"{name}: hello")
    assert (found.role, found.speaker) == (role, speaker)


@pytest.mark.parametrize(
    ("text", "me", "roles"),
    [
        ("Anna: x\nBob: y", None, "user user"),
        ("Anna: x\nBob: y", "Anna", "user assistant"),
        ("Anna: x\nBob: y", " bob", "assistant user"),
        ("Anna: x\nBob: y\nanna: z", "anna", "user assistant user"),
        ("Anna: x\nBob: y\nCarl: z", "Anna", "user user user"),  # of three nobody is the assistant
        ("Anna: x\nBob: y\nClaude: z", "Anna", "user user assistant"),
        ("System: x\nAnna: y\nBob: z", "Anna", "system user assistant"),
        ("Claude: x\nBob: y", "Claude", "user assistant"),  # a person may be called so
    ],
)
def test_me_is_the_user(chat: Path, text: str, me: str | None, roles: str) -> None:
    """`me` says whose words are the user's; of two, the other is the assistant."""
    assert [each.role.value for each in read(chat, text, me)] == roles.split()


def test_me_must_be_there(chat: Path) -> None:
    """A name that nobody has is an error that tells the names there are."""
    with pytest.raises(Invalid, match="no speaker is called 'Ana'") as error:
        read(chat, "Anna: x\nBob: y", "Ana")
    assert "Anna, Bob" in error.value.hint


FIRST_OF_MAY = datetime(2024, 5, 1, 10, 32, tzinfo=UTC)


@pytest.mark.parametrize(
    ("stamp", "expected"),
    [
        ("[2024-05-01 10:32] ", FIRST_OF_MAY),
        ("2024-05-01T10:32:00Z ", FIRST_OF_MAY),
        ("2024-05-01T10:32:00.250Z ", FIRST_OF_MAY.replace(microsecond=250_000)),
        ("2024-05-01T12:32:00+02:00 ", FIRST_OF_MAY),
        ("2024/05/01, 10:32 - ", FIRST_OF_MAY),
        ("01/05/2024, 10:32 - ", FIRST_OF_MAY),  # the day comes first
        ("1.5.24, 10:32 - ", FIRST_OF_MAY),
        ("[01/05/2024, 10:32:11] ", FIRST_OF_MAY.replace(second=11)),
        ("\u200e[01/05/2024, 10:32:11] \u200e", FIRST_OF_MAY.replace(second=11)),  # marks of direction
        ("01-05-24 10:32:00: ", FIRST_OF_MAY),  # WhatsApp of 2016
        ("[1/5/24, 10:32:00\u202fPM] ", FIRST_OF_MAY.replace(hour=22)),
        ("[1/5/24, 12:32 a.m.] ", FIRST_OF_MAY.replace(hour=0)),
        ("12/31/2024, 10:32 - ", datetime(2024, 12, 31, 10, 32, tzinfo=UTC)),  # the month, for there is no 31st
    ],
)
def test_times_before_names_are_read(chat: Path, stamp: str, expected: datetime) -> None:
    """Each usual form of a time belongs to its message and not to the name."""
    (found,) = read(chat, f"{stamp}Anna: hello: you")
    assert (found.time, found.speaker, found.content) == (expected, "Anna", "hello: you")


@pytest.mark.parametrize(
    ("dates", "days"),
    [
        (["01/05/2024", "02/05/2024"], ["05-01", "05-02"]),
        (["01/05/2024", "01/13/2024"], ["01-05", "01-13"]),  # the second shows what the first means
        (["13/05/2024", "01/05/2024"], ["05-13", "05-01"]),
        (["13/05/2024", "05/13/2024"], ["05-13", "05-13"]),  # each as it can be
    ],
)
def test_all_dates_of_a_file_are_read_alike(chat: Path, dates: list[str], days: list[str]) -> None:
    """Day first, unless a date of the file cannot be."""
    found = read(chat, "\n".join(f"{date}, 10:32 - Anna: x" for date in dates))
    assert [f"{each.time:%m-%d}" for each in found] == days


@pytest.mark.parametrize(
    "line",
    [
        "Note: bring milk",
        "2024-05-02 10:00 dentist",  # no name, no bracket, no dash
        "99/99/2024, 10:32 - Bob: hi",  # there is no such day
    ],
)
def test_in_a_dated_chat_lines_without_a_time_go_on(chat: Path, line: str) -> None:
    """Where messages have times, nothing else begins one."""
    assert said(read(chat, f"[2024-05-01 10:32] Anna: x\n{line}")) == [("Anna", f"x\n{line}")]


def test_notices_are_the_systems(chat: Path) -> None:
    """What WhatsApp itself says has a time and no name, and is nobody's message."""
    found = read(chat, "01/05/2024, 10:32 - Messages are encrypted.\n01/05/2024, 10:33 - +49 170 12: hi\n")
    assert [(each.role, each.speaker) for each in found] == [(Role.SYSTEM, None), (Role.USER, "+49 170 12")]
    assert found[0].content == "Messages are encrypted."


def test_nul_in_plain_text_is_replaced(chat: Path) -> None:
    """Databases cannot keep it."""
    assert said(read(chat, "Anna: a\0b")) == [("Anna", "a\ufffdb")]


def test_the_file_names_the_conversation(chat: Path) -> None:
    """Plain text has no id of its own."""
    chat.write_text("Anna: x")
    (found,) = detect.read_conversations(chat)
    assert found[:3] == ("chat", None, None)


def test_a_zip_of_whatsapp_is_read(tmp_path: Path) -> None:
    """Its text is found, and the zip names it."""
    path = tmp_path / "Anna.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("_chat.txt", "[01/05/2024, 10:32:11] Anna: hello")
    assert [(each.id, each.messages[0].content) for each in detect.read_conversations(path)] == [("Anna", "hello")]
