"""Join a question and its short answer to a statement: "What's your dog's name?" - "Rex."

Only questions of known forms are joined. The statement is in the first person.
"""

import re
from collections.abc import Callable

MAX_QUESTION_CHARS = 200  # at the end of a message, in which its question is looked for
MAX_ANSWER_WORDS = 7  # of a short answer; longer ones are sentences of their own

_QUESTION = re.compile(r"([^.!?\n]*)\?[^?]*$")
_YES = re.compile(r"^(?:yes|yeah|yep|yup|i do|i am|i have|correct|right|sure do|indeed)(?:[,.! ]|$)", re.IGNORECASE)
_NO = re.compile(r"^(?:no|nope|nah|not really|i don't|i do not|i'm not|i am not|i haven't)(?:[,.! ]|$)", re.IGNORECASE)
_QUESTION_LEAD_IN = re.compile(r"^(?:(?:and|so|ok|okay|great|nice|cool|also|by the way|well|oh)[,!]? )+", re.IGNORECASE)
_ANSWER_LEAD_IN = re.compile(r"^(?:(?:it|that)(?:'s| is| would be) |(?:his|her|its) name(?:'s| is) )?", re.IGNORECASE)
_FIRST_PERSON_START = re.compile(r"(?:i|i'm|my|we|our)\b", re.IGNORECASE)  # speaks for itself
_VERB_PATTERN = re.compile(
    r"\b(?:is|are|was|were|am|have|has|had|do|did|can|will|think|know|guess|depends|\w+ed|not sure|idea)\b",
    re.IGNORECASE,
)
_VAGUE_ANSWER = re.compile(
    r"^(?:what|why|who|how|none|nothing|anything|something|maybe|sure|ok|okay|yes|no|yeah|nope|thanks|hi|hello|it"
    r"|this|that|me|you|later|idk|dunno|lol|haha|good|fine|great|cool|nice)\b",
    re.IGNORECASE,
)

_ROLE_PHRASES = {
    "use": " as my {}",
    "prefer": " as {}",
    "like": " as {}",
}  # "Helix" alone does not say that it is an editor
_OPEN_QUESTIONS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], str], str]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), make)
    for pattern, make in (
        (r"what(?:'s| is| are) your ([\w' -]{2,40}?)(?: called)?$", lambda q, a: f"my {q[1]} is {a}"),
        (r"what do you call your ([\w' -]{2,30})$", lambda q, a: f"my {q[1]}'s name is {a}"),
        (r"who(?:'s| is) your ([\w' -]{2,40})$", lambda q, a: f"my {q[1]} is {a}"),
        (r"when(?:'s| is) your ([\w' -]{2,40})$", lambda q, a: f"my {q[1]} is {a}"),
        (r"where(?:'s| is) your ([\w' -]{2,40})$", lambda q, a: f"my {q[1]} is {_add_preposition(a)}"),
        (
            r"where (?:do you live|are you (?:living|based))(?: now| currently)?$",
            lambda _, a: f"I live {_add_preposition(a)}",
        ),
        (r"where (?:are|do) you (?:come )?from(?: originally)?$", lambda _, a: f"I am from {a}"),
        (r"where do you work(?: now| currently)?$", lambda _, a: f"I work {_add_preposition(a, 'at')}"),
        (r"how old are you$", lambda _, a: f"I am {a}" + (" years old" if a.isdigit() else "")),
        (r"what do you do(?: for (?:a living|work))?$", lambda _, a: f"I work as {_add_article(a)}"),
        (
            r"(?:what|which) ([\w -]{2,30}?) do you (use|prefer|speak|drive|play|like)$",
            lambda q, a: f"I {q[2]} {a}{_ROLE_PHRASES.get(q[2].lower(), '').format(q[1])}",
        ),
        (
            r"how many (kids|children|pets|dogs|cats|siblings|brothers|sisters) do you have$",
            lambda q, a: f"I have {a} {q[1]}",
        ),
    )
)
_YES_NO_QUESTION = re.compile(
    r"(?:are you|do you) (?:(?:still|currently|really|also) )*((?:[\w'-]+ ?){1,6})$", re.IGNORECASE
)
_STATE_PATTERN = re.compile(
    r"^(?:a )?(?:vegetarian|vegan|married|single|divorced|engaged|allergic to [\w ]+|left-handed|retired|religious"
    r"|diabetic|pregnant|lactose intolerant|from [\w ]+)$",
    re.IGNORECASE,
)
_ACTION_PATTERN = re.compile(
    r"^(?:have (?:any |a )?(?:kids|children|pets?|dogs?|cats?|siblings|brothers|sisters|allergies|car|garden"
    r"|driver's license)|(?:like|eat|drink|smoke|use|own|play|speak|drive|enjoy|prefer|live in"
    r"|work (?:at|in|for)) (?!it|this|that|them)[\w' ]+|smoke|drink|drive)$",
    re.IGNORECASE,
)


def join_answer(question: str, answer: str) -> str | None:
    """The statement of a question and its short answer, in the first person; None if it is not clear."""
    last = _QUESTION.search(question[-MAX_QUESTION_CHARS:])
    reply = answer.strip().strip(".!")
    if not last or not reply or len(reply.split()) > MAX_ANSWER_WORDS or "?" in reply:
        return None
    text = _QUESTION_LEAD_IN.sub("", last[1].strip().replace("’", "'"))  # noqa: RUF001
    return _join_yes_or_no(text, reply) or _join_open_answer(text, reply)


def is_yes(reply: str) -> bool:
    return bool(_YES.match(reply))


def is_no(reply: str) -> bool:
    return bool(_NO.match(reply))


def _join_open_answer(question: str, reply: str) -> str | None:
    if _FIRST_PERSON_START.match(reply):
        return None
    value = _ANSWER_LEAD_IN.sub("", reply, count=1)
    if not value or _VERB_PATTERN.search(value) or _VAGUE_ANSWER.match(value) or "," in value:
        return None
    for pattern, make_statement in _OPEN_QUESTIONS:
        if found := pattern.search(question):
            return make_statement(found, value)
    return None


def _join_yes_or_no(question: str, reply: str) -> str | None:
    found = _YES_NO_QUESTION.search(question)
    agrees = is_yes(reply)
    if not found or not (agrees or is_no(reply)) or len(reply.split()) > 3:  # noqa: PLR2004 - "Yes, two dogs" is more than yes
        return None
    predicate = found[1].strip()
    if _STATE_PATTERN.match(predicate) and "are you" in question.lower():
        return f"I am {predicate}" if agrees else f"I am not {predicate}"
    if _ACTION_PATTERN.match(predicate) and "do you" in question.lower():
        return f"I {predicate.replace('have any ', 'have ')}" if agrees else f"I do not {predicate}"
    return None


def _add_preposition(value: str, preposition: str = "in") -> str:
    has_preposition = re.match(r"(?:in|at|on|near|from|for|under|behind)\b", value, re.IGNORECASE)
    return value if has_preposition else f"{preposition} {value}"


def _add_article(value: str) -> str:
    if re.match(r"(?:an?|the|in|at|for)\b", value, re.IGNORECASE):
        return value
    return f"an {value}" if value[0].lower() in "aeiou" else f"a {value}"
