"""How well questions were answered: a table for people, fields for programs."""

from collections.abc import Iterator, Sequence

import msgspec

from searchkit.render.wire.search import Evaluation, Scores
from searchkit.search.evaluate import Measures, Row
from searchkit.text.sanitize import one_line

NAME_WIDTH = 12


def table(rows: Sequence[Row], depth: int) -> Iterator[str]:
    """Show a line for each type and language, and one for all."""
    heads = " ".join(f"{name:>5}" for name in ("h@1", "h@5", f"h@{depth}", f"r@{depth}", "mrr", "ndcg"))
    yield f"{'type':{NAME_WIDTH}} {'n':>5} | {'message':>7} {heads} | {'session':>7} {heads}"
    for row in rows:
        cells = [
            " ".join(f"{value:5.1f}" for value in msgspec.structs.astuple(half)) for half in (row.message, row.session)
        ]
        yield f"{one_line(row.name):{NAME_WIDTH}} {row.questions:5d} | {'':7} {cells[0]} | {'':7} {cells[1]}"


def evaluation(rows: Sequence[Row], mode: str, depth: int) -> Evaluation:
    """Make the same for programs, in percent."""
    types = {
        row.name: Scores(
            questions=row.questions, message=_measures(row.message, depth), session=_measures(row.session, depth)
        )
        for row in rows
    }
    return Evaluation(mode=mode, k=depth, types=types)


def _measures(half: Measures, depth: int) -> dict[str, float]:
    names = ("hit@1", "hit@5", f"hit@{depth}", f"recall@{depth}", "mrr", f"ndcg@{depth}")
    return {name: round(value, 2) for name, value in zip(names, msgspec.structs.astuple(half), strict=True)}
