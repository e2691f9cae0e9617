"""Verbs of sessions, notes, chat logs, and what is learned from them."""

from retentive.surface.conversations import BUDGET, CHAT_FORMATS, MESSAGE_OPTIONS, PLACES, SESSION, SESSIONS
from retentive.surface.field import Field
from retentive.surface.options import AFTER, ID, METADATA, PIPED, TAGS, TEXT, YES, limit, page
from retentive.surface.options import SESSION as SESSION_OPTION
from retentive.surface.verb import Topic, Verb, VerbGroup

_NOTE = ID._replace(of="note")

_SESSION_VERBS = (
    Verb(
        "session append",
        "add a message; the first one creates the session",
        (SESSION, TEXT._replace(help="the text of the message")),
        MESSAGE_OPTIONS,
        (
            'session append monday "Rex has a vet appointment on Friday"',
            "session append monday --role assistant Noted",
        ),
        PIPED,
    ),
    Verb(
        "session put",
        "set agent, tags and metadata of a session",
        (SESSION,),
        (
            Field("agent", "name", "the agent that talks with the user", metavar="NAME"),
            TAGS._replace(help=""),
            METADATA,
        ),
        ("session put monday --agent planner --tag work",),
    ),
    Verb(
        "session list",
        "list sessions, the most recently active first",
        options=(
            limit(50, "how many on a page"),
            AFTER._replace(
                type="session", of="", metavar="SESSION", help="the page after the one that ends with this session"
            ),
        ),
        examples=("session list", "session list --limit 5 --json"),
    ),
    Verb(
        "session show",
        "show the newest messages of a session, or those around one",
        (SESSION,),
        (limit(50, "how many"), *PLACES),
        ("session show monday --limit 10", "session show monday --around 7"),
        exclusive=(("before", "after", "around"),),
    ),
    Verb(
        "session replay",
        "rebuild a conversation within a budget: its summary, then the newest messages",
        (SESSION,),
        (BUDGET,),
        ("session replay monday --budget 1000",),
    ),
    Verb(
        "session summary",
        "show the summary of a session's older messages",
        (SESSION,),
        (
            Field("condense", "flag", "update it first, if it is due"),
            BUDGET._replace(default=None, help="tokens kept word for word (setting session_budget)"),
            Field("write", "text", "set the text yourself; needs --upto and --epoch"),
            Field("upto", "integer", "the last sequence number that the text covers", metavar="N"),
            Field("epoch", "integer", "the epoch you read; refused if it has changed", metavar="N"),
        ),
        ("session summary monday", "session summary monday --condense"),
    ),
    Verb(
        "session delete",
        "delete sessions permanently, with all their data",
        (SESSIONS,),
        (YES,),
        ("session delete monday", "session delete monday tuesday --yes"),
    ),
)
_NOTE_VERBS = (
    Verb(
        "note put",
        "add a note, or replace one",
        (TEXT,),
        (
            Field("id", "name", "its id; generated if not given", metavar="ID"),
            SESSION_OPTION,
            TAGS._replace(help=""),
        ),
        ('note put "Call Anna on Monday" --id todo', "note put --id todo --tag work Call Anna"),
        PIPED,
    ),
    Verb("note get", "show a note", (_NOTE,), examples=("note get todo",)),
    Verb(
        "note list",
        "list notes, newest first",
        options=(
            *page("note"),
            SESSION_OPTION._replace(help="include those of this session"),
            TAGS._replace(help="only those that have it"),
        ),
        examples=("note list --tag work",),
    ),
    Verb("note delete", "forget a note; `retentive restore` undoes it", (_NOTE,), examples=("note delete todo",)),
)
_CHAT_LOG_VERBS = (
    Verb(
        "chat-log import",
        "import conversations from files, each as a session",
        (Field("files", "path", "", many=True, required=True, metavar="FILE"),),
        (
            Field("format", "choice", "recognised if not given", choices=CHAT_FORMATS, metavar="FORMAT"),
            SESSION_OPTION._replace(help="the session's name, if the file holds one conversation"),
            Field("me", "name", "the user's name in it", metavar="NAME"),
            Field(
                "trust",
                "choice",
                "user: trust its messages of the user like those said here",
                choices=("user", "import"),
                default="import",
                metavar="user|import",
            ),
        ),
        ("chat-log import conversations.json", "chat-log import export.zip --format claude"),
        "Importing a file again adds only what is new. A .zip is read as the service sent it.",
    ),
)
CONVERSATIONS = Topic(
    "Conversations",
    (
        VerbGroup("session", "store and read conversations", _SESSION_VERBS),
        VerbGroup("note", "manage notes with ids that you choose", _NOTE_VERBS),
        Verb(
            "learn",
            "extract memories from conversations",
            (SESSION._replace(required=False, help="this session now; without it, all idle ones"),),
            examples=("learn", "learn monday"),
            epilog="Each message is read once, by rules or by the language model of the setting llm.",
        ),
        VerbGroup("chat-log", "import conversations from other programs", _CHAT_LOG_VERBS),
    ),
)
