"""Verbs that look after the store and the program."""

from retentive.cli.parser.options import Verbs

_COLLECTIONS = """\
jsonl, a line each:
  {"memory": "The user's dog is called Rex", "id": "m1"}
  {"message": "Rex sees the vet on Friday", "id": "t1", "session": "monday", "speaker": "Ana", "time": "2026-03-02"}
  {"question": "what is my dog called?", "expected": ["m1"], "category": "names"}
`expected` are ids or whole texts; [] means that nothing answers it. Everything is told before anything is asked, in a
store that is thrown away. locomo: the conversations of LoCoMo, as they are published.
"""
_REEMBEDDING = """\
The vectors of the new model are made beside the old ones, and the recall tests (`expect`) are asked with both. If none
regresses, the store is switched. May be stopped and repeated: it goes on where it was.
"""


def caring(verb: Verbs) -> None:
    migrate = verb(
        "migrate",
        "move a whole store into another, empty one",
        epilog="Each is a file or a server. May be stopped and repeated; both sides are compared at the end.",
    )
    migrate.add_argument("source", metavar="SOURCE")
    migrate.add_argument("target", metavar="TARGET")

    verb("stats", "show counts, sizes and speeds")

    backfill = verb("backfill", "make the vectors that are missing")
    backfill.add_argument(
        "--batch", type=int, default=50, metavar="N", help="texts embedded and committed at once (50)"
    )

    reembed = verb(
        "reembed",
        "change the model of the store while it is in use",
        epilog=_REEMBEDDING,
    )
    reembed.add_argument("--model", metavar="NAME", help="the new model, as in the setting `embedder`")
    reembed.add_argument("--force", action="store_true", help="switch though a recall test regresses")
    reembed.add_argument("--rollback", action="store_true", help="return to the model that the store had before")
    reembed.add_argument("--drop-old", action="store_true", help="delete the vectors of all models but the present one")
    reembed.add_argument("--status", action="store_true", help="show the models that the store has vectors of")
    reembed.add_argument(
        "--batch", type=int, default=100, metavar="N", help="texts embedded and committed at once (100)"
    )

    work = verb(
        "work",
        "learn, fill in vectors and do the chores as they come up, until it is stopped",
        epilog="For all namespaces of the store. Of several processes one is at work at a time; servers do it anyway.",
    )
    work.add_argument("--once", action="store_true", help="do what is due now, and end")

    verb("config", "show every setting and where it comes from")

    doctor = verb("doctor", "check everything and say what to do")
    doctor.add_argument(
        "--repair", action="store_true", help="rebuild indexes, and move damaged rows to the quarantine"
    )
    doctor.add_argument(
        "--verify", action="store_true", help="in integrity mode: name every row that was changed without the key"
    )
    doctor.add_argument("--quarantine", action="store_true", help="show what repairs moved there")
    doctor.add_argument("--discard", nargs="+", metavar="ID", help='delete rows of the quarantine; "*" for all')

    verb("demo", "see it work, in a store that is thrown away")

    eval_ = verb(
        "eval",
        "measure how well questions are answered whose answers are known",
        epilog=_COLLECTIONS,
    )
    eval_.add_argument("path", metavar="PATH", help="the collection")
    eval_.add_argument("--format", choices=("locomo", "jsonl"), default="jsonl", help="what it is written in (jsonl)")
    eval_.add_argument("--keep", metavar="FILE", help="keep the store there, and use it again next time")
    eval_.add_argument("--questions", type=int, metavar="N", help="only the first of each collection")

    _sealing(
        verb.of(
            "integrity",
            "seal every row with a key, so that changes behind Retentive's back are found",
            epilog="For stores in a file. `retentive doctor --verify` names what was changed without the key.",
        )
    )

    completion = verb(
        "completion",
        "print the completion script of a shell",
        epilog='Try: eval "$(retentive completion bash)"',
    )
    completion.add_argument("shell", choices=("bash", "zsh", "tcsh"))


def _sealing(verb: Verbs) -> None:
    start = verb("start", "seal all rows, and from now on whatever is written")
    start.add_argument("--key", metavar="FILE", help="the key's file; made if it is not there (setting integrity_key)")
    verb("stop", "end it; the key file stays")
    verb("rotate", "seal all rows with a new key, if nothing was changed without the old one")
    verb("accept", "take the store for the newest though it is older: a backup was restored on purpose")
