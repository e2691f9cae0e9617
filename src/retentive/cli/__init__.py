"""The terminal: `retentive VERB ...`, the verbs of the library by the same names."""

import sys
from collections.abc import Sequence
from io import TextIOWrapper


def main(argv: Sequence[str] | None = None) -> int:
    words = sys.argv[1:] if argv is None else argv
    try:
        return _main(words)
    except SystemExit as left:
        if left.code and words[:1] == ["hook"]:
            return 0  # of a hook that is typed wrongly, too: 2 would block the user
        raise
    except KeyboardInterrupt:
        sys.stderr.write("\ninterrupted: what was kept stays\n")
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 141


def _main(argv: Sequence[str]) -> int:
    from retentive.cli.parser import build

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a pipe that is not UTF-8 still gets its answer
    arguments = build(argv).parse_args(argv)
    if not arguments.run:
        arguments.show_help()
        return 0
    if arguments.run == "hook":
        from retentive.cli.hook import run

        return run(arguments)
    return _guarded(arguments)


def _guarded(arguments: object) -> int:
    """Run a command; errors become one line with a hint and the exit code of their class."""
    from retentive.cli import commands, output
    from retentive.cli.unexpected import describe_unexpected
    from retentive.errors import RetentiveError, outcome

    try:
        return commands.run(arguments)
    except RetentiveError as error:
        output.failure(error, as_json=getattr(arguments, "json", False))
        return outcome(error).exit_code
    except BrokenPipeError:
        raise
    except Exception as error:
        if sys.flags.dev_mode:
            raise
        failure = describe_unexpected(error)
        output.failure(failure, as_json=getattr(arguments, "json", False))
        return outcome(failure).exit_code
