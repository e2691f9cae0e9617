"""Edits of JSON change one place and nothing else."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retentive.clients import jsonc, strict_json
from retentive.errors import Invalid

PATH = ("mcpServers", "retentive")
ENTRY = {"command": "/bin/retentive", "args": ["mcp", "--namespace", "auto"]}
KEYS = st.text(max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
SERVERS = st.dictionaries(KEYS.filter(lambda key: key != "retentive"), VALUES, max_size=3)
DOCUMENTS = st.builds(
    lambda before, servers, after: before | ({} if servers is None else {"mcpServers": servers}) | after,
    st.dictionaries(KEYS, VALUES, max_size=3),
    st.none() | SERVERS,
    st.dictionaries(KEYS, VALUES, max_size=3),
).filter(lambda document: isinstance(document.get("mcpServers", {}), dict))
LAYOUTS = st.sampled_from([None, 0, 1, 2, 4, "\t"])
END = st.sampled_from(["", ","])
SPACE = st.sampled_from(["", " ", "\n", "\n  ", "\t", " // note\n", '/* a, } " */', "\n// }\n", " /* x\ny */ "])


@st.composite
def texts(draw: st.DrawFn) -> str:
    """JSON in the layout of programs."""
    text = json.dumps(draw(DOCUMENTS), indent=draw(LAYOUTS), ensure_ascii=draw(st.booleans()))
    text = text + draw(st.sampled_from(["", "\n", "\n\n"]))
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


@st.composite
def unusual_texts(draw: st.DrawFn) -> str:
    """JSON in layouts that nobody uses: comments and spaces anywhere, commas at the end."""

    def render(value: Any) -> str:
        def gap() -> str:
            return draw(SPACE)

        if isinstance(value, dict):
            members = [f"{gap()}{json.dumps(key)}{gap()}:{gap()}{render(each)}{gap()}" for key, each in value.items()]
        elif isinstance(value, list):
            members = [f"{gap()}{render(each)}{gap()}" for each in value]
        else:
            return json.dumps(value)
        end = "," + gap() if members and draw(END) == "," else ""
        opened, closed = "{}" if isinstance(value, dict) else "[]"
        return f"{opened}{','.join(members)}{end}{'' if members else gap()}{closed}"

    return draw(SPACE) + render(draw(DOCUMENTS)) + draw(SPACE)


def expected(text: str) -> dict[str, Any]:
    document = jsonc.parse(text)
    return {**document, "mcpServers": {**document.get("mcpServers", {}), "retentive": ENTRY}}


@given(texts() | unusual_texts())
def test_putting_changes_nothing_else(text: str) -> None:
    assert jsonc.parse(jsonc.put(text, PATH, ENTRY)) == expected(text)


@given(texts() | unusual_texts())
def test_dropping_beside_others_gives_the_same_bytes_again(text: str) -> None:
    there = jsonc.parse(text).get("mcpServers")
    again = jsonc.remove(jsonc.put(text, PATH, ENTRY), PATH)
    if there:
        assert again == text
    else:
        assert jsonc.parse(again) == jsonc.parse(text) | {"mcpServers": {}}


@given(texts() | unusual_texts())
def test_every_comment_survives(text: str) -> None:
    changed = jsonc.put(text, PATH, ENTRY)
    for sign in ("// note", '/* a, } " */', "// }", "/* x"):
        assert changed.count(sign) == text.count(sign)


@given(texts())
def test_a_value_changed_in_place_is_written_as_a_new_one(text: str) -> None:
    old = jsonc.put(text, PATH, {**ENTRY, "args": ["mcp"]})
    assert jsonc.put(old, (*PATH, "args"), ENTRY["args"]) == jsonc.put(text, PATH, ENTRY)


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("{}", '{\n  "a": {\n    "b": 1\n  }\n}'),
        ('{"x": 1}', '{"x": 1, "a": {"b": 1}}'),
        ('{"x": 1, "a": {}}', '{"x": 1, "a": {"b": 1}}'),
        # The manner of the file: four spaces, a tab, line breaks of Windows.
        ('{\n    "a": {}\n}', '{\n    "a": {\n        "b": 1\n    }\n}'),
        ('{\n\t"a": {\n\t\t"x": 1\n\t}\n}', '{\n\t"a": {\n\t\t"x": 1,\n\t\t"b": 1\n\t}\n}'),
        ('{\r\n  "a": {}\r\n}', '{\r\n  "a": {\r\n    "b": 1\r\n  }\r\n}'),
        # A note behind a line stays behind that line; who ends with a comma goes on doing so.
        ('{\n  "a": {\n    "x": 1 // of x\n  }\n}', '{\n  "a": {\n    "x": 1, // of x\n    "b": 1\n  }\n}'),
        ('{\n  "a": {\n    "x": 1, // of x\n  },\n}', '{\n  "a": {\n    "x": 1, // of x\n    "b": 1,\n  },\n}'),
        # Comments that look like code, and an object that has only a comment.
        ('{\n  // "a": {}\n  "a": {\n    /* {"b": 2} */\n  }\n}',
         '{\n  // "a": {}\n  "a": {\n    /* {"b": 2} */\n    "b": 1\n  }\n}'),
        # The last of two with one name is the one that counts.
        ('{"a": {"x": 1}, "a": {"y": 1}}', '{"a": {"x": 1}, "a": {"y": 1, "b": 1}}'),
        ("", '{\n  "a": {\n    "b": 1\n  }\n}\n'),
        ("// mine\n", '// mine\n{\n  "a": {\n    "b": 1\n  }\n}\n'),
    ],
)  # fmt: skip
def test_it_is_written_in_the_manner_of_the_file(text: str, changed: str) -> None:
    assert jsonc.put(text, ("a", "b"), 1) == changed


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ('{"a": {"b": 1}}', '{"a": {}}'),
        ('{"a": {"b": 1, "x": 2}}', '{"a": { "x": 2}}'),
        ('{"a": {"x": 2, "b": 1}}', '{"a": {"x": 2}}'),
        ('{"a": {"x": 2, "b": 1,}}', '{"a": {"x": 2,}}'),
        ('{"a": {"w": 3, "b": 1, "x": 2}}', '{"a": {"w": 3, "x": 2}}'),
        ('{\n  "a": {\n    "b": 1 // ours\n  }\n}', '{\n  "a": { // ours\n  }\n}'),
        ('{\n  "a": {\n    "b": 1,\n  }\n}', '{\n  "a": {}\n}'),
    ],
)
def test_it_is_taken_out_wherever_it_stands(text: str, changed: str) -> None:
    assert jsonc.remove(text, ("a", "b")) == changed


@pytest.mark.parametrize(
    "text",
    ["[]", "1", '"x"', "{", '{"a"}', '{"a": 1,, "b": 2}', "{,}", '{"a": [,]}', '{"a": NaN}', "{'a': 1}", "{} {}",
     '{"a": "x\ny"}', '{"a": 1} // ok\n x', '{"a": /* open }', "nope", "[" * 100_000],
)  # fmt: skip
def test_what_is_not_an_object_of_json_is_refused(text: str) -> None:
    with pytest.raises(Invalid):
        jsonc.parse(text)


@pytest.mark.parametrize("text", ['{"a": 1,}', '{"a": 1} // note', "{/* */}"])
def test_comments_are_refused_for_those_who_cannot_read_them(text: str) -> None:
    assert jsonc.parse(text) is not None
    with pytest.raises(Invalid):
        strict_json.parse(text)
