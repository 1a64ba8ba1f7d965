"""From the clauses of a question to a Tantivy query, and to what its scores are measured against."""

import math
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import tantivy

from searchkit.backends.local.filters import AllOf, Among, AnyOf, Bound, During, Test
from searchkit.backends.local.words.index import TEXT
from searchkit.backends.local.words.regex import for_term, is_runnable, pieces, spans_words
from searchkit.query.types import Clause, Match, Query, Term, is_scan, may_scan
from searchkit.text import analysis as french
from searchkit.text.analysis import FRENCH_STOP_WORDS, STOP_WORDS, forms, fuzzy_distance, is_unspaced, name_parts, words

_FIRST = -(1 << 62)


def any_of(queries: Iterable[tantivy.Query]) -> tantivy.Query:
    """Ask for what one of several queries finds."""
    several = [(tantivy.Occur.Should, query) for query in queries]
    return several[0][1] if len(several) == 1 else tantivy.Query.boolean_query(several)


def all_of(queries: Iterable[tantivy.Query]) -> tantivy.Query:
    """Ask for what all of several queries find."""
    return tantivy.Query.boolean_query([(tantivy.Occur.Must, query) for query in queries])


def within(schema: tantivy.Schema, bounds: Iterable[Bound]) -> list[tuple[tantivy.Occur, tantivy.Query]]:
    """Ask for what is within bounds; none of it adds to a score."""
    tests = [(_test(schema, bound.test), bound.is_excluded) for bound in bounds]
    return [
        (tantivy.Occur.MustNot, query)
        if is_excluded
        else (tantivy.Occur.Must, tantivy.Query.const_score_query(query, 0.0))
        for query, is_excluded in tests
    ]


def _test(schema: tantivy.Schema, test: Test) -> tantivy.Query:
    match test:
        case Among(field, numbers):
            wanted = sorted(numbers)
            return tantivy.Query.term_set_query(schema, field, wanted) if wanted else tantivy.Query.empty_query()
        case During(start, end):
            # A range must begin or end somewhere; what has no time is in none.
            first = _FIRST if start is None and end is None else start
            kind = tantivy.FieldType.Integer
            return tantivy.Query.range_query(schema, "time", kind, first, end, include_upper=end is None)
        case AnyOf(tests):
            return any_of(_test(schema, one) for one in tests)
        case AllOf(tests):
            return all_of(_test(schema, one) for one in tests)


# From the clauses of a question to a Tantivy query, and to what its scores are measured against.

# What a form other than the typed one counts against it: the fields of stems and of exact words had 1 and 0.5.
TYPED_BONUS = 0.5
# A name's parts, and the whole of what was written without spaces, beside the words themselves.
PART_WEIGHT = 0.5
WHOLE_WEIGHT = 0.5
# Several forms of one word in a text are not several words.
FORMS_TOGETHER = 0.3
MOST_FORMS = 12
MOST_PREFIXED = 50
# The rarest words of a pasted text decide; more of them only cost time.
MOST_UNITS = 48
# Of a pasted text the beginning and the end are read, where stack traces say what went wrong.
MOST_CHUNKS = 1_000
# Words that may be misspelt, each of which takes a look at thousands of others.
MOST_MISSING = 5
MOST_WHOLE_WORDS = 12
# BM25 with Tantivy's k1 of 1.2 gives a word at most its rarity times this.
BM25_MAXIMUM = 2.2

# A word that at most so many parts hold is unique: the call, the result and the text that reports it. On the
# fixtures, where this decides two questions, hit@10 rose from 91.7 to 93.3 and MRR from 69.0 to 70.7; with every
# word counted so, it fell to 60.9, since of 1,800 parts three hold many an ordinary word.
UNIQUE_PARTS = 3
LARGE_INDEX = 10_000
FEW_UNITS = 2

_HASH = re.compile("(?=.*[0-9])(?=.*[a-f])[0-9a-f]{6,64}")
_SHORTEST_HASH, _LONGEST_SHORT_HASH = 7, 12
# A number or an id; a year is neither.
_NUMBER = re.compile(r"^(?!(?:19|20)\d\d$)(?=.*\d)\w{4,}")


class Unit(NamedTuple):
    """One thing that was asked for: what it is worth, how it ranks, and which parts hold it."""

    word: str
    worth: float
    maximum: float
    ranking: tantivy.Query
    holding: tantivy.Query
    # At most so many parts hold it; None where nobody counted.
    held_by: int | None = None


