"""Writes until it is killed. Prints a line for each thing the store has acknowledged.

Usage: writer.py DB ROUND
"""

import itertools
import random
import sys
from contextlib import suppress

from retentive import Retentive
from retentive.errors import NotFound


def main() -> None:
    store = Retentive.open(sys.argv[1], embedder="hashing")
    random.seed(int(sys.argv[2]))
    for number in itertools.count():
        text = f"round {sys.argv[2]} item {number} " + "word " * random.choice((1, 5, 300))
        tell("added", store.add(text, slot=random.choice((None, "slot"))).id)
        match random.randrange(6):
            case 0:
                for id in store.add_many([f"{text} bulk {n}" for n in range(20)]).ids:
                    tell("added", id)
            case 1:
                id = store.add(f"{text} to be forgotten").id
                with suppress(NotFound):  # somebody restored an older state in between
                    store.forget(id)
                    tell("forgotten", id)
            case 2:
                id = store.add(f"{text} to be changed").id
                with suppress(NotFound):
                    store.update(id, content=f"{text} has changed")
                    tell("changed", id)
            case 3:
                tell("said", store.sessions.append("talk", "user", f"{text} was said {sys.argv[2]}.{number}").id)
            case 4:
                said = [{"role": "user", "content": f"{text} said {sys.argv[2]}.{number}.{n}"} for n in range(20)]
                tell("said", f"talk#{store.sessions.append_many('talk', said).last}")
            case _:
                store.search("round item word")


def tell(what: str, id: str) -> None:
    print(what, id, flush=True)


main()
