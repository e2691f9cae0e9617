"""Run a hook and return its output.

Nothing is caught here: `cli/hook.py` has the time limit and keeps failures away from the user.
"""

import json

from retentive import config
from retentive.hooks.request import HookCall, HookOptions

EVENT_NAMES = {"session-start": "SessionStart", "prompt": "UserPromptSubmit"}
"""The hooks that have an output, and Claude Code's names for them."""


def run_hook(event: str, call: HookCall, options: HookOptions) -> str:
    """Return the text for standard output: nothing, or the JSON that Claude Code expects."""
    allowed = config.load().hooks
    if allowed == "off" or (allowed == "recall" and event not in EVENT_NAMES):
        return ""
    match event:
        case "session-start":
            from retentive.hooks.start import recall_at_start as recall
        case "prompt":
            from retentive.hooks.recall import recall_for_prompt as recall
        case _:
            from retentive.hooks.record import record_conversation

            record_conversation(call, options, is_ended=event == "session-end")
            return ""
    text = recall(call, options).text
    if not text:
        return ""
    output = {"hookEventName": EVENT_NAMES[event], "additionalContext": text}
    return json.dumps({"hookSpecificOutput": output}, ensure_ascii=False)
