"""The documentation is true: what it shows happens, what exists is described, what it links to is there.

A `python` block runs; a `text` block right after it is what it prints. In a `console` block a line `$ ...` is a
command, and what follows is what it shows on a terminal; commands with a pipe and the like are given to a shell, in
which the output is no terminal. Ids, times, decimals and folders may differ: an id shown stands for the one of today.
"""

import contextlib
import inspect
import io
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import retentive
from retentive import Retentive, config, errors
from retentive.api.maintenance import MaintenanceVerbs
from retentive.cli import main
from retentive.cli.output import PARTLY_DONE_EXIT_CODE
from retentive.config import SETTINGS
from retentive.conversations.sessions import Sessions
from retentive.embed import minilm_embedder
from retentive.errors import RetentiveError, outcome
from retentive.files.verbs import Files
from retentive.ids import shorten_id
from retentive.maintenance.integrity import Integrity
from retentive.maintenance.models import Models
from retentive.maintenance.scale import Scale
from retentive.maintenance.tokens import Tokens
from retentive.memories.expectations import Expectations
from retentive.memories.injections import Injections
from retentive.memories.notes import Notes
from retentive.memories.proposals import Proposals
from retentive.records.collection import RecordCollection
from retentive.records.contacts import Contacts
from retentive.records.profile import ProfileVerbs
from retentive.records.projects import Projects
from retentive.records.skills import Skills
from retentive.store import scope, validate
from retentive.surface.verb import Verb, VerbGroup
from retentive.surface.verbs import TOP_LEVEL, list_verbs
from tests.forkserver import write_command

ROOT = Path(__file__).parent.parent
REFERENCE = ROOT / "docs" / "reference"
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
GROUPS: dict[str, type] = {
    "contacts": Contacts,
    "expectations": Expectations,
    "files": Files,
    "injections": Injections,
    "integrity": Integrity,
    "models": Models,
    "notes": Notes,
    "profile": ProfileVerbs,
    "projects": Projects,
    "proposals": Proposals,
    "scale": Scale,
    "sessions": Sessions,
    "skills": Skills,
    "tokens": Tokens,
}
RECORD_VERBS = ("create", "get", "list", "update", "delete", "history", "diff", "rollback")
SHELL = re.compile(r"[|;<>$]|^(?!retentive )")
EXPLANATIONS = [
    *sorted((ROOT / "docs" / "explanation").glob("*.md")),
    ROOT / "ARCHITECTURE.md",
    ROOT / "CONTRIBUTING.md",
]
CODE_FOLDERS = ("src", "tests", "benchmarks", "scripts")
SHOWN_VALUES = {"dog", "hit", "user", "why"}  # owners of dotted names that are no code: slots, and values of an answer
FILE_SUFFIXES = {"db", "json", "md", "onnx", "py", "sql", "toml"}

MAX_PICTURE_CHARS = 60_000

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SHORT_ID = r"(?<![\w.-])[0-9a-f]{8}(?![\w.-])"  # on a terminal
_ID = re.compile(rf"\b[0-9a-f]{{8}}-[0-9a-f]{{4}}-7[0-9a-f]{{3}}-[0-9a-f]{{4}}-[0-9a-f]{{12}}\b|{_SHORT_ID}")
_MASKS = (
    (_ID, "LARGE"),  # a short id may have digits alone
    (re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|\+00:00)?)?"), "TIME"),
    (re.compile(r"\d+\.\d+ (ms|s)\b"), "DURATION"),
    (re.compile(r'"(embed|text|vector|when|fuse|fetch|search|total|p\d\d)": \d+\.\d+'), "DURATION"),
    (re.compile(r"(\| [\d.]* +){3}\|$", re.MULTILINE), "DURATIONS"),  # the last columns of `eval`
    (re.compile(r"\b[1-9]\d{3,}\b"), "LARGE"),
    (re.compile(r"(?<![\w.])(/[\w.@+-]+)+/"), "FOLDER/"),
    (re.compile(r"rt_[\w-]{43}"), "SECRET"),
    (re.compile(r"minilm-[\w-]+\.onnx"), "MODEL"),  # its name has its hash, which hangs on the processor
    (re.compile("rebuilt now"), "rebuilt, from the cache"),
    (re.compile(r"\bnow\b|\b\d+ min\b"), "AGE"),
    (re.compile("[━╸]+"), "BAR"),
    (re.compile(r"[ \t]+"), " "),
)

