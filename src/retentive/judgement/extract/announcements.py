"""Patterns of words and layout that announce somebody else's text, for `quoted_text.py`.

A pattern sees one line, or the part of a sentence before a colon. All are rules of form: verbs that ask for work on a
text, nouns for kinds of text, mail headers, names with a colon. The patterns are wide: a wrong match loses a statement,
but a missed one lets a stranger write into the memory.
"""

import re

_TEXT_KINDS = (
    r"(?:e-?mails?|mails?|messages?|dms?|sms|letters?|texts?|articles?|posts?|drafts?|bios?|reviews?|poems?|poetry"
    r"|lyrics?|songs?|verses?|transcripts?|logs?|code|essays?|story|stories|novels?|paragraphs?|comments?|tweets?"
    r"|reports?|cvs?|r[eé]sum[eé]s?|chats?|conversations?|threads?|snippets?|excerpts?|extracts?|quot(?:e|ation)s?"
    r"|passages?|sentences?|documents?|docs?|speech|abstracts?|profile|ads?|listing|outputs?|results?|responses?"
    r"|forms?|surveys?|home ?pages?|dotfiles?|changelog"
    r"|repl(?:y|ies)|scripts?|dialogues?|scenes?|chapters?|pages?|website|blogs?|newsletter|statement|terms|contract"
    r"|notes|minutes|recipe|prompts?|data|json|ya?ml|csv|table|file|contents?|captions?|headlines?|testimonials?"
    r"|interviews?|entry|entries|announcement|release|descriptions?|sections?|stanzas?|memo|invitation|voicemail"
    r"|grammar|spelling|wording|punctuation|subtitles?|monologue|joke|summary|wiki|readme|diff|stack ?trace|traceback"
    r"|error|nachricht|brief|artikel"
    r"|courriel|lettre|texte|correo|carta|mensaje|texto)"
)
_POINTERS = (
    r"(?:this|these|(?:the )?following|below|above|attached|diese[rsn]?|folgende[rsn]?|ce(?:tte|t|s)?|suivant[es]*"
    r"|est[eao]s?|siguiente)\b(?! (?:week|month|year|morning|evening|afternoon|summer|winter|spring|autumn|weekend"
    r"|time|is my))"
)
_TEXT_WORK = (  # asks for work on a text, whatever comes after it
    r"(?:translate|proof-?read|summari[sz]e|sum up|re-?write|re-?phrase|paraphrase|shorten|condense|simplify|polish"
    r"|re-?word|spell-?check|(?:reply|respond|react) to|answer(?= (?:this|these|the|to|her|his|their|him)\b|\s*:)"
    r"|explain|critique|classify|categori[sz]e|annotate|analy[sz]e|extract|transcribe|continue|expand on"
    r"|comment on|what do(?:es)? (?:you|this|that|it|he|she) (?:think (?:of|about)|mean)|(?:thoughts|feedback"
    r"|opinions?|take) (?:on|about)|how (?:should|do|would|can) i (?:reply|respond|answer)|übersetz\w*|fasse?"
    r"|korrigiere?|verbessere?|traduis\w*|traduire|résume\w*|corrige\w*|traduce\w*|traducir|resume|resumir)"
)
_POSSIBLE_TEXT_WORK = (  # asks for it where the sentence also points at a text
    r"(?:make|turn|convert|fix|check|edit|correct|improve|complete|finish|read|rate|review|format|describe|label|is"
    r"|are|does|did|use|using|given|based on|consider|look at|evaluate|assess|interpret|parse|debug|judge|score|mark"
    r"|here(?:'s| is| are)|this is|these are|that's|see|got|received|found|wrote|saw|heard|came across|copied|pasted?"
    r"|forwarded|attached|sent|getting|quote|play|sing|recite|regarding|know|seen|think|start(?:s|ed)? with|context"
    r"|write|draft|compose|create|generate|give me|tell me|rework|adapt|clean up|tidy|tighten|restructure|reformat"
    r"|respond|reply|answer|compare|identify|find|count|list|spot|detect|grade|tag|highlight|underline|help me)"
)
_CREATION_VERBS = r"(?:write|draft|compose|generate)"

