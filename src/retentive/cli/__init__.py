"""The command line: `retentive VERB ...`. The verbs have the names of the library's methods."""

import sys
from collections.abc import Sequence
from io import TextIOWrapper


def main(argv: Sequence[str] | None = None) -> int:
    words = sys.argv[1:] if argv is None else argv
    try:
        return _parse_and_run(words)
    except SystemExit as end:
        if end.code and words[:1] == ["hook"]:
            return 0  # a hook that exits with 2 would block the user
        raise
    except KeyboardInterrupt:
        sys.stderr.write("\ninterrupted: what was stored before stays\n")
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 141


def _parse_and_run(argv: Sequence[str]) -> int:
    from retentive.cli.parser import build_parser

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a pipe that is not UTF-8 still gets its answer
    arguments = build_parser(argv).parse_args(argv)
    if not arguments.run:
        arguments.show_help()
        return 0
    if arguments.run == "hook" and arguments.event != "report":
        from retentive.cli.hook import run_guarded

        return run_guarded(arguments)
    return _run_command(arguments)


def _run_command(arguments: object) -> int:
    """Run a command. An error becomes one line with a hint, and the exit code of its class."""
    from retentive.cli import commands, output
    from retentive.cli.unexpected import describe_unexpected
    from retentive.errors import RetentiveError, outcome

    try:
        return commands.run(arguments)
    except RetentiveError as error:
        output.print_error(error, as_json=getattr(arguments, "json", False))
        return outcome(error).exit_code
    except BrokenPipeError:
        raise
    except Exception as error:
        if sys.flags.dev_mode:
            raise
        failure = describe_unexpected(error)
        output.print_error(failure, as_json=getattr(arguments, "json", False))
        return outcome(failure).exit_code
