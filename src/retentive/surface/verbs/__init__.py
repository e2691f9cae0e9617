"""The verbs of the command line, by topic, in the order in which people think of them."""

from collections.abc import Iterator

from retentive.surface.verb import Verb, VerbGroup
from retentive.surface.verbs.conversations import CONVERSATIONS
from retentive.surface.verbs.everyday import EVERYDAY
from retentive.surface.verbs.files import FILES
from retentive.surface.verbs.maintenance import MAINTENANCE
from retentive.surface.verbs.people import PEOPLE
from retentive.surface.verbs.serve import SERVE

TOPICS = (EVERYDAY, CONVERSATIONS, PEOPLE, FILES, SERVE, MAINTENANCE)
TOP_LEVEL: dict[str, Verb | VerbGroup] = {each.name: each for topic in TOPICS for each in topic.verbs}
"""The verbs and groups by their first word."""


def list_verbs() -> Iterator[Verb]:
    """Yield all verbs, those of groups too."""
    for each in TOP_LEVEL.values():
        if isinstance(each, VerbGroup):
            yield from each.verbs
        else:
            yield each


def find_verb(name: str) -> Verb | VerbGroup | None:
    """Return the verb or group of a full name: `add`, `session`, `session append`."""
    first, _, rest = name.partition(" ")
    found = TOP_LEVEL.get(first)
    if not rest or not isinstance(found, VerbGroup):
        return None if rest else found
    return next((each for each in found.verbs if each.own_name == rest), None)
