"""How much of a question's words a text has, by tables."""

import pytest

from retentive.search.related_words import RelatedWords, load_table, load_words


def measure_share(question: str, text: str) -> float:
    (found,) = RelatedWords(question).shares([text])
    return found


@pytest.mark.parametrize(
    ("question", "more", "less"),
    [
        # the same word
        ("what does the dog eat?", "the dog eats bones", "the car needs oil"),
        # a concept that has the word under it
        ("which foods must be avoided?", "vegetarian meals only", "the train leaves at nine"),
        ("what pets are there?", "two cats and a rabbit", "two chairs and a table"),
        ("what is the job?", "she is employed as a teacher", "she is fond of tulips"),
        # a name that no table has
        ("where is Zyxandra?", "Zyxandra lives in Porto", "Anna lives in Porto"),
        # a form of a word that no table has
        ("kubernetes clusters", "our Kubernetes cluster", "our garden"),
        # two of the words, and not one
        ("red boat", "a red boat", "a boat"),
    ],
)
def test_what_has_more_of_the_words_has_the_larger_share(question: str, more: str, less: str) -> None:
    assert measure_share(question, more) > measure_share(question, less)


def test_a_share_is_between_nothing_and_all() -> None:
    assert measure_share("the blue boat", "a blue boat") == pytest.approx(1.0)
    assert measure_share("boat", "") == 0.0
    assert measure_share("", "a blue boat") == 0.0
    assert measure_share("what is it?", "a blue boat") == 0.0


def test_the_share_of_a_text_does_not_depend_on_the_others() -> None:
    question, texts = RelatedWords("what food does she like?"), ["pasta and pizza", "", "her new bicycle", "cheese"]
    together = question.shares(texts)
    assert together == pytest.approx([question.shares([text])[0] for text in texts])


def test_rare_words_weigh_more_than_common_ones() -> None:
    assert measure_share("good sourdough", "sourdough") > measure_share("good sourdough", "good")


def test_the_table_has_unit_vectors_and_each_word_once() -> None:
    vectors, weights = load_table()
    assert len(load_words()) == len(vectors) == len(weights) > 20_000
    assert (vectors**2).sum(axis=1) == pytest.approx(1.0, abs=1e-3)
    assert 0 < weights.min() < weights.max() <= 1