class Asked(NamedTuple):
    """A question as the index understands it. `missing` are the words that nothing holds."""

    is_for_words: bool

    wanted: list[Unit]
    required: list[Unit]
    excluded: list[tantivy.Query]
    extras: list[Unit]
    missing: list[str]

    @property
    def maximum(self) -> float:
        """The score of a part that holds everything as often as counts."""
        return BM25_MAXIMUM * sum(unit.maximum for unit in (*self.wanted, *self.required, *self.extras))

    def unique(self, parts: int) -> list[Unit]:
        """Return the units that hardly any of so many parts holds, and that were therefore meant literally.

        In a small index ordinary words are as seldom, so that there only numbers and ids count, and what a
        question of one or two words asks for. Pairs of characters of scripts without spaces are seldom by accident:
        they often reach from one word into the next.
        """
        is_short, is_large = len(self.wanted) + len(self.missing) <= FEW_UNITS, parts >= LARGE_INDEX

        def is_literal(word: str) -> bool:
            return is_short or bool(_NUMBER.search(word)) or (is_large and not is_unspaced(word[0]))

        seldom = (unit for unit in self.wanted if unit.held_by is not None and unit.held_by <= UNIQUE_PARTS)
        return [unit for unit in seldom if is_literal(unit.word)]

    @property
    def is_hopeless(self) -> bool:
        """Whether something was asked for that is held nowhere."""
        return self.is_for_words and not self.wanted and not self.required


