"""What a question tells: tables of questions and what they are about."""

from datetime import UTC, datetime

import pytest

from retentive.model import Event, Role
from retentive.search.question import Person, index_names, parse_plainly, parse_question

NAMES = index_names(["Caroline", "Melanie Jones", "Will", "Zoë"])


@pytest.mark.parametrize(
    ("question", "meaning", "person"),
    [
        ("What did Caroline paint?", "What did paint?", Person("Caroline", None)),
        ("What is Caroline's dog called?", "What is dog called?", Person("Caroline", None)),
        # lower case is how people type
        ("what did caroline paint", "what did paint", Person("Caroline", None)),
        # one word of a name is enough, in any script
        ("Where does Jones live?", "Where does live?", Person("Melanie Jones", None)),
        ("Where does Zoë live?", "Where does live?", Person("Zoë", None)),
        # two people: nobody in particular
        ("Did Caroline meet Melanie at the lake?", "Did meet at the lake?", None),
        # a name that is also a common word is one where only a name would be capitalised
        ("Will it rain on Friday?", "Will it rain on Friday?", None),
        ("Where will the party be?", "Where will the party be?", None),
        ("Where did Will buy the car?", "Where did buy the car?", Person("Will", None)),
        # nothing else would be left
        ("Caroline?", "Caroline?", Person("Caroline", None)),
        # strangers are what is asked for
        ("Who is Gustav?", "Who is Gustav?", None),
        ("Where does the user work?", "Where does work?", Person(None, Role.USER)),
        ("what is my dog called?", "what is my dog called?", Person(None, Role.USER)),
        ("which book did you recommend?", "which book did you recommend?", Person(None, Role.ASSISTANT)),
        ("what did you recommend to me?", "what did you recommend to me?", None),
        ("What did I tell Caroline?", "What did I tell ?", None),
    ],
)
def test_a_question_tells_whom_it_is_about(question: str, meaning: str, person: Person | None) -> None:
    asked = parse_question(question, NAMES)
    assert (asked.meaning.replace(" ?", "?").replace("tell?", "tell ?"), asked.person) == (meaning, person)


def test_of_those_who_share_a_name_the_other_name_tells() -> None:
    names = index_names(["Ana Silva", "Rui Silva"])
    assert parse_question("Where does Ana Silva work?", names).person == Person("Ana Silva", None)
    assert parse_question("Where does Silva work?", names).person is None
    assert parse_question("Where do Ana and Rui Silva work?", names).person is None


def test_words_that_an_answer_should_have_are_no_names() -> None:
    asked = parse_question("Where does Caroline, the user's friend, paint?", NAMES)
    assert "caroline" in asked.words
    assert asked.content == ("friend", "paint")


def test_a_question_of_names_alone_is_looked_for_by_them() -> None:
    assert parse_question("Caroline", NAMES).content == ("caroline",)


def test_plainly_leaves_a_question_as_it_stands() -> None:
    asked = parse_plainly("What did Caroline paint?")
    assert (asked.meaning, asked.person) == ("What did Caroline paint?", None)


@pytest.mark.parametrize("question", ["", "???", "\0", "the user", "(((", "a" * 10_000])
def test_any_question_is_understood_somehow(question: str) -> None:
    assert parse_question(question, NAMES).meaning == question


def test_what_somebody_else_said_loses_by_a_role_and_gains_nothing_by_a_name() -> None:
    event = Event("n", "s", 1, Role.ASSISTANT, "Caroline", "Hi", None, datetime(2026, 1, 1, tzinfo=UTC))
    assert Person("Caroline", None).share(event) == 1
    assert Person("Will", None).share(event) == 0
    assert Person(None, Role.USER).share(event) == -1
    assert Person(None, Role.ASSISTANT).share(event) == 0
