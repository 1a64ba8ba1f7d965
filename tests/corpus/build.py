"""Build a corpus: sessions of the measured sizes one after another, each with all that hangs on it."""

from pathlib import Path

from tests.corpus import agents, copies, oddities, side, turns
from tests.corpus.conversation import Conversation
from tests.corpus.session import (
    PLANTED_KINDS,
    close_session,
    damage,
    halve_surrogate,
    session_path,
    start,
    write_session,
)
from tests.corpus.world import MAX_PLANTED, Project, World, dumped

MEGABYTE = 1_000_000
SESSION_MEDIAN, SESSION_SPREAD = 63_000, 2.6  # p50 63 KB and p90 1.7 MB, FORMAT section 7
LARGEST_COMMON = 4_000_000  # the largest session of the sample
GIANT_EVERY_MB = 120  # corpora of this size and more have sessions of 10 to 30 MB
COPIED_MAX = 700_000  # larger sessions are not kept in memory to be copied


def build(root: Path, mb: float, seed: int) -> dict[str, object]:
    """Write a corpus of about that many megabytes of transcripts and return its manifest."""
    world = World(root, seed, mb)
    sessions_expected = max(1.0, mb * 1.5)
    number = giants = planted = 0
    while world.ledger.bytes < mb * MEGABYTE:
        project = world.rng.choice(world.projects)
        giant = world.ledger.bytes > (giants + 0.5) * GIANT_EVERY_MB * MEGABYTE
        giants += giant
        plant = None
        if planted < MAX_PLANTED and number * MAX_PLANTED >= planted * sessions_expected:
            plant = PLANTED_KINDS[planted % len(PLANTED_KINDS)]
            planted += 1
        _bundle(world, project, number, _target(world, giant), plant)
        world.settle()
        number += 1
    for project in world.projects:
        side.write_project_files(world, project)
    world.history.close()
    manifest = world.manifest(seed)
    (root / "manifest.json").write_bytes(dumped(manifest))
    return manifest


def _target(world: World, giant: bool) -> int:
    if giant:
        return 10 * MEGABYTE + int(world.rng.random() * 18 * MEGABYTE)
    most = min(LARGEST_COMMON, int(world.mb * 60_000))
    return world.text.size(SESSION_MEDIAN, SESSION_SPREAD, most)


def _bundle(world: World, project: Project, number: int, target: int, plant: str | None) -> None:
    """Write a session and its family: agents, copies, forks, backups, side files."""
    session = world.uuid()
    family = number % 12
    copied = family in (1, 3, 5, 7) and target < 3 * COPIED_MAX
    if family in (1, 3) and target < COPIED_MAX:
        target = max(target, 60_000)
    era = {1: "attachment", 3: "attachment", 5: "", 7: ""}.get(family, "")
    conversation = start(world, project, number, session_path(world, project, session), session, era)
    conversation.plant = plant
    if copied:
        conversation.quiet, conversation.kept = True, []
        target = min(target, COPIED_MAX)
    write_session(conversation, target, compacting=copied and family == 1)
    if copied and family == 3:
        copies.side_question(conversation)
    if not conversation.quiet:
        _extras(conversation, number)
    title = close_session(conversation)
    # The last line must parse, and it surely is a last-prompt only where something was typed.
    conversation.terminated = number % 14 != 4 or conversation.era == "old" or not conversation.prompts
    conversation.close()
    world.notes["leaf"] = conversation.last or session
    side.write_side_files(conversation, title)
    if copied and family == 5:
        _fork(conversation)
    if copied and family == 7 and conversation.era != "old":
        _back_up(conversation, number)
    _neighbours(world, project, conversation, number)


def _extras(conversation: Conversation, number: int) -> None:
    if conversation.era == "old":
        return
    if number % 6 == 0:
        oddities.other_back_ends(conversation)
    if number % 10 == 2:
        agents.workflow(conversation, turns.work)
    if number % 10 in (4, 6):
        oddities.unknown_types(conversation)
    if number % 4 == 2:
        damage(conversation)
    if number % 20 == 8:
        halve_surrogate(conversation)
    if number % 5 == 0:
        agents.warm_up(conversation)
    if number % 8 == 0:
        agents.suggest(conversation)
    if number % 9 == 0 and conversation.era == "progress":
        turns.unfinished(conversation)


def _fork(conversation: Conversation) -> None:
    session = conversation.world.uuid()
    path = session_path(conversation.world, conversation.project, session)
    forked = copies.fork(conversation, path, session)
    turns.turn(forked)
    close_session(forked)
    forked.close()
    side.write_side_files(forked, None)


def _back_up(conversation: Conversation, number: int) -> None:
    path = conversation.path
    if number % 24 == 7:
        copies.back_up(conversation, path.with_name(path.name + ".backup"))
    else:
        copies.back_up(conversation, path.parent / "sessions" / path.name)


def _neighbours(world: World, project: Project, conversation: Conversation, number: int) -> None:
    """Write the small or damaged sessions that lie beside the ordinary ones."""
    if number % 5 == 0:
        oddities.without_message(world, project, number // 5)
    if number % 9 == 4:
        oddities.without_answer(world, project, number)
    if number % 14 == 6:
        oddities.without_original(world, project, number, 200_000)
    if number % 40 == 8:
        oddities.warm_session(world, project, number)
    if number % 4 == 1:
        side.gone_session(conversation)
    if number % 12 == 2:
        side.old_history(conversation)
    if number % 30 == 9:
        # An empty file beside the real one: the same session, nothing to read.
        empty = Conversation(
            world,
            conversation.path.parent / "sessions" / conversation.path.name,
            conversation.session,
            project,
            conversation.version,
            conversation.clock,
        )
        empty.close()
