"""Verbs of maintenance, settings and evaluation."""

from retentive.cli.parser.options import VerbGroup

_COLLECTIONS_HELP = """\
jsonl, a line each:
  {"memory": "The user's dog is called Rex", "id": "m1"}
  {"message": "Rex sees the vet on Friday", "id": "t1", "session": "monday", "speaker": "Ana", "time": "2026-03-02"}
  {"question": "what is my dog called?", "expected": ["m1"], "category": "names"}
`expected` are ids or whole texts; [] means that nothing answers it. All data is stored before the first question, in a
temporary store. locomo: the conversations of LoCoMo, as they are published.
"""
_REEMBED_HELP = """\
The vectors of the new model are made beside the old ones, and the recall tests (`expect`) run with both. If none
regresses, the store is switched. It may be stopped and repeated: it continues where it was.
"""


def add_maintenance_verbs(verb: VerbGroup) -> None:
    migrate = verb(
        "migrate",
        "copy a whole store into another, empty one",
        epilog="Each is a file or a server. It may be stopped and repeated; both sides are compared at the end.",
    )
    migrate.add_argument("source", metavar="SOURCE")
    migrate.add_argument("target", metavar="TARGET")

    verb("stats", "show counts, sizes and latencies")

    backfill = verb("backfill", "compute missing vectors")
    backfill.add_argument(
        "--batch", type=int, default=50, metavar="N", help="texts embedded and committed at once (50)"
    )

    reembed = verb(
        "reembed",
        "change the embedding model of the store while it is in use",
        epilog=_REEMBED_HELP,
    )
    reembed.add_argument("--model", metavar="NAME", help="the new model, as in the setting `embedder`")
    reembed.add_argument("--force", action="store_true", help="switch though a recall test regresses")
    reembed.add_argument("--rollback", action="store_true", help="return to the previous model")
    reembed.add_argument("--drop-old", action="store_true", help="delete the vectors of all other models")
    reembed.add_argument("--status", action="store_true", help="show the models for which the store has vectors")
    reembed.add_argument(
        "--batch", type=int, default=100, metavar="N", help="texts embedded and committed at once (100)"
    )

    work = verb(
        "work",
        "run background work until stopped: learning, missing vectors, expiry, retention",
        epilog="For all namespaces of the store. Only one process works at a time. Servers do this by themselves.",
    )
    work.add_argument("--once", action="store_true", help="do the work that is due now, then exit")

    verb("config", "show every setting and where it comes from")

    doctor = verb("doctor", "check the store, and say how to repair it")
    doctor.add_argument(
        "--repair", action="store_true", help="rebuild indexes, and move damaged rows to the quarantine"
    )
    doctor.add_argument(
        "--verify", action="store_true", help="in integrity mode: list rows that were changed without the key"
    )
    doctor.add_argument("--quarantine", action="store_true", help="show the rows that repairs moved there")
    doctor.add_argument("--discard", nargs="+", metavar="ID", help='delete rows of the quarantine; "*" for all')

    verb("demo", "show how it works, in a temporary store")

    eval_ = verb(
        "eval",
        "measure answer quality with questions whose answers are known",
        epilog=_COLLECTIONS_HELP,
    )
    eval_.add_argument("path", metavar="PATH", help="the collection")
    eval_.add_argument("--format", choices=("locomo", "jsonl"), default="jsonl", help="its format (jsonl)")
    eval_.add_argument("--keep", metavar="FILE", help="keep the store in this file, and reuse it next time")
    eval_.add_argument("--questions", type=int, metavar="N", help="only the first of each collection")

    _add_integrity_verbs(
        verb.of(
            "integrity",
            "detect tampering: seal every row with a key",
            epilog="For stores in a file. `retentive doctor --verify` lists rows that were changed without the key.",
        )
    )

    completion = verb(
        "completion",
        "print the completion script of a shell",
        epilog='Try: eval "$(retentive completion bash)"',
    )
    completion.add_argument("shell", choices=("bash", "zsh", "tcsh"))


def _add_integrity_verbs(verb: VerbGroup) -> None:
    start = verb("start", "seal all rows, and every row written from now on")
    start.add_argument("--key", metavar="FILE", help="the key file; created if missing (setting integrity_key)")
    verb("stop", "stop sealing; the key file stays")
    verb("rotate", "seal all rows with a new key, if nothing was changed without the old one")
    verb("accept", "accept that the store is older than expected, because a copy was restored on purpose")
