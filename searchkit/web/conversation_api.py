"""What the page is told when it leafs through a conversation: a few rows, and what there is beside them."""

import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from searchkit.backends.base import Backend, Order
from searchkit.conversation import lookup, resume
from searchkit.conversation.pages import OF_AGENT, Reading, agent_id, first_record, leaf, page, steps_in, with_texts
from searchkit.conversation.types import Branch
from searchkit.engine import Engine
from searchkit.errors import NotFound
from searchkit.query.parse import understand
from searchkit.query.types import Filter, Mode, Query, narrowed
from searchkit.render.answer_json import Fields, agent_fields
from searchkit.render.json import cost
from searchkit.server.routes import Given
from searchkit.server.transcripts import Unread
from searchkit.sources.claude.images import pictures as read_pictures
from searchkit.sources.claude.images import records_with_pictures
from searchkit.text.format import stamp
from searchkit.text.sanitize import one_line
from searchkit.web.row_json import Around, marks, row
from searchkit.web.shelf import Key, Shelf, digest

# Hits that can be walked through in one conversation.
MOST_HITS = 200
# Rows before the one that was asked for, so that it does not begin the page.
ABOVE = 12

_shelf = Shelf()


def reading(engine: Engine, given: Given, id: str) -> Fields | Unread:
    """Leaf through the conversation that a message is in: some of its rows, with whole texts."""
    query = _asked(given)
    key, found = _laid_out(engine, given, id, query)
    here = found.homes.get(found.record, 0)
    count = given.number("count")
    begin = int(given.text("begin") or max(0, here - ABOVE))
    rows = engine.ask(lambda backend: _rows(backend, found, query, begin, begin + count))
    costs = engine.costs([found.session.id]) if found.session else {}
    spent = {"cost": cost(next(iter(costs.values()), None))}
    about = {"as_of": key.as_of, "total": found.total, "begin": begin, **_about(found, here), **spent}
    return _with_pictures(about, rows)


def fold(engine: Engine, given: Given, id: str) -> Fields | Unread:
    """Show some of the steps that a row of a conversation folds; none where rows may have other numbers by now."""
    query = _asked(given)
    key, found = _laid_out(engine, given, id, query)
    number, begin, count = given.number("row"), given.number("begin"), given.number("count")
    if (given.text("as_of") or key.as_of) != key.as_of:
        return {"as_of": key.as_of, "total": 0, "begin": begin, "rows": [], "without_pictures": None}
    if number >= found.total:
        raise NotFound(f"there is no row {number}", f"the conversation has {found.total}")
    steps = engine.ask(lambda backend: steps_in(backend.catalog, found, number))

    def ask(backend: Backend) -> Rows:
        around = Around(query=query, started=found.started)
        told = [
            row(backend, entry, around)
            for entry in with_texts(backend.catalog, steps[begin : begin + count], found.hits)
        ]
        uuids = [[str(one["uuid"])] for one in told]
        return Rows(told=told, uuids=uuids, files=_files(backend, {step.uuid for step in steps}))

    return _with_pictures({"as_of": key.as_of, "total": len(steps), "begin": begin}, engine.ask(ask))


def part(engine: Engine, given: Given, id: str) -> Fields:
    """Give the whole text of one part."""
    query = _asked(given)

    def ask(backend: Backend) -> Fields:
        stored = backend.catalog.part(id)
        if stored is None:
            raise NotFound(f"there is no part {one_line(id)!r}", "name a part as <uuid>#<block>")
        text = stored.part.text
        return {"part": stored.id, "text": text, "marks": marks(backend, query, text)}

    return engine.ask(ask)


def pictures(engine: Engine, given: Given, id: str) -> Fields | Unread:
    """Give the pictures of a message out of its transcript, in base64; there are none where that is gone."""
    links = engine.ask(lambda backend: backend.catalog.links([id]))
    files = [place.file for link in links.values() for place in link.places]

    def read() -> Fields:
        found = next((several for file in files if (several := read_pictures(file, id))), [])
        return {"pictures": [{"type": one.type, "data": one.data} for one in found]}

    return Unread(subject=_where(files), read=read) if files else read()


def _asked(given: Given) -> Query | None:
    words = (given.text("q") or "").strip()
    return understand(words) if words else None


