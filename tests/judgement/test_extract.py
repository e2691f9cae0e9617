"""What is kept of a conversation: which sentences may be worth it, which the judges choose, how they are rendered."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retentive.embed import Embedder, open_embedder
from retentive.judgement import Correction
from retentive.judgement.extract.candidates import find_candidates
from retentive.judgement.extract.choose import choose_claims
from retentive.model import Claim, Event, Kind, Role

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def model(model_cache: Path) -> Embedder:
    found = open_embedder("minilm", cache=model_cache, model_path=None, threads=1, download=False, wait=0)
    assert found is not None
    return found


def talk(*lines: str) -> list[Event]:
    """Messages, each as `text` of the user or `role: text` or `@Name: text`."""
    events = []
    for number, line in enumerate(lines, 1):
        head, colon, rest = line.partition(": ")
        if colon and head in set(Role):
            events.append(Event("default", "s", number, Role(head), None, rest, None, NOON))
        elif colon and head.startswith("@"):
            events.append(Event("default", "s", number, Role.USER, head[1:], rest, None, NOON))
        else:
            events.append(Event("default", "s", number, Role.USER, None, line, None, NOON))
    return events


def choose(model: Embedder | None, events: Sequence[Event], corrections: Sequence[Correction] = ()) -> list[Claim]:
    """The claims that are kept whatever is known."""
    candidates = find_candidates(events)
    vectors: Any = [*model.embed([each.said for each in candidates])] if model and candidates else None
    return [claim for claim in choose_claims(candidates, vectors, corrections) if not claim.is_tentative]


def contents(model: Embedder, *lines: str) -> list[str]:
    return [claim.content for claim in choose(model, talk(*lines))]


WORTH_KEEPING = [
    # who they are
    ("My name is John Smith.", "The user's name is John Smith."),
    ("Call me Alex", "The user wants to be called Alex."),
    ("I'm 34 years old", "The user is 34 years old."),
    ("I was born in Sofia.", "The user was born in Sofia."),
    ("My e-mail is anna@example.org", "The user's e-mail is anna@example.org."),
    ("My birthday is on the 5th of May", "The user's birthday is on the 5th of May."),
    # where they live and work
    ("I live in Porto with my wife", "The user lives in Porto with their wife."),
    ("Oh, by the way, I moved to Graz last month!", "The user moved to Graz last month (February 2026)."),
    ("I grew up on a farm", "The user grew up on a farm."),
    ("I work at a bakery", "The user works at a bakery."),
    ("I'm a nurse.", "The user is a nurse."),
    ("I'm the head of sales at Acme", "The user is the head of sales at Acme."),
    ("I study philosophy in Leuven", "The user studies philosophy in Leuven."),
    ("I was laid off in January", "The user was laid off in January 2026."),
    ("My boss is Priya", "The user's boss is Priya."),
    # family, pets, health
    ("I have two kids", "The user has two kids."),
    ("My wife works nights", "The user's wife works nights."),
    ("My mom passed away last year.", "The user's mom passed away last year (2025)."),
    ("My dog Rex is a beagle", "The user's dog Rex is a beagle."),
    ("My wife and I have a son", "The user and their wife have a son."),
    ("I'm getting married in June", "The user is getting married in June 2026."),
    ("I'm allergic to peanuts", "The user is allergic to peanuts."),
    ("I'm vegan.", "The user is vegan."),
    ("I can't eat gluten.", "The user cannot eat gluten."),
    ("I was diagnosed with ADHD last year", "The user was diagnosed with ADHD last year (2025)."),
    ("I take insulin twice a day", "The user takes insulin twice a day."),
    # tastes, habits, tools
    ("I prefer tabs over spaces", "The user prefers tabs over spaces."),
    ("I don't like horror films", "The user does not like horror films."),
    ("My favorite color is green", "The user's favorite color is green."),
    ("I go to the gym three times a week.", "The user goes to the gym three times a week."),
    ("I usually wake up at 6am", "The user usually wakes up at 6am."),
    ("I use Neovim as my editor", "The user uses Neovim as their editor."),
    ("I drive an old Volvo", "The user drives an old Volvo."),
    ("I speak German and a bit of Polish", "The user speaks German and a bit of Polish."),
    ("My laptop is a ThinkPad", "The user's laptop is a ThinkPad."),
    ("I've been using Python for ten years", "The user has been using Python for ten years."),
    # changes
    ("I switched from VS Code to Helix", "The user switched from VS Code to Helix."),
    ("I no longer work on Fridays", "The user no longer works on Fridays."),
    ("I quit smoking", "The user quit smoking."),
    ("My rent went up to 1800", "The user's rent went up to 1800."),
    # plans and projects: a team speaks for itself
    ("I'll be on sabbatical from September", "The user will be on sabbatical from September 2026."),
    ("The API runs on port 8080.", "The API runs on port 8080."),
    ("Our deadline is March 14.", "Our deadline is March 14 2026."),
    ("Our stack is Django and Vue", "Our stack is Django and Vue."),
    ("We decided to use Postgres", "We decided to use Postgres."),
    ("we're on Python 3.12 here", "We are on Python 3.12 here."),
    ("the design doc is at docs/design.md", "The design doc is at docs/design.md."),
    ("admin panel deploys to netlify", "Admin panel deploys to netlify."),
    # quoted titles stay, nobody is lost
    (
        'I read "Avalanche" by Neal Stephenson every winter',
        'The user reads "Avalanche" by Neal Stephenson every winter.',
    ),
    ("My girlfriend and I go fishing every Sunday", "The user and their girlfriend go fishing every Sunday."),
]

PASSING = [
    "Where do I live?",
    "When can the migration of the orders table go live, and who has to approve the deploy?",
    "what podcasts for 9 hours",
    "Can you help me write a function that sorts a list?",
    "fix this bug please",
    "I need help with my essay",
    "I have a question",
    "I'm getting an error when I run this",
    "Please review the code",
    "make line 5 shorter",
    "the smoke test times out",
    "Hello there!",
    "Thanks a lot, that helps!",
    "Sorry, my bad",
    "I'm glad you like it",
    "You're the best",
    "If I moved to Berlin I'd learn German",
    "I wish I had a cat",
    "What if I quit my job",
    "I would have stayed",
    "I'm tired",
    "I'm on the bus right now",
    "I'm so happy today!",
    "I just had lunch",
    "I feel great",
    "It was amazing",
    "I know, right",
    "I agree with that",
    "I love this",
    "She just turned 5",
    "I tried that but it didn't work",
    "Let's go with option 2",
    "```\nI live in Rome\n```",
    "> I live in Rome",
    "## Relevant Memories\n- The user lives in Rome. (2026-01-01)\n- I live in Rome",
    "Rolling session summary: user: I live in Rome",
    "The weather is nice",
    "",
]


@pytest.mark.parametrize(("said", "content"), WORTH_KEEPING)
def test_what_lasts_is_kept_as_a_statement_that_stands_alone(model: Embedder, said: str, content: str) -> None:
    assert contents(model, said) == [content]


@pytest.mark.parametrize("said", PASSING)
def test_what_asks_passes_or_is_not_so_is_left_out(model: Embedder, said: str) -> None:
    assert contents(model, said) == []


@pytest.mark.parametrize(
    "said",
    [
        "use pnpm, not npm",
        "don't touch the legacy folder",
        "stop adding comments everywhere",
        "no, use snake_case for json keys",
        "pin every docker image by digest pls, no tags",
    ],
)
def test_standing_orders_are_instructions(model: Embedder, said: str) -> None:
    (claim,) = choose(model, talk(said))
    assert claim.kind is Kind.INSTRUCTION
    assert claim.importance > 5


@pytest.mark.parametrize("said", ["don't touch line 5", "redo the clock init", "leave it for now"])
def test_orders_for_now_are_not_kept(model: Embedder, said: str) -> None:
    assert contents(model, said) == []


@pytest.mark.parametrize(
    ("said", "personal"),
    [
        ("my dog is called Rex", True),
        ("I have two kids and live in Graz", True),
        ("the API listens on port 8080", False),
        ("our staging server is at https://staging.example.com", False),
    ],
)
def test_whom_it_is_about_is_judged(model: Embedder, said: str, personal: bool) -> None:
    (claim,) = choose(model, talk(said))
    assert (claim.personal >= 0.5) is personal


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("I'm Anna and I work at Stripe", ["The user is Anna.", "The user works at Stripe."]),
        ("I live in Rome, but I'm from Oslo", ["The user lives in Rome.", "The user is from Oslo."]),
        ("my cat is 14. what food is best for her kidneys?", ["The user's cat is 14."]),
        ("my son has celiac disease, can you suggest a cake?", ["The user's son has celiac disease."]),
    ],
)
def test_a_message_is_cut_where_a_new_statement_begins(model: Embedder, said: str, expected: list[str]) -> None:
    """Two facts are two claims; questions and requests are dropped. Small letters begin sentences, too."""
    assert contents(model, said) == expected


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["My brother is a doctor.", "He lives in Ghent."], "my brother lives in Ghent."),
        (["My flat is in Mitte. It has two balconies."], "my flat has two balconies."),
        (["My kids are at camp.", "They love swimming."], "my kids love swimming."),
    ],
)
def test_a_pronoun_is_followed_to_what_the_sentence_before_names(lines: list[str], expected: str) -> None:
    assert find_candidates(talk(*lines))[-1].said == expected


@pytest.mark.parametrize(
    "lines",
    [
        ["My brother and my cousin are doctors.", "He lives in Ghent."],  # two could be meant
        ["My sister is a doctor.", "He lives in Ghent."],  # neither could
        ["I like tea.", "She likes coffee."],
    ],
)
def test_a_pronoun_without_one_meaning_is_left_out(lines: list[str]) -> None:
    """Better nothing than a guess."""
    assert [each.event.sequence for each in find_candidates(talk(*lines))] == [1]


@pytest.mark.parametrize(
    ("question", "answer", "expected"),
    [
        ("What's your dog's name?", "Rex", ["The user's dog's name is Rex."]),
        ("Great! Where do you live?", "Porto", ["The user lives in Porto."]),
        ("How old are you?", "34", ["The user is 34 years old."]),
        ("What editor do you use?", "Helix.", ["The user uses Helix as their editor."]),
        ("Who is your manager?", "Carla", ["The user's manager is Carla."]),
        ("Are you vegetarian?", "Yes", ["The user is vegetarian."]),
        ("Do you have any kids?", "no", ["The user does not have any kids."]),
        ("What's your favorite color?", "not sure", []),
        ("What is the error?", "KeyError", []),
        ("Shall I go on?", "Yes", []),
    ],
)
def test_a_short_answer_is_read_with_its_question(
    model: Embedder, question: str, answer: str, expected: list[str]
) -> None:
    """Where the form of the question says how the statement goes; the claim names both messages."""
    claims = choose(model, talk(f"assistant: {question}", answer))
    assert [claim.content for claim in claims] == expected
    assert all(claim.events in ((1, 2), (2,)) for claim in claims)


def test_a_joke_takes_back_what_was_said_before_it(model: Embedder) -> None:
    """In the same message or the next."""
    assert contents(model, "I have eleven kids. Just kidding!") == []
    assert contents(model, "I have eleven kids", "lol jk") == []


def test_what_is_asked_to_be_forgotten_is_not_learned_from_the_same_talk(model: Embedder) -> None:
    """By its words, or as what was said before; what comes after is."""
    assert contents(model, "I have a cat", "I live in Rome", "Forget that I live in Rome") == ["The user has a cat."]
    assert contents(model, "I have a cat", "I live in Rome", "scratch that") == ["The user has a cat."]


def test_what_is_corrected_later_is_kept_however_passing_it_seems(model: Embedder) -> None:
    """Nobody corrects what does not matter."""
    said = talk("florist arrives 9", "no, I meant 10")
    assert [claim.content for claim in choose(model, said, [Correction(2, "10")])] == ["Florist arrives 9."]


def test_only_people_are_read(model: Embedder) -> None:
    """Not the assistant, not tools, not the system prompt."""
    lines = [f"{role}: I live in Rome" for role in ("assistant", "tool", "system", "developer")]
    assert contents(model, *lines) == []


def test_several_people_are_called_by_their_names() -> None:
    """One alone is the user, named or not."""
    events = talk("@Dana: I live in Rome with my two kids", "@Omar: My cat is called Miso")
    assert [each.speaker for each in find_candidates(events)] == ["Dana", "Omar"]
    assert [each.speaker for each in find_candidates(events[:1])] == ["The user"]
    assert [each.speaker for each in find_candidates(events[:1], people=["Omar"])] == ["Dana"]


def test_the_same_statement_is_kept_once(model: Embedder) -> None:
    """The latest time it was said counts."""
    (claim,) = choose(model, talk("I live in Rome", "assistant: Nice.", "As you know, I live in Rome."))
    assert claim.events == (3,)


def test_without_vectors_the_form_decides() -> None:
    """With another embedder, or none, less is kept; but the plainest statements are."""
    assert [claim.content for claim in choose(None, talk("I live in Porto with my wife"))] == [
        "The user lives in Porto with their wife."
    ]
    assert choose(None, talk("Thanks a lot, that helps!")) == []


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
    ],
)
def test_hostile_texts_take_no_longer_than_others(piece: str) -> None:
    """No pattern tries again and again: a text of 20,000 characters is read at once, or this test never ends."""
    text = piece * (20_000 // len(piece))
    choose(None, talk(text, f"I am {piece * (280 // len(piece))}x", f"remember that {piece * 60}x"))


_SAID = st.sampled_from([row[0] for row in WORTH_KEEPING] + PASSING)


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
    claims = choose(None, events)
    assert all({*claim.events} <= {event.sequence for event in events} and claim.events for claim in claims)
    assert all(claim.content and claim.said == NOON for claim in claims)
    assert claims == choose(None, events)
