"""`retentive hook EVENT`, which Claude Code runs beside a conversation.

It must never disturb the user. An exit code of 2 would block the prompt, or keep the model from stopping, and standard
output goes to the model. So the exit code is always 0, standard output has the whole answer or nothing, and a failure
is one line on standard error. A timer ends the process if it takes too long. That is like a kill: nothing stored is
lost, and the next hook continues.

`retentive hook report` is for people: it says what the hooks showed, and whether it was used.
"""

import os
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from retentive.cli.args import is_json, pick_options

if TYPE_CHECKING:
    from retentive.api import Retentive
    from retentive.memories.injections import InjectionReport

MAX_INPUT_BYTES = 32_000_000  # more than any prompt
MAX_UNUSED = 10  # memories that were never used, in the table; JSON has all


def run_guarded(arguments: Any) -> int:
    clock = threading.Timer(arguments.time_limit, _give_up, [arguments])
    clock.daemon = True
    clock.start()
    try:
        output = _run_hook(arguments)
    except Exception as error:  # noqa: BLE001 - no failure may disturb the user
        _print_failure(arguments, str(error) or type(error).__name__)
        return 0
    finally:
        clock.cancel()
    if output:
        sys.stdout.write(f"{output}\n")
        sys.stdout.flush()
    _exit_without_threads()
    return 0


def _run_hook(arguments: Any) -> str:
    from retentive.hooks.request import HookOptions, parse_call
    from retentive.hooks.run import run_hook

    options = HookOptions(**pick_options(arguments, ("namespace", "also", "budget", "db", "embedder", "time_limit")))
    return run_hook(arguments.event, parse_call(_read_input()), options)


def _read_input() -> bytes:
    from retentive.errors import Invalid

    if sys.stdin is None or sys.stdin.isatty():
        raise Invalid("no input: Claude Code gives a hook its JSON on standard input")
    found = sys.stdin.buffer.read(MAX_INPUT_BYTES + 1)
    if len(found) > MAX_INPUT_BYTES:
        raise Invalid(f"the input has more than {MAX_INPUT_BYTES:,} bytes")
    return found


def _print_failure(arguments: Any, reason: str) -> None:
    from retentive.cli.output import sanitise

    if arguments.debug:
        import traceback

        traceback.print_exc()
    sys.stderr.write(f"retentive hook {arguments.event}: {sanitise(reason)}\n")


def _give_up(arguments: Any) -> None:
    """End the process, because a thread cannot end another thread."""
    sys.stderr.write(f"retentive hook {arguments.event}: gave up after {arguments.time_limit:g} s\n")
    sys.stderr.flush()
    os._exit(0)


def _exit_without_threads() -> None:
    """End the process at once if a thread is still loading the model."""
    from retentive.hooks.request import LATE_THREAD_NAME

    if any(thread.name == LATE_THREAD_NAME for thread in threading.enumerate()):
        os._exit(0)


def _report(memory: "Retentive", arguments: Any) -> int:
    """Report what the hooks showed."""
    from retentive.cli import output

    also = [*arguments.also, *([memory.person] if memory.person else [])]
    report = memory.injections.report(arguments.days, arguments.session, also)
    if is_json(arguments):
        output.print_json(
            {
                "sessions": [{**each._asdict(), "started": each.started.isoformat()} for each in report.sessions],
                "unused": [each._asdict() for each in report.unused],
            }
        )
        return 0
    _print_report(report, arguments.days)
    return 0


def _print_report(report: "InjectionReport", days: int) -> None:
    from retentive.cli import output

    if not report.sessions:
        output.print_line(f"nothing was shown in the last {output.format_count(days, 'day')}")
        return
    output.print_table(
        ("session", "started", "prompts", "shown", "used", "tokens"),
        (
            (
                each.session,
                f"{each.started:%Y-%m-%d %H:%M}",
                "-" if each.prompts is None else each.prompts,
                each.injected,
                each.used,
                each.tokens,
            )
            for each in report.sessions
        ),
    )
    if report.unused:
        output.print_raw()
        output.print_line("Shown most often and never used:")
        rows = ((each.id, each.shown, each.content) for each in report.unused[:MAX_UNUSED])
        output.print_table(("memory", "sessions", "content"), rows)


VERBS: dict[str, Callable[["Retentive", Any], int]] = {"hook": _report}
