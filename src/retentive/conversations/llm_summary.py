"""Summaries written by a language model."""

import json
from collections.abc import Callable, Sequence

from retentive.conversations.turns import speaker_name
from retentive.errors import Unusable
from retentive.model import Event
from retentive.text.clip import clip, clip_to_tokens
from retentive.text.messages import extract_text
from retentive.text.model_output import has_json, shares_word_run
from retentive.text.prompts import load_prompt
from retentive.text.token_counters import TokenCounter

Ask = Callable[[str, str, int], str]
"""Takes instructions, material and a limit of tokens; returns what a language model writes. May raise anything."""

MAX_MATERIAL_CHARS = 40_000  # of all messages together: about 12,000 tokens
MIN_MESSAGE_CHARS = 200  # of each message, however many there are
TOKEN_SLACK = 2  # times the limit: models count in tokens of their own, and some think before they write
WORDS_PER_TOKEN = 0.6  # of English, to a token: models keep to a number of words better than to one of tokens
PROMPT_NAME = "summary-1"  # the one that is used now
MAX_ECHO_WORDS = 8  # in a row that are also in the instructions: a summary of a talk about summaries has fewer


class LlmCondenser:
    """A `Condenser` that asks a language model. Raises what the model raises; `Unusable` if it repeats its input."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def condense(self, summary: str, events: Sequence[Event], limit: int, count: TokenCounter) -> str:
        if limit <= 0 or not (summary.strip() or events):
            return ""
        instructions = load_prompt(PROMPT_NAME).fill(words=max(1, int(WORDS_PER_TOKEN * limit)))
        text = self._ask(instructions, _render_material(summary, events), TOKEN_SLACK * limit).strip()
        if has_json(text) or shares_word_run(text, instructions, MAX_ECHO_WORDS):
            raise Unusable("the summary repeats its instructions")
        return clip_to_tokens(text, limit, count)


def _render_material(summary: str, events: Sequence[Event]) -> str:
    room = max(MIN_MESSAGE_CHARS, MAX_MATERIAL_CHARS // max(1, len(events)))
    messages = [
        {"from": speaker_name(event), "time": f"{event.time:%Y-%m-%d %H:%M}", "text": clip(_message_text(event), room)}
        for event in events
    ]
    lines = [*([{"summary": summary.strip()}] if summary.strip() else []), *messages]
    return "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)


def _message_text(event: Event) -> str:
    return extract_text(event.content, event.payload)