SPEECH_LEAD = re.compile(
    r"\b(?:wrote|writes|writing|says|said|saying|texted|texts|posted|posts|replied|replies|tweeted|answered|commented"
    r"|responded|e-?mailed|messaged|pinged|dm'?e?d|sent|told|goes|reads|states|stated|shouted|whispered|sang|sings"
    r"|dictated|announced|quoted|asked|asks|schrieb|schreibt|sagte?|meinte?|écrit|a dit|dit|dijo|dice|escribió)\b"
    r"[^.!?:]{0,60}$",
    re.IGNORECASE,
)
OWN_SPEECH_LEAD = re.compile(
    r"\b(?:like|as) i\b[^:]*$|\bi (?:just |already )?(?:said|told you|asked you)\b", re.IGNORECASE
)
OWN_REQUEST = re.compile(
    r"\b(?:remember|memori[sz]e|memory|(?:mental |a |please )note|mind|forget|(?:write|jot) (?:this|it|that)? ?down"
    r"|save this|store this|log this|record this|fyi|rules?(?= (?:for|of|in|when))|conventions?|preferences?"
    r"|(?:my|our) (?:setup|stack|schedule)"
    r"|when(?:ever)? you)\b",
    re.IGNORECASE,
)
OWN_CONTEXT = re.compile(r"\W*(?:context|background|setup|stack)\s?: (?=(?:i|we|my|our|i'm|we're)\b)", re.IGNORECASE)
COLON_LEAD = re.compile(
    rf"\b{_TEXT_WORK}\b|\b{_POSSIBLE_TEXT_WORK}\b.*?\b(?:{_POINTERS}|{_TEXT_KINDS})\b|^\W*{_POINTERS}|^(?:please "
    rf"|can you |now )*{_CREATION_VERBS}\b"
    rf"|\bhere (?:it is|you go|they are|we go)\b|\bhere(?:'s| is) what (?!i\b|we\b)|^\W*(?!my\b"
    rf"|our\b)[\w ]*'s [\w -]+$|^\W*(?:the |my )?(?:original |full |source )?{_TEXT_KINDS}$"
    r"|^\W*(?:\w+ ){0,3}(?:results?|outputs?|response|observation|stdout|stderr|tool|context|transcript)$",
    re.IGNORECASE,
)
LINE_LEAD = re.compile(
    rf"\b{_TEXT_WORK}\b.*?\b(?:{_POINTERS}|{_TEXT_KINDS})\b|\b{_POSSIBLE_TEXT_WORK}\b.*?\b{_POINTERS}|^\W*(?:{_POINTERS}).*\b{_TEXT_KINDS}\b"
    r"|^\W*(?:any )?(?:thoughts|opinions?|feedback|what do you think|is (?:this|it) (?:ok|legit|true|a scam)"
    r"|tl;?dr)\W*$"
    rf"|\bhere(?:'s| is| are) (?:\S+ ){{0,6}}?{_TEXT_KINDS}\b|^\W*(?:an? |the |some )?(?:\w+ )?{_TEXT_KINDS} (?:from"
    rf"|by|of|in"
    rf"|on)\b|\bhow (?:should|do|would|can) i (?:reply|respond|answer)\b",
    re.IGNORECASE,
)
ORDER_ABOUT_TEXT = re.compile(
    rf"^\W*(?:please |can you |could you |now |so |hey )*{_TEXT_WORK}\b.*\b(?:{_POINTERS}|{_TEXT_KINDS})\b",
    re.IGNORECASE,
)
LETTER = re.compile(
    r"\s*(?:dear|to all|attention) (?!assistant|claude|chatgpt|gpt|ai\b|bot\b)[\w.' ]{2,40},\s+\S", re.IGNORECASE
)
HEADING = re.compile(r"\s*#{1,6} \S|\s*(?:search )?results? for\b.*")
ORDER_AND_TEXT = re.compile(  # "proofread this I has ...", "Which mistakes are in this sentence? I am ..."
    rf"^\W*(?:please |can you |could you |now |so |hey )*(?:{_TEXT_WORK} (?:this|these"
    rf"|the following)(?: {_TEXT_KINDS})?"
    rf"|[^\n?:]{{0,60}}\b(?:this|the following) {_TEXT_KINDS}\b[^\n?:]{{0,30}}[?:])\s+(?P<text>(?=(?:I|My|We|Our"
    rf"|my)\b)[^\n]+)",
    re.MULTILINE,
)
ORDER_START = re.compile(
    rf"^\W*(?:please |can you |could you |would you |now |so |and |ok |okay |hey )*(?:{_TEXT_WORK}"
    rf"|{_POSSIBLE_TEXT_WORK}|{_CREATION_VERBS}"
    r"|what|which|who|where|when|why|how|any|tl;?dr|gist|pick|choose|suggest|name|show|sort|rank|group|solve|calculate"
    r"|pull|flag|crop|trim|cut|outline|prepare|quiz|guess|change|replace|remove|add|put|bring|squash|merge|clean"
    r"|only give"
    r"|fact[ -]?check|keep only|turn|sort|decode|unpack|verify)\b",
    re.IGNORECASE,
)
REPLY_TO_SENDER = re.compile(  # the sender is only who is answered
    r"\b(?:(?:give|tell|show|write|help|explain|send|make|get|gives?|got|for|to|asked|sent) me|(?:should|do|can"
    r"|could|would|must"
    r"|shall|did) i|i (?:just )?(?:got|found|googled|received|saw|read|copied|need|want|wonder|think)|for me"
    r"|in my inbox)\b",
    re.IGNORECASE,
)
POINTER_TO_TEXT = re.compile(rf"\b(?:{_POINTERS}|{_TEXT_KINDS}|{_TEXT_WORK}|here|in there|in it|says)\b", re.IGNORECASE)
LIST_ITEM = re.compile(r"\s*(?:[-*•·]|\d{1,2}[.)]|[a-z]\)|[\w ]{1,20}:)\s", re.IGNORECASE)
FIRST_PERSON = re.compile(r"\b(?:i|i'm|i've|im|ive|my|me|mine|myself|we|we're|our|us)\b", re.IGNORECASE)
ORDER_ABOUT_TEXT_ABOVE = re.compile(
    rf"^\W*(?:please |can you |could you |would you |now |so |and |ok |okay |hey )*"
    rf"(?:{_TEXT_WORK}|{_POSSIBLE_TEXT_WORK})\b.*?\b(?:(?:this|that|it|the above|above|these)\b|(?:the|this"
    rf"|that) {_TEXT_KINDS}\b)"
    r"|^\W*(?:\^|tl;?dr|(?:any )?thoughts\b|what do you think\b|(?:please )?(?:summari[sz]e|translate|proofread)\b)",
    re.IGNORECASE,
)
ROLE_PLAY = re.compile(
    r"(?:^|(?<=[.!?:,] )|(?<=[.!?]  ))(?:please |can you |can we |could you |let's |lets |i want (?:you )?to |now "
    r"|ok |so "
    r"|hey )*(?:pretend|imagine|role-?play(?!ing)|act (?:as|like)|suppose (?:you|i)|let's play|play (?:the )?(?:role"
    r"|part"
    r"|a game)|you are now\b|you(?:'re| are) [A-Z]{2,}|from now on you are|stay in character|in character\b"
    r"|be my (?:\w+ )?(?:character|narrator)|continue (?:the|this|my) (?:story|scene|poem|tale|dialogue)"
    r"|in (?:this|the|our|my|a) (?:story|scene|game|scenario|novel|book|film|movie|role-?play|campaign|dream"
    r"|fantasy|simulation|sketch|play)\b,? (?:i|you|we|my|the|he|she)\b|once upon a time"
    r"|(?:hypothetical(?:ly)?|fictional(?:ly)?)\b)",
    re.IGNORECASE,
)  # fmt: skip

