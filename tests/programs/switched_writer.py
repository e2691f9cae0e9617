"""Writes until its standard input ends, while others change the model of the store. Prints the id of what is kept.

Usage: switched_writer.py DB NAME
"""

import itertools
import select
import sys

from tests.small_model import open_with_small


def main() -> None:
    store = open_with_small(sys.argv[1], namespace=sys.argv[2])
    for number in itertools.count():
        if select.select([sys.stdin], [], [], 0)[0]:
            break
        kept = store.add(f"writer {sys.argv[2]} keeps item {number}")
        if number % 5 == 1:
            store.update(kept.id, content=f"writer {sys.argv[2]} changed item {number}")
        if number % 5 == 2:
            store.sessions.append("talk", "user", f"writer {sys.argv[2]} says item {number}")
        if number % 5 == 3:
            store.forget(store.add(f"writer {sys.argv[2]} forgets item {number}").id)
        print(kept.id, store.space.name if store.space else "", flush=True)
    store.close()
    print("closed", flush=True)


main()
