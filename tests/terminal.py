"""A terminal for the program."""

import os
import pty
import sys

from tests.forkserver import ForkedProgram


def terminal(*arguments: str, **environment: str) -> str:
    """What a person at a terminal sees."""
    outer, inner = pty.openpty()
    command = [sys.executable, "-m", "retentive", *arguments]
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "80", **environment}
    process = ForkedProgram(command, stdin=inner, stdout=inner, stderr=inner, env=env)
    os.close(inner)
    seen = b""
    try:
        while part := os.read(outer, 65536):
            seen += part
    except OSError:  # the terminal is gone with its last user
        pass
    os.close(outer)
    process.wait()
    return seen.decode().replace("\r\n", "\n")
