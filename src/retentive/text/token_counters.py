"""What should a model read? Pure functions: messages and candidates in, a text within a budget of tokens out.

`turns.py` says which messages must stay together, `summary.py` what to condense and how without a language model
(`sentences.py`: which sentences are worth keeping), `replay.py` rebuilds a conversation, `assemble.py` makes one text
of several sections. `fit.py` finds what fits, `quote.py` sets off what is not the user's own word.

Tokens are counted by a `Counter` that nothing is assumed of: what is counted at the end is the text that is handed out.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from retentive.errors import BadConfig, Invalid, MissingExtra
from retentive.fs.regular_files import read_regular

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retentive.model import Event

__all__ = ["Condenser", "Counter", "open_counter"]

WAYS_TO_COUNT = "Count by `estimate`, `tiktoken:<encoding>`, or the path of a tokenizer.json."
MAX_TOKENIZER_BYTES = 200_000_000  # the largest that are published have 35 million

Counter = Callable[[str], int]
"""The tokens of a text: the same number each time, 0 for the empty text. Counts need not add up."""


class Condenser(Protocol):
    """Writes the rolling summary of a session.

    Guarantees: `condense` gives the whole new summary, what `summary` said and what the events add, in at most `limit`
    tokens by `count`; "" if nothing is worth saying or `limit` is 0.
    The default one is deterministic; one that asks a language model need not be.
    Errors: anything. Callers then use the default, which raises nothing.
    Threads: it may be called from any thread.
    Must not know: where messages are kept, when a summary is due.
    """

    def condense(self, summary: str, events: Sequence[Event], limit: int, count: Counter) -> str: ...


def open_counter(spec: str) -> Counter:
    """`estimate`, `tiktoken:<encoding>`, or the path of a `tokenizer.json`.

    tiktoken fetches an encoding that is not in its cache yet; the others never use the network.
    """
    match spec.partition(":"):
        case ("estimate", "", ""):
            from retentive.text.tokens import estimate

            return estimate
        case ("tiktoken", ":", encoding):
            return _tiktoken(encoding)
        case _:
            return _tokenizer(Path(spec).expanduser())


def _tiktoken(name: str) -> Counter:
    try:
        import tiktoken
    except ImportError as error:
        raise MissingExtra("tiktoken is not installed.", "pip install 'retentive[tiktoken]'") from error
    try:
        encoding = tiktoken.get_encoding(name)
    except (ValueError, OSError) as error:  # unknown or damaged; neither cached nor to be had
        hint = "Name one that tiktoken knows; it fetches it on first use, or finds it in TIKTOKEN_CACHE_DIR."
        raise BadConfig(f"tiktoken has no encoding {name!r} here: {error}", hint) from error
    return lambda text: len(encoding.encode(text, disallowed_special=()))


def _tokenizer(path: Path) -> Counter:
    from tokenizers import Tokenizer

    if not _exists(path):
        raise BadConfig(f"There is no tokenizer at {path}.", WAYS_TO_COUNT)
    try:
        tokenizer = Tokenizer.from_buffer(read_regular(path, MAX_TOKENIZER_BYTES))
    except Invalid as error:
        raise BadConfig(str(error), WAYS_TO_COUNT) from error
    except OSError as error:
        raise BadConfig(f"{path} cannot be read: {error.strerror or error}", WAYS_TO_COUNT) from error
    except Exception as error:  # tokenizers raises nothing narrower
        raise BadConfig(f"{path} cannot be read as a tokenizer.json: {error}") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return lambda text: len(tokenizer.encode(_valid(text), add_special_tokens=False).ids)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:
        raise BadConfig(f"{path}: {error.strerror or error}", WAYS_TO_COUNT) from error


def _valid(text: str) -> str:
    """Half a surrogate pair is not text, and tokenizers refuses it."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
