"""Texts with secrets in them and texts without: values are random, made when they are asked for, and of no service."""

import base64
import json
import random
import re
import string
from collections.abc import Iterator
from typing import NamedTuple

# Of a secret so many characters in a row may be left: what its mask shows is shorter.
MOST_LEFT = 8
_ALPHABETS = {
    "B": string.ascii_letters + string.digits,
    "H": "0123456789abcdef",
    "U": string.ascii_letters + string.digits + "_-",
    "D": string.digits,
    "C": "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
    "A": string.ascii_uppercase + string.digits,
    "L": string.ascii_lowercase,
    "S": string.ascii_letters + string.digits + "+/",
    "P": string.ascii_letters + string.digits + "!@#%^*-_=+",
}
# Keys as services give them: `{B36}` is 36 letters and digits, and so on.
KEYS = """
AWS access key|AKIA{C16}
AWS access key|ASIA{C16}
AWS Bedrock key|ABSK{S110}
Google API key|AIza{U35}
Google client secret|GOCSPX-{U28}
Google access token|ya29.a0{U120}
Google refresh token|1//0{U60}
Azure client secret|{B3}8Q~{U34}
Azure key|{B52}JQQJ99{B26}
Azure DevOps token|{B76}AZDO{B4}
GitHub token|ghp_{B36}
GitHub token|gho_{B36}
GitHub token|ghu_{B36}
GitHub token|ghs_{B36}
GitHub token|ghr_{B76}
GitHub token|github_pat_{B22}_{B59}
GitLab token|glpat-{U20}
GitLab token|glrt-{U20}
GitLab token|gldt-{U20}
GitLab token|glptt-{H40}
GitLab token|GR1348941{U20}
Slack token|xoxb-{D12}-{D12}-{B24}
Slack token|xoxp-{D12}-{D12}-{D12}-{H32}
Slack token|xoxe.xoxp-1-{B150}
Slack token|xapp-1-A{A10}-{D13}-{H64}
Slack webhook|https://hooks.slack.com/services/T{A8}/B{A10}/{B24}
Discord token|M{U23}.{U6}.{U38}
Discord webhook|https://discord.com/api/webhooks/{D18}/{U68}
Teams webhook|https://acme.webhook.office.com/webhookb2/{H8}-{H4}-{H4}-{H4}-{H12}@{H8}-{H4}-{H4}-{H4}-{H12}/IncomingWebhook/{H32}/{H8}-{H4}-{H4}-{H4}-{H12}
Stripe key|sk_live_{B24}
Stripe key|sk_test_{B99}
Stripe key|rk_live_{B24}
webhook secret|whsec_{B32}
OpenAI key|sk-proj-{U74}T3BlbkFJ{U74}
OpenAI key|sk-{B20}T3BlbkFJ{B20}
OpenAI key|sk-svcacct-{U120}
API key|sk-{B48}
API key|sk-{H32}
Anthropic key|sk-ant-api03-{U93}AA
Anthropic key|sk-ant-oat01-{U93}AA
Anthropic key|sk-ant-admin01-{U93}AA
OpenRouter key|sk-or-v1-{H64}
npm token|npm_{B36}
PyPI token|pypi-AgEIcHlwaS5vcmc{U150}
Twilio key|SK{H32}
SendGrid key|SG.{U22}.{U43}
Hugging Face token|hf_{B34}
Telegram token|{D10}:AA{U33}
Shopify token|shpat_{H32}
Shopify token|shpss_{H32}
DigitalOcean token|dop_v1_{H64}
DigitalOcean token|doo_v1_{H64}
Heroku key|HRKU-AA{U58}
Mailgun key|key-{H32}
Mailgun key|{H32}-{H8}-{H8}
Mailchimp key|{H32}-us21
Brave key|BSA{U28}
NVIDIA key|nvapi-{U64}
Brevo key|xkeysib-{H64}-{B16}
Resend key|re_{B8}_{B24}
Cloudflare key|v1.0-{H24}-{H146}
Vercel token|vcp_{B56}
Supabase key|sbp_{H40}
Supabase key|sb_secret_{U31}
Databricks token|dapi{H32}
Databricks token|dapi{H32}-2
Atlassian token|ATATT3xFfGF0{U175}={H8}
Atlassian token|ATBB{B32}
Linear key|lin_api_{B40}
Notion token|ntn_{B46}
Notion token|secret_{B43}
Figma token|figd_{U40}
Sentry token|sntrys_eyJ{S100}_{S43}
Sentry token|sntryu_{H64}
Grafana token|glsa_{B32}_{H8}
Grafana token|glc_eyJ{S80}
Vault token|hvs.{U90}
Vault token|hvb.{U138}
Doppler token|dp.pt.{B43}
Doppler token|dp.st.prd.{B40}
Fly token|fo1_{U43}
Fly token|fm2_{S120}
Netlify token|nfp_{B36}
Square token|EAAA{U60}
Square token|sq0atp-{U22}
Square token|sq0csp-{U43}
Facebook token|EAACEdEose0cBA{B120}
Braintree token|access_token$production${L16}${H32}
Postman key|PMAK-{H24}-{H34}
New Relic key|NRAK-{A27}
New Relic key|{H36}NRAL
age key|AGE-SECRET-KEY-1{A58}
JSON web token|{jwt}
Terraform token|{B14}.atlasv1.{U67}
Pulumi token|pul-{H40}
Airtable token|pat{B14}.{H64}
HubSpot token|pat-na1-{H8}-{H4}-{H4}-{H4}-{H12}
Groq key|gsk_{B52}
xAI key|xai-{B80}
Perplexity key|pplx-{B48}
Replicate token|r8_{B37}
Pinecone key|pcsk_{B6}_{B63}
LangSmith key|lsv2_pt_{H32}_{H10}
Langfuse key|sk-lf-{H8}-{H4}-{H4}-{H4}-{H12}
PlanetScale token|pscale_tkn_{U43}
Neon key|napi_{B64}
Dropbox token|sl.{U135}
Tailscale key|tskey-auth-{B17}-{B32}
1Password token|ops_eyJ{U200}
Mapbox token|sk.eyJ{U60}.{U22}
CircleCI token|CCIPAT_{B22}_{H40}
Buildkite token|bkua_{H40}
Contentful token|CFPAT-{U43}
RubyGems key|rubygems_{H48}
crates.io token|cio{B32}
Docker token|dckr_pat_{U27}
ElevenLabs key|sk_{H48}
""".strip().splitlines()
# Where keys stand; `{}` is the key.
PLACES = (
    "use {} for this",
    "API_KEY={}",
    'const client = new Client("{}");',
    '{{"key": "{}"}}',
    "first line\\n{}\\nlast line",
    "- {}",
)
# Names that passwords and random keys are assigned to, in files, programs and commands; `{}` is the value.
PASSWORD_PLACES = (
    "DB_PASSWORD={}",
    "export PGPASSWORD={}",
    "MYSQL_ROOT_PASSWORD='{}'",
    'password = "{}"',
    "password: {}",
    'password: "{}"',
    '{{"user": "mira", "password": "{}"}}',
    '{{\\"user\\": \\"mira\\", \\"password\\": \\"{}\\"}}',
    "'password' => '{}',",
    'let dbPassword = "{}";',
    'var password string = "{}"',
    'password: str = "{}"',
    'const password: string = "{}";',
    'password := "{}"',
    'private String passwd = "{}";',
    'connect(host="db", user="mira", password="{}")',
    "Server=db;Database=shop;User Id=mira;Password={};Encrypt=true",
    "mongodb://mira:{}@db.internal:27017/shop",
    "postgresql+asyncpg://mira:{}@10.0.0.5/shop?sslmode=require",
    "https://mira:{}@git.internal/shop.git",
    "redis://:{}@cache.internal:6379/0",
    "mysqldump --password={} shop",
    "cli login --user mira --password {}",
    "sshpass -p {} ssh mira@host",
    "curl -u mira:{} https://api.internal/",
    "machine api.internal login mira password {}",
    "<password>{}</password>",
    "The password is {} and it expires soon.",
    "the admin password is `{}`",
    'user.setPassword("{}")',
    "CREATE USER mira WITH PASSWORD '{}';",
    "passphrase: '{}'",
    "spring.datasource.password={}",
    "pwd={};",
    'os.environ["DB_PASSWORD"] = "{}"',
    "ENV ADMIN_PASSWORD={}",
    "docker run -e POSTGRES_PASSWORD={} postgres",
    "Passwort: {}",
    "пароль: {}",
    "密码：{}",
    "- name: DB_PASSWORD\n  value: {}",
    '{{"name": "DB_PASSWORD", "value": "{}"}}',
    "    12→DB_PASSWORD={}",
    "+DB_PASS={}",
    "WIFI_PASSPHRASE={}",
)
KEY_PLACES = (
    "AWS_SECRET_ACCESS_KEY={}",
    "aws_secret_access_key = {}",
    'secret_key = "{}"',
    "SECRET_KEY_BASE={}",
    '{{"client_secret": "{}"}}',
    "DATADOG_API_KEY={}",
    "DD-API-KEY: {}",
    "X-Api-Key: {}",
    "-H 'X-Auth-Token: {}'",
    "PRIVATE-TOKEN: {}",
    "Authorization: Bearer {}",
    'headers = {{"Authorization": "Bearer {}"}}',
    "-H 'Authorization: token {}'",
    "Authorization: {}",
    "//registry.npmjs.org/:_authToken={}",
    "https://api.internal/v1/items?access_token={}&page=2",
    "https://api.internal/v1/items?api_key={}",
    "https://files.internal/report.pdf?sig={}",
    "DefaultEndpointsProtocol=https;AccountName=shop;AccountKey={};EndpointSuffix=core.windows.net",
    "Endpoint=sb://shop.servicebus.windows.net/;SharedAccessKey={}",
    "refresh_token: {}",
    'apiKey: "{}",',
    'apikey="{}"',
    "tool --api-key {}",
    "tool --token={}",
    "Cookie: theme=dark; session_id={}; lang=en",
    "Set-Cookie: sid={}; Path=/; HttpOnly",
    'token := "{}"',
    "encryption_key: {}",
    "signing_secret: {}",
    'const webhookSecret = "{}"',
    "CF_API_TOKEN={}",
    "TWILIO_AUTH_TOKEN={}",
    "ALGOLIA_ADMIN_KEY={}",
    "OKTA_CLIENT_TOKEN={}",
    "paypal.client.secret={}",
    '"auths": {{"registry.internal": {{"auth": "{}"}}}}',
    "storage_account_key = {}",
    'api_token: str = "{}"',
    "my api key is {}",
    "<ApiKey>{}</ApiKey>",
    '{{\\"access_token\\":\\"{}\\",\\"expires_in\\":3600}}',
    "NPM_TOKEN: '{}'",
    "JWT_SECRET={}",
    "SESSION_SECRET={}",
)
# What is no secret.
HARMLESS = (
    "API_KEY=YOUR_API_KEY",
    "API_KEY=xxxxxxxxxxxxxxxxxxxxxxxx",
    "password: ${DB_PASSWORD}",
    "password=$DB_PASSWORD",
    'password = os.environ["DB_PASSWORD"]',
    "password = getpass.getpass()",
    "password: str | None = None",
    "const token = await getToken(user.id2);",
    'token = request.headers.get("X-Auth-Token")',
    "Authorization: Bearer <token>",
    "Authorization: Bearer ${TOKEN}",
    "Authorization: Bearer $GITHUB_TOKEN",
    "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "AKIAIOSFODNN7EXAMPLE",
    "postgres://user:password@localhost/db",
    "postgres://postgres:postgres@localhost:5432/app",
    "postgres://$USER:$PASSWORD@db/app",
    "https://user:<password>@example.com",
    "the password field is required and must have 8 characters",
    "passwords are hashed with bcrypt before they are stored",
    "reset_password_token_expires_at",
    "max_tokens: 4096",
    "total tokens: 123456789",
    'input type="password" name="current-password"',
    '"password": "string"',
    '{"token_type": "bearer", "scope": "read:user"}',
    "The token bucket algorithm refills at 100 tokens per second.",
    "secret santa is on 2025-12-24",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "session 123e4567-e89b-12d3-a456-426614174000 was resumed",
    "key: value",
    "primary key: user_id2",
    "PRIMARY KEY (session_id, user_id)",
    "the key insight is that caching2 helps",
    "git clone git@github.com:acme/shop.git",
    "https://example.com:8080/path@v2",
    "docker pull ghcr.io/acme/app@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    'import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";',
    "secretName: my-tls-secret",
    "secretKeyRef: {name: db-credentials, key: password}",
    'password: z.string().min(8)',
    "assert user.check_password('password')",
    "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA\n-----END PUBLIC KEY-----",
    "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
    "grep -r 'BEGIN RSA PRIVATE KEY-----' .",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
    '"integrity": "sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg=="',
    "class TokenBucket2Limiter: pass",
    "PWD=/home/mira/projects/shop2",
    "OLDPWD=/src/v2",
    "api_key: string;",
    "auth: { user, pass }",
    "auth = HTTPBasicAuth(user1, pass1)",
    "password=<redacted>",
    "Cookie: theme=dark; lang=english",
    "cookie consent banner, version=1.2.3",
    "compass: north2east",
    "bypass=true1",
    "[masked: GitHub token ghp_…3f]",
    "password: [masked: password]",
    "passwd:x:0:0:root:/root:/bin/bash",
    "mov eax, 0x1234567890abcdef",
    "token = tokens[index + 1]",
    "self.token2 = token2",
    "if password == password2:",
    "password1=password2",
    "token: Token2Kind",
    "secret = secrets.token_hex(32)",
    "auth_token = create_access_token(data={'sub': user1})",
    "The API key is stored in the keychain.",
    "api key is read from OPENAI_API_KEY",
    "SG.example",
    "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
    "git commit -m 'Add password rules' -m 'password: at least 12 characters'",
    "eyJhbGciOi...",
    "key-value-store-2024-backup",
    "pre-commit-hooks-2024-05-01-release-notes",
    "node_modules/.pnpm/@babel+core@7.24.0_supports-color@9.4.0/node_modules",
    "aria-describedby=password-help-text-2",
    "tests/test_password_reset2.py::test_token_expires",
    "error TS2345: Argument of type 'string' is not assignable to parameter of type 'Token1'",
)  # fmt: skip


