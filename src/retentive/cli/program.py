"""The program on click, built from the declarations. Only what is called becomes a click command.

click splits the words into options and arguments, and completes them in the shell. What a word means (a number, one of
some choices) is read in `values.py`; what is wrong with the words is explained in `mistakes.py`.
"""

import sys
from collections.abc import Callable, Collection, Iterator, Sequence

import click
from click.core import ParameterSource

from retentive import __version__
from retentive.cli.args import Arguments
from retentive.cli.completion import complete_value
from retentive.cli.help import render_group_help, render_program_help, render_usage, render_verb_help
from retentive.cli.values import convert
from retentive.errors import Invalid
from retentive.surface.field import Field
from retentive.surface.options import EVERYWHERE
from retentive.surface.verb import Verb, VerbGroup
from retentive.surface.verbs import TOP_LEVEL

NAME = "retentive"
_HELP_NAMES = ["-h", "--help"]
_CLICK_SETTINGS = {"help_option_names": _HELP_NAMES}


def parse(words: Sequence[str]) -> Arguments | None:
    """Parse the words after `retentive`. None: help or the version were printed. Mistakes raise click's UsageError."""
    try:
        with build_program().make_context(NAME, [*words]) as context:
            found: Arguments | None = context.command.invoke(context)
            return found
    except click.exceptions.Exit:
        return None


def build_program() -> "VerbChooser":
    options = [*_make_common_options(), _make_version_option()]
    return VerbChooser(NAME, TOP_LEVEL, render_program_help, options)


class VerbCommand(click.Command):
    """A verb as a command of click."""

    def __init__(self, verb: Verb) -> None:
        places = [_make_argument(each) for each in verb.arguments]
        options = [_make_option(each) for each in verb.options]
        super().__init__(
            verb.own_name,
            params=[*places, *options, *_make_common_options()],
            help=verb.help,
            context_settings=_CLICK_SETTINGS,
        )
        self.verb = verb

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, [*_expand_options(args, list_option_names(self.verb))])

    def invoke(self, ctx: click.Context) -> Arguments:
        given = {name: value for context in _list_contexts(ctx) for name, value in _find_given(context)}
        fields = {field.name: field for field in (*EVERYWHERE, *self.verb.fields)}
        for names in self.verb.exclusive:
            _refuse_several([fields[name].option for name in names if name in given])
        for field in self.verb.arguments:
            if field.required and field.name not in given:
                raise Invalid(f"{field.metavar} is missing", f"Usage: `{render_usage(self.verb)}`.")
        places = {field.name: field.metavar for field in self.verb.arguments}
        values = {
            name: convert(fields[name], value, places.get(name, fields[name].option)) for name, value in given.items()
        }
        return Arguments(self.verb, values)

    def get_help(self, ctx: click.Context) -> str:  # noqa: ARG002 - click's signature
        return render_verb_help(self.verb).rstrip("\n")


class VerbChooser(click.Group):
    """The program, or a group of its verbs. A verb becomes a command when it is asked for."""

    def __init__(
        self,
        name: str,
        verbs: dict[str, Verb | VerbGroup],
        render: Callable[[], str],
        params: list[click.Parameter],
        *,
        group: VerbGroup | None = None,
    ) -> None:
        super().__init__(name, params=params, context_settings=_CLICK_SETTINGS)
        self.verbs, self._render, self.verb_group = verbs, render, group
        self.help = group.help if group else None

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return [*self.verbs]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        found = self.verbs.get(cmd_name)
        if isinstance(found, VerbGroup):
            return _build_group(found)
        return VerbCommand(found) if found else None

    def get_help(self, ctx: click.Context) -> str:  # noqa: ARG002 - click's signature
        return self._render().rstrip("\n")

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        count = count_common(args)
        args = [*_expand_options(args[:count], _COMMON_NAMES), *args[count:]]
        if self.verb_group:
            args = _insert_verb(self.verb_group, args)
        if not ctx.resilient_parsing and count_common(args) == len(args):  # there is no verb
            if self.verb_group or not sys.stdout.isatty():
                click.echo(self.get_help(ctx))
                ctx.exit()
            args = [*args, "dashboard"]
        return super().parse_args(ctx, args)


def _insert_verb(group: VerbGroup, args: list[str]) -> list[str]:
    """Insert the default verb if none was typed: `alone` if nothing was, else `otherwise`."""
    count = count_common(args)
    if count == len(args):
        return [group.alone, *args] if group.alone else args
    is_verb = args[count] in (*(each.own_name for each in group.verbs), *_HELP_NAMES)
    if is_verb or not group.otherwise or _is_meant_as_verb(group, args[count]):
        return args
    return [group.otherwise, *args]


