"""The command line: `retentive VERB ...`. The verbs have the names of the library's methods."""

import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from typing import Any

_COMPLETION_VARIABLE = "_RETENTIVE_COMPLETE"


def main(argv: Sequence[str] | None = None) -> int:
    words = sys.argv[1:] if argv is None else argv
    try:
        return _parse_and_run(words)
    except KeyboardInterrupt:
        sys.stderr.write("\ninterrupted: what was stored before stays\n")
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 141


def _parse_and_run(words: Sequence[str]) -> int:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a pipe that is not UTF-8 still gets its answer
    if instruction := os.environ.get(_COMPLETION_VARIABLE):
        from retentive.cli.completion import complete

        complete(instruction)
        return 0
    is_bare = not words and not sys.stdout.isatty()  # on a terminal it shows the dashboard
    if is_bare or words[:1] in (["-h"], ["--help"]):
        from retentive.cli.help import render_program_help

        sys.stdout.write(render_program_help())
        return 0
    return _run_verb(words)


def _run_verb(words: Sequence[str]) -> int:
    import click

    from retentive.cli import program
    from retentive.errors import RetentiveError

    try:
        arguments = program.parse(words)
    except click.UsageError as error:
        from retentive.cli.mistakes import explain

        return _fail(explain(error), words)
    except RetentiveError as error:
        return _fail(error, words)
    return _run(arguments) if arguments else 0


def _run(arguments: Any) -> int:
    if arguments.run == "hook" and arguments.event != "report":
        from retentive.cli.hook import run_guarded

        return run_guarded(arguments)
    return _run_command(arguments)


def _fail(error: Any, words: Sequence[str]) -> int:
    """Print why the words are no command. A hook that exits with 2 would block the user."""
    from retentive.cli import output, program
    from retentive.errors import outcome

    output.print_error(error, as_json="--json" in words or "-j" in words)
    is_hook = words[program.count_common(words) :][:1] == ["hook"]
    return 0 if is_hook else outcome(error).exit_code


def _run_command(arguments: Any) -> int:
    """Run a command. An error becomes one line with a hint, and the exit code of its class."""
    from retentive.cli import about
    from retentive.errors import RetentiveError, outcome

    try:
        if arguments.run in about.VERBS:
            return about.VERBS[arguments.run](arguments)
        from retentive.cli import commands

        return commands.run(arguments)
    except RetentiveError as error:
        failure = error
    except BrokenPipeError:
        raise
    except Exception as error:
        from retentive.cli.unexpected import describe_unexpected

        if sys.flags.dev_mode:
            raise
        failure = describe_unexpected(error)
    from retentive.cli import output

    output.print_error(failure, as_json=arguments.json)
    return outcome(failure).exit_code
