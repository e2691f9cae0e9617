"""The texts of `--help`, written from the declarations. Nothing heavy is imported, not even click."""

import os
from collections.abc import Iterable, Iterator, Sequence

from retentive.errors import Invalid
from retentive.surface.field import Field
from retentive.surface.options import EVERYWHERE
from retentive.surface.verb import Verb, VerbGroup
from retentive.surface.verbs import TOP_LEVEL, TOPICS, find_verb, list_verbs

_DESCRIPTION = "Long-term memory for AI agents: one file, local embeddings, hybrid search."
_EXAMPLES = """\
examples:
  retentive add "The user's dog is called Rex" --slot user.dog.name
  retentive search "what is my dog's name?"
  retentive add "The user's dog is called Max" --slot user.dog.name   # corrects it
  echo "Deploys happen on Tuesdays" | retentive add --kind pattern --tag ops
  retentive contact add "Anna Keller" --role CTO --company Acme
  retentive session append monday "Rex has a vet appointment on Friday"
  retentive context "when is the vet?" --session tuesday --budget 500

The store is one file, by default in your data folder. --db or RETENTIVE_DB
chooses another. `retentive help VERB` explains a verb.

exit codes: 0 done, 1 unexpected, 2 wrong input, 3 not found, 4 conflict,
  5 storage, 6 embedding, 7 missing extra, 8 language model, 9 forbidden
"""
DEFAULT_COLUMNS, MIN_COLUMNS, MAX_COLUMNS = 80, 50, 100  # of a terminal; longer lines are hard to read
MAX_OPTION_CHARS = 26  # in the left column; the help of a longer option begins on the next line


def render_help(name: str | None) -> str:
    """Return the help of a verb or a group; without a name, of the program."""
    if not name:
        return render_program_help()
    found = find_verb(name)
    if found is None:
        raise _refuse_verb(name)
    return render_verb_help(found) if isinstance(found, Verb) else render_group_help(found)


def _refuse_verb(name: str) -> Invalid:
    from difflib import get_close_matches

    names = [*TOP_LEVEL, *(verb.name for verb in list_verbs())]
    close = get_close_matches(name, names, 1)
    question = f"Did you mean `retentive help {close[0]}`? " if close else ""
    return Invalid(f"there is no verb {name!r}", f"{question}`retentive help` lists all verbs.")


def render_program_help() -> str:
    width = max(len(verb.name) for topic in TOPICS for verb in topic.verbs)
    parts = [f"usage: retentive VERB ...\n\n{_DESCRIPTION}\n"]
    for topic in TOPICS:
        rows = [f"  {verb.name:{width}}  {verb.help}" for verb in topic.verbs]
        parts.append("\n".join([f"{topic.title}:", *rows, ""]))
    version = Field("version", "flag", "print the version", short="-V")
    help = Field("help", "flag", "explain a verb, or list all verbs", short="-h")
    parts.append(_render_fields("everywhere", (*EVERYWHERE, help, version)))
    return "\n".join([*parts, _EXAMPLES])


def render_group_help(group: VerbGroup) -> str:
    width = max(len(verb.own_name) for verb in group.verbs)
    verbs = "".join(_render_row(verb.own_name, verb.help, width) for verb in group.verbs)
    return "\n".join(
        [
            f"usage: retentive {group.name} VERB ...\n",
            f"{_make_sentence(group.help)}\n",
            f"verbs:\n{verbs}",
            *([_wrap_text(group.epilog)] if group.epilog else []),
            f"`retentive {group.name} VERB --help` explains a verb.\n",
        ]
    )


def render_verb_help(verb: Verb) -> str:
    parts = [f"usage: {render_usage(verb)}\n", f"{_make_sentence(verb.help)}\n"]
    if explained := [each for each in verb.arguments if each.help]:
        rows = "".join(_render_row(each.metavar, each.help, MAX_OPTION_CHARS) for each in explained)
        parts.append(f"arguments:\n{rows}")
    for title, fields in _group_fields(verb.options):
        parts.append(_render_fields(title, fields))
    parts.append(_render_fields("everywhere", EVERYWHERE))
    if verb.examples:
        parts.append("\n".join(["examples:", *(f"  retentive {each}" for each in verb.examples), ""]))
    if verb.epilog:
        parts.append(_wrap_text(verb.epilog))
    return "\n".join(parts)


def render_usage(verb: Verb) -> str:
    places = [_render_place(each) for each in verb.arguments]
    return " ".join(["retentive", verb.name, *places, "[options]"])


def _render_place(field: Field) -> str:
    name = f"{field.metavar} ..." if field.many or field.type == "words" else field.metavar
    return name if field.required else f"[{name}]"


def _group_fields(fields: Sequence[Field]) -> Iterator[tuple[str, Sequence[Field]]]:
    groups: dict[str, list[Field]] = {"options": []}
    for field in fields:
        groups.setdefault(field.group or "options", []).append(field)
    return ((title, each) for title, each in groups.items() if each)


def _render_fields(title: str, fields: Iterable[Field]) -> str:
    return f"{title}:\n" + "".join(_render_row(_render_option(each), each.help, MAX_OPTION_CHARS) for each in fields)


def _render_option(field: Field) -> str:
    """Write an option with its value. Long options stand below each other, whether they have a letter or not."""
    letter = f"{field.short}, " if field.short else "    "
    names = f"{field.option}, {field.off_flag}" if field.off_flag else field.option
    return f"{letter}{names}" if field.type == "flag" else f"{letter}{names} {field.metavar}"


def _render_row(left: str, right: str, width: int) -> str:
    lines = _wrap_line(right, _get_columns() - width - 4)
    first = f"  {left:{width}}  {lines[0]}" if len(left) <= width else f"  {left}\n{'':{width + 4}}{lines[0]}"
    return "".join(f"{line.rstrip()}\n" for line in (first, *(f"{'':{width + 4}}{each}" for each in lines[1:])))


def _make_sentence(text: str) -> str:
    return _wrap_text(f"{text[0].upper()}{text[1:]}.").rstrip("\n")


def _wrap_text(text: str) -> str:
    """Wrap paragraphs. A line that is indented is an example, and stays as it is."""
    lines: list[str] = []
    for line in text.splitlines():
        lines += [line] if line.startswith(" ") else _wrap_line(line, _get_columns())
    return "".join(f"{line}\n" for line in lines)


def _wrap_line(text: str, width: int) -> list[str]:
    lines = [""]
    for word in text.split(" "):
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".lstrip(" ")
    return lines


def _get_columns() -> int:
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns):
        return min(max(int(columns), MIN_COLUMNS), MAX_COLUMNS)
    try:
        return min(max(os.get_terminal_size().columns, MIN_COLUMNS), MAX_COLUMNS)
    except OSError:
        return DEFAULT_COLUMNS
