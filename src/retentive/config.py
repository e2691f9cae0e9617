"""Settings: argument > `RETENTIVE_*` environment > `config.toml` in the user's config folder > default.

This is the only reader of the environment and of TOML. `SETTINGS` is the one list of what can be set; the
documentation and `retentive config` are made from it.
"""

import errno
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from retentive.errors import BadConfig, Invalid
from retentive.providers.keys import find_in_environment
from retentive.providers.registry import PROVIDERS, is_provider_spec, parse_spec

SECRET = "***"  # noqa: S105 - stands in its place
HUB_VARIABLE = "HF_ENDPOINT"
MAX_FILE_BYTES = 1_000_000  # of config.toml: a hundred times all settings with their comments


@dataclass(frozen=True, slots=True)
class Config:
    db: str
    auth_token: str = field(repr=False)
    ca_file: str
    namespace: str
    person: str
    embedder: str
    embedder_url: str
    embedder_key: str = field(repr=False)
    embedder_timeout: float
    model_path: str
    precision: str
    pooling: str
    download: bool
    hub_url: str
    model_wait: float
    threads: int
    durability: str
    cache: str
    fusion: str
    vector_weight: float
    rrf_k: int
    rerank: str
    rerank_model: str
    rerank_url: str
    rerank_key: str = field(repr=False)
    rerank_hits: int
    rerank_timeout: float
    min_similarity: float
    min_relevance: float
    max_content: int
    max_message: int
    max_file_kb: int
    watch: str
    watch_poll: bool
    corrections: bool
    commands: bool
    learn_after: float
    worker: bool
    hooks: str
    secrets_in_memories: str
    secrets_in_messages: str
    tokenizer: str
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
    daily_log_folder: str
    retention: str
    consolidate: bool
    consolidate_after: float
    integrity_key: str
    replica: str
    restrict_to: str
    partitions: int
    pool_size: int
    statement_timeout: float
    llm: str
    llm_url: str
    llm_key: str = field(repr=False)
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


class Setting(NamedTuple):
    name: str
    default: Callable[[], Any]
    read: Callable[[str], Any]
    meaning: str
    secret: bool = False
    """Never shown."""
    in_file: bool = True
    """Whether it may stand in `config.toml`."""

    @property
    def variable(self) -> str:
        return f"RETENTIVE_{self.name.upper()}"


class Value(NamedTuple):
    """A setting's value and where it came from."""

    value: Any
    origin: str


