"""Asks the channels, ranks what they find, and gathers what is shown of it."""

import re
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from searchkit.backends.base import Backend, Found, Hit, Order, Step, Stored
from searchkit.conversation import turns as window
from searchkit.errors import IndexDamaged, IndexMissing, IndexModel, ModelFault, UsageError
from searchkit.query.types import Clause, Condition, Group, Match, Mode, Query
from searchkit.search import ranking, snippets
from searchkit.search.types import Answer, Conclusion, QuestionVectors, Ranked, Result, SearchOptions, Shown
from searchkit.search.weights import RECIPE, Recipe, multilingual
from searchkit.sources import tools
from searchkit.types import Kind

if TYPE_CHECKING:
    from searchkit.embed.base import Judge

# Answers a question, by meaning too where its vectors are given, and by meaning alone where words are not asked.
Ask = Callable[[Query, QuestionVectors | None, bool], Answer]

# Lets a model that reads a question and a text together reorder the first results, beside the ranking there is.


# Such a model takes as long for each as embedding a text does, and what comes later is seldom right.
FIRST = 30
# How much its verdict counts beside our own score. Where such models decided alone, answers from developers' texts
# got worse by 10 to 27 points, and those from chats better.
WEIGHT = 0.3
# More than such models read.
MOST_CHARACTERS = 2_000


def rerank(ranked: Sequence[Ranked], question: str, texts: Mapping[int, str], judge: "Judge") -> list[Ranked]:
    """Put the hits whose texts are given into the order that both agree on; the others follow as they were."""
    first = [one for one in ranked if one.hit.key in texts]
    if not first:
        return list(ranked)
    verdicts = judge(question, [texts[one.hit.key][:MOST_CHARACTERS] for one in first])
    # On the scale of the best one: a verdict says which is better, not how good our own ranking should find it.
    best = max(one.score for one in first)
    judged = [
        replace(one, judged=verdict, score=(1 - WEIGHT) * one.score + WEIGHT * best * verdict)
        for one, verdict in zip(first, verdicts, strict=True)
    ]
    judged.sort(key=lambda one: -one.score)
    return [*judged, *(one for one in ranked if one.hit.key not in texts)]


_BY_WORDS = "ask by words as well, in hybrid mode"


def is_meaning_asked(query: Query, mode: Mode, order: Order) -> bool:
    """Say whether meaning can say anything to a question; raise where it alone is asked and cannot."""
    has_words = bool(query.wanted)
    if mode is not Mode.SEMANTIC:
        return mode is Mode.HYBRID and order is Order.RELEVANCE and has_words
    if order is not Order.RELEVANCE:
        raise UsageError("what is found by meaning alone is in no order of time", _BY_WORDS)
    if any(clause.is_excluded for clause in query.clauses):
        raise UsageError("meaning alone cannot leave out words", _BY_WORDS)
    if not has_words and query.condition != Condition():
        raise UsageError("filters alone have no meaning that something could be near to", f"add words, or {_BY_WORDS}")
    return has_words


def answer_by_channels(
    ask: Ask, embedded: Callable[[Query], QuestionVectors] | None, query: Query, mode: Mode
) -> Answer:
    """Answer a question by words and, where it can be embedded, by meaning; say why where that failed."""
    if embedded is None:
        return ask(query, None, True)
    try:
        return ask(query, embedded(query), mode is Mode.HYBRID)
    except (ModelFault, IndexModel, IndexDamaged, IndexMissing) as fault:
        # Where it is not the vectors that are damaged, words meet the same fault.
        if mode is Mode.SEMANTIC:
            raise
        return replace(ask(query, None, True), without_meaning=f"{fault.message}; {fault.hint}")


# Asks again where nothing holds any word of a question, for those words that are spelt most like them.


def respell(ask: Callable[[Query], Answer], query: Query) -> Answer:
    """Return the answer to a question, or, where all its words seem misspelt, to the one that was probably meant.

    Such an answer has the text that was typed, and says in `respelled` what was looked for instead.
    """
    found = ask(query)
    # A word like nothing that there is, is no slip of the hand: what else was typed is then guesswork, too.
    if found.results or not found.missing or len(found.suggestions) < len(found.missing):
        return found
    instead = {word: found.suggestions[word][0] for word in found.missing}
    meant = replace(query, clauses=tuple(_respelled(clause, instead) for clause in query.clauses))
    if meant == query:
        return found
    again = ask(meant)
    if not again.results:
        return found
    return replace(again, missing=found.missing, suggestions=found.suggestions, respelled=instead)


