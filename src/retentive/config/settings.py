"""The list of settings: name, type, default, check and meaning of each.

`Config` declares them once. `SETTINGS` is the same list as data; `retentive config` and the documentation use it.
`Settings` has the types for callers of `Retentive.open`. A test compares the two.
"""

from collections.abc import Callable, Sequence
from dataclasses import field, fields
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

from retentive.config import checks
from retentive.frozen_dataclass import dataclass

MAX_RRF_K = 10_000  # above it all ranks count the same


class Setting(NamedTuple):
    """The declaration of one setting."""

    name: str
    value_or_factory: Any
    check: Callable[[str], Any]
    meaning: str
    secret: bool = False
    """Whether the value is masked wherever settings are shown."""
    in_file: bool = True
    """Whether `config.toml` may hold it."""

    @property
    def variable(self) -> str:
        """Its environment variable."""
        return f"RETENTIVE_{self.name.upper()}"

    @property
    def default(self) -> Any:
        return self.value_or_factory() if callable(self.value_or_factory) else self.value_or_factory


def setting(
    default: Any, check: Callable[[str], Any], meaning: str, *, secret: bool = False, in_file: bool = True
) -> Any:
    """Declare a field of `Config`. `default` is a value, or a function that finds one; `check` reads text."""
    return field(repr=not secret, metadata={"setting": (default, check, meaning, secret, in_file)})


def data_folder() -> Path:
    import platformdirs

    return platformdirs.user_data_path("retentive", appauthor=False)


def default_db() -> str:
    return str(data_folder() / "memory.db")


def config_file() -> Path:
    import platformdirs

    return platformdirs.user_config_path("retentive", appauthor=False) / "config.toml"


def default_cache() -> str:
    return str(data_folder() / "cache")


