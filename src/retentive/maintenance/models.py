"""Embedding models of this machine: listed, fetched, chosen, tested, verified, removed; the language model tested."""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from retentive import config
from retentive.config import Config
from retentive.config.settings_file import write_setting
from retentive.embed import Embedder, is_rebuilt, open_configured
from retentive.embed.catalogue import CATALOGUE, MINILM, Entry
from retentive.embed.checksum import hash_file
from retentive.embed.choice import Choice, Named, Placed, parse_choice
from retentive.embed.download import Progress, fetch
from retentive.embed.time_limit import background
from retentive.errors import BadConfig, Conflict, EmbedError, Forbidden, Invalid, ModelMissing
from retentive.model import Bounds, LlmTrial, ModelCheck, ModelFile, ModelInfo, ModelTest

_PAIRS = (
    ("What is the dog called?", "Our dog's name is Rex."),
    ("When does the ferry leave?", "The boat to Bergen departs at nine."),
    ("Which database do we run?", "In production there is PostgreSQL 17."),
    ("Who likes climbing?", "Ana spends her weekends in the mountains on a rope."),
    ("How do we deploy?", "Releases go out by a pipeline on Tuesdays."),
    ("What must I not eat?", "The user is allergic to peanuts."),
)
_BATCH = 64  # texts of the speed test: more than fit into one run of a graph
_FEWEST_SECONDS = 1e-9  # the shortest time that is divided by


