"""Claims found in talk by a language model.

What it is shown: the user's messages, and before each the assistant's that it answers ("Yes, exactly" says nothing by
itself). Not what tools gave, not instructions of a system, not what was pasted, quoted, or recalled for the
conversation. Each message is a line of JSON with its number, so none can pass for another or for the end of the
conversation. Before them stands what is known of the same things, numbered: one answer has the claims, their slots, and
how each stands to what is known.

What comes back is checked in `validate.py`. A bad answer is shown to the model once, with what is wrong with it; if the
second is no better, that is `Unusable`, and rules have to do.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from retentive.errors import Unusable
from retentive.judgement.corrections.slots import SLOT_FORMS
from retentive.judgement.extract.quoted_text import own_words
from retentive.learning.llm.validate import KINDS, MAX_CLAIMS, SCHEMA, Known, Shown, Validated, validate_answer
from retentive.model import Claim, Event, Role
from retentive.text.prompts import load_prompt
from retentive.text.sentences import own
from retentive.text.tokens import estimate

if TYPE_CHECKING:
    from retentive.llm import Writer

EXTRACT, REPAIR = "extract-1", "repair-1"  # the prompts that are used now
BATCH_TOKENS = 4000  # with instructions and answer it fits the 16,000 that models on one's own machine are run with
ANSWER_TOKENS = 8000  # twenty long claims are 4,000, and some models think before they write
MAX_MESSAGE_CHARS = 4000  # of a user's message; of a longer one the beginning and the end, between which is a paste
MAX_ANSWERED_CHARS = 1000  # of the assistant's message, of which only the end is answered
MAX_KNOWN = 30  # memories that are shown, and of each that many characters: enough to know it and its slot by
MAX_KNOWN_CHARS = 200


class Extraction(NamedTuple):
    """What a language model found in a conversation."""

    claims: tuple[Claim, ...]
    stated: int = 0
    """How many claims its answers had."""
    rejected: tuple[str, ...] = ()
    """Why some were left out."""


def extract(
    writer: "Writer",
    events: Sequence[Event],
    known: Sequence[Known] = (),
    *,
    limit: int = BATCH_TOKENS,
    tokens: int = ANSWER_TOKENS,
) -> Extraction:
    """What the user said that is worth keeping. `known` is what is near to it among the memories, the nearest first.

    `LlmError` if the model cannot be asked, `Unusable` if it did not answer so that it can be understood or believed.
    A long conversation is asked about batch by batch: ask for `batches` and one at a time to keep what earlier ones
    gave. `tokens` limits each answer.
    """
    found = Extraction(())
    for batch in batches(events, limit):
        more = _extract(writer, batch, [*found.claims, *known], tokens)
        found = Extraction(found.claims + more.claims, found.stated + more.stated, found.rejected + more.rejected)
    return found


def batches(events: Sequence[Event], limit: int = BATCH_TOKENS) -> list[tuple[Event, ...]]:
    """The messages that are shown, cut before a user's message and what it answers.

    Each is within `limit` tokens, unless it is a single message and that is longer.
    """
    found: list[list[Event]] = []
    room = 0
    for turn in _find_turns(events):
        size = sum(estimate(_render_event(event)) for event in turn)
        if size > room:
            found.append([])
            room = limit
        found[-1] += turn
        room -= size
    return [tuple(batch) for batch in found]


@cache
def make_instructions() -> str:
    return load_prompt(EXTRACT).fill(most_claims=MAX_CLAIMS, kinds=", ".join(KINDS), slots=", ".join(SLOT_FORMS))


def _find_turns(events: Sequence[Event]) -> Iterator[list[Event]]:
    """Each user's message that says something, after the assistant's that it answers."""
    before: Event | None = None
    for event in events:
        if event.role is Role.USER and _shorten(event):
            yield [before, event] if before else [event]
            before = None
        elif event.role is Role.ASSISTANT and _shorten(event):
            before = event


def _extract(writer: "Writer", batch: Sequence[Event], known: Sequence[Known], tokens: int) -> Extraction:
    instructions = make_instructions()
    material = _render(batch, known)
    shown = Shown(batch, known[:MAX_KNOWN], instructions)
    answer = ""
    try:
        answer = writer.write(instructions, material, SCHEMA, tokens=tokens).text
        return _sign(validate_answer(answer, shown, known), writer.name, EXTRACT)
    except Unusable as error:
        instructions += f"\n{load_prompt(REPAIR).fill(reason=error)}"
        material += f"\n{_as_json({'answer': answer[:MAX_MESSAGE_CHARS]})}"
    answer = writer.write(instructions, material, SCHEMA, tokens=tokens).text
    return _sign(validate_answer(answer, shown, known), writer.name, f"{EXTRACT}, {REPAIR}")


def _sign(found: Validated, model: str, prompt: str) -> Extraction:
    """With who was asked, and with what."""
    claims = tuple(replace(claim, model=model, prompt=prompt) for claim in found.claims)
    return Extraction(claims, found.stated, found.rejected)


def _render(batch: Sequence[Event], known: Sequence[Known]) -> str:
    told = [
        {"number": number, "slot": each.slot, "content": each.content[:MAX_KNOWN_CHARS]}
        for number, each in enumerate(known[:MAX_KNOWN], start=1)
    ]
    return "\n".join([*([_as_json({"known": told})] if told else []), *map(_render_event, batch)])


def _render_event(event: Event) -> str:
    who = {"speaker": event.speaker} if event.speaker else {}
    when = f"{event.time:%A %Y-%m-%d %H:%M} UTC"
    return _as_json({"event": event.sequence, "role": event.role, **who, "time": when, "text": _shorten(event)})


def _shorten(event: Event) -> str:
    """The speaker's own words. Of a user's message without any, such as a tool's result, there is nothing."""
    said = own(event.content) if event.role is Role.ASSISTANT else own_words(event.content)
    text = "\n".join(line.strip() for line in said.splitlines() if line.strip())
    if event.role is Role.ASSISTANT:
        return text if len(text) <= MAX_ANSWERED_CHARS else f"... {text[-MAX_ANSWERED_CHARS:]}"
    if len(text) <= MAX_MESSAGE_CHARS:
        return text
    end = MAX_MESSAGE_CHARS // 4
    return f"{text[: MAX_MESSAGE_CHARS - end]} [...] {text[-end:]}"


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
