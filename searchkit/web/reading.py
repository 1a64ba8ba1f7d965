"""What the page is told when it leafs through a conversation: a few rows, and what there is beside them."""

import time
from collections.abc import Iterable, Mapping

import msgspec

from searchkit import ids, resume
from searchkit.backends.base import Backend, Order
from searchkit.conversations import Branch
from searchkit.engine import Engine
from searchkit.errors import NotFound
from searchkit.leafing import OF_AGENT, Reading, agent_id, first_record, leaf, told, unfolded
from searchkit.query import understand
from searchkit.questions import Filter, Mode, Query, narrowed
from searchkit.render.answer_json import Fields, agent_fields
from searchkit.render.plain import one_line, stamp
from searchkit.resident.engines import identity
from searchkit.resident.parameters import Given
from searchkit.sources.claude.pictures import pictures as read_pictures
from searchkit.sources.claude.pictures import records_with_pictures
from searchkit.web.rows import Around, marks, row
from searchkit.web.shelf import Key, Shelf

# Hits that can be walked through in one conversation.
MOST_HITS = 200
# Rows before the one that was asked for, so that it does not begin the page.
ABOVE = 12

_shelf = Shelf()


def reading(engine: Engine, given: Given, id: str) -> Fields:
    """Leaf through the conversation that a message is in: some of its rows, with whole texts."""
    query = _asked(given)
    key, found = _laid_out(engine, given, id, query)
    here = found.homes.get(found.record, 0)
    count = given.number("count")
    begin = int(given.text("begin") or max(0, here - ABOVE))
    rows = engine.ask(lambda backend: _rows(backend, found, query, begin, begin + count))
    return {"as_of": key.as_of, "total": len(found.rows), "begin": begin, "rows": rows, **_about(found, here)}


def fold(engine: Engine, given: Given, id: str) -> Fields:
    """Show some of the steps that a row of a conversation folds; none where rows may have other numbers by now."""
    query = _asked(given)
    key, found = _laid_out(engine, given, id, query)
    number, begin, count = given.number("row"), given.number("begin"), given.number("count")
    if (given.text("as_of") or key.as_of) != key.as_of:
        return {"as_of": key.as_of, "total": 0, "begin": begin, "rows": []}
    if number >= len(found.rows):
        raise NotFound(f"there is no row {number}", f"the conversation has {len(found.rows)}")
    steps = getattr(found.rows[number], "steps", ())

    def ask(backend: Backend) -> list[Fields]:
        around = Around(query=query, started=found.started)
        counts = _counted(backend, {step.uuid for step in steps})
        told = [row(backend, entry, around) for entry in unfolded(backend, found, number, begin, begin + count)]
        return [one | {"pictures": _pictures(counts, [str(one["uuid"])])} for one in told]

    return {"as_of": key.as_of, "total": len(steps), "begin": begin, "rows": engine.ask(ask)}


def part(engine: Engine, given: Given, id: str) -> Fields:
    """Give the whole text of one part."""
    query = _asked(given)

    def ask(backend: Backend) -> Fields:
        stored = backend.part(id)
        if stored is None:
            raise NotFound(f"there is no part {one_line(id)!r}", "a part is meant as <uuid>#<block>")
        text = stored.part.text
        return {"part": stored.id, "text": text, "marks": marks(backend, query, text)}

    return engine.ask(ask)


def pictures(engine: Engine, given: Given, id: str) -> Fields:
    """Give the pictures of a message out of its transcript, in base64; there are none where that is gone."""
    links = engine.ask(lambda backend: backend.links([id]))
    files = [place.file for link in links.values() for place in link.places]
    found = next((several for file in files if (several := read_pictures(file, id))), [])
    return {"pictures": [{"type": one.type, "data": one.data} for one in found]}


def _asked(given: Given) -> Query | None:
    words = (given.text("q") or "").strip()
    return understand(words) if words else None


