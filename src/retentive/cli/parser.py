"""What can be typed. Kept apart from what it does: `--help` and completion import nothing else."""

import argparse
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from typing import Any

from retentive import __version__

KINDS = tuple(
    "fact preference personal background pattern project contact decision instruction outcome note file".split()
)
SOURCES = tuple("explicit extracted conversation file import".split())
ROLES = tuple("user assistant system developer tool".split())
CLIENTS = tuple("claude-code claude-desktop cursor vscode codex windsurf gemini-cli zed cline opencode".split())
HOOKS = tuple("session-start prompt stop pre-compact session-end".split())
STATUSES = tuple("active superseded forgotten expired".split())

_DESCRIPTION = "Long-term memory for AI agents: one SQLite file, local embeddings, hybrid search."
_EXAMPLES = """\
examples:
  retentive add "The user's dog is called Rex" --slot user.dog.name
  retentive search "what is my dog's name?"
  retentive add "The user's dog is called Max" --slot user.dog.name    (corrects it)
  echo "Deploys happen on Tuesdays" | retentive add --kind pattern --tag ops
  retentive list --kind preference --json
  retentive session append monday "Rex has a vet appointment on Friday"
  retentive context "when is the vet?" --session tuesday --budget 500

The store is one file, by default in your data folder; --db or RETENTIVE_DB chooses another.
`retentive VERB --help` explains a verb; `retentive config` shows every setting.

exit codes: 0 done, 1 unexpected, 2 wrong input, 3 not found, 4 conflict, 5 storage, 6 embedding, 7 missing extra,
  8 language model, 9 forbidden
"""
_COLLECTIONS = """\
jsonl, a line each:
  {"memory": "The user's dog is called Rex", "id": "m1"}
  {"message": "Rex sees the vet on Friday", "id": "t1", "session": "monday", "speaker": "Ana", "time": "2026-03-02"}
  {"question": "what is my dog called?", "expected": ["m1"], "category": "names"}
`expected` are ids or whole texts; [] means that nothing answers it. Everything is told before anything is asked, in a
store that is thrown away. locomo: the conversations of LoCoMo, as they are published.
"""
_TIMES = "as 2026-12-31, 2026-12-31T18:00+01:00, 'last monday', or a span such as 12h, 7d, 4w"


class Words(ArgumentParser):
    """A verb, or a group of verbs of which one may be left out: `otherwise` is the one that is meant then."""

    otherwise = ""
    everywhere: ArgumentParser
    verbs: Any = ()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        if self.otherwise and args:
            rest = self.everywhere.parse_known_args(args)[1]
            if rest and rest[0] not in (*self.verbs, "-h", "--help"):
                args = [self.otherwise, *args]
        return super().parse_known_args(args, namespace)


class Verbs:
    """Makes the verbs of the program, or of one of its groups."""

    def __init__(self, parsers: Any, common: ArgumentParser, group: str = "") -> None:
        self._parsers, self._common, self._group = parsers, common, group

    def __call__(self, name: str, help: str, *parents: ArgumentParser, epilog: str = "") -> Words:
        made: Words = self._parsers.add_parser(
            name,
            help=help,
            description=f"{help[0].upper()}{help[1:]}.",
            epilog=epilog,
            parents=[self._common, *parents],
            formatter_class=RawDescriptionHelpFormatter,
        )
        made.set_defaults(run=f"{self._group} {name}".strip())
        return made

    def of(self, name: str, help: str, *, otherwise: str = "", epilog: str = "") -> "Verbs":
        made = self(name, help, epilog=epilog)
        made.set_defaults(run="", show_help=made.print_help)
        inner = made.add_subparsers(title="verbs", metavar="VERB")
        made.otherwise, made.everywhere, made.verbs = otherwise, self._common, inner.choices
        return Verbs(inner, self._common, name)


