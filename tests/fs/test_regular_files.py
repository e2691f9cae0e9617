"""Whatever a path leads to, reading it ends: only regular files are read, of a limited size, and within some time."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from retentive.errors import Invalid
from retentive.fs.regular_files import RegularFile, open_regular, read_regular, require_regular, wait_for

SPECIAL = ("fifo", "socket", "/dev/zero", "/dev/null", "/dev/tty", "/proc/self/status", "/proc/self/pagemap")


@pytest.fixture(params=SPECIAL)
def special(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """Something that is no regular file."""
    path = tmp_path / request.param.lstrip("/")
    match request.param:
        case "fifo":
            os.mkfifo(path)
            yield path
        case "socket":
            with socket.socket(socket.AF_UNIX) as server:
                server.bind(os.path.relpath(path))  # an absolute path may be too long for one
                yield path
        case _ if Path(request.param).exists():
            yield Path(request.param)
        case _:
            pytest.skip(f"there is no {request.param}")


def test_only_a_regular_file_is_read(special: Path) -> None:
    readers: list[Callable[[], object]] = [
        lambda: read_regular(special, 1000),
        lambda: open_regular(special, 1000),
        lambda: require_regular(special),
    ]
    for read in readers:
        with pytest.raises(Invalid, match=r"not a regular file|a virtual file of the system") as told:
            read()
        assert "Copy its content into a file" in told.value.hint


def test_a_folder_is_none(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="is a folder, not a regular file") as told:
        read_regular(tmp_path, 1000)
    assert told.value.hint == "Give a file in it."


def test_a_link_to_one_is_none_either(special: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(special)
    with pytest.raises(Invalid):
        read_regular(tmp_path / "link", 1000)


def test_a_file_is_read_whole_in_pieces_or_by_lines(tmp_path: Path) -> None:
    data = b"".join(b"%d\n" % number for number in range(400_000))
    (tmp_path / "numbers").write_bytes(data)
    assert read_regular(tmp_path / "numbers", len(data)) == data
    with open_regular(tmp_path / "numbers", len(data)) as file:
        assert file.readline() == b"0\n"
        assert file.seek(-7, os.SEEK_END) > 0
        assert file.read() == b"399999\n"
        file.seek(0)
        assert b"".join(file) == data


def test_an_empty_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert read_regular(tmp_path / "empty", 1000) == b""


def test_a_file_over_the_limit_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    for read in (read_regular, open_regular):
        with pytest.raises(Invalid, match="more than 1,000 bytes"):
            read(tmp_path / "sparse", 1000)


def test_a_file_that_grows_over_the_limit_is_refused_there(tmp_path: Path) -> None:
    path = tmp_path / "growing"
    path.write_bytes(b"x" * 1000)
    with open_regular(path, 1_500_000) as file, path.open("ab") as more:
        more.write(b"y" * 2_000_000)
        more.flush()
        with pytest.raises(Invalid, match="more than 1,500,000 bytes"):
            file.read()


def test_what_is_not_there_is_for_the_caller_to_say(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_regular(tmp_path / "none", 1000)
    require_regular(tmp_path / "none")


def test_a_piece_that_does_not_come_is_not_waited_for_longer() -> None:
    """As on a disk across a network that does not answer; here it is a pipe into which nobody writes."""
    read, write = os.pipe()
    file = RegularFile(read, "far away", 1000, seconds=0.2)
    with pytest.raises(Invalid, match="far away could not be read within"):
        file.read(10)
    file.close()
    os.write(write, b"late")  # whoever waited is let go, and its descriptor was not given to another file
    assert os.fstat(read)
    os.close(write)


def test_what_takes_too_long_is_left_behind() -> None:
    begun = time.monotonic()
    with pytest.raises(TimeoutError):
        wait_for(lambda: time.sleep(60), 0.1)
    assert time.monotonic() - begun < 30
    with pytest.raises(ZeroDivisionError):
        wait_for(lambda: 1 // 0, 60)


LEASE = """
import fcntl, os, signal, sys
signal.signal(signal.SIGIO, signal.SIG_IGN)
handle = os.open(sys.argv[1], os.O_RDWR)
fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_WRLCK)
print("held", flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has leases of files")
def test_a_file_that_another_program_holds_is_not_waited_for(tmp_path: Path) -> None:
    """The system would have whoever opens it wait until the other gives it back, for 45 seconds by default."""
    path = tmp_path / "held"
    path.write_bytes(b"x")
    holder = subprocess.Popen(
        [sys.executable, "-c", LEASE, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(Invalid, match="in use by another program"):
            read_regular(path, 1000)
        holder.send_signal(signal.SIGKILL)
