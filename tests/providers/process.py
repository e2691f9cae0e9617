"""A provider of embeddings in a process of its own, that can be killed, stopped and started again on its port."""

import os
import signal
import subprocess
import sys

from tests.engines import free_port


class ProviderProcess:
    def __init__(self) -> None:
        self.port = free_port()
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def start(self) -> None:
        command = [sys.executable, "-m", "tests.providers.server", str(self.port)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert self._process.stdout
        assert self._process.stdout.readline().strip() == str(self.port).encode()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        if self._process.stdout:
            self._process.stdout.close()

    def freeze(self) -> None:
        """It accepts connections, for the system does so, and never answers."""
        self._process.send_signal(signal.SIGSTOP)
        os.waitpid(self._process.pid, os.WUNTRACED)  # until it is stopped

    def thaw(self) -> None:
        self._process.send_signal(signal.SIGCONT)