def build() -> ArgumentParser:
    common = _common()
    parser = ArgumentParser(
        "retentive",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        parents=[common],
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"retentive {__version__}")
    parser.set_defaults(run="", show_help=parser.print_help)
    verb = Verbs(parser.add_subparsers(title="verbs", metavar="VERB", parser_class=Words), common)
    _writing(verb)
    _reading(verb)
    _expecting(
        verb.of(
            "expect",
            "say what a question should find, and see whether it does",
            otherwise="add",
            epilog='`retentive expect "QUESTION" --finds ID` is short for `expect add`.',
        )
    )
    _learning(verb)
    _talking(verb.of("session", "keep and read conversations"))
    _noting(verb.of("note", "keep notes under ids of their own"))
    _importing(verb.of("chat-log", "bring in conversations from elsewhere"))
    _serving(verb)
    _admitting(verb.of("token", "say who may come in over the network"))
    _connecting(verb)
    _caring(verb)
    _hooking(verb)
    return parser


def _common() -> ArgumentParser:
    """Accepted before the verb and after it."""
    common = ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    group = common.add_argument_group("everywhere")
    group.add_argument("--db", metavar="FILE", help="the store (default: memory.db in your data folder)")
    group.add_argument("--namespace", "-n", metavar="NAME", help="whose memory, e.g. alice/coder; auto: this project's")
    group.add_argument("--json", action="store_true", help="answer in JSON")
    group.add_argument("--embedder", choices=("minilm", "hashing", "none"), help="what turns text into vectors")
    return common


def _content_options() -> ArgumentParser:
    options = ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    options.add_argument("--kind", choices=KINDS, metavar="KIND", help=f"one of {', '.join(KINDS)}")
    options.add_argument("--tag", dest="tags", action="append", metavar="TAG", help="may be given several times")
    options.add_argument("--importance", type=number, metavar="N", help="1 (trivial) to 10 (vital); 5 if not given")
    options.add_argument("--confidence", type=number, metavar="X", help="0 (a guess) to 1 (certain)")
    options.add_argument("--context", metavar="TEXT", help="what it belongs to; searched too")
    options.add_argument("--slot", metavar="NAME", help="what it is the value of, e.g. user.dog.name")
    options.add_argument("--expires", metavar="TIME", help=f"when it stops being true, {_TIMES}")
    options.add_argument("--valid-from", metavar="TIME", help="since when it is true, if not now")
    options.add_argument("--metadata", metavar="JSON", help="an object of your own")
    return options


def _filters() -> ArgumentParser:
    options = ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    group = options.add_argument_group("filters")
    group.add_argument("--kind", action="append", choices=KINDS, metavar="KIND", help="may be given several times")
    group.add_argument("--tag", dest="tags", action="append", metavar="TAG", help="has all of the tags given")
    group.add_argument("--source", action="append", choices=SOURCES, metavar="SOURCE", help=", ".join(SOURCES))
    group.add_argument("--status", action="append", choices=STATUSES, metavar="STATUS", help=", ".join(STATUSES))
    group.add_argument("--session", metavar="ID", help="see its own memories too; of conversations, only this one")
    group.add_argument("--min-importance", type=number, metavar="N", help="1 to 10")
    group.add_argument("--min-confidence", type=number, metavar="X", help="0 to 1")
    group.add_argument("--since", metavar="TIME", help=f"true from this time on, {_TIMES} ago")
    group.add_argument("--until", metavar="TIME", help="true from before this time")
    return options


def _moments() -> ArgumentParser:
    options = ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    group = options.add_argument_group("the past")
    group.add_argument("--as-of", metavar="TIME", help=f"what was true at this time, {_TIMES} ago")
    group.add_argument("--known-at", metavar="TIME", help="what the store held to be true at this time")
    return options


def _writing(verb: Verbs) -> None:
    add = verb("add", "keep a memory", _content_options(), epilog="Without TEXT, or with -, it is read from a pipe.")
    add.add_argument("text", nargs="?", metavar="TEXT", help="what to remember")
    add.add_argument("--session", default=argparse.SUPPRESS, metavar="ID", help="keep it for this session only")
    add.add_argument("--source", choices=SOURCES, default=argparse.SUPPRESS, metavar="SOURCE", help=", ".join(SOURCES))
    add.add_argument("--each-line", action="store_true", help="every line of the input is a memory")

    update = verb(
        "update",
        "change a memory; how it was stays in its history",
        _content_options(),
        epilog='An empty --slot "", --context "" or --expires "" takes it away.',
    )
    update.add_argument("id", metavar="ID")
    update.add_argument("--content", default=argparse.SUPPRESS, metavar="TEXT", help="the new text")
    update.add_argument("--reason", metavar="WHY")

    _forgetting(verb)

    restore = verb("restore", "bring back what was forgotten, or undo a correction")
    restore.add_argument("ids", nargs="+", metavar="ID")
    restore.add_argument("--reason", metavar="WHY")


