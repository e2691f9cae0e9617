"""Verbs of servers, access tokens, MCP clients and hooks."""

import argparse
from argparse import ArgumentParser

from retentive.cli.parser.options import TIME_HELP, VerbGroup

CLIENTS = tuple("claude-code claude-desktop cursor vscode codex windsurf gemini-cli zed cline opencode".split())
HOOKS = tuple("session-start prompt stop pre-compact session-end".split())


def add_servers(verb: VerbGroup) -> None:
    mcp = verb(
        "mcp",
        "run an MCP server on standard input and output",
        _make_server_options(),
        epilog="Started by a client such as Claude Code or Cursor: `retentive install` sets one up.",
    )
    mcp.add_argument("--tool-cost", action="store_true", help="only show how many tokens the list of tools takes")

    serve = verb(
        "serve",
        "run an HTTP server: MCP at /mcp, a health check at /health",
        _make_server_options(),
        epilog="If other machines can reach the address, every request needs a token: `retentive token create`.",
    )
    serve.add_argument(
        "--host", dest="serve_host", default=argparse.SUPPRESS, metavar="ADDRESS", help="to listen on (127.0.0.1)"
    )
    serve.add_argument(
        "--port", dest="serve_port", type=int, default=argparse.SUPPRESS, metavar="N", help="8765; 0: a free one"
    )
    serve.add_argument(
        "--require-token", action="store_true", default=argparse.SUPPRESS, help="require a token from this machine, too"
    )
    serve.add_argument(
        "--allow-host",
        dest="allow_hosts",
        action="append",
        default=argparse.SUPPRESS,
        metavar="NAME",
        help="a host name that clients may use, besides the address; may be given several times",
    )


def _make_server_options() -> ArgumentParser:
    options = ArgumentParser(add_help=False)
    group = options.add_argument_group("namespaces (--namespace auto: that of the git project around the folder)")
    group.add_argument("--also", action="append", default=[], metavar="NAME", help="read this namespace too; a/*")
    group.add_argument(
        "--tools", choices=("default", "full", "read"), default="default", help="which tools to offer (default)"
    )
    return options


def add_token_verbs(verb: VerbGroup) -> None:
    create = verb(
        "create",
        "create a token for a namespace; its secret is shown once",
        epilog="The namespace is that of --namespace.",
    )
    create.add_argument("--subtree", action="store_true", help="and all namespaces below: alice/coder below alice")
    create.add_argument("--read-only", action="store_true", help="allow reading only")
    create.add_argument("--name", metavar="LABEL", help="a label for lists")
    create.add_argument("--expires", metavar="TIME", help=f"when it stops working, {TIME_HELP}")

    verb("list", "list the tokens of the store, newest first, without secrets")

    revoke = verb("revoke", "revoke tokens, effective at once")
    revoke.add_argument("ids", nargs="+", metavar="ID")


def add_install(verb: VerbGroup) -> None:
    install = verb(
        "install",
        "add `retentive mcp` to the settings of an MCP client",
        _make_client_options(),
        epilog="Without CLIENT, lists the supported clients. --db and --namespace (default: auto) are passed on.",
    )
    install.add_argument("client", nargs="?", choices=CLIENTS, metavar="CLIENT", help=", ".join(CLIENTS))
    install.add_argument("--also", action="append", default=[], metavar="NAME", help="a namespace it reads too; a/*")
    install.add_argument("--tools", choices=("default", "full", "read"), help="which tools it offers")
    install.add_argument("--print", action="store_true", help="only print the text to add to the file")

    uninstall = verb("uninstall", "remove `retentive mcp` from the settings of an MCP client", _make_client_options())
    uninstall.add_argument("client", choices=CLIENTS, metavar="CLIENT", help=", ".join(CLIENTS))


def _make_client_options() -> ArgumentParser:
    options = ArgumentParser(add_help=False)
    options.add_argument(
        "--scope", choices=("user", "project"), default="user", help="everywhere, or in the project in this folder"
    )
    options.add_argument("--dry-run", action="store_true", help="only show what would change")
    options.add_argument("--force", action="store_true", help="replace or remove another server of the same name")
    return options


def add_hook(verb: VerbGroup) -> None:
    hook = verb(
        "hook",
        "Claude Code hook: inject relevant memories, record the conversation",
        epilog="Reads the hook's JSON from a pipe. It always exits with 0. --namespace auto: by project.\n"
        "`retentive hook report` reads nothing: it says what was shown in each conversation, and whether it was used.",
    )
    events = (*HOOKS, "report")
    hook.add_argument("event", choices=events, metavar="EVENT", help=f"{', '.join(HOOKS)}; or report")
    hook.add_argument("--also", action="append", default=[], metavar="NAME", help="search this namespace too; a/*")
    hook.add_argument(
        "--budget", type=int, metavar="N", help="maximum number of tokens (600 at the start, 500 for a prompt)"
    )
    limit_help = "seconds after which it gives up (5)"
    hook.add_argument("--limit", dest="time_limit", type=float, default=5.0, metavar="S", help=limit_help)
    hook.add_argument("--debug", action="store_true", help="print the traceback of a failure")
    hook.add_argument("--days", type=int, default=30, metavar="N", help="report: the last N days (30)")
    hook.add_argument("--session", metavar="ID", help="report: one conversation, such as claude-code/ID")
