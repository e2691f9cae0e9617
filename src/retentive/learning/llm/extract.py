"""Extract claims from a conversation with a language model.

The model is shown the user's messages, each after the assistant's message that it answers ("Yes, exactly" says nothing
alone). It is not shown tool results, system instructions, or text that was pasted, quoted or recalled. Each message is
a numbered line of JSON, so none can pass for another or for the end of the conversation. Known memories on the same
topics come first, numbered. One answer has the claims, their slots, and the relation of each to the known memories.

`validate.py` checks the answer. A bad answer is shown to the model once, with what is wrong with it. If the second is
no better, the error is `Unusable`, and rules take over.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from retentive.errors import Unusable
from retentive.judgement.corrections.slots import SLOT_FORMS
from retentive.judgement.extract.quoted_text import blank_quoted_text
from retentive.learning.llm.validate import (
    CLAIM_KINDS,
    MAX_CLAIMS,
    SCHEMA,
    KnownStatement,
    ModelInput,
    ValidatedAnswer,
    validate_answer,
)
from retentive.model import Claim, Event, Role
from retentive.text.prompts import load_prompt
from retentive.text.sentences import mask_quoted_text
from retentive.text.token_estimate import estimate_tokens

if TYPE_CHECKING:
    from retentive.llm import LanguageModel

EXTRACT_PROMPT, REPAIR_PROMPT = "extract-1", "repair-1"  # the prompts that are used now
BATCH_TOKENS = 4000  # with instructions and answer it fits the 16,000 that models on one's own machine are run with
ANSWER_TOKENS = 8000  # twenty long claims are 4,000, and some models think before they write
MAX_MESSAGE_CHARS = 4000  # of a user's message; of a longer one the beginning and the end, between which is a paste
MAX_ANSWERED_CHARS = 1000  # of the assistant's message, of which only the end is answered
MAX_KNOWN = 30  # memories that are shown, and of each that many characters: enough to know it and its slot by
MAX_KNOWN_CHARS = 200


class Extraction(NamedTuple):
    """What a language model found in a conversation."""

    claims: tuple[Claim, ...]
    stated_count: int = 0
    """How many claims its answers had."""
    rejected: tuple[str, ...] = ()
    """Why some were left out."""


def extract_claims(
    llm: "LanguageModel",
    events: Sequence[Event],
    known: Sequence[KnownStatement] = (),
    *,
    limit: int = BATCH_TOKENS,
    max_tokens: int = ANSWER_TOKENS,
) -> Extraction:
    """Extract what the user said that is worth keeping. `known` are related memories, the nearest first.

    Raises `LlmError` if the model cannot be asked, and `Unusable` if its answer cannot be parsed or believed. A long
    conversation is extracted batch by batch. To keep the claims of earlier batches if a later one fails, call this for
    each of `split_batches`. `max_tokens` limits each answer.
    """
    found = Extraction(())
    for batch in split_batches(events, limit):
        more = _extract_from_batch(llm, batch, [*found.claims, *known], max_tokens)
        found = Extraction(
            found.claims + more.claims, found.stated_count + more.stated_count, found.rejected + more.rejected
        )
    return found


def split_batches(events: Sequence[Event], limit: int = BATCH_TOKENS) -> list[tuple[Event, ...]]:
    """Split the messages that are shown into batches. An answer stays with the message that it answers.

    Each batch is within `limit` tokens, unless a single message is longer.
    """
    found: list[list[Event]] = []
    room = 0
    for turn in _find_turns(events):
        size = sum(estimate_tokens(_render_event(event)) for event in turn)
        if size > room:
            found.append([])
            room = limit
        found[-1] += turn
        room -= size
    return [tuple(batch) for batch in found]


@cache
def make_instructions() -> str:
    return load_prompt(EXTRACT_PROMPT).fill(
        most_claims=MAX_CLAIMS, kinds=", ".join(CLAIM_KINDS), slots=", ".join(SLOT_FORMS)
    )


def _find_turns(events: Sequence[Event]) -> Iterator[list[Event]]:
    """Each user's message that says something, after the assistant's that it answers."""
    before: Event | None = None
    for event in events:
        if event.role is Role.USER and _shorten(event):
            yield [before, event] if before else [event]
            before = None
        elif event.role is Role.ASSISTANT and _shorten(event):
            before = event


def _extract_from_batch(
    llm: "LanguageModel", batch: Sequence[Event], known: Sequence[KnownStatement], max_tokens: int
) -> Extraction:
    instructions = make_instructions()
    material = _render(batch, known)
    shown = ModelInput(batch, known[:MAX_KNOWN], instructions)
    answer = ""
    try:
        answer = llm.complete(instructions, material, SCHEMA, max_tokens=max_tokens).text
        return _label_claims(validate_answer(answer, shown, known), llm.name, EXTRACT_PROMPT)
    except Unusable as error:
        instructions += f"\n{load_prompt(REPAIR_PROMPT).fill(reason=error)}"
        material += f"\n{_as_json({'answer': answer[:MAX_MESSAGE_CHARS]})}"
    answer = llm.complete(instructions, material, SCHEMA, max_tokens=max_tokens).text
    return _label_claims(validate_answer(answer, shown, known), llm.name, f"{EXTRACT_PROMPT}, {REPAIR_PROMPT}")


def _label_claims(found: ValidatedAnswer, model: str, prompt: str) -> Extraction:
    """Record the model and the prompt in each claim."""
    claims = tuple(replace(claim, model=model, prompt=prompt) for claim in found.claims)
    return Extraction(claims, found.stated_count, found.rejected)


def _render(batch: Sequence[Event], known: Sequence[KnownStatement]) -> str:
    raw = [
        {"number": number, "slot": each.slot, "content": each.content[:MAX_KNOWN_CHARS]}
        for number, each in enumerate(known[:MAX_KNOWN], start=1)
    ]
    return "\n".join([*([_as_json({"known": raw})] if raw else []), *map(_render_event, batch)])


def _render_event(event: Event) -> str:
    who = {"speaker": event.speaker} if event.speaker else {}
    when = f"{event.time:%A %Y-%m-%d %H:%M} UTC"
    return _as_json({"event": event.sequence, "role": event.role, **who, "time": when, "text": _shorten(event)})


def _shorten(event: Event) -> str:
    """The speaker's own words, shortened; "" for a user's message without any, such as a tool's result."""
    said = mask_quoted_text(event.content) if event.role is Role.ASSISTANT else blank_quoted_text(event.content)
    text = "\n".join(line.strip() for line in said.splitlines() if line.strip())
    if event.role is Role.ASSISTANT:
        return text if len(text) <= MAX_ANSWERED_CHARS else f"... {text[-MAX_ANSWERED_CHARS:]}"
    if len(text) <= MAX_MESSAGE_CHARS:
        return text
    end = MAX_MESSAGE_CHARS // 4
    return f"{text[: MAX_MESSAGE_CHARS - end]} [...] {text[-end:]}"


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