def _is_meant_as_verb(group: VerbGroup, word: str) -> bool:
    """Whether a word was surely meant as a verb, and is not the first word of a text for the default verb."""
    from difflib import get_close_matches

    takes_words = any(each.arguments for each in group.verbs if each.own_name == group.otherwise)
    is_close = bool(get_close_matches(word, [each.own_name for each in group.verbs]))
    return not word.startswith("-") and (is_close or not takes_words)


def _build_group(group: VerbGroup) -> VerbChooser:
    verbs: dict[str, Verb | VerbGroup] = {each.own_name: each for each in group.verbs}
    return VerbChooser(group.name, verbs, lambda: render_group_help(group), _make_common_options(), group=group)


def list_option_names(verb: Verb) -> list[str]:
    """Return the long options of a verb, as they are typed."""
    fields = (*verb.options, *EVERYWHERE)
    return [name for each in fields for name in (each.option, each.off_flag) if name] + ["--help"]


def count_common(words: Sequence[str]) -> int:
    """Count the leading words that are common options or their values."""
    count = 0
    while count < len(words):
        name, is_joined, _ = words[count].partition("=")
        field = _find_common(name)
        if field is None:
            return count
        has_value = not is_joined and field.type != "flag" and (name.startswith("--") or len(name) == len(field.short))
        count += 2 if has_value else 1
    return len(words)


def _find_common(name: str) -> Field | None:
    """Find the common option of a word: in full, cut short, or a letter with its value."""
    if name.startswith("--"):
        fitting = [each for each in EVERYWHERE if each.option.startswith(name)]
        return fitting[0] if len(fitting) == 1 and name != "--" else None
    return next((each for each in EVERYWHERE if each.short and name.startswith(each.short)), None)


_COMMON_NAMES = [each.option for each in EVERYWHERE]


def _expand_options(words: Sequence[str], names: Collection[str]) -> Iterator[str]:
    """Complete the options that were cut short, if it is clear which are meant."""
    is_option = True
    for word in words:
        is_option = is_option and word != "--"
        name, equals, value = word.partition("=")
        fitting = {each for each in names if each.startswith(name)} if is_option and name.startswith("--") else set()
        is_cut = len(fitting) == 1 and name != "--"
        yield f"{fitting.pop()}{equals}{value}" if is_cut and name not in names else word


def _list_contexts(ctx: click.Context) -> list[click.Context]:
    """Return the contexts from the program to the verb: an option after the verb counts for more."""
    return [*(_list_contexts(ctx.parent) if ctx.parent else ()), ctx]


def _find_given(ctx: click.Context) -> Iterator[tuple[str, object]]:
    for name, value in ctx.params.items():
        if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE and value not in (None, ()):
            yield name, value


def _refuse_several(options: Sequence[str]) -> None:
    if len(options) > 1:
        raise Invalid(f"{' and '.join(options)} exclude each other", "Give only one of them.")


def _make_argument(field: Field) -> click.Argument:
    has_many = field.many or field.type == "words"
    return click.Argument(
        [field.name],
        nargs=-1 if has_many else 1,
        required=False,
        metavar=field.metavar,
        type=click.UNPROCESSED,
        shell_complete=lambda ctx, _, incomplete: complete_value(field, ctx, incomplete),
    )


def _make_option(field: Field) -> click.Option:
    names = [field.name, *([field.short] if field.short else [])]
    if field.type == "flag":
        switch = f"{field.option}/{field.off_flag}" if field.off_flag else field.option
        return click.Option([*names, switch], is_flag=True, default=None, help=field.help)
    return click.Option(
        [*names, field.option],
        multiple=field.many,
        metavar=field.metavar,
        help=field.help,
        type=click.UNPROCESSED,
        shell_complete=lambda ctx, _, incomplete: complete_value(field, ctx, incomplete),
    )


def _make_common_options() -> list[click.Parameter]:
    return [_make_option(each) for each in EVERYWHERE]


def _make_version_option() -> click.Option:
    def show(ctx: click.Context, _: click.Parameter, value: bool) -> None:
        if value and not ctx.resilient_parsing:
            click.echo(f"{NAME} {__version__}")
            ctx.exit()

    return click.Option(
        ["-V", "--version"], is_flag=True, is_eager=True, expose_value=False, callback=show, help="print the version"
    )
