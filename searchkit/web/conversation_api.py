"""What the page asks for: rows of a conversation, whole texts and pictures, and the conversations kept meanwhile."""

import threading
import time
import zlib
from array import array
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, TypeVar

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from searchkit.backends.base import Backend, Order
from searchkit.conversation import lookup, outline, pages, resume
from searchkit.conversation import types as conversations
from searchkit.conversation.pages import OF_AGENT, first_record, leaf, page, steps_in, with_texts
from searchkit.engine import Engine
from searchkit.errors import NotFound
from searchkit.query.parse import understand
from searchkit.query.types import Condition, Filter, Group, Mode, Query, narrowed
from searchkit.render.wire.base import Time, Wire
from searchkit.render.wire.conversation import Touch
from searchkit.render.wire.sessions import Cost, Work, cost, work
from searchkit.search.snippets import cut
from searchkit.sources import registry
from searchkit.sources.base import Adapter
from searchkit.text.format import stamp
from searchkit.text.sanitize import one_line
from searchkit.types import Figures, Grouping
from searchkit.web.endpoints import Endpoint, Number, Parameters, Unread, Words
from searchkit.web.home_api import HOME_ENDPOINTS
from searchkit.web.row_json import Around, Marks, RecordPictures, Row, StartedAgent, marks, row, started

MOST_READINGS = 12
# Of all readings together: one of a million records takes 9 MB, one of the 16,480 of a long session 150 kB.
MOST_BYTES = 64 << 20
# What a reading takes beside its numbers, as tracemalloc counts it: itself, and each of what it names.
READING_BYTES, NAMED_BYTES = 4_000, 800


class Key(msgspec.Struct, frozen=True, kw_only=True):
    """What is read, which words are marked in it, and when it was laid out.

    A client that pages on names that moment, so that rows keep their numbers while the session grows. An index that
    was rebuilt in the same place is another: its parts have other keys.
    """

    index: str
    identity: tuple[int, ...]
    id: str
    words: str
    as_of: str


