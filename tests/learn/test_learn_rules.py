"""What is kept from a conversation and what is not, by examples of our own."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retentive.learn.talk.rules import extract
from retentive.model import Claim, Event, Kind, Role

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def talk(*lines: str, role: str = "user") -> list[Event]:
    """Messages, each as `text` of the user or `role: text` or `@Name: text`."""
    events = []
    for number, line in enumerate(lines, 1):
        head, colon, rest = line.partition(": ")
        if colon and head in set(Role):
            events.append(Event("default", "s", number, Role(head), None, rest, None, NOON))
        elif colon and head.startswith("@"):
            events.append(Event("default", "s", number, Role.USER, head[1:], rest, None, NOON))
        else:
            events.append(Event("default", "s", number, Role(role), None, line, None, NOON))
    return events


def kept(*lines: str) -> list[str]:
    return [claim.content for claim in extract(talk(*lines))]


def only(line: str) -> Claim:
    (claim,) = extract(talk(line))
    return claim


KEPT = [
    # who they are
    ("My name is John Smith.", "The user's name is John Smith.", Kind.PERSONAL),
    ("Hi, I'm Anna!", "The user is Anna.", Kind.PERSONAL),
    ("Call me Alex", "The user wants to be called Alex.", Kind.PERSONAL),
    ("I go by Alexandra now", "The user goes by Alexandra now.", Kind.PERSONAL),
    ("I'm 34 years old", "The user is 34 years old.", Kind.PERSONAL),
    ("I was born in Sofia.", "The user was born in Sofia.", Kind.PERSONAL),
    ("I'm originally from Kraków", "The user is originally from Kraków.", Kind.PERSONAL),
    ("My e-mail is anna@example.org", "The user's e-mail is anna@example.org.", Kind.PERSONAL),
    ("My birthday is on the 5th of May", "The user's birthday is on the 5th of May.", Kind.PERSONAL),
    ("I'm not a morning person.", "The user is not a morning person.", Kind.BACKGROUND),
    # where they live and work
    ("I live in Porto with my wife", "The user lives in Porto with their wife.", Kind.PERSONAL),
    ("Oh, by the way, I moved to Graz last month!", "The user moved to Graz last month (February 2026).", Kind.FACT),
    ("I grew up on a farm", "The user grew up on a farm.", Kind.PERSONAL),
    ("My flat is in Mitte.", "The user's flat is in Mitte.", Kind.FACT),
    ("I work at a bakery", "The user works at a bakery.", Kind.BACKGROUND),
    ("I'm a nurse.", "The user is a nurse.", Kind.BACKGROUND),
    ("I'm the head of sales at Acme", "The user is the head of sales at Acme.", Kind.BACKGROUND),
    ("I study philosophy in Leuven", "The user studies philosophy in Leuven.", Kind.BACKGROUND),
    ("I got promoted to team lead", "The user got promoted to team lead.", Kind.FACT),
    ("I was laid off in January", "The user was laid off in January 2026.", Kind.BACKGROUND),
    ("I freelance as a translator", "The user freelances as a translator.", Kind.BACKGROUND),
    ("My boss is Priya", "The user's boss is Priya.", Kind.CONTACT),
    # family and pets
    ("I have two kids", "The user has two kids.", Kind.PERSONAL),
    ("My wife works nights", "The user's wife works nights.", Kind.PERSONAL),
    ("My mom passed away last year.", "The user's mom passed away last year (2025).", Kind.PERSONAL),
    ("We got divorced", "The user got divorced.", Kind.PERSONAL),
    ("My dog Rex is a beagle", "The user's dog Rex is a beagle.", Kind.PERSONAL),
    ("We adopted a kitten named Miso", "The user adopted a kitten named Miso.", Kind.PERSONAL),
    ("My wife and I have a son", "The user and their wife have a son.", Kind.PERSONAL),
    ("I'm getting married in June", "The user is getting married in June 2026.", Kind.PERSONAL),
    # health and diet
    ("I'm allergic to peanuts", "The user is allergic to peanuts.", Kind.PERSONAL),
    ("I'm vegan.", "The user is vegan.", Kind.PERSONAL),
    ("I can't eat gluten.", "The user cannot eat gluten.", Kind.PERSONAL),
    ("I was diagnosed with ADHD last year", "The user was diagnosed with ADHD last year (2025).", Kind.PERSONAL),
    ("I don't eat pork.", "The user does not eat pork.", Kind.FACT),
    ("I take insulin twice a day", "The user takes insulin twice a day.", Kind.PERSONAL),
    # tastes
    ("I love jazz", "The user loves jazz.", Kind.PREFERENCE),
    ("I really hate cilantro!", "The user really hates cilantro.", Kind.PREFERENCE),
    ("I prefer tabs over spaces", "The user prefers tabs over spaces.", Kind.PREFERENCE),
    ("I don't like horror films", "The user does not like horror films.", Kind.PREFERENCE),
    ("I'm into climbing", "The user is into climbing.", Kind.PREFERENCE),
    ("I'm a big fan of Arsenal", "The user is a big fan of Arsenal.", Kind.PREFERENCE),
    ("My favorite color is green", "The user's favorite color is green.", Kind.PREFERENCE),
    ("Dark chocolate is my favourite", "Dark chocolate is the user's favourite.", Kind.PREFERENCE),
    ("I'd rather have short answers", "The user would rather have short answers.", Kind.PREFERENCE),
    ("I'd love to learn Japanese one day", "The user would love to learn Japanese one day.", Kind.PREFERENCE),
    # habits and tools
    ("I go to the gym three times a week.", "The user goes to the gym three times a week.", Kind.PATTERN),
    ("I usually wake up at 6am", "The user usually wakes up at 6am.", Kind.PATTERN),
    ("I never drink coffee after noon", "The user never drinks coffee after noon.", Kind.PATTERN),
    ("I use Neovim as my editor", "The user uses Neovim as their editor.", Kind.FACT),
    ("I drive an old Volvo", "The user drives an old Volvo.", Kind.FACT),
    ("I speak German and a bit of Polish", "The user speaks German and a bit of Polish.", Kind.FACT),
    ("My laptop is a ThinkPad", "The user's laptop is a ThinkPad.", Kind.FACT),
    ("I've been using Python for ten years", "The user has been using Python for ten years.", Kind.FACT),
    ("I'm learning Rust", "The user is learning Rust.", Kind.FACT),
    ("I have never had a driver's license", "The user has never had a driver's license.", Kind.FACT),
    # changes
    ("I switched from VS Code to Helix", "The user switched from VS Code to Helix.", Kind.FACT),
    ("I no longer work on Fridays", "The user no longer works on Fridays.", Kind.FACT),
    ("I don't watch sports anymore", "The user does not watch sports anymore.", Kind.FACT),
    ("I quit smoking", "The user quit smoking.", Kind.BACKGROUND),
    ("I gave up sugar six months ago", "The user gave up sugar six months ago (around September 2025).", Kind.FACT),
    ("Just moved to a bigger flat", "The user just moved to a bigger flat.", Kind.FACT),
    ("My rent went up to 1800", "The user's rent went up to 1800.", Kind.FACT),
    # plans and what happened
    ("I'm going to move to Porto in May", "The user is going to move to Porto in May 2026.", Kind.FACT),
    ("I'm planning a trip to Peru", "The user is planning a trip to Peru.", Kind.FACT),
    ("I'll be on sabbatical from September", "The user will be on sabbatical from September 2026.", Kind.FACT),
    (
        "I have an interview at Acme next Tuesday",
        "The user has an interview at Acme next Tuesday (3 March 2026).",
        Kind.FACT,
    ),
    ("I'm training for a marathon", "The user is training for a marathon.", Kind.FACT),
    (
        "Last week I ran a half marathon in Ghent",
        "Last week (week of 16 February 2026) the user ran a half marathon in Ghent.",
        Kind.BACKGROUND,
    ),
    (
        "Yesterday I signed up for a pottery class",
        "Yesterday (28 February 2026) the user signed up for a pottery class.",
        Kind.FACT,
    ),
    ("I went to a concert and it was so powerful!", "The user went to a concert.", Kind.FACT),
    # projects, decisions, outcomes
    ("The API runs on port 8080.", "The API runs on port 8080.", Kind.PROJECT),
    ("Our deadline is March 14.", "The user's deadline is March 14 2026.", Kind.PROJECT),
    ("Our stack is Django and Vue", "The user's stack is Django and Vue.", Kind.PROJECT),
    ("I'm working on a CLI tool in Go", "The user is working on a CLI tool in Go.", Kind.PROJECT),
    ("We decided to use Postgres", "The user decided to use Postgres.", Kind.DECISION),
    ("Let's go with the smaller model", "The user decided to go with the smaller model.", Kind.DECISION),
    ("Ok, let's use Redis for the cache.", "The user decided to use Redis for the cache.", Kind.DECISION),
    ("We'll use pnpm", "The user will use pnpm.", Kind.DECISION),
    ("The deploy failed because the disk was full", "The deploy failed because the disk was full.", Kind.OUTCOME),
    ("That fixed it: the variable was unset", "The fix was: the variable was unset.", Kind.OUTCOME),
    ("The root cause was a stale lock file", "The root cause was a stale lock file.", Kind.OUTCOME),
    # instructions
    ("Please always answer in British English.", "Always answer in British English.", Kind.INSTRUCTION),
    ("From now on, use metric units", "From now on, use metric units.", Kind.INSTRUCTION),
]

LEFT_OUT = [
    # questions and requests
    "Where do I live?",
    "Can you help me write a function that sorts a list?",
    "What should I cook tonight",
    "fix this bug please",
    "I need help with my essay",
    "I want you to write a poem",
    "Help me plan my week",
    "I have a question",
    "I have a list of dicts",
    "I'm getting an error when I run this",
    "I need this done now",
    "Please review the code",
    # greetings, thanks, courtesies
    "Hello there!",
    "Thanks a lot, that helps!",
    "I appreciate it",
    "Sorry, my bad",
    "Good morning",
    "I'm glad you like it",
    "I love your painting!",
    "You're the best",
    "I hope you are well",
    # what is not so
    "If I moved to Berlin I'd learn German",
    "I wish I had a cat",
    "Imagine I were rich",
    "What if I quit my job",
    "I would have stayed",
    "I'm moving to Mars, jk",
    # what passes, and what was only felt
    "I'm tired",
    "I'm on the bus right now",
    "I'm so happy today!",
    "I'm bored",
    "I just had lunch",
    "I'm off to bed",
    "I can't wait!",
    "I feel great",
    "My day was great",
    "It was amazing",
    "I had a blast",
    "I think it's great",
    "I know, right",
    "I agree with that",
    "I see",
    # what points elsewhere
    "I love this",
    "I made that",
    "She just turned 5",
    "It was in Tuscany",
    "I tried that but it didn't work",
    "I bought one last week",
    "I'm working on something complicated",
    "Let's go with option 2",
    "This one is mine",
    # what is carried, not said
    "```\nI live in Rome\n```",
    "> I live in Rome",
    "## Relevant Memories\n- The user lives in Rome. (2026-01-01)\n- I live in Rome",
    "Rolling session summary: user: I live in Rome",
    # of the world
    "The weather is nice",
    "Winters can feel long",
    "Berlin is the capital of Germany",
    "Je vis à Lyon",
    "",
]


@pytest.mark.parametrize(("said", "told", "kind"), KEPT)
def test_what_lasts_is_kept_as_a_statement_of_its_kind(said: str, told: str, kind: Kind) -> None:
    """About the user and their world, in the third person."""
    claim = only(said)
    assert (claim.content, claim.kind) == (told, kind)


@pytest.mark.parametrize("said", LEFT_OUT)
def test_what_asks_passes_or_is_not_so_is_left_out(said: str) -> None:
    """A wrong memory costs more than a missing one."""
    assert kept(said) == []


def test_the_tables_are_large_enough_to_mean_something() -> None:
    """A hundred and fifty sentences between them, beside those of the rewriting."""
    assert len(KEPT) + len(LEFT_OUT) >= 140


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I'm Anna and I work at Stripe", ["The user is Anna.", "The user works at Stripe."]),
        ("I live in Rome, but I'm from Oslo", ["The user lives in Rome.", "The user is from Oslo."]),
        ("I used to smoke but I quit in 2019", ["The user used to smoke but they quit in 2019."]),
        ("I play chess - it's so relaxing", ["The user plays chess."]),
        ("Yeah, I have a cat. How about you?", ["The user has a cat."]),
        ("My dog is a pug; he is fourteen", ["The user's dog is a pug.", "The user's dog is fourteen."]),
    ],
)
def test_a_sentence_is_cut_where_a_new_statement_begins(said: str, told: list[str]) -> None:
    """Two facts are two claims; what is no fact is dropped."""
    assert kept(said) == told


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (["My brother is a doctor.", "He just published a paper."], "The user's brother just published a paper."),
        (["I have a daughter", "She just turned 5"], "The user's daughter just turned 5."),
        (["My flat is in Mitte. It has two balconies."], "The user's flat has two balconies."),
        (["We adopted a dog named Rex", "Rex hates the vet"], "Rex hates the vet."),
        (["My kids are at camp.", "They love swimming."], "The user's kids love swimming."),
    ],
)
def test_a_pronoun_is_followed_to_what_the_sentence_before_names(lines: list[str], told: str) -> None:
    """And a name, to someone who was told of."""
    assert kept(*lines)[-1] == told


@pytest.mark.parametrize(
    "lines",
    [
        ["My brother and my cousin are doctors.", "He just published a paper."],  # two could be meant
        ["My sister is a doctor.", "He just published a paper."],  # neither could
        ["I like tea.", "She likes coffee."],
    ],
)
def test_a_pronoun_without_one_meaning_is_left_out(lines: list[str]) -> None:
    """Better nothing than a guess."""
    assert len(kept(*lines)) == 1


@pytest.mark.parametrize(
    ("question", "answer", "told"),
    [
        ("What's your dog's name?", "Rex", ["The user's dog's name is Rex."]),
        ("Great! Where do you live?", "Porto", ["The user lives in Porto."]),
        ("Where are you from?", "I'm from Chile", ["The user is from Chile."]),
        ("How old are you?", "34", ["The user is 34 years old."]),
        ("What do you do for a living?", "nurse", ["The user works as a nurse."]),
        ("What editor do you use?", "Helix.", ["The user uses Helix as their editor."]),
        ("When is your birthday?", "May 5th", ["The user's birthday is May 5th."]),
        ("Who is your manager?", "Carla", ["The user's manager is Carla."]),
        ("How many kids do you have?", "two", ["The user has two kids."]),
        ("Are you vegetarian?", "Yes", ["The user is vegetarian."]),
        ("Do you have any kids?", "no", ["The user does not have any kids."]),
        ("Do you like jazz?", "Yes, I do", ["The user likes jazz."]),
        ("What's your favorite color?", "not sure", []),
        ("What is the error?", "KeyError", []),
        ("Shall I go on?", "Yes", []),
        ("Which do you prefer?", "the first", []),
    ],
)
def test_a_short_answer_is_read_with_its_question(question: str, answer: str, told: list[str]) -> None:
    """Where the form of the question says how the statement goes; the claim names both messages."""
    claims = extract(talk(f"assistant: {question}", answer))
    assert [claim.content for claim in claims] == told
    assert all(claim.events in ((1, 2), (2,)) for claim in claims)


def test_a_joke_takes_back_what_was_said_before_it() -> None:
    """In the same message or the next."""
    assert kept("I'm moving to Mars in May. Just kidding!") == []
    assert kept("I have eleven kids", "lol jk") == []
    assert kept("I have a dog. I have eleven kids", "just kidding") == ["The user has a dog."]


def test_what_is_asked_to_be_forgotten_is_not_learned_from_the_same_talk() -> None:
    """By its words, or as what was said before; what comes after is."""
    assert kept("I live in Rome", "I love jazz", "Forget that I live in Rome") == ["The user loves jazz."]
    assert kept("I love jazz", "I live in Rome", "scratch that") == ["The user loves jazz."]
    assert kept("Forget my old address. My address is 4 Elm Street.") == ["The user's address is 4 Elm Street."]


def test_only_people_are_read() -> None:
    """Not the assistant, not tools, not the system prompt."""
    lines = [f"{role}: I live in Rome" for role in ("assistant", "tool", "system", "developer")]
    assert kept(*lines) == []


def test_several_people_are_called_by_their_names() -> None:
    """One alone is the user, named or not; names of an earlier part count."""
    events = talk("@Dana: I live in Rome", "@Omar: My cat is called Miso")
    assert [claim.content for claim in extract(events)] == ["Dana lives in Rome.", "Omar's cat is called Miso."]
    assert [claim.content for claim in extract(events[:1])] == ["The user lives in Rome."]
    assert [claim.content for claim in extract(events[:1], people=["Omar"])] == ["Dana lives in Rome."]


def test_what_people_ask_of_each_other_is_no_instruction() -> None:
    """What friends tell each other to do always is not meant for an assistant."""
    assert extract(talk("@Dana: Always use sunscreen!", "@Omar: Remember to write home")) == []


@pytest.mark.parametrize(
    ("said", "confidence"),
    [
        ("I live in Rome", 0.6),
        ("I think my flight is on Friday", 0.4),
        ("Maybe I'll move to Japan next year", 0.4),
        ("My friend said the store closes at 8pm", 0.4),
        ("I read that the bridge closes in May", 0.4),
    ],
)
def test_hedges_and_hearsay_are_less_certain(said: str, confidence: float) -> None:
    """And the statement says whose word it is."""
    assert only(said).confidence == confidence


@pytest.mark.parametrize(
    ("more", "less"),
    [
        ("I'm allergic to nuts", "I love jazz"),
        ("My name is Anna", "I love jazz"),
        ("Always answer in French", "I love jazz"),
        ("My wife is a pilot", "I drive a Volvo"),
        ("I love jazz", "I went to a concert in Ghent"),
    ],
)
def test_who_people_are_matters_more_than_what_they_like_or_did(more: str, less: str) -> None:
    """Identity, health, family and instructions before tastes, tastes before events."""
    assert only(more).importance > only(less).importance


def test_the_same_statement_is_kept_once() -> None:
    """The latest time it was said counts."""
    (claim,) = extract(talk("I live in Rome", "assistant: Nice.", "As you know, I live in Rome."))
    assert claim.events == (3,)


@pytest.mark.parametrize(
    "piece",
    [
        "it is such a ",
        "I both all really ",
        "please please ",
        "I, I, ",
        "and I am and ",
        "«",
        "' ",
        "a.a",
        "!",
        "my my ",
        "the fact that ",
    ],
)
def test_hostile_texts_take_no_longer_than_others(piece: str) -> None:
    """No pattern tries again and again: a text of 20,000 characters is read at once, or this test never ends."""
    text = piece * (20_000 // len(piece))
    extract(talk(text, f"I am {piece * (280 // len(piece))}x", f"remember that {piece * 60}x"))


_SAID = st.sampled_from([row[0] for row in KEPT] + LEFT_OUT)


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(Role), st.none() | st.text(max_size=5), st.text(max_size=120) | _SAID), max_size=8
    )
)
def test_any_conversation_can_be_read(messages: list[tuple[Role, str | None, str]]) -> None:
    """Nothing is raised; claims come from messages that are there; the same conversation gives the same claims."""
    events = [
        Event("default", "s", number, role, speaker, text, None, NOON)
        for number, (role, speaker, text) in enumerate(messages, 1)
    ]
    claims = extract(events)
    assert all({*claim.events} <= {event.sequence for event in events} and claim.events for claim in claims)
    assert all(claim.content and claim.said == NOON for claim in claims)
    assert claims == extract(events)