def _laid_out(engine: Engine, given: Given, id: str, query: Query | None) -> tuple[Key, Reading]:
    """Take a conversation from the shelf, or lay it out now, which is another moment: it may have grown since."""
    as_of = given.text("as_of") or ""
    identity = engine.store.identity()
    key = Key(index=engine.settings.url, identity=identity, id=id, words=given.text("q") or "", as_of=as_of)
    found = _shelf.get(key) if as_of else None
    if found is None:
        uuid = engine.ask(lambda backend: _meant(backend, id))
        hits = _hits(engine, uuid, query)
        # Texts come by row, but the message that was asked for is never folded.
        own = engine.ask(lambda backend: backend.catalog.keys(uuid))
        laid_out = engine.ask(lambda backend: leaf(backend.catalog, uuid, hits, own))
        assert laid_out is not None
        found = laid_out
        key = msgspec.structs.replace(key, as_of=str(time.time_ns()))
        if not _shelf.put(key, found):
            # It is laid out for every page, and rows keep their numbers as long as it is the same.
            key = msgspec.structs.replace(key, as_of=digest(found))
    return key, found


def _meant(backend: Backend, id: str) -> str:
    """Return the message that an id means: that of a message, of a part of it, of an agent, or of a session."""
    uuid = first_record(backend.catalog, id) if OF_AGENT in id else id.partition("#")[0]
    return lookup.message(backend.catalog, uuid, "/v1/search shows ids")


def _hits(engine: Engine, uuid: str, query: Query | None) -> frozenset[int]:
    """Find what answers the question in the session of a message, by the keys of its parts."""
    session = engine.ask(lambda backend: backend.catalog.links([uuid])[uuid].places[0].session)
    if query is None or session is None:
        return frozenset()
    inside = narrowed(query, Filter(name="session", values=(session,)))
    found = engine.search(inside, MOST_HITS, order=Order.OLDEST, is_grouped=False, turns=0, mode=Mode.KEYWORD)
    return frozenset(result.best.ranked.hit.key for result in found.results)


class Rows(msgspec.Struct, frozen=True, kw_only=True):
    """Rows without their pictures: the records whose pictures each shows, and the transcripts that have them."""

    told: list[Fields]
    uuids: Sequence[Sequence[str]]
    files: list[str]


def _with_pictures(about: Fields, rows: Rows) -> Fields | Unread:
    """Say which rows have pictures, once their transcripts were looked at; where these are silent, say that."""

    def told(counts: Mapping[str, int], why: str | None) -> Fields:
        shown = [one | {"pictures": _pictures(counts, uuids)} for one, uuids in zip(rows.told, rows.uuids, strict=True)]
        return {**about, "rows": shown, "without_pictures": why}

    if not rows.files:
        return told({}, None)
    return Unread(
        subject=_where(rows.files),
        read=lambda: told(_counted(rows.files), None),
        otherwise=lambda silent: told({}, silent.message),
    )


def _rows(backend: Backend, found: Reading, query: Query | None, begin: int, end: int) -> Rows:
    around = Around(query=query, started=found.started)
    shown = page(backend.catalog, found, begin, end)
    # A record that only shows a picture has no row; its picture belongs to the row before it.
    rows = [row(backend, entry, around) for entry in with_texts(backend.catalog, shown.rows, found.hits)]
    return Rows(
        told=rows,
        uuids=[list(shown.homes.get(number, ())) for number in range(begin, begin + len(rows))],
        files=_files(backend, {uuid for uuids in shown.homes.values() for uuid in uuids}),
    )


def _files(backend: Backend, uuids: set[str]) -> list[str]:
    """Return the transcripts that records lie in."""
    return sorted({place.file for link in backend.catalog.links(sorted(uuids)).values() for place in link.places[:1]})


def _where(files: Sequence[str]) -> str:
    """Name the directory of transcripts: one that does not answer answers for none of its files."""
    return str(Path(files[0]).parent)


def _counted(files: Iterable[str]) -> Mapping[str, int]:
    """Count the pictures of the records of transcripts."""
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
        "hits": list(found.walked),
        "branches": [_branch(branch, homes) for branch in thread.branches],
        "prompts": list(found.prompts),
        "abandoned": thread.left_at is not None,
        "left_at": homes.get(thread.left_at or ""),
        "above": [{**agent_fields(agent), "first": agent_id(agent)} for agent in thread.above],
        "strays": [{**agent_fields(agent), "first": agent_id(agent)} for agent in thread.strays],
    }


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