def _forgetting(verb: Verbs) -> None:
    forget = verb(
        "forget",
        "stop answering with memories; `restore` undoes it",
        _filters(),
        epilog="By ID, or by words and filters. More than one needs a yes, on the terminal or as --yes.",
    )
    forget.add_argument("ids", nargs="*", metavar="ID")
    forget.add_argument("--words", metavar="TEXT", help="what has every one of these words")
    forget.add_argument("--reason", metavar="WHY")
    forget.add_argument("--dry-run", action="store_true", help="only show what would go")
    forget.add_argument("--yes", action="store_true", help="do not ask")

    purge = verb(
        "purge",
        "remove memories or messages for good, to the last byte",
        epilog="It cannot be undone. The answer names what else repeats the text, and proves that the rest is gone.",
    )
    purge.add_argument("ids", nargs="+", metavar="ID", help="of a memory, or of a message: SESSION#7")
    purge.add_argument("--with-origin", action="store_true", help="also messages, summaries and questions that say it")
    purge.add_argument("--reason", metavar="WHY")
    purge.add_argument("--dry-run", action="store_true", help="only show what would go, and what repeats it")
    purge.add_argument("--yes", action="store_true", help="do not ask")


def _reading(verb: Verbs) -> None:
    search = verb(
        "search",
        "find what answers a question",
        _filters(),
        _moments(),
        epilog="Without QUERY it is read from a pipe.",
    )
    search.add_argument("query", nargs="?", metavar="QUERY")
    search.add_argument("--limit", type=int, default=10, metavar="N", help="how many at the most (10)")
    search.add_argument("--all", action="store_true", help="all that is relevant enough, however many")
    search.add_argument("--min-relevance", type=float, metavar="X", help="only hits of at least this relevance, 0 to 1")
    search.add_argument("--min-similarity", type=float, metavar="X", help="cosine from which a vector hit counts")
    search.add_argument("--mode", choices=("hybrid", "text", "vector"), default="hybrid", help="which legs to use")
    search.add_argument("--fusion", choices=("blend", "minmax", "rrf"), help="how the legs are joined")
    search.add_argument("--also", action="append", default=[], metavar="NAME", help="look in this namespace too; a/*")
    search.add_argument(
        "--include",
        action="append",
        choices=("memories", "events", "files"),
        default=argparse.SUPPRESS,
        metavar="WHAT",
        help="memories, events (what was said), files; all if not given",
    )
    search.add_argument("--why", action="store_true", help="show how each score came about")

    context = verb(
        "context",
        "show what a model should read before it answers",
        _moments(),
        epilog="Prints the text alone in a pipe; --json adds tokens, the ids it cites, and what was left out and why.",
    )
    context.add_argument("query", nargs="?", default="", metavar="QUERY", help="what the model is asked")
    context.add_argument("--session", metavar="ID", help="the conversation that it goes on in")
    context.add_argument("--budget", type=int, default=2000, metavar="N", help="tokens at the most (2000)")
    context.add_argument(
        "--recent",
        type=int,
        default=10,
        metavar="N",
        help="newest messages (10); older ones if there is room, none for 0",
    )
    context.add_argument("--min-relevance", type=float, metavar="X", help="relevance from which a hit counts, 0 to 1")
    context.add_argument("--min-similarity", type=float, metavar="X", help="cosine from which a vector hit counts")
    context.add_argument("--also", action="append", default=[], metavar="NAME", help="look in this namespace too; a/*")

    get = verb("get", "show a memory")
    get.add_argument("id", metavar="ID")

    list_ = verb("list", "list memories, newest first", _filters(), _moments())
    list_.add_argument("--limit", type=int, default=50, metavar="N", help="how many on a page (50)")
    list_.add_argument("--before", metavar="ID", help="the page after this one: the `next` of the page before")

    verb("why", "tell where a memory came from").add_argument("id", metavar="ID")

    history = verb("history", "tell what happened to a memory")
    history.add_argument("id", metavar="ID")


