"""Summaries in the words of a language model."""

import json
from collections.abc import Callable, Sequence

from retentive.conversations.turns import speaker
from retentive.errors import Unusable
from retentive.model import Event
from retentive.text.echo import has_material, repeats_run
from retentive.text.fit import clip, cut
from retentive.text.messages import readable
from retentive.text.prompts import load_prompt
from retentive.text.token_counters import Counter

Ask = Callable[[str, str, int], str]
"""From instructions, material and a limit of tokens to what a language model writes. It may raise anything."""

MATERIAL = 40_000  # characters of all messages together: about 12,000 tokens
LEAST = 200  # characters of each, however many there are
SLACK = 2  # times the limit: models count in tokens of their own, and some think before they write
WORDS = 0.6  # of English, to a token: models keep to a number of words better than to one of tokens
PROMPT = "summary-1"  # the one that is used now
ECHO_WORDS = 8  # in a row that are also in the instructions: a summary of a talk about summaries has fewer


class Prose:
    """A `Condenser`. What asking raises, it raises; `Unusable` if the model only repeats what it was given."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def condense(self, summary: str, events: Sequence[Event], limit: int, count: Counter) -> str:
        if limit <= 0 or not (summary.strip() or events):
            return ""
        instructions = load_prompt(PROMPT).fill(words=max(1, int(WORDS * limit)))
        text = self._ask(instructions, _material(summary, events), SLACK * limit).strip()
        if has_material(text) or repeats_run(text, instructions, ECHO_WORDS):
            raise Unusable("the summary repeats what the model was given")
        return cut(text, limit, count)


def _material(summary: str, events: Sequence[Event]) -> str:
    room = max(LEAST, MATERIAL // max(1, len(events)))
    said = [
        {"from": speaker(event), "time": f"{event.time:%Y-%m-%d %H:%M}", "text": clip(_text(event), room)}
        for event in events
    ]
    lines = [*([{"summary": summary.strip()}] if summary.strip() else []), *said]
    return "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)


def _text(event: Event) -> str:
    return readable(event.content, event.payload)
