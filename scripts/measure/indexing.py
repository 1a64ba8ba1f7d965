"""What indexing costs, as ratios to what must be done at least."""

import json
import shutil
import statistics

from measure import corpora
from measure.child import run, size
from measure.corpora import MEGABYTE
from measure.figures import Figure
from measure.subject import Subject

# The goals of issue 2, shows 5 and 6, and of issue 3, show 3.
CATALOG_RATIO = 4.0
CATALOG_BYTES = 0.25
INDEX_RATIO = 3.0
INDEX_BYTES = 0.5
PEAK_MB = 500.0


def floor(subject: Subject) -> list[Figure]:
    """Read and parse everything: once to warm the disk cache, then to measure."""
    subject.work("floor", subject.index)
    return [_floor(subject)]


def index(subject: Subject) -> list[Figure]:
    """Index end to end, as a user would; then hand the same texts to a bare Tantivy writer."""
    peaks, busy = [], []
    texts = subject.scratch / "texts"
    for _ in range(subject.runs):
        outcome = subject.make_index()
        subject.index_seconds.append(outcome.seconds)
        peaks.append(outcome.peak_bytes / MEGABYTE)
        busy.append(outcome.busy_seconds)
        if not texts.exists():
            subject.work("texts", subject.scratch)
        subject.word_floors.append(subject.work("words", texts))
    share = size(subject.index) / subject.bytes
    texts_mb = texts.stat().st_size / MEGABYTE
    texts.unlink()
    return [
        Figure(name="index, peak memory", value=max(peaks), unit="MB", goal=PEAK_MB, note="all its processes"),
        Figure(name="index, bytes per byte", value=share, goal=INDEX_BYTES, note="catalog and words"),
        Figure(
            name="floor of words",
            value=statistics.median(subject.word_floors),
            unit="s",
            note=f"a bare Tantivy writer given {texts_mb:.0f} MB of texts from memory",
        ),
        Figure(name="index, processor time", value=min(busy), unit="s", note="of all its processes"),
    ]


def catalog(subject: Subject) -> list[Figure]:
    """Fill the catalog alone."""
    directory = subject.scratch / "catalog"
    for _ in range(subject.runs):
        shutil.rmtree(directory, ignore_errors=True)
        subject.catalog_seconds.append(subject.work("catalog", directory))
    share = size(directory) / subject.bytes
    shutil.rmtree(directory)
    return [Figure(name="catalog, bytes per byte", value=share, goal=CATALOG_BYTES)]


def ratios(subject: Subject) -> list[Figure]:
    """Compare what was measured with the floors around it."""
    figures = []
    if subject.index_seconds or subject.catalog_seconds:
        figures.append(_floor(subject))
    if subject.index_seconds:
        took = statistics.median(subject.index_seconds)
        least = subject.floor + statistics.median(subject.word_floors)
        note = f"{took:.2f} s to {least:.2f} s of reading and bare words"
        figures.append(Figure(name="index, ratio", value=took / least, goal=INDEX_RATIO, note=note))
        figures.append(Figure(name="index, ratio to reading alone", value=took / subject.floor))
    if subject.catalog_seconds:
        took = statistics.median(subject.catalog_seconds)
        note = f"{took:.2f} s to {subject.floor:.2f} s of reading"
        figures.append(Figure(name="catalog, ratio", value=took / subject.floor, goal=CATALOG_RATIO, note=note))
    return figures


def again(subject: Subject) -> list[Figure]:
    """Index again when nothing has changed."""
    done = run(subject.index_command(subject.built()))
    read = json.loads(done.output)["bytes"]
    return [
        Figure(name="second index", value=done.seconds, unit="s", note="the whole process"),
        Figure(name="second index, bytes read", value=read, goal=0),
    ]


def line(subject: Subject) -> list[Figure]:
    """Index again when the largest transcript has one more line."""
    subject.built()
    largest = max(corpora.transcripts(subject.root), key=lambda path: path.stat().st_size)
    record = {"type": "user", "sessionId": largest.stem, "uuid": "benchmark", "message": {"content": "one more line"}}
    added = json.dumps(record).encode() + b"\n"
    with largest.open("r+b") as file:
        file.seek(-1, 2)
        ends = file.read() == b"\n"
        file.write(added if ends else b"\n" + added)
    done = run(subject.index_command(subject.index))
    read = json.loads(done.output)["bytes"]
    note = f"to a file of {largest.stat().st_size / MEGABYTE:.1f} MB"
    return [
        Figure(name="one line more", value=done.seconds, unit="s", note=note),
        Figure(name="one line more, bytes read", value=read, goal=len(added) + (not ends)),
    ]


def _floor(subject: Subject) -> Figure:
    took = subject.work("floor", subject.index)
    name = "floor of reading, again" if subject.read_floors else "floor of reading"
    subject.read_floors.append(took)
    return Figure(name=name, value=took, unit="s", note=f"{subject.bytes / MEGABYTE / took:.0f} MB/s")
