"""A catalog of dictionaries: the reference that the others are tested against.

It keeps every record as each of its places shows it and works everything else out when it is asked. Its keys are
hashes, so that nothing can depend on their order.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from searchkit.backends.base import Batch, Conclusion, Entry, Node, Step, Stored
from searchkit.backends.prices import LIST, Price
from searchkit.query.types import Condition
from searchkit.sources.parts import digest
from searchkit.text.secrets import mask
from searchkit.types import (
    Change,
    Cost,
    Counts,
    Fact,
    Figures,
    Grouping,
    Kind,
    Link,
    Part,
    Reading,
    Record,
    Session,
    Standing,
)
from tests.reference import census, figures, nodes, settle
from tests.reference import sessions as listing
from tests.reference.held import DATED, TRANSCRIPTS, File, Holding, Sighting, Sightings, link, parts, ranked
from tests.reference.settle import Key, key


class ReferenceCatalog:
    """A catalog that lives as long as its object."""

    preparation = None

    def __init__(self) -> None:
        """Begin with nothing."""
        self.files: dict[str, File] = {}
        self._records: dict[str, Sightings] = {}
        self._facts: dict[tuple[str, str, str, str | None], Fact] = {}
        self._spans: dict[str, census.Span] = {}
        self._repeats: dict[Key, Key] = {}
        self._settings: dict[str, object] = {}

    def setting(self, name: str, /) -> Any:
        """Return what is remembered under a name, None where that is nothing."""
        return self._settings.get(name)

    def remember(self, name: str, value: object, /) -> None:
        """Keep a value under a name."""
        self._settings[name] = value

    def revise(self, reading: Reading, /) -> None:
        """Correct nothing: what is here was read by this version."""
        self.remember(reading.key, reading.version)

    def checkpoints(self) -> Mapping[str, bytes]:
        """Return the checkpoint of every file that was read."""
        return {path: file.checkpoint for path, file in self.files.items() if file.checkpoint is not None}

    def write(self, batch: Batch, /) -> None:
        """Keep a batch and its checkpoints, all or nothing."""
        # Whatever can go wrong in a batch goes wrong here, before anything is kept.
        entries = [
            (entry.change, [(record, list(parts)) for record, parts in zip(*_columns(entry), strict=True)])
            for entry in batch
            if not entry.change.is_passed_over
        ]
        for change, records in entries:
            self._change(change, records)

    def settle(self) -> None:
        """Decide, in every session, which parts only repeat others, and drop needless stand-ins."""
        settled = settle.settle(self._records, self._spans, self._facts.values())
        self._repeats = settled.repeats
        for dropped in settled.dropped:
            self._drop(dropped)

    def stored(self, keys: Sequence[int], /) -> list[Stored | None]:
        """Return parts by their keys, in this order; None for one that is gone."""
        known = dict(self.keyed())
        return [known.get(key) for key in keys]

    def part(self, part_id: str, /) -> Stored | None:
        """Return one part by its id, `<uuid>#<block>`."""
        return next((stored for stored in self._stored(part_id.rpartition("#")[0]) if stored.id == part_id), None)

    def links(self, uuids: Sequence[str], /) -> Mapping[str, Link]:
        """Return the records with these uuids; a missing one is left out."""
        return {uuid: link(self._records[uuid]) for uuid in uuids if uuid in self._records}

    def beginning(self, text: str, limit: int, /) -> list[str]:
        """Return the uuids that begin with a text, in order."""
        return sorted(uuid for uuid in self._records if text and uuid.startswith(text))[:limit]

    def opening(self, session: str, /) -> list[str]:
        """Return the uuid of the first thing that was said in a session, or nothing where there is none."""
        said = [one for _, one in self.keyed() if one.part.kind is not Kind.TITLE and one.repeats is None]
        own = [one.link for one in said if one.link.places[0].session == session]
        first = sorted(own, key=lambda one: (one.places[0].agent is not None, one.time or 0, one.places[0].line))
        return [one.uuid for one in first[:1]]

    def keys(self, uuid: str, /) -> list[int]:
        """Return the keys of what a record says, in the order of its blocks."""
        return [key for key, stored in self.keyed() if stored.link.uuid == uuid]

    def turns(self, keys: Sequence[int], before: int, after: int, /) -> dict[int, list[Step]]:
        """Return, for each of these parts, those of the turn that it is in and of so many before and after."""
        held, records = self._every_node(), {key: stored.link.uuid for key, stored in self.keyed()}
        return {key: nodes.turns(held, records[key], before, after) for key in keys}

    def following(self, keys: Sequence[int], count: int, /) -> dict[int, list[int | None]]:
        """Return, for each of these parts, the parts at the next positions, so many."""
        positions = self.positions()
        at = {position: key for key, position in positions.items()}
        return {key: [at.get(positions[key] + 1 + step) for step in range(count)] for key in keys}

    def positions(self) -> dict[int, int]:
        """Return where each part is, by its key, in the order of files and lines."""
        keyed = sorted(self.keyed(), key=lambda one: _place(one[1]))
        return {key: position for position, (key, _) in enumerate(keyed)}

    def prompts(self, keys: Sequence[int], /) -> dict[int, int]:
        """Return what a person typed, or an agent was told, that the turn of each of these parts begins with."""
        held, records = self._every_node(), {key: stored.link.uuid for key, stored in self.keyed()}
        begun = {key: nodes.prompt(held, records[key]) for key in keys}
        return {key: prompt for key, prompt in begun.items() if prompt is not None}

    def projects(self) -> dict[str, frozenset[int]]:
        """Return the sessions of each project, as hits name them."""
        several: dict[str, set[int]] = {}
        for session in self.sessions(Condition()):
            if session.project:
                several.setdefault(session.project, set()).add(hash(session.id))
        return {project: frozenset(sessions) for project, sessions in several.items()}

    def conclusions(self, keys: Sequence[int], /) -> dict[int, Conclusion]:
        """Return the last text of the turn that each of these parts is in; a part without one is left out."""
        held, parts = self._every_node(), dict(self.keyed())
        last = {key: nodes.conclusion(held, parts[key].link.uuid) for key in keys}
        length = {key: len(stored.part.text.encode()) for key, stored in parts.items()}
        return {
            key: Conclusion(key=text, length=length[text], other_length=length[key])
            for key, text in last.items()
            if text is not None
        }

    def record(self, uuid: str, /) -> int | None:
        """Return the key of a record, or None where there is none."""
        return hashed(uuid) if uuid in self._records else None

    def transcript(self, key: int, /) -> list[Node]:
        """Return the records with a uuid in the home file of this one, and this one, in line order."""
        return nodes.transcript(self._every_node(), key)

    def members(self, session: str, agent: str | None = None, /) -> list[Node]:
        """Return the records of a session, or of one of its agents, as they lie there, copies after others."""
        return nodes.members(self._every_node(), nodes.places(self._records, session, agent))

    def nodes(self, keys: Sequence[int], /) -> list[Node]:
        """Return records by their keys, in this order, as they lie at home; one that is gone is left out."""
        held = {node.key: node for node in self._every_node().values()}
        return [held[key] for key in keys if key in held]

    def survey(self, key: int, /) -> None:
        """Return nothing: all is at hand, so that nothing is gained by leaving some of it out."""
        return

    def touching(self, session: str, /) -> list[Step]:
        """Return the calls of a session that touched a file, in line order: of each file and tool the last."""
        steps = [step for node in self.members(session) for step in node.steps if step.path]
        last = {(step.path, step.tool): step for step in steps}
        return [step for step in steps if last[step.path, step.tool] is step]

    def tail(self, session: str, /) -> None:
        """Return nothing, as for a survey."""
        return

    def agents(self, session: str, /) -> list[str]:
        """Return the agents that have records in a session, in order of their names, without those that say nothing."""
        places = [place for sightings in self._records.values() for place in sightings if place.session == session]
        links = {place.agent for place in places if place.record.is_link}
        heard = {
            place.agent
            for place in places
            if any(stored.part.kind is not Kind.TITLE for stored in self._stored(place.record.uuid))
        }
        named = {place.agent for place in places if place.agent in heard or place.agent not in links}
        return sorted(name for name in named if name is not None)

    def offspring(self, keys: Sequence[int], session: str, /) -> list[Node]:
        """Return the records of other sessions than this whose parent is one of these, without their steps."""
        parents = {uuid: link(sightings).parent for uuid, sightings in self._records.items()}
        return nodes.offspring(self._every_node(), parents, keys, session)

    def callers(self, calls: Sequence[str], /) -> dict[str, str]:
        """Return the uuid of the record that made each of these tool calls; a missing one is left out."""
        made = [one for _, one in self.keyed() if one.part.kind is Kind.TOOL_CALL and one.part.call in calls]
        ranked = sorted(made, key=lambda one: (one.link.standing, one.link.uuid), reverse=True)
        return {one.part.call or "": one.link.uuid for one in ranked}

    def calls(self, keys: Sequence[int], /) -> dict[int, int]:
        """Return the part of the call that each of these results is of; one that is not known is left out."""
        known = dict(self.keyed())
        made = {one.part.call: key for key, one in reversed(known.items()) if one.part.kind is Kind.TOOL_CALL}
        return {key: made[call] for key in keys if (call := known[key].part.call) in made}

    def session_parts(self, session: str, agent: str | None = None, /) -> Iterator[Stored]:
        """Yield the parts of a session, or of one of its agents, in order; repeats included."""
        for place in nodes.places(self._records, session, agent):
            yield from self._stored(place.record.uuid)

    def sessions(self, condition: Condition, limit: int | None = None, /) -> list[Session]:
        """Return the sessions for which a condition holds, newest first."""
        return listing.sessions(self.held(), condition)[:limit]

    def named(self, ids: Sequence[str], /) -> dict[str, Session]:
        """Return the sessions with these ids; a missing one is left out."""
        held = self.held()
        return {name: listing.session(held, name, self._spans[name]) for name in ids if name in self._spans}

    def values(self, name: str, /) -> list[str]:
        """Return the values there are of a filter, those that most sessions have first."""
        return listing.values(self.held(), name)

    def headings(self, ids: Sequence[str], /) -> Mapping[str, Session]:
        """Return what the sessions with these ids are known by; a missing one is left out."""
        return self.named(ids)

    def facts(self, session: str, names: Sequence[str] = (), /) -> list[Fact]:
        """Return what is known of a session and its agents; of some names, or of all where none is given."""
        found = [fact for fact in self._facts.values() if fact.session == session and (fact.name in names or not names)]
        return sorted(found, key=lambda fact: (fact.name, fact.line, fact.value, fact.agent or ""))

    def damage(self) -> str | None:
        """Say that nothing is damaged: memory is not checked."""
        return None

    def counts(self) -> Counts:
        """Count what is kept."""
        return census.counts(self.held())

    def figures(
        self, condition: Condition, groupings: Sequence[Grouping], prices: Mapping[str, Price] | None = None, /
    ) -> dict[Grouping, dict[str, Figures]]:
        """Return figures by label, such as a day, for each grouping; what has no label is under the empty one."""
        return figures.figures(self.held(), condition, groupings, LIST if prices is None else prices)

    def costs(self, sessions: Sequence[str], prices: Mapping[str, Price] | None = None, /) -> dict[str, Cost]:
        """Return what these sessions cost; one of which nothing is known is left out."""
        return figures.costs(self.held(), sessions, LIST if prices is None else prices)

    def everything(self) -> Iterator[Holding]:
        """Yield every record with its parts, in any order."""
        for uuid, sightings in self._records.items():
            yield Holding(link=link(sightings), parts=self._stored(uuid))

    def forget(self, sessions: Sequence[str], /) -> None:
        """Remove sessions and all that only they hold."""
        self._keep(lambda sighting: sighting.session not in sessions)
        self._facts = {name: fact for name, fact in self._facts.items() if fact.session not in sessions}
        needed = {sighting.file.path for sightings in self._records.values() for sighting in sightings}
        for path, file in list(self.files.items()):
            if file.session in sessions:
                file.session = None
                if file.is_gone and path not in needed:
                    del self.files[path]
        for session in sessions:
            self._spans.pop(session, None)

    def mask_secrets(self) -> int:
        """Put masks in the place of secrets, and count the texts that had any."""
        count = 0
        for sightings in self._records.values():
            for sighting in sightings:
                parts = {name: self._without_secrets(part) for name, part in sighting.parts.items()}
                count += sum(parts[name] is not part for name, part in sighting.parts.items())
                sighting.parts = {(block, part.digest): part for (block, _), part in parts.items()}
        self._facts = {name: replace(fact, value=mask(fact.value)) for name, fact in self._facts.items()}
        return count

    def _without_secrets(self, part: Part) -> Part:
        text = mask(part.text)
        return part if text == part.text else replace(part, text=text, digest=digest(part.kind, text))

    def _change(self, change: Change, records: list[tuple[Record, list[Part]]]) -> None:
        if change.is_gone:
            if change.file in self.files:
                self.files[change.file].is_gone = True
                self.files[change.file].checkpoint = change.checkpoint
            return
        file = self._open(change, [record for record, _ in records])
        for record, said in records:
            self._see(record, said, file)
        for fact in change.facts:
            self._learn(fact)
        if change.checkpoint is None:
            file.problems = {problem for problem in file.problems if problem.line}
        file.problems |= set(change.problems)
        if change.checkpoint is not None:
            file.problems = {problem for problem in file.problems if problem.kind != "unreadable"}
            file.checkpoint = change.checkpoint
            file.tally = change.tally

    def _open(self, change: Change, records: list[Record]) -> File:
        """Find or make a file, and put right what a move or a new beginning makes void."""
        origin, files = change.origin, self.files
        moved = files.get(change.moved_from) if change.moved_from is not None else None
        there = files.get(change.file)
        if moved is not None and (there is None or there.checkpoint is None):
            del files[moved.path]
            moved.path = change.file
            files[change.file] = moved
        file = files.setdefault(change.file, File(path=change.file, origin=origin, session=None))
        file.origin, file.is_gone = origin, False
        # The old layout names no session in the path of an agent's transcript.
        told = (record.session for record in records if record.session and origin.kind == "agent")
        file.session = origin.session or file.session or next(told, None)
        if origin.session is not None:
            self._span(origin.session).has_transcript |= origin.kind in TRANSCRIPTS
        if change.is_restart:
            self._restart(file)
        return file

    def _restart(self, file: File) -> None:
        """Void what was wrong; records of a replaced transcript stay, those of a document go."""
        file.problems = set()
        if file.origin.is_document:
            self._keep(lambda sighting: sighting.file is not file)
        for sightings in self._records.values():
            for sighting in sightings:
                sighting.is_stale |= sighting.file is file

    def _see(self, record: Record, said: list[Part], file: File) -> None:
        """Add a place to a record; one that was known at the same place is replaced."""
        texts = {(part.block, part.digest): part for part in said}
        sightings = self._records.setdefault(record.uuid, [])
        for old in [old for old in sightings if old.file is file]:
            is_same = old.record.line == record.line
            if is_same or old.is_stale:
                # What a replaced file said under this uuid stays findable.
                texts = old.parts | texts
                sightings.remove(old)
        places = [(record.session, record.agent, False)]
        if file.origin.kind == "session" and file.session != record.session:
            # A record that names another session than its file's is part of both.
            places.append((file.session, None, True))
        for session, agent, is_by_file in places:
            sightings.append(
                Sighting(
                    record=record,
                    file=file,
                    session=session,
                    agent=agent,
                    parts=dict(texts),
                    is_by_file=is_by_file,
                )
            )
        if record.session is not None:
            # A stand-in may go again, and its time with it.
            is_dated = file.origin.kind in DATED and record.standing is not Standing.STAND_IN
            time = record.time if is_dated else None
            self._span(record.session).extend(time, file.origin.kind in TRANSCRIPTS)

    def _learn(self, fact: Fact) -> None:
        """Keep a fact, or raise its line; of several leaves on one line the greatest stays."""
        self._span(fact.session)
        name = (fact.session, fact.name, fact.value, fact.agent)
        known = self._facts.get(name, fact)
        self._facts[name] = max(known, fact, key=lambda one: (one.line, one.leaf or ""))

    def _span(self, session: str) -> census.Span:
        return self._spans.setdefault(session, census.Span())

    def _drop(self, dropped: Key) -> None:
        """Take a part out, and a record without a uuid of its own that says nothing without it."""
        uuid, block, digest = dropped
        sightings = self._records[uuid]
        for sighting in sightings:
            sighting.parts.pop((block, digest), None)
        if not ranked(sightings)[0].record.is_link and not parts(sightings):
            del self._records[uuid]

    def _keep(self, is_kept: Callable[[Sighting], bool]) -> None:
        """Take places out, records without any left, and repeats of what is no longer there."""
        kept = {uuid: [place for place in sightings if is_kept(place)] for uuid, sightings in self._records.items()}
        self._records = {uuid: sightings for uuid, sightings in kept.items() if sightings}
        there = {key(part) for sightings in self._records.values() for part in parts(sightings).values()}
        self._repeats = {one: first for one, first in self._repeats.items() if {one, first} <= there}

    def _stored(self, uuid: str) -> list[Stored]:
        sightings = self._records.get(uuid)
        if sightings is None:
            return []
        home = link(sightings)
        return [
            Stored(id=part_id, part=part, link=home, repeats=self._repeated(part))
            for part_id, part in parts(sightings).items()
        ]

    def _repeated(self, part: Part) -> str | None:
        first = self._repeats.get(key(part))
        if first is None:
            return None
        named = parts(self._records[first[0]])
        return next(part_id for part_id, other in named.items() if key(other) == first)

    def _every_node(self) -> dict[str, Node]:
        return nodes.nodes(self._records, self.keyed(), hashed)

    def keyed(self) -> Iterator[tuple[int, Stored]]:
        """Yield every part with its key."""
        return ((hashed(stored.id), stored) for holding in self.everything() for stored in holding.parts)

    def held(self) -> census.Held:
        """Return everything that is kept."""
        return census.Held(
            files=list(self.files.values()),
            records=list(self._records.values()),
            facts=list(self._facts.values()),
            spans=self._spans,
            holdings=list(self.everything()),
        )


def hashed(name: str) -> int:
    """Return a number of 63 bits for an id."""
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest()) >> 1


def _place(stored: Stored) -> tuple[str, int, str, int, str]:
    home = stored.link.places[0]
    return home.file, abs(home.line), stored.link.uuid, stored.part.block, stored.id


def _columns(entry: Entry) -> tuple[list[Record], list[Sequence[Part]]]:
    return list(entry.change.records), list(entry.parts)