def _respelled(clause: Clause, instead: Mapping[str, str]) -> Clause:
    """Put other words into a clause; what was quoted, begun, or excluded was meant as it was typed."""
    if clause.is_excluded:
        return clause
    terms = (
        replace(term, text=_put(term.text, instead)) if term.match is Match.WORD else term for term in clause.terms
    )
    return replace(clause, terms=tuple(terms))


def _put(text: str, instead: Mapping[str, str]) -> str:
    return re.sub(r"\w+", lambda found: instead.get(found[0].casefold(), found[0]), text)


# Asks the channels, ranks what they find, and gathers what is shown of it.

# Where the candidates lie in fewer sessions than are wanted, so many times as many are looked at, and again.
MORE_CANDIDATES = (5, 25)
# Of a session that is shown once.
PASSAGES = 3
# Passages of a session that are shown beside its best one say at least this share of what that one says.
LEAST_SHARE = 0.5


def retrieve(
    backend: Backend,
    options: SearchOptions,
    question: QuestionVectors | None = None,
    are_words_asked: bool = True,
    recipe: Recipe = RECIPE,
    judge: "Judge | None" = None,
) -> Answer:
    """Answer a query, by meaning too where the vectors of the question are given, or by meaning alone."""
    started = time.perf_counter()
    if question is not None and question.multilingual is not None:
        recipe = multilingual(recipe)
    query, limit, order, is_grouped = options.query, options.limit, options.sort, options.group is Group.SESSION
    if not (query.clauses or query.condition.filters or query.condition.periods):
        reach = backend.words.reach()
        return Answer(query=query, results=(), total=0, parts=reach.searchable, pending=reach.pending)
    asked, query = query, tools.without(query)
    query = replace(query, sessions=ranking.sessions_of_project(backend, query))
    pool = _Pool(backend, query, order, question, are_words_asked, recipe, judge)
    found, ranked = pool.first()
    groups = _grouped(ranked, limit, is_grouped)
    if len(groups) < limit:
        groups += _further(pool, found, ranked, limit - len(groups), is_grouped)
    groups = [_worth_showing(group) for group in groups]
    results = _results(backend, query, groups, options.thread)
    reach = backend.words.reach()
    return Answer(
        query=asked,
        results=results,
        total=(found.total if found.matches is None else found.matches) or len(ranked),
        embedded=0 if question is None else backend.vectors.reach().searchable,
        parts=reach.searchable,
        pending=reach.pending,
        hidden=found.hidden if asked.condition != Condition() else 0,
        unseen=found.unseen,
        missing=found.missing,
        suggestions={word: alike for word in found.missing if (alike := backend.words.spelling(word))},
        facets={name: backend.words.facets(query, name) for name in options.facets},
        seconds=time.perf_counter() - started,
        weights=recipe,
    )


class _Pool:
    """The candidates of a question: a fixed number of them is ranked, and then cut.

    So what comes first never depends on how many results are wanted. Where these are too few, what follows is ranked
    apart and comes behind.
    """

    def __init__(
        self,
        backend: Backend,
        query: Query,
        order: Order,
        question: QuestionVectors | None,
        are_words_asked: bool,
        recipe: Recipe,
        judge: "Judge | None",
    ) -> None:
        """Take a question and how it is to be answered."""
        self._backend = backend
        self._query = query
        self._order = order
        self._question = question if order is Order.RELEVANCE else None
        self._are_words_asked = are_words_asked
        self._recipe = recipe
        self._judge = judge if order is Order.RELEVANCE and query.wanted else None

    def first(self) -> tuple[Found, list[Ranked]]:
        """Return what the words found, and the ranking of what either channel found."""
        found = self._words(self._recipe.candidates) if self._are_words_asked else Found(hits=(), total=0)
        ranked = self._ranked(found.hits)
        if self._question is not None:
            # A search by words has no use for it.
            from searchkit.search import semantic

            ranked = semantic.ranked(
                self._backend, self._query, self._question, ranked, self._are_words_asked, self._recipe
            )
        ranked = self._arranged(ranked)
        return found, ranked if self._judge is None else _reranked(self._backend, self._query, ranked, self._judge)

    def further(self, times: int, known: Collection[int]) -> list[Ranked]:
        """Rank by words what is not known among so many times as many candidates."""
        hits = self._words(times * self._recipe.candidates).hits
        return self._arranged(self._ranked([hit for hit in hits if hit.key not in known]))

    def _words(self, most: int) -> Found:
        return self._backend.words.search(self._query, most, self._order)

    def _ranked(self, hits: Sequence[Hit]) -> list[Ranked]:
        rank = ranking.rank if self._order is Order.RELEVANCE else ranking.as_found
        return rank(hits, self._query, self._recipe, self._question is None)

    def _arranged(self, ranked: Sequence[Ranked]) -> list[Ranked]:
        if not self._query.wanted:
            # What filters alone choose is a list of everything, not an answer.
            return list(ranked)
        if self._order is not Order.RELEVANCE:
            return ranking.without_side_records(ranked)
        return ranking.arranged(self._backend, ranked, self._recipe)


