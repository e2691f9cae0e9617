"""What a newer statement puts an end to."""

import json
import time
from pathlib import Path

import pytest

from retentive.learn.statements.reading import read
from retentive.learn.statements.resolve import Ground, repeats, superseded, supersedes
from retentive.learn.statements.statement import LONGEST

PAIRS = [json.loads(line) for line in (Path(__file__).parent / "pairs.jsonl").read_text("utf-8").splitlines()]
APART = [line.split(" | ") for line in (Path(__file__).parent / "apart.txt").read_text("utf-8").splitlines()]


@pytest.mark.parametrize(
    ("old", "new", "ground"),
    [
        ("My rent is 1500", "My rent went up to 1800", Ground.SLOT),  # the attribute is named
        ("I live in Sydney", "I moved to Sofia last month", Ground.SLOT),
        ("The user lives in Sydney.", "The user moved to Sofia.", Ground.SLOT),  # the third person reads alike
        ("My boss is Priya", "Priya left the company and Jordan is my new boss", Ground.SLOT),
        ("My dentist is Dr. Okafor", "My dentist is Dr. Lindqvist", Ground.SLOT),  # a title ends no sentence
        ("I play tennis", "I switched to padel", Ground.TOPIC),  # both rackets
        ("I code in VSCode", "I've fully switched to Cursor", Ground.TOPIC),
        ("I swim every morning", "I switched to yoga", Ground.AREA),  # both sports
        ("I drink coffee every morning", "I switched from coffee to green tea", Ground.WORDS),
        ("I'm a strict vegan", "I eat dairy now", Ground.WORDS),  # a vegan eats none
        ("I hate cilantro", "I've come to love cilantro", Ground.WORDS),
        ("I stopped running because of my knee", "My knee healed and I'm running again", Ground.WORDS),
        ("My friend said the store closes at 8pm", "I read on their website that they close at 9pm", Ground.WORDS),
        ("My passport expires in 2027", "My passport expires in 2029", Ground.WORDS),  # the same but for a number
        ("The user eats pork.", "The user does not eat pork.", Ground.WORDS),  # ... but for a not
        ("I work at Stripe", "I joined Figma in May", Ground.SLOT),
    ],
)
def test_a_change_ends_what_was(old: str, new: str, ground: Ground) -> None:
    """The newer statement takes the older one's place, and for this reason."""
    assert supersedes(old, new) is ground


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I love jazz", "I now also listen to classical"),  # an addition
        ("I play guitar", "I also started learning piano"),
        ("I live in Seattle", "If I moved to Portland I would miss the ocean"),  # supposed
        ("I live in Amsterdam", "I'm planning a trip to Japan"),  # planned
        ("I work as a designer", "I used to be a teacher"),  # past
        ("I love pizza", "Today I had sushi"),  # of one day
        ("I enjoy running", "My neighbor moved to Seattle"),  # another's
        ("I'm married to Elif", "My sister got divorced"),
        ("Anna lives in Rome", "Ben moved to Milan"),
        ("I live in Berlin", "My flat is in Berlin-Mitte"),  # closer
        ("I use VS Code for Python", "I switched to VS Code"),  # what is turned to
        ("I measured the door myself: it is 80 cm", "My neighbor said the door is 90 cm"),  # hearsay
        ("Room 12 is blue", "Room 13 is blue"),  # a number that is a name
        ("memory 1", "memory 2"),
        ("My laptop is a MacBook", "My laptop is slow"),  # another side of it
        ("I work at Siemens", "My cousin just joined Bosch"),
        ("I live in Porto", "The meeting was moved to Thursday"),  # not everything that moves is the user
        ("I live in Porto", "We moved to Slack"),
        ("I live in Porto", "The team is based in Berlin"),
        ("I work at Stripe", "I started working with React"),
        ("I work at Stripe", "The user joined the Python meetup"),
        ("I work at Stripe", "I joined the Green Party"),
        ("The user likes the office in Rome", "The office moved to Milan"),
        ("I have 2 meetings on Monday", "I have 3 meetings on Tuesday"),
        ("The build uses Python 3.11.", "The tests use pytest."),
        ("Project A is due in May.", "Project B is due in June."),
    ],
)
def test_doubt_keeps_both(old: str, new: str) -> None:
    """A wrong correction loses a true fact: what is not surely a change ends nothing."""
    assert supersedes(old, new) is Ground.NONE


def test_the_pairs_are_told_apart() -> None:
    """Of 400 pairs none is corrected wrongly, and at least 130 of the 170 changes are seen."""
    ended = {row["id"] for row in PAIRS if supersedes(row["p1"], row["p2"])}
    wanted = {row["id"] for row in PAIRS if row["label"] == "supersedes"}
    assert not ended - wanted
    assert len(ended & wanted) >= 130


@pytest.mark.parametrize(("one", "other"), APART)
def test_what_agents_note_of_their_work_stays_side_by_side(one: str, other: str) -> None:
    """Facts about projects, code, people and meetings, in whichever order they come."""
    assert supersedes(one, other) is supersedes(other, one) is Ground.NONE


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The API uses REST.", "The API switched to GraphQL."),
        ("The backend runs on Heroku.", "The backend was migrated to AWS."),
        ("The main database is MySQL.", "The main database is now Postgres."),
        ("The cache TTL is 60 seconds.", "The cache TTL is now 300 seconds."),
        ("The API returns XML.", "The API no longer returns XML."),
        ("The frontend is written in Vue.", "The frontend was rewritten in React."),
        ("Bob works at Meta.", "Bob now works at Google."),
        ("We deploy on Fridays.", "We no longer deploy on Fridays."),
    ],
)
def test_what_changed_in_a_project_is_corrected(old: str, new: str) -> None:
    assert supersedes(old, new)


