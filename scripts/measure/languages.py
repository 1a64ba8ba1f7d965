"""Writes histories in Chinese, Korean, French, Japanese and English, with questions in and across these languages.

`in_languages/` holds conversations, each with a question that says it in other words (`P` a prompt, `A` what answers
it, `Q` the question), and the questions across languages. They were written before any result was looked at. Among them
lie sessions of noise, made of a few patterns over the same things, each of which occurs once. The right message is what
answers, never the prompt.
"""

import argparse
import itertools
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import orjson

from tests.support.transcript import Transcript

TEXTS = Path(__file__).parent / "in_languages"
LANGUAGES = ("zh", "ko", "fr", "ja", "en")
NOISY_TURNS = 3


class Topic(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked and answered once, and a question about it; none is asked in English."""

    prompt: str
    answer: str
    question: str = ""


class Noise(msgspec.Struct, frozen=True, kw_only=True):
    """How people talk about whatever it is: things, their troubles, causes, cures, and sentences made of these."""

    things: tuple[str, ...]
    troubles: tuple[str, ...]
    causes: tuple[str, ...]
    cures: tuple[str, ...]
    prompt: str
    narration: str
    answer: str


NOISE = {
    "zh": Noise(
        things=("登录页", "订单列表", "支付模块", "搜索服务", "消息队列", "用户中心", "缓存层", "报表导出", "图片服务"),
        troubles=("响应变慢", "偶尔报错", "样式错乱", "重复提交", "日志太多", "测试不稳定", "无法启动", "数据不一致"),
        causes=("配置写错了", "版本不兼容", "少了一个索引", "并发没有处理", "边界条件漏掉了", "依赖升级以后接口变了"),
        cures=("改了配置", "加了重试", "补了单元测试", "回退了版本", "重写了这个函数", "加了日志方便以后排查"),
        prompt="{thing}{trouble}，帮我看一下",
        narration="我先看看{thing}相关的代码，再决定怎么改。",
        answer="{thing}{trouble}是因为{cause}。我{cure}，本地验证通过，{other}没有受影响。",
    ),
    "ko": Noise(
        things=("로그인 화면", "주문 목록", "결제 모듈", "검색 서비스", "메시지 큐", "회원 정보", "캐시", "보고서"),
        troubles=("느려졌어", "가끔 오류가 나", "화면이 깨져", "두 번 제출돼", "로그가 너무 많아", "시작이 안 돼"),
        causes=("설정이 잘못되어", "버전이 맞지 않아", "인덱스가 없어서", "동시성 처리가 빠져서", "경계 조건을 놓쳐서"),
        cures=("설정을 고쳤습니다", "재시도를 넣었습니다", "테스트를 추가했습니다", "버전을 되돌렸습니다"),
        prompt="{thing} {trouble}. 확인해 줘",
        narration="먼저 {thing} 관련 코드를 살펴보겠습니다.",
        answer="{thing} 문제는 {cause} 생겼습니다. {cure}. {other} 쪽에는 영향이 없습니다.",
    ),
    "fr": Noise(
        things=("la page de connexion", "la liste des commandes", "le module de paiement", "la recherche", "le cache"),
        troubles=(
            "est lente",
            "renvoie parfois une erreur",
            "s'affiche mal",
            "ne démarre plus",
            "écrit trop de traces",
        ),
        causes=("la configuration était fausse", "la version ne convient pas", "il manquait un index", "un cas limite"),
        cures=("corrigé la configuration", "ajouté une reprise", "écrit des tests", "remis l'ancienne version"),
        prompt="{thing} {trouble}, peux-tu regarder ?",
        narration="Je vais d'abord lire le code de {thing}.",
        answer="Pour {thing}, la cause est simple : {cause}. J'ai {cure}, et {other} n'est pas concerné.",
    ),
    "ja": Noise(
        things=(
            "ログイン画面",
            "注文一覧",
            "決済モジュール",
            "検索サービス",
            "キュー",
            "会員情報",
            "キャッシュ",
            "帳票",
        ),
        troubles=("が遅い", "で時々エラーになる", "の表示が崩れる", "のログが多すぎる", "が起動しない"),
        causes=("設定が間違っていた", "版が合っていなかった", "索引がなかった", "境界の条件が漏れていた"),
        cures=("設定を直しました", "再試行を入れました", "テストを足しました", "前の版に戻しました"),
        prompt="{thing}{trouble}ので見てください",
        narration="まず{thing}のコードを確認します。",
        answer="{thing}の件は、{cause}ことが原因でした。{cure}。{other}への影響はありません。",
    ),
    "en": Noise(
        things=(
            "the login page",
            "the order list",
            "the payment module",
            "the search service",
            "the queue",
            "the cache",
        ),
        troubles=("is slow", "fails now and then", "looks broken", "does not start", "logs too much", "is flaky"),
        causes=("the configuration was wrong", "the versions do not match", "an index was missing", "an edge case"),
        cures=("fixed the configuration", "added a retry", "wrote tests", "went back to the old version"),
        prompt="{thing} {trouble}, can you have a look?",
        narration="Let me look at the code of {thing} first.",
        answer="The trouble with {thing} was this: {cause}. I {cure}, and {other} is not affected.",
    ),
}
THANKS = {"zh": "好的，谢谢", "ko": "고마워", "fr": "merci", "ja": "ありがとう", "en": "thanks"}


def main() -> int:
    """Write DIR/home and DIR/queries.jsonl, for `scripts/eval DIR/queries.jsonl --index INDEX`."""
    parser = argparse.ArgumentParser(prog="scripts/in-languages", description=__doc__)
    parser.add_argument("directory", metavar="DIR", help="where to write home/ and queries.jsonl")
    parser.add_argument("--languages", default=",".join(LANGUAGES), help="which, by commas (default: all of them)")
    arguments = parser.parse_args()
    directory = Path(arguments.directory).absolute()
    chosen = arguments.languages.split(",")
    written = [line for language in chosen for line in _write(directory / "home", language)]
    answers = {(line["lang"], line.pop("prompt")): line["gold"] for line in written}
    asked = [line for line in written if line["query"]]
    lines = [*asked, *(line for line in _across(answers) if line)]
    (directory / "queries.jsonl").write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    print(f"{len(lines)} questions; searchkit index --root {directory / 'home'}")
    return 0


def _write(home: Path, language: str) -> Iterator[dict[str, object]]:
    """Write the sessions of a language, and yield its questions."""
    names = (f"{language.encode().hex()}{number:04}-1111-4111-8111-111111111111" for number in itertools.count())
    chance = random.Random(language)
    project = home / "projects" / f"-home-mira-src-{language}"
    noise = NOISE[language]
    noisy = list(itertools.product(noise.things, noise.troubles))
    chance.shuffle(noisy)
    for topic in _topics(language):
        name = next(names)
        session = Transcript(project / f"{name}.jsonl", name, cwd=f"/home/mira/src/{language}")
        narration = noise.narration.format(thing=chance.choice(noise.things))
        gold = _turn(session, topic.prompt, narration, topic.answer, chance)
        session.prompt(THANKS[language])
        yield {"lang": language, "type": "own", "query": topic.question, "gold": [gold], "prompt": topic.prompt}
    while noisy:
        name = next(names)
        session = Transcript(project / f"{name}.jsonl", name, cwd=f"/home/mira/src/{language}")
        for _ in range(min(NOISY_TURNS, len(noisy))):
            thing, trouble = noisy.pop()
            values = {
                "thing": thing,
                "trouble": trouble,
                "other": chance.choice(noise.things),
                "cause": chance.choice(noise.causes),
                "cure": chance.choice(noise.cures),
            }
            narration, answer = noise.narration.format(**values), noise.answer.format(**values)
            _turn(session, noise.prompt.format(**values), narration, answer, chance)
        session.prompt(THANKS[language])


def _turn(session: Transcript, prompt: str, narration: str, answer: str, chance: random.Random) -> str:
    """Write a turn, and return the id of what answers."""
    session.prompt(prompt)
    session.text(narration)
    call = session.call("Bash", {"command": f"rg -n {chance.choice(_WORDS)} src", "description": "Search the sources"})
    session.result(call, f"src/{chance.choice(_WORDS)}.py:{chance.randrange(900)}: {chance.choice(_WORDS)}()")
    return str(session.text(answer)["uuid"])


_WORDS = ("retry", "session", "cache", "token", "order", "render", "queue", "invoice", "upload", "search")


def _topics(language: str) -> Iterator[Topic]:
    for block in (TEXTS / f"{language}.txt").read_text(encoding="utf-8").strip().split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines())
        yield Topic(prompt=lines["P"], answer=lines["A"], question=lines.get("Q", ""))


def _across(answers: dict[tuple[object, object], object]) -> Iterator[dict[str, object]]:
    """Yield the questions across languages whose answers were written."""
    for line in (TEXTS / "across.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        place, *asked, question = (one.strip() for one in line.split("|"))
        language, _, beginning = place.partition(" ")
        gold = [
            gold for (lang, prompt), gold in answers.items() if lang == language and str(prompt).startswith(beginning)
        ]
        if any(lang == language for lang, _ in answers):
            [right] = gold
            yield {
                "lang": "across",
                "type": f"{asked[0] if asked else 'en'} to {language}",
                "query": question,
                "gold": right,
            }


if __name__ == "__main__":
    sys.exit(main())
