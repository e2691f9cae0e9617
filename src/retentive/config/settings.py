"""The list of settings: name, type, default, check and meaning of each.

`Config` declares them once. `SETTINGS` is the same list as data; `retentive config` and the documentation use it.
`Settings` has the types for callers of `Retentive.open`. A test compares the two.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

from retentive.config import checks


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
    auth_token: str = setting("", checks.token, "The token that the server of the store asks for.", secret=True)
    ca_file: str = setting(
        "", checks.path, "libSQL: the certificates to trust, where the server's is signed by one of these."
    )
    namespace: str = setting("default", str, "Whose memory it is: a path such as `alice/coder`.")
    person: str = setting(
        "",
        str.strip,
        "The namespace of the person, whatever they work on: what is learned about them is kept there. Empty: off.",
    )
    embedder: str = setting(
        "minilm",
        checks.line,
        "The embedding model: one of `retentive models`, `PROVIDER:MODEL`, the path of a folder, or `none`.",
    )
    embedder_url: str = setting(
        "", checks.url, "Where the embedding model is served, if not by its provider: any OpenAI-compatible server."
    )
    embedder_key: str = setting(
        "",
        checks.token,
        "The key that the provider of the embedding model asks for; from the environment only.",
        secret=True,
        in_file=False,
    )
    embedder_timeout: float = setting(
        60.0, checks.between(0.1, 3600), "Seconds that the provider of the embedding model may take to answer."
    )
    model_path: str = setting(
        "", checks.path, "Another file of the default model: an .onnx file, or a folder that holds model.onnx."
    )
    precision: str = setting(
        "int8",
        checks.one_of("int8", "float32"),
        "Of the model's numbers: `int8` is quicker and smaller, `float32` as it was trained.",
    )
    pooling: str = setting(
        "auto",
        checks.one_of("auto", "mean", "cls"),
        "How a folder's model sums up a text: `mean` or `cls`; `auto` reads it from the folder, else takes the mean.",
    )
    download: bool = setting(False, checks.switch, "May the model be fetched if it is not on this machine?")
    hub_url: str = setting(
        "https://huggingface.co",
        checks.url,
        "Where models are fetched from: the Hugging Face hub or a mirror. HF_ENDPOINT counts, too.",
    )
    model_wait: float = setting(
        0.0,
        checks.between(0, 3600),
        "Seconds that a question or a write waits for the model; 0: until it is loaded, 5 for a provider.",
    )
    threads: int = setting(0, checks.between(0, 256, int), "Threads of the embedder; 0 lets it choose.")
    durability: str = setting(
        "full",
        checks.one_of("full", "normal"),
        "`full`: acknowledged means it survives a power cut. `normal`: it survives a crash of the program.",
    )
    cache: str = setting(default_cache, checks.path, "Folder of derived files: the rebuilt model.")
    fusion: str = setting(
        "blend",
        checks.one_of("blend", "minmax", "rrf"),
        "How keyword and vector scores are combined: `blend` uses every signal, `minmax` and `rrf` only these two.",
    )
    vector_weight: float = setting(
        0.65, checks.between(0, 1), "Weight of the vector search; keyword search has the rest."
    )
    rrf_k: int = setting(60, checks.between(1, 10_000, int), "With `rrf`: larger makes the first ranks count less.")
    rerank: str = setting(
        "none",
        checks.one_of("none", "model", "provider"),
        "What reorders the first hits: `none`, `model` (a cross-encoder in ONNX) or `provider` (a rerank endpoint).",
    )
    rerank_model: str = setting(
        "", checks.path, "The folder of the cross-encoder, or what the provider calls its model."
    )
    rerank_url: str = setting("", checks.url, "The rerank endpoint: as of Cohere, Jina or text-embeddings-inference.")
    rerank_key: str = setting("", checks.token, "The key that the rerank endpoint asks for.", secret=True)
    rerank_hits: int = setting(20, checks.between(2, 200, int), "How many of the first hits are reranked.")
    rerank_timeout: float = setting(
        1.0, checks.between(0.01, 60), "Seconds that reranking may take; then it is left out."
    )
    min_similarity: float = setting(
        0.0, checks.between(0, 1), "Cosine that a threshold search asks for instead of a relevance; 0: none."
    )
    min_relevance: float = setting(0.4, checks.between(0, 1), "Relevance that a threshold search asks for.")
    max_content: int = setting(100_000, checks.between(1, 10_000_000, int), "Longest memory, in characters.")
    max_message: int = setting(10_000_000, checks.between(1, 100_000_000, int), "Longest message, in characters.")
    max_file_kb: int = setting(100, checks.between(1, 1e6, int), "Largest file that is indexed, in kilobytes.")
    watch: str = setting(
        "",
        checks.folders,
        "Folders that servers watch, and whose files they index; a list, or with commas between them.",
    )
    watch_poll: bool = setting(False, checks.switch, "Look at watched folders every few seconds, where no events come?")
    corrections: bool = setting(
        True, checks.switch, "Read the words of a new memory for what they correct? Off: only slots correct."
    )
    commands: bool = setting(
        True, checks.switch, 'Do what users ask in plain words: "remember that ...", "forget my ..."?'
    )
    learn_after: float = setting(
        300.0, checks.between(0, 1e9), "Seconds of silence after which a session is learned from."
    )
    worker: bool = setting(
        True, checks.switch, "Do servers learn, fill in vectors and do the chores in the background?"
    )
    hooks: str = setting(
        "all",
        checks.one_of("all", "recall", "off"),
        "What the hooks of Claude Code do: `all`, only `recall` (nothing that is said is kept), or nothing: `off`.",
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
    summarise: bool = setting(True, checks.switch, "Condense the older messages of long sessions as they grow?")
    session_budget: int = setting(
        8000,
        checks.between(100, 100_000_000, int),
        "Tokens of a session that are kept word for word before the oldest are condensed.",
    )
    summary_messages: int = setting(4, checks.between(1, 1e6, int), "Fewer messages than this are not condensed.")
    summary_trigger: float = setting(0.8, checks.between(0, 1), "Share of session_budget from which it is time.")
    summary_target: float = setting(
        0.5, checks.between(0, 1), "Share of session_budget that is left word for word then."
    )
    summary_share: float = setting(0.25, checks.between(0, 1), "Share of session_budget that a summary may take.")
    share_profile: float = setting(0.1, checks.between(0, 1), "Share of a context for the profile.")
    share_summary: float = setting(0.2, checks.between(0, 1), "Share of a context for the session's summary.")
    share_memories: float = setting(0.35, checks.between(0, 1), "Share of a context for memories.")
    share_excerpts: float = setting(0.15, checks.between(0, 1), "Share of a context for excerpts of conversations.")
    share_recent: float = setting(0.3, checks.between(0, 1), "Share of a context for the newest messages.")
    access_log: bool = setting(True, checks.switch, "Keep which memories were read, when, and for which question?")
    access_log_keep: int = setting(
        100_000, checks.between(0, 1e9, int), "Entries of the access log kept per namespace."
    )
    daily_log: str = setting(
        "auto",
        checks.daily_log,
        "Write each new memory as a line into a file of its day? `on`, `off`, or `auto`: servers do.",
    )
    daily_log_folder: str = setting("", checks.path, "Folder of these files. Empty: `log` beside the store.")
    retention: str = setting(
        "",
        checks.retention,
        "How long memories are kept: `fact: 10000, outcome: 90d, work/*: 1y`. Empty: until they are forgotten.",
    )
    consolidate: bool = setting(
        False,
        checks.switch,
        "Does background work merge old memories that say the same, and sum up old outcomes, once a day?",
    )
    consolidate_after: float = setting(
        30.0, checks.between(0, 36_500), "Days after which a memory is old enough to be consolidated."
    )
    integrity_key: str = setting(
        "", checks.path, "The file of the key that a store in integrity mode is sealed with. Empty: none."
    )
    replica: str = setting("", str, "PostgreSQL: the address of a copy that only reads, for searches.")
    restrict_to: str = setting("", str, "PostgreSQL: the only namespaces to let through, separated by commas.")
    partitions: int = setting(
        0, checks.between(0, 1024, int), "PostgreSQL: hash partitions of a store that is made; 0: none."
    )
    pool_size: int = setting(8, checks.between(1, 1000, int), "PostgreSQL: connections of one process at most.")
    statement_timeout: float = setting(
        30.0, checks.between(0.1, 86_400), "PostgreSQL: seconds that an answer may take."
    )
    pooler: str = setting(
        "auto",
        checks.one_of("auto", "none", "transaction"),
        "PostgreSQL: does a pooler in transaction mode, such as PgBouncer's, stand before the server? `auto` looks.",
    )
    llm: str = setting(
        "none", checks.language_model, "The language model that helps to learn: `none`, or PROVIDER:MODEL."
    )
    llm_url: str = setting(
        "", checks.url, "Where the language model is served, if not by its provider: any OpenAI-compatible server."
    )
    llm_key: str = setting(
        "",
        checks.token,
        "The key that the provider of the language model asks for; from the environment only.",
        secret=True,
        in_file=False,
    )
    llm_timeout: float = setting(60.0, checks.between(0.1, 3600), "Seconds that the language model may take to answer.")
    llm_answer_tokens: int = setting(
        8000, checks.between(16, 1e6, int), "Tokens of one answer of the language model, at most, with its thinking."
    )
    llm_calls_per_day: int = setting(
        200, checks.between(0, 1e9, int), "Questions to the language model in a day, at most; 0: none."
    )
    llm_tokens_per_day: int = setting(
        500_000,
        checks.between(0, 1e12, int),
        "Tokens that the language model reads and writes in a day, at most; 0: none.",
    )
    serve_host: str = setting("127.0.0.1", str, "The address that `retentive serve` listens on.")
    serve_port: int = setting(8765, checks.between(0, 65_535, int), "Its port; 0 takes one that is free.")
    require_token: bool = setting(
        False, checks.switch, "Ask for a token on 127.0.0.1, too? Elsewhere it is always asked for."
    )
    allow_hosts: str = setting("", str, "Names by which clients may call the server, beside its address; with commas.")
    trusted_proxies: str = setting(
        "127.0.0.1, ::1",
        str,
        "Addresses of proxies that are believed when they say where a request came from; with commas.",
    )
    max_request: int = setting(4 << 20, checks.between(1000, 1e9, int), "Longest body of a request, in bytes.")
    requests_per_second: float = setting(
        50.0,
        checks.between(0, 1e6),
        "Requests of one token, or of one address, that are answered in a second; four times as many at once. 0: any.",
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
