"""`retentive hook EVENT`: what Claude Code runs beside a conversation.

It must never get into the user's way. An exit code of 2 would block the prompt, or keep the model from stopping; what
is printed goes to the model. So whatever happens the exit code is 0, standard output has all or nothing, a failure is
one line on standard error, and a clock of its own ends what takes too long. Being ended is like being killed: nothing
kept is lost, and the next hook goes on.
"""

import os
import sys
import threading
from typing import Any

from retentive.cli.args import given

MOST = 32_000_000  # bytes of input: more than any prompt


def run(arguments: Any) -> int:
    clock = threading.Timer(arguments.limit, _give_up, [arguments])
    clock.daemon = True
    clock.start()
    try:
        output = _answer(arguments)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is not to become the user's
        _tell(arguments, str(error) or type(error).__name__)
        return 0
    finally:
        clock.cancel()
    if output:
        sys.stdout.write(f"{output}\n")
        sys.stdout.flush()
    _leave()
    return 0


def _answer(arguments: Any) -> str:
    from retentive.hooks.request import Options, called
    from retentive.hooks.run import answer

    options = Options(**given(arguments, ("namespace", "also", "budget", "db", "embedder", "limit")))
    return answer(arguments.event, called(_input()), options)


def _input() -> bytes:
    from retentive.errors import Invalid

    if sys.stdin is None or sys.stdin.isatty():
        raise Invalid("no input; it reads what Claude Code gives to a hook")
    found = sys.stdin.buffer.read(MOST + 1)
    if len(found) > MOST:
        raise Invalid(f"the input has more than {MOST:,} bytes")
    return found


def _tell(arguments: Any, what: str) -> None:
    from retentive.cli.output import line

    if arguments.debug:
        import traceback

        traceback.print_exc()
    sys.stderr.write(f"retentive hook {arguments.event}: {line(what)}\n")


def _give_up(arguments: Any) -> None:
    """A thread can end the process, but not another thread."""
    sys.stderr.write(f"retentive hook {arguments.event}: not done within {arguments.limit:g} s\n")
    sys.stderr.flush()
    os._exit(0)


def _leave() -> None:
    """Where the model is still being loaded in a thread, that is not waited for."""
    from retentive.hooks.request import LATE

    if any(thread.name == LATE for thread in threading.enumerate()):
        os._exit(0)
