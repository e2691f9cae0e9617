"""Files that cannot be read say why, where, and what to do."""

import json
import zipfile
from pathlib import Path

import pytest

from retentive.conversations.formats import source
from retentive.conversations.formats.detect import Format, read_conversations
from retentive.errors import Invalid

GOOD = '{"role": "user", "content": "x"}'


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "chat.json is empty"),
        (b"\xef\xbb\xbf", "chat.json is empty"),
        (b" \n\n", "chat.json is empty"),
        (b"\x89PNG\r\n\x1a\n\0\0", "chat.json is not UTF-8 text, from line 1 on"),
        (b"Anna: Gr\xfc\xdfe", "chat.json is not UTF-8 text"),
        (b"\0\0\0\0", "the format of chat.json is not recognised"),
        (b"just some words", "is not recognised"),
        (b"# Notes\n\nTODO: nothing", "is not recognised"),
        (b"[1, 2, 3]", "is not recognised"),
        (b'["a"]', "is not recognised"),
        (b'{"a": 1}', "is not recognised"),
        (b"[[]]", "is not recognised"),
        (b'[{"role": "user",\n "content": }]', "chat.json, line 2, column 13: not JSON: Expecting value"),
        (b'\n\n[{"role": "user",\n "content": }]', "chat.json, line 4, column 13: not JSON"),
        (b'[{"role": "user", "content": "x', "chat.json, line 1, column 30: not JSON: Unterminated string"),
        (f"{GOOD}\n{GOOD}\n{GOOD[:20]}".encode(), "chat.json, line 3, column 18: not JSON: Unterminated string"),
        (f"{GOOD}\n\n7".encode(), "chat.json, line 3: an object was expected, not a number"),
        (b'[{"role": "narrator", "content": "x"}]', "chat.json, item 1: unknown role 'narrator'"),
        (b'{"messages": [{"role": "user"}, {"role": 5}]}', "chat.json, message 2: no role"),
        (f"{GOOD}\n".encode() + b'{"messages": [{"text": "x"}]}', "chat.json, line 2, message 1: no role"),
        (b'{"messages": [7]}', "chat.json, message 1: an object was expected, not a number"),
        (b'[{"messages": []}, {"messages": "x"}]', "chat.json, item 2: a list of messages was expected, not text"),
        (b'[{"role": "user", "content": 7}]', "chat.json, item 1: content is a number"),
        (b'[{"role": "user", "content": "x", "time": "noon"}]', "chat.json, item 1: cannot read 'noon' as a time"),
        (b'[{"role": "user", "content": "x", "time": true}]', "cannot read 'True' as a time"),
        (b'[{"role": "user", "content": "x", "time": 1e300}]', "as a time"),
        (b'[{"role": "user", "content": "x", "time": "9999-12-31T23:00-05:00"}]', "as a time"),
        (b'[{"chat_messages": [{"sender": "dog"}]}]', "chat.json, item 1, message 1: unknown role 'dog'"),
        (b'[{"mapping": {"a": {"message": {"author": {}}}}}]', "chat.json, item 1, node a: no role"),
        (b'[{"chat_messages": []}, {"messages": []}]', "chat.json, item 2: it has no 'chat_messages'"),
        (b'[{"mapping": {}}, []]', "chat.json, item 2: an object was expected, not a list"),
        (b"[" * 100_000, "chat.json, line 1: nested too deeply"),
        (b"[" + b"9" * 5000 + b"]", "is not recognised"),
        (b'[{"role": "user", "n": ' + b"9" * 5000 + b"}]", "chat.json, line 1: Exceeds the limit"),
    ],
)
def test_a_bad_file_names_its_place(tmp_path: Path, content: bytes, message: str) -> None:
    """Whatever is wrong is `Invalid`, with the file and the place."""
    path = tmp_path / "chat.json"
    path.write_bytes(content)
    with pytest.raises(Invalid) as error:
        list(read_conversations(path))
    assert message in str(error.value)