class Matcher:
    """Builds queries for one searcher."""

    def __init__(self, searcher: tantivy.Searcher, schema: tantivy.Schema, is_french: bool) -> None:
        """Ask `searcher` how rare words are; a question in French has other words that say nothing, and forms."""
        self._searcher = searcher
        self._schema = schema
        self._count = searcher.num_docs
        self._is_french = is_french

    def ask(self, query: Query) -> Asked:
        """Turn the clauses of a question into units."""
        clauses = looked_at(query, MOST_CHUNKS)
        asked = Asked(any(not clause.is_excluded for clause in clauses), [], [], [], [], [])
        stops = FRENCH_STOP_WORDS if self._is_french else STOP_WORDS
        plain = [term for clause in clauses for term in clause.terms if _is_plain(clause)]
        skipped = stops if any(_content(term, stops) for term in plain) else frozenset()
        for clause in clauses:
            if clause.is_excluded:
                asked.excluded.extend(self._exclusion(term) for term in clause.terms if not _is_spanning(term))
            elif _is_plain(clause):
                self._plain(clause.terms[0], skipped, asked)
            else:
                self._alternatives(clause, asked)
        return _rarest(asked)

    def _plain(self, term: Term, skipped: frozenset[str], asked: Asked) -> None:
        """Take a chunk as typed apart: its words, the parts of its names, and the whole of it."""
        typed = words(french.unelided(term.text) if self._is_french else term.text)
        found = [word for word in typed if word not in skipped]
        known = {unit.word for unit in asked.wanted} | set(asked.missing)
        for word in list(dict.fromkeys(found))[:MOST_CHUNKS]:
            if word not in known:
                unit = self._word(word)
                asked.wanted.append(unit) if unit else asked.missing.append(word)
        for part in dict.fromkeys(name_parts(term.text)):
            unit = None if part in found or part in known else self._word(part, PART_WEIGHT)
            if unit:
                asked.wanted.append(unit)
        # `is_error` is more than an error: words that say nothing by themselves tell one name from another.
        if found and 1 < len(typed) <= MOST_WHOLE_WORDS:
            whole = self._phrase(term.text, typed, WHOLE_WEIGHT)
            if whole:
                asked.extras.append(whole)

    def _alternatives(self, clause: Clause, asked: Asked) -> None:
        """Let any of the terms do; signs alone, such as `->`, are not indexed and ask for nothing."""
        if not any(term.match is Match.REGEX or words(term.text) for term in clause.terms):
            return
        units = [unit for term in clause.terms for unit in [self._unit(term)] if unit]
        if not units:
            asked.missing.extend(term.text for term in clause.terms)
            if clause.is_required:
                # Nothing holds what must be held, so nothing is found, whatever else was asked for.
                nothing = tantivy.Query.empty_query()
                asked.required.append(Unit(clause.terms[0].text, 0.0, 0.0, nothing, nothing))
            return
        unit = units[0] if len(units) == 1 else _alternatives_of(units)
        (asked.required if clause.is_required else asked.wanted).append(unit)

    def _unit(self, term: Term) -> Unit | None:
        match term.match:
            case Match.WORD:
                return self._joined(term.text)
            case Match.PHRASE:
                return self._phrase(term.text, words(term.text), 1.0)
            case Match.PREFIX:
                return self._prefix(term.text)
            case Match.FUZZY:
                return self._fuzzy(term.text)
            case Match.REGEX:
                return self._regex(term.text)

    def _exclusion(self, term: Term) -> tantivy.Query:
        """Exclude what holds a term; a pattern that spans words is only excluded where a text is looked at."""
        unit = None if term.match is Match.REGEX and spans_words(term.text) else self._unit(term)
        return unit.holding if unit else tantivy.Query.empty_query()

    def _joined(self, text: str) -> Unit | None:
        """Take a chunk as one thing: a word in any form, or words that follow each other."""
        found = words(text)
        return self._word(found[0]) if len(found) == 1 else self._phrase(text, found, 1.0)

    def _word(self, word: str, weight: float = 1.0) -> Unit | None:
        """Ask for a word in all its forms, the typed one before the others."""
        if len(word) == 1 and is_unspaced(word):
            return self._character(word, weight)
        others = french.french_forms(word) if self._is_french else ()
        frequencies = {form: self._frequency(form) for form in (*forms(word), *others, *self._hashes(word))}
        held = sorted((form for form in frequencies if frequencies[form]), key=lambda form: -frequencies[form])
        return self._forms(word, weight, frequencies, held) if held else None

    def _character(self, character: str, weight: float) -> Unit | None:
        """Ask for a character of a script without spaces, alone or in a pair."""
        holding = tantivy.Query.regex_query(self._schema, TEXT, f".?{character}.?")
        count = self._searcher.search(holding, limit=1).count  # type: ignore[attr-defined]  # its stub lacks it
        worth = weight * self._rarity(count)
        ranking = tantivy.Query.const_score_query(holding, worth)
        return Unit(character, worth, worth, ranking, holding) if count else None

    def _forms(self, word: str, weight: float, frequencies: dict[str, int], held: list[str]) -> Unit:
        chosen = dict.fromkeys([*([word] if frequencies.get(word) else []), *held[:MOST_FORMS]])
        # Together they are as frequent as the stem would be, and as rare as that they all count.
        common = self._rarity(sum(frequencies[form] for form in chosen))
        ranking = []
        for form in chosen:
            boost = common / self._rarity(frequencies[form]) + (TYPED_BONUS if form == word else 0.0)
            ranking.append(tantivy.Query.boost_query(self._term(form), weight * boost))
        maximum = common + (TYPED_BONUS * self._rarity(frequencies[word]) if word in chosen else 0.0)
        holding = any_of(map(self._term, chosen))
        # The parts of a name are not what was asked for.
        count = sum(frequencies[form] for form in chosen) if weight == 1.0 else None
        return Unit(word, weight * common, weight * maximum, _best_of(ranking), holding, count)

    def _hashes(self, word: str) -> Iterable[str]:
        """Yield the longer hashes that begin like this one, and the short forms of a long one."""
        if not _HASH.fullmatch(word):
            return ()
        longer = [term for term, _ in self._searcher.terms_with_prefix(TEXT, word, None, MOST_FORMS)]
        return (*longer, *(word[:length] for length in range(_SHORTEST_HASH, min(len(word), _LONGEST_SHORT_HASH + 1))))

    def _phrase(self, text: str, found: Sequence[str], weight: float) -> Unit | None:
        frequencies = [self._frequency(word) for word in found]
        if not found or not all(frequencies):
            return None
        query = self._term(found[0]) if len(found) == 1 else tantivy.Query.phrase_query(self._schema, TEXT, list(found))
        worth = weight * sum(map(self._rarity, frequencies))
        return Unit(text, worth, worth, tantivy.Query.boost_query(query, weight), query)

    def _prefix(self, text: str) -> Unit | None:
        *before, last = words(text) or [""]
        found = self._searcher.terms_with_prefix(TEXT, last, None, MOST_PREFIXED) if last else []
        if not found:
            return None
        holding = tantivy.Query.regex_query(self._schema, TEXT, f"{re.escape(last)}.*")
        if before:
            holding = all_of([holding, *map(self._term, before)])
        frequencies = dict(found)
        common = self._rarity(sum(frequencies.values()))
        boosts = ((term, common / self._rarity(count)) for term, count in frequencies.items())
        ranking = [tantivy.Query.boost_query(self._term(term), boost) for term, boost in boosts]
        # Words beyond the most that rank are found all the same.
        ranking.append(tantivy.Query.const_score_query(holding, common))
        return Unit(text, common, common, _best_of(ranking), holding)

    def _fuzzy(self, text: str) -> Unit | None:
        found = words(text)
        if len(found) != 1:
            return self._joined(text)
        holding = tantivy.Query.fuzzy_term_query(self._schema, TEXT, found[0], fuzzy_distance(found[0]))
        exact = self._word(found[0])
        worth = exact.worth if exact else self._rarity(1)
        ranking = [tantivy.Query.const_score_query(holding, worth), *([exact.ranking] if exact else [])]
        return Unit(text, worth, exact.maximum if exact else worth, _best_of(ranking), holding)

    def _regex(self, text: str) -> Unit:
        """Ask for words that hold the pattern, or, where it spans several, for those that hold its pieces."""
        wanted = [f".*{piece}.*" for piece in pieces(text)] if spans_words(text) else [for_term(text)]
        worth = self._rarity(1)
        if not wanted:
            # Whatever else was asked for decides what is looked at first.
            everything = tantivy.Query.all_query()
            return Unit(text, worth, worth, tantivy.Query.const_score_query(everything, 0.0), everything)
        holding = all_of(tantivy.Query.regex_query(self._schema, TEXT, one) for one in wanted)
        return Unit(text, worth, worth, tantivy.Query.const_score_query(holding, worth), holding)

    def _term(self, word: str) -> tantivy.Query:
        return tantivy.Query.term_query(self._schema, TEXT, word)

    def _frequency(self, word: str) -> int:
        return self._searcher.doc_freq(TEXT, word)

    def _rarity(self, frequency: int) -> float:
        """Return the inverse document frequency as Tantivy's BM25 has it."""
        frequency = min(frequency, self._count)
        return math.log(1 + (self._count - frequency + 0.5) / (frequency + 0.5))


