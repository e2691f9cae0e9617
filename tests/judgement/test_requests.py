"""Requests in plain words, by examples of our own."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retentive.judgement.requests.find_requests import find_requests
from retentive.model import Kind

KEPT = [
    ("Remember that I'm allergic to nuts.", "The user is allergic to nuts.", Kind.FACT),
    ("remember I live in Leeds now", "The user lives in Leeds now.", Kind.FACT),
    ("please remember: my wife's name is Ana", "The user's wife's name is Ana.", Kind.FACT),
    ("Please remember that we ship on Thursdays.", "We ship on Thursdays.", Kind.PATTERN),
    ("Hey, remember that Sam works at Google", "Sam works at Google.", Kind.FACT),
    ("ok so remember that my car is a blue Fiat", "The user's car is a blue Fiat.", Kind.FACT),
    ("Remember, I'm vegan", "The user is vegan.", Kind.FACT),
    ("Remember my name is Anna", "The user's name is Anna.", Kind.FACT),
    ("Remember this: the spare key is under the pot", "The spare key is under the pot.", Kind.FACT),
    ("remember the deadline is Friday", "The deadline is Friday.", Kind.FACT),
    ("Memorize that my locker code is 4411", "The user's locker code is 4411.", Kind.FACT),
    ("I want you to remember that I'm vegan", "The user is vegan.", Kind.FACT),
    ("I'd like you to remember that I hate phone calls", "The user hates phone calls.", Kind.PREFERENCE),
    ("I need you to remember that our CFO is Priya", "Our CFO is Priya.", Kind.FACT),
    ("You should remember that I'm left-handed", "The user is left-handed.", Kind.FACT),
    ("can you remember that I hate cilantro?", "The user hates cilantro.", Kind.PREFERENCE),
    ("Could you please remember my birthday is May 5?", "The user's birthday is May 5.", Kind.FACT),
    ("Would you note that I moved to Graz?", "The user moved to Graz.", Kind.FACT),
    ("Note that our API key rotates monthly", "Our API key rotates monthly.", Kind.FACT),
    ("Please note that I'm away in August", "The user is away in August.", Kind.FACT),
    ("Make a note that the deadline is Friday", "The deadline is Friday.", Kind.FACT),
    ("Make a note: the gate code is 4411", "The gate code is 4411.", Kind.FACT),
    ("make a mental note that Leo is diabetic", "Leo is diabetic.", Kind.FACT),
    ("Note to self: the red folder has the contracts", "The red folder has the contracts.", Kind.FACT),
    ("Write down that the boiler was serviced in May", "The boiler was serviced in May.", Kind.FACT),
    ("jot down: dentist moved to Tuesday", "Dentist moved to Tuesday.", Kind.FACT),
    ("Take note that I no longer eat meat", "The user no longer eats meat.", Kind.FACT),
    ("don't forget that I hate cilantro", "The user hates cilantro.", Kind.PREFERENCE),
    ("Do not forget that we have two cats", "We have two cats.", Kind.FACT),
    ("don\u2019t forget I work nights", "The user works nights.", Kind.FACT),
    ("Never forget that I'm diabetic", "The user is diabetic.", Kind.FACT),
    ("Don't ever forget that my son is deaf", "The user's son is deaf.", Kind.FACT),
    ("Don't forget to buy milk", "The user asked not to forget to buy milk.", Kind.NOTE),
    ("Remember to water the plants", "The user asked not to forget to water the plants.", Kind.NOTE),
    ("Remind me to call mom on Sunday", "The user wants to be reminded to call mom on Sunday.", Kind.NOTE),
    ("keep in mind that we deploy on Tuesdays", "We deploy on Tuesdays.", Kind.PATTERN),
    ("Bear in mind I have two kids", "The user has two kids.", Kind.FACT),
    ("For future reference, I use fish shell", "The user uses fish shell.", Kind.FACT),
    ("for my future reference: the router is a Fritzbox", "The router is a Fritzbox.", Kind.FACT),
    ("Add to memory that my flat is on the third floor", "The user's flat is on the third floor.", Kind.FACT),
    ("I'm allergic to penicillin. Remember that.", "The user is allergic to penicillin.", Kind.FACT),
    ("I moved to Oslo last week, please remember that", "The user moved to Oslo last week.", Kind.FACT),
    (
        "We fly on May 3. Please keep that in mind, and please remember that I get sick.",
        "The user gets sick.",
        Kind.FACT,
    ),
    ("My brother cooks. Remember that he is vegan.", "The user's brother is vegan.", Kind.FACT),
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
    ("From now on I'm vegetarian", "From now on, the user is vegetarian.", Kind.FACT),
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
    ("strike that", ""),
    ("Forget that.", ""),
    ("Please forget this", ""),
    ("Forget I said that", ""),
    ("forget what I just said", ""),
    ("Vergiss meine alte Adresse", "meine alte Adresse"),
    ("Oublie mon ancienne adresse", "mon ancienne adresse"),
    ("Olvida mi dirección", "mi dirección"),
]

ASKED = [
    # keep, anywhere in a message
    ("I'm in Porto this week. Just so you know, I'm vegan.", [("keep", "The user is vegan.")]),
    ("just so you know I work nights", [("keep", "The user works nights.")]),
    ("FYI my new number is 555-0199", [("keep", "The user's new number is 555-0199.")]),
    ("FYI: the gate code is 4411", [("keep", "The gate code is 4411.")]),
    ("Put this in your memory: my blood type is A+", [("keep", "The user's blood type is A+.")]),
    ("put in your memory that I drive a Skoda", [("keep", "The user drives a Skoda.")]),
    ("Add to your memory: I have a cat named Miso", [("keep", "The user has a cat named Miso.")]),
    ("Add this to your memory: I run on Sundays", [("keep", "The user runs on Sundays.")]),
    ("You should know that I'm colour-blind", [("keep", "The user is colour-blind.")]),
    ("you should know my son has asthma", [("keep", "The user's son has asthma.")]),
    ("btw remember I hate olives", [("keep", "The user hates olives.")]),
    ("Save this: my locker is 212", [("keep", "The user's locker is 212.")]),
    ("Store this: our wifi is called Nest", [("keep", "Our wifi is called Nest.")]),
    ("please memorise that I'm allergic to latex", [("keep", "The user is allergic to latex.")]),
    ("For the record, I don't eat pork", [("keep", "The user does not eat pork.")]),
    ("Log this: I ran 10 km today", [("keep", "The user ran 10 km today.")]),
    ("Jot down that the dentist is on Tuesday", [("keep", "The dentist is on Tuesday.")]),
    ("Jot this down: the plumber is called Ed", [("keep", "The plumber is called Ed.")]),
    ("Commit to memory that I take my coffee black", [("keep", "The user takes their coffee black.")]),
    ("Commit this to memory: my locker is 7", [("keep", "The user's locker is 7.")]),
    ("Make a note of this: the boiler is 12 years old", [("keep", "The boiler is 12 years old.")]),
    ("Keep this in mind: I can't eat gluten", [("keep", "The user cannot eat gluten.")]),
    ("dont forget that im vegan", [("keep", "The user is vegan.")]),
    ("For your information, I live in Leeds", [("keep", "The user lives in Leeds.")]),
    ("Let the record show that I'm left-handed", []),
    ("Keep a note that my bike is a Trek", [("keep", "The user's bike is a Trek.")]),
    ("Record that our CFO is Priya", [("keep", "Our CFO is Priya.")]),
    ("Please save that I prefer window seats", [("keep", "The user prefers window seats.")]),
    ("Please store the fact that I have a peanut allergy", [("keep", "The user has a peanut allergy.")]),
    ("I want you to know that I'm deaf in one ear", [("keep", "The user is deaf in one ear.")]),
    ("What's a good pasta dish - and remember I'm coeliac", [("keep", "The user is coeliac.")]),
    ("Book a table for two, remember that I'm vegan", [("keep", "The user is vegan.")]),
    ("Find me a hotel — keep in mind that I use a wheelchair", [("keep", "The user uses a wheelchair.")]),
    (
        "My sister is Eva. Please forget my old address. And remember that I live in Kiel.",
        [("forget", "my old address"), ("keep", "The user lives in Kiel.")],
    ),
    ("Remember that I'm vegan and forget that I eat fish", [("keep", "The user is vegan."), ("forget", "I eat fish")]),
    # forget
    ("You can forget my old phone number", [("forget", "my old phone number")]),
    ("Stop remembering my birthday", [("forget", "my birthday")]),
    ("Please erase what you know about my ex", [("forget", "my ex")]),
    ("wipe everything you have on my health", [("forget", "my health")]),
    ("Don't keep my address", [("forget", "my address")]),
    ("Remove from your memory that I smoke", [("forget", "I smoke")]),
    ("remove my job from your memory please", [("forget", "my job")]),
    ("Take my address out of your memory", [("forget", "my address")]),
    ("Delete my address from memory", [("forget", "my address")]),
    ("Erase my birthday from your memory, please.", [("forget", "my birthday")]),
    ("please delete the memory about my ex-wife", [("forget", "my ex-wife")]),
    ("I'd like you to forget that I smoke", [("forget", "I smoke")]),
    ("you may forget about my diet", [("forget", "my diet")]),
    ("That is not correct any more", [("forget", "")]),
    ("Clear everything you remember about Tom", [("forget", "Tom")]),
    # correct
    ("No, I meant 14 May", [("correct", "14 May")]),
    ("Correction: the meeting is at 4 pm", [("correct", "the meeting is at 4 pm")]),
    ("scratch that, it's Tuesday", [("correct", "it's Tuesday")]),
    ("Scratch that.", [("forget", "")]),
    ("It's Friday now", [("correct", "Friday")]),
    ("Sorry, 15 not 50", [("correct", "15 not 50")]),
    ("sorry, Thursday, not Tuesday", [("correct", "Thursday, not Tuesday")]),
    ("Wait, actually it's in room 12", [("correct", "it's in room 12")]),
    ("Make that 6 pm", [("correct", "6 pm")]),
    ("I misspoke, it's Graz", [("correct", "it's Graz")]),
    ("typo: Meier with ei", [("correct", "Meier with ei")]),
    ("Oops, I meant Lisbon", [("correct", "Lisbon")]),
    ("I mean the 12th, sorry", [("correct", "the 12th")]),
    ("My flight is on 13 May. Sorry, I meant 14 May.", [("correct", "14 May")]),
    ("Actually, make it 8 people", [("correct", "8 people")]),
    ("I was wrong, her name is Lena", [("correct", "her name is Lena")]),
    ("No wait, it's 7 not 8", [("correct", "it's 7 not 8")]),
    ("I meant to say Wednesday", [("correct", "Wednesday")]),
    ("My mistake, it was Rome", [("correct", "it was Rome")]),
    # none
    ("She told me to remember that it's Tuesday", []),
    ("Do you remember that I'm vegan?", []),
    ("What do you have on my health?", []),
    ("I should know that", []),
    ("You should know better", []),
    ("Sorry, I'm late", []),
    ("Sorry, not today", []),
    ("Wait, what?", []),
    ("wait, actually that's great", []),
    ("I meant well", []),
    ("I mean, it's fine", []),
    ("Make that function faster", []),
    ("Make it shorter", []),
    ("Make that clear", []),
    ("Fix the typo: it says teh", []),
    ("Log in to the server", []),
    ("log this function's arguments", []),
    ("Save this file", []),
    ("Save this as a PDF", []),
    ("Don't keep me waiting", []),
    ("It's late now", []),
    ("It's fine now", []),
    ("Stop remembering the past and move on", []),
    ("You can forget it", []),
    ("wipe the disk", []),
    ("Erase the second line", []),
    ("Record a video of my talk", []),
    ("FYI", []),
    ("If I say remember that I'm vegan, what happens?", []),
    ("My teacher made me remember that Rome fell in 476", []),
    ("I can forget my keys anywhere", []),
    ("Correction tape is on the desk", []),
    ("No, I meant what I said", []),
    ("No, thanks", []),
    ("He texted me: remember that I'm vegan", []),
    ("This is the letter:\n\nRemember that I'm your uncle.\nForget my old address.", []),
    ("Store this in a variable", []),
    ("For the record, vinyl sounds better than CD?", []),
    ("I was wrong", []),
    ("No, I'm not", []),
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
    assert [(request.verb, request.text, request.kind) for request in find_requests(text)][-1] == (
        "keep",
        statement,
        kind,
    )


@pytest.mark.parametrize(("text", "meant"), FORGOTTEN)
def test_a_request_to_forget_says_what_is_meant(text: str, meant: str) -> None:
    """In the user's words; nothing where the statement before is meant."""
    assert [(request.verb, request.text) for request in find_requests(text)] == [("forget", meant)]


