"""The embedding models of this machine: list, download, choose, test, verify, remove. Also tests the language model."""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from retentive import config
from retentive.config import Config
from retentive.config.settings_file import write_setting
from retentive.embed import Embedder, is_int8_minilm, open_configured
from retentive.embed.catalogue import CATALOGUE, MINILM, CatalogueEntry
from retentive.embed.checksum import hash_file
from retentive.embed.download import ReportProgress, download_files
from retentive.embed.embedder_setting import CatalogueChoice, EmbedderChoice, FolderChoice, parse_embedder_setting
from retentive.embed.time_limit import without_time_limit
from retentive.errors import BadConfig, Conflict, EmbedError, Forbidden, Invalid, ModelMissing
from retentive.model import Bounds, LlmTrial, ModelCheck, ModelFile, ModelInfo, ModelTest

_TEST_PAIRS = (  # a question, and the text that answers it
    ("What is the dog called?", "Our dog's name is Rex."),
    ("When does the ferry leave?", "The boat to Bergen departs at nine."),
    ("Which database do we run?", "In production there is PostgreSQL 17."),
    ("Who likes climbing?", "Ana spends her weekends in the mountains on a rope."),
    ("How do we deploy?", "Releases go out by a pipeline on Tuesdays."),
    ("What must I not eat?", "The user is allergic to peanuts."),
)
_TEST_BATCH_SIZE = 64  # texts of the speed test: more than fit into one run of a graph
_MIN_SECONDS = 1e-9  # so that nothing is divided by zero
_NONE_IS_NO_MODEL = "`none` is no model: it switches vectors off"


