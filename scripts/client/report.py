"""Prints a line for each check, and counts."""

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Report:
    """Checks that passed, failed or were skipped."""

    counts: Counter[str] = field(default_factory=Counter)
    # Long lists of faults are cut after so many.
    max_faults: int = 12

    def check(self, name: str, faults: list[str] | bool) -> None:
        """Print whether a check holds; faults say where it does not."""
        found = faults if isinstance(faults, list) else ([] if faults else ["it does not hold"])
        if not found:
            self._say("ok", name)
            return
        self._say("FAILED", f"{name}: {found[0]}")
        for fault in found[1 : self.max_faults]:
            print(f"           {fault}")
        if len(found) > self.max_faults:
            print(f"           and {len(found) - self.max_faults} more")

    def skip(self, name: str, reason: str) -> None:
        """Print that a check was skipped, and why."""
        self._say("skipped", f"{name}: {reason}")

    def end(self) -> int:
        """Print the counts; return the status to exit with."""
        passed, failed, skipped = (self.counts[one] for one in ("ok", "FAILED", "skipped"))
        print(f"{passed} passed, {failed} failed, {skipped} skipped")
        return 1 if failed else 0

    def _say(self, outcome: str, words: str) -> None:
        self.counts[outcome] += 1
        print(f"{outcome:8} {words}", flush=True)
