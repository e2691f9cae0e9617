"""Run the commands: each calls the library and prints the answer."""

import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from retentive import config, serialize
from retentive.api import Retentive
from retentive.cli import (
    backup,
    consolidate,
    doctor,
    expect,
    export,
    files,
    forget,
    hook,
    import_,
    integrity,
    learn,
    models,
    output,
    overview,
    profile,
    records,
    reembed,
    review,
    scale,
    serve,
    sessions,
    settings,
    tokens,
    work,
)
from retentive.cli.args import FILTER_OPTIONS, PAST_OPTIONS, is_json, parse_json, pick_options, read_text
from retentive.cli.short_ids import complete_ids
from retentive.errors import Corrupt, Invalid
from retentive.hints import for_terminal
from retentive.model import HistoryEntry
from retentive.storage.damage import collect_damage
from retentive.surface.memory import ADD_FIELDS, CONTENT_FIELDS

if TYPE_CHECKING:
    from retentive.served_namespaces import ServedNamespaces

_CONTENT_OPTIONS = tuple(field.name for field in CONTENT_FIELDS)
_ADD_OPTIONS = tuple(field.name for field in ADD_FIELDS)


def run(arguments: Any) -> int:
    if arguments.run in _WITHOUT_STORE:
        return _WITHOUT_STORE[arguments.run](arguments)
    if arguments.run == "dashboard" and overview.show_beginning(arguments):
        return 0
    if arguments.run in (*backup.VERBS, *export.VERBS):
        backup.require_store(arguments)
    try:
        opened = _open(arguments)
    except Corrupt:
        if arguments.run != "doctor" or not arguments.repair:
            raise
        return _salvage(arguments)
    with opened as memory, collect_damage() as damage:
        complete_ids(memory, arguments)
        code = _VERBS[arguments.run](memory, arguments)
        output.print_notes(damage.notes())
        return code


def _salvage(arguments: Any) -> int:
    """Repair a store that is too damaged to be opened."""
    salvaged = Retentive.salvage(**pick_options(arguments, ("db", "embedder")))
    with _open(arguments) as memory:
        return doctor.run_doctor(memory, arguments, salvaged)


def _open(arguments: Any) -> Retentive:
    settings = pick_options(arguments, ("db", "namespace", "embedder"))
    served = _find_namespaces(settings)
    settings["namespace"] = served.namespace
    if served.person:
        settings["person"] = served.person
    if arguments.run == "work":  # it does the background work of a server
        settings["daily_log"] = config.resolve_daily_log(config.load(**settings))
    memory = Retentive.open(settings.pop("db", None), **settings)
    if served.earlier:
        _read_earlier_name(memory, served, arguments)
    return memory


def _read_earlier_name(memory: Retentive, served: "ServedNamespaces", arguments: Any) -> None:
    """Let searches and contexts read what was saved under the project's earlier name; say so until it has a new one."""
    known = memory.namespaces()
    served = served.keep_earlier_if_in(known)
    if served.earlier and hasattr(arguments, "also"):
        arguments.also = [*arguments.also, *served.also_read]
    if served.earlier and served.namespace not in known:
        output.print_hint(output.describe_earlier_name(served))


def _find_namespaces(settings: Mapping[str, Any]) -> "ServedNamespaces":
    """Find the namespaces. `auto` is the project of the current folder, as for `retentive mcp`."""
    from retentive.served_namespaces import find_namespaces

    found = config.resolve(settings)
    return find_namespaces(found["namespace"].value, (), Path.cwd(), found["person"].value)


def _pick_content_options(arguments: Any, names: Iterable[str]) -> dict[str, Any]:
    options = pick_options(arguments, names)
    if "metadata" in options:
        options["metadata"] = parse_json(options["metadata"], "--metadata")
    return options


