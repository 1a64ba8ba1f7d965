"""Finds secrets in texts and masks them: keys of services, private keys, passwords in addresses and in assignments.

`FORMATS` and `NAMES` are the rules, as data. A text is first looked through for signs that cost little to find; only
where one is, a rule is tried. Random characters alone are no secret: either they have a format that a service gives
its keys, or a name beside them says what they are.
"""

import math
import re
from base64 import b64decode
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

import msgspec


class Secret(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Where a secret lies in a text, what it is, and how many characters its mask keeps at each end."""

    start: int
    end: int
    kind: str
    head: int = 0
    tail: int = 0


class Masked(msgspec.Struct, frozen=True, kw_only=True):
    """A text with its secrets masked, where they were, and where their masks begin and end."""

    text: str
    secrets: Sequence[Secret] = ()
    starts: Sequence[int] = ()
    ends: Sequence[int] = ()

    def moved(self, offset: int) -> int:
        """Return where a place of the text is now; a place within a secret is now the end of its mask."""
        at = bisect_right(self.secrets, offset, key=lambda one: one.start) - 1
        if at < 0:
            return offset
        if offset == self.secrets[at].start:
            return self.starts[at]
        return self.ends[at] + max(0, offset - self.secrets[at].end)


class Format(msgspec.Struct, frozen=True, gc=False):
    """What the keys of a service look like: a sign that each of them has, and all of it.

    `shown` is how many characters at the beginning are the same for every key. `before` are the characters of which
    one stands before the long run of letters and digits, where the sign does so, and `least` is how long that run is.
    """

    kind: str
    signs: tuple[str, ...]
    pattern: str
    shown: int = 0
    before: str = ""
    least: int = 20


class Name(msgspec.Struct, frozen=True, gc=False):
    """A name whose value is a secret: a sign of it, in lower case, and the name from that sign on.

    A password is any word with a digit or a mark in it; what other names have is secret where it looks random.
    """

    kind: str
    sign: str
    pattern: str
    is_password: bool = False


_B62, _HEX, _SAFE = "[A-Za-z0-9]", "[0-9a-fA-F]", "[A-Za-z0-9_-]"
# Not within a word, unless that is an escaped line end.
_ALONE = r"(?:(?<![\w~-])|(?<=\\[nrt]))"
_UUID = f"{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}"

# Lengths are the least by which a key that was cut is still known; whatever belongs to it is taken along.
FORMATS = (
    Format("AWS access key", ("AKIA", "ASIA", "ABIA", "ACCA"), r"A(?:KIA|SIA|BIA|CCA)[A-Z2-7]{16}\b", 4),
    Format("AWS Bedrock key", ("ABSK",), r"ABSK[A-Za-z0-9+/]{60,}=*", 4),
    Format("Google API key", ("AIza",), rf"AIza{_SAFE}{{30,}}", 4),
    Format("Google client secret", ("GOCSPX-",), rf"GOCSPX-{_SAFE}{{20,}}", 7),
    Format("GitHub token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), rf"gh[pousr]_{_B62}{{20,}}", 4),
    Format("GitHub token", ("github_pat_",), r"github_pat_\w{20,}", 11),
    Format("GitLab token",
           ("glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glsoat-", "glffct-", "gloas-", "glimt-"),
           r"gl(?:pat|dt|rt|cbt|ptt|ft|soat|ffct|oas|imt)-[A-Za-z0-9_.-]{16,}", 6),
    Format("GitLab token", ("GR1348941",), rf"GR1348941{_SAFE}{{16,}}", 9),
    Format("Slack token", tuple(f"xox{one}-" for one in "abposrcde"), r"xox[abposrcde]-[A-Za-z0-9%_-]{16,}", 5),
    Format("Slack token", ("xapp-", "xwfp-"), rf"x(?:app|wfp)-{_SAFE}{{20,}}", 5),
    Format("Stripe key", ("sk_live_", "rk_live_", "sk_test_", "rk_test_"), rf"[sr]k_(?:live|test)_{_B62}{{16,}}", 8),
    Format("webhook secret", ("whsec_",), r"whsec_[A-Za-z0-9+/=_-]{24,}", 6),
    Format("Anthropic key", ("sk-ant-",), rf"sk-ant-(?:[a-z]+\d\d-)?{_SAFE}{{20,}}", 7),
    Format("OpenAI key", ("sk-proj-", "sk-svcacct-", "sk-admin-"), rf"sk-(?:proj|svcacct|admin)-{_SAFE}{{20,}}", 8),
    Format("OpenRouter key", ("sk-or-",), rf"sk-or-(?:v\d-)?{_HEX}{{32,}}", 6),
    Format("Langfuse key", ("sk-lf-",), rf"sk-lf-{_UUID}", 6),
    Format("OpenAI key", ("sk-",), rf"sk-{_SAFE}{{16,}}T3BlbkFJ{_SAFE}{{16,}}", 3),
    Format("API key", ("sk-",), rf"sk-(?=[a-z]*[A-Z0-9]){_B62}{{32,}}", 3),
    Format("ElevenLabs key", ("sk_",), rf"sk_{_HEX}{{40,}}\b", 3),
    Format("npm token", ("npm_",), rf"npm_(?=[a-z]*[A-Z0-9]){_B62}{{30,}}", 4),
    Format("PyPI token", ("pypi-Ag",), rf"pypi-Ag{_SAFE}{{40,}}", 5),
    Format("RubyGems key", ("rubygems_",), rf"rubygems_{_HEX}{{40,}}", 9),
    Format("crates.io token", ("cio",), rf"cio(?=[A-Za-z]*\d){_B62}{{32}}\b", 3),
    Format("Docker token", ("dckr_",), rf"dckr_[a-z]+_{_SAFE}{{20,}}", 5),
    Format("Twilio key", ("S",), r"SK[0-9a-f]{32}\b", 2),
    Format("Hugging Face token", ("hf_",), rf"hf_(?=[a-z]*[A-Z0-9]){_B62}{{30,}}", 3),
    Format("Discord token", ("M", "N", "O"), rf"[MNO]{_SAFE}{{23,27}}\.{_SAFE}{{6}}\.{_SAFE}{{27,45}}"),
    Format("Shopify token", ("shpat_", "shpca_", "shppa_", "shpss_", "shptka_"), rf"shp[a-z]+_{_HEX}{{32,}}", 6),
    Format("DigitalOcean token", ("dop_v1_", "doo_v1_", "dor_v1_"), rf"do[opr]_v1_{_HEX}{{40,}}", 7),
    Format("Heroku key", ("HRKU-",), rf"HRKU-{_SAFE}{{30,}}", 5),
    Format("Mailgun key", ("key-",), r"key-[0-9a-f]{32}\b", 4),
    Format("Brave key", ("BSA",), rf"BSA(?=[A-Za-z_-]*\d)(?=[^a-z]*[a-z]){_SAFE}{{24,}}", 3),
    Format("NVIDIA key", ("nvapi-",), rf"nvapi-{_SAFE}{{40,}}", 6),
    Format("Brevo key", ("xkeysib-",), rf"xkeysib-{_HEX}{{40,}}-?{_B62}*", 8),
    Format("Resend key", ("re_",), rf"re_{_B62}{{8}}_{_B62}{{20,}}", 3),
    Format("Cloudflare token", ("cfut_", "cfat_", "cfk_"), rf"cf(?:ut|at|k)_{_B62}{{36,}}", 4),
    Format("Vercel token", ("vcp_", "vci_", "vca_", "vcr_", "vck_"), rf"vc[piark]_{_B62}{{24,}}", 4),
    Format("Supabase key", ("sbp_",), rf"sbp_{_HEX}{{36,}}", 4),
    Format("Supabase key", ("sb_secret_",), rf"sb_secret_{_SAFE}{{20,}}", 10),
    Format("Databricks token", ("dapi",), rf"dapi{_HEX}{{32}}(?:-\d)?", 4),
    Format("Atlassian token", ("ATATT3", "ATCTT3", "ATBB"), rf"AT(?:[AC]TT3[A-Za-z0-9_=-]{{30,}}|BB{_B62}{{28,}})", 4),
    Format("Linear key", ("lin_api_", "lin_oauth_"), rf"lin_(?:api|oauth)_{_B62}{{30,}}", 8),
    Format("Notion token", ("ntn_",), rf"ntn_{_B62}{{36,}}", 4),
    Format("Notion token", ("secret_",), rf"secret_{_B62}{{43}}\b", 7),
    Format("Figma token", ("figd_", "figu_", "figo_", "figoh_", "figor_"), rf"fig(?:d|u|o[hr]?)_{_SAFE}{{36,}}", 5),
    Format("Sentry token", ("sntrys_", "sntryu_"), r"sntry[su]_[A-Za-z0-9+/=_]{40,}", 7),
    Format("Grafana token", ("glsa_",), rf"glsa_{_B62}{{28,}}(?:_{_HEX}{{8}})?", 5),
    Format("Grafana token", ("glc_",), r"glc_[A-Za-z0-9+/=]{32,}", 4),
    Format("Fly token", ("fo1_", "fm1_", "fm2_", "fm1r_", "fm1a_"), r"f(?:o1|m[12][ar]?)_[A-Za-z0-9_+/=,-]{36,}", 4),
    Format("Netlify token", ("nfp_", "nfc_", "nfo_", "nfu_", "nfb_"), rf"nf[pcoub]_{_SAFE}{{34,}}", 4),
    Format("Square token", ("EAAA",), rf"EAAA{_SAFE}{{50,}}", 4),
    Format("Square token", ("sq0",), rf"sq0[a-z]{{3}}-{_SAFE}{{22,}}", 7),
    Format("Facebook token", ("EAA",), rf"EAA{_B62}{{80,}}", 3),
    Format("Postman key", ("PMAK-",), rf"PMAK-{_HEX}{{24}}-{_HEX}{{30,}}", 5),
    Format("New Relic key", ("NRAK-", "NRII-", "NRRA-"), rf"NR(?:AK|II|RA)-{_SAFE}{{24,}}", 5),
    Format("age key", ("AGE-SECRET-KEY-1",), r"AGE-SECRET-KEY-1[A-Z0-9]{40,}", 16),
    Format("JSON web token", ("eyJ",), rf"eyJ{_SAFE}{{10,}}\.{_SAFE}{{10,}}(?:\.{_SAFE}*)*", 3),
    Format("Pulumi token", ("pul-",), r"pul-[0-9a-f]{40}", 4),
    Format("HubSpot token", ("pat-",), rf"pat-(?:na|eu)\d-{_UUID}", 7),
    Format("Groq key", ("gsk_",), rf"gsk_{_B62}{{40,}}", 4),
    Format("xAI key", ("xai-",), rf"xai-{_B62}{{60,}}", 4),
    Format("Perplexity key", ("pplx-",), rf"pplx-{_B62}{{36,}}", 5),
    Format("Replicate token", ("r8_",), rf"r8_{_B62}{{34,}}", 3),
    Format("Pinecone key", ("pcsk_",), r"pcsk_\w{36,}", 5),
    Format("LangSmith key", ("lsv2_",), rf"lsv2_[a-z]{{2}}_{_HEX}{{32}}(?:_{_HEX}{{10}})?", 8),
    Format("PlanetScale token", ("pscale_",), r"pscale_[a-z]+_[A-Za-z0-9_.=-]{30,}", 7),
    Format("Neon key", ("napi_",), rf"napi_{_B62}{{40,}}", 5),
    Format("Tailscale key", ("tskey-",), rf"tskey-[a-z]+-{_SAFE}{{16,}}", 6),
    Format("1Password token", ("ops_eyJ",), rf"ops_eyJ{_SAFE}{{40,}}", 4),
    Format("CircleCI token", ("CCIPAT_",), r"CCIPAT_\w{20,}", 7),
    Format("Buildkite token", ("bkua_",), rf"bkua_{_B62}{{32,}}", 5),
    Format("Contentful token", ("CFPAT-",), rf"CFPAT-{_SAFE}{{30,}}", 6),
    Format("Sourcegraph token", ("sgp_",), r"sgp_\w{36,}", 4),
    Format("Typeform token", ("tfp_",), rf"tfp_{_SAFE}{{36,}}", 4),
    Format("Alibaba key", ("LTAI",), rf"LTAI(?=[A-Za-z]*\d){_B62}{{16,20}}\b", 4),
    Format("Tencent key", ("AKID",), rf"AKID(?=[A-Za-z]*\d){_B62}{{32}}\b", 4),
    Format("JFrog key", ("AKCp",), rf"AKCp{_B62}{{60,}}", 4),
)  # fmt: skip

# Keys of which something stands before the first long run of letters and digits, with what the text has there.
LATER_FORMATS = (
    Format("AWS Bedrock key", ("ABSK",), rf"{_ALONE}ABSK[A-Za-z0-9+/]{{60,}}=*", 4, "+/"),
    Format("Grafana token", ("glc_",), rf"{_ALONE}glc_[A-Za-z0-9+/=]{{32,}}", 4, "+/="),
    Format("Fly token", ("fm1", "fm2"), rf"{_ALONE}fm[12][ar]?_[A-Za-z0-9_+/=,-]{{36,}}", 4, "+/=,"),
    Format("Sentry token", ("sntrys_",), rf"{_ALONE}sntrys_[A-Za-z0-9+/=_]{{40,}}", 7, "+/="),
    Format("Google access token", ("ya29.",), rf"{_ALONE}ya29\.[A-Za-z0-9_.-]{{20,}}", 5, "."),
    Format("Google refresh token", ("1//0",), rf"{_ALONE}1//0{_SAFE}{{30,}}", 4, "/"),
    Format("Slack webhook", ("hooks.slack",),
           rf"(?<=hooks\.slack\.com/)(?:services|workflows|triggers)/(?P<secret>{_B62}+/{_B62}+/{_B62}{{10,}})", 0,
           "/"),
    Format("Slack token", ("xoxe.",), rf"xoxe\.xox[bp]-{_SAFE}{{16,}}", 5, "."),
    Format("Discord webhook", ("/webhooks/",), rf"/webhooks/\d{{10,}}/(?P<secret>{_SAFE}{{30,}})", 0, "/"),
    Format("Teams webhook", ("/webhookb2/",), r"/webhookb2/(?P<secret>[\w@-]{30,}(?:/[\w-]+)*)", 0, "/@"),
    Format("SendGrid key", ("SG.",), rf"{_ALONE}SG\.{_SAFE}{{16,32}}\.{_SAFE}{{16,}}", 3, "."),
    Format("Vault token", ("hvs.", "hvb.", "hvr."), rf"{_ALONE}hv[sbr]\.{_SAFE}{{20,}}", 4, "."),
    Format("Doppler token", ("dp.",), rf"{_ALONE}dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_.-]{{36,}}", 6, "."),
    Format("Dropbox token", ("sl.",), rf"{_ALONE}sl\.(?:u\.)?{_SAFE}{{100,}}", 3, "."),
    Format("Cloudflare key", ("v1.0",), rf"{_ALONE}v1\.0-{_HEX}{{24}}-{_HEX}{{100,}}", 5, "."),
    Format("Mapbox token", ("sk.eyJ",), rf"{_ALONE}sk\.eyJ{_SAFE}{{30,}}\.{_SAFE}{{16,}}", 3, "."),
    Format("Telegram token", (":",),
           rf"(?:{_ALONE}|(?<=/bot))\d{{8,10}}:(?:AA{_SAFE}{{32,}}|{_SAFE}{{35}}(?!{_SAFE}))", 0, ":"),
    Format("Airtable token", ("pat",), rf"{_ALONE}pat{_B62}{{14}}\.{_HEX}{{60,}}", 3, "."),
    Format("Terraform token", (".atlasv1.",), rf"{_ALONE}{_B62}{{14}}\.atlasv1\.{_SAFE}{{50,}}", 0, "."),
    Format("Braintree token", ("access_token$",), rf"access_token\$[a-z]+\${_B62}{{16}}\${_HEX}{{32}}", 13, "$"),
    Format("Azure client secret", ("Q~",),
           rf"{_ALONE}[A-Za-z0-9_~.-]{{3}}\dQ~[A-Za-z0-9_~.-]{{31,34}}", 0, "~"),
)  # fmt: skip

# Keys that are known by what is at their end or amid them.
INNER_FORMATS = (
    Format("Azure key", ("JQQJ99",), rf"{_B62}{{40,60}}JQQJ99{_B62}{{20,}}", least=80),
    Format("Azure DevOps token", ("AZDO",), rf"{_B62}{{60,80}}AZDO{_B62}{{4}}", least=80),
    Format("New Relic key", ("NRAL",), rf"{_ALONE}{_HEX}{{36}}NRAL\b", least=40),
    Format("Mailchimp key", ("-us",), rf"{_ALONE}[0-9a-f]{{32}}-us\d{{1,2}}\b", least=36),
    Format("Mailgun key", ("-",), rf"{_ALONE}[0-9a-f]{{32}}-[0-9a-f]{{8}}-[0-9a-f]{{8}}(?![\w-])", least=50),
)

# Names may have something behind them: API_KEY_PROD, SECRET_KEY_BASE, tokenValue.
_MORE = (
    r"(?i:[_-]?(?:value|key|base|token|secret|plain|text|string|prod|production|dev|staging|live|test|old|new|\d{1,2}))?"
    r"(?![a-z])"
)
_BEFORE_KEY = (
    "api", "access", "private", "account", "storage", "shared", "encryption", "signing", "master", "auth", "license",
    "service", "subscription", "app", "application", "admin", "deploy", "webhook", "client", "primary", "ssh", "secret",
)  # fmt: skip
_NO_WORD_BEFORE = (
    r"(?:(?<![a-zA-Z])|(?<=[a-z])(?=P)|(?<=\\[nrt])|(?<=db)|(?<=DB)|(?<=pg)|(?<=PG)|(?<=my)|(?<=user)|(?<=ssh))"
)
NAMES = (
    Name("password", "pass",
         rf"{_NO_WORD_BEFORE}(?i:pass(?:(?:word|wd|phrase|code|wort){_MORE}"
         r"|e?(?=(?:\\*[\"'])?\]?[ \t]*(?:=|=>|:[ \t]*\\*[\"']|-p ))))", True),
    Name("password", "pwd", rf"(?i:pwd){_MORE}", True),
    Name("secret", "secret", rf"(?i:secret)(?i:[_-]?access[_-]?key)?{_MORE}"),
    Name("token", "token", rf"(?<!(?i:publickey))(?i:token){_MORE}(?![ \t]*\()"),
    Name("key", "key",
         rf"(?i:(?:{'|'.join(rf'(?<={one})|(?<={one}[ _-])' for one in _BEFORE_KEY)})key){_MORE}"),
)  # fmt: skip
# Passwords in languages of which a name has other letters; such texts are looked through for them, too.
OTHER_NAMES = ("пароль", "密码", "密碼", "パスワード", "비밀번호", "contraseña", "סיסמה", "كلمة المرور")

# How every mask begins.
MARK = "[masked: "
# A secret of so many characters may show its last two.
MIN_FOR_TAIL = 20
MIN_TEXT = 10
# Longer texts are output of programs, in which no command is looked for.
MAX_COMMAND = 4_000
MIN_PASSWORD, MIN_KEY, MIN_BARE_KEY = 6, 12, 16
# Bits for each character: twelve random hexadecimal digits have about that, and words of that length hardly more.
MIN_ENTROPY = 3.0
# Keys in PEM have some thousand characters.
MAX_PEM = 20_000

# Texts without a secret that were looked through, by their hashes: a process that is asked while somebody types looks
# at the same texts again and again. Python's hashes are keyed, and of 64 bits.
MOST_HARMLESS = 100_000
_harmless: set[int] = set()

_revealed: ContextVar[bool] = ContextVar("revealed", default=False)


def find(text: str) -> list[Secret]:
    """Return where secrets are in a text, in order; they do not overlap."""
    if len(text) < MIN_TEXT:
        return []
    # One byte for each character, whatever it is: places are the same, and bytes are searched fastest.
    plain = text.encode("latin-1", "replace")
    lower = plain.lower()
    found = [*_formatted(text, plain, lower), *_named(text, lower)]
    return _merged(found) if found else []


def mask(text: str) -> str:
    """Return a text with its secrets masked, unless they are revealed here."""
    return text if _revealed.get() else masked(text).text


def masked(text: str) -> Masked:
    """Mask the secrets of a text, also where they are revealed."""
    if (known := hash(text)) in _harmless:
        return Masked(text=text)
    secrets = find(text)
    if not secrets:
        if len(_harmless) >= MOST_HARMLESS:
            _harmless.clear()
        _harmless.add(known)
        return Masked(text=text)
    pieces: list[str] = []
    starts, ends, at, length = [], [], 0, 0
    for one in secrets:
        written = mark(text[one.start : one.end], one)
        starts.append(length + one.start - at)
        pieces += [text[at : one.start], written]
        length = starts[-1] + len(written)
        ends.append(length)
        at = one.end
    return Masked(text="".join([*pieces, text[at:]]), secrets=secrets, starts=starts, ends=ends)


def mark(secret: str, found: Secret) -> str:
    """Return what stands for a secret: what it is, and so much of it that two can be told apart."""
    head, tail = secret[: found.head], secret[len(secret) - found.tail :]
    return f"{MARK}{found.kind}{f' {head}…{tail}' if head or tail else ''}]"


def masks(text: str) -> list[tuple[int, int]]:
    """Return where in a text masks stand."""
    return [found.span() for found in _compiled(r"\[masked: [^\]\n]*\]").finditer(text)]


# Keys that tell what they are. All of them have a long run of letters, digits, _ and -; most begin with it.

_RUN = 20
_QUOTE = r"""\\*["'`]"""
_IS_OF_RUN = bytes(120 if chr(one).isascii() and (chr(one).isalnum() or chr(one) in "_-") else 32 for one in range(256))
_RUN_SIGN = b"x" * _RUN
# A run of nothing else is a name, or a line.
_OF_WORDS = b"abcdefghijklmnopqrstuvwxyz_-"
# Signs before a run stand at most so far before it.
_FAR_BEFORE = 110
_MIN_INNER = 36
# What stands before random characters in headers and addresses, with as much of them as the run does not have.
_FAR_CARRYING = 80
_CARRIED = (
    r"(?i:(?:(?:[?&;]|%26|%3F)(?:sig|signature|x-amz-signature|x-goog-signature|jwt|code|sid|session|session_?id"
    r"|assertion|hmac|key|ticket)(?:=|%3D)|\b(?:bearer|basic)[ \t]+"
    rf"|auth(?:orization)?(?:{_QUOTE})?\]?[ \t]*(?:[:=,]|=>)[ \t]*(?:[bruf]?{_QUOTE})?(?:[a-z-]{{2,12}}[ \t]+)?)"
    r"(?P<value>[A-Za-z0-9_.~%+/-]*)$)"
)
_CARRIED_VALUE = r"[A-Za-z0-9_.~%+/=-]+"
# Cookies have a line, on which many may stand before the one that matters.
_FAR_COOKIE = 400
_COOKIE = r"(?i:cookies?2?\W[^\n]*?)[\s;\"':,]?[\w.$-]{1,80}=(?P<value>[A-Za-z0-9_.~%+/-]*)$"


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    # All of them take longer to compile than a search takes, and most are never tried.
    return re.compile(pattern)


@cache
def _beginnings() -> Mapping[str, Sequence[Format]]:
    """Return the formats by the first characters of their signs, three where there are so many."""
    found: dict[str, list[Format]] = {}
    for one in FORMATS:
        for beginning in {sign[:3] for sign in one.signs}:
            found.setdefault(beginning, []).append(one)
    return found


@cache
def _befores() -> Mapping[str, Sequence[tuple[str, Format]]]:
    """Return the signs that stand before a run, with their formats, by the character before it."""
    signs = [(sign, one) for one in LATER_FORMATS for sign in one.signs]
    return {before: [(sign, one) for sign, one in signs if before in one.before] for before in ".:/$~@+,="}


def _formatted(text: str, plain: bytes, lower: bytes) -> Iterator[Secret]:
    """Yield keys that tell what they are, and what headers and addresses carry."""
    runs = plain.translate(_IS_OF_RUN)
    find = runs.find
    befores, beginnings = _befores(), _beginnings()
    end, is_first = 0, True
    while (start := find(_RUN_SIGN, end)) >= 0:
        end = find(b" ", start + _RUN)
        end = len(runs) if end < 0 else end
        if not plain[start:end].translate(None, _OF_WORDS):
            continue
        if is_first and b"private key" in lower:
            # Its lines are such runs.
            yield from _private_keys(text)
        is_first = False
        before = text[start - 1 : start]
        if before in befores:
            beside = text[max(0, start - _FAR_BEFORE) : start + 4]
            for sign, one in befores[before]:
                if sign in beside:
                    yield from _around(text, start, end, one)
        # What a backslash or a percent sign stands before does not belong to the key.
        at = start + (1 if before == "\\" else 2 if before == "%" else 0)
        if text[at : at + 3] in beginnings or text[at] in beginnings:
            formats = (*beginnings.get(text[at : at + 3], ()), *beginnings.get(text[at], ()))
            yield from _beginning(text, at, formats)
        near = lower[max(0, start - _FAR_CARRYING) : start]
        if (
            before in "=D"
            or (before in "+/%" and b"=" in near)
            or b"auth" in near
            or b"earer" in near
            or b"asic" in near
        ):
            has_cookie = b"=" in near and b"ookie" in lower[max(0, start - _FAR_COOKIE) : start]
            yield from _carried(text, start, has_cookie)
        if end - start >= _MIN_INNER:
            run = text[start:end]
            for one in INNER_FORMATS:
                if one.signs[0] in run and end - start >= one.least:
                    yield from _around(text, start, end, one)


def _beginning(text: str, at: int, formats: Sequence[Format]) -> Iterator[Secret]:
    for one in formats:
        if text.startswith(one.signs, at) and (found := _compiled(one.pattern).match(text, at)):
            yield from _key(found, one)
            return


def _around(text: str, start: int, end: int, format: Format) -> Iterator[Secret]:
    for found in _compiled(format.pattern).finditer(text, max(0, start - _FAR_BEFORE), end + _FAR_BEFORE):
        yield from _key(found, format)


def _key(found: re.Match[str], format: Format) -> Iterator[Secret]:
    group = "secret" if "secret" in found.re.groupindex else 0
    value = found[group]
    if not _is_placeholder(value) and len(set(value[format.shown :])) > 5:
        tail = 2 if len(value) - format.shown >= MIN_FOR_TAIL else 0
        start, end = found.span(group)
        yield Secret(start=start, end=end, kind=format.kind, head=format.shown, tail=tail)


def _carried(text: str, start: int, has_cookie: bool) -> Iterator[Secret]:
    found = _compiled(_CARRIED).search(text, max(0, start - _FAR_CARRYING), start)
    if not found and has_cookie:
        found = _compiled(_COOKIE).search(text, max(0, start - _FAR_COOKIE), start)
    rest = _compiled(_CARRIED_VALUE).match(text, start)
    if found and rest:
        value = (found["value"] + rest[0]).rstrip(".")
        if _is_key(value, MIN_BARE_KEY) or _is_basic(value):
            yield Secret(start=found.start("value"), end=found.start("value") + len(value), kind="token", tail=2)


def _is_basic(value: str) -> bool:
    """Whether a value is a user's name and password in base64."""
    try:
        return b":" in b64decode(value + "=" * (-len(value) % 4), validate=True)
    except ValueError:
        return False


# Private keys, of which a program may have shown only the beginning or the end.

_PEM = r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
_PEM_END = r"-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
# Lines in base64, and what stands between them: escaped line ends, quotes, marks of a diff, numbers of lines.
_BETWEEN_LINES = r"""(?:[\s"'+,>|│→\\-]|\\[nr]|^[ \t]*\d{1,6}[→:|\t]|(?<=[\n])[ \t]*\d{1,6}[→:|\t])"""
_PEM_BODY = (
    rf"(?:{_BETWEEN_LINES}|\b(?:Proc-Type|DEK-Info|Version|Comment):[^\n\\]*|[A-Za-z0-9+/]{{40,}}={{0,2}})*"
    r"(?:[A-Za-z0-9+/]{2,}={0,2})?"
)
_PEM_LINES = rf"(?:[A-Za-z0-9+/]{{24,}}={{0,2}}{_BETWEEN_LINES}*)+[A-Za-z0-9+/]*={{0,2}}\s*$"
_BASE64_LINE = r"[A-Za-z0-9+/]{24}"


def _private_keys(text: str) -> Iterator[Secret]:
    covered = 0
    for begin in _compiled(_PEM).finditer(text):
        if begin.start() < covered:
            continue
        last = _compiled(_PEM_END).search(text, begin.end(), begin.end() + MAX_PEM)
        body = None if last else _compiled(_PEM_BODY).match(text, begin.end(), begin.end() + MAX_PEM)
        start, end = begin.end(), last.start() if last else body.end() if body else begin.end()
        covered = end
        if _compiled(_BASE64_LINE).search(text, start, end):
            yield Secret(start=start, end=end, kind="private key")
    for last in _compiled(_PEM_END).finditer(text):
        if last.start() > covered and (
            lines := _compiled(_PEM_LINES).search(text, max(0, last.start() - MAX_PEM), last.start())
        ):
            yield Secret(start=lines.start(), end=last.start(), kind="private key")
        covered = max(covered, last.end())


# Values of names.

# From a name to its value: an assignment, perhaps with a type, an argument, "is", a blank, an element of XML, or the
# value of a pair that has the name for its name.
_TO_VALUE = (
    rf"(?:{_QUOTE})?\]?(?:(?:[ \t]*:[ \t]*[A-Za-z][\w\[\]|. ]{{0,30}}|[ \t]+string)?[ \t]{{0,20}}"
    r"(?:=>|:=|[!=]==?|=|：|\|\||\?\?)[ \t]{0,20}|[ \t]*:[ \t]{0,20}"
    rf"|[ \t]*\([ \t]*(?={_QUOTE})|[ \t]+(?:is|was|ist|est|es)[ \t:]{{1,3}}|[ \t]+(?={_QUOTE})|>(?=[^<\s]{{4,200}}</)"
    rf"|,?\s*(?:{_QUOTE})?value(?:{_QUOTE})?[ \t]*[:=][ \t]*)"
)
_VALUE = (
    rf"[bruf]{{0,2}}(?P<quote>{_QUOTE})(?P<quoted>(?:(?!(?P=quote))[^\n\r]){{4,500}})(?P=quote)"
    r"|(?P<bare>[^\s\"'`<>\\,;(){}\[\]|]{4,500})(?P<call>[(\[])?"
)
_ASSIGNED = rf"{_TO_VALUE}(?:{_VALUE})"
# Of an environment file, everything up to the blank is the value.
_EXPORTED = r"=(?P<bare>[^\s\"'`\\][^\s\"'`\\]{3,500})"
_IS_EXPORT = r"(?:^|\n|\\n|\bexport |\bENV |-e |→|\t)[ ]{0,4}[A-Z][A-Z0-9_]*$"
# --password value, sshpass -p value, login ... password value.
_OPTION = (
    rf"[ \t]+(?:-p[ \t]*)?(?:(?P<quote>{_QUOTE})(?P<quoted>[^\n\r]{{4,200}}?)(?P=quote)"
    r"|(?P<bare>[^\s\"'`|;&<>\\]{4,500})(?P<call>\()?)"
)
_IS_OPTION = r"(?i:(?:^|[\s\"'`\[,])--?[A-Za-z-]*$|\bssh$|\blogin\s+\S+\s+$)"
_CURL = (
    rf"[^\n]{{0,300}}?[ ](?:-u|--user|--proxy-user)[ =]?(?:{_QUOTE})?[\w.@+-]{{1,80}}:(?P<value>[^\s\"'`\\]{{5,200}})"
)
# A user's name and password.
_FAR_ADDRESS = 500
_ADDRESS = r"://[^\s/:@\"'`<>]{0,200}:(?P<value>[^\s/\"'`<>]{3,300})@(?=[\w\[${%-])"


def _named(text: str, lower: bytes) -> Iterator[Secret]:
    """Yield the values of names that tell what they are."""
    for name in NAMES:
        for at in _places(lower, name.sign.encode()):
            if name.sign == "key" and not _is_key_named(lower, at):
                continue
            if found := _compiled(name.pattern).match(text, at):
                yield from _value_of(text, found.start(), found.end(), name)
    if not text.isascii():
        for word in OTHER_NAMES:
            at = text.find(word) if word[0] in text else -1
            while at >= 0:
                yield from _value_of(text, at, at + len(word), NAMES[0])
                at = text.find(word, at + 1)
    for at in _places(lower, b"@"):
        start = lower.rfind(b"://", max(0, at - _FAR_ADDRESS), at)
        if start >= 0 and (found := _compiled(_ADDRESS).match(text, start)) and not _is_dummy(found["value"]):
            yield Secret(start=found.start("value"), end=found.end("value"), kind="password")
    for at in _places(lower, b"curl") if len(text) < MAX_COMMAND else ():
        if (found := _compiled(_CURL).match(text, at)) and _is_password(found["value"], True):
            yield Secret(start=found.start("value"), end=found.end("value"), kind="password")


@cache
def _ends_before_key() -> frozenset[bytes]:
    return frozenset(one[-3:].encode() for one in _BEFORE_KEY)


def _is_key_named(lower: bytes, at: int) -> bool:
    """Whether the word before "key" may be one that says which: this costs less than the pattern."""
    end = at - 1 if lower[at - 1 : at] in (b"_", b"-", b" ") else at
    return lower[max(0, end - 3) : end] in _ends_before_key()


def _places(lower: bytes, sign: bytes) -> Iterator[int]:
    at = lower.find(sign)
    while at >= 0:
        yield at
        at = lower.find(sign, at + len(sign))


def _value_of(text: str, start: int, end: int, name: Name) -> Iterator[Secret]:
    """Yield what a name has for its value, where that is a secret."""
    is_export = text[end : end + 1] == "=" and _compiled(_IS_EXPORT).search(text, max(0, start - 60), end)
    found = (_compiled(_EXPORTED).match(text, end) if is_export else None) or _compiled(_ASSIGNED).match(text, end)
    before = text[max(0, start - 40) : start].lower()
    if (
        not found
        and ("-" in before or "ssh" in before or "login" in before)
        and _compiled(_IS_OPTION).search(text, max(0, start - 60), start)
    ):
        found = _compiled(_OPTION).match(text, end)
        is_export = found
    if not found:
        return
    groups = found.groupdict()
    group = "quoted" if groups.get("quoted") else "bare"
    value, is_whole = found[group], group == "quoted" or bool(is_export)
    if group == "bare" and not is_export:
        value = value.rstrip(".:?)") if name.is_password else value.partition("&")[0].rstrip(".:!?*_)")
    if groups.get("call") or not (
        _is_password(value, is_whole) if name.is_password else _is_key(value, MIN_KEY if is_whole else MIN_BARE_KEY)
    ):
        return
    start = found.start(group)
    tail = 2 if not name.is_password and len(value) >= MIN_FOR_TAIL else 0
    yield Secret(start=start, end=start + len(value), kind=name.kind, tail=tail)


# What a secret looks like, and what stands for one.

_PLACEHOLDER = (
    r"x{4,}|X{4,}|\*{3,}|\.{3}|…|•{2,}|#{4,}|_{4,}|<|\$\{|\$\(|\{\{|%[({]|\[masked|your|YOUR|xample|XAMPLE|laceholder"
    r"|PLACEHOLDER|edacted|EDACTED|change_?-?me|CHANGE_?-?ME|replace|REPLACE|dummy|DUMMY|masked|insert|INSERT|fake|FAKE"
)
_REFERENCE = (
    r"[$%@&][A-Za-z_{(][\w.:}]*[%)]?$|[$%@]?[A-Za-z_]\w*(?:(?:\.|->|::|\?\.)[A-Za-z_]\w*)+[:!?]?$|[{\[(].*[}\])]$"
)
# Words, perhaps with a number within or behind each: an identifier, a path, a version. Random letters change their
# case more often than words do.
_LETTERS = r"(?:[A-Z]?[a-z]{2,}|[A-Z]{2,}(?![a-z])|[A-Z](?=[A-Z]?[a-z]{2})|[a-z](?![a-z])|[A-Z](?![A-Za-z]))++"
_WORDS = (
    rf"[_$@.~/#:-]*+(?:(?:{_LETTERS}(?:\d{{1,4}}+(?=[A-Za-z]{{3}}){_LETTERS})?\d{{0,4}}+|\d{{1,8}}+)"
    r"(?:[_./:@=?&,~|-]++|$))*+$"
)
_PLAIN_WORDS = r"[_.~/-]*+(?:(?:[A-Za-z]++(?:\d{1,4}+[A-Za-z]{3,}+)?\d{0,4}+|\d{1,8}+)(?:[_./:|,-]++|$))*+$"
_DUMMIES = frozenset(
    "password passwd passphrase passwort passw pass pwd secret secrets token key test tests testing tester admin root"
    " user username changeme example foo bar baz foobar abc abcd abcde qwerty hello world string none null undefined"
    " true false demo dummy mock fake sample value default required optional hidden postgres postgresql mysql redis"
    " mongo rabbit guest my mysecret mypassword mypass testpassword testuser secretpassword secretkey testpass"
    " testing wrong wrongpassword invalid correct correctpassword new old newpassword newpass oldpassword oldpass"
    " letmein welcome supersecret topsecret userpass userpassword adminpass adminpassword dev local strongpassword"
    " strongpass securepassword securepass validpassword".split()
)
_LETTER, _DIGIT, _MARK = r"[^\W\d_]", r"\d", r"[!@#$%^&*+=?~]"
_KEY = r"[A-Za-z0-9_.~+/=:|!@#$%^&*-]+"
_DATE = r"\d{4}-\d\d-\d\d[T ]|\w+(?:://|%3A%2F)"


def _is_placeholder(value: str) -> bool:
    return bool(_compiled(_PLACEHOLDER).search(value))


def _is_dummy(value: str) -> bool:
    """Whether a value stands for one: a variable, a template, a word that examples have for a password."""
    return (
        _is_placeholder(value)
        or bool(_compiled(_REFERENCE).match(value))
        or value.strip("0123456789!@#$%^&*_-.?").lower().replace("_", "").replace("-", "") in _DUMMIES
        or (
            not _compiled(_LETTER).search(value)
            and not (_compiled(_DIGIT).search(value) and _compiled(_MARK).search(value))
        )
    )


def _is_password(value: str, is_whole: bool) -> bool:
    """Whether a value is a password; of one without quotes less is certain."""
    if len(value) < MIN_PASSWORD or " " in value or "\t" in value or _is_dummy(value):
        return False
    if not (_compiled(_DIGIT).search(value) or _compiled(_MARK).search(value)) or "://" in value:
        return False
    if not _compiled(_PLAIN_WORDS).match(value):
        return is_whole or bool(_compiled(_DIGIT).search(value))
    # A single word with a number behind it: a password, or a variable.
    word = value.rstrip("0123456789")
    digits = len(value) - len(word)
    return word.isalpha() and (digits > 0 if is_whole else digits > 1 and len(value) >= 8)


def _is_key(value: str, least: int) -> bool:
    """Whether a value of so many characters looks random."""
    if (
        len(value) < least
        or not _compiled(_KEY).fullmatch(value)
        or not _compiled(_LETTER).search(value)
        or not _compiled(_DIGIT).search(value)
    ):
        return False
    if _is_dummy(value) or _compiled(_WORDS).match(value) or _compiled(_DATE).match(value):
        return False
    length = len(value)
    return -sum(count / length * math.log2(count / length) for count in Counter(value).values()) >= MIN_ENTROPY


def _merged(found: list[Secret]) -> list[Secret]:
    """Put secrets into order; of those that overlap the first that was found says what it is."""
    ranks = {id(one): rank for rank, one in enumerate(found)}
    kept: list[Secret] = []
    for one in sorted(found, key=lambda one: (one.start, -one.end)):
        if kept and one.start < kept[-1].end:
            last = kept[-1]
            first = last if ranks.get(id(last), -1) <= ranks[id(one)] else one
            if one.end > last.end or first is one:
                start, end = last.start, max(last.end, one.end)
                joined = Secret(
                    start=start,
                    end=end,
                    kind=first.kind,
                    head=first.head if first.start == start else 0,
                    tail=first.tail if first.end == end else 0,
                )
                ranks[id(joined)] = ranks[id(first)]
                kept[-1] = joined
        else:
            kept.append(one)
    return kept


def mask_values(value: Any, json: str) -> Any:
    """Mask the texts of a value, names of fields included; its JSON is looked through first, in one go."""
    return _masked_values(value) if not _revealed.get() and find(json) else value


def _masked_values(value: Any) -> Any:
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, Mapping):
        return {_masked_values(name): _masked_values(one) for name, one in value.items()}
    return [_masked_values(one) for one in value] if isinstance(value, Sequence) else value


# Whom secrets are shown to.


@contextmanager
def revealed(is_revealed: bool = True) -> Iterator[None]:
    """Let texts that are read in this context keep their secrets."""
    before = _revealed.set(is_revealed)
    try:
        yield
    finally:
        _revealed.reset(before)


def is_revealed() -> bool:
    """Say whether secrets are shown here."""
    return _revealed.get()
