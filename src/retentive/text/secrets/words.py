"""The words that `named` and `values` go by, in lower case; those before a name are words, the others are patterns."""

from collections.abc import Iterable

# Words after a name that is only about secrets: "password manager", `token_count`.
ABOUT = r"""
    managers? less vaults? generators? reset polic(?:y|ies) hash(?:es|ed|er)? hints? fields? lengths? strength
    expir\w* changes? protect\w* prompts? dialogs? screens? pages? rotation rules? requirements? complexity
    attempts? recovery files? paths? names? ids? urls? uri endpoints? types? counts? limits? budgets? usage prices?
    costs? bucket sizes? boards? words? pairs? holes? notes? points? signature signing rings? iz\w+ s?et sharing
    store storage based form input column label param\w* format regex pattern min max lifetime ttl timeout age
    review\w* base64 authentication auth login grant flow provider service server validat\w* check\w* verif\w*
    confirm\w* encod\w* crack\w*
"""

# "the password for the router": between a name and what it is for.
FOR = r"""
    for of to at on in from with für fürs von vom zum zur am im beim pour de du des d' à au sur para del do da no na
    voor van för til для от к
"""

# Things that have a code.
LOCKS = r"""
    door gate alarm garage entry entrance access security lock locker safe vault unlock verification keypad building
    lobby elevator 2fa otp one[-\s]time backup recovery login log-in burglar lockbox bike suitcase padlock tür
    haustür alarmanlage front back house apartment office shed gym phone tablet ipad sim mfa auth authenticator sms
    porte portail immeuble puerta porta
"""

# Units after a number.
UNITS = r"""
    char digit letter word symbol day month year week hour minute min\b second sec\b bit byte time user account
    people % attempt entries percent tokens? keys?
"""

# Words before "key", which is rarely a secret by itself.
KEYS = r"""
    api access secret private auth encryption decryption signing master account client service admin wpa wpa2 wifi
    wi-fi network licence license product storage app application consumer shared subscription function host deploy
    activation
"""

# Words before "token" that make it a position, not a secret.
MARKERS = r"""
    next lock page paging request client export import sync start starting change idempotency continuation update
    cursor first last previous
"""

# In a sentence, and not in a phrase of words by chance.
FUNCTION = r"""
    the and for you your with that this not are was were too very from have has had its our his her they them which
    when who how why what will would should can could must may but all any than then also only just more most less
    about into over after before because been being does did done get got use used using never always every each
    same
"""

# Words that continue a sentence about a password, also in messages of programs.
ORDINARY = r"""
    a about above absent accepted access account actually again all almost already also always an and another any
    anything applied as asked at attached available away bad based because been before being below best better
    between blank both broken but by called can case cached certain changed checked clear common complex compromised
    confidential configured considered correct cracked crap created critical crucial current currently dead declined
    default defined different disabled done down easy easily either empty enabled encoded encrypted enforced enough
    entered essential even ever every everything exactly expired exposed extremely fair false fine fixed for forever
    forgotten found free from funny garbage generated getting given going gone good great guessable hard hashed he
    her here hers hidden his horrible how huge i if ignored immediately important impossible in inactive included
    incorrect initially insecure inside interesting invalid irrelevant is isn it its just keep kept key king known
    lame later leaked left less letter like likely limited linked literally locked logged long longer lost made
    mandatory mask masked maybe me meant mine mismatched missing more most much must my necessary needed never new
    next no nobody none not nothing now null obsolete obvious of off old okay omitted on once one only open optional
    or other otherwise our ours out outdated over particularly personal plain please pointless possible posted
    preferably present presented pretty private probably prompted protected provided public put questionable quite
    random rather read ready really recommended refused rejected remembered required reset resolved right rotated
    safe saved same salted secret secure securely sent sensitive set shared she short should shown similar simple
    simply since so solid some somehow someone something sometimes somewhere soon still stolen stored string strong
    stronger stupid such super sure taken temporary terrible text than that the their theirs them then there these
    they this those though through to together tomorrow too totally tricky true trivial under unchanged undefined
    underneath unique unknown unless unlikely unset until up updated upper used useless usually valid validated very
    visible vital vulnerable was weak weaker weird well what when where whether which while who why wide will with
    within without wonderful written wrong you your printed taped stuck pinned scribbled noted yours yes yet awful
    amazing awesome annoying boring ridiculous silly clever smart perfect ok nice cool everywhere anywhere nowhere
    today yesterday tonight str int integer bool boolean bytes object number float array list dict map char varchar
    nil value values field input prompt type name username user users email mail login password passwd pass pwd token
    code pin hash file path env environment variable literal self args kwargs request response data form body header
    config settings options params credentials auth basic bearer digest
"""

# Words in example values.
EXAMPLES = r"""
    your example placeholder change[-_]?me redacted dummy insert replace removed hidden omitted masked censored
    goes[-_]?here foobar not[-_]?real lorem todo _here my[-_](?:secret|password|token|api) abcdef 123456789abc
    deadbeef 00000000
"""

# Words before a number that make it a term: "SHA-256", "page 12", "v2".
TERMS = r"""
    sha aes md rsa utf base oauth pbkdf argon bcrypt scrypt ed x wpa wps http ipv rfc iso nist fips win windows
    python hmac hs rs es ps ecdsa secp curve cbc gcm crc crypt ntlmv? tlsv? sslv? ssh version v ver kerberos level
    top mp part step chapter page section figure table line item option type class group case col covid web gpt ios
    q h f u t p
"""

# Suffixes of a number: "12th", "90days".
SIZES = r"""
    st nd rd th s m h d x k g w y % ms mb gb kb px am pm min mins hrs? days? bits? bytes? chars? characters? digits?
    times? years? months? weeks? hours? minutes? letters? words? plus or and to € £ \$ ° c f
"""

# Names with digits in them.
PRODUCTS = r"""
    2fa mfa u2f fido2 k8s s3 ec2 i18n a11y 1password\S* keepass\S*
"""


def join_by_first_letter(alternatives: Iterable[str]) -> str:
    """Join alternatives into one pattern, grouped by first letter, so that Python's engine skips to these letters."""
    rests: dict[str, list[str]] = {}
    for each in alternatives:
        rests.setdefault(each[0], []).append(each[1:])
    return "|".join(f"{first}(?:{'|'.join(rest)})" for first, rest in rests.items())


def join_alternatives(alternatives: str) -> str:
    return f"(?:{'|'.join(alternatives.split())})"
