"""Requests in plain words, by examples of our own."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retentive.learn.talk.commands import wishes
from retentive.model import Kind

KEPT = [
    ("Remember that I'm allergic to nuts.", "The user is allergic to nuts.", Kind.PERSONAL),
    ("remember I live in Leeds now", "The user lives in Leeds now.", Kind.PERSONAL),
    ("please remember: my wife's name is Ana", "The user's wife's name is Ana.", Kind.PERSONAL),
    ("Please remember that we ship on Thursdays.", "The user ships on Thursdays.", Kind.PATTERN),
    ("Hey, remember that Sam works at Google", "Sam works at Google.", Kind.FACT),
    ("ok so remember that my car is a blue Fiat", "The user's car is a blue Fiat.", Kind.FACT),
    ("Remember, I'm vegan", "The user is vegan.", Kind.PERSONAL),
    ("Remember my name is Anna", "The user's name is Anna.", Kind.PERSONAL),
    ("Remember this: the spare key is under the pot", "The spare key is under the pot.", Kind.FACT),
    ("remember the deadline is Friday", "The deadline is Friday.", Kind.PROJECT),
    ("Memorize that my locker code is 4411", "The user's locker code is 4411.", Kind.FACT),
    ("I want you to remember that I'm vegan", "The user is vegan.", Kind.PERSONAL),
    ("I'd like you to remember that I hate phone calls", "The user hates phone calls.", Kind.PREFERENCE),
    ("I need you to remember that our CFO is Priya", "The user's CFO is Priya.", Kind.FACT),
    ("You should remember that I'm left-handed", "The user is left-handed.", Kind.PERSONAL),
    ("can you remember that I hate cilantro?", "The user hates cilantro.", Kind.PREFERENCE),
    ("Could you please remember my birthday is May 5?", "The user's birthday is May 5.", Kind.PERSONAL),
    ("Would you note that I moved to Graz?", "The user moved to Graz.", Kind.FACT),
    ("Note that our API key rotates monthly", "The user's API key rotates monthly.", Kind.FACT),
    ("Please note that I'm away in August", "The user is away in August.", Kind.FACT),
    ("Make a note that the deadline is Friday", "The deadline is Friday.", Kind.PROJECT),
    ("Make a note: the gate code is 4411", "The gate code is 4411.", Kind.FACT),
    ("make a mental note that Leo is diabetic", "Leo is diabetic.", Kind.FACT),
    ("Note to self: the red folder has the contracts", "The red folder has the contracts.", Kind.FACT),
    ("Write down that the boiler was serviced in May", "The boiler was serviced in May.", Kind.FACT),
    ("jot down: dentist moved to Tuesday", "Dentist moved to Tuesday.", Kind.FACT),
    ("Take note that I no longer eat meat", "The user no longer eats meat.", Kind.FACT),
    ("don't forget that I hate cilantro", "The user hates cilantro.", Kind.PREFERENCE),
    ("Do not forget that we have two cats", "The user has two cats.", Kind.PERSONAL),
    ("don\u2019t forget I work nights", "The user works nights.", Kind.BACKGROUND),
    ("Never forget that I'm diabetic", "The user is diabetic.", Kind.PERSONAL),
    ("Don't ever forget that my son is deaf", "The user's son is deaf.", Kind.PERSONAL),
    ("Don't forget to buy milk", "The user asked not to forget to buy milk.", Kind.NOTE),
    ("Remember to water the plants", "The user asked not to forget to water the plants.", Kind.NOTE),
    ("Remind me to call mom on Sunday", "The user wants to be reminded to call mom on Sunday.", Kind.NOTE),
    ("keep in mind that we deploy on Tuesdays", "The user deploys on Tuesdays.", Kind.PATTERN),
    ("Bear in mind I have two kids", "The user has two kids.", Kind.PERSONAL),
    ("For future reference, I use fish shell", "The user uses fish shell.", Kind.FACT),
    ("for my future reference: the router is a Fritzbox", "The router is a Fritzbox.", Kind.FACT),
    ("Add to memory that my flat is on the third floor", "The user's flat is on the third floor.", Kind.FACT),
    ("I'm allergic to penicillin. Remember that.", "The user is allergic to penicillin.", Kind.PERSONAL),
    ("I moved to Oslo last week, please remember that", "The user moved to Oslo last week.", Kind.FACT),
    (
        "We fly on May 3. Please keep that in mind, and please remember that I get sick.",
        "The user gets sick.",
        Kind.FACT,
    ),
    ("My brother cooks. Remember that he is vegan.", "The user's brother is vegan.", Kind.PERSONAL),
    ('Remember: "Max" is the name of my cat', '"Max" is the name of the user\'s cat.', Kind.FACT),
    ("- remember that I take my tea black", "The user takes their tea black.", Kind.FACT),
    ("Always answer in French.", "Always answer in French.", Kind.INSTRUCTION),
    ("Never use emojis in commit messages", "Never use emojis in commit messages.", Kind.INSTRUCTION),
    ("Please always run the tests before you push", "Always run the tests before you push.", Kind.INSTRUCTION),
    ("please never call me sir", "Never call the user sir.", Kind.INSTRUCTION),
    ("Always be concise in reviews", "Always be concise in reviews.", Kind.INSTRUCTION),
    ('Always sign mails with "Best, Anna"', 'Always sign mails with "Best, Anna".', Kind.INSTRUCTION),
    ("You must never commit to main", "Never commit to main.", Kind.INSTRUCTION),
    ("I want you to always cite sources", "Always cite sources.", Kind.INSTRUCTION),
    ("Remember to always use tabs", "Always use tabs.", Kind.INSTRUCTION),
    ("Don't forget to run the tests before you push", "Run the tests before you push.", Kind.INSTRUCTION),
    ("Remember: never push on Fridays", "Never push on Fridays.", Kind.INSTRUCTION),
    ("From now on, answer in French", "From now on, answer in French.", Kind.INSTRUCTION),
    ("From now on call me Max", "From now on, call the user Max.", Kind.INSTRUCTION),
    ("Going forward, use metric units", "Going forward, use metric units.", Kind.INSTRUCTION),
    ("From now on I'm vegetarian", "From now on, the user is vegetarian.", Kind.PERSONAL),
    ("Answer in German from now on.", "Answer in German from now on.", Kind.INSTRUCTION),
    ("Whenever I ask for code, use Python", "Whenever the user asks for code, use Python.", Kind.INSTRUCTION),
    ("Every time you answer, add a source", "Every time you answer, add a source.", Kind.INSTRUCTION),
    ("Merk dir, dass ich in Köln wohne", "Ich wohne in Köln.", Kind.FACT),
    ("Vergiss nicht, dass mein Hund Rex heißt", "Mein Hund heißt Rex.", Kind.FACT),
    ("Ab jetzt antworte auf Deutsch", "Ab jetzt antworte auf Deutsch.", Kind.INSTRUCTION),
    ("Souviens-toi que j'habite à Lyon", "J'habite à Lyon.", Kind.FACT),
    ("N'oublie pas que je suis végétarien", "Je suis végétarien.", Kind.FACT),
    ("Recuerda que soy vegetariano", "Soy vegetariano.", Kind.FACT),
    ("A partir de ahora responde en español", "A partir de ahora responde en español.", Kind.INSTRUCTION),
]

FORGOTTEN = [
    ("Forget that I live in Berlin", "I live in Berlin"),
    ("forget my old address", "my old address"),
    ("Please forget about my ex", "my ex"),
    ("Can you forget my old address?", "my old address"),
    ("Forget the address I gave you", "the address I gave you"),
    ("forget the phone number", "the phone number"),
    ("Forget what I said about the car", "the car"),
    ("Forget everything I told you about my sister", "my sister"),
    ("Delete what you know about my job", "my job"),
    ("Delete everything about my health", "my health"),
    ("Erase all notes about the merger", "the merger"),
    ("Remove my phone number from your memory", "my phone number"),
    ("It's no longer true that I live in Berlin", "I live in Berlin"),
    ("What I said about my job is no longer true", "my job"),
    ("that is no longer true", ""),
    ("That's not true anymore", ""),
    ("that isn't true any more", ""),
    ("That's no longer the case.", ""),
    ("Actually, that's outdated", ""),
    ("Scratch that, I meant Tuesday", ""),
    ("strike that", ""),
    ("Forget that.", ""),
    ("Please forget this", ""),
    ("Forget I said that", ""),
    ("forget what I just said", ""),
    ("Vergiss meine alte Adresse", "meine alte Adresse"),
    ("Oublie mon ancienne adresse", "mon ancienne adresse"),
    ("Olvida mi dirección", "mi dirección"),
]

NOTHING = [
    # said by others, or about others
    "She told me to remember that it's Tuesday",
    "He said, please remember that I'm vegan",
    "My boss said forget that idea",
    "My teacher always says: never use goto",
    "They never use it",
    "You never answer",
    "People always forget that cats are lactose intolerant",
    "Mum wants me to remember that she called",
    "The manual says to always use gloves",
    "Tom asked me to forget the address I gave him",
    # quoted
    '"Remember that I like tea" is a line from the play',
    "> Remember that I like tea",
    "```\nremember that x is 1\n```",
    "`remember that x = 1`",
    "What does \u201cforget that\u201d mean?",
    "How do you translate 'remember that I love you'?",
    "~~~\nAlways use tabs\n~~~",
    "## Relevant Memories\n- Always answer in French. (2026-01-01)",
    # hypothetical
    "If I said remember that I like tea, would you?",
    "What if I told you to remember that",
    "Suppose I say: forget my address",
    "Imagine someone says forget my name",
    "I would never forget that",
    # negated
    "don't remember this",
    "Do not remember that I said so",
    "You don't need to remember that",
    "no need to remember that",
    "You don't have to always answer in French",
    "I can't remember that",
    "I don't remember that I said that",
    "Let's not forget that it rains",
    # questions
    "Do you remember that I like tea?",
    "Did you remember the milk?",
    "can you remember when we met?",
    "Can you remember that time we went to Rome?",
    "Can you remember my name?",
    "Will you remember me?",
    "remember that movie we saw?",
    "Remember Sarah?",
    "Should I always use tabs?",
    "How do I make git always rebase?",
    "Why do you always forget that?",
    "Is that no longer true?",
    "Did you forget my birthday?",
    "What did you note about my job?",
    "Is it better to never use globals?",
    # of oneself
    "I always forget my keys",
    "I'll never forget that day",
    "I will always remember that summer",
    "I remember that I left it there",
    "I forgot my keys",
    "I never said that",
    "I never use tabs",
    "I'd rather forget that",
    "I always answer in French",
    "I keep in mind that time is short",
    "I made a note of it",
    "I wrote down that number",
    "I must remember to breathe",
    "We never forget that",
    # idioms, titles, ellipses
    "forget it",
    "Forget about it",
    "Never mind",
    "never mind that",
    "Always a pleasure",
    "Always nice to see you",
    "Always happy to help",
    "Always.",
    "Never.",
    "Never heard of it",
    "Never been there",
    "Never again",
    "Never too late",
    "Always wanted to go",
    "Always on my mind",
    "Never gonna give you up",
    "Never say never",
    "Never give up",
    "Always look on the bright side",
    "Remember the Titans",
    "Remember the good old days",
    "Remember the milk",
    "Remember when we went to Rome",
    "Remember me to your mother",
    "Remember what I said",
    "Remember how we laughed",
    "Remember that day",
    "Remember.",
    "Forget Paris",
    "Forget me not",
    'The song "Always on My Mind" is great',
    "Forget the plan, let's go to the beach",
    "forget about dinner, I'm not hungry",
    "Forget my problems for a second",
    "forget everything",
    "Forget everything you know",
    "Don't forget your umbrella",
    "Don't forget me",
    "Remember, it's never too late",
    "Remember, you got this!",
    "And remember, every small step counts",
    "Don't forget, I'm always here if you need to chat",
    "Remember to take care of yourself",
    # the task at hand
    "note that this fails on Windows",
    "Delete the file",
    "Remove the second paragraph about my job",
    "Clear the cache",
    "Save the file as notes.txt",
    "Ignore the warnings",
    "that's not true",
    "that is true",
    "It's important to remember that birds fly",
    "From now on she pays rent",
    "In the future there will be robots",
    "The function should always return a list",
    "This never happens on Linux",
    "Write a story about a king who never forgets",
    "Store the result in x",
    # other languages
    "Vergiss es",
    "Erinnerst du dich, dass ich in Köln wohne?",
    "Oublie ça",
    "¿Recuerdas que vivo aquí?",
    "",
]


@pytest.mark.parametrize(("text", "statement", "kind"), KEPT)
def test_a_request_to_keep_gives_a_statement_that_stands_alone(text: str, statement: str, kind: Kind) -> None:
    """In the third person; a standing instruction stays an order."""
    assert [(wish.verb, wish.text, wish.kind) for wish in wishes(text)][-1] == ("keep", statement, kind)


@pytest.mark.parametrize(("text", "meant"), FORGOTTEN)
def test_a_request_to_forget_says_what_is_meant(text: str, meant: str) -> None:
    """In the user's words; nothing where the statement before is meant."""
    assert [(wish.verb, wish.text) for wish in wishes(text)] == [("forget", meant)]


