"""What people see of the health of transcripts and index: verdicts, what they mean, and what Claude Code deletes."""

from collections.abc import Iterator, Sequence
from textwrap import wrap

import click

from searchkit.render.verdicts import Group, Verdict, summary, worst
from searchkit.text.format import count, day, size
from searchkit.text.sanitize import one_line
from searchkit.types import SETTING, Exposure, Retention

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
