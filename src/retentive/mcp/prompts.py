"""Prompts that people choose in their client: recall, remember this conversation, what do you know about me."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from retentive.errors import Invalid
from retentive.mcp import memory_tools, resources
from retentive.mcp.caller import Caller

RECALL_TOKENS = 2000  # tokens of a recall


class Prompt(NamedTuple):
    name: str
    title: str
    description: str
    render: Callable[[Caller, Mapping[str, str]], str]
    argument: str = ""
    meaning: str = ""
    writes: bool = False


def find_prompt(name: str, arguments: Mapping[str, str] | None, *, writes: bool) -> Prompt:
    known = list_prompts(writes=writes)
    if name not in known:
        raise Invalid(f"there is no prompt {name[:60]!r}", f"Choose one of: {', '.join(known)}.")
    found, given = known[name], arguments or {}
    if extra := set(given) - {found.argument}:
        raise Invalid(f"{name} takes no {min(extra)!r}", f"It takes: {found.argument or 'nothing'}.")
    if found.argument and not given.get(found.argument, "").strip():
        raise Invalid(f"{name} needs {found.argument!r}", found.meaning)
    return found


def list_prompts(*, writes: bool) -> Mapping[str, Prompt]:
    return {each.name: each for each in _PROMPTS if writes or not each.writes}


def _render_recall(caller: Caller, given: Mapping[str, str]) -> str:
    topic = given["topic"]
    known = memory_tools.context(caller, topic, budget=RECALL_TOKENS).text
    return f"This is what your long-term memory has on {topic!r}:\n\n{known}\n\nTell me what you know about it."


def _render_remember(_: Caller, __: Mapping[str, str]) -> str:
    return (
        "Go through our conversation and save what will matter in later ones: facts about me, my people and my work, "
        "preferences, decisions with their reasons, instructions on how I want things done. Look each up with "
        "memory_search first, so that you correct what is known instead of repeating it. Then save it with memory_add, "
        "one self-contained statement each, with names and absolute dates. Skip what mattered only today, and all "
        "secrets. Then tell me in a line or two what you saved."
    )


def _render_about_me(caller: Caller, _: Mapping[str, str]) -> str:
    return (
        f"This is what your long-term memory has about me:\n\n{resources.read_profile(caller)}\n\n"
        "Tell me what you know about me, in your own words and grouped sensibly. Point out what seems outdated or "
        "doubtful, and ask me to correct it."
    )


_PROMPTS = (
    Prompt("recall", "Recall", "What is known about a topic", _render_recall, "topic", "What to recall"),
    Prompt("remember", "Remember this conversation", "Save what matters in it", _render_remember, writes=True),
    Prompt("about_me", "What do you know about me?", "Everything known about you", _render_about_me),
)