_FIGURE = re.compile(r"-?\d+(\.\d+)?e-\d+|-?\d+\.\d+")
TOLERANCE = 0.05  # of a printed figure: processors differ in the last digits of a vector

load_once = cache(minilm_embedder.load_minilm)


class Block(NamedTuple):
    language: str
    text: str


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def titled(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(page: Path) -> list[Block]:
    return [Block(*found) for found in _BLOCK.findall(page.read_text("utf-8"))]


def commands(text: str) -> Iterator[tuple[str, str]]:
    """Each command with the output shown for it."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def masked(text: str) -> str:
    for pattern, name in _MASKS:
        text = pattern.sub(name, text)
    return "\n".join(line.strip() for line in text.strip().splitlines())


def find_ids(shown: str, printed: str) -> Iterator[tuple[str, str]]:
    """Yield each id that a page shows, whole and short, with that of today."""
    for old, new in zip(_ID.findall(shown), _ID.findall(printed), strict=True):
        yield old, new
        yield shorten_id(old), shorten_id(new)


def is_shown(printed: str, shown: str, of: str = "") -> None:
    """Fails unless both are the same, figures within a tolerance; what differs each time is masked."""
    printed, shown = masked(printed), masked(shown)
    assert _FIGURE.sub("FIGURE", printed) == _FIGURE.sub("FIGURE", shown), of
    figures = [[float(found[0]) for found in _FIGURE.finditer(text)] for text in (printed, shown)]
    assert figures[0] == pytest.approx(figures[1], abs=TOLERANCE), of


def in_terminal(command: str) -> str:
    """What `retentive ...` shows to a person."""
    if SHELL.search(command):
        return in_shell(command)
    screen, aside = Terminal(), io.StringIO()
    with contextlib.redirect_stdout(screen), contextlib.redirect_stderr(aside):
        code = main(shlex.split(command)[1:])
    shown = screen.getvalue() + aside.getvalue()
    assert code in (0, PARTLY_DONE_EXIT_CODE), f"{command}: exit code {code}\n{shown}"
    return shown


def in_shell(command: str) -> str:
    path = os.pathsep.join((str(write_command().parent), str(Path(sys.executable).parent), os.environ["PATH"]))
    run = subprocess.run(
        ["bash", "-c", command],
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
    )
    return run.stdout


def in_python(code: str, names: dict[str, Any]) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "documentation", "exec"), names)  # noqa: S102 - our own pages
    return printed.getvalue()


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a reader would sit: an empty folder, a home and a store of its own, a terminal of a hundred columns."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    outside = {name: value for name, value in os.environ.items() if not name.startswith("RETENTIVE_")}
    monkeypatch.setattr(config, "environment", lambda: outside)
    monkeypatch.setenv("RETENTIVE_DB", str(tmp_path / "memory.db"))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")
    # the real model, loaded by the first command and not by each
    monkeypatch.setattr(minilm_embedder, "load_minilm", load_once)
    return tmp_path


@pytest.mark.parametrize("page", [page for page in PAGES if _BLOCK.search(page.read_text("utf-8"))], ids=titled)
@pytest.mark.usefixtures("desk")
def test_what_a_page_shows_is_what_happens(page: Path) -> None:
    names: dict[str, Any] = {}
    printed: str | None = None
    ids: dict[str, str] = {}
    for block in blocks(page):
        match block.language:
            case "python":
                printed = in_python(block.text, names)
                continue
            case "text" if printed is not None:
                is_shown(printed, block.text)
            case "console":
                for command, shown in commands(block.text):
                    output = in_terminal(_ID.sub(lambda id: ids.get(id[0], id[0]), command))
                    is_shown(output, shown, command)
                    ids.update(find_ids(shown, output))
        printed = None


def test_the_picture_of_the_terminal_needs_no_network() -> None:
    """It is small, and no font or file of another place is in it."""
    picture = (ROOT / "docs" / "terminal.svg").read_text("utf-8")
    assert len(picture) < MAX_PICTURE_CHARS
    assert "@font-face" not in picture
    assert set(re.findall(r"url\(([^)]{2})", picture)) == {"#t"}


@pytest.mark.parametrize("page", [*PAGES, *(ROOT / "benchmarks").glob("*.md")], ids=titled)
def test_every_link_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8")):
        if re.match(r"\w+:", target):
            continue
        file, _, heading = target.partition("#")
        there = (page.parent / file).resolve() if file else page
        assert there.exists(), target
        assert not heading or heading in headings(there), target


@cache
def code_files() -> dict[str, str]:
    """The text of each source file by its path."""
    files = [path for folder in CODE_FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in (".py", ".sql")]
    files += [*ROOT.glob("*.toml"), *(ROOT / "src").rglob("*.toml")]
    return {f"/{path.relative_to(ROOT)}": path.read_text("utf-8") for path in files}


def is_in_code(owner: str, name: str) -> bool:
    """Whether a module, package or class defines the name."""
    is_owner = re.compile(rf"/{owner}(/__init__)?\.py$")
    definition = re.compile(rf"^ *(def {name}\b|class {name}\b|{name}\b *[:=])", re.MULTILINE)
    for path, text in code_files().items():
        if path.endswith((f"/{owner}/{name}.py", f"/{owner}/{name}/__init__.py")):
            return True
        if (is_owner.search(path) or re.search(rf"^class {owner}\b", text, re.MULTILINE)) and definition.search(text):
            return True
    return False


@pytest.mark.parametrize("page", EXPLANATIONS, ids=titled)
def test_every_file_and_function_that_an_explanation_names_exists(page: Path) -> None:
    text = _BLOCK.sub("", page.read_text("utf-8"))
    named_files = re.findall(r"`([\w./-]+\.(?:py|sql|toml))`", text)
    missing = {file for file in named_files if not any(path.endswith(f"/{file}") for path in code_files())}
    for owner, name in re.findall(r"`(\w+)\.(\w+)(?:\(\))?`", text):
        if owner not in SHOWN_VALUES and name not in FILE_SUFFIXES and not is_in_code(owner, name):
            missing.add(f"{owner}.{name}")
    assert missing == set()


@cache
def headings(page: Path) -> set[str]:
    """As they are named in links."""
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in sections(page)}


@cache
def sections(page: Path) -> dict[str, str]:
    """What stands under each heading, without its examples."""
    _, *parts = re.split(r"^#+ (.*)$", _BLOCK.sub("", page.read_text("utf-8")), flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


@cache
def described(page: Path) -> dict[str, str]:
    """What stands under each name in a heading, of which there may be several: `contact list`, `project list`."""
    return {name: text for title, text in sections(page).items() for name in re.findall(r"`([^`]+)`", title)}


def verbs() -> dict[str, Verb | VerbGroup]:
    """By their full names: `search`, `session`, `session append`."""
    return {**TOP_LEVEL, **{each.name: each for each in list_verbs()}}


def options(verb: Verb | VerbGroup) -> set[str]:
    fields = verb.options if isinstance(verb, Verb) else ()
    return {name for each in fields for name in (each.option, each.off_flag) if name}


@pytest.mark.parametrize("verb", verbs())
def test_every_verb_and_option_is_described(verb: str) -> None:
    page = (REFERENCE / "cli.md").read_text("utf-8")
    assert verb in described(REFERENCE / "cli.md")
    assert {option for option in options(verbs()[verb]) if f"`{option}" not in page} == set()


@pytest.mark.parametrize("verb", verbs())
def test_every_verb_has_its_options_in_its_own_section(verb: str) -> None:
    """Filters, and the options about the past, have sections of their own, to which those of the verbs link."""
    told = described(REFERENCE / "cli.md")[verb]
    for link, title in (("(#filters)", "Filters"), ("(#the-past)", "The past")):
        told += sections(REFERENCE / "cli.md")[title] if link in told else ""
    assert {option for option in options(verbs()[verb]) if f"`{option}" not in told} == set()


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_every_setting_is_described(setting: Any) -> None:
    rows = (REFERENCE / "settings.md").read_text("utf-8").splitlines()
    row = next(row for row in rows if row.startswith(f"| `{setting.name}` | `{setting.variable}` |"))
    assert setting.meaning.rstrip(".") in row


@pytest.mark.parametrize("name", retentive.__all__)
def test_every_public_name_is_described(name: str) -> None:
    assert f"`{name}`" in (REFERENCE / "library.md").read_text("utf-8")


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, value in {**vars(Retentive), **vars(MaintenanceVerbs)}.items()
        if not name.startswith("_") and not isinstance(value, cached_property)
    ],
)
def test_every_method_and_parameter_is_described(name: str) -> None:
    method = getattr(Retentive, name)
    page = (REFERENCE / "library.md").read_text("utf-8")
    assert name in headings(REFERENCE / "library.md")
    assert {each for each in parameters(method) if f"`{each}`" not in page} == set()


def parameters(method: Callable[..., Any] | property) -> set[str]:
    found = [*inspect.signature(method).parameters.values()] if callable(method) else []
    return {each.name for each in found if each.name != "self" and each.kind is not each.VAR_KEYWORD}


def methods(kind: type) -> list[str]:
    """What a group has of its own. What all records share is told of contacts."""
    own = [name for name, value in vars(kind).items() if name[0] != "_" and callable(value)]
    return [*own, *RECORD_VERBS] if kind is Contacts else own


def test_every_group_of_methods_is_described() -> None:
    with Retentive.open(":memory:", embedder="none") as memory:
        lazy = [name for name, value in vars(Retentive).items() if isinstance(value, cached_property)]
        groups = {name: type(getattr(memory, name)) for name in lazy}
    assert groups == GROUPS
    assert {*groups} <= headings(REFERENCE / "library.md")


def test_every_verb_of_records_is_among_those_that_are_told_once() -> None:
    inner = {"change", "load_body"}  # of the store, for those who build on it
    assert {
        name for name in vars(RecordCollection) if name[0] != "_" and callable(getattr(RecordCollection, name))
    } - inner == {*RECORD_VERBS}


@pytest.mark.parametrize(("group", "name"), [(group, name) for group, kind in GROUPS.items() for name in methods(kind)])
def test_every_method_of_a_group_has_its_parameters_in_its_own_section(group: str, name: str) -> None:
    told = sections(REFERENCE / "library.md")[f"`{group}.{name}`"]
    assert {each for each in parameters(getattr(GROUPS[group], name)) if not re.search(rf"`{each}\b", told)} == set()


@pytest.mark.parametrize("name", [name for name in retentive.__all__ if is_dataclass(getattr(retentive, name))])
def test_every_field_of_a_value_is_described(name: str) -> None:
    told = sections(REFERENCE / "library.md")[name]
    assert {field.name for field in fields(getattr(retentive, name)) if f"`{field.name}`" not in told} == set()


@pytest.mark.parametrize("choices", [validate.MemoryOptions, scope.View], ids=["options", "filters"])
def test_every_option_and_filter_is_described(choices: type) -> None:
    page = (REFERENCE / "library.md").read_text("utf-8")
    assert {name for name in choices.__annotations__ if f"`{name}`" not in page} == set()


def tree(kind: type[RetentiveError]) -> list[type[RetentiveError]]:
    return [kind, *(each for child in kind.__subclasses__() for each in tree(child))]


@pytest.mark.parametrize("kind", [each for each in tree(RetentiveError) if each.__module__ == errors.__name__])
def test_every_error_is_described_with_its_exit_code_and_hint(kind: type[RetentiveError]) -> None:
    rows = (REFERENCE / "errors.md").read_text("utf-8").splitlines()
    row = next(row for row in rows if row.startswith(f"| `{kind.__name__}` | {outcome(kind('x')).exit_code} |"))
    assert ("yes" if kind.retryable else "no") in row.split(" | ")[2]
    assert kind.default_hint in row


@pytest.mark.usefixtures("desk")
def test_every_key_of_the_json_is_described() -> None:
    page = (REFERENCE / "json.md").read_text("utf-8")
    assert {key for answer in json_answers() for key in keys(answer) if f'"{key}"' not in page} == set()


def json_answers() -> Iterator[Any]:
    """One of each shape."""
    old = answer("add", "The dog is called Rex", "--slot", "dog")
    yield old
    yield answer("add", "The dog of ours is called Rex")
    yield answer("add", "one", "--each-line")
    for verb in (
        "search dog",
        "list",
        "stats",
        "timeline",
        "dashboard",
        "config path",
        "config set fusion rrf",
        "backfill",
        "work --once",
        "doctor",
        "config",
        "demo",
        "completion bash",
    ):
        yield answer(*verb.split())
    for words in ("--model hashing", "--status", "--rollback", "--drop-old"):
        yield answer("reembed", *words.split())
    assert {*answer("mcp", "--tool-cost")} == {"tools", "total"}
    for verb in ("get", "forget", "restore", "history"):
        yield answer(verb, old["memory"]["id"])
    yield answer("update", old["memory"]["id"], "--tag", "x")
    yield answer("why", old["memory"]["id"])
    yield answer("search", "--mode", "text", "alle")
    for words in ("install", "install codex --dry-run", "install codex --print", "install vscode", "uninstall vscode"):
        yield answer(*words.split())
    yield from consolidated_answers()
    yield from spoken_answers()
    yield from recorded_answers()
    issued = answer("token", "create", "--name", "laptop", "--expires", "90d")
    yield issued
    yield answer("token", "list")
    yield answer("token", "revoke", issued["token"]["id"])
    yield from expected_answers(old["memory"]["id"])
    for words in ("backup create copy.db", "backup verify copy.db", "backup restore copy.db --yes", "compact"):
        yield answer(*words.split())
    yield from file_answers()
    for words in ("list", "info fast", "use hashing", "test hashing", "verify hashing", "remove fast"):
        yield answer("models", *words.split())
    yield answer("get", "nothing", code=3)


def consolidated_answers() -> Iterator[Any]:
    for text in ("The user drinks rooibos.", "I drink rooibos"):
        answer("add", text)
    done = answer("consolidate", "--older-than", "0")
    yield done
    yield answer("consolidate", "--undo", done["run"])


def file_answers() -> Iterator[Any]:
    Path("herons.md").write_text("# Herons\n\nThey nest in trees.\n", "utf-8")
    for words in ("index herons.md", "search herons --include files", "files show herons.md", "files list"):
        yield answer(*words.split())
    yield answer("files", "remove", "herons.md")


def expected_answers(dog: str) -> Iterator[Any]:
    made = answer("expect", "what is the dog called?", "--finds", dog)
    yield made
    answer("expect", "the dog", "--absent", dog)
    yield answer("expect", "list")
    yield answer("expect", "run", code=4)
    yield answer("expect", "remove", made["id"])


def recorded_answers() -> Iterator[Any]:
    """One of each shape of records."""
    for words in ("contact add Bo --company Acme", "project add Atlas --participant Bo", "skill add Report --cron @"):
        yield answer(*(word.replace("@", "0 8 * * 1") for word in words.split()))
    yield answer("profile", "set", "city", "Oslo")
    yield answer("contact", "update", "Bo", "--role", "CTO")
    for words in ("list", "history Bo", "diff Bo 1", "find Bo"):
        yield answer("contact", *words.split())
    yield answer("search", "Acme", "--include", "contacts")
    yield answer("skill", "due", "--now", "2099-01-01")
    yield answer("skill", "record", "Report", "sent")
    yield answer("skill", "runs", "Report")
    told = answer("profile")
    assert {*told} == {"id", "namespace", "version", "created", "updated", "document", "sources", "schema"}


def spoken_answers() -> Iterator[Any]:
    """One of each shape that has to do with conversations and notes."""
    Path("log.txt").write_text("Anna: The ferry leaves at nine\nBo: It is late\n", "utf-8")
    yield answer("chat-log", "import", "log.txt")
    Path("table.csv").write_text("text,kind\nThe ferry is red,fact\n,fact\n", "utf-8")
    yield answer("import", "table.csv", code=PARTLY_DONE_EXIT_CODE)
    yield answer("session", "append", "talk", "The ferry to the island leaves at ten")
    yield answer("session", "append", "talk", "And the last one at noon")
    yield answer("session", "put", "talk", "--agent", "x")
    for verb in ("list", "show talk", "replay talk", "summary talk"):
        yield answer("session", *verb.split())
    yield answer("search", "ferry", "--include", "events")
    yield answer("note", "put", "Take the ferry", "--id", "ferry")
    for verb in ("get ferry", "list", "delete ferry"):
        yield answer("note", *verb.split())
    context = answer("context", "when does the ferry leave?", "--session", "talk", "--budget", "20")
    assert context["left_out"]
    yield context
    yield answer("purge", "talk#1", "--yes")
    yield answer("session", "delete", "talk", "--yes")


def answer(*words: str, code: int = 0) -> Any:
    screen = io.StringIO()
    with contextlib.redirect_stdout(screen), contextlib.redirect_stderr(screen):
        assert main([*words, "--json"]) == code
    return json.loads(screen.getvalue())


def keys(value: Any) -> set[str]:
    if isinstance(value, list):
        return {key for each in value for key in keys(each)}
    if not isinstance(value, dict):
        return set()
    return {*value, *(key for each in value.values() for key in keys(each))}
