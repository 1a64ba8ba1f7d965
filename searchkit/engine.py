"""The engine: opens an index and does what the commands are named after. Wiring only.

A search is over in less time than it takes to import what reads transcripts and writes the
index, so methods that need those import them.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from msgspec.structs import replace

from searchkit import config
from searchkit.backends.base import EMBEDDING, MULTILINGUAL, ROOTS, WITHOUT_SECRETS, Order, Reach
from searchkit.backends.masked import without_secrets
from searchkit.backends.registry import find_store
from searchkit.errors import IndexDamaged, IndexMissing, ModelFault, SourceError, SourceSilent, UsageError
from searchkit.query.parse import understood
from searchkit.query.types import Condition, Filter, Group, Mode, Query, narrowed, one_of
from searchkit.search import pipeline
from searchkit.search.pipeline import retrieve
from searchkit.search.types import Answer, QuestionVectors, SearchOptions, Status
from searchkit.search.weights import RECIPE, Recipe, trusting
from searchkit.text.secrets import revealed
from searchkit.types import Behind, Cost, Counts, Figures, Finding, Grouping, Retention, SecretPlace, Session

if TYPE_CHECKING:
    from searchkit.backends.base import Backend
    from searchkit.backends.prices import Price
    from searchkit.context.types import Pack
    from searchkit.conversation import lookup
    from searchkit.conversation.resume import Resumption
    from searchkit.conversation.types import Conversation, Outline, Thread
    from searchkit.embed.base import Embedder
    from searchkit.embed.load import Models
    from searchkit.indexing.ingest import Progress, Summary
    from searchkit.sources.base import Survey
    from searchkit.system.deadlines import Patience


T = TypeVar("T")
# Sessions that a pack may draw on: over the sample five have room in 2,000 tokens, and twenty in 20,000.
MOST_SESSIONS = 30


class Engine:
    """An index and the roots it is made from; use it as a context manager."""

    def __init__(
        self,
        index: str | Path | None = None,
        roots: Sequence[str | Path] = (),
        model: str | None = None,
        recipe: Recipe = RECIPE,
        *,
        multilingual: bool | None = None,
        embedder: "Callable[[str], Embedder] | None" = None,
    ) -> None:
        """Take what is not given from the environment, the configuration file and the defaults.

        Several engines may share models: `embedder` is then asked for one, by its setting, when it is needed.
        """
        chosen = None if index is None else str(index)
        self.settings = config.resolve([str(root) for root in roots], chosen, model=model, multilingual=multilingual)
        self._recipe = recipe if self.settings.model in config.DEFAULT_MODEL else trusting(recipe)
        self.store = find_store(self.settings.url)
        self._reader: Backend | None = None
        self._embedder = embedder

    def __enter__(self) -> Self:
        """Open nothing yet: what is needed is opened when it is."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close what was opened."""
        self.close()

    @property
    def roots(self) -> tuple[Path, ...]:
        """What is read: the roots that were chosen, else those the index was made from, else the defaults.

        An index that was made from the defaults follows them: a program that is new is found.
        """
        if self.settings.roots:
            return self.settings.roots
        from searchkit.sources import registry

        defaults = registry.default_roots(os.environ)
        remembered = () if registry.is_any_named(os.environ) else self.store.roots()
        return defaults if set(remembered) <= set(defaults) else remembered

    def index(
        self,
        on_progress: "Callable[[Progress], None] | None" = None,
        on_wait: Callable[[str], None] = lambda holder: None,
        wait: bool = True,
        is_rebuild: bool = False,
        with_vectors: bool = False,
        is_masking: bool | None = None,
    ) -> "Summary":
        """Bring the index up to date with the roots, and with vectors where they are wanted and can be made.

        With `is_masking` secrets are kept out of it, from now on; without, it is as it was chosen before.
        """
        from searchkit.indexing.ingest import ingest
        from searchkit.sources import registry

        roots = self.roots
        source = registry.open_sources(roots)
        with self.store.open_to_write(wait, on_wait, is_rebuild) as backend:
            backend.catalog.remember(ROOTS, [str(root) for root in roots])
            for reading in source.readings:
                backend.catalog.revise(reading)
            if is_masking is not None or self.settings.mask_secrets:
                is_wanted = self.settings.mask_secrets if is_masking is None else is_masking
                backend.catalog.remember(WITHOUT_SECRETS, is_wanted or None)
            summary = ingest(source, backend, on_progress, is_rebuild, backend.catalog.setting(WITHOUT_SECRETS) is True)
            if with_vectors:
                summary = self._with_vectors(backend, summary, on_progress)
            if is_rebuild:
                for reading in source.readings:
                    backend.catalog.remember(reading.key, reading.version)
            is_outdated = any(backend.catalog.setting(reading.key) != reading.version for reading in source.readings)
            return replace(summary, is_outdated=is_outdated)

    def embed(self, is_enough: Callable[[], bool], wait: bool = True) -> bool:
        """Make vectors that are missing until it is enough; say whether some are missing still.

        Only a model that the index has vectors of already is used: another is changed over to by `index`.
        """
        from searchkit.indexing.embed_parts import SMALL_BATCH_PARTS, embed

        model, other, reader = self.embedder(), self._models.multilingual(), self._open()
        reader.vectors.adopt(model.identity)
        pending = reader.vectors.reach().pending
        if other is not None:
            reader.multilingual.adopt(other.identity)
            pending += reader.multilingual.reach().pending
        if not pending:
            return False
        with self.store.open_to_write(wait) as backend:
            embed(backend, model, is_enough=is_enough, batch_parts=SMALL_BATCH_PARTS)
            is_more = bool(backend.vectors.pending(1))
            if other is not None:
                embed(backend, other, is_enough=is_enough, batch_parts=SMALL_BATCH_PARTS, is_multilingual=True)
                is_more = is_more or bool(backend.multilingual.pending(1))
            return is_more

    def watch(
        self,
        on_progress: "Callable[[Progress], None] | None" = None,
        on_wait: Callable[[str], None] = lambda holder: None,
        with_vectors: bool = False,
        is_masking: bool | None = None,
    ) -> "Iterator[Summary]":
        """Bring the index up to date now and whenever something below the roots changes, until interrupted."""
        from searchkit.indexing.ingest import changes_below

        for _ in changes_below(self.roots):
            yield self.index(on_progress, on_wait, with_vectors=with_vectors, is_masking=is_masking)

    def search(
        self,
        words: str | Query,
        limit: int = 10,
        *,
        filters: Iterable[tuple[str, str]] = (),
        mode: Mode | str = Mode.HYBRID,
        group: Group | str = Group.SESSION,
        sort: Order | str = Order.RELEVANCE,
        thread: int = 1,
        facets: Sequence[str] = (),
        rerank: str = "",
    ) -> Answer:
        """Find what answers a question, best first; words are read as on the command line."""
        return self.answer(
            SearchOptions(
                query=understood(words, filters),
                mode=one_of("mode", Mode, mode),
                limit=limit,
                group=one_of("group", Group, group),
                sort=one_of("sort", Order, sort),
                thread=thread,
                facets=facets,
                rerank=rerank,
            )
        )

    def answer(self, options: SearchOptions) -> Answer:
        """Answer a question, best first.

        Where nothing holds any of the words, those most like them are looked for, and the answer says so.
        Meaning is asked for where the index has vectors. Where they cannot be used, words alone answer, and
        the answer says why, unless meaning alone was wanted. Where a reranker cannot be had, the answer comes
        without it and says why.
        """
        judge, unjudged = self._models.judge(options.rerank) if options.rerank else (None, "")
        embedded = self._question if self.asks_meaning(options) else None

        def ask(query: Query, question: QuestionVectors | None, are_words_asked: bool) -> Answer:
            asked = replace(options, query=query)
            return retrieve(self._open(), asked, question, are_words_asked, self._recipe, judge)

        found = pipeline.respell(
            lambda query: pipeline.answer_by_channels(ask, embedded, query, options.mode), options.query
        )
        return replace(found, unjudged=unjudged, damage=self._open().catalog.damage())

    def asks_meaning(self, options: SearchOptions) -> bool:
        """Say whether a search would ask for meaning, for which a model is loaded.

        Where the model is not installed it does, in vain, so that the answer says so.
        """
        if not pipeline.is_meaning_asked(options.query, options.mode, options.sort):
            return False
        return options.mode is Mode.SEMANTIC or self.has_vectors() or not self._models.is_installed()

    def context(
        self,
        words: str | Query,
        max_tokens: int = config.DEFAULT_TOKENS,
        *,
        limit: int = MOST_SESSIONS,
        filters: Iterable[tuple[str, str]] = (),
        without: Sequence[str] = (),
        rerank: str = "",
    ) -> "Pack":
        """Pack what another agent should know, within so many tokens; sessions may be left out by beginnings of ids."""
        from searchkit.context.pack import pack

        query = understood(words, filters)
        if not all(without):
            raise UsageError("every session has an id that begins with nothing", "name the session to leave out")
        if without:
            query = narrowed(query, Filter(name="session", values=tuple(without), is_excluded=True))
        return pack(self._open(), self.search(query, limit, thread=0, rerank=rerank), max_tokens)

    def ask(self, question: "Callable[[Backend], T]") -> T:
        """Let a stage read the index by itself, for what only one shell needs."""
        return question(self._open())

    def messages(self, beginning: str) -> list[str]:
        """Return the ids of messages that begin with a text, some of them where there are many."""
        from searchkit.conversation import lookup

        return self._open().catalog.beginning(beginning, lookup.MOST_MEANT + 1)

    def thread(self, uuid: str) -> "Thread":
        """Return the whole conversation around a record, without texts; the record is meant as in `show`."""
        from searchkit.conversation.thread import thread

        found = thread(self._open().catalog, self._meant(uuid))
        assert found is not None
        return found

    def show(
        self, uuid: str, before: int = 1, after: int = 1, is_full: bool = False, with_agents: bool = False
    ) -> "Conversation":
        """Return the turn that a record is in, with so many turns before and after it.

        The record is meant by its uuid or its beginning; the id of a session, or a title, means the
        first thing that was said in it.
        """
        from searchkit.conversation.excerpt import conversation

        found = conversation(self._open().catalog, self._meant(uuid), before, after, is_full, with_agents)
        assert found is not None
        return found

    def outline(self, session: str, is_full: bool = False) -> "Outline":
        """Return a session, turn by turn, with its branches and agents; of very many turns the first and the last."""
        from searchkit.conversation.outline import outline

        found = outline(self._open().catalog, session, is_full, self._prices())
        if found is None:
            raise UsageError(f"there is no session {session!r}", "searchkit sessions lists those there are")
        return found

    def resumption(self, session: Session) -> "Resumption":
        """Say what stands in the way of reopening a session, and what is worth knowing before."""
        from searchkit.conversation.resume import Resumption, is_interrupted

        backend = self._open()
        with revealed():
            # A program is started in its directory, and what is printed of it is masked there.
            session = backend.catalog.named([session.id]).get(session.id, session)
        facts = backend.catalog.facts(session.id, ("forked-from", "worktree"))
        facts = sorted((fact for fact in facts if fact.agent is None), key=lambda fact: fact.line)
        latest = {fact.name: fact.value for fact in facts}
        return Resumption(
            session=session,
            has_directory=session.project is not None and _is_directory(session.project),
            is_interrupted=is_interrupted(backend.catalog, session.id),
            forked_from=latest.get("forked-from"),
            worktree=latest.get("worktree"),
        )

    def session_of(self, uuid: str) -> str | None:
        """Return the session that a message is of; the message is meant as in `show`."""
        meant = self._meant(uuid)
        return self._open().catalog.links([meant])[meant].places[0].session

    def session_meant(
        self, asked: str, hint: str = "sessions() lists them", listed: "lookup.List | None" = None
    ) -> Session:
        """Return the session that an id, its beginning, or a message of it means; raises where none or several are.

        The error then has this hint, or lists those that could be meant.
        """
        from searchkit.conversation import lookup

        return lookup.session(self._open().catalog, asked, hint, listed or lookup.named)

    def homes(self, uuids: Sequence[str]) -> Mapping[str, str | None]:
        """Return the sessions that messages with these ids are of; a missing one is left out."""
        return {uuid: link.places[0].session for uuid, link in self._open().catalog.links(uuids).items()}

    def sessions(self, condition: Condition | None = None, limit: int | None = None) -> list[Session]:
        """Return the sessions for which a condition holds, newest first."""
        return self._open().catalog.sessions(condition or Condition(), limit)

    def named(self, ids: Sequence[str]) -> Mapping[str, Session]:
        """Return the sessions with these ids; a missing one is left out."""
        return self._open().catalog.named(ids)

    def values(self, name: str) -> list[str]:
        """Return the values there are of a filter, those that most sessions have first."""
        return self._open().catalog.values(name)

    def figures(
        self, condition: Condition | None = None, groupings: Sequence[Grouping] = (Grouping.TOTAL,)
    ) -> Mapping[Grouping, Mapping[str, Figures]]:
        """Return figures by label for each grouping; what has no label is under the empty one."""
        return self._open().catalog.figures(condition or Condition(), groupings, self._prices())

    def costs(self, sessions: Sequence[str]) -> Mapping[str, Cost]:
        """Return what these sessions cost; one of which nothing is known is left out."""
        return self._open().catalog.costs(sessions, self._prices())

    def _prices(self) -> "Mapping[str, Price]":
        from searchkit.backends.prices import configured

        return configured(self.settings.prices)

    def pending(self) -> int:
        """Count the parts that are indexed but that a search for words does not reach yet."""
        return self._open().words.reach().pending

    def counts(self) -> Counts:
        """Count what is indexed."""
        return self._open().catalog.counts()

    def behind(self) -> Behind:
        """Say how much lies below the roots that has not been read yet; raises where they cannot be looked at."""
        from searchkit.sources import registry

        roots, seen = self.roots, self._open().catalog.checkpoints()
        return _looks().call(" and ".join(map(str, roots)), lambda: registry.open_sources(roots).behind(seen))

    def retention(self) -> Retention:
        """Say what Claude Code will delete and when; raises where the roots cannot be looked at."""
        return Retention(exposures=self._survey().exposures, kept=self._open().catalog.counts().gone)

    def status(self) -> Status:
        """Say what is indexed and how far."""
        backend = self._open()
        counts = backend.catalog.counts()
        behind = Behind(files=0, bytes=0)
        covered = others = Reach(searchable=0, pending=0)
        unreachable = damage = retention = None
        try:
            survey = self._survey()
            behind, retention = survey.behind, Retention(exposures=survey.exposures, kept=counts.gone)
        except SourceError as error:
            unreachable = error.message
        try:
            if self.has_vectors():
                covered = backend.vectors.reach()
            if backend.catalog.setting(MULTILINGUAL) is not None:
                others = backend.multilingual.reach()
        except (IndexDamaged, IndexMissing) as fault:
            damage = f"{fault.message}; {fault.hint}"
        return Status(
            index=self.settings.url,
            roots=[str(root) for root in self.roots],
            counts=counts,
            index_bytes=self.store.size(),
            files_behind=behind.files,
            bytes_behind=behind.bytes,
            unreachable=unreachable,
            damage=damage,
            embedded=covered.searchable,
            to_embed=covered.pending,
            embedded_multilingual=others.searchable,
            to_embed_multilingual=others.pending,
            retention=retention,
        )

    def findings(self, is_deep: bool = False) -> Iterator[Finding]:
        """Yield what is wrong in the transcripts and in the index: of its texts and rows a sample, or all."""
        return self._open().findings(is_deep)

    def prune(self, sessions: Sequence[str], wait: bool = True) -> None:
        """Forget sessions: what only they hold is gone from the index and from the disk."""
        self.close()
        with self.store.open_to_write(wait) as backend:
            backend.forget(sessions)
            backend.catalog.settle()
            backend.follow()

    def secrets(self) -> "Iterator[SecretPlace]":
        """Yield the secrets that the texts of the index hold."""
        return self._open().secrets()

    def prune_secrets(self, wait: bool = True) -> int:
        """Put masks in the place of all secrets of the index, on the disk too, and keep others out from now on.

        Returns how many texts had any.
        """
        self.close()
        with self.store.open_to_write(wait) as backend:
            # First of all, so that what is read after an interruption is masked, too.
            backend.catalog.remember(WITHOUT_SECRETS, True)
            count = backend.mask_secrets()
            backend.catalog.settle()
            backend.follow()
            return count

    def has_index(self) -> bool:
        """Say whether there is an index, whatever state it is in."""
        return self.store.exists()

    def has_vectors(self) -> bool:
        """Say whether anything can be found by meaning; it opens nothing unless it must."""
        known = self.store.has_vectors()
        return self._open().catalog.setting(EMBEDDING) is not None if known is None else known

    @cached_property
    def _models(self) -> "Models":
        # A search by words needs no model.
        from searchkit.embed.load import Models

        return Models(self.settings, self._embedder)

    def embedder(self) -> "Embedder":
        """Return the model, loaded when it is asked for the first time."""
        return self._models.embedder()

    def close(self) -> None:
        """Release what is held."""
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def _survey(self) -> "Survey":
        from searchkit.sources import registry

        roots, seen, moment = self.roots, self._open().catalog.checkpoints(), now()
        return _looks().call(" and ".join(map(str, roots)), lambda: registry.open_sources(roots).survey(seen, moment))

    def _with_vectors(
        self, backend: "Backend", summary: "Summary", on_progress: "Callable[[Progress], None] | None"
    ) -> "Summary":
        """Embed what has no vector; that there is no model stops nothing."""
        from searchkit.indexing.embed_parts import embed
        from searchkit.indexing.ingest import Progress

        def report(done: int, left: int) -> None:
            if on_progress is not None:
                on_progress(Progress(phase="meaning", done=done, left=left))

        other = self._models.multilingual()
        try:
            # First, because what takes note of what is gone comes last.
            if other is None:
                backend.multilingual.drop()
            else:
                embed(backend, other, report, is_multilingual=True)
        except ModelFault as fault:
            summary = replace(summary, without_meaning=f"{fault.message}; {fault.hint}")
        try:
            embedded = embed(backend, self.embedder(), report)
        except ModelFault as fault:
            return replace(summary, without_meaning=f"{fault.message}; {fault.hint}")
        return replace(summary, embedded=embedded)

    def _question(self, query: Query) -> QuestionVectors:
        """Return the vectors of the words of a question."""
        model = self.embedder()
        if not self.has_vectors():
            raise UsageError("there are no vectors yet, so nothing can be found by meaning", "run: searchkit index")
        self._open().vectors.adopt(model.identity)
        chosen = model.embed_query(query.wanted)
        other = self._models.multilingual() if self._open().catalog.setting(MULTILINGUAL) is not None else None
        if other is None:
            return QuestionVectors(chosen=chosen)
        self._open().multilingual.adopt(other.identity)
        return QuestionVectors(chosen=chosen, multilingual=other.embed_query(query.wanted))

    def _meant(self, uuid: str) -> str:
        """Find the record that an id or its beginning means, or say which could be."""
        from searchkit.conversation import lookup

        return lookup.message(self._open().catalog, uuid, "searchkit search shows ids; give more of one")

    def _open(self) -> "Backend":
        if self._reader is None:
            self._reader = without_secrets(self.store.open())
        return self._reader


def now() -> int:
    """Return the present moment in milliseconds."""
    return int(time.time() * 1000)


def _is_directory(path: str) -> bool:
    """Say whether there is a directory; one that does not answer may be there."""
    try:
        return _looks().call(path, lambda: Path(path).is_dir())
    except SourceSilent:
        return True


@cache
def _looks() -> "Patience":
    """Look at directories that may lie on a dead network: as many as the resident process has engines, and one."""
    from searchkit.system.deadlines import Patience

    return Patience(4, 10.0)
