"""Child programs without the cost of importing the package: a server imports it once, and forks for each of them.

A child is a process of its own like any other: it has its own pid, connections and locks, and SIGKILL ends it at any
instant. What it saves is 0.3 to 0.8 s of imports. Tests about starting, importing or what the interpreter is given use
`subprocess` itself.

`ForkedProgram` is a `Popen`. Where another program starts `retentive` by its path, `write_command` makes a command
that asks the server for the child and stands for it: it forwards signals, and ends as the child does.

The server has one thread, because a fork copies only one. It passes each child's status back over a socket, since only
a parent can wait for a child. It ends when the tests end, because the pipe to its standard input is closed then.
"""

import atexit
import contextlib
import gc
import json
import os
import random
import runpy
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

PRELOADED = (
    "numpy",
    "apsw",
    "retentive.api",
    "retentive.cli",
    "retentive.cli.commands",
    "retentive.cli.program",
    "retentive.embed.hashing_embedder",
    "retentive.index.image",
    "retentive.storage.engines.libsql",
    "retentive.mcp.stdio",
)
"""Modules that most programs import. Importing them starts no thread and opens nothing."""
ROOT = str(Path(__file__).parents[1])
SIZE_BYTES = 4

COMMAND = """#!{python} -ISs
import json, os, signal, socket, sys
server = socket.socket(socket.AF_UNIX)
server.connect({address!r})
mine, theirs = socket.socketpair()
request = {{"args": ["-m", "retentive", *sys.argv[1:]], "cwd": os.getcwd(), "env": dict(os.environ)}}
data = json.dumps(request).encode()
socket.send_fds(server, [len(data).to_bytes(4, "big")], [theirs.fileno(), 0, 1, 2])
server.sendall(data)
theirs.close()
pid = int.from_bytes(mine.recv(4), "big")
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, lambda number, _: os.kill(pid, number))
os.close(0), os.close(1)  # else a pipe would seem to have one more reader and one more writer
code = os.waitstatus_to_exitcode(int.from_bytes(mine.recv(4), "big"))
if code < 0:
    signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
os._exit(code)
"""


class ForkedProgram(subprocess.Popen[Any]):
    """A child of the fork server, with the interface of `Popen`.

    The command is `sys.executable`, then the path of a program or `-m` and a module, then its arguments.
    """

    def __init__(self, args: Sequence[str], **options: Any) -> None:
        self._status: socket.socket
        super().__init__(args, **options)

    def _execute_child(self, args: Sequence[str], *others: Any) -> None:
        """Ask the server for a child. The positions are those of CPython's own method, the same since 3.11."""
        cwd, env, start_new_session = others[4], others[5], others[20]
        p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite = others[9:15]
        request = {
            "args": [str(each) for each in args[1:]],
            "cwd": str(cwd or Path.cwd()),
            "env": dict(os.environ if env is None else env),
            "start_new_session": bool(start_new_session),
        }
        data = json.dumps(request).encode()
        self._status, theirs = socket.socketpair()
        streams = [fd if fd != -1 else standard for fd, standard in ((p2cread, 0), (c2pwrite, 1), (errwrite, 2))]
        with socket.socket(socket.AF_UNIX) as server:
            server.connect(_start_server())
            socket.send_fds(server, [len(data).to_bytes(SIZE_BYTES, "big")], [theirs.fileno(), *streams])
            server.sendall(data)
        theirs.close()
        self.pid = int.from_bytes(_receive(self._status, SIZE_BYTES), "big")
        self._child_created = True
        for childs, mine in ((p2cread, p2cwrite), (c2pwrite, c2pread), (errwrite, errread)):
            if -1 not in (childs, mine):
                os.close(childs)
        if hasattr(self, "_devnull"):
            os.close(self._devnull)
        self._closed_child_pipe_fds = True

    def _internal_poll(self, *_: Any, **__: Any) -> int | None:
        if self.returncode is None:
            self._try_wait(os.WNOHANG)
        return self.returncode

    def _try_wait(self, wait_flags: int) -> tuple[int, int]:
        self._status.setblocking(not wait_flags & os.WNOHANG)
        try:
            raw = self._status.recv(SIZE_BYTES)
        except BlockingIOError:
            return 0, 0
        self._status.close()
        status = int.from_bytes(raw, "big") if raw else signal.SIGKILL
        self.returncode = os.waitstatus_to_exitcode(status)
        return self.pid, status