MAIL_HEADER = re.compile(
    r"[ \t]*\**(?:from|to|cc|bcc|subject|sent|date|reply-to|re|fwd?|von|an|betreff|gesendet|datum|de|à|objet|envoyé"
    r"|para"
    r"|asunto|enviado)\**\s?:\**\s*\S",
    re.IGNORECASE,
)
FORWARD_LINE = re.compile(
    r"[ \t]*(?:[-_=*]{2,} ?.{0,20}(?:original|forwarded|weitergeleitet|transféré|reenviado).{0,30}$"
    r"|begin forwarded message|(?:on|am|le|el) .{6,120}(?:wrote|schrieb.{0,60}|a écrit|escribió)\s?:\s*$)",
    re.IGNORECASE,
)
_GREETING = (
    r"(?:dear|hi|hello|hey|good (?:morning|afternoon|evening|day)|greetings|to whom it may concern|hallo|lieber?"
    r"|sehr geehrter?|guten (?:tag|morgen)|bonjour|salut|ch[eè]re?s?|hola|estimad[oa]s?|querid[oa]s?)"
)
SALUTATION = re.compile(rf"\s*{_GREETING}\b[^.!?:;]{{0,40}}[,!.:\u2013\u2014-]?\s*$", re.IGNORECASE)
GENERAL_SALUTATION = re.compile(
    r"\s*\w+(?: (?:morning|afternoon|evening|day))?(?: (?:there|again|claude|chatgpt|gpt|gemini|copilot|assistant|ai"
    r"|bot|you))?\W*$",
    re.IGNORECASE,
)
_FAREWELL = (
    r"(?:best|best wishes|(?:best|kind|warm|kindest|with kind|many) regards|regards|sincerely|yours|yours \w+"
    r"|all the best|take care|with love|lots of love|love|xoxo|xx+|respectfully|cordially|warmly"
    r"|(?:mit )?(?:freundlichen?"
    r"|vielen?|lieben?|besten?|schönen?) gr(?:ü|ue)(?:ß|ss)en?|gruß|lg|vg|mfg|cordialement|bien à vous|amicalement"
    r"|saludos|un saludo|un abrazo|atentamente|hugs|kisses|cheers|talk soon|see you(?: soon)?|sent from my \w+)"
)  # fmt: skip
FAREWELL = re.compile(rf"\s*[-\u2013\u2014]*\s*{_FAREWELL}(?:[,!.]+|$)(?: ?[A-Z][\w.-]*){{0,4}}\W*$", re.IGNORECASE)
THANKS = re.compile(
    r"\s*(?:many |with )?(?:thanks|thank you|thx)(?: (?:again|a lot|so much|very much|in advance|and \w+ \w+))?"
    r"(?:[,!.]+|$)(?: ?[A-Z][\w.-]*){0,3}\W*$",
    re.IGNORECASE,
)
POSTSCRIPT = re.compile(r"\s*p\.?\s?(?:p\.?\s?)?s\b", re.IGNORECASE)
CLOSING_QUESTION = re.compile(r"(?:[^.!?\n]{2,200}\?+\s*)+$")
REQUEST_WORD = re.compile(r"remember|memor|forget|\bnote|\bmind\b|\bsave\b|store|delete|erase|\bkeep\b", re.IGNORECASE)

