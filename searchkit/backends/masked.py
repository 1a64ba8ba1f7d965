"""A backend whose texts leave it with their secrets masked, unless they are revealed to who asks.

Whatever is cut, folded, marked or compared after that has whole masks in it, never half of a secret. Ids, and the paths
of files and transcripts, stay as they are, because programs are given them; they are masked where they are printed.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar, cast

from msgspec.structs import replace

from searchkit.backends.base import Backend, Catalog, Stored, WordIndex
from searchkit.query.types import Condition, Query
from searchkit.text.secrets import MARK, find, is_revealed, mask, masked, masks
from searchkit.types import Context, Fact, Figures, Grouping, Heading, Session

if TYPE_CHECKING:
    from searchkit.backends.prices import Price

H = TypeVar("H", Heading, Session)


def without_secrets(backend: Backend) -> Backend:
    """Return a backend to read from; what it writes is what it was given."""
    return cast(Backend, _MaskedBackend(backend))


class _MaskedBackend:
    """Has everything from the backend but what gives texts."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.catalog = cast(Catalog, _MaskedCatalog(backend.catalog))
        self.words = cast(WordIndex, _MaskedWords(backend.words))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._backend, name)


class _MaskedCatalog:
    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def __getattr__(self, name: str) -> Any:
        return getattr(self._catalog, name)

    def stored(self, keys: Sequence[int], /) -> list[Stored | None]:
        found = self._catalog.stored(keys)
        return found if is_revealed() else [one and _stored(one) for one in found]

    def part(self, part_id: str, /) -> Stored | None:
        found = self._catalog.part(part_id)
        return found if found is None or is_revealed() else _stored(found)

    def sessions(self, condition: Condition, limit: int | None = None, /) -> list[Session]:
        return [_headed(one) for one in self._catalog.sessions(condition, limit)]

    def named(self, ids: Sequence[str], /) -> Mapping[str, Session]:
        return {id: _headed(one) for id, one in self._catalog.named(ids).items()}

    def headings(self, ids: Sequence[str], /) -> Mapping[str, Heading]:
        return {id: _headed(one) for id, one in self._catalog.headings(ids).items()}

    def values(self, name: str, /) -> list[str]:
        return list(dict.fromkeys(map(mask, self._catalog.values(name))))

    def facts(self, session: str, names: Sequence[str] = (), /) -> list[Fact]:
        found = self._catalog.facts(session, names)
        return [one if (value := mask(one.value)) == one.value else replace(one, value=value) for one in found]

    def figures(
        self, condition: Condition, groupings: Sequence[Grouping], prices: "Mapping[str, Price] | None" = None, /
    ) -> Mapping[Grouping, Mapping[str, Figures]]:
        found = self._catalog.figures(condition, groupings, prices)
        return {grouping: _labelled(labels) for grouping, labels in found.items()}


class _MaskedWords:
    def __init__(self, words: WordIndex) -> None:
        self._words = words

    def __getattr__(self, name: str) -> Any:
        return getattr(self._words, name)

    def facets(self, query: Query, name: str, /) -> Mapping[str, int]:
        counts: dict[str, int] = {}
        for value, count in self._words.facets(query, name).items():
            counts[mask(value)] = counts.get(mask(value), 0) + count
        return counts

    def spelling(self, word: str, /) -> list[str]:
        return [one for one in self._words.spelling(word) if is_revealed() or not find(one)]

    def highlight(self, query: Query, text: str, /) -> list[tuple[int, int]]:
        """Return where words that were asked for stand; where a secret was, the masks show why the text was found."""
        marks = self._words.highlight(query, text)
        if marks or MARK not in text or not find(query.text):
            return marks
        return masks(text)


def _labelled(figures: Mapping[str, Figures]) -> Mapping[str, Figures]:
    labels = {label: mask(label) for label in figures}
    again = {label: count for label, count in Counter(labels.values()).items() if count > 1}
    # Figures of two labels are not added up because their masks are the same.
    return {
        labels[label] if labels[label] not in again else f"{labels[label]} ({number})": one
        for number, (label, one) in enumerate(figures.items(), 1)
    }


def _stored(stored: Stored) -> Stored:
    """Mask what a part says, and what was around it."""
    part, link = stored.part, stored.link
    if (context := _context(link.context)) is not link.context:
        link = replace(link, context=context)
    tool, found = part.tool and _name(part.tool), masked(part.text)
    if found.secrets or tool != part.tool:
        fields = tuple(replace(one, start=found.moved(one.start), end=found.moved(one.end)) for one in part.fields)
        part = replace(part, text=found.text, tool=tool, fields=fields)
    return stored if part is stored.part and link is stored.link else replace(stored, part=part, link=link)


@lru_cache(1_000)
def _context(context: Context) -> Context:
    # Few of these serve many records.
    texts = (context.cwd, context.branch, context.model)
    cwd, branch, model = (one and masked(one).text for one in texts)
    return context if (cwd, branch, model) == texts else replace(context, cwd=cwd, branch=branch, model=model)


@lru_cache(10_000)
def _name(text: str) -> str:
    return masked(text).text


def _headed(heading: H) -> H:
    texts = (heading.title, heading.project, heading.branch)
    title, project, branch = (one if one is None or is_revealed() else _name(one) for one in texts)
    same = (title, project, branch) == texts
    return heading if same else replace(heading, title=title, project=project, branch=branch)