class ReadingCache:
    """An LRU cache of conversations that are being read; safe to use from several threads."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        """Begin empty."""
        self._most_bytes = most_bytes
        self._readings: OrderedDict[Key, pages.Reading] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Key) -> pages.Reading | None:
        """Return a reading that is still there."""
        with self._lock:
            if key in self._readings:
                self._readings.move_to_end(key)
            return self._readings.get(key)

    def put(self, key: Key, reading: pages.Reading) -> bool:
        """Keep a reading, and let go of those that were not used for longest; say whether there is room for it."""
        if size(reading) > self._most_bytes:
            return False
        with self._lock:
            self._readings[key] = reading
            while len(self._readings) > MOST_READINGS or self._bytes() > self._most_bytes:
                self._readings.popitem(last=False)
        return True

    def _bytes(self) -> int:
        return sum(size(reading) for reading in self._readings.values())


def size(reading: pages.Reading) -> int:
    """Estimate the bytes that a reading takes."""
    thread = reading.thread
    named = (thread.branches, thread.above, thread.strays, reading.homes, reading.started, reading.hits, reading.apart)
    numbers = sum(len(one) * one.itemsize for one in _numbers(reading))
    return READING_BYTES + numbers + NAMED_BYTES * sum(len(several) for several in named)


def digest(reading: pages.Reading) -> str:
    """Name what a conversation consists of: the same as long as it has neither grown nor changed."""
    digest = reading.total
    for one in _numbers(reading):
        digest = zlib.crc32(one, digest)
    return f"{digest:08x}"


def _numbers(reading: pages.Reading) -> "tuple[array[int], ...]":
    return reading.keys, reading.turns, reading.begins, reading.prompts, reading.typed, reading.walked


# What the page is told when it leafs through a conversation: a few rows, and what there is beside them.

# Hits that can be walked through in one conversation.
MOST_HITS = 200
# Prompts that are listed beside a conversation, and what is shown of each: two lines of a narrow column.
MOST_PROMPTS = 2_000
PROMPT_CHARACTERS = 120
# Rows before the one that was asked for, so that it does not begin the page.
ABOVE = 12

_cache = ReadingCache()

AsOf = Annotated[
    str,
    Meta(
        description="The moment that an earlier answer named: rows keep the numbers they had then, unless the answer "
        "names another, because the first is not kept any more."
    ),
]
Count = Annotated[int, Meta(ge=1, le=200, description="How many rows.")]
WithoutPictures = Annotated[
    str | None, Meta(description="Why no row says that it has pictures, where they cannot be read.")
]


class Marked(Parameters, frozen=True, kw_only=True):
    """What an address takes that marks words."""

    q: Words = ""


class ReadingParameters(Marked, frozen=True, kw_only=True):
    """What `/v1/readings/{id}` takes."""

    begin: Annotated[Number | None, Meta(description="The first row; else some before what was asked for.")] = None
    count: Count = 40
    as_of: AsOf = ""
    pictures: Annotated[bool, Meta(description="Look for pictures in the transcripts, which takes a while.")] = True


class ContentsParameters(Marked, frozen=True, kw_only=True):
    """What `/v1/readings/{id}/contents` takes."""

    as_of: AsOf = ""


class FoldParameters(Marked, frozen=True, kw_only=True):
    """What `/v1/readings/{id}/fold` takes."""

    row: Annotated[Number, Meta(description="The row that folds steps.")]
    begin: Annotated[Number, Meta(description="How many of its steps to pass over.")] = 0
    count: Count = 40
    as_of: AsOf = ""


class RowBranch(Wire, frozen=True, kw_only=True):
    """Another way that the conversation went, and the row that it leaves from."""

    row: int | None
    first: str
    records: int
    ended: Time
    session: str | None
    abandoned: bool


class Reading(Wire, frozen=True, kw_only=True):
    """Some rows of a conversation, and what there is beside them."""

    as_of: str
    total: int
    begin: int
    record: str
    session: str | None
    title: str | None
    project: str | None
    branch: str | None
    agent_app: str | None
    ended: Time
    is_gone: bool | None
    resume: str | None
    here: int
    hits: list[int]
    branches: list[RowBranch]
    prompts: list[int]
    abandoned: bool
    left_at: int | None
    above: list[StartedAgent]
    strays: list[StartedAgent]
    cost: Cost | None
    rows: list[Row]
    without_pictures: WithoutPictures


class Fold(Wire, frozen=True, kw_only=True):
    """Some of the steps that a row folds."""

    as_of: str
    total: int
    begin: int
    rows: list[Row]
    without_pictures: WithoutPictures


class Prompt(Wire, frozen=True, kw_only=True):
    """Something that was typed, the row it stands in, and when it was."""

    row: int
    text: str
    timestamp: Time


class Contents(Wire, frozen=True, kw_only=True):
    """What a conversation consists of: its prompts, and the totals of its session."""

    as_of: str
    prompts: list[Prompt]
    left_out: Annotated[int, Meta(description="Prompts after these.")]
    started: Time
    ended: Time
    turns_ms: Annotated[int | None, Meta(description="How long its turns took, of those that say so.")]
    total: Work | None
    models: list[str]
    files: list[Touch]


class PartText(Wire, frozen=True, kw_only=True):
    """The whole text of a part."""

    part: str
    text: str
    marks: Marks


A = TypeVar("A", Reading, Fold)


class Picture(Wire, frozen=True, kw_only=True):
    """A picture, in base64."""

    type: str
    data: str


class Pictures(Wire, frozen=True, kw_only=True):
    """The pictures of a message."""

    pictures: list[Picture]


def reading(engine: Engine, given: ReadingParameters, id: str) -> Reading | Unread:
    """Leaf through the conversation that a message is in: some of its rows, with whole texts."""
    query = _query(given)
    key, found = _laid_out(engine, given, id, query)
    here = found.homes.get(found.record, 0)
    begin = max(0, here - ABOVE) if given.begin is None else given.begin
    rows = engine.ask(lambda backend: _rows(backend, found, query, begin, begin + given.count))
    costs = engine.costs([found.session.id]) if found.session else {}
    page = replace(_page(found, key.as_of, begin, here), cost=cost(next(iter(costs.values()), None)))
    return _with_pictures(page, rows if given.pictures else replace(rows, files=[]))


def contents(engine: Engine, given: ContentsParameters, id: str) -> Contents:
    """Give the prompts of a conversation with their rows, and the totals of its session."""
    key, found = _laid_out(engine, given, id, _query(given))
    listed = list(zip(found.prompts, found.typed, strict=True))
    session = engine.named([found.session.id])[found.session.id] if found.session else None
    of_session = Condition(filters=(Filter(name="session", values=(session.id,)),)) if session else None
    groups = (Grouping.TOTAL, Grouping.MODEL)
    figures = engine.figures(of_session, groups) if of_session else {}

    def ask(backend: Backend) -> Contents:
        shown = listed[:MOST_PROMPTS]
        texts = backend.catalog.stored([key for _, key in shown])
        return Contents(
            as_of=key.as_of,
            prompts=[
                Prompt(
                    row=row, text=cut(stored.part.text, (), PROMPT_CHARACTERS).text, timestamp=stamp(stored.link.time)
                )
                for (row, _), stored in zip(shown, texts, strict=True)
                if stored is not None
            ],
            left_out=len(listed) - len(shown),
            started=stamp(session.started) if session else None,
            ended=stamp(session.ended) if session else None,
            turns_ms=outline.turns_ms(backend.catalog, session.id) if session else None,
            total=work(next(iter(figures[Grouping.TOTAL].values()), Figures())) if session else None,
            models=sorted(filter(None, figures.get(Grouping.MODEL, ()))),
            files=[
                Touch(path=touch.path, action=touch.action)
                for touch in (outline.files(backend.catalog.touching(session.id)) if session else ())
            ],
        )

    return engine.ask(ask)


def fold(engine: Engine, given: FoldParameters, id: str) -> Fold | Unread:
    """Show some of the steps that a row of a conversation folds; none where rows may have other numbers by now."""
    query = _query(given)
    key, found = _laid_out(engine, given, id, query)
    answer = Fold(as_of=key.as_of, total=0, begin=given.begin, rows=[], without_pictures=None)
    if (given.as_of or key.as_of) != key.as_of:
        return answer
    if given.row >= found.total:
        raise NotFound(f"there is no row {given.row}", f"the conversation has {found.total}")
    steps = engine.ask(lambda backend: steps_in(backend.catalog, found, given.row))
    shown = steps[given.begin : given.begin + given.count]

    def ask(backend: Backend) -> Rows:
        around = Around(query=query, started=found.started)
        told = [row(backend, entry, around) for entry in with_texts(backend.catalog, shown, found.hits)]
        uuids = [[str(one.uuid)] for one in told]
        return Rows(told=told, uuids=uuids, files=_files(backend, {step.uuid for step in steps}))

    return _with_pictures(replace(answer, total=len(steps)), engine.ask(ask))


def part(engine: Engine, given: Marked, id: str) -> PartText:
    """Give the whole text of one part."""
    query = _query(given)

    def ask(backend: Backend) -> PartText:
        stored = backend.catalog.part(id)
        if stored is None:
            raise NotFound(f"there is no part {one_line(id)!r}", "name a part as <uuid>#<block>")
        text = stored.part.text
        return PartText(part=stored.id, text=text, marks=marks(backend, query, text))

    return engine.ask(ask)


def pictures(engine: Engine, given: Parameters, id: str) -> Pictures | Unread:
    """Give the pictures of a message out of its transcript, in base64; there are none where that is gone."""
    links = engine.ask(lambda backend: backend.catalog.links([id]))
    files = [place.file for link in links.values() for place in link.places]

    def read() -> Pictures:
        found = next((several for file in files if (several := _adapter(file).pictures(file, id))), ())
        return Pictures(pictures=[Picture(type=one.type, data=one.data) for one in found])

    return Unread(subject=_where(files), read=read) if files else read()


def _query(given: Marked) -> Query | None:
    words = given.q.strip()
    return understand(words) if words else None


def _laid_out(
    engine: Engine, given: ReadingParameters | FoldParameters | ContentsParameters, id: str, query: Query | None
) -> tuple[Key, pages.Reading]:
    """Take a conversation from the cache, or lay it out now, which is another moment: it may have grown since."""
    identity = engine.store.identity()
    key = Key(index=engine.settings.url, identity=identity, id=id, words=given.q, as_of=given.as_of)
    found = _cache.get(key) if given.as_of else None
    if found is None:
        uuid = engine.ask(lambda backend: _meant(backend, id))
        hits = _hits(engine, uuid, query)
        # Texts come by row, but the message that was asked for is never folded.
        own = engine.ask(lambda backend: backend.catalog.keys(uuid))
        laid_out = engine.ask(lambda backend: leaf(backend.catalog, uuid, hits, own))
        assert laid_out is not None
        found = laid_out
        key = replace(key, as_of=str(time.time_ns()))
        if not _cache.put(key, found):
            # It is laid out for every page, and rows keep their numbers as long as it is the same.
            key = replace(key, as_of=digest(found))
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
    found = engine.search(inside, MOST_HITS, sort=Order.OLDEST, group=Group.NONE, thread=0, mode=Mode.KEYWORD)
    return frozenset(result.best.ranked.hit.key for result in found.results)


class Rows(msgspec.Struct, frozen=True, kw_only=True):
    """Rows without their pictures: the records whose pictures each shows, and the transcripts that have them."""

    told: list[Row]
    uuids: Sequence[Sequence[str]]
    files: list[str]


def _with_pictures(answer: A, rows: Rows) -> A | Unread:
    """Say which rows have pictures, once their transcripts were looked at; where these are silent, say that."""

    def told(counts: Mapping[str, int], why: str | None) -> A:
        each = zip(rows.told, rows.uuids, strict=True)
        shown = [replace(one, pictures=_pictures(counts, uuids)) for one, uuids in each]
        return replace(answer, rows=shown, without_pictures=why)

    if not rows.files:
        return told({}, None)
    return Unread(
        subject=_where(rows.files),
        read=lambda: told(_counted(rows.files), None),
        otherwise=lambda silent: told({}, silent.message),
    )


def _rows(backend: Backend, found: pages.Reading, query: Query | None, begin: int, end: int) -> Rows:
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
    return {uuid: count for file in files for uuid, count in _adapter(file).records_with_pictures(file).items()}


def _adapter(file: str) -> Adapter:
    """Return what reads the transcripts of the program that wrote a file."""
    return registry.adapter(registry.app_of_file(file).name)


def _pictures(counts: Mapping[str, int], uuids: Iterable[str]) -> list[RecordPictures]:
    return [RecordPictures(uuid=uuid, count=counts[uuid]) for uuid in uuids if uuid in counts]


def _page(found: pages.Reading, as_of: str, begin: int, here: int) -> Reading:
    """Make an answer without its rows."""
    session, thread = found.session, found.thread
    homes = found.homes
    return Reading(
        as_of=as_of,
        total=found.total,
        begin=begin,
        record=found.record,
        session=session.id if session else None,
        title=session.title if session else None,
        project=session.project if session else None,
        branch=session.branch if session else None,
        agent_app=session.app if session else None,
        ended=stamp(session.ended) if session else None,
        is_gone=session.is_gone if session else None,
        resume=resume.command(session) if session else None,
        here=here,
        hits=list(found.walked),
        branches=[_branch(branch, homes) for branch in thread.branches],
        prompts=list(found.prompts),
        abandoned=thread.left_at is not None,
        left_at=homes.get(thread.left_at or ""),
        above=[started(one) for one in thread.above],
        strays=[started(one) for one in thread.strays],
        cost=None,
        rows=[],
        without_pictures=None,
    )


def _branch(branch: conversations.Branch, homes: Mapping[str, int]) -> RowBranch:
    return RowBranch(
        row=homes.get(branch.at or ""),
        first=branch.first,
        records=branch.records,
        ended=stamp(branch.ended),
        session=branch.session,
        abandoned=branch.is_abandoned,
    )


# The table of what only the page asks for: conversations to leaf through, whole texts, and pictures.

PAGE_ENDPOINTS = (
    *HOME_ENDPOINTS,
    Endpoint(path="/v1/readings/{id}", parameters=ReadingParameters, answer=reading, returns=Reading),
    Endpoint(path="/v1/readings/{id}/fold", parameters=FoldParameters, answer=fold, returns=Fold),
    Endpoint(path="/v1/readings/{id}/contents", parameters=ContentsParameters, answer=contents, returns=Contents),
    Endpoint(path="/v1/parts/{id}", parameters=Marked, answer=part, returns=PartText),
    Endpoint(path="/v1/pictures/{id}", answer=pictures, returns=Pictures),
)
