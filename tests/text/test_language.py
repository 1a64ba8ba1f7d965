"""Which language a text is said to be in."""

import unicodedata

import pytest

from searchkit.sources.parts import digest, split
from searchkit.text.language import LOOKED_AT_CHARS, language_of
from searchkit.types import Block, Kind, Language, Record, Role

SENTENCES = [
    ("en", "Please fix the failing test, it doesn't wait for the server to start."),
    ("zh", "登录以后会话马上就过期了，请检查一下缓存的代码。"),
    ("zh", "為什麼這個測試在本機可以通過，但在伺服器上會失敗？"),
    ("ja", "テストが失敗する理由を調べて、修正してください。"),
    ("ko", "로그인한 뒤에 세션이 바로 만료되는 문제를 고쳐 주세요."),
    ("fr", "Pourquoi le serveur renvoie-t-il une erreur quand la session est expirée ?"),
    ("de", "Warum schlägt der Test fehl, wenn die Datenbank nicht läuft?"),
    ("es", "¿Por qué falla la prueba cuando el servidor no está en marcha?"),
    ("pt", "Por que o teste falha quando o banco de dados não está rodando?"),
    ("it", "Perché il test fallisce quando la banca dati non è in esecuzione?"),
    ("nl", "Waarom mislukt de test als de databank niet draait?"),
    ("pl", "Dlaczego test się nie udaje, gdy baza danych nie jest uruchomiona?"),
    ("sv", "Varför misslyckas testet när databasen inte är igång?"),
    ("tr", "Veritabanı çalışmadığında bu test neden başarısız oluyor?"),
    ("vi", "Tại sao bài kiểm tra thất bại khi cơ sở dữ liệu không chạy?"),
    ("ru", "Почему тест падает, когда база данных не запущена?"),
    ("uk", "Чому тест не проходить, коли база даних не запущена і сервер мовчить?"),
    ("ar", "لماذا يفشل الاختبار عندما لا تعمل قاعدة البيانات؟"),
    ("fa", "چرا وقتی پایگاه داده اجرا نمی‌شود آزمون شکست می‌خورد؟"),
    ("he", "למה הבדיקה נכשלת כשמסד הנתונים לא פועל?"),
    ("hi", "जब डेटाबेस नहीं चल रहा होता तो परीक्षण क्यों विफल होता है?"),
    ("th", "ทำไมการทดสอบถึงล้มเหลวเมื่อฐานข้อมูลไม่ทำงาน"),
    ("el", "Γιατί αποτυγχάνει η δοκιμή όταν η βάση δεδομένων δεν τρέχει;"),
]
BARE = [
    ("fr", "corrige le bogue dans la base de donnees"),
    ("fr", "pourquoi la requete est si lente apres la mise a jour"),
    ("es", "por que falla la prueba cuando el servidor no esta en marcha"),
    ("pt", "por que o teste falha quando o banco de dados nao esta rodando"),
    ("it", "perche il test fallisce quando la banca dati non e in esecuzione"),
    ("de", "warum schlaegt der Test fehl, wenn die Datenbank nicht laeuft"),
]
MIXED = [
    ("zh", "请把 parse_config 改成 load_settings，然后运行 pytest tests/test_config.py -q"),
    ("ja", "git rebase --onto main feature の後で merge conflict が出ます"),
    ("ko", "Dockerfile 에서 npm install 이 너무 느려요, cache mount 를 써 주세요"),
    ("ru", "Запусти docker compose up и посмотри, почему healthcheck не проходит"),
    ("fr", "Le hook useEffect est appelé deux fois dans le composant SearchBar"),
    ("en", "The label 登录 is cut off on the page, and it should be as wide as the button."),
    ("en", "The word „Straße“ has to be found without its ß, and so does “naïve”."),
    ("fr", "Voici le code que j'ai :\n```python\n# the list of all the users that we have to keep\nusers = []\n```"),
    ("en", "`die Datenbank ist nicht erreichbar` is what it says when the host is wrong"),
]
UNTOLD = [
    "",
    "\n\n",
    "ok",
    "/clear",
    "src/searchkit/de/la/que/und/index.py",
    "for x in y:\n    if x is not None and z or w:\n        return [a for a in x]",
    "import numpy as np\nfrom os import path as p",
    "SELECT id FROM users WHERE name IS NOT NULL AND id IN (1, 2) OR 1 = 1",
    '{"de": 1, "la": 2, "die": 3, "que": 4}',
    "2026-03-01T10:00:00Z INFO GET /v1/search?q=der 200 12ms",
    "α + β = γ",
    "Δt = 3 μs",
    "de la",
    "🎉🎉🎉 ✅",
    "deadbeef 0a1b2c3d " * 50,
    "Databasen er ikke i gang, og jeg ved ikke hvorfor.",
    "Зашто тест не пролази кад база података није покренута?",
]


@pytest.mark.parametrize(("language", "text"), SENTENCES)
def test_sentence_is_in_its_language(language: str, text: str) -> None:
    """A sentence is told, and so it is in capitals, and with its accents as characters of their own."""
    told = [language_of(form) for form in (text, text.upper(), unicodedata.normalize("NFD", text), f"\n  {text}\n")]

    assert [language] * 4 == told


def test_every_language_is_tried() -> None:
    """No language is left out above."""
    assert set(Language) == {Language(language) for language, _ in SENTENCES}


@pytest.mark.parametrize(("language", "text"), BARE)
def test_accents_may_be_left_out(language: str, text: str) -> None:
    """People type without accents, and small words are enough."""
    assert language == language_of(text)


@pytest.mark.parametrize(("language", "text"), MIXED)
def test_most_of_the_prose_decides(language: str, text: str) -> None:
    """Names, commands and what is quoted as code do not count, whatever their script."""
    assert language == language_of(text)


@pytest.mark.parametrize("text", UNTOLD, ids=[ascii(text)[1:30] for text in UNTOLD])
def test_what_cannot_be_told_is_not_guessed(text: str) -> None:
    """Code, paths, output, too few words, and languages that are not in the list have none."""
    assert language_of(text) is None


def test_only_the_beginning_is_looked_at() -> None:
    """A long text costs no more than a short one."""
    beginning = ("the end of the line is near. " * LOOKED_AT_CHARS)[:LOOKED_AT_CHARS]

    assert "en" == language_of(beginning + "Warum ist das nicht so? " * 1_000)
    assert language_of("x" * LOOKED_AT_CHARS + beginning) is None


def parts(kind: Kind, text: str) -> list[tuple[int, Language | None]]:
    """Split a record with one block, and return digest and language of its part."""
    block = Block(number=0, kind=kind, role=Role.USER, text=text)
    made = split(Record(uuid="u", type="user", line=1, blocks=[block]))
    return [(part.digest, part.language) for part in made]


def test_only_what_is_written_by_people_and_models_has_a_language() -> None:
    """What programs say has none, though it may read like prose."""
    text = "this is the text that was written"

    without = {kind for kind in Kind if parts(kind, text)[0][1] is None}

    assert {Kind.TOOL_CALL, Kind.TOOL_RESULT, Kind.SYSTEM, Kind.ATTACHMENT} == without


def test_one_text_has_one_language() -> None:
    """Kinds whose equal texts are one text have a language alike: a part may change from one of them to another."""
    text = "this is the text that was written"
    languages: dict[int, set[Language | None]] = {}
    for kind in Kind:
        ((number, language),) = parts(kind, text)
        languages.setdefault(number, set()).add(language)

    assert len(languages) < len(Kind)
    assert {1} == {len(several) for several in languages.values()}
    assert digest(Kind.PROMPT, text) in languages
