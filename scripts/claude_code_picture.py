"""Draw the transcript of a real run of Claude Code with the plugin, as docs/claude-code.svg.

Usage: .venv/bin/python scripts/claude_code_picture.py

Claude Code runs as in the tests: without a terminal, against a model on the loopback whose answers stand below. What is
drawn beside them is what its requests to that model had: the blocks of the hooks, and the result of the tool.
"""

import json
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.hooks.claude_code import PROJECT, TOOL_PREFIX, ClaudeCode  # noqa: E402 - the path is set above
from tests.hooks.messages_api import Request, ToolCall  # noqa: E402

PICTURE = ROOT / "docs" / "claude-code.svg"
TOLD = (
    "I prefer Alembic for migrations. From now on we deploy billing on Thursdays, "
    "because the ledger closes on Wednesday."
)
CONTACT = "Priya Nair has to approve every deploy of billing"
QUESTION = "When can the migration of the orders table go live, and who has to approve the deploy?"
SEARCH = f"{TOOL_PREFIX}memory_search"
WORDS = {"query": "why deploy on Thursday"}
NOTED, ANSWER = "Noted: Alembic, and deploys on Thursdays.", "On Thursday. Priya Nair has to approve the deploy first."

COLUMNS, LINE_HEIGHT, MARGIN, TOP = 104, 19, 22, 52
COLUMN_WIDTH = 7.83  # of a monospaced letter at 13 px
MAX_RESULT_CHARS = 190


class Line(NamedTuple):
    style: str
    """The class of its colour: user, model, hook, tool, note."""
    text: str


class Run(NamedTuple):
    start: str
    """The block that the conversation began with."""
    prompt: str
    """The block that came with the prompt."""
    result: str
    """The answer of the tool."""


def run_claude_code() -> Run:
    """Tell something in one conversation, and ask for it in the next."""
    with tempfile.TemporaryDirectory() as folder, ClaudeCode(Path(folder)) as client:
        client.model.answers = [NOTED]
        client.converse(TOLD)
        client.retentive("add", CONTACT, "--kind", "contact", "--namespace", PROJECT)
        client.model.answers = [ToolCall(SEARCH, WORDS), ANSWER]
        client.converse(QUESTION, options=("--allowedTools", SEARCH))
        asked, after_tool = client.model.turns[-2:]
    start, prompt = find_blocks(asked)
    return Run(start, prompt, after_tool.tool_results[0])


def find_blocks(request: Request) -> list[str]:
    """The memories in the blocks of the hooks, without the frame around them."""
    parts = [part for text in request.texts for part in text.split("<retentive-memory>")[1:]]
    bodies = [part.partition("</retentive-memory>")[0].strip().splitlines() for part in parts]
    return ["\n".join(body[1:-1]) for body in bodies]


def write_lines(run: Run) -> Iterator[Line]:
    yield from wrap("note", "# a conversation in a git project")
    yield from wrap("user", f"> {TOLD}")
    yield from wrap("model", f"● {NOTED}")
    yield Line("note", "")
    yield from wrap("note", "# a new conversation; Claude is shown at its start:")
    yield from wrap("hook", run.start)
    yield Line("note", "")
    yield from wrap("user", f"> {QUESTION}")
    yield from wrap("note", "# and with this prompt:")
    yield from wrap("hook", run.prompt)
    yield Line("note", "")
    yield from wrap("tool", f"● memory_search {json.dumps(WORDS)}")
    yield from wrap("note", f"  {shorten(run.result)}")
    yield from wrap("model", f"● {ANSWER}")


def wrap(style: str, text: str) -> Iterator[Line]:
    for line in text.splitlines():
        for part in textwrap.wrap(line, COLUMNS, subsequent_indent="  ", replace_whitespace=False) or [""]:
            yield Line(style, part)


def shorten(text: str) -> str:
    """Put a text on one line without the ids of a run."""
    hit = json.loads(text)["hits"][0]
    told = json.dumps({"text": hit["text"], "date": hit["date"]}, ensure_ascii=False)
    return told if len(told) <= MAX_RESULT_CHARS else f"{told[:MAX_RESULT_CHARS]} …"


def draw(lines: list[Line]) -> str:
    width, height = round(2 * MARGIN + COLUMNS * COLUMN_WIDTH), TOP + len(lines) * LINE_HEIGHT + MARGIN
    rows = ((TOP + (number + 1) * LINE_HEIGHT - 5, line) for number, line in enumerate(lines) if line.text)
    drawn = "\n".join(
        f'  <text class="{line.style}" x="{MARGIN}" y="{bottom}">{escape(line.text, quote=False)}</text>'
        for bottom, line in rows
    )
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-labelledby="title">
  <title id="title">Claude Code is shown memories of an earlier conversation, and answers with them</title>
  <style>
    text {{ font: 13px ui-monospace, "SF Mono", Menlo, "DejaVu Sans Mono", monospace; white-space: pre }}
    .user {{ fill: #ffffff; font-weight: 700 }}
    .model {{ fill: #e6e9ef }}
    .hook {{ fill: #8fd3a5 }}
    .tool {{ fill: #8fbcf0 }}
    .note {{ fill: #98a1b0 }}
  </style>
  <rect width="{width}" height="{height}" rx="10" fill="#1b1f27"/>
  <circle cx="24" cy="22" r="6" fill="#ec6a5e"/><circle cx="44" cy="22" r="6" fill="#f4bf4f"/>
  <circle cx="64" cy="22" r="6" fill="#61c554"/>
  <text class="note" x="{width / 2:g}" y="27" text-anchor="middle">claude</text>
{drawn}
</svg>
"""


def main() -> None:
    PICTURE.write_text(draw([*write_lines(run_claude_code())]), "utf-8")


if __name__ == "__main__":
    main()
