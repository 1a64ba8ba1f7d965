"""Write a corpus: python -m tests.corpus DIR --mb N --seed S, or one long session: --records N."""

import argparse
import sys
import time
from pathlib import Path

from tests.corpus.build import MEGABYTE, build
from tests.corpus.long import write_long


def main() -> int:
    """Read the command line, build, and say how it went on stderr."""
    parser = argparse.ArgumentParser(prog="make-corpus", description="Write a root of made-up transcripts.")
    parser.add_argument("directory", type=Path, help="where the root is written; must be new or empty")
    parser.add_argument("--mb", type=float, default=20, help="megabytes of transcripts (default 20)")
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same bytes (default 1)")
    parser.add_argument("--records", type=int, help="write one session of so many records instead")
    arguments = parser.parse_args()
    if arguments.directory.exists() and any(arguments.directory.iterdir()):
        sys.stderr.write(f"{arguments.directory} is not empty; name a new directory\n")
        return 2
    began = time.perf_counter()
    if arguments.records is not None:
        write_long(arguments.directory, arguments.records)
    else:
        build(arguments.directory, arguments.mb, arguments.seed)
    took = time.perf_counter() - began
    size = sum(path.stat().st_size for path in arguments.directory.rglob("*") if path.is_file())
    rate = size / MEGABYTE / took
    sys.stderr.write(f"{arguments.directory}: {size / MEGABYTE:.1f} MB in {took:.1f} s ({rate:.0f} MB/s)\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