def _laid_out(engine: Engine, given: Given, id: str, query: Query | None) -> tuple[Key, Reading]:
    """Take a conversation from the shelf, or lay it out now, which is another moment: it may have grown since."""
    as_of = given.text("as_of") or ""
    index = engine.settings.index
    key = Key(index=str(index), identity=identity(index), id=id, words=given.text("q") or "", as_of=as_of)
    found = _shelf.get(key) if as_of else None
    if found is None:
        key = msgspec.structs.replace(key, as_of=str(time.time_ns()))
        uuid = engine.ask(lambda backend: _meant(backend, id))
        hits = _hits(engine, uuid, query)
        # Texts come by row, but the message that was asked for is never folded.
        own = set(engine.ask(lambda backend: backend.keys(uuid)))
        laid_out = engine.ask(lambda backend: leaf(backend, uuid, hits | own))
        assert laid_out is not None
        found = msgspec.structs.replace(laid_out, hits=frozenset(hits))
        _shelf.put(key, found)
    return key, found


def _meant(backend: Backend, id: str) -> str:
    """Return the message that an id means: that of a message, of a part of it, of an agent, or of a session."""
    uuid = first_record(backend, id) if OF_AGENT in id else id.partition("#")[0]
    return ids.message(backend, uuid, "/v1/search shows ids")


def _hits(engine: Engine, uuid: str, query: Query | None) -> frozenset[int]:
    """Find what answers the question in the session of a message, by the keys of its parts."""
    session = engine.ask(lambda backend: backend.links([uuid])[uuid].places[0].session)
    if query is None or session is None:
        return frozenset()
    inside = narrowed(query, Filter(name="session", values=(session,)))
    found = engine.search(inside, MOST_HITS, order=Order.OLDEST, is_grouped=False, turns=0, mode=Mode.KEYWORD)
    return frozenset(result.best.ranked.hit.key for result in found.results)


def _rows(backend: Backend, found: Reading, query: Query | None, begin: int, end: int) -> list[Fields]:
    around = Around(query=query, started=found.started)
    # A record that only shows a picture has no row; its picture belongs to the row before it.
    shown: dict[int, list[str]] = {}
    for uuid, home in found.homes.items():
        if begin <= home < end:
            shown.setdefault(home, []).append(uuid)
    counts = _counted(backend, {uuid for uuids in shown.values() for uuid in uuids})
    return [
        row(backend, entry, around) | {"pictures": _pictures(counts, shown.get(number, ()))}
        for number, entry in enumerate(told(backend, found, begin, end), begin)
    ]


def _counted(backend: Backend, uuids: set[str]) -> Mapping[str, int]:
    """Count the pictures of the records in the transcripts that these lie in."""
    files = {place.file for link in backend.links(sorted(uuids)).values() for place in link.places[:1]}
    return {uuid: count for file in files for uuid, count in records_with_pictures(file).items()}


def _pictures(counts: Mapping[str, int], uuids: Iterable[str]) -> list[Fields]:
    return [{"uuid": uuid, "count": counts[uuid]} for uuid in uuids if uuid in counts]


def _about(found: Reading, here: int) -> Fields:
    session, thread = found.session, found.thread
    homes = found.homes

    return {
        "record": found.record,
        "session": session.id if session else None,
        "title": session.title if session else None,
        "project": session.project if session else None,
        "branch": session.branch if session else None,
        "ended": stamp(session.ended) if session else None,
        "is_gone": session.is_gone if session else None,
        "resume": resume.command(session) if session else None,
        "here": here,
        "hits": _walked(found),
        "branches": [_branch(branch, homes) for branch in thread.branches],
        "prompts": [homes[node.uuid] for node in thread.nodes if any(step.is_typed for step in node.steps)],
        "abandoned": thread.left_at is not None,
        "left_at": homes.get(thread.left_at or ""),
        "above": [{**agent_fields(agent), "first": agent_id(agent)} for agent in thread.above],
        "strays": [{**agent_fields(agent), "first": agent_id(agent)} for agent in thread.strays],
    }


def _walked(found: Reading) -> list[int]:
    """Return the rows of the hits, in order."""
    return [number for number, one in enumerate(found.rows) if getattr(one, "key", None) in found.hits]


def _branch(branch: Branch, homes: Mapping[str, int]) -> Fields:
    at = homes.get(branch.at or "")
    return {
        "row": at,
        "first": branch.first,
        "records": branch.records,
        "ended": stamp(branch.ended),
        "session": branch.session,
        "abandoned": branch.is_abandoned,
    }