def test_a_text_of_several_sentences_is_ended_only_as_a_whole() -> None:
    """What else it says would be lost."""
    both = "I live in Berlin. My dog is called Rex."
    assert not supersedes(both, "I moved to Paris.")
    assert supersedes(both, "I moved to Paris. My dog is called Max.")
    assert supersedes("I live in Paris.", both)
    assert not supersedes("The API requires a token.", "The API is fast. We no longer use XML.")
    assert supersedes("The standup is at 9.", "Correction! The standup is at 10.")


@pytest.mark.parametrize(
    "piece", ["I moved from a ", "1", "switch x ", "moved back from A ", "x is ", "Aa ", "a@", "my ", "x\n"]
)
def test_a_hostile_text_costs_no_time(piece: str) -> None:
    """A long one is a document and is not read; the longest statement is read in milliseconds."""
    began = time.perf_counter()
    for length in (LONGEST - 1, 100_000):
        text = (piece * length)[:length] + "z"
        assert not supersedes(text, f"{text[1:]}y")
    assert time.perf_counter() - began < 1


def test_where_only_the_area_speaks_for_it_there_must_be_one() -> None:
    """Switching to yoga ends one other sport, not one of two."""
    assert superseded("I switched to yoga", ["I swim every morning", "I live in Porto"]) == [0]
    assert superseded("I switched to yoga", ["I swim every morning", "I play tennis on Sundays"]) == []


@pytest.mark.parametrize(
    ("text", "slot"),
    [
        ("My name is Anna", "user.name"),
        ("Everyone calls me Bea", "user.name"),
        ("My dog's name is Rex", "user.dog.name"),
        ("I work at Stripe", "user.employer"),
        ("I report to Hamid", "user.boss"),
        ("I just turned thirty-five last week", "user.age"),
        ("We got divorced", "user.status"),
        ("My sister lives in Oslo", "user.sister.home"),
        ("Anna works for Siemens", "anna.employer"),
        ("My favourite colour is green", "user.favorite_color"),
        ("I no longer work at Stripe, I joined Figma", "user.employer"),
        ("My laptop is slow", None),
        ("My knees say I'm 90", None),
        ("I moved to FastAPI", None),
    ],
)
def test_a_slot_is_named_by_the_words(text: str, slot: str | None) -> None:
    """A statement fills an attribute that a person has once, or none."""
    found = read(text).slot
    assert (found.name if found else None) == slot


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("The user lives in Porto.", "The user is living in Porto.", True),
        ("The user likes strong coffee.", "The user really likes strong coffee.", True),
        ("The user likes strong coffee.", "The user does not like strong coffee.", False),
        ("The user lives in Porto.", "The user lives in Porto with two cats.", False),
        ("The user runs 5 km a day.", "The user runs 8 km a day.", False),
        ("The user's brother likes chess.", "The user likes chess.", False),
    ],
)
def test_a_paraphrase_says_no_more(old: str, new: str, same: bool) -> None:
    """The same in other words is told from what adds to it or denies it."""
    assert repeats(old, new) is same


@pytest.mark.parametrize(
    ("known", "new", "ended"),
    [
        (
            ["The user is allergic to nuts", "The user is allergic to pollen"],
            "The user is no longer allergic to pollen",
            [1],
        ),
        (["The user has a dog", "The user has a cat"], "The user no longer has a dog", [0]),
        (["Jo owns the search service", "Jo owns the auth service"], "Jo no longer owns the auth service", [1]),
        (["The API uses REST", "The API uses JWT for auth"], "The API no longer uses JWT", [1]),
        (["The user drinks tea", "The user drinks wine"], "The user stopped drinking wine", [1]),
        (["The user uses Vim at work", "The user uses Emacs at home"], "The user stopped using Vim", [0]),
        (
            ["The backend uses Redis for caching", "The backend uses Postgres for storage"],
            "The backend switched to Valkey",
            [],
        ),
        (["Anna hates meetings"], "Anna loves cheese", []),
        (["Hana hates onboarding", "Hana hates Atlas"], "Hana likes billing", []),
        (["My brother Tom works at Intel"], "My brother Ed works at AMD", []),
        (["My daughter Amy lives in Rome"], "My daughter Zoe lives in Oslo", []),
        (
            ["Anna leads billing", "Anna tests Atlas", "Bob tests Atlas"],
            "The user moved to Rome, and Anna tests Atlas",
            [],
        ),
        (["I live in Berlin"], "We moved to GitLab last year", []),
        (["I live in Berlin"], "My company moved to Munich", []),
        (["I live in Berlin"], "We moved to microservices", []),
        (["I live in Berlin"], "The user moved to a standing desk", []),
        (["I work at Shell"], "I worked at BP until 2019", []),
        (["The user is Anna.", "My email is anna@x.org"], "My new email is anna@y.org", [1]),
        (["The user's manager is Tom."], "The user's manager is based in Oslo.", []),
        (["I have two cats", "I also have a dog"], "My cat died last week", [0]),
        (["We use Postgres in prod", "We use SQLite in tests"], "We use MySQL in prod now", [0]),
        (["Fatima reviews billing since March"], "Fatima owns billing since May", []),
        (["Jo owns search", "Jo owns Atlas", "Jo deploys Atlas"], "Jo no longer owns Atlas", [1]),
    ],
)
def test_only_what_is_named_ends(known: list[str], new: str, ended: list[int]) -> None:
    """The end of one thing is not that of others of its kind, of its owner, or of its namesakes."""
    assert superseded(new, known) == ended
