"""Plays all scenarios with one version of Claude Code and prints what holds."""

import argparse
import tempfile
import time
from pathlib import Path

from client import checks, install, interactive, inventory, scenarios
from client.api import ScriptedApi
from client.home import Home
from client.product import Product, programs
from client.report import Report
from client.stage import CannotPlay, Stage, WentWrong
from client.transcripts import records

# The newest version that the checks were run with; its records are in the inventory, as are those of 2.1.197.
PINNED = "2.1.328"
COVERED = (PINNED, "2.1.197")
ROOT = Path(__file__).resolve().parent.parent.parent
# What the client may do without asking; a fetch from the web is refused, so that nothing leaves the machine.
ALLOWED = (
    "Bash Agent Edit Write Read WebSearch Skill Workflow NotebookEdit Monitor mcp__plugin_searchkit_searchkit".split()
)
QUICK = ("plain", "parallel calls", "nested agents", "fork agent", "compaction", "fork", "all tools over MCP")


def main() -> int:
    """Install, play, check; skipped as a whole where Claude Code cannot be installed."""
    parser = argparse.ArgumentParser(prog="client-test", description=__doc__)
    parser.add_argument("--version", default=PINNED, help=f"another release, or newest (default {PINNED})")
    parser.add_argument("--quick", action="store_true", help="only some scenarios, none in a terminal")
    parser.add_argument("--learn", action="store_true", help="add what is new to the inventory, after looking at it")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="leave the client's home in this new directory")
    arguments = parser.parse_args()
    report = Report()
    try:
        version = install.newest() if arguments.version == "newest" else arguments.version
        binary = install.install(version)
    except install.NotInstalled as cause:
        report.skip("client-test", str(cause))
        return report.end()
    except install.NoSuchVersion as fault:
        report.check("client-test", [str(fault)])
        return report.end()
    print(f"Claude Code {version}")
    with tempfile.TemporaryDirectory(prefix="searchkit-client-") as scratch:
        directory = arguments.keep.absolute() if arguments.keep else Path(scratch) / "home"
        api = ScriptedApi()
        api.start()
        try:
            _run(report, directory, binary, api, version, arguments.quick, arguments.learn)
        finally:
            api.close()
    return report.end()


def _run(
    report: Report, directory: Path, binary: Path, api: ScriptedApi, version: str, is_quick: bool, learns: bool
) -> None:
    home = Home(directory=directory, binary=binary, api=api.url)
    home.programs = programs(directory / "bin", binary)
    home.settings(permissions={"allow": ALLOWED})
    stage, product = Stage(home, api), Product(home=directory, programs=home.programs)
    try:
        for name, scenario in scenarios.ALL.items():
            if not is_quick or name in QUICK:
                _play(report, stage, name, scenario)
        _index(report, product)
        checks.resume(report, stage, product)
        checks.plugin(report, stage, product, ROOT)
        home.extra = scenarios.ALL_TOOLS
        for name, scenario in interactive.ALL.items():
            if not is_quick or name in QUICK:
                _play(report, stage, name, scenario)
        _index(report, product)
        if not is_quick:
            checks.called(report, stage)
        checks.answers(report, stage)
        checks.words(report, stage, product)
        checks.counts(report, stage, product)
        checks.costs(report, stage, product)
        checks.titles(report, stage, product)
        checks.health(report, product)
        checks.types(report, stage, version in COVERED)
        if not is_quick:
            # A busy machine may take longer, so that it is no check for every change.
            checks.soon(report, stage, product)
    finally:
        product.stop()
    if learns:
        seen = inventory.collect(record for _, record in records(home.root))
        inventory.save(inventory.merged(inventory.load(), seen))


def _index(report: Report, product: Product) -> None:
    indexed = product.run("index", "--no-vectors", "--json")
    report.check("the transcripts are indexed", [] if indexed.status == 0 else [indexed.error])


def _play(report: Report, stage: Stage, name: str, scenario: scenarios.Scenario) -> None:
    began = time.monotonic()
    planted, prompts = list(stage.planted), stage.prompts.copy()
    try:
        scenario(stage)
    except CannotPlay as cause:
        report.skip(f"scenario {name}", str(cause))
    except WentWrong as fault:
        # What it did not get to say cannot be found.
        stage.planted, stage.prompts = planted, prompts
        report.check(f"scenario {name}", [str(fault)])
    else:
        report.check(f"scenario {name} ({time.monotonic() - began:.1f} s)", [])
