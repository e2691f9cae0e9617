"""Which logged questions give away what is purged, and which have nothing to do with it."""

import pytest

from retentive.embed.tokenizer import VOCABULARY
from retentive.purge.logged_questions import extract_words, reveals_any

GIVEN_AWAY = [
    ("My sister Rosa moved to Porto", "where does rosa live?"),  # a name of four letters, in the dictionary
    ("Paul is my boss", "what is Paul like?"),  # at the beginning of the sentence
    ("my cat is called timo", "what does timo eat?"),  # in lower case, and in no dictionary
    ("Zoë has the flat below", "zoe's flat number"),  # without its accent
    ("Meeting with Anna", "annas number"),  # with an ending
    ("The PIN of the card is 4821", "is 4821 the right one?"),
    ("The PIN of the card is \uff14\uff18\uff12\uff11", "is 4821 the right one?"),  # full width
    ("Call 0170 123 4567", "whose number is 01701234567?"),
    ("The gate opens with a7x", "what is a7x for?"),
    ("我的猫叫咪咪", "咪咪几岁了?"),
    ("田中さんは大阪に住んでいる", "大阪の天気は?"),
    ("犬の名前はさくらです", "さくらは何歳?"),
    ("カメラを買った", "カメラはどこ?"),
    ("猫が好き", "猫は?"),  # a word of one sign
    ("내 고양이 이름은 나비야", "나비는 몇 살?"),
    ("แมวของฉันชื่อมะลิ", "มะลิอายุเท่าไหร่"),
    ("The team's mascot is 🦊", "why 🦊?"),
    ("We celebrate with 👩‍👧", "what does 👩 stand for"),
    ("she is allergic to peanuts", "who is allergic?"),  # uncommon words
    ("she likes green tea", "green tea?"),  # all its words
    ("she likes green tea", "does she like tea in the evening?"),  # half of its words
]

UNRELATED = [
    ("My sister Rosa moved to Porto", "what is the weather like?"),
    ("My sister Rosa moved to Porto", "what should my team do?"),
    ("she likes green tea", "who likes long walks by the river?"),  # one common word among many
    ("The user prefers short answers", "what does the user do for a living?"),
    ("I was there in week 12", "is 12 enough?"),
    ("我的猫叫咪咪", "我的电话是什么?"),
    ("犬の名前はさくらです", "会議はいつですか"),
    ("내 고양이 이름은 나비야", "회의는 언제입니까?"),
    ("The team's mascot is 🦊", "why 🐻?"),
    ("", "anything"),
    ("Rosa", ""),
    ("Rosa", "???"),
]


@pytest.mark.parametrize(("text", "question"), GIVEN_AWAY)
def test_a_question_that_gives_a_text_away_is_recognised(text: str, question: str) -> None:
    assert reveals_any(question, [extract_words("The sky is blue"), extract_words(text)])


@pytest.mark.parametrize(("text", "question"), UNRELATED)
def test_a_question_about_something_else_is_left_alone(text: str, question: str) -> None:
    assert not reveals_any(question, [extract_words(text)])


def test_a_long_text_gives_away_only_names_numbers_and_rare_words() -> None:
    """It has most of the words that any question has."""
    dictionary = VOCABULARY.read_text("utf-8").split()
    text = extract_words(" ".join(("the quuxling and", *dictionary[9_000:9_200], *dictionary[2_500:2_700])))
    assert not reveals_any(" ".join(dictionary[9_000:9_003]), [text])
    assert not reveals_any(" ".join(dictionary[2_500:2_503]), [text])
    assert reveals_any("what is a quuxling?", [text])