class Models:
    """The models that can be chosen: those of the catalogue, and folders of one's own by their paths."""

    def __init__(self, settings: Config, bounds: Bounds | None = None) -> None:
        self._settings = settings
        self._bounds = bounds
        self._cache = Path(settings.cache).expanduser()

    def list(self) -> tuple[ModelInfo, ...]:
        """The catalogue; and the model that is set, if it is a folder of one's own."""
        self._require_machine("list")
        known = [self.info(entry.name) for entry in CATALOGUE]
        if isinstance(self._find_used(), Placed):
            with suppress(EmbedError):  # what is set may not be there: the list helps to set another
                known.append(self.info(self._settings.embedder))
        return tuple(known)

    def info(self, name: str) -> ModelInfo:
        """What is known of a model. Nothing is loaded."""
        self._require_machine("info")
        choice = self._find(name)
        if isinstance(choice, Placed):
            return self._describe_own(name, choice)
        return self._describe_entry(choice.entry)

    def pull(self, name: str, precision: str | None = None, progress: Progress | None = None) -> ModelInfo:
        """Fetch a model's files, those that are not here. `progress` hears bytes here, and bytes in all."""
        self._require_machine("pull")
        choice = self._find(name)
        if isinstance(choice, Placed):
            raise Invalid(f"{name} is a folder of your own: there is nothing to fetch")
        entry, chosen = choice.entry, self._with(precision)
        if not is_rebuilt(entry.name, chosen.precision) or not self._describe(entry.name, chosen).is_here:
            fetch(entry.files(chosen.precision), self._cache, chosen.hub_url, progress)
        return self._describe(entry.name, chosen)

    def use(self, name: str, precision: str | None = None) -> Path:
        """Write a model, and its precision if given, into the file of settings; the file. A model must be here.

        A store that has vectors of another model keeps answering by these: `retentive reembed --model NAME` makes new
        ones.
        """
        self._require_machine("use")
        embedder = open_configured(self._with(precision), name, download=False)
        said = embedder.describe() if embedder else {}
        if problem := said.get("degraded"):
            is_own = isinstance(parse_choice(name), Placed)
            hint = "Put it right first." if is_own else f"Fetch it first: `retentive models pull {name}`."
            raise ModelMissing(problem, hint)
        path = config.settings_path()
        write_setting(path, "embedder", _spell(name))
        if precision:
            write_setting(path, "precision", precision)
        return path

    def test(self, name: str | None = None, precision: str | None = None) -> ModelTest:
        """Load a model, or the one that is set, and see how quick and how good it is here."""
        self._require_machine("test")
        named = name or self._settings.embedder
        embedder = self._open(named, precision)
        try:
            with background():
                return _test(named, embedder)
        finally:
            embedder.close()

    def test_llm(self) -> LlmTrial:
        """Try the language model that is set on a short conversation. It is asked two or three times."""
        from retentive.learning.llm_trial import try_llm

        self._require_machine("test_llm")
        return try_llm(self._settings)

    def verify(self, name: str | None = None, precision: str | None = None, *, accept: bool = False) -> ModelCheck:
        """Compare a model's files with their hashes, and its vectors with those that are known.

        `accept` records the vectors of a folder of one's own anew.
        """
        self._require_machine("verify")
        named = name or self._settings.embedder
        if accept:
            self._forget_record(named, precision)
        chosen = self._with(precision)
        files = tuple(_verify_file(file) for file in self._describe(named, chosen).files if file.state != "missing")
        try:
            embedder = self._open(named, precision)
            embedder.embed(["verify"])
            embedder.close()
        except EmbedError as error:
            return ModelCheck(named, files, str(error))
        wrong = [file.path.name for file in files if file.state == "wrong"]
        return ModelCheck(named, files, f"{', '.join(wrong)}: another sha256 than is pinned" if wrong else "")

    def remove(self, name: str) -> tuple[Path, ...]:
        """Delete what was fetched or made for a model; the files. A folder of one's own stays."""
        self._require_machine("remove")
        choice = self._find(name)
        if choice == self._find_used():
            raise Conflict(f"{name} is the embedder in use", "Choose another first: `retentive models use NAME`.")
        files = self._list_files(choice)
        for path in files:
            path.unlink(missing_ok=True)
        return files

    def _require_machine(self, verb: str) -> None:
        if self._bounds:
            raise Forbidden(f"models.{verb} is about this machine, and this view sees a part of one store")

    def _find(self, name: str) -> Named | Placed:
        match parse_choice(name):
            case Named() | Placed() as choice:
                return choice
            case None:
                raise Invalid("`none` is no model: vectors are switched off by it")
            case provided:
                raise Invalid(f"{provided.provider} serves {provided.model}: there is no file of it here")

    def _find_used(self) -> Choice:
        """What the settings name; None also for what nobody knows."""
        with suppress(BadConfig):
            return parse_choice(self._settings.embedder)
        return None

    def _with(self, precision: str | None) -> Config:
        if precision is None:
            return self._settings
        checked = config.resolve({"precision": precision})["precision"].value
        return replace(self._settings, precision=checked)

    def _open(self, name: str, precision: str | None) -> Embedder:
        embedder = open_configured(self._with(precision), name, download=False)
        if embedder is None:
            raise Invalid("`none` is no model: vectors are switched off by it")
        return embedder

    def _describe(self, name: str, settings: Config) -> ModelInfo:
        return Models(settings).info(name)

    def _describe_entry(self, entry: Entry) -> ModelInfo:
        settings = replace(self._settings, embedder=entry.name)
        embedder = open_configured(settings, download=False)
        said = embedder.describe() if embedder else {}
        return ModelInfo(
            name=entry.name,
            aliases=entry.aliases,
            summary=entry.summary,
            licence=entry.licence,
            languages=entry.languages,
            space=entry.space.name,
            dimension=entry.space.dimension,
            precision=entry.choose_precision(settings.precision),
            pooling=entry.pooling if entry.graphs else "",
            query_prefix=entry.query_prefix,
            document_prefix=entry.document_prefix,
            max_tokens=entry.max_tokens if entry.graphs else 0,
            min_similarity=entry.space.min_similarity,
            spread=entry.space.spread,
            files=self._describe_files(entry, settings.precision),
            is_here="degraded" not in said,
            is_used=self._find_used() == Named(entry),
            origin=said.get("degraded") or said.get("origin", "needs no files"),
        )

    def _describe_files(self, entry: Entry, precision: str) -> tuple[ModelFile, ...]:
        """Those that are fetched; of the model that comes as a package, the package's."""
        if is_rebuilt(entry.name, precision):
            from retentive.embed.locate import Where, find_source

            if source := find_source(Where(self._cache)):
                size = source.path.stat().st_size if source.path.is_file() else 0
                return (_describe_file(source.path, size, source.sha256, ""),)
        return tuple(
            _describe_file(self._cache / file.name, file.size, file.sha256, file.address)
            for file in entry.files(precision)
        )

    def _describe_own(self, name: str, choice: Placed) -> ModelInfo:
        from retentive.embed.folder_model import OwnModel

        settings = self._settings
        model = OwnModel(choice.path, self._cache, precision=settings.precision, pooling=settings.pooling)
        contents, said = model.contents, model.describe()
        reading = contents.reading if contents else None
        return ModelInfo(
            name=name,
            aliases=(),
            summary="a model of your own",
            licence="",
            languages="",
            space=model.space.name,
            dimension=model.space.dimension,
            precision=settings.precision,
            pooling=reading.pooling if reading else "",
            query_prefix=contents.query_prefix if contents else "",
            document_prefix=contents.document_prefix if contents else "",
            max_tokens=reading.max_tokens if reading else 0,
            min_similarity=model.space.min_similarity,
            spread=model.space.spread,
            files=tuple(
                _describe_file(path, path.stat().st_size, sha256, "")
                for path, sha256 in zip(contents.files if contents else (), model.hashes, strict=False)
            ),
            is_here=contents is not None,
            is_used=self._find_used() == choice,
            origin=said.get("degraded") or said["origin"],
        )

    def _forget_record(self, name: str, precision: str | None) -> None:
        from retentive.embed.folder_model import find_record

        choice, settings = self._find(name), self._with(precision)
        if isinstance(choice, Placed):
            find_record(choice.path, self._cache, settings.precision, settings.pooling).unlink(missing_ok=True)

    def _list_files(self, choice: Named | Placed) -> tuple[Path, ...]:
        from retentive.embed.folder_model import list_records

        if isinstance(choice, Placed):
            return tuple(list_records(choice.path, self._cache))
        entry = choice.entry
        names = {file.name for precision in entry.precisions for file in entry.files(precision)}
        places = {self._cache / f"{name}{end}" for name in names for end in ("", ".part")}
        if entry == MINILM:
            places |= {*self._cache.glob("minilm-*.onnx")}
        return tuple(sorted(place for place in places if place.is_file()))