def _add(memory: Retentive, arguments: Any) -> int:
    text = read_text(arguments.text, "text")
    options = _pick_content_options(arguments, _ADD_OPTIONS)
    if arguments.each_line:
        return _add_lines(memory, arguments, text, options)
    added = memory.add(text, **options)
    if is_json(arguments):
        output.print_json(serialize.add_result(added))
        return 0
    output.print_line(f"{'added' if added.created else 'already known:'} {output.show_id(added.id)}")
    review.print_endings(added)
    for each in added.similar:
        output.print_line(f"resembles {output.show_id(each.id)} ({each.overlap:.0%}): {each.content}")
    if added.pending:
        output.print_line("its vector is pending; `retentive backfill` computes it")
        output.print_notes(_explain_pending(memory))
    return 0


def _explain_pending(memory: Retentive) -> list[str]:
    """Say why a vector could not be made just now. Nothing to say if the embedder is switched off."""
    reason = memory.stats()["failures"].get("embed")
    return [f"the vector could not be computed: {reason}"] if reason else []


def _add_lines(memory: Retentive, arguments: Any, text: str, options: dict[str, Any]) -> int:
    lines = [line for line in text.splitlines() if line.strip()]
    with output.show_progress("adding", "memories", len(lines)) as progress:
        loaded = memory.add_many(lines, progress=progress.report, **options)
    if is_json(arguments):
        output.print_json({"ids": loaded.ids, "created": loaded.created, "repeated": loaded.repeated,
                      "superseded": loaded.superseded, "pending": loaded.pending,
                      "refusals": [each._asdict() for each in loaded.refusals]})  # fmt: skip
    else:
        output.print_line(
            f"added: {loaded.created}, already known: {loaded.repeated}, vectors pending: {loaded.pending}"
        )
        output.print_refusals(loaded.refusals)
    return output.PARTLY_DONE_EXIT_CODE if loaded.refusals else 0


def _search(memory: Retentive, arguments: Any) -> int:
    found = memory.search(
        read_text(arguments.query, "query"),
        None if arguments.all else arguments.limit,
        mode=arguments.mode,
        fusion=arguments.fusion,
        min_similarity=arguments.min_similarity,
        min_relevance=arguments.min_relevance,
        namespaces=arguments.also,
        ignored=arguments.ignored,
        **pick_options(arguments, (*FILTER_OPTIONS, *PAST_OPTIONS, "include", "now", "scope", "rrf_k")),
    )
    if is_json(arguments):
        output.print_json(serialize.results(found))
    else:
        output.print_results(found, with_why=arguments.why)
        if not found:
            _print_elsewhere(memory)
    return 0


def _print_elsewhere(memory: Retentive) -> None:
    """Say where memories are if the namespace has none: it may be misspelt, or `-n` was taken for a number."""
    names = memory.namespaces() if sys.stdout.isatty() else ()  # a pipe gets no hints
    if names and memory.namespace not in names:
        from retentive.cli.overview import MAX_NAMED_NAMESPACES

        there = ", ".join(names[:MAX_NAMED_NAMESPACES])
        output.print_hint(f"the namespace {memory.namespace!r} is empty; there are memories in: {there}")


def _get(memory: Retentive, arguments: Any) -> int:
    found = memory.get(arguments.id)
    if is_json(arguments):
        output.print_json(serialize.memory(found))
    else:
        output.print_memory(found)
    return 0


def _list(memory: Retentive, arguments: Any) -> int:
    page = memory.list(arguments.limit, arguments.after, **pick_options(arguments, (*FILTER_OPTIONS, *PAST_OPTIONS)))
    if is_json(arguments):
        output.print_json(serialize.page(page))
        return 0
    output.print_memories(page)
    if not page:
        _print_elsewhere(memory)
    output.print_notes(page.notes)
    if page.next:
        output.print_hint(f"more: retentive list --after {output.show_id(page.next)}")
    return 0


def _update(memory: Retentive, arguments: Any) -> int:
    changes = _pick_content_options(arguments, (*_CONTENT_OPTIONS, "content"))
    if not changes:
        raise Invalid("nothing to change", "Give --content, --tag, --importance, ...: see `retentive update --help`.")
    changed = memory.update(arguments.id, reason=arguments.reason, **changes)
    if is_json(arguments):
        output.print_json(serialize.memory(changed))
    else:
        output.print_line(f"updated {output.show_id(changed.id)}")
    return 0