class Models:
    """The models that can be chosen: those of the catalogue by name, and folders of your own by path."""

    def __init__(self, settings: Config, bounds: Bounds | None = None) -> None:
        self._settings = settings
        self._bounds = bounds
        self._cache = Path(settings.cache).expanduser()

    def list(self) -> tuple[ModelInfo, ...]:
        """Return the models of the catalogue, and the model that is set if it is a folder of your own."""
        self._require_machine("list")
        known = [self.info(entry.name) for entry in CATALOGUE]
        if isinstance(self._find_used(), FolderChoice):
            with suppress(EmbedError):  # the folder may be missing; the list helps to choose another
                known.append(self.info(self._settings.embedder))
        return tuple(known)

    def info(self, name: str) -> ModelInfo:
        """Describe a model without loading it."""
        self._require_machine("info")
        choice = self._find(name)
        if isinstance(choice, FolderChoice):
            return self._describe_own(name, choice)
        return self._describe_entry(choice.entry)

    def pull(self, name: str, precision: str | None = None, progress: ReportProgress | None = None) -> ModelInfo:
        """Download the missing files of a model. `progress` is called with the bytes here and the bytes in all."""
        self._require_machine("pull")
        choice = self._find(name)
        if isinstance(choice, FolderChoice):
            raise Invalid(f"{name} is a folder of your own: there is nothing to download")
        entry, chosen = choice.entry, self._settings_with(precision)
        if not is_int8_minilm(entry.name, chosen.precision) or not self._describe(entry.name, chosen).is_here:
            download_files(entry.list_files(chosen.precision), self._cache, chosen.hub_url, progress)
        return self._describe(entry.name, chosen)

    def use(self, name: str, precision: str | None = None) -> Path:
        """Write a model, and its precision if given, into the settings file, and return that file.

        The model must be on this machine. A store with vectors of another model keeps using them until `reembed`.
        """
        self._require_machine("use")
        embedder = open_configured(self._settings_with(precision), name, download=False)
        description = embedder.describe() if embedder else {}
        if problem := description.get("degraded"):
            is_own = isinstance(parse_embedder_setting(name), FolderChoice)
            hint = "Repair it first." if is_own else f"Download it first: `models.pull({name!r})`."
            raise ModelMissing(problem, hint)
        path = config.settings_path()
        write_setting(path, "embedder", _format_setting(name))
        if precision:
            write_setting(path, "precision", precision)
        return path

    def test(self, name: str | None = None, precision: str | None = None) -> ModelTest:
        """Load a model, by default the one that is set, and measure its speed and quality on this machine."""
        self._require_machine("test")
        named = name or self._settings.embedder
        embedder = self._open(named, precision)
        try:
            with without_time_limit():
                return _run_test(named, embedder)
        finally:
            embedder.close()

    def test_llm(self) -> LlmTrial:
        """Try the language model that is set on a short conversation, in two or three requests."""
        from retentive.learning.llm_trial import try_llm

        self._require_machine("test_llm")
        return try_llm(self._settings)

    def verify(self, name: str | None = None, precision: str | None = None, *, accept: bool = False) -> ModelCheck:
        """Compare a model's files with their hashes, and its vectors with the known ones.

        `accept`: record the vectors of a folder of your own again.
        """
        self._require_machine("verify")
        named = name or self._settings.embedder
        if accept:
            self._delete_record(named, precision)
        chosen = self._settings_with(precision)
        files = tuple(_verify_file(file) for file in self._describe(named, chosen).files if file.state != "missing")
        try:
            embedder = self._open(named, precision)
            embedder.embed(["verify"])
            embedder.close()
        except EmbedError as error:
            return ModelCheck(named, files, str(error))
        wrong = [file.path.name for file in files if file.state == "wrong"]
        return ModelCheck(named, files, f"{', '.join(wrong)}: the sha256 is not the pinned one" if wrong else "")

    def remove(self, name: str) -> tuple[Path, ...]:
        """Delete the files that were downloaded or made for a model, and return them. A folder of your own stays."""
        self._require_machine("remove")
        choice = self._find(name)
        if choice == self._find_used():
            raise Conflict(f"{name} is the embedder in use", "Choose another first: `models.use(NAME)`.")
        files = self._list_files(choice)
        for path in files:
            path.unlink(missing_ok=True)
        return files

    def _require_machine(self, verb: str) -> None:
        if self._bounds:
            raise Forbidden(f"models.{verb} is about this machine, but this view is limited to a part of one store")

    def _find(self, name: str) -> CatalogueChoice | FolderChoice:
        match parse_embedder_setting(name):
            case CatalogueChoice() | FolderChoice() as choice:
                return choice
            case None:
                raise Invalid(_NONE_IS_NO_MODEL)
            case provided:
                raise Invalid(f"{provided.provider} serves {provided.model}: this machine has no files of it")

    def _find_used(self) -> EmbedderChoice:
        """Return the model that the settings name; None also if the name is unknown."""
        with suppress(BadConfig):
            return parse_embedder_setting(self._settings.embedder)
        return None

    def _settings_with(self, precision: str | None) -> Config:
        if precision is None:
            return self._settings
        checked = config.resolve({"precision": precision})["precision"].value
        return replace(self._settings, precision=checked)

    def _open(self, name: str, precision: str | None) -> Embedder:
        embedder = open_configured(self._settings_with(precision), name, download=False)
        if embedder is None:
            raise Invalid(_NONE_IS_NO_MODEL)
        return embedder

    def _describe(self, name: str, settings: Config) -> ModelInfo:
        return Models(settings).info(name)

    def _describe_entry(self, entry: CatalogueEntry) -> ModelInfo:
        settings = replace(self._settings, embedder=entry.name)
        embedder = open_configured(settings, download=False)
        description = embedder.describe() if embedder else {}
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
            is_here="degraded" not in description,
            is_used=self._find_used() == CatalogueChoice(entry),
            origin=description.get("degraded") or description.get("origin", "needs no files"),
        )

    def _describe_files(self, entry: CatalogueEntry, precision: str) -> tuple[ModelFile, ...]:
        """Return the files that are downloaded; for a model that comes as a package, the file of the package."""
        if is_int8_minilm(entry.name, precision):
            from retentive.embed.minilm_embedder import MiniLMOptions, find_source

            if source := find_source(MiniLMOptions(self._cache)):
                size = source.path.stat().st_size if source.path.is_file() else 0
                return (_describe_file(source.path, size, source.sha256, ""),)
        return tuple(
            _describe_file(self._cache / file.name, file.size, file.sha256, file.address)
            for file in entry.list_files(precision)
        )

    def _describe_own(self, name: str, choice: FolderChoice) -> ModelInfo:
        from retentive.embed.folder_embedder import FolderEmbedder

        settings = self._settings
        model = FolderEmbedder(choice.path, self._cache, precision=settings.precision, pooling=settings.pooling)
        files, description = model.files, model.describe()
        options = files.options if files else None
        return ModelInfo(
            name=name,
            aliases=(),
            summary="a model of your own",
            licence="",
            languages="",
            space=model.space.name,
            dimension=model.space.dimension,
            precision=settings.precision,
            pooling=options.pooling if options else "",
            query_prefix=files.query_prefix if files else "",
            document_prefix=files.document_prefix if files else "",
            max_tokens=options.max_tokens if options else 0,
            min_similarity=model.space.min_similarity,
            spread=model.space.spread,
            files=tuple(
                _describe_file(path, path.stat().st_size, sha256, "")
                for path, sha256 in zip(files.paths if files else (), model.hashes, strict=False)
            ),
            is_here=files is not None,
            is_used=self._find_used() == choice,
            origin=description.get("degraded") or description["origin"],
        )

    def _delete_record(self, name: str, precision: str | None) -> None:
        from retentive.embed.folder_embedder import name_record

        choice, settings = self._find(name), self._settings_with(precision)
        if isinstance(choice, FolderChoice):
            name_record(choice.path, self._cache, settings.precision, settings.pooling).unlink(missing_ok=True)

    def _list_files(self, choice: CatalogueChoice | FolderChoice) -> tuple[Path, ...]:
        from retentive.embed.folder_embedder import list_records

        if isinstance(choice, FolderChoice):
            return tuple(list_records(choice.path, self._cache))
        entry = choice.entry
        names = {file.name for precision in entry.precisions for file in entry.list_files(precision)}
        paths = {self._cache / f"{name}{end}" for name in names for end in ("", ".part")}
        if entry == MINILM:
            paths |= {*self._cache.glob("minilm-*.onnx")}
        return tuple(sorted(path for path in paths if path.is_file()))