def _spell(name: str) -> str:
    """As it is written into the settings: a path must mean the same wherever a program is started."""
    choice = parse_choice(name)
    if isinstance(choice, Placed) and not name.strip().startswith("~"):
        return str(choice.path)
    return name.strip()


def _describe_file(path: Path, size: int, sha256: str, source: str) -> ModelFile:
    return ModelFile(path, size, sha256, source, "here" if path.is_file() else "missing")


def _verify_file(file: ModelFile) -> ModelFile:
    found = ""
    with suppress(OSError):
        found = hash_file(file.path)
    return replace(file, state="right" if found == file.sha256 else "wrong")


def _test(name: str, embedder: Embedder) -> ModelTest:
    questions, answers = zip(*_PAIRS, strict=True)
    load = _time(lambda: embedder.embed([""]))
    one = min(_time(partial(embedder.embed, [answer])) for answer in answers)
    many = [f"{answers[place % len(answers)]} ({place})" for place in range(_BATCH)]
    batch = _time(lambda: embedder.embed(many))
    texts = embedder.embed(answers)
    nearest = [int((texts @ embedder.embed_query(question)).argmax()) for question in questions]
    return ModelTest(
        name=name,
        space=embedder.space.name,
        dimension=embedder.space.dimension,
        origin=embedder.describe().get("origin", ""),
        load_ms=round(load * 1000, 1),
        text_ms=round(one * 1000, 2),
        texts_per_second=round(_BATCH / batch),
        found=sum(place == found for place, found in enumerate(nearest)),
        questions=len(questions),
    )


def _time(run: Callable[[], object]) -> float:
    began = time.perf_counter()
    run()
    return max(time.perf_counter() - began, _FEWEST_SECONDS)
