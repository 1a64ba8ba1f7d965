"""Telling repetitions."""

import pytest

from searchkit.context.select import is_repetition, runs

TEXT = "The queue has no bound, so it grows for as long as the uplink is slower than the reader."


@pytest.mark.parametrize(
    ("text", "is_repeated"),
    [
        (TEXT, True),
        (TEXT.upper().replace(",", ""), True),
        (f"{TEXT} Truly.", True),
        ("so it grows for as long as the uplink is slower", True),
        ("The reader now waits until there is room in the queue again.", False),
        (TEXT + " That was measured with a soak of an hour, with memory between 18 and 24 MB all the time.", False),
        ("", False),
    ],
    ids=["same", "case and signs", "little more", "a part of it", "something else", "much more", "nothing"],
)
def test_repetition_is_told(text: str, is_repeated: bool) -> None:
    """Most of a text was said before, however it is written."""
    assert is_repeated == is_repetition(runs(text), runs(TEXT))


def test_numbers_make_no_difference() -> None:
    """Two runs of one command print other times."""
    first, second = "ran 412 tests in 3.21 s on worker 4: all passed", "ran 409 tests in 17.9 s on worker 1: all passed"

    assert is_repetition(runs(second), runs(first))


def test_scripts_without_spaces_are_compared_by_characters() -> None:
    """Half of a Chinese sentence is a repetition of it, another one is none."""
    before = runs("队列没有上限，所以只要上行链路比读取慢，内存就会一直增长。")

    assert is_repetition(runs("所以只要上行链路比读取慢"), before)
    assert not is_repetition(runs("磁盘上的日志文件本身就是一个很大的队列"), before)