def _expecting(verb: Verbs) -> None:
    add = verb("add", "expect that a question finds memories, that it does not, or that it finds nothing")
    add.add_argument("question", metavar="QUESTION", help="as it is given to `retentive search`")
    add.add_argument("--finds", action="append", default=[], metavar="ID", help="a memory; may be given several times")
    add.add_argument("--absent", action="append", default=[], metavar="ID", help="a memory that must not be found")
    add.add_argument("--nothing", action="store_true", help="nothing that is similar enough, as with search --all")
    add.add_argument("--within", type=int, default=5, metavar="N", help="among so many of the first hits (5)")
    add.add_argument("--session", metavar="ID", help="asked in this session")

    verb("list", "list what is expected, the oldest first")

    remove = verb("remove", "expect something no longer")
    remove.add_argument("ids", nargs="+", metavar="ID", help="of an expectation")

    run = verb(
        "run",
        "ask every question, and tell what did not come as expected",
        epilog="Exit code 4 if one does not hold. The questions are in no log and no statistics.",
    )
    run.add_argument("--mode", choices=("hybrid", "text", "vector"), default="hybrid", help="which legs to use")
    run.add_argument("--fusion", choices=("minmax", "rrf"), help="how the legs are joined")
    run.add_argument("--vector-weight", type=float, metavar="X", help="the share of the vector leg, 0 to 1")
    run.add_argument("--min-similarity", type=float, metavar="X", help="cosine from which a vector hit counts")


def _learning(verb: Verbs) -> None:
    learn = verb(
        "learn",
        "read conversations for what is worth keeping",
        epilog="Each message is read once. Rules do it, or the language model of the setting llm.",
    )
    learn.add_argument(
        "session",
        nargs="?",
        metavar="SESSION",
        help="this one, at once; if not given, all that have been silent a while",
    )


def _talking(verb: Verbs) -> None:
    append = verb(
        "append",
        "keep a message; the first one makes the session",
        epilog="Without TEXT, or with -, it is read from a pipe.",
    )
    append.add_argument("session", metavar="SESSION")
    append.add_argument("text", nargs="?", metavar="TEXT", help="what was said")
    append.add_argument("--role", choices=ROLES, default="user", metavar="ROLE", help=f"{', '.join(ROLES)} (user)")
    append.add_argument("--speaker", metavar="NAME", help="who said it")
    append.add_argument("--time", metavar="TIME", help=f"when, {_TIMES} ago; now if not given")
    append.add_argument("--sequence", type=int, metavar="N", help="its number; the next if not given")
    append.add_argument("--payload", metavar="JSON", help="what came with it: tool calls, results, anything")

    put = verb("put", "say who talks in a session and what it is about")
    put.add_argument("session", metavar="SESSION")
    put.add_argument("--agent", default=argparse.SUPPRESS, metavar="NAME", help="who talks with the user")
    put.add_argument("--tag", dest="tags", action="append", default=argparse.SUPPRESS, metavar="TAG")
    put.add_argument("--metadata", default=argparse.SUPPRESS, metavar="JSON", help="an object of your own")

    list_ = verb("list", "list sessions, the most recently active first")
    list_.add_argument("--limit", type=int, default=50, metavar="N", help="how many on a page (50)")
    list_.add_argument("--before", metavar="SESSION", help="the page after the one that ends with this session")

    show = verb("show", "show the newest messages of a session, or those around one")
    show.add_argument("session", metavar="SESSION")
    show.add_argument("--limit", type=int, default=50, metavar="N", help="how many (50)")
    place = show.add_mutually_exclusive_group()
    place.add_argument("--before", type=int, metavar="N", help="the newest before this sequence")
    place.add_argument("--after", type=int, metavar="N", help="the next after this sequence")
    place.add_argument("--around", type=int, metavar="N", help="those around this sequence")

    replay = verb("replay", "rebuild a conversation within a budget: its summary, then the newest messages")
    replay.add_argument("session", metavar="SESSION")
    replay.add_argument("--budget", type=int, default=2000, metavar="N", help="tokens at the most (2000)")

    summary = verb("summary", "show the summary of a session's older messages")
    summary.add_argument("session", metavar="SESSION")
    summary.add_argument("--condense", action="store_true", help="bring it up to date first, if it is time")
    summary.add_argument("--budget", type=int, metavar="N", help="tokens kept word for word (setting session_budget)")
    summary.add_argument("--write", metavar="TEXT", help="write it yourself; needs --upto and --epoch")
    summary.add_argument("--upto", type=int, metavar="N", help="the last sequence that the text covers")
    summary.add_argument("--epoch", type=int, metavar="N", help="the epoch you read; refused if it has moved on")

    delete = verb("delete", "remove sessions for good, with all that is theirs")
    delete.add_argument("sessions", nargs="+", metavar="SESSION")
    delete.add_argument("--yes", action="store_true", help="do not ask")


