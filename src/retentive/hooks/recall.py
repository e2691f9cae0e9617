"""What is laid before the model: at the start of a conversation, and with each prompt."""

from __future__ import annotations

import re
import threading
import time
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from retentive.embed import open_configured
from retentive.errors import EmbedError
from retentive.hooks.blocks import Block, Group, block
from retentive.hooks.request import LATE, Called, Options, place
from retentive.hooks.transcript import is_made, own
from retentive.model import Outdated, Space

if TYPE_CHECKING:
    from collections.abc import Iterable

    from retentive.api import Retentive
    from retentive.config import Config
    from retentive.model import Memory
    from retentive.served_namespaces import Whose

AT_START, FOR_PROMPT = 600, 500  # tokens
SOON = 0.4  # of the time there is: then a prompt is answered by words alone. Usually the model takes a tenth
LOOKED = 30  # memories looked at for each part of what a conversation begins with
BEARING = 12  # memories for a prompt: more than a usual budget holds
ASKED = (700, 300)  # characters of a prompt's beginning and end: what is pasted in between is not the question
VITAL = 9
PERSONAL = ("instruction", "preference", "personal", "background")
ABOUT_WORK = ("instruction", "project", "pattern", "preference", "fact")
DECIDED = ("decision", "outcome")

_COMMAND = re.compile(r"/[\w:.-]+(?:\s|$)")
_ASSENT = frozenset(
    "a ahead alright and as be by continue correct done exactly fine go good great it keep let looks me next nice no "
    "now ok okay on one ones option perfect please proceed right s same so sounds stop sure thank thanks that the then "
    "this try up wait y yeah yep yes you again n".split()
)


def start(call: Called, options: Options) -> Block:
    """What a conversation should begin with. One that is resumed has the block of its beginning still before it."""
    here = place(call, options)
    here.marks.prune()
    seen = here.marks.shown() if call.source == "resume" else []
    with here.open("none") as memory:
        groups = [group._replace(memories=_unseen(group.memories, seen)) for group in _known(memory, here.who)]
        marks = _outdated(memory, here.who)
    found = block(groups, AT_START if options.budget is None else options.budget, marks)
    here.marks.show((*seen, *found.shown))
    return found


def recall(call: Called, options: Options) -> Block:
    """What bears on a prompt and was not shown before."""
    question = asked(call.prompt)
    if not question:
        return Block("")
    here = place(call, options)
    vector = Ahead(question, here.settings, SOON * options.limit)
    seen = here.marks.shown()
    with here.open(here.settings.embedder) as memory:
        space = memory.space
        made = vector() if vector.is_of(space) else None
        hits = memory.search(
            question,
            BEARING,
            vector=made,
            mode="hybrid" if made is not None or _is_other_ready(here.settings, vector, space) else "text",
            min_similarity=here.settings.min_similarity or (space.min_similarity if space else 0.0),
            namespaces=here.who.also,
            include="memories",
        )
    bearing = _unseen([hit.memory for hit in hits], seen)
    marks = {hit.id: hit.outdated for hit in hits if hit.outdated}
    found = block([Group("", bearing)], FOR_PROMPT if options.budget is None else options.budget, marks)
    if found.shown:
        here.marks.show((*seen, *found.shown))
    return found


def asked(prompt: str) -> str:
    """The question in a prompt; empty where there is none: a slash command, a notification, a mere yes."""
    text = own(prompt)
    if not text or is_made(prompt) or _COMMAND.match(text):
        return ""
    if set(re.findall(r"[^\W_]+", text.lower())) <= _ASSENT:
        return ""
    first, last = ASKED
    return text if len(text) <= first + last else f"{text[:first]}\n{text[-last:]}"


def _known(memory: Retentive, who: Whose) -> list[Group]:
    """What is vital, what is known of the person and of the work, and what was decided."""
    person = memory.in_namespace(who.person) if who.person else memory
    others = [memory.in_namespace(name) for name in memory.namespaces(who.also) if name != memory.namespace]
    work = [memory, *(other for other in others if other.namespace != person.namespace)]
    vital = chain.from_iterable(each.list(LOOKED, min_importance=VITAL) for each in (memory, *others))
    about = chain.from_iterable(each.list(LOOKED, kind=ABOUT_WORK) for each in work)
    decided = chain.from_iterable(each.list(LOOKED, kind=DECIDED) for each in work)
    return [
        Group("Most important", _ranked(vital)),
        Group("About the user", _ranked(person.list(LOOKED, kind=PERSONAL))),
        Group("About this project" if who.person else "About the work", _ranked(about)),
        Group("Decided lately", sorted(decided, key=lambda each: each.valid_from, reverse=True)),
    ]


def _outdated(memory: Retentive, who: Whose) -> dict[str, Outdated]:
    """The marks of the memories that a newer one may replace, by their ids."""
    names = dict.fromkeys((memory.namespace, *memory.namespaces(who.also)))
    open_proposals = chain.from_iterable(memory.in_namespace(name).proposals.list() for name in names)
    return {each.older_id: Outdated(each.newer_id, each.newer_time, is_certain=False) for each in open_proposals}


def _ranked(memories: Iterable[Memory]) -> list[Memory]:
    return sorted(memories, key=lambda each: (each.importance, each.valid_from), reverse=True)


def _unseen(memories: Iterable[Memory], seen: Iterable[str]) -> list[Memory]:
    known = {*seen}
    return [each for each in memories if each.id not in known]


class Ahead:
    """The vector of a question, made in a thread while the store is being opened. None if it cannot be had soon."""

    def __init__(self, question: str, settings: Config, seconds: float) -> None:
        self._embedder = open_configured(settings, download=False)
        self._made: Any = None
        self._thread = threading.Thread(target=self._make, args=(question,), name=LATE, daemon=True)
        self._until = time.monotonic() + seconds
        if self._embedder and is_model_ready(settings, settings.embedder):
            self._thread.start()

    def is_of(self, space: Space | None) -> bool:
        """Whether the vector is of the store's own space: the store may have another model than the setting names."""
        return bool(self._embedder and space and self._embedder.space.name == space.name)

    def __call__(self) -> Any:
        if self._thread.ident:
            self._thread.join(max(0.0, self._until - time.monotonic()))
        return self._made

    def _make(self, question: str) -> None:
        with suppress(EmbedError):  # then words alone answer
            self._made = self._embedder.embed_query(question) if self._embedder else None


def _is_other_ready(settings: Config, vector: Ahead, space: Space | None) -> bool:
    """Whether the store has another model than the setting names, and can embed the question with it soon."""
    return space is not None and not vector.is_of(space) and is_model_ready(settings, space.model or "")


def is_model_ready(settings: Config, model: str) -> bool:
    """Whether the model is there to be loaded: the first text of all would have it rebuilt, for many seconds."""
    from retentive.embed import is_rebuilt, locate

    if not is_rebuilt(model, settings.precision) or settings.model_path:
        return True

    where = locate.Where(Path(settings.cache).expanduser())
    return locate.find_cached(where, locate.find_source(where)) is not None
