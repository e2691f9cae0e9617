"""Verbs of servers, access tokens, MCP clients and hooks."""

from retentive.surface.field import TIME_HELP, Field
from retentive.surface.options import ALSO, DRY_RUN, SESSION
from retentive.surface.servers import TOOL_SETS
from retentive.surface.verb import Topic, Verb, VerbGroup

CLIENTS = (
    "claude-code", "claude-desktop", "cursor", "vscode", "codex", "windsurf", "gemini-cli", "zed", "cline", "opencode",
)  # fmt: skip
HOOKS = ("session-start", "prompt", "stop", "pre-compact", "session-end")
_NAMESPACES = "namespaces (--namespace auto: that of the git project around the folder)"

_CLIENT = Field("client", "choice", ", ".join(CLIENTS), choices=CLIENTS, metavar="CLIENT")
_TOOLS = Field(
    "tools", "choice", f"which tools to offer (default): {', '.join(TOOL_SETS)}", choices=TOOL_SETS, metavar="SET"
)
_SERVER_OPTIONS = (
    ALSO._replace(help="read this namespace too; a/*", group=_NAMESPACES),
    _TOOLS._replace(default="default", group=_NAMESPACES),
)
_CLIENT_OPTIONS = (
    Field(
        "scope",
        "choice",
        "everywhere, or in the project in this folder",
        choices=("user", "project"),
        default="user",
        metavar="user|project",
    ),
    DRY_RUN._replace(help="only show what would change"),
    Field("force", "flag", "replace or remove another server of the same name"),
)
_TOKEN_VERBS = (
    Verb(
        "token create",
        "create a token for a namespace; its secret is shown once",
        options=(
            Field("subtree", "flag", "and all namespaces below: alice/coder below alice"),
            Field("read_only", "flag", "allow reading only"),
            Field("name", "name", "a label for lists", metavar="LABEL"),
            Field("expires", "time", f"when it stops working, {TIME_HELP}", metavar="TIME"),
        ),
        examples=("token create --namespace alice --name laptop", "token create --read-only --expires 4w"),
        epilog="The namespace is that of --namespace.",
    ),
    Verb(
        "token list",
        "list the tokens of the store, newest first, without secrets",
        examples=("token list", "token list --json"),
    ),
    Verb(
        "token revoke",
        "revoke tokens, effective at once",
        (Field("ids", "id", "", of="token", many=True, required=True, metavar="ID"),),
        examples=("token revoke 4f0c91ab",),
    ),
)
SERVE = Topic(
    "Serve and connect",
    (
        Verb(
            "install",
            "add `retentive mcp` to the settings of an MCP client",
            (_CLIENT,),
            (
                *_CLIENT_OPTIONS,
                ALSO._replace(help="a namespace it reads too; a/*"),
                _TOOLS._replace(help="which tools it offers"),
                Field("print", "flag", "only print the text to add to the file"),
            ),
            ("install claude-code", "install cursor --scope project --dry-run"),
            "Without CLIENT, lists the supported clients. --db and --namespace (default: auto) are passed on.",
        ),
        Verb(
            "uninstall",
            "remove `retentive mcp` from the settings of an MCP client",
            (_CLIENT._replace(required=True),),
            _CLIENT_OPTIONS,
            ("uninstall cursor", "uninstall cursor --scope project --dry-run"),
        ),
        Verb(
            "mcp",
            "run an MCP server on standard input and output",
            options=(
                Field("tool_cost", "flag", "only show how many tokens the list of tools takes"),
                *_SERVER_OPTIONS,
            ),
            examples=("mcp --namespace auto", "mcp --tools read --tool-cost"),
            epilog="Started by a client such as Claude Code or Cursor: `retentive install` sets one up.",
        ),
        Verb(
            "serve",
            "run an HTTP server: MCP at /mcp, a health check at /health",
            options=(
                Field("serve_host", "name", "to listen on (127.0.0.1)", flag="--host", metavar="ADDRESS"),
                Field("serve_port", "integer", "8765; 0: a free one", flag="--port", metavar="N"),
                Field("require_token", "flag", "require a token from this machine, too"),
                Field(
                    "allow_hosts",
                    "name",
                    "a host name that clients may use, besides the address; may be given several times",
                    many=True,
                    flag="--allow-host",
                    metavar="NAME",
                ),
                *_SERVER_OPTIONS,
            ),
            examples=("serve", "serve --host 0.0.0.0 --port 8765 --allow-host memory.example.org"),
            epilog="If other machines can reach the address, every request needs a token: `retentive token create`.",
        ),
        VerbGroup("token", "manage access tokens", _TOKEN_VERBS),
        Verb(
            "hook",
            "Claude Code hook: inject memories, record the conversation",
            (
                Field(
                    "event",
                    "choice",
                    f"{', '.join(HOOKS)}; or report",
                    choices=(*HOOKS, "report"),
                    required=True,
                    metavar="EVENT",
                ),
            ),
            (
                ALSO,
                Field(
                    "budget",
                    "integer",
                    "maximum number of tokens (600 at the start, 500 for a prompt)",
                    metavar="N",
                ),
                Field(
                    "time_limit",
                    "number",
                    "seconds after which it gives up (5)",
                    default=5.0,
                    flag="--limit",
                    metavar="S",
                ),
                Field("debug", "flag", "print the traceback of a failure"),
                Field("days", "integer", "report: the last N days (30)", default=30, metavar="N"),
                SESSION._replace(help="report: one conversation, such as claude-code/ID"),
            ),
            ("hook prompt --namespace auto", "hook report --namespace auto --days 7"),
            "Reads the hook's JSON from a pipe and always exits with 0. `hook report` reads nothing: it shows what\n"
            "was injected in each conversation, and whether it was used.",
        ),
    ),
)