@dataclass(frozen=True, slots=True)
class Config:
    """The settings of an open store."""

    db: str = setting(
        default_db, str, "The store: a file, `:memory:`, or a server: `libsql://...`, `postgresql://...`."
    )
    auth_token: str = setting("", checks.token, "Access token for the store's server.", secret=True)
    ca_file: str = setting(
        "",
        checks.path,
        "libSQL: a file of CA certificates to trust, if a private authority signed the server's certificate.",
    )
    namespace: str = setting("default", str, "The namespace, whose memory it is: a path such as `alice/coder`.")
    person: str = setting(
        "",
        str.strip,
        "The user's own namespace, shared by all projects: what is learned about the user is stored there. Empty: off.",
    )
    embedder: str = setting(
        "minilm",
        checks.line,
        "The embedding model: a name from `retentive models`, `PROVIDER:MODEL`, the path of a folder, or `none`.",
    )
    embedder_url: str = setting(
        "",
        checks.url,
        "The address of the embedding model's server, if not its provider's: any OpenAI-compatible server.",
    )
    embedder_key: str = setting(
        "",
        checks.token,
        "API key for the provider of the embedding model; from the environment only.",
        secret=True,
        in_file=False,
    )
    embedder_timeout: float = setting(
        60.0, checks.between(0.1, 3600), "Timeout for the provider of the embedding model, in seconds."
    )
    model_path: str = setting(
        "", checks.path, "Your own copy of the default model: an .onnx file, or a folder that holds model.onnx."
    )
    precision: str = setting(
        "int8",
        checks.one_of("int8", "float32"),
        "Precision of the model's weights: `int8` is faster and smaller, `float32` is the original.",
    )
    pooling: str = setting(
        "auto",
        checks.one_of("auto", "mean", "cls"),
        "Pooling of a model in a folder: `mean` or `cls`; `auto` reads it from the folder, otherwise uses the mean.",
    )
    download: bool = setting(False, checks.switch, "Download the model if it is not on this machine?")
    hub_url: str = setting(
        "https://huggingface.co",
        checks.url,
        "Where models are downloaded from: the Hugging Face hub or a mirror. HF_ENDPOINT works too.",
    )
    model_wait: float = setting(
        0.0,
        checks.between(0, 3600),
        "Seconds that a search or a write waits for the model; 0: until it is loaded, 5 for a provider.",
    )
    threads: int = setting(0, checks.between(0, 256, int), "Threads of the embedder; 0: automatic.")
    durability: str = setting(
        "full",
        checks.one_of("full", "normal"),
        "`full`: an acknowledged write survives a power cut. `normal`: it survives a crash of the program.",
    )
    cache: str = setting(default_cache, checks.path, "Cache folder for derived files: the rebuilt model.")
    fusion: str = setting(
        "blend",
        checks.one_of("blend", "minmax", "rrf"),
        "How keyword and vector scores are combined: `blend` uses every signal, `minmax` and `rrf` only these two.",
    )
    vector_weight: float = setting(
        0.65, checks.between(0, 1), "Weight of the vector search, 0 to 1; keyword search gets the rest."
    )
    rrf_k: int = setting(
        60, checks.between(1, MAX_RRF_K, int), "The constant of `rrf`: the larger, the less the first ranks count."
    )
    rerank: str = setting(
        "none",
        checks.one_of("none", "model", "provider"),
        "What reorders the first hits: `none`, `model` (a cross-encoder in ONNX) or `provider` (a rerank endpoint).",
    )
    rerank_model: str = setting(
        "", checks.path, "The folder of the cross-encoder, or the provider's name for its model."
    )
    rerank_url: str = setting(
        "", checks.url, "The address of the rerank endpoint, such as that of Cohere, Jina or text-embeddings-inference."
    )
    rerank_key: str = setting("", checks.token, "API key for the rerank endpoint.", secret=True)
    rerank_hits: int = setting(20, checks.between(2, 200, int), "How many of the first hits are reranked.")
    rerank_timeout: float = setting(
        1.0, checks.between(0.01, 60), "Timeout for reranking, in seconds; after it, hits are not reranked."
    )
    min_similarity: float = setting(
        0.0, checks.between(0, 1), "Minimum cosine of a threshold search, instead of a relevance; 0: none."
    )
    min_relevance: float = setting(0.4, checks.between(0, 1), "Minimum relevance of a threshold search.")
    max_content: int = setting(
        100_000, checks.between(1, 10_000_000, int), "Maximum length of a memory, in characters."
    )
    max_message: int = setting(
        10_000_000, checks.between(1, 100_000_000, int), "Maximum length of a message, in characters."
    )
    max_file_kb: int = setting(100, checks.between(1, 1e6, int), "Maximum size of an indexed file, in kilobytes.")
    watch: str = setting(
        "",
        checks.folders,
        "Folders that servers watch and index; a list, or separated by commas.",
    )
    watch_poll: bool = setting(
        False, checks.switch, "Poll watched folders every few seconds, where the system reports no changes?"
    )
    corrections: bool = setting(
        True, checks.switch, "Find out from its words which memory a new one corrects? Off: only slots correct."
    )
    commands: bool = setting(
        True, checks.switch, 'Carry out what users ask in plain words: "remember that ...", "forget my ..."?'
    )
    learn_after: float = setting(
        300.0, checks.between(0, 1e9), "Seconds without a message after which a session is learned from."
    )
    worker: bool = setting(
        True, checks.switch, "Do servers learn, compute missing vectors and do maintenance in the background?"
    )
    hooks: str = setting(
        "all",
        checks.one_of("all", "recall", "off"),
        "What the hooks of Claude Code do: `all`, only `recall` (conversations are not recorded), or nothing: `off`.",
    )
    secrets_in_memories: str = setting(
        "refuse",
        checks.one_of("refuse", "redact", "allow"),
        "What to do with a memory or note that holds a password, key or token: `refuse`, `redact` or `allow`.",
    )
    secrets_in_messages: str = setting(
        "redact", checks.one_of("refuse", "redact", "allow"), "The same for messages of conversations, and for files."
    )
    tokenizer: str = setting(
        "estimate",
        checks.path,
        "What counts tokens: `estimate`, `tiktoken:ENCODING`, or the path of a `tokenizer.json`.",
    )
    summarise: bool = setting(True, checks.switch, "Summarise the older messages of long sessions as they grow?")
    session_budget: int = setting(
        8000,
        checks.between(100, 100_000_000, int),
        "Tokens of a session that are kept word for word; beyond that, the oldest messages are condensed.",
    )
    summary_messages: int = setting(4, checks.between(1, 1e6, int), "Minimum number of messages to condense.")
    summary_trigger: float = setting(
        0.8, checks.between(0, 1), "Share of session_budget above which a session is condensed."
    )
    summary_target: float = setting(
        0.5, checks.between(0, 1), "Share of session_budget that stays word for word afterwards."
    )
    summary_share: float = setting(0.25, checks.between(0, 1), "Maximum share of session_budget for a summary.")
    share_profile: float = setting(0.1, checks.between(0, 1), "Share of a context for the profile.")
    share_summary: float = setting(0.2, checks.between(0, 1), "Share of a context for the session's summary.")
    share_memories: float = setting(0.35, checks.between(0, 1), "Share of a context for memories.")
    share_excerpts: float = setting(0.15, checks.between(0, 1), "Share of a context for excerpts of conversations.")
    share_recent: float = setting(0.3, checks.between(0, 1), "Share of a context for the newest messages.")
    access_log: bool = setting(True, checks.switch, "Log which memories were read, when, and for which question?")
    access_log_keep: int = setting(
        100_000, checks.between(0, 1e9, int), "Entries of the access log kept per namespace."
    )
    daily_log: str = setting(
        "auto",
        checks.daily_log,
        "Also write each new memory as a line into a file per day? `on`, `off`, or `auto`: servers do.",
    )
    daily_log_folder: str = setting("", checks.path, "Folder of the daily files. Empty: `log` beside the store.")
    retention: str = setting(
        "",
        checks.retention,
        "How long memories are kept: `fact: 10000, outcome: 90d, work/*: 1y`. Empty: until they are forgotten.",
    )
    consolidate: bool = setting(
        False,
        checks.switch,
        "Merge old memories that say the same, and summarise old outcomes, once a day in the background?",
    )
    consolidate_after: float = setting(
        30.0, checks.between(0, 36_500), "Days after which a memory is old enough to be consolidated."
    )
    integrity_key: str = setting("", checks.path, "The key file of a store in integrity mode. Empty: none.")
    replica: str = setting("", str, "PostgreSQL: the address of a read replica, for searches.")
    restrict_to: str = setting("", str, "PostgreSQL: restrict this program to these namespaces, separated by commas.")
    partitions: int = setting(
        0, checks.between(0, 1024, int), "PostgreSQL: number of hash partitions of a new store; 0: none."
    )
    pool_size: int = setting(
        8, checks.between(1, 1000, int), "PostgreSQL: maximum number of connections of one process."
    )
    statement_timeout: float = setting(
        30.0, checks.between(0.1, 86_400), "PostgreSQL: timeout for a query, in seconds."
    )
    pooler: str = setting(
        "auto",
        checks.one_of("auto", "none", "transaction"),
        "PostgreSQL: is a pooler in transaction mode, such as PgBouncer, in front of the server? `auto` checks.",
    )
    llm: str = setting("none", checks.language_model, "The language model for learning: `none`, or PROVIDER:MODEL.")
    llm_url: str = setting(
        "",
        checks.url,
        "The address of the language model's server, if not its provider's: any OpenAI-compatible server.",
    )
    llm_key: str = setting(
        "",
        checks.token,
        "API key for the provider of the language model; from the environment only.",
        secret=True,
        in_file=False,
    )
    llm_timeout: float = setting(60.0, checks.between(0.1, 3600), "Timeout for the language model, in seconds.")
    llm_answer_tokens: int = setting(
        8000,
        checks.between(16, 1e6, int),
        "Maximum tokens of one answer of the language model, including its thinking.",
    )
    llm_calls_per_day: int = setting(
        200, checks.between(0, 1e9, int), "Maximum calls of the language model per day; 0: none."
    )
    llm_tokens_per_day: int = setting(
        500_000,
        checks.between(0, 1e12, int),
        "Maximum tokens that the language model reads and writes per day; 0: none.",
    )
    serve_host: str = setting("127.0.0.1", str, "The address that `retentive serve` listens on.")
    serve_port: int = setting(8765, checks.between(0, 65_535, int), "The port of `retentive serve`; 0: any free one.")
    require_token: bool = setting(
        False, checks.switch, "Require a token on 127.0.0.1, too? On other addresses it is always required."
    )
    allow_hosts: str = setting("", str, "Host names that clients may use, besides the address; separated by commas.")
    trusted_proxies: str = setting(
        "127.0.0.1, ::1",
        str,
        "Addresses of trusted proxies, which may say where a request came from; separated by commas.",
    )
    max_request: int = setting(4 << 20, checks.between(1000, 1e9, int), "Maximum size of a request body, in bytes.")
    requests_per_second: float = setting(
        50.0,
        checks.between(0, 1e6),
        "Requests per second of one token or address; bursts may be four times as large. 0: no limit.",
    )


