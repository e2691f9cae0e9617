"""The fields of sessions, messages and chat logs."""

from retentive.surface.field import TIME_HELP, Field
from retentive.surface.options import TAGS

ROLES = ("user", "assistant", "system", "developer", "tool")
CHAT_FORMATS = ("openai", "claude", "chatgpt", "plain")

SESSION = Field("session", "session", "", metavar="SESSION", required=True)
SESSIONS = SESSION._replace(name="sessions", many=True)
MESSAGE_OPTIONS = (
    Field("role", "choice", f"{', '.join(ROLES)} (user)", choices=ROLES, default="user", metavar="ROLE"),
    Field("speaker", "name", "who said it", metavar="NAME"),
    Field("time", "time", f"when, {TIME_HELP} ago; now if not given", metavar="TIME"),
    TAGS._replace(help="a tag of this message; may be given several times"),
    Field("sequence", "integer", "its number; the next if not given", metavar="N"),
    Field("payload", "object", "data of the message: tool calls, results, anything", metavar="JSON"),
)
PLACES = (
    Field("before", "integer", "the newest before this sequence number", metavar="N"),
    Field("after", "integer", "the next after this sequence number", metavar="N"),
    Field("around", "integer", "those around this sequence number", metavar="N"),
)
BUDGET = Field("budget", "integer", "maximum number of tokens (2000)", default=2000, metavar="N")
