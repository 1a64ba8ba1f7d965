"""What is done when a device has no memory left: smaller batches, then the processor's own memory."""

import logging
from collections.abc import Callable

from searchkit.embed.base import Vectors
from searchkit.errors import ModelTooLarge

log = logging.getLogger(__name__)

# How the runtimes put it that do not raise an error of its own for it.
_SIGNS = ("out of memory", "can't allocate memory", "not enough memory")


def within_memory(
    encode: Callable[[int], Vectors], batch: int, retreat: Callable[[], bool], on_batch: Callable[[int], None]
) -> Vectors:
    """Encode with batches of the size that fits, and tell that size when it is not the one to begin with.

    `retreat` moves to the processor, and says whether it was not there already.
    """
    size = batch
    while True:
        try:
            vectors = encode(size)
        except (RuntimeError, MemoryError) as error:
            if not is_exhaustion(error):
                raise
        else:
            if size != batch:
                on_batch(size)
            return vectors
        if size > 1:
            size //= 2
        elif retreat():
            size = batch
            log.warning("the graphics processor has no memory for the model, so the processor runs it: that is slower")
        else:
            raise ModelTooLarge(
                "there is not enough memory to embed even one text with this model",
                "choose a smaller model, or none: SEARCHKIT_MODEL=default",
            )


def is_exhaustion(error: BaseException) -> bool:
    """Say whether an error means that there is no memory left; PyTorch has several for it."""
    words = str(error).lower()
    return isinstance(error, MemoryError) or any(sign in words for sign in _SIGNS)