def test_an_unknown_format_lists_those_there_are(tmp_path: Path) -> None:
    """The hint says what can be read and how to say which."""
    path = tmp_path / "notes.txt"
    path.write_text("no names here")
    with pytest.raises(Invalid) as error:
        list(read_conversations(path))
    assert all(word in error.value.hint for word in ["format=", *Format])


@pytest.mark.parametrize(
    ("format", "content", "message"),
    [
        (Format.OPENAI, "Anna: x", "chat is not JSON, as openai is"),
        (Format.CLAUDE, f"[{GOOD}]", "chat, item 1: it has no 'chat_messages'"),
        (Format.CHATGPT, f"[{GOOD}]", "chat, item 1: it has no 'mapping'"),
        (Format.OPENAI, '{"mapping": {}}', "chat: no role"),
        (Format.PLAIN, "hello there", "chat: the first line does not say who speaks: 'hello there'"),
    ],
)
def test_a_format_that_it_is_not(tmp_path: Path, format: Format, content: str, message: str) -> None:
    """A format that is given is believed, and what does not fit is told."""
    path = tmp_path / "chat"
    path.write_text(content)
    with pytest.raises(Invalid) as error:
        list(read_conversations(path, format))
    assert message in str(error.value)


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    """It says so, and what to give."""
    with pytest.raises(Invalid, match="is a folder"):
        list(read_conversations(tmp_path))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """It says so, with the whole path."""
    with pytest.raises(Invalid, match=r"there is no file .*gone.json"):
        list(read_conversations(tmp_path / "gone.json"))


def zipped(tmp_path: Path, name: str, content: str) -> Path:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return path


def test_a_zip_of_something_else(tmp_path: Path) -> None:
    """A zip without conversations says what it lacks."""
    with pytest.raises(Invalid, match=r"export.zip holds no conversations.json"):
        list(read_conversations(zipped(tmp_path, "photo.jpg", "x")))


def test_a_zip_that_is_none(tmp_path: Path) -> None:
    """An ending does not make a zip."""
    path = tmp_path / "export.zip"
    path.write_bytes(b"hello")
    with pytest.raises(Invalid, match=r"export.zip cannot be read"):
        list(read_conversations(path))


def test_an_error_inside_a_zip_names_the_member(tmp_path: Path) -> None:
    """The place has the zip, the file inside and the line."""
    with pytest.raises(Invalid, match=r"export.zip/d/conversations.json, line 2, column 1: not JSON"):
        list(read_conversations(zipped(tmp_path, "d/conversations.json", '[{"mapping": {}},\n')))


def test_a_damaged_zip_is_told(tmp_path: Path) -> None:
    """Bytes that changed inside are noticed."""
    path = zipped(tmp_path, "conversations.json", json.dumps([{"mapping": {}, "id": number} for number in range(999)]))
    damaged = bytearray(path.read_bytes())
    damaged[200:260] = bytes(60)
    path.write_bytes(damaged)
    with pytest.raises(Invalid, match="cannot be read"):
        list(read_conversations(path))


def test_a_zip_of_absurd_size_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What would fill the memory is not unpacked."""
    path = zipped(tmp_path, "conversations.json", "[]" + " " * 10_000)
    monkeypatch.setattr(source, "MAX_FILE_BYTES", 10_002)
    assert list(read_conversations(path)) == []
    monkeypatch.setattr(source, "MAX_FILE_BYTES", 10_001)
    with pytest.raises(Invalid, match="would unpack to more than 10,001 bytes"):
        list(read_conversations(path))


def test_a_zip_with_a_password_is_refused(tmp_path: Path) -> None:
    """It says that it is encrypted."""
    path = zipped(tmp_path, "conversations.json", "[]")
    content = path.read_bytes()
    start = content.index(b"PK\x01\x02")
    path.write_bytes(content[: start + 8] + b"\1" + content[start + 9 :])
    with pytest.raises(Invalid, match=r"export.zip is encrypted"):
        list(read_conversations(path))
