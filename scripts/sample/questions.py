"""Questions a person might ask of the sample, each with the messages that answer it."""

from collections.abc import Mapping

from sample.transcript import Json

# Query, marks of the messages that answer it, and why these.
QUESTIONS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    (
        "why were customers charged twice",
        ("webhook-race.cause", "webhook-race.proof", "webhook-race.rethink"),
        "The real cause of 19 February, above the wrong one of 3 February.",
    ),
    (
        "what did we first believe was behind the duplicate payments",
        ("double-click.misdiagnosis", "double-click.doubt"),
        "The wrong diagnosis, in other words than it was written in.",
    ),
    (
        "ON CONFLICT DO NOTHING",
        ("webhook-race.cause", "webhook-race.fix", "twin-notes.same-family"),
        "An exact phrase that occurs in two projects.",
    ),
    (
        "KeyError: 'basket:77'",
        ("redis-flush.overflow",),
        "Only in the file that holds the long output of CI.",
    ),
    (
        "same mistake as the double payments in another project",
        ("twin-notes.prompt", "twin-notes.same-family"),
        "The problem comes back a month later elsewhere.",
    ),
    (
        "flaky test redis workers",
        ("redis-flush.cause", "redis-flush.conftest"),
        "Cause of the flaky basket test.",
    ),
    (
        "Address already in use",
        ("port-in-use.log", "port-in-use.prompt"),
        "An error message as it was printed.",
    ),
    (
        "why do we store prices as whole cents instead of NUMERIC",
        ("cents.why-integers", "cents.plan"),
        "A design decision and its reasons.",
    ),
    (
        "écart d'un centime entre le panier et la facture",
        ("missing-cent.cause", "missing-cent.prompt"),
        "French; the cause is the order of rounding.",
    ),
    ("arrondi bancaire", ("missing-cent.half-up",), "French; the accountant's wish."),
    (
        "how did we make the product page faster",
        ("slow-list.result", "slow-list.balance"),
        "A paraphrase: the transcript says product list and p95.",
    ),
    (
        "would caching have solved the slow catalogue",
        ("cache-fork.verdict", "cache-fork.measure"),
        "The answer is only in the fork.",
    ),
    (
        "who turned off certificate verification",
        ("growing-memory.turn-off-check", "growing-memory.danger", "certificates.history"),
        "Asked for in March in a session about memory, noticed in June.",
    ),
    (
        "can a customer read somebody else's invoice",
        ("traversal.findings", "traversal.not-used"),
        "The security review, and the check whether it was used.",
    ),
    (
        "process killed out of memory on edge boxes",
        ("growing-memory.oom", "growing-memory.cause", "growing-memory.prompt"),
        "Symptom and cause: not a leak, an unbounded channel.",
    ),
    ("日志轮转为什么会丢行", ("rotation.cause", "rotation.prompt"), "Chinese; copytruncate keeps the inode."),
    (
        "백그라운드에서 동기화가 멈추는 원인",
        ("background.cause", "background.prompt"),
        "Korean; the process is frozen.",
    ),
    (
        "battery cost of background upload compared to a foreground service",
        ("background.battery", "background.result"),
        "English question; the conversation is Korean, the tool output English.",
    ),
    (
        "why not a CRDT",
        ("conflicts.decision", "conflicts.document"),
        "The decision about conflicts between two offline edits.",
    ),
    (
        "hold rollout until Thursday",
        ("release.hold", "release.result"),
        "Typed while the assistant was working: only in a queued command.",
    ),
)


def answered(marks: Mapping[str, str]) -> list[Json]:
    """Return the questions with the uuids of their answers."""
    return [{"query": query, "uuids": [marks[name] for name in names], "why": why} for query, names, why in QUESTIONS]
