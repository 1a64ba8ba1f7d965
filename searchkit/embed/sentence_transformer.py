"""Any model of sentence-transformers, on the graphics processor or Apple silicon where there is one."""

import hashlib
import re
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from searchkit.embed.base import Identity, Vector, Vectors
from searchkit.embed.model_files import OTHER_MODEL, is_path, opened, opened_judge, within_memory
from searchkit.embed.tokenize import encodable
from searchkit.errors import ModelMismatch

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer


# What a model wants to see before a question and before a text: its own settings say, or its family does.


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


# Some models read 8,192 tokens and more, at a cost that grows faster than the text.
MOST_TOKENS = 512
# No 512 tokens of any use are longer, and looking for them in 2 MB would take seconds.
MOST_CHARS = 20_000
# Any cross-encoder of sentence-transformers: a model that reads a question and a text together.


BATCH = 32
# So many texts are sorted and encoded at a time, between which a question may come in.
WINDOW_TEXTS = 256
# Of each tensor, so much is hashed: another training changes all of a tensor, and models may have gigabytes.
HASHED_ELEMENTS = 4096
# The default model has so many parameters beside its table of words, and in floats it takes three times as long.
DEFAULT_PARAMETERS = 10_700_000
FLOATS_COST = 3.0
# A guess between laptops and data centres.
DEVICE_SPEED = 20.0


class Transformer:
    """A model that the user chose, opened."""

    def __init__(self, name: str) -> None:
        """Open a model by its name or path."""
        self._model = opened(name)
        self._lock = threading.Lock()
        self._batch = BATCH
        self._model.max_seq_length = min(self._model.max_seq_length or MOST_TOKENS, MOST_TOKENS)
        self._prefixes = prefixes(name, self._model.prompts)
        self.cost = _cost(self._model)
        self.identity = Identity(
            # A directory may be moved without becoming another model.
            model=Path(name).expanduser().resolve().name if is_path(name) else name,
            weights=_fingerprint(self._model),
            dimension=self._dimension(name),
            pooling=_pooling(self._model),
            precision=str(self._model.dtype).removeprefix("torch."),
            max_tokens=self._model.max_seq_length,
            query_prefix=self._prefixes.query,
            text_prefix=self._prefixes.text,
        )

    def embed(self, texts: Sequence[str], /) -> Vectors:
        """Return a unit vector for each text that may be found."""
        return self._vectors(texts, self._prefixes.text)

    def embed_query(self, text: str, /) -> Vector:
        """Return the unit vector of a question."""
        vector: Vector = self._vectors([text], self._prefixes.query)[0]
        return vector

    def _vectors(self, texts: Sequence[str], prefix: str) -> Vectors:
        beginnings = [encodable(text[:MOST_CHARS]) for text in texts]
        told = [number for number, text in enumerate(beginnings) if _says_something(text)]
        found = np.zeros((len(texts), self.identity.dimension), np.float32)
        for begin in range(0, len(told), WINDOW_TEXTS):
            numbers = told[begin : begin + WINDOW_TEXTS]
            made = self._encoded([beginnings[number] for number in numbers], prefix)
            if made.shape[1] != self.identity.dimension or not np.isfinite(made).all():
                raise ModelMismatch(f"the model {self.identity.model} gives vectors that are none", OTHER_MODEL)
            found[numbers] = made
        return found

    def _encoded(self, texts: Sequence[str], prefix: str) -> Vectors:
        """Encode texts that are short enough and say something."""

        def encode(batch: int) -> Vectors:
            vectors: Vectors = self._model.encode(
                list(texts), prompt=prefix, batch_size=batch, normalize_embeddings=True, show_progress_bar=False
            )
            return vectors.astype(np.float32)

        def keep(batch: int) -> None:
            self._batch = batch

        # The library's tokenizers are set again for every call, which two threads must not do at once.
        with self._lock:
            return within_memory(encode, self._batch, self._retreat, keep)

    def _retreat(self) -> bool:
        """Move the model to the processor, unless it is there."""
        if self._model.device.type == "cpu":
            return False
        self._model.to("cpu")
        return True

    def _dimension(self, name: str) -> int:
        """Try it: what a model says of itself is named differently from version to version."""
        shape = self._encoded(["dimension"], "").shape
        if len(shape) != 2 or not shape[1]:
            raise ModelMismatch(f"the model {name} gives no vectors", OTHER_MODEL)
        return int(shape[1])


