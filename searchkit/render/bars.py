"""Small plots of block characters: bars for labelled numbers, and a line of little columns."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import ceil

from searchkit.render.wrapped import columns
from searchkit.text.sanitize import one_line

# Of a line, at most this share is for the label, and the bars have at least so many columns.
LABEL_SHARE = 0.45
LEAST_BAR = 6
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_HEIGHTS = "▁▂▃▄▅▆▇█"


def bars(
    numbers: Mapping[str, float], width: int, shown: Callable[[float], str] = lambda number: f"{number:,.0f}"
) -> Iterator[str]:
    """Yield a line for each label: the label, its number as `shown` writes it, and a bar in what is left of `width`."""
    written = [shown(number) for number in numbers.values()]
    labels = [fitted(label, int(width * LABEL_SHARE)) for label in map(one_line, numbers)]
    label_width = max(map(columns, labels), default=0)
    number_width = max(map(len, written), default=0)
    bar_width = max(LEAST_BAR, width - label_width - number_width - 4)
    most = max(numbers.values(), default=0)
    for label, number, figure in zip(labels, numbers.values(), written, strict=True):
        yield f"{padded(label, label_width)}  {figure:>{number_width}}  {bar(number, most, bar_width)}".rstrip()


def bar(number: float, most: float, width: int) -> str:
    """Draw one bar, to the eighth of a column; what is more than nothing is seen."""
    if number <= 0 or most <= 0:
        return ""
    eighths = max(1, round(8 * width * number / most))
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()


def sparkline(numbers: Sequence[float], width: int) -> str:
    """Draw numbers as columns side by side; where there are more than `width`, neighbours are added up."""
    together = max(1, ceil(len(numbers) / width))
    sums = [sum(numbers[start : start + together]) for start in range(0, len(numbers), together)]
    most = max(sums, default=0)
    return "".join(_HEIGHTS[ceil(number * len(_HEIGHTS) / most) - 1] if number > 0 else " " for number in sums)


def fitted(text: str, width: int) -> str:
    """Cut a text to so many columns; of a path the end stays, which tells more."""
    if columns(text) <= width:
        return text
    is_path = "/" in text or "\\" in text
    while text and columns(text) >= width:
        text = text[1:] if is_path else text[:-1]
    return f"…{text}" if is_path else f"{text}…"


def padded(text: str, width: int) -> str:
    """Fill a text up to so many columns."""
    return text + " " * (width - columns(text))
