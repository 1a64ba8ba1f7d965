"""Whether every part has its one vector in an index that was killed again and again while it was embedded.

The stand-in for tests embeds, since what is tried is the keeping of vectors and not their making, and small limits
let a little corpus go through all that a large one does: many batches, joins, and indexes that are outgrown.
"""

import random
from collections import Counter
from contextlib import closing
from itertools import product
from pathlib import Path

from measure.child import run, searchkit
from measure.crash import FIRST_GUESS_SECONDS, Tally, Victim, compared
from measure.growing import FIRST_SHARE, GrowingRoot

# The second model is the real one, which has vectors for much less.
ARGUMENTS = ("--model", "fake", "--multilingual")
LIMITS = ("BATCH_PARTS=7", "APART=3", "FLAT_ROWS=300", "SEGMENTS=3", "COMMIT_PARTS=200")
# Only a kill in one of these counts. Half of the kills are aimed at one, as it begins.
EMBEDDING = ("pending", "twins", "keep", "tidy")
AIMS = ("twins", "keep", "keep", "keep", "tidy")
PHASE_SECONDS = 0.1
# The store of vectors alone takes seconds to import.
START_SECONDS = 60.0
SHORTER, LONGER = 0.8, 1.1
NEAR = 0.999


def kill_often(growing: GrowingRoot, root: Path, index: Path, rng: random.Random, kills: int) -> Tally:
    """Start and kill, each time at a random moment after embedding has begun, while files grow."""
    tally = Tally()
    expected = FIRST_GUESS_SECONDS
    share = (1 - FIRST_SHARE) / max(kills, 1)
    while tally.kills < kills and sum(tally.failed.values()) <= kills:
        aim = rng.choice(AIMS) if rng.random() < 0.5 else None
        moment, later = rng.random(), rng.random()
        growing.grow(share)
        victim = Victim(root, index, LIMITS, ARGUMENTS)
        is_alive = victim.follow(START_SECONDS, until="pending") and victim.follow(moment * expected)
        if aim is not None:
            is_alive = is_alive and victim.follow(START_SECONDS, until=aim) and victim.follow(later**3 * PHASE_SECONDS)
        complaint = victim.end(kill=is_alive)
        tally.left_behind += victim.left_behind()
        if complaint:
            tally.failed[complaint] += 1
        elif is_alive and victim.phase in EMBEDDING:
            tally.kills += 1
            tally.phases[victim.phase] += 1
        else:
            tally.finished += 1
            # Nothing is left to embed, unless more is said.
            growing.grow(share)
        expected *= LONGER if is_alive and victim.phase in EMBEDDING else SHORTER
    return tally


def checks(root: Path, index: Path, peaceful: Path) -> dict[str, bool]:
    """Finish the killed index, build another in peace, and compare what they hold."""
    for directory in (index, peaceful):
        run(searchkit("index", *ARGUMENTS, "--json", "--root", root, "--index", directory))
    # Imported here, because until now only the processes that were killed needed them.
    import numpy as np

    from searchkit.backends.local import layout
    from searchkit.backends.local.backend import LocalBackend
    from searchkit.backends.local.vectors.rows import DESCRIBED, descriptions, digests, kept
    from searchkit.backends.local.vectors.table import NUMBERS, Vectors, tables
    from searchkit.backends.vector_priority import Space

    vectors = []
    held: dict[str, bool] = {}
    for directory, space in product((index, peaceful), Space):
        with closing(LocalBackend(directory)) as backend:
            all_names = tables(directory / layout.VECTORS)
            is_second = space is Space.MULTILINGUAL
            names = [name for name in all_names if name.startswith(space) == is_second]
            wanted = digests(backend.catalog.connection, space)
            if not wanted and not names:
                continue
            rows = Vectors(directory / layout.VECTORS, names[0])._select(None, [*NUMBERS, "feature", "vector"])
            counted = Counter(zip(rows["part"].to_pylist(), rows["piece"].to_pylist(), strict=True))
            said = set(zip(*(rows[name].to_pylist() for name in DESCRIBED), strict=True))
            if directory == index:
                print(f"{space}: {len(wanted)} parts should have a vector; {len(counted)}, {rows.num_rows} rows")
                held |= {
                    f"{space}: every part that should have a vector has one": set(wanted)
                    <= {part for part, _ in counted},
                    f"{space}: none has two": set(counted.values()) <= {1},
                    f"{space}: none is left over": {part for part, _ in counted} <= set(wanted) and len(names) == 1,
                    f"{space}: each row says of its part what the catalog says": said
                    == set(map(tuple, descriptions(backend.catalog.connection, wanted).values())),
                }
            keys = sorted(wanted)
            ids = {key: stored.id for key, stored in zip(keys, backend.catalog.stored(keys), strict=True) if stored}
            vectors.append({(space, ids[key]): pieces for key, pieces in kept(rows).items() if key in ids})
    half = len(vectors) // 2
    one, other = (
        {id: pieces for each in some for id, pieces in each.items()} for some in (vectors[:half], vectors[half:])
    )
    cosines = [float(np.dot(one[id][0].values, other[id][0].values)) for id in one.keys() & other.keys()]
    held["they are those of the peaceful index"] = one.keys() == other.keys() and all(
        cosine > NEAR or not one[id][0].values.any()
        for id, cosine in zip(one.keys() & other.keys(), cosines, strict=True)
    )
    return {**held, **compared(root, index, peaceful)}