class Case(NamedTuple):
    """A text, the secret that is in it, and the kind of that where a format tells it."""

    text: str
    secret: str
    kind: str


def cases(seed: int) -> Iterator[Case]:
    """Yield texts with a secret each: keys in all places, passwords and random keys beside all names, private keys."""
    chance = random.Random(seed)
    for line in KEYS:
        kind, form = line.split("|")
        for place in PLACES:
            value = _filled(form, chance)
            yield Case(place.format(value), _secret_of(kind, form, value), kind)
    for place in PASSWORD_PLACES:
        for value in (_password(chance), _password(chance), _word_and_number(chance)):
            yield Case(place.format(value), value, "")
    for place in KEY_PLACES:
        for form in ("{B40}", "{H32}", "{S43}="):
            value = _filled(form, chance)
            yield Case(place.format(value), value.rstrip("="), "")
    yield from _private_keys(chance)
    basic = base64.b64encode(f"mira:{_password(chance)}".encode()).decode()
    yield Case(f"Authorization: Basic {basic}", basic, "")


def _secret_of(kind: str, form: str, value: str) -> str:
    if kind == "Slack webhook":
        return value.rpartition("/services/")[2]
    if kind.endswith("webhook"):
        return re.split(r"/webhooks/\d+/|/webhookb2/", value)[1].rstrip("/")
    return value[form.index("{") :] if "{jwt}" not in form else value[3:]


