"""What each verb does: call the library, show the answer."""

import json
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
    import_,
    integrity,
    learn,
    models,
    output,
    profile,
    records,
    reembed,
    review,
    serve,
    sessions,
    tokens,
    work,
)
from retentive.cli.args import FILTERS, MOMENTS, given, is_json, json_of, text_of
from retentive.errors import Corrupt, Invalid
from retentive.model import Change
from retentive.storage.damage import collect_damage

if TYPE_CHECKING:
    from retentive.served_namespaces import Whose

_CONTENT = ("kind", "tags", "importance", "confidence", "context", "slot", "expires", "valid_from", "metadata")


def run(arguments: Any) -> int:
    if arguments.run in _WITHOUT_STORE:
        return _WITHOUT_STORE[arguments.run](arguments)
    if arguments.run in (*backup.VERBS, *export.VERBS):
        backup.there(arguments)
    try:
        opened = _open(arguments)
    except Corrupt:
        if arguments.run != "doctor" or not arguments.repair:
            raise
        return _salvage(arguments)
    with opened as memory, collect_damage() as damage:
        code = _VERBS[arguments.run](memory, arguments)
        output.notes(damage.notes())
        return code


def _salvage(arguments: Any) -> int:
    """Repair a store that is too damaged to be opened."""
    salvaged = Retentive.salvage(**given(arguments, ("db", "embedder")))
    with _open(arguments) as memory:
        return doctor.doctor(memory, arguments, salvaged)


def _open(arguments: Any) -> Retentive:
    settings = given(arguments, ("db", "namespace", "embedder"))
    who = _find_whose(settings)
    settings["namespace"] = who.namespace
    if who.person:
        settings["person"] = who.person
    if arguments.run == "work":  # what a server does beside its answers
        settings["daily_log"] = config.served(config.load(**settings))
    return Retentive.open(settings.pop("db", None), **settings)


def _find_whose(settings: Mapping[str, Any]) -> "Whose":
    """`auto` is the project that the folder belongs to, as for `retentive mcp`."""
    from retentive.served_namespaces import whose

    found = config.resolve(settings)
    return whose(found["namespace"].value, (), Path.cwd(), found["person"].value)


def _content(arguments: Any, names: Iterable[str]) -> dict[str, Any]:
    options = given(arguments, names)
    if "metadata" in options:
        options["metadata"] = json_of(options["metadata"], "--metadata")
    return options


def _add(memory: Retentive, arguments: Any) -> int:
    text = text_of(arguments.text, "text")
    options = _content(arguments, (*_CONTENT, "session", "source", "replaces"))
    if arguments.each_line:
        return _add_lines(memory, arguments, text, options)
    added = memory.add(text, **options)
    if is_json(arguments):
        output.as_json(serialize.added(added))
        return 0
    output.say(f"{'kept' if added.created else 'known already:'} {added.id}")
    review.show_endings(added)
    for each in added.resembles:
        output.say(f"resembles {each.id} ({each.overlap:.0%}): {each.content}")
    if added.pending:
        output.say("its vector is pending: `retentive backfill` makes it")
        output.notes(_explain_pending(memory))
    return 0


def _explain_pending(memory: Retentive) -> list[str]:
    """Why a vector could not be made just now; nothing where the embedder is switched off."""
    reason = memory.stats()["failures"].get("embed")
    return [f"the vector could not be made: {reason}"] if reason else []


def _add_lines(memory: Retentive, arguments: Any, text: str, options: dict[str, Any]) -> int:
    lines = [line for line in text.splitlines() if line.strip()]
    loaded = memory.add_many(lines, progress=output.progress(len(lines), "kept"), **options)
    if is_json(arguments):
        output.as_json({"ids": loaded.ids, "created": loaded.created, "repeated": loaded.repeated,
                      "superseded": loaded.superseded, "pending": loaded.pending,
                      "refusals": [each._asdict() for each in loaded.refusals]})  # fmt: skip
    else:
        output.say(f"kept: {loaded.created}, known already: {loaded.repeated}, vectors pending: {loaded.pending}")
        output.refusals(loaded.refusals)
    return 0


def _search(memory: Retentive, arguments: Any) -> int:
    found = memory.search(
        text_of(arguments.query, "query"),
        None if arguments.all else arguments.limit,
        mode=arguments.mode,
        fusion=arguments.fusion,
        min_similarity=arguments.min_similarity,
        min_relevance=arguments.min_relevance,
        namespaces=arguments.also,
        ignored=arguments.ignored,
        **given(arguments, (*FILTERS, *MOMENTS, "include", "now")),
    )
    if is_json(arguments):
        output.as_json(serialize.results(found))
    else:
        output.results(found, with_why=arguments.why)
    return 0


def _get(memory: Retentive, arguments: Any) -> int:
    found = memory.get(arguments.id)
    if is_json(arguments):
        output.as_json(serialize.memory(found))
    else:
        output.memory(found)
    return 0


