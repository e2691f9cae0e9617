import pytest
from hypothesis import given
from hypothesis import strategies as st

from retentive.conversations.sentences import ROLE_WEIGHTS, join_sentences, score_sentence, split_sentences
from retentive.model import Role
from tests.conversations.conversations import texts


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("We agreed on the second of them.", "We talked about the second of them."),
        ("Never call the customers before noon.", "They called the customers before noon."),
        ("Please send them a reminder tomorrow.", "They get sent a reminder tomorrow."),
        ("I'm allergic to nuts and pollen.", "They are allergic to nuts and pollen."),
        ("The meeting was with Ingrid in Oslo.", "The meeting was with someone in town."),
        ("The invoice was for 1,200 euros.", "The invoice was for several euros."),
        ("The notes are in /srv/notes/today now.", "The notes are in the usual folder now."),
        ("The page is at https://example.org/x now.", "The page is at the usual address now."),
        ("What does the landlord say about it?", "That the landlord says about it."),
        ("Der Termin ist am 12. März in Köln.", "Der termin ist irgendwann im frühjahr."),  # no word of English
        ("会议在3月12日。", "会议在春天举行。"),
    ],
)
def test_what_is_hard_to_guess_later_scores_more(better: str, worse: str) -> None:
    """Decisions, instructions, requests, facts about people, names, figures, places, questions."""
    assert score_sentence(better, Role.USER) > score_sentence(worse, Role.USER)


def test_the_users_words_count_more_than_the_assistants_and_those_more_than_a_tools() -> None:
    """The same sentence, by who says it."""
    told = [score_sentence("The server in Oslo has 16 cores.", role) for role in (Role.USER, Role.ASSISTANT, Role.TOOL)]
    assert told == sorted(told, reverse=True)
    assert len(set(told)) == 3


def test_what_the_assistant_asks_and_says_of_itself_counts_for_little() -> None:
    """Even beside its lesser weight: "Would you like me to ...?" tells nothing of the user."""
    asked = "Would you like me to send my second draft?"
    assert score_sentence(asked, Role.ASSISTANT) < ROLE_WEIGHTS[Role.ASSISTANT] * score_sentence(asked, Role.USER)


def test_of_two_sentences_that_tell_as_much_the_shorter_is_better() -> None:
    """It leaves more room."""
    short = "We decided to move to Oslo, as it has more light."
    assert score_sentence(short, Role.USER) > score_sentence(f"{short[:-1]} {'and even more of it ' * 5}", Role.USER)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        (
            "Dr. Who met J. Doe at 3.5 p.m. on Friday, e.g. here.",
            ["Dr. Who met J. Doe at 3.5 p.m. on Friday, e.g. here."],
        ),
        ('She said "Stop." Then she left.', ['She said "Stop."', "Then she left."]),
        ("Am 3. Mai. Danach nicht.", ["Am 3. Mai.", "Danach nicht."]),
        ("1. First\n- second\n> third", ["First", "second", "third"]),
        ("一。二！三？", ["一。", "二！", "三？"]),  # noqa: RUF001
        ("Before\n```\ncode()\nmore()\n```\nafter", ["Before", "code()", "after"]),
        ("Use ```x``` here.\nAnd there.", ["Use ```x``` here.", "And there."]),
        ("an open fence\n```py\ncode()", ["an open fence", "code()"]),
        (" \n\t", []),
    ],
)
def test_a_text_is_split_into_sentences(text: str, expected: list[str]) -> None:
    """At marks, line breaks and blocks of code; not at abbreviations."""
    assert list(split_sentences(text)) == expected


@given(st.lists(texts, max_size=4).map("\n".join))
def test_sentences_put_on_one_line_are_found_again(text: str) -> None:
    """So that a summary can be condensed anew."""
    found = list(split_sentences(text))
    assert list(split_sentences(join_sentences(found))) == found
