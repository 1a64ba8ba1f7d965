"""Any cross-encoder of sentence-transformers: a model that reads a question and a text together."""

import threading
from collections.abc import Sequence

import numpy as np

from searchkit.embed.base import Vector
from searchkit.embed.model_files import opened_judge, within_memory
from searchkit.embed.tokenize import encodable
from searchkit.errors import ModelMismatch

BATCH = 16
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
        self._batch = BATCH
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