@pytest.mark.parametrize(("text", "requests"), ASKED)
def test_requests_are_found_anywhere_in_a_message(text: str, requests: list[tuple[str, str]]) -> None:
    """To keep, to forget and to correct, in the phrasings people use; and none where nothing is asked."""
    assert [(request.verb, request.text) for request in find_requests(text)] == requests


@pytest.mark.parametrize(
    ("text", "is_doubtful"),
    [
        ("Forget my old address.", False),
        ("Forget my old address. " + "I had a long day and I walked the dog. " * 30, True),  # long
        ("Forget my old address.\n\n> Is it true that you moved away last year, as they say?", True),  # mostly quoted
        ("Remember that I'm vegan. " + "I had a long day and I walked the dog. " * 30, False),  # keeping does no harm
    ],
)
def test_a_request_to_forget_is_doubtful_in_long_or_pasted_text(text: str, is_doubtful: bool) -> None:
    """The user is asked before anything is forgotten."""
    assert [request.doubtful for request in find_requests(text)] == [is_doubtful]


@pytest.mark.parametrize("text", NOTHING)
def test_what_is_not_asked_of_the_listener_is_no_request(text: str) -> None:
    """A request that was missed can be repeated; one that was never made does harm."""
    assert find_requests(text) == ()


def test_the_tables_are_large_enough_to_mean_something() -> None:
    """Sixty of each that count, a hundred that do not."""
    assert len(KEPT) >= 60
    assert len(NOTHING) >= 100


def test_a_message_may_ask_for_several_things() -> None:
    """Each with the place where it stands."""
    text = "Hi! Remember that I'm vegan. Also forget my old address. What's for dinner?"
    found = find_requests(text)
    assert [(request.verb, request.text) for request in found] == [
        ("keep", "The user is vegan."),
        ("forget", "my old address"),
    ]
    assert [text[slice(*request.span)] for request in found] == [
        "Remember that I'm vegan.",
        "Also forget my old address.",
    ]


def test_a_named_speaker_is_called_by_name() -> None:
    """For conversations of several people."""
    assert find_requests("Remember that I'm vegan", "Dana")[0].text == "Dana is vegan."


@settings(deadline=None)
@given(
    st.text(max_size=300) | st.lists(st.sampled_from([*NOTHING, *(row[0] for row in KEPT)]), max_size=6).map("\n".join)
)
def test_any_text_can_be_read(text: str) -> None:
    """Nothing is raised, spans lie inside, the same text gives the same requests."""
    found = find_requests(text)
    assert all(0 <= start < end <= len(text) for start, end in (request.span for request in found))
    assert all(request.text for request in found if request.verb == "keep")
    assert found == find_requests(text)
