"""The settings in groups, in the order in which people look for them. A test proves that each is in one group."""

MAIN_SETTINGS = ("db", "namespace", "embedder", "llm", "hooks", "secrets_in_memories")
"""What people decide for themselves: where it is kept, whose it is, what finds it, what learns, what is listened to,
and what becomes of secrets. All others have defaults that few have a reason to change."""

SETTING_GROUPS: dict[str, tuple[str, ...]] = {
    "main": MAIN_SETTINGS,
    "store": (
        "person", "auth_token", "ca_file", "durability", "cache", "max_content", "max_message", "retention",
        "daily_log", "daily_log_folder", "access_log", "access_log_keep", "secrets_in_messages", "integrity_key",
    ),
    "embedding model": (
        "embedder_url", "embedder_key", "embedder_timeout", "model_path", "precision", "pooling", "download", "hub_url",
        "model_wait", "threads",
    ),
    "search": (
        "min_relevance", "min_similarity", "fusion", "vector_weight", "rrf_k", "rerank", "rerank_model", "rerank_url",
        "rerank_key", "rerank_hits", "rerank_timeout",
    ),
    "learning": (
        "corrections", "commands", "learn_after", "worker", "consolidate", "consolidate_after", "llm_url", "llm_key",
        "llm_timeout", "llm_answer_tokens", "llm_calls_per_day", "llm_tokens_per_day",
    ),
    "files": ("watch", "watch_poll", "max_file_kb"),
    "contexts and summaries": (
        "tokenizer", "summarise", "session_budget", "summary_messages", "summary_trigger", "summary_target",
        "summary_share", "share_profile", "share_summary", "share_memories", "share_excerpts", "share_recent",
    ),
    "server": (
        "serve_host", "serve_port", "require_token", "allow_hosts", "trusted_proxies", "max_request",
        "requests_per_second",
    ),
    "PostgreSQL": ("replica", "restrict_to", "partitions", "pool_size", "statement_timeout", "pooler"),
}  # fmt: skip
