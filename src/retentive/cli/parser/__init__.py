"""The parser of the command line, apart from the commands: `--help` and completion import nothing else."""

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Collection

from retentive import __version__
from retentive.cli.parser.backup import add_backup_verbs, add_compact
from retentive.cli.parser.export import add_export
from retentive.cli.parser.files import add_files_verbs, add_index
from retentive.cli.parser.import_ import add_import
from retentive.cli.parser.maintenance import add_maintenance_verbs
from retentive.cli.parser.memories import (
    add_consolidate,
    add_expect_verbs,
    add_learn,
    add_reading_verbs,
    add_review_verbs,
    add_writing_verbs,
)
from retentive.cli.parser.models import add_models_verbs
from retentive.cli.parser.options import VerbGroup, VerbParser, make_common_options
from retentive.cli.parser.records import add_record_verbs
from retentive.cli.parser.serve import add_hook, add_install, add_servers, add_token_verbs
from retentive.cli.parser.sessions import add_chat_log_verbs, add_note_verbs, add_session_verbs

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

The store is one file, by default in your data folder. --db or RETENTIVE_DB chooses another.
`retentive VERB --help` explains a verb; `retentive config` shows every setting.

exit codes: 0 done, 1 unexpected, 2 wrong input, 3 not found, 4 conflict, 5 storage, 6 embedding, 7 missing extra,
  8 language model, 9 forbidden
"""


def build_parser(words: Collection[str] | None = None) -> ArgumentParser:
    """Build the parser. With `words`, only the groups of records that are named among them get their verbs.

    They are half of all verbs, and making them takes 30 ms.
    """
    everywhere = make_common_options()
    parser = ArgumentParser(
        "retentive",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        parents=[everywhere],
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"retentive {__version__}")
    parser.set_defaults(run="", show_help=parser.print_help)
    verb = VerbGroup(parser.add_subparsers(title="verbs", metavar="VERB", parser_class=VerbParser), everywhere)
    add_writing_verbs(verb)
    add_reading_verbs(verb)
    add_expect_verbs(
        verb.of(
            "expect",
            "recall tests: assert what a question must find",
            otherwise="add",
            epilog='`retentive expect "QUESTION" --finds ID` is short for `expect add`.',
        )
    )
    add_review_verbs(
        verb.of(
            "review",
            "review proposals: accept or reject that a newer memory replaces an older one",
            alone="list",
            otherwise="list",
            epilog="`retentive review` is short for `review list`.",
        )
    )
    add_learn(verb)
    add_consolidate(verb)
    add_session_verbs(verb.of("session", "store and read conversations"))
    add_note_verbs(verb.of("note", "manage notes with ids that you choose"))
    add_record_verbs(verb, words)
    add_index(verb)
    add_files_verbs(verb.of("files", "list, show and remove indexed files"))
    add_chat_log_verbs(verb.of("chat-log", "import conversations from other programs"))
    add_import(verb)
    add_export(verb)
    add_servers(verb)
    add_token_verbs(verb.of("token", "manage access tokens"))
    add_install(verb)
    add_backup_verbs(verb.of("backup", "create, verify and restore backups"))
    add_compact(verb)
    add_models_verbs(
        verb.of(
            "models",
            "choose, download and test embedding models",
            alone="list",
            epilog="`retentive models` is short for `models list`.",
        )
    )
    add_maintenance_verbs(verb)
    add_hook(verb)
    return parser
