"""What a hook answers.

Nothing is caught here: who calls it has the clock, and sees to it that a failure does not become the user's
(`cli/hook.py`).
"""

import json

from retentive import config
from retentive.hooks.request import Called, Options

NAMES = {"session-start": "SessionStart", "prompt": "UserPromptSubmit"}
"""Those that answer, and what Claude Code calls them."""


def answer(event: str, call: Called, options: Options) -> str:
    """What goes to standard output: nothing, or the JSON that Claude Code expects."""
    allowed = config.load().hooks
    if allowed == "off" or (allowed == "recall" and event not in NAMES):
        return ""
    match event:
        case "session-start":
            from retentive.hooks.recall import start as shown
        case "prompt":
            from retentive.hooks.recall import recall as shown
        case _:
            from retentive.hooks.record import keep

            keep(call, options, ended=event == "session-end")
            return ""
    text = shown(call, options).text
    output = {"hookEventName": NAMES[event], "additionalContext": text}
    return json.dumps({"hookSpecificOutput": output}, ensure_ascii=False) if text else ""