_CLOCK_TIME = r"\d{1,2}[:.]\d\d(?:[:.]\d\d)?(?: ?[ap]\.?m\.?)?"
_TIME_STAMP = rf"[\[(]?(?:\d{{1,4}}[./-]\d{{1,2}}[./-]\d{{1,4}},?[ T]*)?{_CLOCK_TIME}[\])]?"
_SPEAKER = r"(?:@?[\w.'-]{1,24}|[A-Z][\w.'-]{0,20}(?: (?:[A-Z][\w.'-]{0,20}|de|van|von|der)){1,3})"
STAMPED_SPEAKER = re.compile(
    rf"\s*(?:{_TIME_STAMP}\s*(?:[-\u2013]\s*)?(?:<@?[\w.-]+>|{_SPEAKER}\s*(?:\([^)\n]{{1,20}}\))?\s*[:>])"
    rf"|{_SPEAKER},?\s*[\[(]?(?:today at |yesterday at )?{_CLOCK_TIME}[\])]?\s*:?(?:\s*$|(?<=:)\s)|<@?[\w.-]+>\s+\S)"
)
SPEAKER_NAME = re.compile(rf"\s*(?:[-*]\s)?\**(?P<name>{_SPEAKER})(?: \([^)\n]{{1,30}}\))?\**\s?:\**(?:\s+\S|\s*$)")
SPEAKER_ROLE = re.compile(
    r"\s*\**(?:user|assistant|human|ai|system|bot|q|a|interviewer|narrator|tool|function)\**\s?:", re.IGNORECASE
)
OWN_LABEL = re.compile(  # the sender's own, not the name of a speaker
    r"(?:update|ps|p\.s|pps|correction|remember|note|notes|fyi|tl;?dr|edit|question|reminder|important|typo|btw|also"
    r"|warning|context|background|summary|today|tomorrow|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|save|store|log"
    r"|plan|goals?|first|second|third|finally|next|and|but|so|i|me|rule|rules|todo|memo|actually|sorry|wait|no|yes|ok"
    r"|okay|thing|problem|fact|result|answer|merke|wichtig|nota|recuerda|mornings?|evenings?|breakfast|lunch|dinner)$",
    re.IGNORECASE,
)
LOG_LINE = re.compile(
    r"\s*(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d |\w+ (?:ERR!|WARN)"
    r"|[-*] \S+\.\w+ \u203a |\[?\d\d:\d\d:\d\d\b|\[?(?:INFO|ERROR|WARN(?:ING)?|DEBUG|TRACE|FATAL)\b"
    r"|Traceback \(|File \"|at [\w.$<>]+\(|[\w.]+(?:Error|Exception)\b:|\$ \S|>>> |[#/]{2,} ?\S.*[;{}]$)"
)
CODE_LINE = re.compile(
    r"\s*(?:(?:def|class|import|from|return|const|let|var|function|public|private|static|void|int|package|use|fn|struct"
    r"|SELECT|INSERT|UPDATE|DELETE|CREATE|echo|export|#include|print|async|await|elif|else|try|except)\b.*[:;({})=]"
    r"|//|/\*|\*/|<!--|--\s|@\w+\(|[\w.\[\]]+ ?(?:=|\+=|:=|=>|==) ?\S|[{}()\[\]]+[;,]?\s*$|.*[;{]\s*$)"
)
CODE_COMMENT = re.compile(r"\s*(?:#|//|/\*|\*|--|;)")
TABLE_ROW = re.compile(r"\s*\|.*\|\s*$")
CSV_ROW = re.compile(r"[^,;\t\n]*(?:[,;\t][^,;\t\s][^,;\t\n]*){2,}$")
JSON_START = re.compile(r"\s*(?:[{\[]\s*(?:[\"{\[\]}\d]|$)|\"[^\"\n]{1,80}\"\s*:)")
INDENTED_LINE = re.compile(r"(?: {4}|\t)\s*(?![-*•\d])\S")
STAGE_DIRECTION = re.compile(r"\s*(?:[♪♫]|\*[a-z][^*\n]{2,}\*)|.*[♪♫]")
SONG_PART = re.compile(
    r"\s*[\[(](?:verse|chorus|bridge|intro|outro|hook|refrain|pre-chorus)\b[^\])\n]*[\])]", re.IGNORECASE
)
RULER = re.compile(r"\s*(?P<mark>-{3,}|={3,}|\*{3,}|_{3,}|\"{3}|'{3}|#{4,}|~{3,}|\+{3,}|<{3,}|>{3,})\s*$")

OFF_THE_RECORD = re.compile(
    r"(?:^|[.!?,;:(\u2013\u2014-]\s*|\b(?:please|but|so|and|you|also|ok|hey) )"
    r"(?:(?:do not|don't|dont|no need to|never|shouldn't|must not) (?:ever )?(?:remember|save|store|keep|record|note"
    r"|log"
    r"|memori[sz]e|learn|retain|write down|commit)"
    r" (?:any of )?(?:this|that|it|what i(?:'m| am)? \w+)\b(?= (?:conversation|chat|message|one|part|bit|to memory|in"
    r"|anywhere|please|but|and|down|for)\b|\s*(?:[.,;:!)\u2013\u2014-]|$)))"
    r"|\boff[ -]the[ -]record\b|\b(?:just |strictly )?between (?:you and me|us)\b(?=\s*[,:;.\u2013\u2014-])"
    r"|\bnot (?:for|to) (?:the record|be (?:saved|stored|remembered|kept))\b",
    re.IGNORECASE | re.MULTILINE,
)
EXAMPLE_LEAD = re.compile(
    r"\b(?:e\.g\.|eg|for example|for instance|such as|like) ?:[^\n]*|\be\.g\. (?=I\b|my\b)[^\n]*", re.IGNORECASE
)
