"""Whether a keyword index that followed its catalog through anything answers like one made from it in peace."""

import random
import shutil
from contextlib import closing
from pathlib import Path

import tantivy

from measure.child import run, searchkit
from searchkit.backends.local.backend import LocalBackend
from searchkit.backends.local.layout import KEYWORD
from searchkit.backends.local.words.index import NUMBERS, TEXT, values
from tests.reference.contents import everything

SAMPLED_WORDS = 1_000
SEED = 1


def compared(root: Path, index: Path, scratch: Path) -> dict[str, bool]:
    """Rebuild the keyword index of a copy, and compare which parts both hold, as what, and by which words."""
    rebuilt = scratch / "rebuilt"
    shutil.copytree(index, rebuilt)
    shutil.rmtree(rebuilt / KEYWORD)
    run(searchkit("index", "--no-vectors", "--json", "--root", root, "--index", rebuilt))
    with closing(LocalBackend(index)) as one, closing(LocalBackend(rebuilt)) as other:
        searchers = [backend.words._open_keyword().searcher for backend in (one, other)]
        held = [_held(searcher) for searcher in searchers]
        words = [word for word, _ in searchers[1].terms_with_prefix(TEXT, "", None)]
        sample = random.Random(SEED).sample(sorted(words), min(SAMPLED_WORDS, len(words)))
        schema = one.words._open_keyword().schema
        differing = [word for word in sample if len({_parts(each, schema, word) for each in searchers}) > 1]
        expected = sum(stored.repeats is None for holding in everything(one) for stored in holding.parts)
        pending, searchable = one.words.reach().pending, one.words.reach().searchable
    for word in differing[:5]:
        print(f"  other parts are found by {word!r} than in a rebuilt index")
    print(f"{searchable} parts are searchable, {expected} should be; {pending} are pending")
    return {
        "no part is pending": not pending,
        "every part that repeats no other is searchable, once": searchable == expected == len(held[0]),
        "the keyword index holds what a rebuilt one holds": held[0] == held[1],
        f"{len(sample) - len(differing)} of {len(sample)} words find what they find in a rebuilt one": not differing,
    }


def _held(searcher: tantivy.Searcher) -> dict[int, tuple[int, ...]]:
    """Return what each part is filtered by, by its number."""
    found = searcher.search(tantivy.Query.all_query(), limit=max(1, searcher.num_docs), count=False).hits
    addresses = [address for _, address in found]
    columns = [values(searcher, name, addresses) for name in NUMBERS]
    return {row[0]: row for row in zip(*columns, strict=True)}


def _parts(searcher: tantivy.Searcher, schema: tantivy.Schema, word: str) -> tuple[int, ...]:
    query = tantivy.Query.term_query(schema, TEXT, word)
    found = searcher.search(query, limit=max(1, searcher.num_docs), count=False).hits
    return tuple(sorted(values(searcher, "part", [address for _, address in found])))
