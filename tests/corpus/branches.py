"""Branches: prompts that are edited, turns taken back, answers tried again, chains that tear, endings named.

Whatever leaves the way that a conversation has taken goes through here, so that it is plain what is abandoned.
"""

from collections.abc import Callable

from tests.corpus import prompts
from tests.corpus.conversation import Conversation
from tests.corpus.story import Telling

# FORMAT section 6 has 250 real branches in 1,502 MB; three times as many, so that small corpora have some of each.
BRANCH_EVERY_BYTES = 2_000_000
LEAVING_EVERY_BYTES = 10_000_000
FARTHEST = 4  # turns that are taken back at once
TORN_AT_MOST = 2_000_000  # bytes of a session that tears: those of giants are to stay in one thread

Work = Callable[[Conversation, int], None]


def branch(conversation: Conversation, work: Work) -> None:
    """Leave the way that the conversation has taken, if it is time for that and there is enough to leave."""
    world = conversation.world
    written = world.ledger.bytes + conversation.bytes
    if written < (world.branches + 0.5) * BRANCH_EVERY_BYTES or len(conversation.marks) < 2:
        return
    FORMS[world.branches % len(FORMS)](conversation, work)
    world.branches += 1


def leave(conversation: Conversation) -> Telling | None:
    """Return the telling that the closing lines are to name as the ending, where it is not the one told last."""
    world = conversation.world
    written = world.ledger.bytes + conversation.bytes
    is_due = written > (world.leavings + 0.5) * LEAVING_EVERY_BYTES
    if not is_due or not conversation.prompts or len(conversation.marks) < 2:
        return None
    if world.leavings % 2 == 0:
        ending = abandoned(conversation)
        world.leavings += ending is not None
        return ending
    # Taken back, and then nothing else was asked: only the closing lines tell of it.
    conversation.go_back(conversation.marks[-1])
    world.leavings += 1
    return None


def abandoned(conversation: Conversation) -> Telling | None:
    """Return what was taken back last, if anything was."""
    tellings = conversation.story.tellings
    return tellings[-2] if len(tellings) > 1 and not tellings[-2].is_torn else None


def _edit(conversation: Conversation, work: Work) -> None:
    """Take the last turn back: the next prompt stands in the place of its prompt."""
    conversation.go_back(conversation.marks[-1])


def _rewind(conversation: Conversation, work: Work) -> None:
    """Take several turns back."""
    conversation.go_back(conversation.world.rng.choice(conversation.marks[-FARTHEST:]))


def _retry(conversation: Conversation, work: Work) -> None:
    """Answer the last turn once more."""
    if conversation.asked is not None:
        conversation.go_back(conversation.asked)
        work(conversation, conversation.bytes + 20_000)


def _correct(conversation: Conversation, work: Work) -> None:
    """Type a prompt and edit it before there is an answer."""
    mark = conversation.mark()
    conversation.prompt(prompts.asked(conversation))
    conversation.go_back(mark)


def _tear(conversation: Conversation, work: Work) -> None:
    """Lose the record between two turns."""
    if conversation.bytes < TORN_AT_MOST:
        conversation.lose_parent()


# One in ten tears: 72 of the measured records of sessions have lost their parents.
FORMS = (_edit, _retry, _tear, _rewind, _correct, _edit, _retry, _edit, _rewind, _correct)