def _noting(verb: Verbs) -> None:
    put = verb("put", "keep a note, or replace one wholly", epilog="Without TEXT, or with -, it is read from a pipe.")
    put.add_argument("text", nargs="?", metavar="TEXT")
    put.add_argument("--id", metavar="ID", help="its id; made if not given")
    put.add_argument("--session", metavar="ID", help="keep it for this session only")
    put.add_argument("--tag", dest="tags", action="append", default=[], metavar="TAG")

    verb("get", "show a note").add_argument("id", metavar="ID")

    list_ = verb("list", "list notes, newest first")
    list_.add_argument("--limit", type=int, default=50, metavar="N", help="how many on a page (50)")
    list_.add_argument("--before", metavar="ID", help="the page after this one: the `next` of the page before")
    list_.add_argument("--session", metavar="ID", help="see those of this session too")

    verb("delete", "forget a note; `retentive restore` undoes it").add_argument("id", metavar="ID")


def _importing(verb: Verbs) -> None:
    import_ = verb(
        "import",
        "keep the conversations of files, each as a session",
        epilog="Again with the same file, only what is new in it is kept. A .zip is read as the service sent it.",
    )
    import_.add_argument("files", nargs="+", metavar="FILE")
    import_.add_argument("--format", choices=("openai", "claude", "chatgpt", "plain"), help="recognised if not given")
    import_.add_argument("--session", metavar="ID", help="the session's name, if the file holds one conversation")
    import_.add_argument("--me", metavar="NAME", help="the user's name in it")


def _serving(verb: Verbs) -> None:
    mcp = verb(
        "mcp",
        "serve the memory to a model, over standard input and output (MCP)",
        _whose(),
        epilog="Started by a client such as Claude Code or Cursor: `retentive install` sets one up.",
    )
    mcp.add_argument("--tool-cost", action="store_true", help="only show what the list of tools costs a model")

    serve = verb(
        "serve",
        "serve the memory over HTTP: MCP at /mcp, a health check at /health",
        _whose(),
        epilog="On an address that other machines reach, every request needs a token: `retentive token create`.",
    )
    serve.add_argument(
        "--host", dest="serve_host", default=argparse.SUPPRESS, metavar="ADDRESS", help="to listen on (127.0.0.1)"
    )
    serve.add_argument(
        "--port", dest="serve_port", type=int, default=argparse.SUPPRESS, metavar="N", help="8765; 0: a free one"
    )
    serve.add_argument("--require-token", action="store_true", default=argparse.SUPPRESS, help="on this machine, too")
    serve.add_argument(
        "--allow-host",
        dest="allow_hosts",
        action="append",
        default=argparse.SUPPRESS,
        metavar="NAME",
        help="a name by which clients may call it, beside its address; may be given several times",
    )


