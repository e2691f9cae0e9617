"""What can be typed. Kept apart from what it does: `--help` and completion import nothing else."""

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Collection

from retentive import __version__
from retentive.cli.parser.backup import backing, compacting
from retentive.cli.parser.export import exporting
from retentive.cli.parser.files import filing, indexing
from retentive.cli.parser.import_ import bringing
from retentive.cli.parser.maintenance import caring
from retentive.cli.parser.memories import consolidating, expecting, learning, reading, reviewing, writing
from retentive.cli.parser.models import choosing
from retentive.cli.parser.options import Verbs, Words, common
from retentive.cli.parser.records import recording
from retentive.cli.parser.serve import admitting, connecting, hooking, serving
from retentive.cli.parser.sessions import importing, noting, talking

_DESCRIPTION = "Long-term memory for AI agents: one SQLite file, local embeddings, hybrid search."
_EXAMPLES = """\
examples:
  retentive add "The user's dog is called Rex" --slot user.dog.name
  retentive search "what is my dog's name?"
  retentive add "The user's dog is called Max" --slot user.dog.name    (corrects it)
  echo "Deploys happen on Tuesdays" | retentive add --kind pattern --tag ops
  retentive list --kind preference --json
  retentive contact add "Anna Keller" --role CTO --company Acme
  retentive session append monday "Rex has a vet appointment on Friday"
  retentive context "when is the vet?" --session tuesday --budget 500

The store is one file, by default in your data folder; --db or RETENTIVE_DB chooses another.
`retentive VERB --help` explains a verb; `retentive config` shows every setting.

exit codes: 0 done, 1 unexpected, 2 wrong input, 3 not found, 4 conflict, 5 storage, 6 embedding, 7 missing extra,
  8 language model, 9 forbidden
"""


def build(words: Collection[str] | None = None) -> ArgumentParser:
    """All that can be typed; or, of the groups of records, only those that are named among these words.

    They are half of all verbs, and making them takes 30 ms.
    """
    everywhere = common()
    parser = ArgumentParser(
        "retentive",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        parents=[everywhere],
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"retentive {__version__}")
    parser.set_defaults(run="", show_help=parser.print_help)
    verb = Verbs(parser.add_subparsers(title="verbs", metavar="VERB", parser_class=Words), everywhere)
    writing(verb)
    reading(verb)
    expecting(
        verb.of(
            "expect",
            "say what a question should find, and see whether it does",
            otherwise="add",
            epilog='`retentive expect "QUESTION" --finds ID` is short for `expect add`.',
        )
    )
    reviewing(
        verb.of(
            "review",
            "decide which newer memories replace older ones",
            alone="list",
            otherwise="list",
            epilog="`retentive review` is short for `review list`.",
        )
    )
    learning(verb)
    consolidating(verb)
    talking(verb.of("session", "keep and read conversations"))
    noting(verb.of("note", "keep notes under ids of their own"))
    recording(verb, words)
    indexing(verb)
    filing(verb.of("files", "see which files are in the index"))
    importing(verb.of("chat-log", "bring in conversations from elsewhere"))
    bringing(verb)
    exporting(verb)
    serving(verb)
    admitting(verb.of("token", "say who may come in over the network"))
    connecting(verb)
    backing(verb.of("backup", "copy the store, check a copy, put one back"))
    compacting(verb)
    choosing(
        verb.of(
            "models",
            "choose, fetch and test embedding models",
            alone="list",
            epilog="`retentive models` is short for `models list`.",
        )
    )
    caring(verb)
    hooking(verb)
    return parser
