"""The call of a hook: the input from Claude Code, the options of the command line, and the store they lead to."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from retentive import config
from retentive.errors import Invalid
from retentive.hooks.state import HookState
from retentive.served_namespaces import ServedNamespaces, find_namespaces

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retentive.api import Retentive


CLIENT = "claude-code"
LATE_THREAD_NAME = "retentive-late"  # the name of a thread that may still run after the answer was written
_INPUT_HINT = "Claude Code gives it to its hooks."


@dataclass(frozen=True, slots=True)
class HookCall:
    """The validated input of a hook."""

    session: str
    folder: Path
    transcript: Path | None
    prompt: str
    source: str

    @property
    def session_name(self) -> str:
        """The name of the conversation in the store."""
        return f"{CLIENT}/{self.session}"


NO_EMBEDDER = "none"


@dataclass(frozen=True, slots=True)
class HookOptions:
    namespace: str | None = None
    also: Sequence[str] = ()
    budget: int | None = None
    db: str | None = None
    embedder: str | None = None
    time_limit: float = 5.0
    """Seconds that the whole hook may take."""


@dataclass(frozen=True, slots=True)
class HookTarget:
    """The store and namespaces that a hook works on, and the state of its conversation."""

    settings: config.Config
    db: str | None
    served: ServedNamespaces
    state: HookState

    def open(self, embedder: str) -> Retentive:
        from retentive.api import Retentive

        is_logged = self.settings.access_log and self.settings.hooks == "all"  # the log has the words of questions
        return Retentive.open(
            self.db,
            namespace=self.served.namespace,
            person=self.served.person or "",
            embedder=embedder,
            access_log=is_logged,
            daily_log=config.resolve_daily_log(self.settings),
        )


def parse_call(given: bytes) -> HookCall:
    """Parse the JSON that Claude Code writes to a hook's standard input."""
    try:
        fields = json.loads(given)
    except (ValueError, RecursionError) as error:
        raise Invalid(f"the input is not JSON: {error}", _INPUT_HINT) from error
    if not isinstance(fields, dict):
        raise Invalid("the input is not a JSON object", _INPUT_HINT)
    session, folder, transcript = (_get_text(fields, name) for name in ("session_id", "cwd", "transcript_path"))
    if not re.fullmatch(r"[\w.-]{1,100}", session):
        raise Invalid(f"the input has no valid session_id: {session[:40]!r}")
    return HookCall(
        session,
        Path(folder or "."),
        Path(transcript).expanduser() if transcript else None,
        _get_text(fields, "prompt"),
        _get_text(fields, "source"),
    )


def find_target(call: HookCall, options: HookOptions, folder: Path | None = None) -> HookTarget:
    """Find the target of a call: that of `folder`, or of the folder the hook was called in."""
    settings = config.load(db=options.db, embedder=options.embedder, namespace=options.namespace)
    served = find_namespaces(settings.namespace, options.also, folder or call.folder, settings.person)
    state = HookState.of(config.data_folder() / "hooks", settings.db, served.namespace, call.session)
    return HookTarget(settings, options.db, served, state)


def _get_text(fields: dict[str, Any], name: str) -> str:
    found = fields.get(name)
    return found if isinstance(found, str) else ""
