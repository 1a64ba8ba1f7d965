"""How long Claude Code keeps transcripts, and what of them is lost when it deletes them: values only."""

from collections.abc import Sequence

import msgspec

# What Claude Code documents: transcripts go after 30 days unless its settings say otherwise, and 1 is the least.
DEFAULT_DAYS = 30
MIN_DAYS = 1
SETTING = "cleanupPeriodDays"
# What people set who want to keep everything: there is no value for "never", and 0 is refused.
FOREVER_DAYS = 99_999
# Somebody who has chosen a year or more knows of the setting, and need not be reminded.
CALM_DAYS = 365
# What is not indexed and falls due within a week is to be indexed now.
SOON_DAYS = 7
DAY_MILLISECONDS = 86_400_000


class Fault(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Why a settings file does not say how long transcripts are kept, and what to do."""

    file: str
    message: str
    hint: str


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """What the settings below a root say: days, and the file that decides, whether or not it is there."""

    root: str
    settings: str
    days: int = DEFAULT_DAYS
    is_set: bool = False
    faults: Sequence[Fault] = ()
    last_sweep: int | None = None

    @property
    def is_calm(self) -> bool:
        """Whether there is nothing to warn of."""
        return self.days >= CALM_DAYS and not self.faults


class Exposure(msgspec.Struct, frozen=True, kw_only=True):
    """What lies below a root for Claude Code to delete; times are in milliseconds.

    `first_due` is when the oldest transcript may go, `overdue` counts those that the next start of Claude Code
    deletes. `unread` counts what is not indexed, wholly or in part, and `unread_soon` those that go within a week.
    """

    policy: Policy
    transcripts: int = 0
    first_due: int | None = None
    overdue: int = 0
    unread: int = 0
    unread_bytes: int = 0
    unread_soon: int = 0


class Retention(msgspec.Struct, frozen=True, kw_only=True):
    """What Claude Code deletes below all roots; `kept` counts sessions that only the index has any more."""

    exposures: Sequence[Exposure]
    kept: int = 0

    @property
    def is_calm(self) -> bool:
        """Whether there is nothing to warn of: all is kept for long, or there is nothing to delete."""
        return all(one.policy.is_calm or not (one.transcripts or one.policy.faults) for one in self.exposures)

    @property
    def first_due(self) -> int | None:
        """When the first transcript of all may be deleted."""
        return min((one.first_due for one in self.exposures if one.first_due is not None), default=None)
