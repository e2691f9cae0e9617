"""How a store is opened: its parts, put together by the settings."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from retentive.app import check
from retentive.app.metered import Metered
from retentive.app.parts import Once, Parts
from retentive.app.people import People
from retentive.app.records.flow import flow
from retentive.app.upkeep import Journal
from retentive.config import Config, data_folder
from retentive.context import open_counter
from retentive.embed import Embedder, RemoteSettings, open_embedder, open_given
from retentive.files.daily import DailyLog
from retentive.index import open_images
from retentive.learn import Rules
from retentive.llm import Writer, open_writer
from retentive.rerank import Reranker, RerankSettings, open_reranker
from retentive.storage import Engine, open_engine
from retentive.storage.chunks import Chunks
from retentive.storage.conversations import Conversations
from retentive.storage.learning import Learning
from retentive.storage.memories import Memories
from retentive.storage.upkeep import Upkeep
from retentive.text.fields import FIELD_WEIGHTS


def open_parts(settings: Config, given: Any = None) -> Parts:
    """All that the settings ask for, with an embedder of the program's if it gave one. What is heavy is opened late."""
    namespace = check.namespace_of(settings.namespace)
    embedder = _open_model(
        settings,
        given,
        find_dimension=lambda name: dict(chunks.spaces()).get(name),
        on_usage=lambda tokens: journal.embedded(namespace, tokens),
    )
    engine = open_engine(settings)
    chunks, upkeep = Chunks(engine), Upkeep(engine)
    journal = Journal(engine, log_accesses=settings.access_log, keep=settings.access_log_keep)
    return Parts(
        config=settings,
        namespace=namespace,
        engine=engine,
        memories=Memories(engine),
        conversations=Conversations(engine),
        chunks=chunks,
        upkeep=upkeep,
        embedder=embedder,
        journal=journal,
        fruitless={},
        learning=Learning(engine),
        people=People(),
        rules=Once(Rules),
        writer=Once(lambda: _writer(settings, engine, namespace)),
        reranker=Once(lambda: _reranker(settings)),
        counter=Once(lambda: open_counter(settings.tokenizer)),
        images=Once(lambda: open_images(
            chunks,
            weights=FIELD_WEIGHTS,
            cache=Path(settings.cache).expanduser() / "index" if settings.db != ":memory:" else None,
            store_id=upkeep.store_id(),
        )),
        flow=flow,
        workers=[],
        watches=[],
        daily=_daily_log(settings),
        person=check.namespace_of(settings.person) if settings.person else "",
    )  # fmt: skip


def _open_model(
    settings: Config, given: Any, find_dimension: Callable[[str], int | None], on_usage: Callable[[int], None]
) -> Embedder | None:
    cache = Path(settings.cache).expanduser()
    if given is not None:
        return open_given(given, cache, settings.model_wait, find_dimension)
    return open_embedder(
        settings.embedder,
        cache=cache,
        model_path=Path(settings.model_path).expanduser() if settings.model_path else None,
        threads=settings.threads or None,
        download=settings.download,
        wait=settings.model_wait,
        remote=RemoteSettings(settings.embedder_url, settings.embedder_key, settings.embedder_timeout, on_usage),
        find_dimension=find_dimension,
    )


def _daily_log(settings: Config) -> DailyLog | None:
    """Beside a file; for a server, which may be elsewhere, in the data folder."""
    if settings.daily_log_folder:
        folder = Path(settings.daily_log_folder).expanduser().absolute()
    elif "://" in settings.db or settings.db == ":memory:":
        folder = data_folder() / "log"
    else:
        folder = Path(settings.db).expanduser().absolute().parent / "log"
    on = settings.daily_log == "on"
    return DailyLog(folder, on=on) if on or settings.db != ":memory:" else None


def _reranker(settings: Config) -> Reranker | None:
    chosen = RerankSettings(settings.rerank, settings.rerank_model, settings.rerank_url, settings.rerank_key)
    return open_reranker(chosen)


def _writer(settings: Config, engine: Engine, namespace: str) -> Writer | None:
    writer = open_writer(settings.llm, key=settings.llm_key, url=settings.llm_url, timeout=settings.llm_timeout)
    limits = settings.llm_calls_per_day, settings.llm_tokens_per_day
    return Metered(writer, engine, namespace, *limits) if writer else None