def _says_something(text: str) -> bool:
    """Look for a character that is seen and is not the sign for one that was lost."""
    return any(char.isprintable() and char not in " \ufffd" for char in text)


def _fingerprint(model: "SentenceTransformer") -> str:
    """Return a hash of the beginnings of all tensors, which is the same on every device."""
    hashed = hashlib.sha256()
    tensors: Mapping[str, Any] = model.state_dict()
    for name, tensor in sorted(tensors.items()):
        # Through floats, because NumPy has no numbers of the shorter kinds that models use.
        beginning = tensor.reshape(-1)[:HASHED_ELEMENTS].float().cpu().numpy()
        hashed.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}".encode() + beginning.tobytes())
    return hashed.hexdigest()


def _pooling(model: "SentenceTransformer") -> str:
    """Name how tokens become one vector, as the version of the library that is there tells it."""
    for module in model:
        if hasattr(module, "pooling_mode"):
            return str(module.pooling_mode)
        if hasattr(module, "get_pooling_mode_str"):
            return str(module.get_pooling_mode_str())
    return "none"


def _cost(model: "SentenceTransformer") -> float:
    parameters = sum(each.numel() for name, each in model.named_parameters() if "embeddings" not in name)
    speed = 1.0 if model.device.type == "cpu" else DEVICE_SPEED
    return float(parameters / DEFAULT_PARAMETERS * FLOATS_COST / speed)


JUDGED_AT_ONCE = 16
# What a trained one ends in; any other model would be given an end of random numbers, with which it says anything.
_ENDS = ("ForSequenceClassification", "ForCausalLM", "ForConditionalGeneration")
OTHER_JUDGE = "name a cross-encoder, such as cross-encoder/ms-marco-MiniLM-L6-v2, or leave --rerank out"


class CrossEncoder:
    """A model that the user chose, opened."""

    def __init__(self, name: str) -> None:
        """Open a model by its name or path, and try it."""
        self._name = name
        self._model = opened_judge(name, OTHER_JUDGE)
        self._lock = threading.Lock()
        self._batch = JUDGED_AT_ONCE
        made = getattr(self._model.config, "architectures", None) or ()
        if not any(one.endswith(_ENDS) for one in made):
            raise ModelMismatch(f"the model {name} is no cross-encoder", OTHER_JUDGE)
        self.judge("question", ["text"])

    def judge(self, question: str, texts: Sequence[str], /) -> list[float]:
        """Say of each text, between 0 and 1, how well it answers a question."""
        # Many seconds, and it is there by now.
        import torch

        pairs = [(encodable(question), encodable(text)) for text in texts]

        def predict(batch: int) -> Vector:
            return np.asarray(
                self._model.predict(pairs, batch_size=batch, activation_fn=torch.nn.Sigmoid(), show_progress_bar=False),
                np.float32,
            )

        def keep(batch: int) -> None:
            self._batch = batch

        with self._lock:
            verdicts = within_memory(predict, self._batch, self._retreat, keep)
        if verdicts.shape != (len(texts),) or not np.isfinite(verdicts).all():
            raise ModelMismatch(f"the model {self._name} does not give one verdict for each text", OTHER_JUDGE)
        return [float(verdict) for verdict in verdicts]

    def _retreat(self) -> bool:
        """Move the model to the processor, unless it is there."""
        if self._model.device.type == "cpu":
            return False
        self._model.to("cpu")
        return True
