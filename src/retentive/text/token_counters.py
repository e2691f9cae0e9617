"""Token counters: by estimate, by tiktoken, or by a `tokenizer.json`.

Callers rely only on equal counts for equal texts. They count the finished text, not its pieces.
"""

from collections.abc import Callable
from pathlib import Path

from retentive.errors import BadConfig, Invalid, MissingExtra
from retentive.fs.regular_files import read_regular

__all__ = ["TokenCounter", "open_counter"]

COUNTER_HINT = "Count by `estimate`, `tiktoken:<encoding>`, or the path of a tokenizer.json."
MAX_TOKENIZER_BYTES = 200_000_000  # the largest published ones have 35 million

TokenCounter = Callable[[str], int]
"""Counts the tokens of a text: always the same number, 0 for the empty text. Counts need not add up."""


def open_counter(spec: str) -> TokenCounter:
    """Open the counter `estimate`, `tiktoken:<encoding>`, or the path of a `tokenizer.json`.

    tiktoken downloads an encoding that is not in its cache yet; the others never use the network.
    """
    match spec.partition(":"):
        case ("estimate", "", ""):
            from retentive.text.token_estimate import estimate_tokens

            return estimate_tokens
        case ("tiktoken", ":", encoding):
            return _open_tiktoken(encoding)
        case _:
            return _open_tokenizer(Path(spec).expanduser())


def _open_tiktoken(name: str) -> TokenCounter:
    try:
        import tiktoken
    except ImportError as error:
        raise MissingExtra("tiktoken is not installed.", "pip install 'retentive[tiktoken]'") from error
    try:
        encoding = tiktoken.get_encoding(name)
    except (ValueError, OSError) as error:  # unknown, damaged, or not to be downloaded
        hint = "Name one that tiktoken knows; it fetches it on first use, or finds it in TIKTOKEN_CACHE_DIR."
        raise BadConfig(f"tiktoken has no encoding {name!r} here: {error}", hint) from error
    return lambda text: len(encoding.encode(text, disallowed_special=()))


def _open_tokenizer(path: Path) -> TokenCounter:
    from tokenizers import Tokenizer

    if not _exists(path):
        raise BadConfig(f"There is no tokenizer at {path}.", COUNTER_HINT)
    try:
        tokenizer = Tokenizer.from_buffer(read_regular(path, MAX_TOKENIZER_BYTES))
    except Invalid as error:
        raise BadConfig(str(error), COUNTER_HINT) from error
    except OSError as error:
        raise BadConfig(f"{path} cannot be read: {error.strerror or error}", COUNTER_HINT) from error
    except Exception as error:  # tokenizers raises nothing narrower
        raise BadConfig(f"{path} cannot be read as a tokenizer.json: {error}") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return lambda text: len(tokenizer.encode(_replace_surrogates(text), add_special_tokens=False).ids)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:
        raise BadConfig(f"{path}: {error.strerror or error}", COUNTER_HINT) from error


def _replace_surrogates(text: str) -> str:
    """Replace lone surrogates, which tokenizers refuses."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
