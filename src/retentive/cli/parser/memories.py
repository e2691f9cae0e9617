"""Verbs of memories: add, search, update, review, forget, learn, expect."""

import argparse

from retentive.cli.parser.options import (
    FUSIONS,
    MODES,
    SOURCES,
    VerbGroup,
    make_content_options,
    make_filters,
    make_past_options,
    make_time_option,
    parse_number,
    split_commas,
)


def add_writing_verbs(verb: VerbGroup) -> None:
    add = verb("add", "add a memory", make_content_options(), epilog="Without TEXT, or with -, it is read from a pipe.")
    add.add_argument("text", nargs="?", metavar="TEXT", help="the text to remember")
    add.add_argument("--session", default=argparse.SUPPRESS, metavar="ID", help="store it for this session only")
    add.add_argument("--source", choices=SOURCES, default=argparse.SUPPRESS, metavar="SOURCE", help=", ".join(SOURCES))
    add.add_argument(
        "--replaces",
        action="append",
        default=argparse.SUPPRESS,
        metavar="ID",
        help="a memory that this one replaces; may be given several times",
    )
    add.add_argument("--each-line", action="store_true", help="every line of the input is a memory")

    update = verb(
        "update",
        "change a memory; its history keeps the old version",
        make_content_options(),
        epilog='An empty --slot "", --context "" or --expires "" takes it away.',
    )
    update.add_argument("id", metavar="ID")
    update.add_argument("--content", default=argparse.SUPPRESS, metavar="TEXT", help="the new text")
    update.add_argument("--reason", metavar="WHY")

    add_forgetting_verbs(verb)

    restore = verb("restore", "restore forgotten or replaced memories")
    restore.add_argument("ids", nargs="+", metavar="ID")
    restore.add_argument("--reason", metavar="WHY")


def add_forgetting_verbs(verb: VerbGroup) -> None:
    forget = verb(
        "forget",
        "hide memories from search; `restore` undoes it",
        make_filters(),
        epilog="By ID, or by words and filters. More than one must be confirmed, on the terminal or with --yes.",
    )
    forget.add_argument("ids", nargs="*", metavar="ID")
    forget.add_argument("--words", metavar="TEXT", help="memories that contain all of these words")
    forget.add_argument("--reason", metavar="WHY")
    forget.add_argument("--dry-run", action="store_true", help="only show what would be forgotten")
    forget.add_argument("--yes", action="store_true", help="do not ask")

    purge = verb(
        "purge",
        "delete memories, messages or records permanently, with every trace of their bytes",
        epilog="This cannot be undone. The answer lists what else repeats the text, and proves that the rest is gone.",
    )
    purge.add_argument("ids", nargs="+", metavar="ID", help="of a memory or a record, or of a message: SESSION#7")
    purge.add_argument(
        "--with-origin", action="store_true", help="also messages, summaries and logged questions that contain it"
    )
    purge.add_argument("--reason", metavar="WHY")
    purge.add_argument("--dry-run", action="store_true", help="only show what would be deleted, and what repeats it")
    purge.add_argument("--yes", action="store_true", help="do not ask")


def add_reading_verbs(verb: VerbGroup) -> None:
    search = verb(
        "search",
        "search memories, conversations, files and records",
        make_filters(),
        make_past_options(),
        make_time_option(),
        epilog="Without QUERY it is read from a pipe.",
    )
    search.add_argument("query", nargs="?", metavar="QUERY")
    search.add_argument("--limit", type=int, default=10, metavar="N", help="maximum number of hits (10)")
    search.add_argument("--all", action="store_true", help="all hits that are relevant enough, without a limit")
    search.add_argument("--min-relevance", type=float, metavar="X", help="only hits of at least this relevance, 0 to 1")
    search.add_argument("--min-similarity", type=float, metavar="X", help="cosine from which a vector hit counts")
    search.add_argument("--mode", choices=MODES, default="hybrid", help="use keywords, vectors, or both")
    search.add_argument("--fusion", choices=FUSIONS, help="how keyword and vector scores are combined")
    search.add_argument("--also", action="append", default=[], metavar="NAME", help="search this namespace too; a/*")
    search.add_argument(
        "--include",
        action="extend",
        type=split_commas,
        default=argparse.SUPPRESS,
        metavar="WHAT",
        help="memories, events (messages), files, profile, contacts, projects, skills, with commas; default: all",
    )
    search.add_argument("--ignored", action="store_true", help="include contacts of type ignored")
    search.add_argument("--why", action="store_true", help="explain each score")

    context = verb(
        "context",
        "build the context that a model reads before it answers",
        make_past_options(),
        make_time_option(),
        epilog="In a pipe it prints only the text; --json adds tokens, cited ids, and what was left out and why.",
    )
    context.add_argument("query", nargs="?", default="", metavar="QUERY", help="what the model is asked")
    context.add_argument("--session", metavar="ID", help="the current conversation")
    context.add_argument("--budget", type=int, default=2000, metavar="N", help="maximum number of tokens (2000)")
    context.add_argument(
        "--recent",
        type=int,
        default=10,
        metavar="N",
        help="newest messages to include (10); older ones if there is room; 0 for none",
    )
    context.add_argument("--min-relevance", type=float, metavar="X", help="relevance from which a hit counts, 0 to 1")
    context.add_argument("--min-similarity", type=float, metavar="X", help="cosine from which a vector hit counts")
    context.add_argument("--also", action="append", default=[], metavar="NAME", help="search this namespace too; a/*")

    get = verb("get", "show a memory")
    get.add_argument("id", metavar="ID")

    list_ = verb("list", "list memories, newest first", make_filters(), make_past_options())
    list_.add_argument("--limit", type=int, default=50, metavar="N", help="how many on a page (50)")
    list_.add_argument("--after", metavar="ID", help="the page after this one: the `next` of the page before")

    verb("why", "show where a memory came from").add_argument("id", metavar="ID")

    history = verb("history", "show the history of a memory")
    history.add_argument("id", metavar="ID")


