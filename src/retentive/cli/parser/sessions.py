"""Verbs of conversations and notes."""

import argparse

from retentive.cli.parser.options import ROLES, TIMES, Verbs


def talking(verb: Verbs) -> None:
    append = verb(
        "append",
        "keep a message; the first one makes the session",
        epilog="Without TEXT, or with -, it is read from a pipe.",
    )
    append.add_argument("session", metavar="SESSION")
    append.add_argument("text", nargs="?", metavar="TEXT", help="what was said")
    append.add_argument("--role", choices=ROLES, default="user", metavar="ROLE", help=f"{', '.join(ROLES)} (user)")
    append.add_argument("--speaker", metavar="NAME", help="who said it")
    append.add_argument("--time", metavar="TIME", help=f"when, {TIMES} ago; now if not given")
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


def noting(verb: Verbs) -> None:
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
    list_.add_argument("--tag", dest="tags", action="append", default=[], metavar="TAG", help="only those that have it")

    verb("delete", "forget a note; `retentive restore` undoes it").add_argument("id", metavar="ID")


def importing(verb: Verbs) -> None:
    import_ = verb(
        "import",
        "keep the conversations of files, each as a session",
        epilog="Again with the same file, only what is new in it is kept. A .zip is read as the service sent it.",
    )
    import_.add_argument("files", nargs="+", metavar="FILE")
    import_.add_argument("--format", choices=("openai", "claude", "chatgpt", "plain"), help="recognised if not given")
    import_.add_argument("--session", metavar="ID", help="the session's name, if the file holds one conversation")
    import_.add_argument("--me", metavar="NAME", help="the user's name in it")
    import_.add_argument(
        "--trust",
        choices=("user", "import"),
        default="import",
        help="user: you vouch for it, so that its words of the user count as said here",
    )
