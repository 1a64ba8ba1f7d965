"""Gives vectors to the parts that lack them, the most valuable and newest first."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from searchkit.backends.base import Backend, Stored, Vector
from searchkit.backends.duplicates import EXCHANGE_PIECE, pieces
from searchkit.embed.base import Embedder
from searchkit.types import Kind, Part

if TYPE_CHECKING:
    from searchkit.backends.base import Values

# Measured over real transcripts: with these, 82 instead of 76 of 100 questions were answered in the first ten.
# With 0.9 for a short text MRR was 71.1 instead of 72.3.
SHORT = 0.8
NARRATION = 0.8
CONCLUSION = 1.1
# Of English as many characters. A Chinese character has three, and says as much as that.
SHORT_BYTES = 200

_SAID = frozenset({Kind.TEXT, Kind.THINKING})
# "Let me check ...", "Now I'll ...": 63 % of all short texts. After a word or two of agreement, if any.
_NARRATING = re.compile(
    r"(?:(?:ok(?:ay)?|good|great|perfect|excellent|alright|now)[,.!:]?\s+)*"
    r"(?:now\s+)?(?:let me|let's|let us|i'll|i will|i need to|i'm going to|now i|now let|first,? i|next,? i)\b"
    # French.
    r"|(?:(?:ok|bien|bon|parfait|très bien|d'accord|maintenant|ensuite|d'abord)[,.!:]?\s+)*"
    r"(?:je (?:vais|commence|regarde|vérifie|lis|lance|passe|mets|modifie|cherche|crée|rédige|mesure|dois|voudrais)\b"
    r"|(?:voyons|regardons|vérifions|commençons|lançons|laissez?-moi)\b)"
    # Chinese.
    r"|(?:(?:好的?|可以|没问题|明白|收到|现在|首先|那么?|接下来|下面|然后|ok)[，,。！!：:\s]*)*"
    r"(?:让我|我来|我先|我会|我将|我需要|我要|我们[来先]|我再|接下来|下面|现在[我来让]|先[来看])"
    # Korean and Japanese say so at the end of a sentence.
    r"|[^.!?\n]{0,100}(?:겠습니다|[할볼올둘]게요|보죠|봅시다)"
    r"|[^。！？\n]{0,60}(?:てみます|ていきます|確認します|修正します|見ます|追加します|実行します|作成します|更新します)",
    re.IGNORECASE,
)
# Texts are lowered first, and all words begin at one place of the pattern: looking for each of them at each
# letter took twelve times as long, a twentieth of all embedding.
_CONCLUDING = re.compile(
    r"\b(?:root cause|fixed\b|because\b|turns out|instead of|caused by\b|due to\b|resolved\b|solution\b"
    r"|the (?:issue|problem|bug|reason|cause|culprit) (?:is|was)|now works|works now|decided\b|conclusion\b"
    r"|(?:la|les) causes?\b|à cause d|parce qu|corrigée?s?\b|résolue?s?\b|au lieu d|plutôt qu"
    r"|coupable\b|vien(?:t|nent) d[eu'’]|venai(?:t|ent) d[eu'’]|décidé|d'où\b|on retient\b"
    r"|le problème (?:est|était)\b)"
)
# Of words that stand without spaces.
_CONCLUDING_UNSPACED = re.compile(
    r"原因|根因|因为|由于|导致|问题出?在|修复了|已修复|解决了|改成|改为|而不是|结论|决定|罪魁"
    r"|원인|때문|해결|고쳤|수정했|바꿨|변경했|결론|결정|대신"
    r"|ため(?:です|でした)|修正しました|直しました|解決|代わりに|ようにしました"
)


def feature(kind: Kind, text: str) -> float:
    """Return what the meaning of a text counts times."""
    if kind not in _SAID:
        return 1.0
    is_short = len(text) < SHORT_BYTES and len(text.encode("utf-8", "replace")) < SHORT_BYTES
    length = SHORT if is_short else 1.0
    if _NARRATING.match(text.lstrip()):
        return length * NARRATION
    return length * CONCLUSION if _concludes(text.lower()) else length


def _concludes(text: str) -> bool:
    return bool(_CONCLUDING.search(text) or (not text.isascii() and _CONCLUDING_UNSPACED.search(text)))


# Gives vectors to the parts that lack them, the most valuable and newest first.
#
# It may be interrupted anywhere: what is kept is kept, and the next run asks again what is missing.

# Parts that are embedded and kept together: some seconds of work, so that little is lost by a kill. Texts of one
# length run together, and among more of them more are alike.
BATCH_PARTS = 1024
# Where somebody may come meanwhile who should not wait: a fraction of a second.
SMALL_BATCH_PARTS = 64
# Texts after which somebody who waits is shown how far it is.
REPORTED_TEXTS = 128
# Of a call, what says most stands first: vectors of so much of it gave 3.4 points of nDCG@10 on labelled questions.
CALL_CHARACTERS = 300
# And so much of anything else is as good as all that the model reads. On labelled questions hit@10 and MRR are the same
# from here on (93.3, 67.7; with 600 characters 91.7, 67.0), and it takes a fifth less time.
TEXT_CHARACTERS = 700
# Of an exchange, so much of the prompt and of its answer. With 250 and 450 MRR was 70.5 instead of 72.2 on 100
# questions over real transcripts, which is within the noise, and takes half as long again.
PROMPT_CHARACTERS = 150
ANSWER_CHARACTERS = 350


def embed(
    backend: Backend,
    embedder: Embedder,
    on_progress: Callable[[int, int], None] = lambda done, left: None,
    *,
    is_enough: Callable[[], bool] = lambda: False,
    batch_parts: int | None = None,
    is_multilingual: bool = False,
) -> int:
    """Embed what has no vector yet, until it is enough, and return how many parts that was.

    Told are parts done and parts left. Vectors of the multilingual model are kept apart.
    """
    index = backend.multilingual if is_multilingual else backend.vectors
    index.adopt(embedder.identity)
    done = 0
    left = index.reach().pending
    if left:
        on_progress(0, left)
    while not is_enough() and (lacking := index.pending(batch_parts or BATCH_PARTS)):
        twins = index.twins(list(lacking))
        copied = [vector for pieces in twins.values() for vector in pieces]
        new = {key: stored for key, stored in lacking.items() if key not in twins}
        begun, number = done, len(lacking)

        def report(share: float, begun: int = begun, number: int = number) -> None:
            now = begun + int(share * number)
            on_progress(now, max(0, left - now))

        index.keep([*copied, *_vectors(new, _prompts(backend, new), embedder, report)])
        done += number
        on_progress(done, max(0, left - done))
    if done:
        index.tidy()
    return done


def _prompts(backend: Backend, parts: Mapping[int, Stored]) -> dict[int, str]:
    """Return the beginnings of the prompts that long texts answer; empty where there is none."""
    answers = [key for key, stored in parts.items() if _pieces(stored.part) > 1]
    begun = backend.catalog.prompts(answers)
    keys = sorted(set(begun.values()))
    stored = dict(zip(keys, backend.catalog.stored(keys), strict=True))
    prompts = {key: stored[prompt] for key, prompt in begun.items()}
    return {key: one.part.text[:PROMPT_CHARACTERS] if (one := prompts.get(key)) else "" for key in answers}


def _vectors(
    parts: Mapping[int, Stored], prompts: Mapping[int, str], embedder: Embedder, report: Callable[[float], None]
) -> list[Vector]:
    """Embed each distinct text once; one of another batch or an earlier run is a twin by now."""
    texts = {(key, 0): _text(stored.part) for key, stored in parts.items()}
    texts |= {
        (key, EXCHANGE_PIECE): f"{prompt}\n{parts[key].part.text[:ANSWER_CHARACTERS]}"
        for key, prompt in prompts.items()
    }
    distinct = list(dict.fromkeys(texts.values()))
    values = _values(distinct, embedder, report)
    return [
        Vector(
            key=key,
            piece=piece,
            values=values[text],
            feature=feature(parts[key].part.kind, parts[key].part.text),
        )
        for (key, piece), text in texts.items()
    ]


def _values(texts: Sequence[str], embedder: Embedder, report: Callable[[float], None]) -> "dict[str, Values]":
    """Embed texts, those of about one length together, and report after some of them what share of all is done."""
    ordered = sorted(texts, key=len)
    whole, done = max(1, sum(map(len, ordered))), 0
    values: dict[str, Values] = {}
    for begin in range(0, len(ordered), REPORTED_TEXTS):
        some = ordered[begin : begin + REPORTED_TEXTS]
        values.update(zip(some, embedder.embed(some), strict=True))
        done += sum(map(len, some))
        report(done / whole)
    return values


def _pieces(part: Part) -> int:
    return pieces(part.kind, len(part.text.encode("utf-8", "replace")))


def _text(part: Part) -> str:
    if part.kind is Kind.TOOL_RESULT and len(part.text) > TEXT_CHARACTERS:
        # Tools say at the beginning or at the end what went wrong.
        half = TEXT_CHARACTERS // 2
        return f"{part.text[:half]}\n{part.text[-half:]}"
    return part.text[: CALL_CHARACTERS if part.kind is Kind.TOOL_CALL else TEXT_CHARACTERS]
