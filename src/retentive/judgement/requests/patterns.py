"""Patterns of requests to keep, to forget or to correct something, in English.

Each is matched against one sentence in which quotations are masked. `patterns_de_fr_es.py` has the commonest forms in
three more languages.
"""

import re

ANY_REQUEST_WORD = re.compile(
    r"remember|memor|forget|note|mind|write|jot|save|store|future|always|never|from |forward|henceforth|as of"
    r"|starting|whenever|each time|every time|delete|erase|remove|clear|wipe|drop|remind|true|the case|valid|scratch"
    r"|strike|disregard|ignore|date|longer|any ?more|learn|merk|vergiss|denk|jetzt|sofort|nun an|souviens|rappelle"
    r"|retiens|oubli|désormais|partir|recuerda|olvid|cuenta|apunta|know|fyi|information|record|log|commit|add|put|keep"
    r"|correct|mean|misspoke|typo|mistake|wrong|bad|sorry|oops|wait|make|now|actually|stop|take",
    re.IGNORECASE,
)

_FILLERS = (
    r"(?:(?:ok|okay|so|and|but|also|oh|well|hey|hi|hello|yes|yeah|no|thanks|thank you|great|cool|alright|right"
    r"|actually|by the way|btw|first|second|finally|one more thing|one thing|claude|chatgpt|assistant|just|now|then"
    r"|again|sorry|wait|hmm|for the record|quick note|important|reminder)\b[\s,;:!.\u2013\u2014-]*)*"
)
_ASKING_PHRASES = (
    r"(?:(?:please|pls|plz|kindly)[\s,]+|(?:can|could|would|will) you (?:please |also |just )*"
    r"|i(?:'d| would) (?:like|love) you to |i (?:want|need) you to (?:please )?"
    r"|you (?:should|must|can|may|need to|have to) |(?:do|make sure (?:that )?you|make sure to"
    r"|be sure to) (?:always )?(?=remember|keep|note))*"
)
_REQUEST_START = rf"{_FILLERS}{_ASKING_PHRASES}(?:please )?"
_MEMORY_NAME = r"(?:(?:your |the |long-term )*memory)"
KEEP_REQUEST = re.compile(
    rf"^{_REQUEST_START}(?P<verb>note to self|remember|memori[sz]e|note down|note|(?:keep|bear)(?: that| this"
    rf"| it)? in mind"
    r"|take note|do(?:n't|nt| not) (?:ever )?forget|never forget|(?:make|keep|take) a (?:mental )?note"
    r"|(?:write|jot)(?: this| it| that)? down|(?:save|store|log|record)(?= that\b| this:|:| the fact that\b)"
    rf"|(?:add|put|commit|save|store|write)(?: this| it| that)? (?:to|in|into) {_MEMORY_NAME}"
    r"|for (?:your |my )?(?:future reference|information)|for the record|fyi|(?:just )?so (?:that )?you know"
    r"|you (?:should|must|need to)(?: also)? know|i (?:want|need|would like|'d like) you to know)(?P<link>"
    r"(?: (?:of|about))?(?: the (?:fact|following)| (?:this|it)\b(?=\s*(?:[:,\u2013\u2014-]|that\b|[.!]*$)))?"
    r"(?:\s*(?::|-|\u2013|\u2014|,)| that)?)\s*(?P<rest>.*)$",
    re.IGNORECASE | re.DOTALL,
)
_FIRST_PERSON = r"(?:i|i'm|im|i've|we|we're|my|our)\b"
LATER_REQUEST = re.compile(  # a request after a comma or a dash
    r"[,;.\u2013\u2014-]\s*(?:(?:and|so|but|also) )*(?=(?:please (?:remember|note|keep (?:that )?in mind|don't forget"
    rf"|do not forget|never forget|forget)|(?:remember|don't forget|keep in mind|bear in mind"
    rf"|note)(?: that)? {_FIRST_PERSON}"
    rf"|forget (?:that |about )?{_FIRST_PERSON}|(?:do not forget that|don't forget that|remember that)[.!]?$))",
    re.IGNORECASE,
)
SECOND_REQUEST = re.compile(  # a second request in a sentence that begins with one
    rf" and (?:also |please |then )*(?=(?:remember|forget)(?: that| about)? {_FIRST_PERSON})", re.IGNORECASE
)
REPORTED_SPEECH = re.compile(
    r"\b(?:said|says|say|told|tells|tell|asked|asks|wrote|writes|goes|if i|what if|suppose|imagine|pretend|example"
    r"|lyrics?|song|title|sings?|quote)\b",
    re.IGNORECASE,
)
REMINDER_TO_DO = re.compile(r"^to (?P<what>(?!me\b)\w.{2,})$", re.IGNORECASE)
REMIND_ME_REQUEST = re.compile(rf"^{_REQUEST_START}remind me (?P<what>(?:to|that|about) .{{3,}})$", re.IGNORECASE)
STANDING_WORDS = re.compile(
    r"\b(?:always|never|from now on|going forward|every time|each time|whenever|in (?:the )?future"
    r"|(?:before|after|when) (?:you|committing|pushing|answering|replying))\b",
    re.IGNORECASE,
)
NO_STATEMENT = re.compile(
    r"^(?:(?:that )?(?:time|day|night|one|guy|girl|movie|film|song|book|game|summer|trip|party|place|restaurant"
    r"|episode|old|feeling|kid|photo|pic)\b|when|where|how|what|who|whom|why|which|if|whether"
    r"|me (?:to|as|for|when)\b|us\b|him\b|her\b|them\b|those\b|these\b|to\b|back\b|all those"
    r"|the (?:good|old|time|days?|first|last|name of|alamo|titans|milk)\b)",
    re.IGNORECASE,
)
FINITE_VERB = re.compile(
    r"\b(?:is|are|was|were|am|has|have|had|do|does|did|will|would|can|cannot|could|should|must|may|might"
    r"|(?:[Ii]|[Ww]e|[Yy]ou|[Tt]hey) \w+|\w+'(?:s|re|m|ve|ll|d)|\w+(?:ed|es)|(?:he|she|it|[A-Z]\w+) \w+s|lives?"
    r"|works?|likes?|loves?|hates?|prefers?|goes|means|starts?|ends?|costs?|needs?|uses?|takes?|left|moved)\b"
)
POINTER_BACK = re.compile(
    r"^(?:(?:that|this|it|about (?:that|this))(?: (?:for (?:me|later|next time|future)|please|in future|from now on"
    r"|too|forever|next time))?)?[\s.!]*$",
    re.IGNORECASE,
)
_IMPERATIVES = (
    r"(?:answer|use|write|reply|respond|call me|call us|address me|address us|start|begin|end|finish|include|add|put"
    r"|run|ask|check|format|keep (?:it|your|the|all|every|responses|answers|replies|functions|commits?|code|things)"
    r"|make (?:sure|your|the|it)|show|give me|prefer|cite|explain|translate|speak|talk|avoid|assume|treat|refer|wrap"
    r"|commit|push|test|tell me|let me know|send|remind|mention|suggest|recommend|create|delete|remove|change|modify"
    r"|touch|provide|follow|stick to|indent|name|document|log|print|return|say (?!never)|do not|don't"
    r"|do (?:not|it|this|that|a|the|so)|be (?:concise|brief|polite|honest|direct|formal|informal|casual|short"
    r"|specific|critical|kind|precise|careful)|consult|confirm|double-check|summari[sz]e|quote|sign|capitali[sz]e"
    r"|spell|convert|round|sort|verify|review|deploy|merge|rebase|squash|force|install|import|please|skip|stop"
    r"|leave out|omit|separate|limit|read|look up|search|save|store|back up|share|repeat|apologi[sz]e|interrupt|edit"
    r"|rewrite|refactor|rename|generate|comment|schedule|book|order|draft|proofread)"
)
STANDING_RULE = re.compile(
    rf"^{_REQUEST_START}(?:to )?(?P<rule>(?:always|never)\s+(?:(?:just|only|also|ever) )?{_IMPERATIVES}\b.+)$",
    re.IGNORECASE | re.DOTALL,
)
RULE_FOR_YOU = re.compile(
    r"^(?:please )?(?:you (?:should|must|need to|have to)|make sure (?:that )?(?:you|to)|be sure to"
    r"|i(?:'d| would) like you to|i want you to|i need you to) (?:always|never)\b",
    re.IGNORECASE,
)
FROM_NOW_ON = re.compile(
    rf"^{_REQUEST_START}(?P<when>from (?:now|today|this point|here) on(?:wards?)?|starting (?:now|today)|going forward"
    r"|as of now|henceforth)\s*[,:;\u2013\u2014-]?\s*(?P<rest>.+)$",
    re.IGNORECASE | re.DOTALL,
)
RULE_FROM_NOW_ON = re.compile(
    rf"^{_REQUEST_START}(?P<rule>{_IMPERATIVES}\b.+?\s(?:from (?:now|today) on|going forward|in (?:the )?future"
    rf"|every time"
    r"|each time)[\s.!]*)$",
    re.IGNORECASE | re.DOTALL,
)
WHENEVER_RULE = re.compile(
    rf"^{_REQUEST_START}(?P<rule>(?:whenever|every time|each time) (?:i|you|we)\b[^,]{{3,80}},\s*(?:please )?(?:always "
    rf"|never )?{_IMPERATIVES}\b.+)$",
    re.IGNORECASE | re.DOTALL,
)
OTHER_SUBJECT = re.compile(r"^(?:he|she|they|it|this|that|there)\b", re.IGNORECASE)