def _format_setting(name: str) -> str:
    """Return a model's name for the settings file. Paths are absolute: programs start in different folders."""
    choice = parse_embedder_setting(name)
    if isinstance(choice, FolderChoice) and not name.strip().startswith("~"):
        return str(choice.path)
    return name.strip()


def _describe_file(path: Path, size: int, sha256: str, source: str) -> ModelFile:
    return ModelFile(path, size, sha256, source, "here" if path.is_file() else "missing")


def _verify_file(file: ModelFile) -> ModelFile:
    found = ""
    with suppress(OSError):
        found = hash_file(file.path)
    return replace(file, state="right" if found == file.sha256 else "wrong")


def _run_test(name: str, embedder: Embedder) -> ModelTest:
    questions, answers = zip(*_TEST_PAIRS, strict=True)
    load = _time(lambda: embedder.embed([""]))
    one = min(_time(partial(embedder.embed, [answer])) for answer in answers)
    many = [f"{answers[number % len(answers)]} ({number})" for number in range(_TEST_BATCH_SIZE)]
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
        texts_per_second=round(_TEST_BATCH_SIZE / batch),
        found=sum(position == found for position, found in enumerate(nearest)),
        questions=len(questions),
    )


def _time(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return max(time.perf_counter() - start, _MIN_SECONDS)
