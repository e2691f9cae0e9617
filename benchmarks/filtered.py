"""The secrets filter: what it costs a line, beside detect-secrets alone.

The lines are messages in invented words, a hundred characters each; those with a secret end with one, of several kinds.
Both take turns, and the time is the processor's, for nothing here waits. detect-secrets runs its plugins without
filters and without verification, which would ask the services themselves.
"""

import base64
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.corpus import OPENINGS, SEED, make, text, vocabulary, zipfian
from benchmarks.measure import Figure, Target
from retentive import Retentive
from retentive.text.secrets import find_secrets

LENGTH = 100  # characters of a line
PASSES = 5
BULK = 10_000  # memories
MEGABYTE = 1_000_000
AN_ORDINARY_LINE = Target(5, of="value")  # microseconds: a hundredth of what an add takes
A_HOSTILE_MEGABYTE = Target(200, of="value")  # milliseconds: nobody waits for a text that was made to be slow

# Each is repeated to a megabyte: beginnings of secrets that never come.
HOSTILE = (
    "token=", "key=", "password ", "password is ", "Authorization: ", "Authorization: Bearer ", "-u ", "curl -u ",
    "mysql -p", "eyJ", "eyJabcdefgh.", "https://hooks.slack.com/", "https://hooks.slack.com/workflows/",
    "0123456789abcdef", "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY", "4111 ", "sk-ant-", "JQQJ99", "\n",
)  # fmt: skip

WITH_SECRETS = (
    "my wifi password is hunter2",
    "the PIN for the alarm is 4821",
    "DATABASE_URL=postgres://app:s3cret@db.internal/shop",
    f"the key id of the backups is {'AK'}IAIOSFODNN7EXAMPL3",
    "card 4111 1111 1111 1111, valid until 04/27",
)


def figures(count: int) -> Iterator[tuple[int, Figure]]:
    """Each with the number of its lines."""
    lines = _lines(count)
    scan = _detect_secrets()
    yield count, Figure("an ordinary line", "µs", *_in_turns(lines, find_secrets, scan), (AN_ORDINARY_LINE,))
    secret = [
        f"{line[: LENGTH // 2]} {found}" for line, found in zip(lines, WITH_SECRETS * (count // 50), strict=False)
    ]
    yield len(secret), Figure("a line with a secret", "µs", *_in_turns(secret, find_secrets, scan))
    page = " ".join(lines * (MEGABYTE // (LENGTH * count) + 1))[:MEGABYTE]
    yield BULK, Figure("bulk add with the filter, against without", "rows/s", *_bulk(BULK))
    yield 1, Figure("one text of a megabyte", "ms", _microseconds([page], find_secrets) / 1e3)
    slowest = max(_hostile_milliseconds(unit) for unit in (*HOSTILE, _base64()))
    yield 1, Figure("a hostile megabyte, the slowest", "ms", slowest, None, (A_HOSTILE_MEGABYTE,))


def _hostile_milliseconds(unit: str) -> float:
    page = (unit * (MEGABYTE // len(unit) + 1))[:MEGABYTE]
    return min(_microseconds([page], find_secrets) for _ in range(PASSES)) / 1e3


def _base64() -> str:
    """A megabyte without a period."""
    return base64.b64encode(np.random.default_rng(SEED).bytes(MEGABYTE)).decode()


def _lines(count: int) -> list[str]:
    generator = np.random.default_rng(SEED)
    words = zipfian(generator, vocabulary(generator))
    return [text(OPENINGS[number % len(OPENINGS)], words, LENGTH // 4)[:LENGTH] for number in range(count)]


def _bulk(size: int) -> tuple[float, float]:
    """Memories a second of the processor's time, vectors given; the two take turns."""
    given = make(size, questions=1, extra=1)
    seconds: dict[str, list[float]] = {"refuse": [], "allow": []}
    for _ in range(PASSES):
        for policy, spent in seconds.items():
            with (
                TemporaryDirectory() as folder,
                Retentive.open(
                    Path(folder) / "bulk.db", embedder="none", cache=folder, secrets_in_memories=policy
                ) as store,
            ):
                begun = time.process_time()
                store.add_many(given.texts, vectors=given.vectors)
                spent.append(time.process_time() - begun)
    return size / median(seconds["refuse"]), size / median(seconds["allow"])


def _detect_secrets() -> Callable[[str], Any]:
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class

    plugins = [plugin() for plugin in get_mapping_from_secret_type_to_class().values()]
    return lambda line: [plugin.analyze_line("line", line) for plugin in plugins]


def _in_turns(lines: Sequence[str], *both: Callable[[str], Any]) -> list[float]:
    """Median microseconds a line; what is imported late is there before."""
    for each in both:
        each(lines[0])
    rounds = [[_microseconds(lines, each) for each in both] for _ in range(PASSES)]
    return [median(times) for times in zip(*rounds, strict=True)]


def _microseconds(lines: Sequence[str], action: Callable[[str], Any]) -> float:
    begun = time.process_time()
    for line in lines:
        action(line)
    return (time.process_time() - begun) / len(lines) * 1e6
