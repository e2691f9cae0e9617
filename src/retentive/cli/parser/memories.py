"""Verbs of memories: keep, find, correct, review, forget, learn, expect."""

import argparse

from retentive.cli.parser.options import (
    FUSIONS,
    MODES,
    SOURCES,
    Verbs,
    commas,
    content_options,
    filters,
    moments,
    number,
    question_time,
)


def writing(verb: Verbs) -> None:
    add = verb("add", "keep a memory", content_options(), epilog="Without TEXT, or with -, it is read from a pipe.")
    add.add_argument("text", nargs="?", metavar="TEXT", help="what to remember")
    add.add_argument("--session", default=argparse.SUPPRESS, metavar="ID", help="keep it for this session only")
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
        "change a memory; how it was stays in its history",
        content_options(),
        epilog='An empty --slot "", --context "" or --expires "" takes it away.',
    )
    update.add_argument("id", metavar="ID")
    update.add_argument("--content", default=argparse.SUPPRESS, metavar="TEXT", help="the new text")
    update.add_argument("--reason", metavar="WHY")

    forgetting(verb)

    restore = verb("restore", "bring back what was forgotten or replaced")
    restore.add_argument("ids", nargs="+", metavar="ID")
    restore.add_argument("--reason", metavar="WHY")


def forgetting(verb: Verbs) -> None:
    forget = verb(
        "forget",
        "stop answering with memories; `restore` undoes it",
        filters(),
        epilog="By ID, or by words and filters. More than one needs a yes, on the terminal or as --yes.",
    )
    forget.add_argument("ids", nargs="*", metavar="ID")
    forget.add_argument("--words", metavar="TEXT", help="what has every one of these words")
    forget.add_argument("--reason", metavar="WHY")
    forget.add_argument("--dry-run", action="store_true", help="only show what would go")
    forget.add_argument("--yes", action="store_true", help="do not ask")

    purge = verb(
        "purge",
        "remove memories, messages or records for good, to the last byte",
        epilog="It cannot be undone. The answer names what else repeats the text, and proves that the rest is gone.",
    )
    purge.add_argument("ids", nargs="+", metavar="ID", help="of a memory or a record, or of a message: SESSION#7")
    purge.add_argument("--with-origin", action="store_true", help="also messages, summaries and questions that say it")
    purge.add_argument("--reason", metavar="WHY")
    purge.add_argument("--dry-run", action="store_true", help="only show what would go, and what repeats it")
    purge.add_argument("--yes", action="store_true", help="do not ask")


def reading(verb: Verbs) -> None:
    search = verb(
        "search",
        "find what answers a question",
        filters(),
        moments(),
        question_time(),
        epilog="Without QUERY it is read from a pipe.",
    )
    search.add_argument("query", nargs="?", metavar="QUERY")
    search.add_argument("--limit", type=int, default=10, metavar="N", help="how many at the most (10)")
    search.add_argument("--all", action="store_true", help="all that is relevant enough, however many")
    search.add_argument("--min-relevance", type=float, metavar="X", help="only hits of at least this relevance, 0 to 1")
    search.add_argument("--min-similarity", type=float, metavar="X", help="cosine from which a vector hit counts")
    search.add_argument("--mode", choices=MODES, default="hybrid", help="use keywords, vectors, or both")
    search.add_argument("--fusion", choices=FUSIONS, help="how keyword and vector scores are combined")
    search.add_argument("--also", action="append", default=[], metavar="NAME", help="look in this namespace too; a/*")
    search.add_argument(
        "--include",
        action="extend",
        type=commas,
        default=argparse.SUPPRESS,
        metavar="WHAT",
        help="memories, events (what was said), files, profile, contacts, projects, skills, with commas; else all",
    )
    search.add_argument("--ignored", action="store_true", help="also contacts of type ignored")
    search.add_argument("--why", action="store_true", help="show how each score came about")

    context = verb(
        "context",
        "show what a model should read before it answers",
        moments(),
        question_time(),
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

    list_ = verb("list", "list memories, newest first", filters(), moments())
    list_.add_argument("--limit", type=int, default=50, metavar="N", help="how many on a page (50)")
    list_.add_argument("--before", metavar="ID", help="the page after this one: the `next` of the page before")

    verb("why", "tell where a memory came from").add_argument("id", metavar="ID")

    history = verb("history", "tell what happened to a memory")
    history.add_argument("id", metavar="ID")


def expecting(verb: Verbs) -> None:
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
    run.add_argument("--mode", choices=MODES, default="hybrid", help="use keywords, vectors, or both")
    run.add_argument("--fusion", choices=FUSIONS, help="how keyword and vector scores are combined")
    run.add_argument("--vector-weight", type=float, metavar="X", help="the weight of the vector search, 0 to 1")
    run.add_argument("--min-similarity", type=float, metavar="X", help="cosine from which a vector hit counts")


def reviewing(verb: Verbs) -> None:
    list_ = verb("list", "show what may replace what, newest first; on a terminal, decide on each")
    list_.add_argument("--limit", type=int, default=50, metavar="N", help="how many on a page (50)")
    list_.add_argument("--before", metavar="ID", help="the page after this proposal")

    accept = verb("accept", "have the newer memory replace the older one; `restore` undoes it")
    accept.add_argument("ids", nargs="+", metavar="ID", help="of a proposal")

    reject = verb("reject", "keep both memories, and do not propose it again")
    reject.add_argument("ids", nargs="+", metavar="ID", help="of a proposal")


def consolidating(verb: Verbs) -> None:
    consolidate = verb(
        "consolidate",
        "merge old memories that say the same, and sum up old outcomes",
        epilog="--dry-run shows what would be merged. What was merged can be undone: --undo RUN.",
    )
    consolidate.add_argument("--dry-run", action="store_true", help="only show the groups and the resulting texts")
    consolidate.add_argument(
        "--older-than", type=number, metavar="DAYS", help="age of the memories (the setting consolidate_after)"
    )
    consolidate.add_argument("--limit", type=int, default=1000, metavar="N", help="how many groups at the most (1000)")
    consolidate.add_argument("--undo", metavar="RUN", help="undo the run with this id")


def learning(verb: Verbs) -> None:
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
