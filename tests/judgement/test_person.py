"""The change from the first person to the third, sentence by sentence."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retentive.judgement.extract.person import to_third_person, to_whole_sentence
from retentive.judgement.extract.verbs import to_plural_verb, to_singular_verb

SENTENCES = [
    ("I live in Porto with my wife", "The user lives in Porto with their wife."),
    ("I'm Anna", "The user is Anna."),
    ("I've moved to Graz!", "The user has moved to Graz."),
    ("I'll be in Rome in May", "The user will be in Rome in May."),
    ("I'd love to visit Japan", "The user would love to visit Japan."),
    ("I'd been there before", "The user had been there before."),
    ("I don't like cilantro", "The user does not like cilantro."),
    ("I can't eat gluten", "The user cannot eat gluten."),
    ("I won't work on Fridays", "The user will not work on Fridays."),
    ("I haven't started yet", "The user has not started yet."),
    ("I wasn't vegetarian as a kid", "The user was not vegetarian as a kid."),
    ("I didn't finish school", "The user did not finish school."),
    ("I was born in Sofia", "The user was born in Sofia."),
    ("I do yoga", "The user does yoga."),
    ("I go skiing in winter", "The user goes skiing in winter."),
    ("I teach maths", "The user teaches maths."),
    ("I study law", "The user studies law."),
    ("I play the cello", "The user plays the cello."),
    ("I went to Oslo", "The user went to Oslo."),
    ("I quit smoking", "The user quit smoking."),
    ("I read before bed", "The user reads before bed."),
    ("I read a book last week", "The user read a book last week."),
    ("I need new shoes", "The user needs new shoes."),
    ("I should see my doctor", "The user should see their doctor."),
    ("I gonna move", "The user is going to move."),
    ("I usually take the tram", "The user usually takes the tram."),
    ("I now video-call my parents every day", "The user now video-calls their parents every day."),
    ("I no longer eat meat", "The user no longer eats meat."),
    ("I taught myself Python", "The user taught themselves Python."),
    ("I love sushi and eat it every week", "The user loves sushi and eats it every week."),
    ("I left Canva and now run my own studio", "The user left Canva and now runs their own studio."),
    ("I canceled Chase and use Amex now", "The user canceled Chase and uses Amex now."),
    ("I enjoy food and drink", "The user enjoys food and drink."),
    ("I like to swim and run", "The user likes to swim and run."),
    ("I used to smoke but have not since May", "The user used to smoke but has not since May."),
    ("I told my boss that I was leaving", "The user told their boss that they were leaving."),
    ("I'm 30 and I'm single", "The user is 30 and they are single."),
    ("In summer I go camping", "In summer the user goes camping."),
    ("After my surgery I stopped running", "After their surgery the user stopped running."),
    ("My sister thinks I am mad", "The user's sister thinks the user is mad."),
    ("My dog sleeps in my bed", "The user's dog sleeps in the user's bed."),
    ("Jordan is my new boss", "Jordan is the user's new boss."),
    ("Jules took it over from me", "Jules took it over from the user."),
    ("That bike is mine", "That bike is the user's."),
    ("My wife and I moved to Porto", "The user and their wife moved to Porto."),
    ("Me and my brother run a bakery", "The user and their brother run a bakery."),
    ("Max and I love this trail", "The user and Max love this trail."),
    ("We got divorced", "The user got divorced."),
    ("We raised our prices", "The user raised their prices."),
    ("We're moving to Lyon", "The user is moving to Lyon."),
    ("We were teammates for years", "The user and others were teammates for years."),
    ("We're a team of five", "The user and others are a team of five."),
    ("My e-mail is me@my.org", "The user's e-mail is me@my.org."),
    ('I love "My Way" by Sinatra', 'The user loves "My Way" by Sinatra.'),
    ("I use `my_tool` daily", "The user uses `my_tool` daily."),
    ("I\u2019m from Kraków", "The user is from Kraków."),
    ("I carry my phone and wash it", "The user carries their phone and washes it."),
    ("I live in the US", "The user lives in the US."),
    ("I study World War I", "The user studies World War I."),
    ("I work in a coal mine", "The user works in a coal mine."),
    ("A friend of mine is a pilot", "A friend of the user's is a pilot."),
    ("Leo starts school in May", "Leo starts school in May."),
]


@pytest.mark.parametrize(("said", "told"), SENTENCES)
def test_a_sentence_is_told_in_the_third_person(said: str, told: str) -> None:
    """Pronouns, verbs, short forms; what is quoted stays."""
    assert to_third_person(said) == told


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I live with my cat", "Dana lives with their cat."),
        ("My cat likes me", "Dana's cat likes Dana."),
        ("In May I met my boss", "In May Dana met their boss."),
    ],
)
def test_a_speaker_with_a_name_is_called_by_it(said: str, told: str) -> None:
    """In place of "the user", with its capital wherever it stands."""
    assert to_third_person(said, "Dana") == told


@pytest.mark.parametrize(
    ("base", "one", "many"),
    [
        ("am", "is", "are"),
        ("was", "was", "were"),
        ("have", "has", "have"),
        ("watch", "watches", "watch"),
        ("fly", "flies", "fly"),
        ("buy", "buys", "buy"),
        ("need", "needs", "need"),
        ("moved", "moved", "moved"),
        ("will", "will", "will"),
    ],
)
def test_verbs_agree_with_one_or_many(base: str, one: str, many: str) -> None:
    """What is past or a modal needs no change."""
    assert (to_singular_verb(base), to_plural_verb(base)) == (one, many)


@settings(deadline=None)
@given(st.text(max_size=200))
def test_any_text_is_made_whole(text: str) -> None:
    """Nothing is raised, there is one line, and once whole it stays so."""
    assert "\n" not in to_third_person(text)
    assert to_whole_sentence(to_whole_sentence(text)) == to_whole_sentence(text)