def add_expect_verbs(verb: VerbGroup) -> None:
    add = verb("add", "add an expectation: a question must find memories, must not find them, or must find nothing")
    add.add_argument("question", metavar="QUESTION", help="as it is given to `retentive search`")
    add.add_argument("--finds", action="append", default=[], metavar="ID", help="a memory; may be given several times")
    add.add_argument("--absent", action="append", default=[], metavar="ID", help="a memory that must not be found")
    add.add_argument("--nothing", action="store_true", help="nothing may be similar enough, as with search --all")
    add.add_argument("--within", type=int, default=5, metavar="N", help="how many of the first hits count (5)")
    add.add_argument("--session", metavar="ID", help="ask in this session")

    verb("list", "list expectations, oldest first")

    remove = verb("remove", "remove expectations")
    remove.add_argument("ids", nargs="+", metavar="ID", help="of an expectation")

    run = verb(
        "run",
        "run all recall tests, and show which fail and why",
        epilog="Exit code 4 if one fails. The questions are not logged or counted.",
    )
    run.add_argument("--mode", choices=MODES, default="hybrid", help="use keywords, vectors, or both")
    run.add_argument("--fusion", choices=FUSIONS, help="how keyword and vector scores are combined")
    run.add_argument("--vector-weight", type=float, metavar="X", help="the weight of the vector search, 0 to 1")
    run.add_argument("--min-similarity", type=float, metavar="X", help="cosine from which a vector hit counts")


def add_review_verbs(verb: VerbGroup) -> None:
    list_ = verb("list", "list open proposals, newest first; on a terminal, decide on each")
    list_.add_argument("--limit", type=int, default=50, metavar="N", help="how many on a page (50)")
    list_.add_argument("--after", metavar="ID", help="the page after this proposal")

    accept = verb("accept", "let the newer memory replace the older one; `restore` undoes it")
    accept.add_argument("ids", nargs="+", metavar="ID", help="of a proposal")

    reject = verb("reject", "keep both memories, and never propose it again")
    reject.add_argument("ids", nargs="+", metavar="ID", help="of a proposal")


def add_consolidate(verb: VerbGroup) -> None:
    consolidate = verb(
        "consolidate",
        "merge old memories that say the same, and summarise old outcomes",
        epilog="--dry-run shows what would be merged. What was merged can be undone: --undo RUN.",
    )
    consolidate.add_argument("--dry-run", action="store_true", help="only show the groups and the resulting texts")
    consolidate.add_argument(
        "--older-than",
        type=parse_number,
        metavar="DAYS",
        help="minimum age of the memories (setting consolidate_after)",
    )
    consolidate.add_argument("--limit", type=int, default=1000, metavar="N", help="maximum number of groups (1000)")
    consolidate.add_argument("--undo", metavar="RUN", help="undo the run with this id")


def add_learn(verb: VerbGroup) -> None:
    learn = verb(
        "learn",
        "extract memories from conversations",
        epilog="Each message is read once, by rules or by the language model of the setting llm.",
    )
    learn.add_argument(
        "session",
        nargs="?",
        metavar="SESSION",
        help="read this one now; without it, all that were silent for a while",
    )
