"""A short answer says something only with its question: "What's your dog's name?" - "Rex."

Only questions whose form says how the statement goes are read; the statement comes in the first person.
"""

import re
from collections.abc import Callable

LONGEST_QUESTION = 200  # characters at the end of a message that are looked at
MOST_WORDS = 7  # of an answer: longer ones are sentences of their own

_QUESTION = re.compile(r"([^.!?\n]*)\?[^?]*$")
_YES = re.compile(r"^(?:yes|yeah|yep|yup|i do|i am|i have|correct|right|sure do|indeed)(?:[,.! ]|$)", re.IGNORECASE)
_NO = re.compile(r"^(?:no|nope|nah|not really|i don't|i do not|i'm not|i am not|i haven't)(?:[,.! ]|$)", re.IGNORECASE)
_LEADS = re.compile(r"^(?:(?:and|so|ok|okay|great|nice|cool|also|by the way|well|oh)[,!]? )+", re.IGNORECASE)
_OPEN = re.compile(r"^(?:(?:it|that)(?:'s| is| would be) |(?:his|her|its) name(?:'s| is) )?", re.IGNORECASE)
_SENTENCE = re.compile(r"(?:i|i'm|my|we|our)\b", re.IGNORECASE)  # speaks for itself
_VERB = re.compile(
    r"\b(?:is|are|was|were|am|have|has|had|do|did|can|will|think|know|guess|depends|\w+ed|not sure|idea)\b",
    re.IGNORECASE,
)
_VAGUE = re.compile(
    r"^(?:what|why|who|how|none|nothing|anything|something|maybe|sure|ok|okay|yes|no|yeah|nope|thanks|hi|hello|it"
    r"|this|that|me|you|later|idk|dunno|lol|haha|good|fine|great|cool|nice)\b",
    re.IGNORECASE,
)

_AS = {"use": " as my {}", "prefer": " as {}", "like": " as {}"}  # "Helix" alone does not say that it is an editor
_WHAT: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], str], str]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), make)
    for pattern, make in (
        (r"what(?:'s| is| are) your ([\w' -]{2,40}?)(?: called)?$", lambda q, a: f"my {q[1]} is {a}"),
        (r"what do you call your ([\w' -]{2,30})$", lambda q, a: f"my {q[1]}'s name is {a}"),
        (r"who(?:'s| is) your ([\w' -]{2,40})$", lambda q, a: f"my {q[1]} is {a}"),
        (r"when(?:'s| is) your ([\w' -]{2,40})$", lambda q, a: f"my {q[1]} is {a}"),
        (r"where(?:'s| is) your ([\w' -]{2,40})$", lambda q, a: f"my {q[1]} is {_placed(a)}"),
        (r"where (?:do you live|are you (?:living|based))(?: now| currently)?$", lambda _, a: f"I live {_placed(a)}"),
        (r"where (?:are|do) you (?:come )?from(?: originally)?$", lambda _, a: f"I am from {a}"),
        (r"where do you work(?: now| currently)?$", lambda _, a: f"I work {_placed(a, 'at')}"),
        (r"how old are you$", lambda _, a: f"I am {a}" + (" years old" if a.isdigit() else "")),
        (r"what do you do(?: for (?:a living|work))?$", lambda _, a: f"I work as {_article(a)}"),
        (
            r"(?:what|which) ([\w -]{2,30}?) do you (use|prefer|speak|drive|play|like)$",
            lambda q, a: f"I {q[2]} {a}{_AS.get(q[2].lower(), '').format(q[1])}",
        ),
        (
            r"how many (kids|children|pets|dogs|cats|siblings|brothers|sisters) do you have$",
            lambda q, a: f"I have {a} {q[1]}",
        ),
    )
)
_WHETHER = re.compile(r"(?:are you|do you) (?:(?:still|currently|really|also) )*((?:[\w'-]+ ?){1,6})$", re.IGNORECASE)
_STATES = re.compile(
    r"^(?:a )?(?:vegetarian|vegan|married|single|divorced|engaged|allergic to [\w ]+|left-handed|retired|religious"
    r"|diabetic|pregnant|lactose intolerant|from [\w ]+)$",
    re.IGNORECASE,
)
_DEEDS = re.compile(
    r"^(?:have (?:any |a )?(?:kids|children|pets?|dogs?|cats?|siblings|brothers|sisters|allergies|car|garden"
    r"|driver's license)|(?:like|eat|drink|smoke|use|own|play|speak|drive|enjoy|prefer|live in"
    r"|work (?:at|in|for)) (?!it|this|that|them)[\w' ]+|smoke|drink|drive)$",
    re.IGNORECASE,
)


def stated(question: str, answer: str) -> str | None:
    """What a question and its short answer say together, in the first person; None if that is not plain."""
    asked = _QUESTION.search(question[-LONGEST_QUESTION:])
    reply = answer.strip().strip(".!")
    if not asked or not reply or len(reply.split()) > MOST_WORDS or "?" in reply:
        return None
    text = _LEADS.sub("", asked[1].strip().replace("’", "'"))  # noqa: RUF001
    return _whether(text, reply) or _what(text, reply)


def is_yes(reply: str) -> bool:
    return bool(_YES.match(reply))


def is_no(reply: str) -> bool:
    return bool(_NO.match(reply))


def _what(question: str, reply: str) -> str | None:
    if _SENTENCE.match(reply):
        return None
    value = _OPEN.sub("", reply, count=1)
    if not value or _VERB.search(value) or _VAGUE.match(value) or "," in value:
        return None
    for pattern, make in _WHAT:
        if asked := pattern.search(question):
            return make(asked, value)
    return None


def _whether(question: str, reply: str) -> str | None:
    asked = _WHETHER.search(question)
    said = True if is_yes(reply) else False if is_no(reply) else None
    if not asked or said is None or len(reply.split()) > 3:  # noqa: PLR2004 - "Yes, two dogs" is more than yes
        return None
    what, not_ = asked[1].strip(), "" if said else "not "
    if _STATES.match(what) and "are you" in question.lower():
        return f"I am {not_}{what}"
    if _DEEDS.match(what) and "do you" in question.lower():
        return f"I {'' if said else 'do not '}{what if not said else what.replace('have any ', 'have ')}"
    return None


def _placed(value: str, preposition: str = "in") -> str:
    return (
        value
        if re.match(r"(?:in|at|on|near|from|for|under|behind)\b", value, re.IGNORECASE)
        else f"{preposition} {value}"
    )


def _article(value: str) -> str:
    return (
        value
        if re.match(r"(?:an?|the|in|at|for)\b", value, re.IGNORECASE)
        else f"{'an' if value[0].lower() in 'aeiou' else 'a'} {value}"
    )
