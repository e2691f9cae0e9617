"""Verbs of settings, health, models, backups, evaluation."""

from retentive.surface.field import Field
from retentive.surface.options import DRY_RUN, IDS, SESSION, YES, limit
from retentive.surface.search import FUSION, MODE, QUERY
from retentive.surface.verb import Topic, Verb, VerbGroup

SHELLS = ("bash", "zsh", "fish")
_COLLECTIONS_HELP = """\
jsonl, a line each:
  {"memory": "The user's dog is called Rex", "id": "m1"}
  {"message": "Rex sees the vet on Friday", "id": "t1", "session": "monday", "speaker": "Ana", "time": "2026-03-02"}
  {"question": "what is my dog called?", "expected": ["m1"], "category": "names"}
`expected` are ids or whole texts; [] means that nothing answers it. All data is stored before the first question, in a
temporary store. locomo: the conversations of LoCoMo, as they are published."""
_REEMBED_HELP = """\
The vectors of the new model are computed beside the old ones, and the recall tests (`expect`) run with both. If none
regresses, the store is switched. It can be interrupted and repeated: it continues where it stopped."""
_NAME_HELP = "a name or alias of the list, or the path of a folder"

_MODEL = Field("name", "model", _NAME_HELP, required=True, metavar="NAME")
_SET_MODEL = _MODEL._replace(required=False, help=f"{_NAME_HELP}; the one that is set, if not given")
_PRECISION = Field(
    "precision", "choice", "instead of the one in the settings", choices=("int8", "float32"), metavar="int8|float32"
)
_MODELS_VERBS = (
    Verb("models list", "list available models, and which are downloaded", examples=("models", "models list --json")),
    Verb(
        "models info",
        "show details of a model: files and hashes, dimension, prefixes, licence",
        (_MODEL,),
        examples=("models info minilm",),
    ),
    Verb(
        "models pull",
        "download a model",
        (_MODEL._replace(help="a name or alias of the list"),),
        (_PRECISION,),
        ("models pull bge-small-en-v1.5", "models pull bge-small --precision float32"),
        "From hub_url or HF_ENDPOINT. An interrupted download is continued; each file is checked by its hash.",
    ),
    Verb(
        "models use",
        "set a model as the embedder in config.toml",
        (_MODEL._replace(help=f"{_NAME_HELP}; PROVIDER:MODEL; hashing; or none"),),
        (_PRECISION,),
        ("models use bge-small-en-v1.5", "models use none"),
    ),
    Verb(
        "models test",
        "load a model, and measure its speed and quality on this machine",
        (_SET_MODEL,),
        (_PRECISION, Field("llm", "flag", "test the language model in the settings, on a short conversation")),
        ("models test", "models test --llm"),
    ),
    Verb(
        "models verify",
        "compare a model's files with their hashes, and its vectors with known ones",
        (_SET_MODEL,),
        (Field("accept", "flag", "record the vectors of your own model folder again"), _PRECISION),
        ("models verify", "models verify minilm"),
    ),
    Verb("models remove", "delete the files of a model", (_MODEL,), examples=("models remove bge-small-en-v1.5",)),
)
_FILE = Field("file", "path", "", required=True, metavar="FILE")
_BACKUP_VERBS = (
    Verb(
        "backup create",
        "copy the store into a file, also while it is in use, and verify the copy",
        (Field("target", "path", "", required=True, metavar="FILE|FOLDER"),),
        (
            Field("keep", "integer", "in a folder: delete all but the newest N backups of this store", metavar="N"),
            Field("force", "flag", "overwrite an existing file"),
        ),
        ("backup create memory-backup.db", "backup create ~/backups --keep 7"),
        "In a folder the file is called retentive-YYYYMMDD-HHMMSS.db, by the time (UTC).",
    ),
    Verb(
        "backup verify",
        "check that a backup is complete and can be restored",
        (_FILE,),
        examples=("backup verify memory-backup.db",),
    ),
    Verb(
        "backup restore",
        "replace the content of the store with a backup",
        (_FILE,),
        (DRY_RUN._replace(help="only check the backup and show what would happen"), YES),
        ("backup restore memory-backup.db --dry-run", "backup restore memory-backup.db --yes"),
        "A copy of the store stays beside it: FILE.before-restore-... Other programs may have the store open.",
    ),
)
_MEMORY = Field("finds", "id", "a memory; may be given several times", of="memory", many=True, metavar="ID")
_EXPECT_VERBS = (
    Verb(
        "expect add",
        "assert that a question must find memories, must not find them, or finds nothing",
        (QUERY._replace(name="question", metavar="QUESTION", help="as for `retentive search`", required=True),),
        (
            _MEMORY,
            _MEMORY._replace(name="absent", help="a memory that must not be found"),
            Field("nothing", "flag", "nothing may be similar enough, as with search --all"),
            Field("within", "integer", "how many of the first hits count (5)", default=5, metavar="N"),
            SESSION._replace(help="ask in this session"),
        ),
        ('expect "what is my dog called?" --finds 4f0c91ab', 'expect add "what is my cat called?" --nothing'),
    ),
    Verb("expect list", "list recall tests, oldest first", examples=("expect list", "expect list --json")),
    Verb(
        "expect run",
        "run all recall tests, and show which fail and why",
        options=(
            MODE,
            FUSION,
            Field("vector_weight", "number", "the weight of the vector search, 0 to 1", metavar="X"),
            Field("min_similarity", "number", "minimum cosine of a vector hit", metavar="X"),
        ),
        examples=("expect run", "expect run --mode text"),
        epilog="Exit code 4 if one fails. The questions are not logged or counted.",
    ),
    Verb(
        "expect remove",
        "remove recall tests",
        (IDS._replace(of="expectation", help="of a recall test"),),
        examples=("expect remove 4f0c91ab",),
    ),
)
_INTEGRITY_VERBS = (
    Verb(
        "integrity start",
        "seal all rows, and every row written from now on",
        options=(Field("key", "path", "the key file; created if missing (setting integrity_key)", metavar="FILE"),),
        examples=("integrity start", "integrity start --key ~/keys/memory.key"),
    ),
    Verb("integrity stop", "stop sealing; the key file stays", examples=("integrity stop",)),
    Verb(
        "integrity rotate",
        "seal all rows with a new key, if nothing was changed without the old one",
        examples=("integrity rotate",),
    ),
    Verb(
        "integrity accept",
        "accept that the store is older than expected: a copy was restored on purpose",
        examples=("integrity accept",),
    ),
)
_SETTING = Field("name", "setting", "of a setting, as `retentive config` lists them", required=True, metavar="NAME")
_CONFIG_VERBS = (
    Verb("config list", "show every setting and where it comes from", examples=("config", "config --json")),
    Verb("config get", "show the value of a setting", (_SETTING,), examples=("config get embedder",)),
    Verb(
        "config set",
        "set a setting in config.toml",
        (_SETTING, Field("value", "text", "", required=True, metavar="VALUE")),
        examples=("config set embedder bge-small-en-v1.5", "config set hooks recall"),
        epilog="The value is checked first. Every other line and comment of the file stays as it is.",
    ),
    Verb(
        "config edit",
        "edit config.toml in your editor, and check it",
        examples=("config edit",),
        epilog="The editor is that of VISUAL or EDITOR. A file that cannot be used does not replace the one before.",
    ),
    Verb("config path", "show where config.toml is", examples=("config path",)),
)
_SCALE_VERBS = (
    Verb(
        "scale check",
        "say on what the store is (a file, a server, a cluster), what follows, and the next step",
        examples=("scale check", "scale check --json"),
        epilog="Exit code 5 if something is wrong.",
    ),
    Verb(
        "scale distribute",
        "spread the store over the machines of a Citus cluster, each namespace on one",
        options=(
            Field("shards", "integer", "into how many parts the namespaces are divided", low=1, metavar="N"),
            DRY_RUN._replace(help="only print the statements"),
        ),
        examples=("scale distribute --dry-run", "scale distribute --shards 64"),
        epilog="It may be stopped and repeated. Stop the programs that write first. docs/scale.md says more.",
    ),
    Verb(
        "scale undistribute",
        "bring all rows of a cluster back to one machine",
        options=(DRY_RUN._replace(help="only print the statements"),),
        examples=("scale undistribute --dry-run",),
    ),
)
MAINTENANCE = Topic(
    "Maintenance",
    (
        VerbGroup(
            "config",
            "show and change the settings",
            _CONFIG_VERBS,
            alone="list",
            epilog="`retentive config` is short for `config list`.",
        ),
        Verb(
            "stats",
            "show counts, sizes and latencies",
            options=(Field("all", "flag", "all figures, in a terminal too"),),
            examples=("stats", "stats --all"),
        ),
        Verb(
            "doctor",
            "check the store, and say how to repair it",
            options=(
                Field("repair", "flag", "rebuild indexes, and move damaged rows to the quarantine"),
                Field("verify", "flag", "in integrity mode: list rows that were changed without the key"),
                Field("quarantine", "flag", "show the rows that repairs moved there"),
                Field(
                    "discard",
                    "name",
                    'delete a row of the quarantine; "*" for all; may be given several times',
                    many=True,
                    metavar="ID",
                ),
            ),
            examples=("doctor", "doctor --repair"),
        ),
        VerbGroup("backup", "create, verify and restore backups", _BACKUP_VERBS),
        Verb(
            "migrate",
            "copy a whole store into another, empty one",
            (
                Field("source", "path", "", required=True, metavar="SOURCE"),
                Field("target", "path", "", required=True, metavar="TARGET"),
            ),
            examples=("migrate memory.db postgresql://user@host/memory", "migrate memory.db copy.db"),
            epilog="Each is a file or a server. It can be interrupted and repeated; both are compared at the end.",
        ),
        Verb("compact", "shrink the store: free the space of deleted rows", examples=("compact",)),
        Verb(
            "consolidate",
            "merge old memories that say the same, and summarise old outcomes",
            options=(
                DRY_RUN._replace(help="only show the groups and the resulting texts"),
                Field(
                    "older_than", "number", "minimum age of the memories (setting consolidate_after)", metavar="DAYS"
                ),
                limit(1000, "maximum number of groups"),
                Field("undo", "name", "undo the run with this id", metavar="RUN"),
            ),
            examples=("consolidate --dry-run", "consolidate --older-than 90"),
            epilog="--dry-run shows what would be merged. What was merged can be undone: --undo RUN.",
        ),
        VerbGroup(
            "models",
            "choose, download and test embedding models",
            _MODELS_VERBS,
            alone="list",
            epilog="`retentive models` is short for `models list`.",
        ),
        Verb(
            "backfill",
            "compute missing vectors",
            options=(Field("batch", "integer", "texts embedded and committed at once (50)", default=50, metavar="N"),),
            examples=("backfill", "backfill --batch 10"),
        ),
        Verb(
            "reembed",
            "change the embedding model of the store while it is in use",
            options=(
                Field("model", "model", "the new model, as in the setting `embedder`", metavar="NAME"),
                Field("force", "flag", "switch even if a recall test regresses"),
                Field("rollback", "flag", "return to the previous model"),
                Field("drop_old", "flag", "delete the vectors of all other models"),
                Field("status", "flag", "show the models for which the store has vectors"),
                Field("batch", "integer", "texts embedded and committed at once (100)", default=100, metavar="N"),
            ),
            examples=("reembed --model bge-small-en-v1.5", "reembed --status"),
            epilog=_REEMBED_HELP,
        ),
        Verb(
            "work",
            "run background work until stopped: learning, vectors, expiry",
            options=(Field("once", "flag", "do the work that is due now, then exit"),),
            examples=("work", "work --once"),
            epilog="For all namespaces of the store. Only one process works at a time. Servers do this by themselves.",
        ),
        VerbGroup(
            "expect",
            "recall tests: assert what a question must find",
            _EXPECT_VERBS,
            otherwise="add",
            epilog='`retentive expect "QUESTION" --finds ID` is short for `expect add`.',
        ),
        Verb(
            "eval",
            "measure answer quality with questions whose answers are known",
            (Field("path", "path", "the collection", required=True, metavar="PATH"),),
            (
                Field(
                    "format",
                    "choice",
                    "its format (jsonl)",
                    choices=("locomo", "jsonl"),
                    default="jsonl",
                    metavar="locomo|jsonl",
                ),
                Field("keep", "path", "keep the store in this file, and reuse it next time", metavar="FILE"),
                Field("questions", "integer", "only the first of each collection", metavar="N"),
            ),
            ("eval questions.jsonl", "eval locomo10.json --format locomo --questions 20"),
            _COLLECTIONS_HELP,
        ),
        VerbGroup(
            "integrity",
            "detect tampering: seal every row with a key",
            _INTEGRITY_VERBS,
            epilog="For stores in a file. `retentive doctor --verify` lists rows that were changed without the key.",
        ),
        VerbGroup(
            "scale", "one file, one server, or many machines", _SCALE_VERBS, alone="check", epilog="See docs/scale.md."
        ),
        Verb("demo", "show how it works, in a temporary store", examples=("demo",)),
        Verb(
            "completion",
            "print the completion script of a shell",
            (Field("shell", "choice", ", ".join(SHELLS), choices=SHELLS, required=True, metavar="SHELL"),),
            examples=("completion bash", "completion fish"),
            epilog='Try: eval "$(retentive completion bash)"',
        ),
        Verb(
            "help",
            "explain a verb, or list all verbs",
            (Field("verb_name", "words", "", metavar="VERB"),),
            examples=("help search", "help session append"),
        ),
        Verb("version", "print the version", examples=("version",)),
    ),
)