def _further(pool: _Pool, found: Found, ranked: Sequence[Ranked], wanted: int, is_grouped: bool) -> list[list[Ranked]]:
    """Return what comes behind the pool; a session that is in it has all its passages from there."""
    known = {one.hit.key for one in ranked} | {hit.key for hit in found.hits}
    sessions = {one.hit.session for one in ranked if one.hit.session} if is_grouped else set()
    groups: list[list[Ranked]] = []
    for times in MORE_CANDIDATES:
        if len(groups) >= wanted or len(found.hits) >= found.total or found.unseen:
            break
        more = pool.further(times, known)
        groups += _grouped([one for one in more if one.hit.session not in sessions], wanted - len(groups), is_grouped)
        known |= {one.hit.key for one in more}
        sessions |= {one.hit.session for one in more if one.hit.session} if is_grouped else set()
    return groups


def _grouped(ranked: Sequence[Ranked], limit: int, is_grouped: bool) -> list[list[Ranked]]:
    return ranking.by_session(ranked, limit, PASSAGES) if is_grouped else ranking.one_by_one(ranked, limit)


def _reranked(backend: Backend, query: Query, ranked: Sequence[Ranked], judge: "Judge") -> list[Ranked]:
    first = [one.hit.key for one in ranked[:FIRST]]
    stored = zip(first, backend.catalog.stored(first), strict=True)
    return rerank(ranked, query.wanted, {key: one.part.text for key, one in stored if one}, judge)


def _worth_showing(group: list[Ranked]) -> list[Ranked]:
    """Keep the best passage, and others that say nearly as much; a title is shown anyway."""
    best, *others = group
    return [best, *(one for one in others if one.own >= LEAST_SHARE * best.own and one.hit.kind is not Kind.TITLE)]


def _results(backend: Backend, query: Query, groups: Sequence[Sequence[Ranked]], turns: int) -> list[Result]:
    """Fetch what is shown, all of it at once."""
    near = window.nearby(backend.catalog, [group[0].hit.key for group in groups], turns)
    entries = {key: window.shown(steps, {key}) for key, steps in near.items()}
    replies = {key: window.replies(steps, key) for key, steps in near.items()}
    around = {step.key for several in entries.values() for step in several if isinstance(step, Step)}
    around |= {key for several in replies.values() for key in several}
    keys = sorted({one.hit.key for group in groups for one in group} | around)
    parts = dict(zip(keys, backend.catalog.stored(keys), strict=True))
    marks = cache(partial(backend.words.highlight, query))
    # What was found may be gone meanwhile, or repeat what was read since.
    shown = [
        [
            _shown(one, stored, marks, is_best=number == 0)
            for number, one in enumerate(group)
            if (stored := parts[one.hit.key]) and not stored.repeats
        ]
        for group in groups
    ]
    shown = [group for group in shown if group]
    homes = [group[0].stored.link.places[0].session for group in shown]
    sessions = backend.catalog.headings(sorted({home for home in homes if home}))
    hits = [group[0].ranked.hit.key for group in shown]
    answers = [
        _answer(marks, group[0], [parts[key] for key in replies.get(hit, ())])
        for group, hit in zip(shown, hits, strict=True)
    ]
    told = [
        {hit, *(key for key in replies.get(hit, ()) if answer and parts[key] is answer.stored)}
        for hit, answer in zip(hits, answers, strict=True)
    ]
    return [
        Result(
            best=group[0],
            session=sessions.get(home or ""),
            thread=window.entries(window.shown(near.get(hit, ()), full), {hit}, parts),
            others=group[1:],
            answer=answer,
        )
        for group, home, hit, full, answer in zip(shown, homes, hits, told, answers, strict=True)
    ]


def _answer(marks: snippets.Marks, best: Shown, replies: Sequence[Stored | None]) -> Conclusion | None:
    said = [reply for reply in replies if reply]
    if said and not snippets.answers_itself(best.stored, said):
        return snippets.answering(said, marks)
    return snippets.beside(best.stored, marks(best.stored.part.text))


def _shown(ranked: Ranked, stored: Stored, marks: snippets.Marks, is_best: bool) -> Shown:
    """Cut the passage of a hit; of one that is shown on a line, merely around its words."""
    text = stored.part.text
    passage = snippets.passage(stored, marks(text)) if is_best else snippets.cut(text, marks(text))
    return Shown(ranked=ranked, stored=stored, passage=passage)
