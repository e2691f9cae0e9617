"""The words that the rules of learning know, and whether a text has any that tell something. English."""

import re

LEAST_CONTENT = 3  # letters of a word that tells something


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


KIN = (
    r"wife|husband|spouse|partner|girlfriend|boyfriend|fianc[eé]e?|mother|mom|mum|father|dad|parents?|son|sons"
    r"|daughters?|kids?|child|children|baby|toddler|brothers?|sisters?|siblings?|twins?"
    r"|grand(?:ma|pa|mother|father|parents?|son|daughter|kids)|granny|aunt|uncle|cousins?|nieces?|nephews?|family"
    r"|in-laws?|(?:mother|father|sister|brother)-in-law"
)
PETS = r"dogs?|cats?|pup|puppy|puppies|kittens?|pets?|parrot|rabbit|bunny|hamster|guinea pigs?|turtles?|horse|snake"
PEOPLE = (
    r"boss|manager|colleagues?|coworkers?|team|teammates?|coach|mentor|friends?|best friend|neighbou?rs?|roommates?"
    r"|flatmates?|landlord|landlady|doctor|dentist|therapist|cardiologist|lawyer|teacher|professor|trainer|assistant"
    r"|accountant|psychiatrist|nanny|babysitter|client|supervisor|advisor|ex"
)
STATES = (  # of a person, that last
    r"allergic|vegetarian|vegan|pescatarian|married|single|divorced|engaged|pregnant|widowed|diabetic|intolerant"
    r"|lactose|gluten|celiac|left-handed|colou?r-?blind|deaf|blind|retired|unemployed|self-employed|born|sober"
    r"|trans\w*|gay|bisexual|lesbian|queer|jewish|muslim|christian|catholic|buddhist|hindu|atheist|from"
    r"|(?:\d+|[a-z]+ty(?:-\w+)?) years old|\d{1,3}$|called|named|a strict \w+|italian|french|german|british"
    r"|american|canadian|australian|indian|chinese|japanese|portuguese|spanish|brazilian|mexican|dutch|swedish"
    r"|polish|irish|scottish|turkish|korean|vietnamese|nigerian|bulgarian|greek|russian|ukrainian"
)
LEANINGS = (
    r"interested in|passionate about|keen on|into|fond of|afraid of|scared of|terrified of|obsessed with|addicted to"
    r"|a (?:big |huge |massive )?fan of|a (?:big|huge|massive|real) [\w ]{2,25} fan|drawn to|fascinated by"
    r"|tired of|good at|bad at|terrible at|hooked on|crazy about"
)
ROLES = (
    r"a|an|the|on (?:windows|macos|a mac|linux|ubuntu|debian|fedora|arch|android|ios)|part of|one of|head of"
    r"|in charge|fluent|bilingual|based|responsible for|certified|licensed|trained"
    r"|on (?:the|a|an|my) [\w ]*(?:team|board|committee|diet|retreat|trip|medication|waiting list|waitlist|visa"
    r"|sabbatical)|on (?:\w+ leave|leave|sabbatical|vacation|holiday|medication)|at (?:university|college|school)"
    r"|back (?:from|in|at)|in (?:a band|a relationship|my|school|college|therapy|the|finance|tech|sales|marketing"
    r"|[a-z]+ school)|team lead|self-taught|promoted|hired|fired|laid off|accepted|admitted|elected|diagnosed|raised"
    r"|awarded|nominated|invited|due|done with|scheduled|\w+ (?:at|in) (?:work|home|school|summer|winter"
    r"|the mornings?)"
)
HEALTH = (
    r"allerg\w*|diabet\w*|asthma\w*|c(?:o)?eliac|lactose|gluten|intoleran\w*|medications?|insulin|diagnos\w*"
    r"|epilep\w*|pregnan\w*|cancer|surgery|blood (?:type|pressure|sugar)|depression|anxiety|adhd|autis\w*|vegan"
    r"|vegetarian|pescatarian|kosher|halal|disab\w*|injur\w*|chronic|arthritis|migraines?|sober|\w+ blood"
)
EVALUATIONS = (
    r"great|good|nice|awesome|amazing|cool|fun|funny|wonderful|fantastic|incredible|lovely|beautiful|gorgeous"
    r"|stunning|perfect|special|important|inspir\w+|powerful|tough|hard|rough|easy|exciting|excited|thrill\w+"
    r"|rewarding|satisfying|fulfilling|relaxing|peaceful|calming|refreshing|magical|memorable|unforgettable"
    r"|emotional|helpful|supportive|happy|sad|proud|grateful|thankful|glad|blast|joy|joyful|blessed|lucky|crazy|wild"
    r"|weird|strange|scary|challeng\w+|frustrat\w+|disappoint\w+|interesting|fascinating|impress\w+|touching"
    r"|heartwarming|worth|worthwhile|delicious|yummy|tasty|cute|adorable|sweet|kind|bad|terrible|awful|horrible"
    r"|stressful|exhaust\w+|overwhelm\w+|intense|insane|epic|unreal|breathtaking|enjoyable|therapeutic|comforting"
    r"|meaningful|eye-opening|motivat\w+|encourag\w+|uplifting|huge|big|real|fine|ok|okay|busy|nervous|confident"
    r"|connected|alive|free|journey|ride|experience|feeling|treat|pleasure|time|times|moment|moments|reminder"
    r"|difference|sense|way|lot|thing|things|stuff|bit|success|hit|dream|progress|adventures?|win|excitement|points?"
    r"|causes?|plunge|challenges?|memories|voice|score|options?|empower\w+|captivat\w+|better|worse|best|well|ready"
    r"|true|same|different|possible|sure|right|wrong|close|dear|much|many|fuel\w*|crucial|key|positive|negative"
)
SMALL = _set(
    "a an the my our your his her its their me us him them it i we he she they this that these those there here and"
    " or but so to of in on at for with from by as is are was were be been am do did does have has had not no yes"
    " very really just also too again now then up out off over about into back more most some any all lot lots much"
    " many something anything everything nothing someone everyone one ones thing things stuff such both each other"
    " another own still even ever never always only quite pretty super totally definitely absolutely how what when"
    " where why who which if because while get got getting go going went come came make made making take took taking"
    " lately recently today yesterday bit little few couple around same way time times place places trip event"
    " events usual new old people person often usually once twice sometimes rarely somewhere two three four five six"
    " seven eight nine ten since"
)

