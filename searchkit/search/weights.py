"""The numbers of the ranking, each with its evidence, as one value that is handed down; a trial hands down another.

"Real transcripts" are 100 labelled questions over 398 MB; where nothing else is said the evidence is from there.
Trials of single numbers were made in a laboratory that ranks the same candidates, where MRR is 72.2 as it is and 71.9
in the product. docs/ranking.md says what each step is worth, and how weights do on people that they were not chosen on.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from searchkit.errors import UsageError
from searchkit.types import Kind

# How much a kind's words say: hit@1 rose from 41 to 46. Random changes of these by a third kept hit@10 within
# the noise. Nothing is excluded.
WORD_KINDS: Mapping[Kind, float] = MappingProxyType(
    {
        Kind.TEXT: 1.1,
        Kind.THINKING: 1.1,
        Kind.TOOL_CALL: 0.95,
        Kind.TOOL_RESULT: 0.8,
        Kind.TODO: 0.8,
        Kind.SYSTEM: 0.6,
        Kind.ATTACHMENT: 0.6,
        Kind.COMMAND: 0.6,
    }
)
# What the meaning of a kind counts times.
MEANING_KINDS: Mapping[Kind, float] = MappingProxyType({Kind.TOOL_CALL: 0.85, Kind.PROMPT: 0.95})
# By the multilingual model, short texts are nearer to any question than long ones.
MULTILINGUAL_KINDS: Mapping[Kind, float] = MappingProxyType({Kind.TOOL_CALL: 0.85, Kind.PROMPT: 0.7})


class Recipe(msgspec.Struct, frozen=True, kw_only=True):
    """How candidates become a ranking. Kinds that are not named weigh 1."""

    # More than so many from each channel found nothing better in the first ten.
    candidates: int = 100
    # Where meaning alone can answer. As many as anybody may want, so that how many there are does not depend on how
    # many are shown; over long chats nDCG@10 by meaning alone rose from 29.5 to 30.6, since more hits have support.
    candidates_alone: int = 1_000

    word_kinds: Mapping[Kind, float] = WORD_KINDS
    # What an agent was told to do.
    word_agent_prompt: float = 0.75
    # What a person typed, where a question is in another language than English: it says the same again in fewer
    # words, and there meaning counts too little to put the answer before it. MRR of 106 such questions rose from
    # 61.3 to 63.1.
    word_prompt_of_other_languages: float = 0.85
    # BM25 depends on how long texts are beside each other, and so on the index: where all are alike, as in chats, the
    # best hit has half the score of one in transcripts. Coverage does not, so it decides, and BM25 less than it did
    # (1 and 0.5): nDCG@10 over long chats rose by 2 points beside the same weight of meaning, and MRR over real
    # transcripts from 70.4 to 72.3. Between 0.6 and 0.9, and between 1 and 1.4, MRR is from 70.3 to 72.5.
    word_power: float = 0.75
    coverage_power: float = 1.2
    # Where words alone decide, since no meaning is asked for or it weighs at most so much, that is worse: MRR by words
    # alone over real transcripts is 51.6 so, and 55.5 with these.
    word_power_alone: float = 1.0
    coverage_power_alone: float = 0.5
    least_meaning: float = 0.1
    # "In march": on questions over long chats that name a time, its parts gained 7 points of nDCG@10 by words;
    # with meaning, too, nDCG@10 over all those questions rose from 51.4 to 52.3, and to 52.9 when both gain.
    period_boost: float = 1.25
    # "Why does the shop time out": a project that a question names counts like a time.
    project_boost: float = 1.25
    # A share of the highest score possible, not of the best hit's: a poor best hit is seen to be poor.
    is_absolute: bool = True

    # How much meaning counts beside words. On real transcripts 60 of 100 paraphrases are in the first ten with 0.3,
    # 80 from 0.42 on, and hit@10 is 87 or 88 from 0.45 to 0.525; on long chats nDCG@10 falls by 0.4 with each 0.01.
    meaning: float = 0.5
    # In a question that holds a name, a path or a quotation, the words are what was meant. Flat from 0.2 to 0.4.
    meaning_of_names: float = 0.3
    # In a script that the default model was not trained on: above 0.1 it ruins the ranking. Of 73 questions in
    # Chinese, Korean and Japanese those in Korean had an MRR of 58.5 with 0.05, and of 59.1 with this or nothing.
    meaning_of_unknown_scripts: float = 0.02
    # In another language than English, of which the model knows some words: on 33 questions in French MRR was 66
    # with 0.05 and this, 67 with 0.15, and 61 with 0.3.
    meaning_of_other_languages: float = 0.1
    # In any other language than English, where the index has vectors of the multilingual model.
    meaning_of_multilingual: float = 0.6
    # Where a question is not in English, what the meaning of a part in English counts times, and in any other
    # language: most people have two languages.
    across_to_english: float = 0.9
    across: float = 0.5
    # Cosines of the multilingual model as those of the default one would be: times this, and this more.
    multilingual_scale: float = 2.0
    multilingual_shift: float = 0.0
    multilingual_kinds: Mapping[Kind, float] = MULTILINGUAL_KINDS
    multilingual_of_prompt: float = 1.0
    # What the cosine of the default model counts where only that knows a part, and the question is not in English.
    of_default: float = 0.1
    meaning_kinds: Mapping[Kind, float] = MEANING_KINDS
    meaning_agent_prompt: float = 0.8
    # Whether narration counts less and a conclusion more; the index keeps how much.
    are_features_counted: bool = True
    # Whether what only words found gets its exact cosine, and what only meaning found the score of its words: hit@10
    # rose from 87 to 88, MRR from 71.3 to 72.3.
    are_cosines_filled: bool = True
    are_words_filled: bool = True
    # A result means at least this share of what its call means.
    of_call: float = 0.8
    # What was said to a prompt means this share of what the prompt means, beside what it means itself. With twice that,
    # and with calls, hit@10 rose from 82 to 85 and MRR from 61 to 64; on 60 other questions this adds one to the first
    # ten, and twice that costs a point of MRR.
    of_prompt: float = 0.1
    # What nothing of a question's words is in must be this near, or it is no answer: nonsense is near to nothing.
    least_cosine: float = 0.4
    # Beside what holds one of a few words, this near: of ten results for a single word of a labelled question, five or
    # six held no such word, of 332 not one was right, and 210 are gone. Whole questions would lose 0.2 of nDCG@10.
    least_beside: float = 0.3
    few_words: int = 3
    # Where meaning alone is asked for, it must be near at all.
    least_meant: float = 0.2

    # What a hit gains of what a better one shortly before it has more, and one shortly after it; keys are in the
    # order of reading. Equals gain nothing, so that the newer of them still comes first.
    of_before: float = 0.3
    of_after: float = 0.1
    neighbours: int = 2
    # What it gains of the best in its session. With the mean of the best three hit@1 was 66 instead of 64, and hit@10
    # 87 instead of 88, with paraphrases 77 instead of 80.
    of_session: float = 0.6

    # The last text of a turn comes before what was asked, called or announced in it, where it has this share of its
    # score and is so many times as long, of at most so many bytes: hit@1 rose from 62 to 64 on real transcripts. With a
    # share of 0.6, or with any length, MRR on the fixtures falls from 69.0 to 66.5 or 64.1. So many of the first are
    # looked at.
    of_conclusion: float = 0.7
    conclusion_ratio: float = 2.0
    conclusion_bytes: int = 1_000
    concluded: int = 30
    # Of so many prompts that the words of a question found, in another language than English, what was said within
    # so many steps is looked at, too: of 106 such questions one to three more were answered in the first ten.
    replied_prompts: int = 10
    # And of so many prompts that the multilingual model found, the last text of the turn.
    concluded_prompts: int = 20
    reply_steps: int = 4


RECIPE = Recipe()

# What can be left out of the ranking to see what it is worth, and what the recipe says then.
STEPS: Mapping[str, Mapping[str, Any]] = {
    "coverage": {"coverage_power": 0.0, "coverage_power_alone": 0.0},
    "word-power": {"word_power": 1.0},
    "kinds": {
        "word_kinds": {},
        "word_agent_prompt": 1.0,
        "word_prompt_of_other_languages": 1.0,
        "meaning_kinds": {},
        "meaning_agent_prompt": 1.0,
    },
    "absolute-scale": {"is_absolute": False},
    "period": {"period_boost": 1.0},
    "project": {"project_boost": 1.0},
    "features": {"are_features_counted": False},
    "call": {"of_call": 0.0},
    "prompt": {"of_prompt": 0.0},
    "question-weight": {
        "meaning_of_names": RECIPE.meaning,
        "meaning_of_unknown_scripts": RECIPE.meaning,
        "meaning_of_other_languages": RECIPE.meaning,
    },
    "filled-cosines": {"are_cosines_filled": False},
    "replies": {"replied_prompts": 0},
    "neighbours": {"of_before": 0.0, "of_after": 0.0},
    "session": {"of_session": 0.0},
    "conclusions": {"of_conclusion": 1.0},
    "filled-words": {"are_words_filled": False},
}


def trusting(recipe: Recipe) -> Recipe:
    """Let meaning count in every script alike: who chose another model than the default chose it for his own."""
    meaning = recipe.meaning
    return msgspec.structs.replace(recipe, meaning_of_unknown_scripts=meaning, meaning_of_other_languages=meaning)


def multilingual(recipe: Recipe) -> Recipe:
    """Let meaning count in every language, where there are vectors of the multilingual model."""
    meaning = recipe.meaning_of_multilingual
    return msgspec.structs.replace(recipe, meaning_of_unknown_scripts=meaning, meaning_of_other_languages=meaning)


def without(steps: Iterable[str], recipe: Recipe = RECIPE) -> Recipe:
    """Leave steps out of the ranking."""
    for step in steps:
        if step not in STEPS:
            raise UsageError(f"{step!r} is no step of the ranking", f"use one of {', '.join(STEPS)}")
        recipe = msgspec.structs.replace(recipe, **STEPS[step])
    return recipe