_PERSONAL_DATA = (
    r"(?:address|number|phone|e-?mail|birthday|password|notes?|memory|memories|facts?|preferences?|info(?:rmation)?"
    r"|details?|diet|allergy|job|employer|name|age)"
)
FORGET_REQUEST = re.compile(
    rf"^{_REQUEST_START}(?:forget|un-?learn|stop (?:remembering|storing|keeping)|do(?:n't|nt| not) (?:keep|store)"
    r"(?= (?:my|our) ))\s*(?P<rest>.*)$",
    re.IGNORECASE | re.DOTALL,
)
DELETE_REQUEST = re.compile(
    rf"^{_REQUEST_START}(?:delete|erase|remove|clear|wipe|drop|forget|discard) (?:(?:what(?:ever)?|everything"
    rf"|anything|all"
    r"|all that)(?: (?:that )?(?:you (?:know|have|remember|stored|saved|learned|kept)|i (?:said|told you|mentioned)"
    r"|we (?:said|discussed)))? (?:about|on|regarding)|(?:the|any|your|all) (?:memory|memories|notes?|facts?"
    r"|information|info|records?)(?: you (?:have|kept|stored))? (?:about|of|on|that say)) (?P<rest>.+)$",
    re.IGNORECASE | re.DOTALL,
)
_REMOVE_VERBS = r"(?:delete|erase|remove|wipe|drop|clear|take)"
REMOVE_FROM_MEMORY = re.compile(
    rf"^{_REQUEST_START}{_REMOVE_VERBS} (?P<rest>.+?) (?:from|out of) (?:your |the )?memor(?:y"
    rf"|ies)(?:,? please)?[\s.!?]*$",
    re.IGNORECASE | re.DOTALL,
)
REMOVE_FROM_MEMORY_THAT = re.compile(
    rf"^{_REQUEST_START}{_REMOVE_VERBS} from (?:your |the )?memory:? (?:that |the fact that )?(?P<rest>.+)$",
    re.IGNORECASE | re.DOTALL,
)
FORGETTABLE = re.compile(
    r"^(?:about )?(?:that (?=(?:i|we|my|our|the|he|she|they|[A-Z]\w+ (?:is|was|has|likes|lives|works))\b)"
    r"|(?=(?:i|we)(?: (?!said|ever|mentioned)\w+)+)|(?=(?:my|our) )"
    rf"|(?=the [\w ]{{2,30}}? (?:i|we) (?:gave|told|mentioned|said|asked))|(?=the (?:[\w-]+ ){{0,2}}{_PERSONAL_DATA}\b)"
    r"|(?:what|everything|anything|all|whatever) (?:that )?i (?:said|told you|mentioned|wrote)(?: you| earlier"
    r"| before| just now)* (?:about|on|regarding) )(?P<what>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
FORGET_LAST = re.compile(
    r"^(?:(?:about )?(?:that|this)|(?:that )?i (?:ever )?(?:said|mentioned) (?:that|this|it|anything)"
    r"|what i (?:just )?said(?: (?:before|earlier|just now))?|the last (?:one|thing|message|part)"
    r"|my last (?:message|sentence|point|statement))(?: (?:please|again))?(?:[\s.!]*$|\s*[,;\u2013\u2014-])",
    re.IGNORECASE,
)
FORGET_IDIOM = re.compile(
    r"\b(?:for (?:a|one) (?:sec|second|minute|moment|while|bit)|for now|for the moment)\b", re.IGNORECASE
)
NO_LONGER_TRUE = re.compile(
    rf"^{_FILLERS}(?:please )?(?:(?:that|this|it)(?:'s| is| isn't|'s not)(?: actually"
    r"| now)? (?:no longer (?:true|the case|valid|correct|right|accurate|current)"
    r"|(?:true|the case|valid|correct) any ?more|not (?:true|the case|valid|correct|right|accurate) any ?more"
    r"|not true now|outdated|out of date|obsolete|out-of-date)|(?:scratch|strike|disregard|ignore) that"
    r"|that (?:does not|doesn't) (?:hold|apply) any ?more)(?:[\s.!]*$|\s*[,;:\u2013\u2014-])",
    re.IGNORECASE,
)
NO_LONGER_TRUE_THAT = re.compile(
    rf"^{_FILLERS}it(?:'s| is) (?:no longer true|not true any ?more) that (?P<what>.{{3,}})$", re.IGNORECASE
)
SAID_BEFORE_IS_WRONG = re.compile(
    rf"^{_FILLERS}what i (?:said|told you) about (?P<what>.{{2,60}}?) (?:is|was) (?:no longer (?:true|valid|correct)"
    r"|not (?:true|correct|right) any ?more|outdated|wrong)[\s.!]*$",
    re.IGNORECASE,
)
_VALUE_WORDS = r"one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|noon|midnight|tomorrow|today|tonight"
_VALUE_AHEAD = (  # a number, a day, or a name
    rf"(?=(?:.*\s)?[^\w\s]*(?:\d|[A-Z]\w|(?i:{_VALUE_WORDS}|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b))"
)
_MARK = r"[\s,;:!.\u2013\u2014-]"
_CORRECTION_LEAD_IN = (
    r"(?:(?i:no|nope|oops|whoops|sorry|wait|hold on|hang on|hmm|ah|oh|actually|rather|well|ugh|ok|okay|so|and|but"
    rf"|excuse me|my (?:bad|mistake|error)|apologies)\b{_MARK}*)"
)
_ADMITTED_MISTAKE = (
    r"(?:(?:scratch|strike|disregard|ignore) that|i (?:misspoke|mistyped|was wrong)|i (?:got|had) (?:it|that) wrong"
    r"|i mixed (?:it|that|them) up|my (?:mistake|bad|error))"
)
_TEXT_MEASURES = r"(?:\w+er|more|less|lines?|words?|pages?|sentences?|px|percent)"
_PRONOUNS = r"(?:i|i'm|that|that's|this|they|he|she|we|you|there|not)"
CORRECTIONS = tuple(
    re.compile(f"^{_CORRECTION_LEAD_IN}*{pattern}$", re.DOTALL)
    for pattern in (
        r"(?i:correction|typo|erratum)\s*[,;:!.\u2013\u2014-]\s*(?P<what>\S.+)",
        rf"(?i:{_ADMITTED_MISTAKE})\s*{_MARK}+(?i:i meant? )?(?P<what>{_VALUE_AHEAD}\S.*)",
        (
            rf"(?i:i (?:actually )?meant(?: to (?:say|write|type))?) (?!(?i:what|it|that"
            rf"|every)\b)(?P<what>{_VALUE_AHEAD}\S.*)"
        ),
        rf"(?:(?<=\W)(?i:i mean) |(?i:i mean) (?=.*\bsorry\W*$))(?P<what>{_VALUE_AHEAD}\S.*)",
        (
            rf"(?i:(?:let's )?make (?:that|it)) (?P<what>{_VALUE_AHEAD}(?!.*(?:\b(?i:{_TEXT_MEASURES})\b"
            rf"|%))\S+(?: \S+){{0,4}})"
        ),
        rf"(?i:it(?:'s| is)(?: actually)?) (?P<what>{_VALUE_AHEAD}\S+(?: \S+){{0,4}}) now\W*",
        rf"(?<=\W)(?P<what>(?=\S)(?!(?i:{_PRONOUNS})\b){_VALUE_AHEAD}[^.]{{1,40}}?,? not \S.{{0,40}})",
        rf"(?<=\W)(?i:actually|rather)[\s,]+(?P<what>{_VALUE_AHEAD}\S.*)",
    )
)
APOLOGY_AFTER = re.compile(r"[\s,.]*\bsorry\W*$", re.IGNORECASE)
POLITE_QUESTION = re.compile(rf"^{_FILLERS}(?:please )?(?:can|could|would|will) you\b", re.IGNORECASE)


POINTER_START = re.compile(
    r"(?:this|it|these|those|they|that)\b", re.IGNORECASE
)  # "note that this fails": of what is before us
# "Remember, it is never too late" is advice; "Remember, I'm vegan" is a request.
ADVICE_VERBS = ("remember", "don't forget", "do not forget", "never forget")
SECOND_PERSON = re.compile(r"\byou(?:r|rself)?\b", re.IGNORECASE)
ABOUT_SENDER = re.compile(r"(?:i|we|my|our)\b(?!.*\byou\b)", re.IGNORECASE)