TIME = (
    r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|may|june|july|august|september"
    r"|october|november|december|tomorrow|tonight|next (?:week|month|year|summer|spring|fall|autumn|winter|weekend)"
    r"|(?:19|20)\d\d|until|till|by the end|in (?:a|two|three|four|five|six|\d+) (?:days?|weeks?|months?|years?)"
    r"|\d{1,2}(?:st|nd|rd|th)|at \d{1,2}(?::\d\d)?(?:\s?[ap]m)?|\d{1,2}\s?[ap]m"
    r"|this (?:summer|fall|autumn|winter|spring|weekend|month|year|week))"
)

TASTE = _set("like love enjoy prefer hate dislike adore loathe detest favor favour appreciate despise")
HOME = _set("live reside rent relocated settled emigrated immigrated grew")
WORK = _set(
    "work worked joined freelance teach taught manage managed lead led run ran study studied retired graduated"
    " founded majored interned left quit resigned coach mentor volunteer volunteered own enrolled pivoted"
)
HABITS = _set(
    "owe use drive own play speak wear eat drink collect volunteer practise practice read write watch run cook bake"
    " cycle have bike walk commute take see go visit call video-call sleep hold weigh subscribe pay keep back fly"
    " ski deliver meditate listen code journal lift do make consume attend follow train coach teach mentor sing"
    " dance paint draw garden hike swim climb surf belong support work live study manage lead invest save earn rent"
    " share co-own host travel camp order shop exercise jog knit sew photograph program develop build design avoid"
    " fast smoke vape stream exclusively suffer identify recreate meet celebrate spend bring prepare pray worship"
    " vote donate sell grow"
)
VAGUE = _set(
    "go take make do keep get have see use bring spend hold meet share give set try write create build"
)  # tell nothing without what comes after
PLANNED = _set(
    "move start join marry retire attend visit travel fly present defend launch open begin study adopt quit leave"
    " switch meet celebrate host graduate compete perform participate apply enroll enrol train teach undergo return"
    " volunteer speak exhibit publish release"
)
WISHED = _set(
    "learn visit become move travel start buy run lose quit retire study live open write own build adopt create"
    " publish volunteer join teach work explore try save climb see go pursue make organize organise improve take get"
    " set give expand continue"
)
PROGRESSIVE = _set(
    "thinking migrating upgrading rewriting working living studying learning training planning moving taking"
    " writing building avoiding preparing saving applying considering dating covering visiting house-sitting"
    " teaching volunteering reading recovering expecting starting switching hosting organizing organising attending"
    " joining launching opening leaving flying travelling traveling developing practicing practising collecting"
    " getting running composing designing renovating raising managing leading freelancing interning majoring"
    " pursuing remodeling restoring growing eating cutting playing seeing creating exploring researching looking"
    " going participating trying using coaching mentoring experimenting performing competing painting cooking"
    " improving baking throwing setting meeting celebrating"
)
VAGUE_ING = _set(
    "feeling trying thinking doing having going looking getting putting staring searching wondering wanting"
)
WANTING = _set("want plan intend aim aspire dream hope wanted")
MENTAL = _set(
    "think know guess hope feel mean see agree understand believe bet wonder imagine suppose wish remember need"
    " want try look say tell find get keep have learn wait"
)
CHANGES = _set("switched moved stopped quit gave started began became left joined got bought sold lost")
PROMISED = _set("see let keep try talk call check do send tell")  # "I will call on Monday" is said to the other one
SAME_PAST = _set("quit read cut put set hit shut split")
PARTICIPLES = {  # and the past that is known by the same rules
    "taken": "took", "written": "wrote", "given": "gave", "grown": "grew", "begun": "began", "become": "became",
    "run": "ran", "come": "came", "done": "did", "gone": "went", "seen": "saw", "gotten": "got", "chosen": "chose",
    "broken": "broke", "fallen": "fell", "eaten": "ate", "driven": "drove", "flown": "flew", "spoken": "spoke",
    "worn": "wore", "ridden": "rode", "sung": "sang", "swum": "swam", "known": "knew", "shown": "showed",
}  # fmt: skip
# What was thought, felt or said, and the small change of a task at hand, is no event that anyone looks for later.
UNTOLD = _set(
    "thought felt knew meant said told guessed wanted hoped forgot heard noticed wondered realized realised figured"
    " needed loved liked enjoyed appreciated asked looked seemed remembered believed understood tried let kept saw"
    " added pasted attached copied clicked typed checked tested opened saved followed replied responded answered"
    " mentioned got had did managed used happened supposed expected imagined preferred hated talked chatted laughed"
    " cried smiled helped caught stayed woke sat stood stuck put set hit cut dropped turned ended missed deserved"
    " supported shared pushed gave brought came"
)
# Of those, what tells something with the right words after it.
TOLD_WITH = {
    "turned": r"\d+|thirty|forty|fifty|sixty|twenty|down",
    "gave": r"up|birth|my|a (?:talk|speech|presentation|concert|lecture)",
    "set": r"up (?:a|my|an|the)|a (?:new )?(?:record|goal)",
    "put": r"(?:my|our) \w+ (?:on|up)|off",
    "cut": r"out|down|back|ties",
    "hit": r"(?:my|a) (?:goal|milestone|target|record)|\d+",
    "used": r"to",
    "tried": r"(?:out )?(?:a new|\w+ing\b|[\w-]+ (?:for the first time|recently|last))",
    "dropped": r"out",
    "ended": r"(?:my|our|things)",
    "missed": r"(?:my|our) \w+",
    "helped": r"(?:\w+ ){0,3}(?:organi[sz]e|build|move|set up|renovate|find|start|launch|raise)|out at",
    "stayed": r"(?:in|at|with)",
    "caught": r"a \w+|covid|the flu",
    "saw": r"(?:my|a|an|the|two|some) ",
    "came": r"out (?:to|as)|back from|from|in (?:first|second|third)|across (?:a|an) ",
    "shared": r"(?:my|our) \w+ (?:with|at|to|about)",
    "brought": r"(?:home )?(?:a|an|my|our) \w+",
    "talked": r"(?:to|with) (?:my|our|a|the) ",
    "managed": r"(?:the|a) ",
    **dict.fromkeys(("loved", "liked", "enjoyed", "hated"), r"(?:(?:reading|watching|playing) )?[\"\u201c]"),
    "heard": r"from (?:my|the)",
    "made": r"(?!sure\b|it\b|me\b|us\b)\w",
    "had": (
        r"(?:(?:\w+ )?(?:pain|headaches?|covid)|a|an|my|our|two|three|some|only|sushi|surgery"
        r"|to (?:quit|cancel|sell|move|stop|give up|take (?:a|time|my)))\b"
    ),
    "did": r"(?:a|an|my|our|some|have) ",
    "got": (
        r"married|divorced|engaged|separated|promoted|hired|fired|laid off|accepted|admitted|diagnosed|pregnant"
        r"|sober|rejected|certified|licensed|into|a|an|my|our|two|three|back from|tickets|the job|the offer|some"
        r"|hold of|invited"
    ),
}

_EVALUATION = re.compile(rf"\b(?:{EVALUATIONS})\b")
_WHEN = re.compile(
    rf"\b(?:{TIME}|weeks?|months?|years?|days?|hours?|minutes?|mornings?|evenings?|nights?|ago|last|few|couple|every"
    r"|daily|weekly)\b"
)
_WORD = re.compile(r"[\w'-]+")


def is_concrete(text: str) -> bool:
    """Is there a word in it that says something, beside how it felt?"""
    found = _WORD.findall(_EVALUATION.sub(" ", text))
    return any(word[0].isdigit() or (len(word) >= LEAST_CONTENT and word not in SMALL) for word in found)


def is_told(text: str) -> bool:
    """The same, beside when and how often."""
    return is_concrete(_WHEN.sub(" ", text))
