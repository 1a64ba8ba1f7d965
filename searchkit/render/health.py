"""Health of transcripts and index: what findings mean, what to do, and what Claude Code deletes."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from textwrap import wrap

import click
import msgspec

from searchkit.text.format import count, day, size
from searchkit.text.sanitize import one_line
from searchkit.types import SETTING, Exposure, Finding, Retention, SecretPlace


class Verdict(StrEnum):
    """How much a finding matters, the most first."""

    ACT = "act"
    WORTH_KNOWING = "worth knowing"
    FINE = "fine"


class Diagnosis(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a kind of finding means, and what to do about it."""

    verdict: Verdict
    meaning: str
    advice: str
    is_counted: bool = True


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """All findings of a kind."""

    kind: str
    diagnosis: Diagnosis
    findings: Sequence[Finding]


# Kinds of what retention brings. All other kinds are those of sources and backends.
UNREAD, DELETION, SETTINGS, SILENT = (
    "transcripts not indexed before they are deleted",
    "transcripts deleted with age",
    "settings not understood",
    "transcripts out of reach",
)
NOTHING = "Nothing."
_INDEX = "index: "
_UPDATE = "Run: searchkit index"
_REBUILD = "Run: searchkit index --rebuild"


def _once(found: Diagnosis) -> Diagnosis:
    """Let a number that says nothing, such as that of roots, not be shown."""
    return msgspec.structs.replace(found, is_counted=False)


def _fine(meaning: str) -> Diagnosis:
    return Diagnosis(verdict=Verdict.FINE, meaning=meaning, advice=NOTHING)


def _known(meaning: str, advice: str = NOTHING) -> Diagnosis:
    return Diagnosis(verdict=Verdict.WORTH_KNOWING, meaning=meaning, advice=advice)


def _act(meaning: str, advice: str) -> Diagnosis:
    return Diagnosis(verdict=Verdict.ACT, meaning=meaning, advice=advice)


_DIAGNOSES: Mapping[str, Diagnosis] = {
    UNREAD: _once(
        _act("Claude Code deletes these transcripts within a week, and the index does not have all of them.", _UPDATE)
    ),
    SETTINGS: _once(
        _act(
            "The settings do not say how long Claude Code keeps transcripts, so its default of 30 days is assumed.",
            "Mend the file as it says below; searchkit keep then writes the setting.",
        )
    ),
    DELETION: _once(
        _known(
            "When it starts, Claude Code deletes transcripts that nothing was written to for so long. The index keeps"
            " what they say, so they can still be searched and read, but Claude Code can no longer resume them.",
            f"To keep them, run: searchkit keep (it raises {SETTING}, shows the change first, and asks)",
        )
    ),
    SILENT: _once(
        _known(
            "The transcripts cannot be looked at now, so nothing is known of what is new. What is indexed is found as"
            " before.",
            "Connect or restore the directory, or name another with SEARCHKIT_ROOTS.",
        )
    ),
    "unreadable": _act(
        "These files cannot be read, so what they say is not found.",
        "Give yourself permission to read them (chmod u+r), then run: searchkit index",
    ),
    "not JSON lines": _known(
        "No line of these files is a record, so they are no transcripts, or wholly damaged. Nothing in them is found.",
        "Move them out of projects/, or restore them from a backup.",
    ),
    "not JSON": _known(
        "These files beside the transcripts (todos, titles, agents' descriptions) are damaged, and were left out.",
        "Nothing, unless they can be restored from a backup.",
    ),
    "torn line": _known(
        "Claude Code was interrupted while it wrote these lines. What is whole in them is found, and so is all else.",
    ),
    "unknown type": _known(
        "Claude Code wrote records that this version of searchkit does not know. Their text is found, never as a"
        " prompt.",
        "See whether there is a newer searchkit; then run: searchkit index --rebuild",
    ),
    "time running backwards": _known(
        "The clock was changed, or records were copied from elsewhere. Conversations keep the order of the file;"
        " only dates may surprise.",
    ),
    "cycle": _known(
        "Records name each other as the one before. Each is shown once, in the order of the file.",
    ),
    "invalid uuid": _fine("ids of another form than Claude Code's own"),
    "duplicate uuid": _fine("records that are there twice, as after a resume; both are found"),
    "missing parent": _fine("records whose predecessor is not in the file; they follow the line before"),
    "call without result": _fine("calls that were interrupted, or still run"),
    "result without call": _fine("results whose call is in another file, or nowhere"),
    "index: lost": _act(
        "Texts of the index were damaged, and their transcripts are gone.",
        "Restore those transcripts from a backup, if there is one, then run: searchkit index --rebuild",
    ),
    "index: readable by others": _act(
        "Other users of this machine can read the index.", "Take that permission away: chmod go-rwx FILE"
    ),
    "index: forgetting unfinished": _act(
        "searchkit prune was interrupted, and what it was to forget may still be on the disk.", _UPDATE
    ),
    "index: words missing": _act("Some of what was read is not found by words yet.", _UPDATE),
    "index: vectors missing": _act("Some of what was read is not found by meaning yet.", _UPDATE),
    "index: vectors left over": _act("The index has vectors of texts that changed or are gone.", _UPDATE),
    "index: vectors twice": _act("The index has some vectors more than once.", _UPDATE),
    "index: no search by meaning": _act("Nothing is found by meaning; words answer alone.", _UPDATE),
    "index: unsettled session": _act("The last run of index did not come to its end.", _UPDATE),
}
_DAMAGED = _act("The index is damaged: some things are not found, or not as they were written.", _REBUILD)


