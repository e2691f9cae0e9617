"""How a hook is called: what Claude Code says, what the command line asks for, and the store they are about."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from retentive import config
from retentive.errors import Invalid
from retentive.hooks.state import Marks
from retentive.served_namespaces import Whose, whose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retentive.api import Retentive


LATE = "retentive-late"  # a thread that may still be at work when the answer is out


@dataclass(frozen=True, slots=True)
class Called:
    """What Claude Code says when it calls a hook, checked."""

    session: str
    folder: Path
    transcript: Path | None
    prompt: str
    source: str


@dataclass(frozen=True, slots=True)
class Options:
    namespace: str | None = None
    also: Sequence[str] = ()
    budget: int | None = None
    db: str | None = None
    embedder: str | None = None
    limit: float = 5.0
    """Seconds that there are for all of it."""


@dataclass(frozen=True, slots=True)
class Place:
    """Whose memories, in which store, and what is remembered of the conversation."""

    settings: config.Config
    db: str | None
    who: Whose
    marks: Marks

    def open(self, embedder: str) -> Retentive:
        from retentive.api import Retentive

        logged = self.settings.access_log and self.settings.hooks == "all"  # the log has the words of questions
        return Retentive.open(
            self.db,
            namespace=self.who.namespace,
            person=self.who.person or "",
            embedder=embedder,
            access_log=logged,
            daily_log=config.served(self.settings),
        )


def called(given: bytes) -> Called:
    try:
        told = json.loads(given)
    except (ValueError, RecursionError) as error:
        raise Invalid(f"the input is not JSON: {error}", "It is what Claude Code gives to a hook.") from error
    if not isinstance(told, dict):
        raise Invalid("the input is not a JSON object", "It is what Claude Code gives to a hook.")
    session, folder, transcript = (_text(told, name) for name in ("session_id", "cwd", "transcript_path"))
    if not re.fullmatch(r"[\w.-]{1,100}", session):
        raise Invalid(f"the input has no session_id that can be used: {session[:40]!r}")
    return Called(
        session,
        Path(folder or "."),
        Path(transcript).expanduser() if transcript else None,
        _text(told, "prompt"),
        _text(told, "source"),
    )


def place(call: Called, options: Options, folder: Path | None = None) -> Place:
    """Of the folder the hook was called in, if no other is given."""
    settings = config.load(db=options.db, embedder=options.embedder, namespace=options.namespace)
    who = whose(settings.namespace, options.also, folder or call.folder, settings.person)
    marks = Marks.of(config.data_folder() / "hooks", settings.db, who.namespace, call.session)
    return Place(settings, options.db, who, marks)


def _text(told: dict[str, Any], name: str) -> str:
    found = told.get(name)
    return found if isinstance(found, str) else ""