def _restore(memory: Retentive, arguments: Any) -> int:
    """Restore all of them, or none if one does not exist."""
    for id in arguments.ids:
        memory.history(id)
    changed = [memory.restore(id, arguments.reason) for id in arguments.ids]
    if is_json(arguments):
        output.print_json({"memories": [serialize.memory(each) for each in changed]})
    else:
        for each in changed:
            output.print_line(f"{each.status} {output.show_id(each.id)}  {each.content}")
    return 0


def _history(memory: Retentive, arguments: Any) -> int:
    changes = memory.history(arguments.id)
    if is_json(arguments):
        output.print_json({"id": arguments.id, "changes": [serialize.history_entry(each) for each in changes]})
    elif sys.stdout.isatty():
        from retentive.cli.draw.console import draw
        from retentive.cli.draw.stories import make_history

        present = serialize.memory(memory.why(arguments.id).memory)
        draw(make_history(changes, present, has_colour=config.wants_colour(is_terminal=True)))
    else:
        output.print_table((), [_build_history_row(each) for each in changes])
    return 0


def _build_history_row(each: HistoryEntry) -> tuple[Any, ...]:
    before = (each.before or {}).get("content")
    return f"{each.at:%Y-%m-%d %H:%M:%S}", each.action, each.actor, for_terminal(each.reason or ""), before


def _backfill(memory: Retentive, arguments: Any) -> int:
    with output.show_progress("embedding", "texts") as progress:
        filled = memory.backfill(arguments.batch, progress.report)
    if is_json(arguments):
        output.print_json({"done": filled.done, "remaining": filled.remaining})
    else:
        output.print_line(f"vectors computed: {filled.done}, remaining: {filled.remaining}")
    return 0


def _migrate(arguments: Any) -> int:
    with output.show_progress("copying", "rows") as progress:
        moved = Retentive.migrate(arguments.source, arguments.target, progress.report_stage)
    if is_json(arguments):
        output.print_json({"moved": [each._asdict() for each in moved]})
    else:
        output.print_table(("table", "rows", "checksum of both"), moved)
    return 0


def _eval(arguments: Any) -> int:
    from retentive.cli.eval import evaluate

    return evaluate(arguments)


def _demo(arguments: Any) -> int:
    from retentive.cli.demo import run_demo

    answer = run_demo(pick_options(arguments, ("embedder",)), quiet=is_json(arguments))
    if is_json(arguments):
        output.print_json(answer)
    return 0


def _run_client_command(arguments: Any) -> int:
    from retentive.cli import clients

    return clients.VERBS[arguments.run](arguments)


_WITHOUT_STORE: dict[str, Callable[[Any], int]] = {
    "demo": _demo,
    "migrate": _migrate,
    **backup.WITHOUT_STORE,
    **models.WITHOUT_STORE,
    **settings.WITHOUT_STORE,
    **serve.VERBS,
    "install": _run_client_command,
    "uninstall": _run_client_command,
    "eval": _eval,
}
_VERBS: dict[str, Callable[[Retentive, Any], int]] = {
    "add": _add,
    "search": _search,
    "get": _get,
    "list": _list,
    "update": _update,
    "restore": _restore,
    "history": _history,
    "backfill": _backfill,
    **tokens.VERBS,
    **backup.VERBS,
    **doctor.VERBS,
    **expect.VERBS,
    **export.VERBS,
    **files.VERBS,
    **forget.VERBS,
    **hook.VERBS,
    **integrity.VERBS,
    **learn.VERBS,
    **overview.VERBS,
    **profile.VERBS,
    **records.VERBS,
    **reembed.VERBS,
    **review.VERBS,
    **scale.VERBS,
    **consolidate.VERBS,
    **import_.VERBS,
    **sessions.VERBS,
    **work.VERBS,
}
