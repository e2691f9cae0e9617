"""The tokenizer of SQLite's full-text index, used in this process."""

import threading

import apsw

TOKENIZER = ("porter", "unicode61", "remove_diacritics", "2", "categories", "L* N* Co Mn Mc")  # as in the schema


class Tokenizer:
    """Safe for many threads: each has its own tokenizer, on an empty database in memory."""

    def __init__(self) -> None:
        self._local = threading.local()

    def __call__(self, text: str) -> list[str]:
        tokenizer = getattr(self._local, "tokenizer", None)
        if tokenizer is None:
            self._local.connection = apsw.Connection(":memory:")
            tokenizer = self._local.connection.fts5_tokenizer(TOKENIZER[0], list(TOKENIZER[1:]))
            self._local.tokenizer = tokenizer
        found = tokenizer(text.encode(), apsw.FTS5_TOKENIZE_QUERY, None, include_offsets=False, include_colocated=False)
        return list(found)