def _list(memory: Retentive, arguments: Any) -> int:
    page = memory.list(arguments.limit, arguments.before, **given(arguments, (*FILTERS, *MOMENTS)))
    if is_json(arguments):
        output.as_json(serialize.page(page))
        return 0
    output.memories(page)
    output.notes(page.notes)
    if page.next:
        output.aside(f"more: retentive list --before {page.next}")
    return 0


def _update(memory: Retentive, arguments: Any) -> int:
    changes = _content(arguments, (*_CONTENT, "content"))
    if not changes:
        raise Invalid("nothing to change", "Give --content, --tag, --importance, ...: see `retentive update --help`.")
    changed = memory.update(arguments.id, reason=arguments.reason, **changes)
    if is_json(arguments):
        output.as_json(serialize.memory(changed))
    else:
        output.say(f"updated {changed.id}")
    return 0


def _restore(memory: Retentive, arguments: Any) -> int:
    """All of them, or none if one is not there."""
    for id in arguments.ids:
        memory.history(id)
    changed = [memory.restore(id, arguments.reason) for id in arguments.ids]
    if is_json(arguments):
        output.as_json({"memories": [serialize.memory(each) for each in changed]})
    else:
        for each in changed:
            output.say(f"{each.status} {each.id}")
    return 0


def _history(memory: Retentive, arguments: Any) -> int:
    changes = memory.history(arguments.id)
    if is_json(arguments):
        output.as_json({"id": arguments.id, "changes": [serialize.change(each) for each in changes]})
    else:
        rows = [_change(each) for each in changes]
        output.table(("when", "what", "who", "why", "before"), rows)
    return 0


def _change(each: Change) -> tuple[Any, ...]:
    before = (each.before or {}).get("content")
    return f"{each.at:%Y-%m-%d %H:%M:%S}", each.action, each.actor, each.reason, before


def _stats(memory: Retentive, arguments: Any) -> int:
    figures = memory.stats()
    if is_json(arguments):
        output.as_json(figures)
    else:
        output.table(("figure", "value"), _flat(figures))
    return 0


def _flat(figures: dict[str, Any], prefix: str = "") -> Iterable[tuple[str, Any]]:
    for name, value in figures.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", json.dumps(value, ensure_ascii=False) if isinstance(value, list | float) else value


def _backfill(memory: Retentive, arguments: Any) -> int:
    filled = memory.backfill(arguments.batch, output.progress(None, "embedded"))
    if is_json(arguments):
        output.as_json({"done": filled.done, "remaining": filled.remaining})
    else:
        output.say(f"vectors made: {filled.done}, remaining: {filled.remaining}")
    return 0


def _config(arguments: Any) -> int:
    found = config.shown(config.resolve(given(arguments, ("db", "namespace", "embedder"))))
    if is_json(arguments):
        output.as_json({name: {"value": value.value, "origin": value.origin} for name, value in found.items()})
    else:
        output.table(("setting", "value", "from"), [(name, value.value, value.origin) for name, value in found.items()])
    return 0


def _migrate(arguments: Any) -> int:
    tell = output.progress(None, "rows")
    rows: dict[str, int] = {}

    def progress(table: str, done: int) -> None:
        rows[table] = done
        tell(sum(rows.values()))

    moved = Retentive.migrate(arguments.source, arguments.target, progress)
    if is_json(arguments):
        output.as_json({"moved": [each._asdict() for each in moved]})
    else:
        output.table(("table", "rows", "checksum of both sides"), moved)
    return 0


def _eval(arguments: Any) -> int:
    from retentive.cli.eval import evaluate

    return evaluate(arguments)


def _demo(arguments: Any) -> int:
    from retentive.cli.demo import demo

    told = demo(given(arguments, ("embedder",)), quiet=is_json(arguments))
    if is_json(arguments):
        output.as_json(told)
    return 0


def _completion(arguments: Any) -> int:
    import shtab

    from retentive.cli.parser import build

    script = shtab.complete(build(), shell=arguments.shell)
    if is_json(arguments):
        output.as_json({"shell": arguments.shell, "script": script})
    else:
        output.say(script)
    return 0


def _clients(arguments: Any) -> int:
    from retentive.cli import clients

    return clients.VERBS[arguments.run](arguments)


_WITHOUT_STORE: dict[str, Callable[[Any], int]] = {
    "config": _config,
    "demo": _demo,
    "completion": _completion,
    "migrate": _migrate,
    **backup.WITHOUT_STORE,
    **models.WITHOUT_STORE,
    **serve.VERBS,
    "install": _clients,
    "uninstall": _clients,
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
    "stats": _stats,
    "backfill": _backfill,
    **tokens.VERBS,
    **backup.VERBS,
    **doctor.VERBS,
    **expect.VERBS,
    **export.VERBS,
    **files.VERBS,
    **forget.VERBS,
    **integrity.VERBS,
    **learn.VERBS,
    **profile.VERBS,
    **records.VERBS,
    **reembed.VERBS,
    **review.VERBS,
    **consolidate.VERBS,
    **import_.VERBS,
    **sessions.VERBS,
    **work.VERBS,
}
