"""What a model wants to see before a question and before a text: its own settings say, or its family does."""

import re
from collections.abc import Mapping

import msgspec


class Prefixes(msgspec.Struct, frozen=True, kw_only=True):
    """What is put before a question, and before a text that may be found."""

    query: str = ""
    text: str = ""


# How models name the prompt for each in `config_sentence_transformers.json`.
QUERY_PROMPTS = ("query", "search_query", "s2p_query", "retrieval.query")
TEXT_PROMPTS = ("document", "passage", "search_document", "retrieval.passage")

_BGE_ENGLISH = "Represent this sentence for searching relevant passages: "
_BGE_CHINESE = "为这个句子生成表示以用于检索相关文章："  # noqa: RUF001 - the colon is the Chinese one, as in training

# From the models' own descriptions. Those without prompts in their settings are known by their names only;
# the first that is found in a name counts.
FAMILIES = (
    # Those of the family that take instructions bring their prompts.
    (re.compile(r"\be5-(?!.*(?:instruct|mistral))"), Prefixes(query="query: ", text="passage: ")),
    (re.compile(r"\bbge-(?:small|base|large)-en"), Prefixes(query=_BGE_ENGLISH)),
    (re.compile(r"\bbge-(?:small|base|large)-zh"), Prefixes(query=_BGE_CHINESE)),
    (re.compile(r"\bmxbai-embed-"), Prefixes(query=_BGE_ENGLISH)),
    (re.compile(r"\bnomic-embed-text"), Prefixes(query="search_query: ", text="search_document: ")),
)


def prefixes(name: str, prompts: Mapping[str, str]) -> Prefixes:
    """Choose by a model's settings, else by the last part of its name or path, else none."""
    query, text = _first(prompts, QUERY_PROMPTS), _first(prompts, TEXT_PROMPTS)
    if query or text:
        return Prefixes(query=query, text=text)
    last = re.split(r"[/\\]", name.rstrip("/\\"))[-1].lower()
    return next((wanted for pattern, wanted in FAMILIES if pattern.search(last)), Prefixes())


def _first(prompts: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((prompts[name] for name in names if prompts.get(name)), "")