def is_of_index(finding: Finding) -> bool:
    """Whether it is the index that something is wrong with, rather than a transcript or a setting."""
    return finding.kind.startswith(_INDEX)


def diagnosis(kind: str) -> Diagnosis:
    """Return what a kind of finding means."""
    found = _DIAGNOSES.get(kind)
    if found is not None:
        return found
    return _DAMAGED if kind.startswith(_INDEX) else _known("This is unusual in a transcript. All else is indexed.")


def groups(found: Iterable[Finding]) -> list[Group]:
    """Put findings together by kind, what there is to do first; kinds that matter alike stay in their order."""
    by_kind: dict[str, list[Finding]] = {}
    for finding in found:
        by_kind.setdefault(finding.kind, []).append(finding)
    made = [Group(kind=kind, diagnosis=diagnosis(kind), findings=several) for kind, several in by_kind.items()]
    return sorted(made, key=lambda group: list(Verdict).index(group.diagnosis.verdict))


def worst(grouped: Iterable[Group]) -> Verdict:
    """Return the verdict over everything."""
    return min((group.diagnosis.verdict for group in grouped), key=list(Verdict).index, default=Verdict.FINE)


def summary(grouped: Sequence[Group]) -> str:
    """Say in one line how things are."""
    counted = Counter(group.diagnosis.verdict for group in grouped)
    to_do, to_know = counted[Verdict.ACT], counted[Verdict.WORTH_KNOWING]
    things = "1 thing" if to_know == 1 else f"{to_know} things"
    if to_do:
        also = f", {things} to know" if to_know else ""
        return f"{'1 thing' if to_do == 1 else f'{to_do} things'} to do{also}."
    return f"{things} to know, nothing to do." if to_know else "Fine."


def of_retention(found: Retention) -> list[Finding]:
    """Return what of the transcripts' retention is worth telling; nothing where they are kept for long."""
    return [finding for exposure in found.exposures for finding in _of_exposure(exposure)]


def _of_exposure(found: Exposure) -> Iterable[Finding]:
    policy = found.policy
    for fault in policy.faults:
        yield Finding(kind=SETTINGS, file=fault.file, line=0, detail=f"{fault.message}: {fault.hint}")
    if found.unread_soon:
        detail = f"{found.unread_soon:,} of {found.transcripts:,} transcripts"
        yield Finding(kind=UNREAD, file=policy.root, line=0, detail=detail)
    if found.transcripts and not policy.is_calm:
        how = "set there" if policy.is_set else f"its default: there is no {SETTING}"
        due = f"{found.overdue:,} of {found.transcripts:,} transcripts are due"
        yield Finding(kind=DELETION, file=policy.settings, line=0, detail=f"{policy.days:,} days, {how}; {due}")


# What people see of the health of transcripts and index: verdicts, what they mean, and what Claude Code deletes.

# Findings of one kind that are shown before "and so many more".
EXAMPLES = 3
KEEP = "searchkit keep"
_COLOURS = {Verdict.ACT: "red", Verdict.WORTH_KNOWING: "yellow", Verdict.FINE: "green"}


def examination(grouped: Sequence[Group], is_full: bool, width: int) -> Iterator[str]:
    """Show the verdict in a line, then each kind that matters with its first places, or everything with all places."""
    verdict = worst(grouped)
    yield click.style(summary(grouped), bold=True, fg=_COLOURS[verdict])
    usual = [group for group in grouped if group.diagnosis.verdict is Verdict.FINE]
    for group in grouped if is_full else grouped[: len(grouped) - len(usual)]:
        yield ""
        yield from _group(group, is_full, width)
    if usual and not is_full:
        yield ""
        listed = ", ".join(f"{one_line(group.kind)}: {len(group.findings):,}" for group in usual)
        said = f"Usual in transcripts, and taken care of: {listed}. --full shows them."
        yield from (click.style(line, dim=True) for line in wrap(said, width))


