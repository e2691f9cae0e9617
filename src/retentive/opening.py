"""How a store is opened: its parts, put together by the settings."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from retentive.config import Config, data_folder
from retentive.embed import Embedder, open_configured, wrap_embedder
from retentive.embed.embedder_setting import FolderChoice, parse_embedder_setting
from retentive.embed.store_embedder import StoreEmbedder
from retentive.index import open_images
from retentive.judgement import Judgement
from retentive.llm import LanguageModel
from retentive.llm import open_configured as open_llm
from retentive.memories.daily_files import DailyLog
from retentive.model import Event
from retentive.records.profile_sync import sync_profile
from retentive.rerank import Reranker, RerankSettings, open_reranker
from retentive.search.speakers import SpeakerCache
from retentive.storage import Engine, open_engine
from retentive.storage.tables import Tables
from retentive.store import Lazy, OpenStore, validate
from retentive.store.active_model import SERVER_CHECK_SECONDS, ActiveModel
from retentive.store.journal import Journal
from retentive.text.search_fields import FIELD_WEIGHTS
from retentive.text.token_counters import open_counter


def open_store(settings: Config, given: Any = None) -> OpenStore:
    """All that the settings ask for, with an embedder of the program's if it gave one. What is heavy is opened late."""
    namespace = validate.require_namespace(settings.namespace)

    def find_dimension(name: str) -> int | None:
        return dict(tables.chunks.list_spaces()).get(name)

    def count_usage(tokens: int) -> None:
        journal.record_embedding(namespace, tokens)

    open_named = partial(open_model, settings, find_dimension=find_dimension, on_usage=count_usage)
    chosen = open_named(settings.embedder if given is None else given)
    engine = open_engine(settings)
    tables = Tables(engine)
    journal = Journal(engine, log_accesses=settings.access_log, keep=settings.access_log_keep)
    check_seconds = SERVER_CHECK_SECONDS if "://" in settings.db else 0.0
    setting = settings.embedder if given is None or chosen is None else chosen.space.name
    active = ActiveModel(tables.spaces, chosen, setting, open_named, check_seconds)
    return OpenStore(
        config=settings,
        namespace=namespace,
        engine=engine,
        tables=tables,
        embedder=active.current_model(),
        active=active,
        journal=journal,
        tokens_at_failed_summary={},
        speakers=SpeakerCache(),
        rules=Lazy(Judgement),
        llm=Lazy(lambda: _open_quota_llm(settings, engine, namespace)),
        reranker=Lazy(lambda: _reranker(settings)),
        counter=Lazy(lambda: open_counter(settings.tokenizer)),
        images=Lazy(lambda: open_images(
            tables.chunks,
            weights=FIELD_WEIGHTS,
            cache=Path(settings.cache).expanduser() / "index" if settings.db != ":memory:" else None,
            store_id=tables.metrics.store_id(),
        )),
        sync_profile_slots=sync_profile,
        on_user_message=_handle_requests,
        workers=[],
        watches=[],
        daily=_daily_log(settings),
        person=validate.require_namespace(settings.person) if settings.person else "",
    )  # fmt: skip


def open_model(
    settings: Config,
    model: Any,
    find_dimension: Callable[[str], int | None] | None = None,
    on_usage: Callable[[int], None] | None = None,
) -> Embedder | None:
    """The embedder of a name, which is what a store remembers of it, or one that a program gave; None for "none"."""
    wait = settings.model_wait
    if not isinstance(model, str):
        return StoreEmbedder(wrap_embedder(model, Path(settings.cache).expanduser(), wait, find_dimension), None)
    embedder = open_configured(settings, model, wait=wait, find_dimension=find_dimension, on_usage=on_usage)
    choice = parse_embedder_setting(model)
    remembered = str(choice.path) if isinstance(choice, FolderChoice) else model  # a folder is found from any other
    return StoreEmbedder(embedder, remembered) if embedder else None


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


def _handle_requests(store: OpenStore, message: Event) -> Event:
    from retentive.learning.learn import handle_requests  # 10 ms, which only conversations need

    return handle_requests(store, message)


def _open_quota_llm(settings: Config, engine: Engine, namespace: str) -> LanguageModel | None:
    from retentive.learning.llm_quota import QuotaLanguageModel

    llm = open_llm(settings)
    limits = settings.llm_calls_per_day, settings.llm_tokens_per_day, settings.llm_answer_tokens
    return QuotaLanguageModel(llm, engine, namespace, *limits) if llm else None