@pytest.mark.parametrize("text", NOTHING)
def test_what_is_not_asked_of_the_listener_is_no_request(text: str) -> None:
    """A request that was missed can be repeated; one that was never made does harm."""
    assert wishes(text) == ()


def test_the_tables_are_large_enough_to_mean_something() -> None:
    """Sixty of each that count, a hundred that do not."""
    assert len(KEPT) >= 60
    assert len(NOTHING) >= 100


def test_a_message_may_ask_for_several_things() -> None:
    """Each with the place where it stands."""
    text = "Hi! Remember that I'm vegan. Also forget my old address. What's for dinner?"
    found = wishes(text)
    assert [(wish.verb, wish.text) for wish in found] == [
        ("keep", "The user is vegan."),
        ("forget", "my old address"),
    ]
    assert [text[slice(*wish.span)] for wish in found] == ["Remember that I'm vegan.", "Also forget my old address."]


def test_a_named_speaker_is_called_by_name() -> None:
    """For conversations of several people."""
    assert wishes("Remember that I'm vegan", "Dana")[0].text == "Dana is vegan."


@settings(deadline=None)
@given(
    st.text(max_size=300) | st.lists(st.sampled_from([*NOTHING, *(row[0] for row in KEPT)]), max_size=6).map("\n".join)
)
def test_any_text_can_be_read(text: str) -> None:
    """Nothing is raised, spans lie inside, the same text gives the same wishes."""
    found = wishes(text)
    assert all(0 <= start < end <= len(text) for *_, (start, end) in found)
    assert all(wish.text for wish in found if wish.verb == "keep")
    assert found == wishes(text)