def _filled(form: str, chance: random.Random) -> str:
    form = form.replace("{jwt}", _jwt(chance) if "{jwt}" in form else "")
    return re.sub(
        r"\{([A-Z])(\d+)\}",
        lambda found: "".join(chance.choices(_ALPHABETS[found[1]], k=int(found[2]))),
        form,
    )


def _jwt(chance: random.Random) -> str:
    def part(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    body = {"sub": str(chance.randrange(10**9)), "iat": chance.randrange(10**9), "name": "Mira"}
    return f"{part({'alg': 'HS256', 'typ': 'JWT'})}.{part(body)}.{_filled('{U43}', chance)}"


def _password(chance: random.Random) -> str:
    """Make a password of letters, digits and a mark, as people or programs make them."""
    word = _filled("{B7}", chance) + chance.choice("0123456789") + chance.choice("!#%^*+") + _filled("{B4}", chance)
    return f"K{word}"


def _word_and_number(chance: random.Random) -> str:
    return f"{chance.choice(('hunter', 'sunflower', 'Winter', 'dragonfly'))}{chance.randrange(100, 9999)}!"


def _private_keys(chance: random.Random) -> Iterator[Case]:
    for kind in ("RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", "", "DSA "):
        lines = [_filled("{S64}", chance) for _ in range(12)]
        secret = lines[5]
        begin, end = f"-----BEGIN {kind}PRIVATE KEY-----", f"-----END {kind}PRIVATE KEY-----"
        numbered = "\n".join(f"{number:6d}→{line}" for number, line in enumerate([begin, *lines, end], 1))
        whole = "\n".join([begin, *lines, end])
        for text in (
            whole,
            json.dumps({"private_key": whole}),
            json.dumps(json.dumps({"private_key": whole})),
            numbered,
            "\n".join([begin, *lines]),
            "\n".join([*lines, end]),
            "\n".join(f"+{line}" for line in whole.splitlines()),
            whole.replace("\n", " "),
            f"cat key.pem\n{begin}\n" + "\n".join(lines[:7]) + "\n[output was cut]",
        ):
            yield Case(text, secret, "private key")
    lines = [_filled("{S64}", chance) for _ in range(12)]
    pgp = "\n".join(
        ["-----BEGIN PGP PRIVATE KEY BLOCK-----", "", *lines, "=" + _filled("{S4}", chance),
         "-----END PGP PRIVATE KEY BLOCK-----"]
    )  # fmt: skip
    yield Case(pgp, lines[5], "private key")
