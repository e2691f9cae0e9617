"""The terminal: the profile, contacts, projects, skills."""

import io
import json
import sys
from pathlib import Path
from shlex import split
from typing import Any

import pytest

from retentive.records.fields import RECORD_TYPES
from retentive.surface.records import RECORD_FIELDS, SPECIAL_FIELDS
from tests.support import Run

NOUNS: dict[str, list[str]] = {
    "contact": split(
        """add "Anna Keller" --alias Ania --alias Ann --email anna@acme.org --phone "+47 555" --company Acme --role CTO
        --type work --notes "likes tea\nand toast" """
    ),
    "project": split(
        """add Atlas --status paused --type web --description "New site" --primary-contact Bo --participant Bo
        --company Acme --priority high"""
    ),
    "skill": split(
        """add "Weekly report" --description "Write it" --instructions "Be short" --tool git --tool mail --step read
        --step write --max-steps 5 --disabled --cron "0 8 * * 1" --timezone Europe/Oslo"""
    ),
}


def read(text: str) -> Any:
    return json.loads(text)


def pipe(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


def own(record: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name in RECORD_TYPES[noun_of(record)].fields}


def noun_of(record: dict[str, Any]) -> str:
    return "contact" if "aliases" in record else "project" if "participants" in record else "skill"


@pytest.mark.parametrize("noun", NOUNS)
def test_the_options_are_the_fields(noun: str) -> None:
    typed = {field.name: (field.many, field.choices) for field in RECORD_FIELDS[noun]}
    kept = {name: (field.many, field.choices) for name, field in RECORD_TYPES[noun].fields.items()}
    assert typed == {name: each for name, each in kept.items() if noun != "skill" or name not in SPECIAL_FIELDS}


@pytest.mark.parametrize("noun", NOUNS)
def test_every_field_arrives_and_is_shown(run: Run, noun: str) -> None:
    run("contact", "add", "Bo")
    made = read(run(noun, *NOUNS[noun], "--json"))
    assert all(value not in (None, [], {}) for value in own(made).values())
    assert read(run(noun, "show", made["name"], "--json")) == made
    shown = run(noun, "show", made["id"])
    assert shown.startswith(f"{made['name']}\n")
    assert all(f"\n  {name} " in shown for name in own(made) if name != "name")
    assert made["id"] in run(noun, "list")


@pytest.mark.parametrize("noun", NOUNS)
def test_what_show_gives_add_and_update_take_back(run: Run, monkeypatch: pytest.MonkeyPatch, noun: str) -> None:
    run("contact", "add", "Bo")
    given = run(noun, *NOUNS[noun], "--json")
    pipe(monkeypatch, given)
    copy = read(run(noun, "add", "Another", "--file", "-", "--json"))
    assert own(copy) == {**own(read(given)), "name": "Another"}
    other = run(noun, "add", "Third").split()[-1]
    pipe(monkeypatch, given)
    changed = read(run(noun, "update", other, "--file", "-", "--name", "Third", "--json"))
    assert own(changed) == {**own(read(given)), "name": "Third"}


@pytest.mark.parametrize("noun", NOUNS)
def test_an_empty_value_clears_a_field(run: Run, noun: str) -> None:
    run("contact", "add", "Bo")
    id = run(noun, *NOUNS[noun]).split()[-1]
    flags = [field.option for field in RECORD_FIELDS[noun] if field.name != "name"]
    bare = read(run(noun, "add", "Bare", "--json"))
    emptied = read(run(noun, "update", id, "--json", *(word for flag in flags for word in (flag, ""))))
    left = {"name", *SPECIAL_FIELDS}
    assert {**own(emptied), **dict.fromkeys(left)} == {**own(bare), **dict.fromkeys(left)}
    assert run(noun, "update", id, "--name", "", code=2) == ""


@pytest.mark.parametrize("noun", NOUNS)
def test_a_record_from_update_to_rollback(run: Run, noun: str) -> None:
    id = run(noun, "add", "First", "--reason", "met").split()[-1]
    assert run(noun, "update", "first", "--name", "Second", "--version", "1", "--actor", "bot") == (
        f"updated {id}: version 2\n"
    )
    assert run(noun, "update", id, "--name", "Third", "--version", "1", code=4) == ""
    assert read(run(noun, "diff", id, "1", "--json")) == [{"op": "replace", "path": "/name", "value": "Second"}]
    assert run(noun, "diff", id, "1", "2") == "replace\t/name\tSecond\n"
    assert run(noun, "delete", id, "--reason", "left") == f"deleted {id}\n"
    assert run(noun, "show", id, code=3) == ""
    assert run(noun, "rollback", id, "1").startswith(f"rolled back {id}: version 4")
    story = read(run(noun, "history", id, "--json"))["revisions"]
    assert [(each["version"], each["action"], each["actor"], each["reason"]) for each in story] == [
        (1, "created", "user", "met"),
        (2, "updated", "bot", None),
        (3, "deleted", "user", "left"),
        (4, "rolled back", "user", "to version 1"),
    ]
    assert [line.split("\t")[2] for line in run(noun, "history", id).splitlines()][:2] == ["created", "updated"]
    assert run(noun, "history", id).splitlines()[1].endswith("\tname")


@pytest.mark.parametrize("noun", NOUNS)
def test_lists_are_paged_by_name(run: Run, noun: str) -> None:
    for name in ("Cy", "Ab", "Bo"):
        run(noun, "add", name)
    page = read(run(noun, "list", "--limit", "2", "--json"))
    rest = read(run(noun, "list", "--limit", "2", "--after", page["next"], "--json"))
    assert [each["name"] for each in page["records"] + rest["records"]] == ["Ab", "Bo", "Cy"]
    assert rest["next"] is None


@pytest.mark.parametrize(
    "words",
    [
        "contact add",  # no name
        "contact update Bo",  # nothing to change
        "contact add X --type friend",
        "contact add X --email nobody",
        "contact add X --file missing.json",
        "contact add X --file list.json",
        "contact add X --file reason.json",  # a field that is an argument of the library
        "contact add X --file broken.json",
        "project add X --status broken",
        "skill add X --cron nonsense",
        "skill add X --timezone Europe/Oslo",
        "skill add X --cron @daily --manual",
        "skill add X --trigger {",
        "skill add X --max-steps 0",
        "profile set",
        "profile set a b --file list.json",
        "profile set --file list.json",
        "profile merge []",
        "profile patch {}",
        "profile schema list.json",
        "profile schema list.json --remove",
        "profile set a b --version -1",
    ],
)
def test_wrong_input_changes_nothing(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("list.json").write_text("[]")
    Path("reason.json").write_text('{"name": "X", "reason": "x", "actor": "me"}')
    Path("broken.json").write_text("{")
    run("contact", "add", "Bo")
    assert run(*words.split(), code=2) == ""
    assert [len(read(run(noun, "list", "--json"))["records"]) for noun in NOUNS] == [1, 0, 0]
    assert read(run("profile", "--json"))["version"] == 0


def test_who_is_meant_and_two_that_are_one(run: Run) -> None:
    anna = run("contact", "add", "Anna Keller", "--company", "Acme").split()[-1]
    other = run("contact", "add", "A. Keller", "--phone", "+47 555 0199").split()[-1]
    assert run("contact", "find", "ana keler").startswith(anna)
    assert [each["id"] for each in read(run("contact", "find", "5550199", "--json"))["records"]] == [other]
    assert run("contact", "find", "zebra") == ""
    assert run("contact", "merge", anna, "a. keller") == f"merged into {anna}: version 2\n"
    assert read(run("contact", "show", anna, "--json"))["aliases"] == ["A. Keller"]
    assert f"merged away ({other})" in run("contact", "history", anna)
    assert run("contact", "show", other, code=3) == ""


def test_a_project_names_its_people(run: Run) -> None:
    id = run("contact", "add", "Anna Keller").split()[-1]
    made = read(run("project", "add", "Atlas", "--participant", "anna keller", "--json"))
    assert made["participants"] == [id]
    assert f"participants    Anna Keller ({id})" in run("project", "show", "Atlas")


def test_skills_are_matched_due_and_recorded(run: Run) -> None:
    made = read(run("skill", "add", "Report", "--description", "write the status", "--cron", "0 8 * * 1", "--json"))
    assert made["trigger"] == {"type": "schedule", "cron": "0 8 * * 1"}
    assert read(run("skill", "match", "status", "--json"))["hits"][0]["id"] == made["id"]
    assert run("skill", "match", "status").startswith(f"{made['id']}\t")
    assert run("skill", "due") == ""
    assert run("skill", "due", "--now", "2999-01-01").startswith(made["id"])
    due = read(run("skill", "due", "--now", "2999-01-01", "--json"))["due"]
    assert [(each["skill"]["id"], each["last_run"]) for each in due] == [(made["id"], None)]
    kept = read(run("skill", "record", "report", "two pages", "--failed", "--metadata", '{"n": 2}', "--json"))
    assert (kept["kind"], kept["origin"]["outcome"], kept["metadata"]) == ("outcome", "failed", {"n": 2})
    assert [each["id"] for each in read(run("skill", "runs", "report", "--json"))["memories"]] == [kept["id"]]
    assert "two pages" in run("skill", "runs", "report")
    assert run("skill", "record", "report", "x", "--at", "2999-01-01", code=2) == ""


@pytest.mark.parametrize(
    ("words", "trigger"),
    [
        (["--event", "deploy"], {"type": "event", "event": "deploy"}),
        (["--manual"], {"type": "manual"}),
        (
            ["--trigger", '{"type": "event", "event": "x", "only": "main"}'],
            {"type": "event", "event": "x", "only": "main"},
        ),
        (["--trigger", ""], {"type": "manual"}),
    ],
)
def test_a_trigger_is_one_of_four_options(run: Run, words: list[str], trigger: dict[str, Any]) -> None:
    run("skill", "add", "Report", "--cron", "0 8 * * 1")
    assert read(run("skill", "update", "Report", *words, "--json"))["trigger"] == trigger


def test_a_profile_is_set_merged_patched_and_taken_back(run: Run) -> None:
    for words in ("city Oslo", "age 30", "zip 0150 --string", "/dog/name Rex", 'langs ["en"]', "note NaN"):
        run("profile", "set", *words.split())
    run("profile", "merge", '{"city": null}', "--reason", "moved")
    run("profile", "patch", '[{"op": "add", "path": "/langs/-", "value": "no"}]')
    told = read(run("profile", "--json"))
    assert told["document"] == {"age": 30, "zip": "0150", "dog": {"name": "Rex"}, "langs": ["en", "no"], "note": "NaN"}
    assert "dog.name\tRex\t\n" in run("profile")
    assert run("profile", "diff", "6", "7") == "remove\t/city\t\n"
    assert run("profile", "history").splitlines()[6].endswith("\tmerged\tuser\tmoved\tcity")
    assert run("profile", "rollback", "1") == "profile of default: version 9\n"
    assert read(run("profile", "show", "--json"))["document"] == {"city": "Oslo"}
    assert run("profile", "set", "city", "Bergen", "--version", "1", code=4) == ""


def test_what_the_profile_gives_it_takes_back(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("profile", "merge", '{"dog": {"name": "Rex", "born": null}, "a/b": [1, {"c.d": 2.5}]}')
    given = run("profile", "show", "--json")
    pipe(monkeypatch, given)
    run("profile", "set", "--file", "-", "--namespace", "other")
    assert read(run("profile", "--json", "-n", "other"))["document"] == read(given)["document"]
    run("profile", "set", "x", "1")
    pipe(monkeypatch, run("profile", "diff", "1", "2", "--json"))
    run("profile", "patch", "--namespace", "other")
    assert read(run("profile", "--json", "-n", "other"))["document"] == read(run("profile", "--json"))["document"]
    pipe(monkeypatch, json.dumps({"city": "Oslo"}))
    assert read(run("profile", "set", "home", "--file", "-", "--json"))["document"]["home"] == {"city": "Oslo"}


def test_a_value_comes_through_a_pipe(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe(monkeypatch, "Lives by the sea\n")
    assert read(run("profile", "set", "about", "-", "--json"))["document"] == {"about": "Lives by the sea"}


def test_a_schema_is_set_shown_and_removed(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("profile", "schema") == ""
    assert run("profile", "schema", "--json") == "null\n"
    pipe(monkeypatch, '{"properties": {"age": {"type": "integer"}}}')
    run("profile", "schema", "-")
    assert read(run("profile", "schema")) == {"properties": {"age": {"type": "integer"}}}
    assert run("profile", "set", "age", "old", code=2) == ""
    run("profile", "schema", "--remove")
    assert read(run("profile", "set", "age", "old", "--json"))["schema"] is None


def test_facts_of_the_user_are_named_as_the_source(run: Run) -> None:
    id = run("add", "The user's dog is called Rex", "--slot", "user.dog.name").split()[-1]
    assert run("profile") == f"dog.name\tRex\t{id}\n"


def test_contacts_are_found_by_a_question(run: Run) -> None:
    id = run("contact", "add", "Anna Keller", "--company", "Acme").split()[-1]
    run("skill", "add", "Call Acme")
    run("add", "Acme makes anvils")
    line = run("search", "who is at Acme", "--include", "contacts").split("\t")
    assert (line[0], line[2]) == (id, "contact")
    found = read(run("search", "Acme", "--include", "contacts,skills", "--json"))["hits"]
    assert {each["type"] for each in found} == {"contact", "skill"}
    assert next(each for each in found if each["id"] == id)["record"]["company"] == "Acme"
    assert run("search", "Acme", "--include", "people", code=2) == ""
