"""What was said to a prompt that was found answers the question, too, though it may hold none of its words.

In English meaning finds it. In another language the default model knows too little of it.
"""

from collections.abc import Sequence

from searchkit.backends.base import Backend, Hit, Stored
from searchkit.search.types import Ranked
from searchkit.search.weights import Recipe
from searchkit.types import Kind


def replies(backend: Backend, words: Sequence[Ranked], recipe: Recipe) -> list[Hit]:
    """Return the texts shortly behind the best prompts; the prompts' support is all that ranks them."""
    prompts = [one.hit for one in words if one.hit.kind is Kind.PROMPT and one.hit.session][: recipe.replied_prompts]
    known = {one.hit.key for one in words}
    behind = backend.catalog.following([prompt.key for prompt in prompts], recipe.reply_steps)
    keys = sorted({key for several in behind.values() for key in several if key is not None} | set(behind))
    stored = dict(zip(keys, backend.catalog.stored(keys), strict=True))
    found: dict[int, Hit] = {}
    for prompt in prompts:
        asked = stored[prompt.key]
        for position, key in enumerate(behind[prompt.key], prompt.position + 1):
            said = None if key is None else stored[key]
            if key is None or asked is None or said is None or _home(said) != _home(asked):
                continue
            if said.part.kind is Kind.PROMPT:
                break
            if said.part.kind is Kind.TEXT and key not in known and not said.repeats:
                found[key] = Hit(
                    key=key,
                    position=position,
                    kind=Kind.TEXT,
                    session=prompt.session,
                    time=said.link.time,
                    is_agents=prompt.is_agents,
                    score=0.0,
                    coverage=0.0,
                )
    return list(found.values())


def _home(stored: Stored) -> tuple[str, str | None]:
    """Say where a part was said, by file and agent: the next position can be of another conversation."""
    place = stored.link.places[0]
    return place.file, place.agent