def _whose() -> ArgumentParser:
    options = ArgumentParser(add_help=False)
    group = options.add_argument_group("whose memory (--namespace auto: that of the git project around the folder)")
    group.add_argument("--also", action="append", default=[], metavar="NAME", help="read this namespace too; a/*")
    group.add_argument(
        "--tools", choices=("default", "full", "read"), default="default", help="which tools to offer (default)"
    )
    return options


def _admitting(verb: Verbs) -> None:
    create = verb(
        "create",
        "make a token that opens a namespace; its secret is shown once",
        epilog="The namespace is that of --namespace.",
    )
    create.add_argument("--subtree", action="store_true", help="and all namespaces below: alice/coder below alice")
    create.add_argument("--read-only", action="store_true", help="to read, not to write")
    create.add_argument("--name", metavar="LABEL", help="what to know it by")
    create.add_argument("--expires", metavar="TIME", help=f"when it stops opening anything, {_TIMES}")

    verb("list", "list the tokens of the store, the newest first; never their secrets")

    revoke = verb("revoke", "make tokens open nothing from now on")
    revoke.add_argument("ids", nargs="+", metavar="ID")


def _connecting(verb: Verbs) -> None:
    install = verb(
        "install",
        "have an MCP client start `retentive mcp`",
        _client_options(),
        epilog="Without CLIENT, lists the clients known. --db and --namespace go along (default: auto, the project's).",
    )
    install.add_argument("client", nargs="?", choices=CLIENTS, metavar="CLIENT", help=", ".join(CLIENTS))
    install.add_argument("--also", action="append", default=[], metavar="NAME", help="a namespace it reads too; a/*")
    install.add_argument("--tools", choices=("default", "full", "read"), help="which tools it offers")
    install.add_argument("--print", action="store_true", help="only print what belongs into the file")

    uninstall = verb("uninstall", "take `retentive mcp` out of an MCP client again", _client_options())
    uninstall.add_argument("client", choices=CLIENTS, metavar="CLIENT", help=", ".join(CLIENTS))


def _client_options() -> ArgumentParser:
    options = ArgumentParser(add_help=False)
    options.add_argument(
        "--scope", choices=("user", "project"), default="user", help="everywhere, or in the project in this folder"
    )
    options.add_argument("--dry-run", action="store_true", help="only show what would change")
    options.add_argument("--force", action="store_true", help="also where another server has the name")
    return options


def _caring(verb: Verbs) -> None:
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

    work = verb(
        "work",
        "learn, fill in vectors and do the chores as they come up, until it is stopped",
        epilog="For all namespaces of the store. Of several processes one is at work at a time; servers do it anyway.",
    )
    work.add_argument("--once", action="store_true", help="do what is due now, and end")

    verb("config", "show every setting and where it comes from")

    doctor = verb("doctor", "check everything and say what to do")
    doctor.add_argument("--repair", action="store_true", help="make the full-text and vector indexes anew")

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

    completion = verb(
        "completion",
        "print the completion script of a shell",
        epilog='Try: eval "$(retentive completion bash)"',
    )
    completion.add_argument("shell", choices=("bash", "zsh", "tcsh"))


def _hooking(verb: Verbs) -> None:
    hook = verb(
        "hook",
        "answer a hook of Claude Code: lay memories before the model, keep what was said",
        epilog="Reads the hook's JSON from a pipe. Whatever goes wrong, it exits with 0. --namespace auto: by project.",
    )
    hook.add_argument("event", choices=HOOKS, metavar="EVENT", help=", ".join(HOOKS))
    hook.add_argument("--also", action="append", default=[], metavar="NAME", help="look in this namespace too; a/*")
    hook.add_argument("--budget", type=int, metavar="N", help="tokens at the most (600 at the start, 500 for a prompt)")
    hook.add_argument("--limit", type=float, default=5.0, metavar="S", help="seconds after which it gives up (5)")
    hook.add_argument("--debug", action="store_true", help="tell in full what went wrong")


def number(text: str) -> float:
    """Whole numbers stay whole; NaN and the like are left for the store to refuse."""
    value = float(text)
    return int(value) if value.is_integer() else value
