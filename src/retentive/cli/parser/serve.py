"""Verbs that let others in, and set up those who come: servers, tokens, clients, hooks."""

import argparse
from argparse import ArgumentParser

from retentive.cli.parser.options import TIMES, Verbs

CLIENTS = tuple("claude-code claude-desktop cursor vscode codex windsurf gemini-cli zed cline opencode".split())
HOOKS = tuple("session-start prompt stop pre-compact session-end".split())


def serving(verb: Verbs) -> None:
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


def admitting(verb: Verbs) -> None:
    create = verb(
        "create",
        "make a token that opens a namespace; its secret is shown once",
        epilog="The namespace is that of --namespace.",
    )
    create.add_argument("--subtree", action="store_true", help="and all namespaces below: alice/coder below alice")
    create.add_argument("--read-only", action="store_true", help="to read, not to write")
    create.add_argument("--name", metavar="LABEL", help="what to know it by")
    create.add_argument("--expires", metavar="TIME", help=f"when it stops opening anything, {TIMES}")

    verb("list", "list the tokens of the store, the newest first; never their secrets")

    revoke = verb("revoke", "make tokens open nothing from now on")
    revoke.add_argument("ids", nargs="+", metavar="ID")


def connecting(verb: Verbs) -> None:
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


def hooking(verb: Verbs) -> None:
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