def _group(group: Group, is_full: bool, width: int) -> Iterator[str]:
    found = group.diagnosis
    label = click.style(f"{found.verdict}:", fg=_COLOURS[found.verdict])
    number = f": {len(group.findings):,}" if found.is_counted else ""
    yield f"{label} {click.style(one_line(group.kind) + number, bold=True)}"
    for said in (found.meaning, f"What to do: {found.advice}"):
        yield from wrap(said, width, initial_indent="  ", subsequent_indent="  ")
    shown = group.findings if is_full else group.findings[:EXAMPLES]
    for finding in shown:
        place = f"{finding.file}:{finding.line}" if finding.line else finding.file
        yield "    " + click.style(f"{one_line(place)}  {one_line(finding.detail)}".rstrip(), dim=True)
    if len(shown) < len(group.findings):
        yield f"    and {len(group.findings) - len(shown):,} more (--full shows them)"


def retention(found: Retention) -> list[str]:
    """Say what Claude Code deletes and when, how much of it is not indexed, what is kept, and what to change.

    Where transcripts are kept for long or there are none, one calm sentence is enough.
    """
    lines = [line for one in found.exposures for line in _exposure(one, len(found.exposures) > 1)]
    if found.kept:
        have = "has a transcript" if found.kept == 1 else "have transcripts"
        lines.append(f"{count(found.kept, 'session')} no longer {have}, and only the index keeps what was said.")
    if not found.is_calm:
        files = dict.fromkeys(one.policy.settings for one in found.exposures if not one.policy.is_calm)
        lines.append(f"To keep transcripts: {KEEP} (it raises {SETTING} in {', '.join(map(one_line, files))}).")
    return lines


def warning(found: Retention) -> list[str]:
    """Say the same in two lines, where there is something to warn of."""
    if found.is_calm:
        return []
    *said, advice = retention(found)
    return [" ".join(said), advice]


def _exposure(found: Exposure, is_one_of_several: bool) -> Iterator[str]:
    policy = found.policy
    for fault in policy.faults:
        yield f"{one_line(fault.file)} {one_line(fault.message)}: {one_line(fault.hint)}."
    where = f" in {one_line(policy.root)}" if is_one_of_several else ""
    default = "" if policy.is_set else ", as is assumed" if policy.faults else ", its default"
    yield f"Claude Code deletes transcripts{where} after {count(policy.days, 'day')}{default}: {_due(found)}."
    if found.transcripts and not policy.is_calm:
        if found.unread:
            unread = f"{count(found.unread, 'transcript')}, {size(found.unread_bytes)}"
            yield f"Not indexed yet: {unread}. searchkit index reads what is new."
        else:
            yield "All of them are indexed, so what they say stays here."


def _due(found: Exposure) -> str:
    if not found.transcripts:
        return "there are none"
    if found.overdue:
        are = "is" if found.overdue == 1 else "are"
        swept = f" (it last looked on {day(found.policy.last_sweep)})" if found.policy.last_sweep else ""
        return f"{found.overdue:,} of {count(found.transcripts, 'transcript')} {are} due when it next starts{swept}"
    return f"the oldest of {count(found.transcripts, 'transcript')} is due on {day(found.first_due)}"


# Where secrets lie.

# Of each kind so many are shown, unless all are wanted.
MOST_SECRETS = 5


def secrets(places: Sequence[SecretPlace], is_full: bool) -> Iterator[str]:
    """Write where secrets lie, by their kinds, those that there are most of first; a secret once for each text."""
    kinds = Counter(place.kind for place in places)
    for kind, number in kinds.most_common():
        yield f"{number:>6,}  {kind}"
        lines = dict.fromkeys(f"        {one_line(place.part)}  {place.mark}" for place in places if place.kind == kind)
        yield from list(lines)[: None if is_full else MOST_SECRETS]
        if not is_full and len(lines) > MOST_SECRETS:
            yield f"        and {len(lines) - MOST_SECRETS:,} more: --full shows all"


def secrets_hint(places: Sequence[SecretPlace]) -> str:
    """Say what can be done about them."""
    if not places:
        return "No text of the index holds a secret that searchkit knows the form of."
    texts = len({place.part for place in places})
    sessions = len({place.session for place in places})
    return (
        f"{count(len(places), 'secret')} in {count(texts, 'text')} of {count(sessions, 'session')}. They are masked"
        " wherever they are shown. searchkit prune --secrets takes them out of the index and keeps others out;"
        " the transcripts stay as they are, so change what is still in use."
    )