SETTINGS = tuple(Setting(each.name, *each.metadata["setting"]) for each in fields(Config))


class Settings(TypedDict, total=False):
    """Keyword arguments of `Retentive.open`; `db` and `namespace` are its first two arguments."""

    auth_token: str
    ca_file: str | Path
    person: str
    embedder: Any
    embedder_url: str
    embedder_key: str
    embedder_timeout: float
    model_path: str | Path
    precision: str
    pooling: str
    download: bool
    hub_url: str
    model_wait: float
    threads: int
    durability: str
    cache: str | Path
    fusion: str
    vector_weight: float
    rrf_k: int
    rerank: str
    rerank_model: str | Path
    rerank_url: str
    rerank_key: str
    rerank_hits: int
    rerank_timeout: float
    min_similarity: float
    min_relevance: float
    max_content: int
    max_message: int
    max_file_kb: int
    watch: str | Sequence[str]
    watch_poll: bool
    corrections: bool
    commands: bool
    learn_after: float
    worker: bool
    hooks: str
    secrets_in_memories: str
    secrets_in_messages: str
    tokenizer: str | Path
    summarise: bool
    session_budget: int
    summary_messages: int
    summary_trigger: float
    summary_target: float
    summary_share: float
    share_profile: float
    share_summary: float
    share_memories: float
    share_excerpts: float
    share_recent: float
    access_log: bool
    access_log_keep: int
    daily_log: str
    daily_log_folder: str | Path
    retention: str
    consolidate: bool
    consolidate_after: float
    integrity_key: str | Path
    replica: str
    restrict_to: str
    partitions: int
    pool_size: int
    statement_timeout: float
    pooler: str
    llm: str
    llm_url: str
    llm_key: str
    llm_timeout: float
    llm_answer_tokens: int
    llm_calls_per_day: int
    llm_tokens_per_day: int
    serve_host: str
    serve_port: int
    require_token: bool
    allow_hosts: str
    trusted_proxies: str
    max_request: int
    requests_per_second: float