def looked_at(query: Query, most: int) -> list[Clause]:
    """Return the different clauses of a question; of very many, the first and the last.

    Patterns that the engine does not take are plain words, and so is what would take too many scans.
    """
    clauses = list(dict.fromkeys(query.clauses))
    clauses = clauses if len(clauses) <= most else clauses[: most // 2] + clauses[-most // 2 :]
    scans: set[Term] = set()
    return [_readable(clause, scans) for clause in clauses]


def _readable(clause: Clause, scans: set[Term]) -> Clause:
    refused = [term for term in clause.terms if term.match is Match.REGEX and not is_runnable(term.text)]
    terms = []
    for term in clause.terms:
        can_stay = term not in refused and may_scan(term, scans)
        if can_stay and is_scan(term):
            scans.add(term)
        terms.append(term if can_stay else Term(text=term.text))
    is_required = clause.is_required and len(refused) < len(terms)
    return Clause(terms=tuple(terms), is_required=is_required, is_excluded=clause.is_excluded)


def _is_spanning(term: Term) -> bool:
    return term.match is Match.REGEX and spans_words(term.text)


def _is_plain(clause: Clause) -> bool:
    """Say whether a clause is a chunk of words as people type them, without any sign."""
    only = len(clause.terms) == 1 and not clause.is_required and not clause.is_excluded
    return only and clause.terms[0].match is Match.WORD


def _content(term: Term, stops: frozenset[str]) -> bool:
    return any(word not in stops for word in words(term.text))


def _rarest(asked: Asked) -> Asked:
    """Keep what decides of a long text; the whole of a chunk counts only where its words do."""
    asked = asked._replace(missing=asked.missing[:MOST_MISSING])
    if len(asked.wanted) <= MOST_UNITS:
        return asked
    rarest = sorted(asked.wanted, key=lambda unit: -unit.worth)[:MOST_UNITS]
    return asked._replace(wanted=rarest, extras=[])


def _alternatives_of(units: Sequence[Unit]) -> Unit:
    return Unit(
        " OR ".join(unit.word for unit in units),
        max(unit.worth for unit in units),
        max(unit.maximum for unit in units),
        tantivy.Query.disjunction_max_query([unit.ranking for unit in units]),
        any_of(unit.holding for unit in units),
    )


def _best_of(queries: Sequence[tantivy.Query]) -> tantivy.Query:
    return queries[0] if len(queries) == 1 else tantivy.Query.disjunction_max_query(queries, FORMS_TOGETHER)
