"""One of several processes on a store: adds, searches, and at the end looks for what the others added.

Usage: crowd.py DB NAME COUNT NAME,NAME,...
"""

import sys
import time

from retentive import Retentive


def main() -> None:
    db, name, count, everyone = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4].split(",")
    with Retentive.open(db, embedder="hashing") as store:
        for number in range(count):
            store.add(f"process {name} keeps item {number}")
            store.add("said by every process", slot=f"shared.{number % 5}")
            found = store.search(f"process {name} keeps item {number}", limit=3)
            assert found[0].content == f"process {name} keeps item {number}", found
        store.add(f"process {name} is done")
        wait_for(store, everyone)
        for other in everyone:
            for number in range(count):
                text = f"process {other} keeps item {number}"
                assert store.search(text, limit=1)[0].content == text, text
    print("ok")


def wait_for(store: Retentive, everyone: list[str]) -> None:
    deadline = time.monotonic() + 60
    for other in everyone:
        text = f"process {other} is done"
        while store.search(text, limit=1)[0].content != text:
            assert time.monotonic() < deadline, text
            time.sleep(0.02)


main()
