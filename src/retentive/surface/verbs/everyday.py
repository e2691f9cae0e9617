"""Verbs of memories: add, search, context, change, forget, review."""

from retentive.surface.conversations import BUDGET
from retentive.surface.field import Field
from retentive.surface.memory import ADD_FIELDS, CONTENT_FIELDS, FILTERS, PAST
from retentive.surface.options import (
    ALSO,
    DRY_RUN,
    ID,
    IDS,
    MIN_RELEVANCE,
    MIN_SIMILARITY,
    NOW,
    PIPED,
    REASON,
    SESSION,
    TEXT,
    YES,
    page,
)
from retentive.surface.search import QUERY, SEARCH_OPTIONS
from retentive.surface.verb import Topic, Verb, VerbGroup

_PROPOSALS = IDS._replace(of="proposal", help="of a proposal")

EVERYDAY = Topic(
    "Everyday",
    (
        Verb(
            "dashboard",
            "show what the store holds, what is new and what needs a decision",
            examples=("dashboard", "dashboard --namespace alice"),
            epilog="On a terminal, `retentive` alone shows it, too.",
        ),
        Verb(
            "add",
            "add a memory",
            (TEXT._replace(help="the text to remember"),),
            (*ADD_FIELDS, Field("each_line", "flag", "every line of the input is a memory")),
            (
                'add "The user\'s dog is called Rex" --slot user.dog.name',
                "add Deploys happen on Tuesdays --kind pattern --tag ops",
            ),
            PIPED,
        ),
        Verb(
            "search",
            "search memories, conversations, files and records",
            (QUERY,),
            (*SEARCH_OPTIONS, *FILTERS, *PAST),
            ('search "what is my dog\'s name?"', "search deploys --kind pattern --since 4w --why"),
            "Without QUERY it is read from a pipe.",
        ),
        Verb(
            "context",
            "build the context that a model reads before it answers",
            (QUERY._replace(help="what the model is asked", default=""),),
            (
                SESSION._replace(help="the current conversation"),
                BUDGET,
                Field(
                    "recent",
                    "integer",
                    "newest messages to include (10); older ones if there is room; 0 for none",
                    default=10,
                    metavar="N",
                ),
                Field("top_k", "integer", "maximum number of memories (40)", metavar="N"),
                MIN_RELEVANCE._replace(help="minimum relevance of a hit, 0 to 1"),
                MIN_SIMILARITY,
                ALSO,
                NOW,
                *PAST,
            ),
            ("context when is the vet --session tuesday --budget 500", 'context "what do we deploy with?" --json'),
            "In a pipe it prints only the text; --json adds tokens, cited ids, and what was left out and why.",
        ),
        Verb(
            "list",
            "list memories, newest first",
            options=(*page("memory"), *FILTERS, *PAST),
            examples=("list --kind preference --limit 10", "list --status forgotten --json"),
        ),
        Verb(
            "timeline",
            "show what was added, changed and said, day by day",
            options=(
                Field("days", "integer", "how many days, counted back from today (14)", default=14, metavar="N"),
                *FILTERS,
            ),
            examples=("timeline", "timeline --days 30 --kind decision"),
        ),
        Verb("get", "show a memory", (ID,), examples=("get 4f0c91ab", "get 4f0c91ab --json")),
        Verb(
            "update",
            "change a memory; its history keeps the old version",
            (ID,),
            (Field("content", "text", "the new text"), *CONTENT_FIELDS, REASON),
            ('update 4f0c91ab --content "The dog is called Max"', "update 4f0c91ab --importance 9 --tag family"),
            'An empty --slot "", --context "" or --expires "" removes it.',
        ),
        Verb(
            "forget",
            "hide memories from search; `restore` undoes it",
            (IDS._replace(required=False),),
            (
                Field("words", "text", "memories that contain all of these words"),
                REASON,
                DRY_RUN._replace(help="only show what would be forgotten"),
                YES,
                *FILTERS,
            ),
            ("forget 4f0c91ab", 'forget --words "old address" --dry-run'),
            "By ID, or by words and filters. More than one must be confirmed, on the terminal or with --yes.",
        ),
        Verb(
            "restore",
            "restore forgotten or replaced memories",
            (IDS,),
            (REASON,),
            ("restore 4f0c91ab", 'restore 4f0c91ab 77b20d3e --reason "forgotten by mistake"'),
        ),
        Verb(
            "purge",
            "delete memories, messages or records permanently, and all traces",
            (IDS._replace(of="anything", help="of a memory or a record, or of a message: SESSION#7"),),
            (
                Field("with_origin", "flag", "also messages, summaries and logged questions that contain it"),
                REASON,
                DRY_RUN._replace(help="only show what would be deleted, and what repeats it"),
                YES,
            ),
            ("purge 4f0c91ab --dry-run", "purge monday#7 --with-origin --yes"),
            "This cannot be undone. The answer lists what else repeats the text, and proves that the rest is gone.",
        ),
        Verb(
            "history", "show the history of a memory", (ID,), examples=("history 4f0c91ab", "history 4f0c91ab --json")
        ),
        Verb("why", "show where a memory came from", (ID,), examples=("why 4f0c91ab", "why 4f0c91ab --json")),
        VerbGroup(
            "review",
            "decide on proposals that a newer memory replaces an older one",
            (
                Verb(
                    "review list",
                    "list open proposals, newest first; on a terminal, decide on each",
                    options=page("proposal"),
                    examples=("review", "review list --json"),
                ),
                Verb(
                    "review accept",
                    "let the newer memory replace the older one; `restore` undoes it",
                    (_PROPOSALS,),
                    examples=("review accept 4f0c91ab",),
                ),
                Verb(
                    "review reject",
                    "keep both memories, and never propose it again",
                    (_PROPOSALS,),
                    examples=("review reject 4f0c91ab",),
                ),
            ),
            alone="list",
            otherwise="list",
            epilog="`retentive review` is short for `review list`.",
        ),
    ),
)
