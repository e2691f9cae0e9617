"""Verbs of conversations, notes and chat logs."""

import argparse

from retentive.cli.parser.options import ROLES, TIME_HELP, VerbGroup


def add_session_verbs(verb: VerbGroup) -> None:
    append = verb(
        "append",
        "add a message; the first one creates the session",
        epilog="Without TEXT, or with -, it is read from a pipe.",
    )
    append.add_argument("session", metavar="SESSION")
    append.add_argument("text", nargs="?", metavar="TEXT", help="the text of the message")
    append.add_argument("--role", choices=ROLES, default="user", metavar="ROLE", help=f"{', '.join(ROLES)} (user)")
    append.add_argument("--speaker", metavar="NAME", help="who said it")
    append.add_argument("--time", metavar="TIME", help=f"when, {TIME_HELP} ago; now if not given")
    append.add_argument("--sequence", type=int, metavar="N", help="its number; the next if not given")
    append.add_argument("--payload", metavar="JSON", help="data of the message: tool calls, results, anything")

    put = verb("put", "set agent, tags and metadata of a session")
    put.add_argument("session", metavar="SESSION")
    put.add_argument("--agent", default=argparse.SUPPRESS, metavar="NAME", help="the agent that talks with the user")
    put.add_argument("--tag", dest="tags", action="append", default=argparse.SUPPRESS, metavar="TAG")
    put.add_argument("--metadata", default=argparse.SUPPRESS, metavar="JSON", help="any JSON object")

    list_ = verb("list", "list sessions, the most recently active first")
    list_.add_argument("--limit", type=int, default=50, metavar="N", help="how many on a page (50)")
    list_.add_argument("--after", metavar="SESSION", help="the page after the one that ends with this session")

    show = verb("show", "show the newest messages of a session, or those around one")
    show.add_argument("session", metavar="SESSION")
    show.add_argument("--limit", type=int, default=50, metavar="N", help="how many (50)")
    place = show.add_mutually_exclusive_group()
    place.add_argument("--before", type=int, metavar="N", help="the newest before this sequence number")
    place.add_argument("--after", type=int, metavar="N", help="the next after this sequence number")
    place.add_argument("--around", type=int, metavar="N", help="those around this sequence number")

    replay = verb("replay", "rebuild a conversation within a budget: its summary, then the newest messages")
    replay.add_argument("session", metavar="SESSION")
    replay.add_argument("--budget", type=int, default=2000, metavar="N", help="maximum number of tokens (2000)")

    summary = verb("summary", "show the summary of a session's older messages")
    summary.add_argument("session", metavar="SESSION")
    summary.add_argument("--condense", action="store_true", help="update it first, if it is due")
    summary.add_argument("--budget", type=int, metavar="N", help="tokens kept word for word (setting session_budget)")
    summary.add_argument("--write", metavar="TEXT", help="set the text yourself; needs --upto and --epoch")
    summary.add_argument("--upto", type=int, metavar="N", help="the last sequence number that the text covers")
    summary.add_argument("--epoch", type=int, metavar="N", help="the epoch you read; refused if it has changed")

    delete = verb("delete", "delete sessions permanently, with all their data")
    delete.add_argument("sessions", nargs="+", metavar="SESSION")
    delete.add_argument("--yes", action="store_true", help="do not ask")


def add_note_verbs(verb: VerbGroup) -> None:
    put = verb("put", "add a note, or replace one", epilog="Without TEXT, or with -, it is read from a pipe.")
    put.add_argument("text", nargs="?", metavar="TEXT")
    put.add_argument("--id", metavar="ID", help="its id; generated if not given")
    put.add_argument("--session", metavar="ID", help="store it for this session only")
    put.add_argument("--tag", dest="tags", action="append", default=[], metavar="TAG")

    verb("get", "show a note").add_argument("id", metavar="ID")

    list_ = verb("list", "list notes, newest first")
    list_.add_argument("--limit", type=int, default=50, metavar="N", help="how many on a page (50)")
    list_.add_argument("--after", metavar="ID", help="the page after this one: the `next` of the page before")
    list_.add_argument("--session", metavar="ID", help="include those of this session")
    list_.add_argument("--tag", dest="tags", action="append", default=[], metavar="TAG", help="only those that have it")

    verb("delete", "forget a note; `retentive restore` undoes it").add_argument("id", metavar="ID")


def add_chat_log_verbs(verb: VerbGroup) -> None:
    import_ = verb(
        "import",
        "import conversations from files, each as a session",
        epilog="Importing a file again adds only what is new. A .zip is read as the service sent it.",
    )
    import_.add_argument("files", nargs="+", metavar="FILE")
    import_.add_argument("--format", choices=("openai", "claude", "chatgpt", "plain"), help="recognised if not given")
    import_.add_argument("--session", metavar="ID", help="the session's name, if the file holds one conversation")
    import_.add_argument("--me", metavar="NAME", help="the user's name in it")
    import_.add_argument(
        "--trust",
        choices=("user", "import"),
        default="import",
        help="user: trust its messages of the user like those said here",
    )