def _one_of(*choices: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in choices:
            raise ValueError(f"must be one of {', '.join(choices)}")
        return text

    return read


def _between(low: float, high: float, convert: Callable[[str], Any] = float) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        value = convert(text)
        if not low <= value <= high:
            raise ValueError(f"must be between {low:g} and {high:g}")
        return value

    return read


def _switch(text: str) -> bool:
    word = text.strip().lower()
    if word not in ("1", "0", "true", "false", "yes", "no", "on", "off"):
        raise ValueError("must be on or off")
    return word in ("1", "true", "yes", "on")


def _daily(text: str) -> str:
    word = text.strip().lower()
    try:
        return word if word == "auto" else "on" if _switch(text) else "off"
    except ValueError:
        raise ValueError("must be auto, on or off") from None


def _path(text: str) -> str:
    """The path of a file or folder, as it was given. Whether something is there is seen when it is used."""
    try:
        Path(text).expanduser()
        text.encode()
    except RuntimeError as error:
        raise ValueError(str(error).rstrip(".")) from error
    except UnicodeEncodeError as error:
        raise ValueError("must be a path in UTF-8") from error
    if "\0" in text:
        raise ValueError("must be a path, without zero bytes")
    return text


def _retention(text: str) -> str:
    from retentive.text.retention import rules

    rules(text)
    return text


def _folders(text: str) -> str:
    return ", ".join(name for each in text.split(",") if (name := each.strip()))


def _token(text: str) -> str:
    if not text.isascii() or not text.strip().isprintable():
        raise ValueError("must be one line of plain characters")
    return text.strip()


def _line(text: str) -> str:
    """One line that is not empty. What it means is seen by whoever uses it."""
    if not text.strip() or not text.strip().isprintable():
        raise ValueError("must be one line of text")
    return text.strip()


def _url(text: str) -> str:
    if text.strip() and not re.match(r"https?://[^/\s]", text.strip()):
        raise ValueError("must begin with http:// or https://")
    return text.strip()


def _llm(text: str) -> str:
    text = text.strip()
    if text != "none" and not (is_provider_spec(text) and parse_spec(text).provider.writes):
        known = ", ".join(name for name, provider in PROVIDERS.items() if provider.writes)
        raise ValueError(f"must be none or PROVIDER:MODEL, with one of {known}")
    return text


def data_folder() -> Path:
    import platformdirs

    return platformdirs.user_data_path("retentive", appauthor=False)


def default_db() -> str:
    return str(data_folder() / "memory.db")


def config_file() -> Path:
    import platformdirs

    return platformdirs.user_config_path("retentive", appauthor=False) / "config.toml"


def settings_path(environment: Mapping[str, str] = os.environ) -> Path:
    """The file that is read: `config.toml`, or what RETENTIVE_CONFIG names."""
    return Path(environment.get("RETENTIVE_CONFIG") or config_file())


SETTINGS = (
    Setting("db", default_db, str, "The store: a file, `:memory:`, or a server: `libsql://...`, `postgresql://...`."),
    Setting("auth_token", lambda: "", _token, "The token that the server of the store asks for.", secret=True),
    Setting(
        "ca_file", lambda: "", _path, "libSQL: the certificates to trust, where the server's is signed by one of these."
    ),
    Setting("namespace", lambda: "default", str, "Whose memory it is: a path such as `alice/coder`."),
    Setting(
        "person",
        str,
        str.strip,
        "The namespace of the person, whatever they work on: what is learned about them is kept there. Empty: off.",
    ),
    Setting(
        "embedder",
        lambda: "minilm",
        _line,
        "What turns text into vectors: a model of `retentive models`, `PROVIDER:MODEL`, a folder's path, or `none`.",
    ),
    Setting(
        "embedder_url",
        lambda: "",
        _url,
        "Where the embedding model is served, if not by its provider: any OpenAI-compatible server.",
    ),
    Setting(
        "embedder_key",
        lambda: "",
        _token,
        "The key that the provider of the embedding model asks for; from the environment only.",
        secret=True,
        in_file=False,
    ),
    Setting(
        "embedder_timeout",
        lambda: 60.0,
        _between(0.1, 3600),
        "Seconds that the provider of the embedding model may take to answer.",
    ),
    Setting(
        "model_path",
        lambda: "",
        _path,
        "Another file of the default model: an .onnx file, or a folder that holds model.onnx.",
    ),
    Setting(
        "precision",
        lambda: "int8",
        _one_of("int8", "float32"),
        "Of the model's numbers: `int8` is quicker and smaller, `float32` as it was trained.",
    ),
    Setting(
        "pooling",
        lambda: "auto",
        _one_of("auto", "mean", "cls"),
        "How a folder's model sums up a text: `mean` or `cls`; `auto` reads it from the folder, else takes the mean.",
    ),
    Setting("download", lambda: False, _switch, "May the model be fetched if it is not on this machine?"),
    Setting(
        "hub_url",
        lambda: "https://huggingface.co",
        _url,
        "Where models are fetched from: the Hugging Face hub or a mirror. HF_ENDPOINT counts, too.",
    ),
    Setting(
        "model_wait",
        lambda: 0.0,
        _between(0, 3600),
        "Seconds that a question or a write waits for the model; 0: until it is loaded, 5 for a provider.",
    ),
    Setting("threads", lambda: 0, _between(0, 256, int), "Threads of the embedder; 0 lets it choose."),
    Setting(
        "durability",
        lambda: "full",
        _one_of("full", "normal"),
        "`full`: acknowledged means it survives a power cut. `normal`: it survives a crash of the program.",
    ),
    Setting("cache", lambda: str(data_folder() / "cache"), _path, "Folder of derived files: the rebuilt model."),
    Setting(
        "fusion",
        lambda: "blend",
        _one_of("blend", "minmax", "rrf"),
        "How the legs of a search are joined: `blend` with all that speaks for a hit, `minmax` and `rrf` alone.",
    ),
    Setting("vector_weight", lambda: 0.65, _between(0, 1), "Weight of the vector leg; the text leg has the rest."),
    Setting("rrf_k", lambda: 60, _between(1, 10_000, int), "With `rrf`: larger makes the first ranks count less."),
    Setting(
        "rerank",
        lambda: "none",
        _one_of("none", "model", "provider"),
        "What reorders the first hits: `none`, `model` (a cross-encoder in ONNX) or `provider` (a rerank endpoint).",
    ),
    Setting(
        "rerank_model", lambda: "", _path, "The folder of the cross-encoder, or what the provider calls its model."
    ),
    Setting("rerank_url", lambda: "", _url, "The rerank endpoint: as of Cohere, Jina or text-embeddings-inference."),
    Setting("rerank_key", lambda: "", _token, "The key that the rerank endpoint asks for.", secret=True),
    Setting("rerank_hits", lambda: 20, _between(2, 200, int), "How many of the first hits are reranked."),
    Setting("rerank_timeout", lambda: 1.0, _between(0.01, 60), "Seconds that reranking may take; then it is left out."),
    Setting(
        "min_similarity",
        lambda: 0.0,
        _between(0, 1),
        "Cosine that a threshold search asks for instead of a relevance; 0: none.",
    ),
    Setting("min_relevance", lambda: 0.4, _between(0, 1), "Relevance that a threshold search asks for."),
    Setting("max_content", lambda: 100_000, _between(1, 10_000_000, int), "Longest memory, in characters."),
    Setting("max_message", lambda: 10_000_000, _between(1, 100_000_000, int), "Longest message, in characters."),
    Setting("max_file_kb", lambda: 100, _between(1, 1e6, int), "Largest file that is indexed, in kilobytes."),
    Setting(
        "watch",
        lambda: "",
        _folders,
        "Folders that servers watch, and whose files they index; a list, or with commas between them.",
    ),
    Setting("watch_poll", lambda: False, _switch, "Look at watched folders every few seconds, where no events come?"),
    Setting(
        "corrections",
        lambda: True,
        _switch,
        "Read the words of a new memory for what they correct? Off: only slots correct.",
    ),
    Setting(
        "commands", lambda: True, _switch, 'Do what users ask in plain words: "remember that ...", "forget my ..."?'
    ),
    Setting(
        "learn_after", lambda: 300.0, _between(0, 1e9), "Seconds of silence after which a session is learned from."
    ),
    Setting("worker", lambda: True, _switch, "Do servers learn, fill in vectors and do the chores in the background?"),
    Setting(
        "hooks",
        lambda: "all",
        _one_of("all", "recall", "off"),
        "What the hooks of Claude Code do: `all`, only `recall` (nothing that is said is kept), or nothing: `off`.",
    ),
    Setting(
        "secrets_in_memories",
        lambda: "refuse",
        _one_of("refuse", "redact", "allow"),
        "What to do with a memory or note that holds a password, key or token: `refuse`, `redact` or `allow`.",
    ),
    Setting(
        "secrets_in_messages",
        lambda: "redact",
        _one_of("refuse", "redact", "allow"),
        "The same for messages of conversations, and for files.",
    ),
    Setting(
        "tokenizer",
        lambda: "estimate",
        _path,
        "What counts tokens: `estimate`, `tiktoken:ENCODING`, or the path of a `tokenizer.json`.",
    ),
    Setting("summarise", lambda: True, _switch, "Condense the older messages of long sessions as they grow?"),
    Setting(
        "session_budget",
        lambda: 8000,
        _between(100, 100_000_000, int),
        "Tokens of a session that are kept word for word before the oldest are condensed.",
    ),
    Setting("summary_messages", lambda: 4, _between(1, 1e6, int), "Fewer messages than this are not condensed."),
    Setting("summary_trigger", lambda: 0.8, _between(0, 1), "Share of session_budget from which it is time."),
    Setting("summary_target", lambda: 0.5, _between(0, 1), "Share of session_budget that is left word for word then."),
    Setting("summary_share", lambda: 0.25, _between(0, 1), "Share of session_budget that a summary may take."),
    Setting("share_profile", lambda: 0.1, _between(0, 1), "Share of a context for the profile."),
    Setting("share_summary", lambda: 0.2, _between(0, 1), "Share of a context for the session's summary."),
    Setting("share_memories", lambda: 0.35, _between(0, 1), "Share of a context for memories."),
    Setting("share_excerpts", lambda: 0.15, _between(0, 1), "Share of a context for excerpts of conversations."),
    Setting("share_recent", lambda: 0.3, _between(0, 1), "Share of a context for the newest messages."),
    Setting("access_log", lambda: True, _switch, "Keep which memories were read, when, and for which question?"),
    Setting("access_log_keep", lambda: 100_000, _between(0, 1e9, int), "Entries of the access log kept per namespace."),
    Setting(
        "daily_log",
        lambda: "auto",
        _daily,
        "Write each new memory as a line into a file of its day? `on`, `off`, or `auto`: servers do.",
    ),
    Setting("daily_log_folder", lambda: "", _path, "Folder of these files. Empty: `log` beside the store."),
    Setting(
        "retention",
        lambda: "",
        _retention,
        "How long memories are kept: `fact: 10000, outcome: 90d, work/*: 1y`. Empty: until they are forgotten.",
    ),
    Setting(
        "consolidate",
        lambda: False,
        _switch,
        "Does background work merge old memories that say the same, and sum up old outcomes, once a day?",
    ),
    Setting(
        "consolidate_after",
        lambda: 30.0,
        _between(0, 36_500),
        "Days after which a memory is old enough to be consolidated.",
    ),
    Setting(
        "integrity_key",
        lambda: "",
        _path,
        "The file of the key that a store in integrity mode is sealed with. Empty: none.",
    ),
    Setting("replica", lambda: "", str, "PostgreSQL: the address of a copy that only reads, for searches."),
    Setting("restrict_to", lambda: "", str, "PostgreSQL: the only namespaces to let through, separated by commas."),
    Setting(
        "partitions", lambda: 0, _between(0, 1024, int), "PostgreSQL: hash partitions of a store that is made; 0: none."
    ),
    Setting("pool_size", lambda: 8, _between(1, 1000, int), "PostgreSQL: connections of one process at most."),
    Setting("statement_timeout", lambda: 30.0, _between(0.1, 86_400), "PostgreSQL: seconds that an answer may take."),
    Setting(
        "llm",
        lambda: "none",
        _llm,
        "The language model that helps to learn: `none`, or PROVIDER:MODEL.",
    ),
    Setting(
        "llm_url",
        lambda: "",
        _url,
        "Where the language model is served, if not by its provider: any OpenAI-compatible server.",
    ),
    Setting(
        "llm_key",
        lambda: "",
        _token,
        "The key that the provider of the language model asks for; from the environment only.",
        secret=True,
        in_file=False,
    ),
    Setting("llm_timeout", lambda: 60.0, _between(0.1, 3600), "Seconds that the language model may take to answer."),
    Setting(
        "llm_answer_tokens",
        lambda: 8000,
        _between(16, 1e6, int),
        "Tokens of one answer of the language model, at most, with its thinking.",
    ),
    Setting(
        "llm_calls_per_day",
        lambda: 200,
        _between(0, 1e9, int),
        "Questions to the language model in a day, at most; 0: none.",
    ),
    Setting(
        "llm_tokens_per_day",
        lambda: 500_000,
        _between(0, 1e12, int),
        "Tokens that the language model reads and writes in a day, at most; 0: none.",
    ),
    Setting("serve_host", lambda: "127.0.0.1", str, "The address that `retentive serve` listens on."),
    Setting("serve_port", lambda: 8765, _between(0, 65_535, int), "Its port; 0 takes one that is free."),
    Setting(
        "require_token", lambda: False, _switch, "Ask for a token on 127.0.0.1, too? Elsewhere it is always asked for."
    ),
    Setting(
        "allow_hosts", lambda: "", str, "Names by which clients may call the server, beside its address; with commas."
    ),
    Setting(
        "trusted_proxies",
        lambda: "127.0.0.1, ::1",
        str,
        "Addresses of proxies that are believed when they say where a request came from; with commas.",
    ),
    Setting("max_request", lambda: 4 << 20, _between(1000, 1e9, int), "Longest body of a request, in bytes."),
    Setting(
        "requests_per_second",
        lambda: 50.0,
        _between(0, 1e6),
        "Requests of one token, or of one address, that are answered in a second; four times as many at once. 0: any.",
    ),
)


def resolve(
    arguments: Mapping[str, Any],
    environment: Mapping[str, str] = os.environ,
    file: Path | None = None,
) -> dict[str, Value]:
    """Each setting with its value and origin. `None` among the arguments means: not given."""
    path = file or settings_path(environment)
    written = _read_toml(path)
    unknown = sorted(set(written) - {setting.name for setting in SETTINGS})
    if unknown:
        raise BadConfig(f"{path}: unknown setting {unknown[0]!r}", f"Known: {', '.join(s.name for s in SETTINGS)}.")
    found = {setting.name: _value(setting, arguments, environment, written, path) for setting in SETTINGS}
    keys = _provider_key("llm", found, environment) | _provider_key("embedder", found, environment)
    return found | keys | _mirror(found, environment)


def shown(found: Mapping[str, Value]) -> dict[str, Value]:
    """The same with stars for what is secret: tokens, and passwords that stand in addresses."""
    secret = {setting.name for setting in SETTINGS if setting.secret}
    return {
        name: value._replace(value=SECRET if name in secret and value.value else without_password(value.value))
        for name, value in found.items()
    }


def without_password(value: Any) -> Any:
    """Up to the last @: who wrote it may have forgotten to encode one. Rather too little is shown than too much."""
    if not isinstance(value, str) or "://" not in value:
        return value
    value = re.sub(r"(://[^:/@?]*):.*@", rf"\1:{SECRET}@", value)
    return re.sub(r"([?&][^=&]*(?:password|token)=)[^&]*", rf"\1{SECRET}", value, flags=re.IGNORECASE)


def load(**arguments: Any) -> Config:
    return Config(**{name: found.value for name, found in resolve(arguments).items()})


def served(settings: Config) -> str:
    """What `daily_log` means for a server: `auto` is on, if the store is one that lasts."""
    if settings.daily_log != "auto":
        return settings.daily_log
    return "off" if settings.db == ":memory:" else "on"


def _value(
    setting: Setting,
    arguments: Mapping[str, Any],
    environment: Mapping[str, str],
    written: Mapping[str, Any],
    path: Path,
) -> Value:
    if (given := arguments.get(setting.name)) is not None:
        return Value(_checked(setting, given, "argument"), "argument")
    if given := environment.get(setting.variable):
        return Value(_checked(setting, given, setting.variable), setting.variable)
    if setting.name in written and not setting.in_file:
        hint = f"Take it out, and set {setting.variable} in the environment, or use the system's keyring."
        raise BadConfig(f"{path}: {setting.name} does not belong into a file", hint)
    if setting.name in written:
        return Value(_checked(setting, written[setting.name], str(path)), str(path))
    return Value(setting.default(), "default")


def find_provider_key(spec: str, url: str) -> str:
    """The key in the provider's own variable; empty if an address was given, or if there is none."""
    return find_in_environment(parse_spec(spec).provider, url, os.environ)


def _provider_key(role: str, found: Mapping[str, Value], environment: Mapping[str, str]) -> dict[str, Value]:
    """The key that the provider's own tools use. It goes to the provider only: not where `llm_url` leads."""
    spec = found[role].value
    if found[f"{role}_key"].value or not is_provider_spec(spec):
        return {}
    provider = parse_spec(spec).provider
    key = find_in_environment(provider, found[f"{role}_url"].value, environment)
    if not key:
        return {}
    setting = next(setting for setting in SETTINGS if setting.name == f"{role}_key")
    return {setting.name: Value(_checked(setting, key, provider.key_variable), provider.key_variable)}


def _mirror(found: Mapping[str, Value], environment: Mapping[str, str]) -> dict[str, Value]:
    """The variable by which all programs are told of a mirror of the hub."""
    given = environment.get(HUB_VARIABLE, "")
    if not given or found["hub_url"].origin != "default":
        return {}
    setting = next(setting for setting in SETTINGS if setting.name == "hub_url")
    return {"hub_url": Value(_checked(setting, given, HUB_VARIABLE), HUB_VARIABLE)}


def _checked(setting: Setting, given: Any, origin: str) -> Any:
    try:
        return setting.read(", ".join(map(str, given)) if isinstance(given, list | tuple) else str(given))
    except ValueError as error:
        shown = SECRET if setting.secret else repr(given)
        raise BadConfig(f"{setting.name} = {shown} ({origin}): {error}") from error


def _read_toml(path: Path) -> dict[str, Any]:
    import tomllib

    from retentive.fs.paths import translate_os_error
    from retentive.fs.regular_files import read_regular

    if str(path) == os.devnull:  # as people say: no file
        return {}
    try:
        return tomllib.loads(read_regular(path, MAX_FILE_BYTES).decode("utf-8"))
    except FileNotFoundError:
        return {}
    except Invalid as error:
        raise BadConfig(str(error), error.hint) from error
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE):
            raise translate_os_error(error, f"{path} cannot be read") from error
        raise BadConfig(f"{path}: {error.strerror or error}") from error
    except ValueError as error:
        raise BadConfig(f"{path}: {error}") from error


def environment() -> Mapping[str, str]:
    """For those who look for the settings of other programs."""
    return os.environ


def wants_colour(is_terminal: bool) -> bool:
    """As terminals agree on it: NO_COLOR and FORCE_COLOR decide, else whether a person is looking."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (is_terminal and os.environ.get("TERM") != "dumb")