def run_program(args: Sequence[str], *, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, as `subprocess.run` does, and return what it printed."""
    pipe = subprocess.PIPE
    with ForkedProgram(args, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True) as process:
        output, errors = process.communicate(timeout=120)
    done = subprocess.CompletedProcess(args, process.returncode, output, errors)
    if check:
        done.check_returncode()
    return done


@cache
def write_command() -> Path:
    """A file `retentive` that runs as a child of the fork server."""
    address = _start_server()
    path = Path(address).with_name("retentive")
    path.write_text(COMMAND.format(python=sys.executable, address=address))
    path.chmod(0o700)
    return path


_lock = threading.Lock()
_process: subprocess.Popen[bytes] | None = None
_address = ""


def _start_server() -> str:
    """The address of the server, started by the first who asks. It lives as long as the pipe to its input."""
    global _process, _address  # noqa: PLW0603 - one server for each process of tests
    with _lock:
        if _process is None:
            _address = str(Path(tempfile.mkdtemp(prefix="retentive-fork-")) / "server")
            with socket.socket(socket.AF_UNIX) as listening:
                listening.bind(_address)
                listening.listen(64)
                number = listening.fileno()
                command = [sys.executable, "-m", "tests.forkserver", str(number)]
                options: dict[str, Any] = {"cwd": ROOT, "stdin": subprocess.PIPE, "start_new_session": True}
                _process = subprocess.Popen(command, pass_fds=[number], **options)
    return _address


def _receive(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        part = connection.recv(count - len(data))
        if not part:
            raise ConnectionError("the other side of the fork server is gone")
        data += part
    return data


class _Server:
    """Forks a child for each request, and reports each child that ended."""

    def __init__(self, listening: socket.socket) -> None:
        self._listening = listening
        self._children: dict[int, socket.socket] = {}
        self._wakeup, self._wakeup_writer = socket.socketpair()
        self._wakeup_writer.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._wakeup_writer.fileno())
        self._selector = selectors.DefaultSelector()
        for each in (listening, self._wakeup, 0):
            self._selector.register(each, selectors.EVENT_READ)

    def run(self) -> Callable[[], None] | None:
        """Serve until the tests end. In a child: return the program that it is to run."""
        while True:
            ready = {key.fileobj for key, _ in self._selector.select()}
            if 0 in ready:
                return None
            if self._wakeup in ready:
                self._wakeup.recv(4096)
                self._report_ended()
            if self._listening in ready:
                program = self._answer()
                if program:
                    return program

    def _answer(self) -> Callable[[], None] | None:
        connection, _ = self._listening.accept()
        with connection:
            header, fds, _, _ = socket.recv_fds(connection, SIZE_BYTES, 4)
            request = json.loads(_receive(connection, int.from_bytes(header, "big")))
        return self._fork(request, fds)

    def _report_ended(self) -> None:
        while self._children:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            self._tell(self._children[pid], status)
            self._children.pop(pid).close()

    def _fork(self, request: dict[str, Any], fds: list[int]) -> Callable[[], None] | None:
        status, *streams = fds
        pid = os.fork()
        if pid:
            for fd in streams:
                os.close(fd)
            self._children[pid] = socket.socket(fileno=status)
            self._tell(self._children[pid], pid)
            return None
        self._close()
        os.close(status)
        return lambda: _run_program(request, streams)

    @staticmethod
    def _tell(connection: socket.socket, number: int) -> None:
        with contextlib.suppress(BrokenPipeError):  # nobody waits for this child any more
            connection.send(number.to_bytes(SIZE_BYTES, "big"), socket.MSG_NOSIGNAL)

    def _close(self) -> None:
        """In a child: let go of all that is the server's."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._selector.close()
        for each in (self._listening, self._wakeup, self._wakeup_writer, *self._children.values()):
            each.close()


def _run_program(request: dict[str, Any], streams: Sequence[int]) -> None:
    """Become the program: its streams, folder, environment and arguments."""
    if request.get("start_new_session"):
        os.setsid()
    for target, fd in enumerate(streams):
        os.dup2(fd, target)
    for fd in set(streams) - {0, 1, 2}:
        os.close(fd)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 - as the interpreter opens its own three
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stdout.reconfigure(write_through=bool(request["env"].get("PYTHONUNBUFFERED")))
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    random.seed()
    args = request["args"]
    if args[0] == "-m":
        sys.argv = [args[1], *args[2:]]
        runpy.run_module(args[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = args
        sys.path.insert(0, str(Path(args[0]).parent))
        runpy.run_path(args[0], run_name="__main__")


def main() -> None:
    for module in PRELOADED:
        __import__(module)
    listening = socket.socket(fileno=int(sys.argv[1]))
    folder = Path(listening.getsockname()).parent
    gc.freeze()  # or each child would copy the memory of all modules when it collects garbage
    program = _Server(listening).run()
    if program:
        _run_to_end(program)
    else:
        shutil.rmtree(folder)


def _run_to_end(program: Callable[[], None]) -> None:
    """Run and end as an interpreter does, but for tearing down each module, which takes 0.3 s."""
    code: Any = 0
    try:
        program()
    except SystemExit as end:
        code = end.code
    except BaseException as error:  # noqa: BLE001 - as the interpreter reports it
        sys.excepthook(type(error), error, error.__traceback__)
        code = -signal.SIGINT if isinstance(error, KeyboardInterrupt) else 1
    if code is not None and not isinstance(code, int):
        print(code, file=sys.stderr)
        code = 1
    threading._shutdown()  # type: ignore[attr-defined] # waits for threads, as at the end of any program
    atexit._run_exitfuncs()
    with contextlib.suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    if code == -signal.SIGINT:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    os._exit(code or 0)


if __name__ == "__main__":
    main()
