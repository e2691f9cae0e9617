"""List, download, choose, test, verify and remove embedding models. No store is needed."""

from collections.abc import Callable, Iterator
from typing import Any

from retentive import config, serialize
from retentive.cli import output
from retentive.cli.args import is_json, pick_options
from retentive.cli.learn import describe_cost
from retentive.errors import Invalid, ModelUnfit, outcome
from retentive.maintenance.models import Models
from retentive.model import ModelFile, ModelInfo

_UNFIT_EXIT_CODE = outcome(ModelUnfit("")).exit_code


def _models(arguments: Any) -> Models:
    return Models(config.load(**pick_options(arguments, ("embedder",))))


def _list(arguments: Any) -> int:
    known = _models(arguments).list()
    if is_json(arguments):
        output.print_json({"models": [serialize.model(each) for each in known]})
    else:
        output.print_table(("model", "state", "size", "languages", "description"), map(_build_row, known), wraps=True)
    return 0


def _build_row(each: ModelInfo) -> tuple[str, ...]:
    return (
        "/".join((each.name, *each.aliases)),
        _describe_state(each),
        _format_size(each.files),
        each.languages,
        each.summary,
    )


def _info(arguments: Any) -> int:
    found = _models(arguments).info(arguments.name)
    if is_json(arguments):
        output.print_json(serialize.model(found))
        return 0
    for name, value in _iterate_facts(found):
        output.print_line(f"{name:<17} {value!s}")
    for file in found.files:
        output.print_line(f"{'file':<17} {file.state}: {file.path!s} ({_format_size((file,))})")
        output.print_line(f"{'':<17} sha256 {file.sha256}")
        if file.source:
            output.print_line(f"{'':<17} from {file.source}")
    return 0


def _iterate_facts(found: ModelInfo) -> Iterator[tuple[str, Any]]:
    yield "name", ", ".join((found.name, *found.aliases))
    yield "description", found.summary
    yield "state", _describe_state(found)
    yield "graph", found.origin
    yield "licence", found.licence or "unknown"
    yield "languages", found.languages or "unknown"
    yield "space", f"{found.space}, {found.dimension} numbers"
    yield "precision", found.precision or "none"
    yield "pooling", found.pooling or "none"
    yield "question prefix", repr(found.query_prefix)
    yield "document prefix", repr(found.document_prefix)
    yield "reads at most", f"{found.max_tokens} tokens" if found.max_tokens else "everything"
    yield "threshold", f"{found.min_similarity:g} (unrelated texts spread by {found.spread:g})"


def _describe_state(model: ModelInfo) -> str:
    if not model.is_here:
        return "selected, not downloaded" if model.is_used else "not downloaded"
    return "in use" if model.is_used else "ready"


def _format_size(files: tuple[ModelFile, ...]) -> str:
    return f"{sum(file.size for file in files) / 1e6:.1f} MB" if files else ""


def _pull(arguments: Any) -> int:
    with output.show_progress("downloading", "bytes") as progress:
        progress.show_name(arguments.name)
        found = _models(arguments).pull(arguments.name, arguments.precision, progress.report)
    if is_json(arguments):
        output.print_json(serialize.model(found))
    else:
        size = (
            f": {_format_size(found.files)}, {found.precision or 'no precision'}"
            if found.files
            else "; it needs no files"
        )
        output.print_line(f"{found.name} is downloaded{size}")
        output.print_line(f"`retentive models use {arguments.name}` makes it the embedder")
    return 0


def _use(arguments: Any) -> int:
    file = _models(arguments).use(arguments.name, arguments.precision)
    variable = next(setting.variable for setting in config.SETTINGS if setting.name == "embedder")
    hidden = config.resolve({})["embedder"].origin == variable
    if is_json(arguments):
        output.print_json({"embedder": arguments.name, "file": str(file), "overridden": hidden})
        return 0
    output.print_line(f"embedder is {arguments.name}, in {file!s}")
    if hidden:
        output.print_line(f"note: the environment variable {variable} has another value, and takes precedence")
    if arguments.name == "none":
        output.print_line("searches use full text only; the vectors in the store are kept")
    else:
        output.print_raw(
            f"a store with memories needs new vectors: `retentive reembed --model {output.sanitise(arguments.name)}`"
        )
    return 0


def _test(arguments: Any) -> int:
    if arguments.llm:
        return _test_llm(arguments)
    done = _models(arguments).test(arguments.name, arguments.precision)
    if is_json(arguments):
        output.print_json(serialize.model_test(done))
        return 0
    origin = f" ({done.origin})" if done.origin else ""
    output.print_line(f"{done.name}: {done.dimension} numbers, space {done.space}{origin}")
    speed = f"{done.text_ms:g} ms for one text, {done.texts_per_second:g} texts/s in one call"
    output.print_line(f"loaded in {done.load_ms:g} ms; {speed}")
    output.print_line(f"questions whose answer was nearest: {done.found} of {done.questions}")
    return 0


def _test_llm(arguments: Any) -> int:
    if arguments.name or arguments.precision:
        raise Invalid("--llm tests the language model in the settings", "Leave out the name and --precision.")
    done = _models(arguments).test_llm()
    if is_json(arguments):
        output.print_json(serialize.llm_trial(done))
        return _UNFIT_EXIT_CODE if done.error else 0
    output.print_line(f"{done.model}: a short answer took {done.latency:.1f} s, the sample {done.seconds:.1f} s")
    output.print_line(f"answers in the requested form ({done.prompt}): {done.valid} of {done.answers}")
    for content in done.claims:
        output.print_line(f"  {content}")
    for reason in done.rejected:
        output.print_line(f"  left out: {reason}")
    if done.error:
        output.print_line(f"  learning would use rules alone: {done.error}")
    output.print_line(f"cost: {describe_cost(done.cost)}")
    return _UNFIT_EXIT_CODE if done.error else 0


def _verify(arguments: Any) -> int:
    done = _models(arguments).verify(arguments.name, arguments.precision, accept=arguments.accept)
    if is_json(arguments):
        output.print_json(serialize.model_check(done))
    else:
        for file in done.files:
            output.print_line(f"{file.state}  {file.path!s}")
        output.print_raw(
            f"{output.sanitise(done.name)}: {output.sanitise(done.problem) or 'its files and vectors are correct'}"
        )
    return _UNFIT_EXIT_CODE if done.problem else 0


def _remove(arguments: Any) -> int:
    gone = _models(arguments).remove(arguments.name)
    if is_json(arguments):
        output.print_json({"removed": [str(path) for path in gone]})
        return 0
    for path in gone:
        output.print_line(f"removed {path!s}")
    if not gone:
        output.print_line(f"{arguments.name} was not downloaded")
    return 0


WITHOUT_STORE: dict[str, Callable[[Any], int]] = {
    "models list": _list,
    "models info": _info,
    "models pull": _pull,
    "models use": _use,
    "models test": _test,
    "models verify": _verify,
    "models remove": _remove,
}
