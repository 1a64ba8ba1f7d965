"""What a command waits for before it begins: as little as it needs."""

import subprocess
import sys

import pytest

from tests.support.running import Run
from tests.support.transcript import Home

SESSION = "11111111-1111-4111-8111-111111111111"
SLOW = ("torch", "lancedb", "sentence_transformers", "onnxruntime", "tokenizers", "numpy", "pyarrow", "mcp")
# Each takes a few milliseconds, which together would be as much as the search itself.
STANDARD = ("asyncio", "ctypes", "hashlib", "importlib.metadata", "multiprocessing", "socket", "subprocess", "tomllib")
OTHERS = (
    "indexing",
    "sources.base",
    "sources.registry",
    "sources.jsonl",
    "sources.claude",
    "cli.commands.index",
    "backends.local.catalog.write",
    "backends.local.open",
)
UNWANTED = (*SLOW, *STANDARD, *(f"searchkit.{name}" for name in OTHERS), "watchfiles", "searchkit.cli.commands.index")


@pytest.mark.parametrize("command", [["search", "slow"], ["search", "slow", "--json"], ["sessions"]])
def test_reading_commands_load_nothing_they_do_not_need(home: Home, run: Run, command: list[str]) -> None:
    """A search takes no model and no vector store, and nothing of what reads transcripts or writes the index."""
    home.session(SESSION).prompt("find the slow query")
    run("index")
    program = (
        f"import sys; from searchkit.cli import main as cli; sys.argv = ['searchkit', *{command}]\n"
        "try: cli.main()\n"
        f"finally: print([name for name in sys.modules if name in {UNWANTED}], file=sys.stderr)"
    )

    asked = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)

    assert (0, "[]\n") == (asked.returncode, asked.stderr)


@pytest.mark.parametrize(
    "command", [["search", "slow"], ["show", SESSION], ["sessions"], ["stats"], ["context", "slow"]]
)
def test_people_do_not_wait_for_what_programs_read(home: Home, run: Run, command: list[str]) -> None:
    """The structs of our JSON are imported where --json is given, and nowhere else."""
    home.session(SESSION).prompt("find the slow query")
    run("index")
    program = (
        "import sys; from searchkit.cli import main as cli\n"
        "cli.run(sys.argv[1:]); print('searchkit.render.wire.base' in sys.modules, file=sys.stderr)"
    )

    people, programs = (
        subprocess.run([sys.executable, "-c", program, *command, *more], capture_output=True, text=True, check=True)
        for more in ([], ["--json"])
    )

    assert ["False", "True"] == [one.stderr.splitlines()[-1] for one in (people, programs)]


def test_process_waits_for_an_agent_before_it_loads_the_sdk() -> None:
    """The MCP SDK takes longer to import than all else that the resident process needs to answer."""
    program = "import sys, searchkit.server.app; print('mcp' in sys.modules, 'searchkit.mcp.http' in sys.modules)"

    asked = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert "False True\n" == asked.stdout


def test_engine_is_imported_when_it_is_asked_for() -> None:
    """The package offers the engine, without any of its modules waiting for it."""
    program = (
        "import sys, searchkit; early = 'searchkit.engine' in sys.modules\n"
        "from searchkit import Engine; print(early, Engine.__module__, hasattr(searchkit, 'Motor'))"
    )

    asked = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert "False searchkit.engine False\n" == asked.stdout


def test_commands_do_without_typing_extensions(home: Home, run: Run) -> None:
    """A search leaves out what msgspec would import for older versions of Python, and others can still import it."""
    home.session(SESSION).prompt("find the slow query")
    run("index")
    program = (
        "import sys; from searchkit.__main__ import main; sys.argv = ['searchkit', 'search', 'slow', '--no-resident']\n"
        "try: main()\n"
        "finally: print('msgspec' in sys.modules, 'typing_extensions' in sys.modules, file=sys.stderr)\n"
    )
    after = "from searchkit.system.process import spare; spare(); import msgspec, typing_extensions"

    asked = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    imported = subprocess.run([sys.executable, "-c", after], capture_output=True, text=True, check=False)

    assert (0, "True False") == (asked.returncode, asked.stderr.splitlines()[-1])
    assert 0 == imported.returncode


def test_interruption_while_it_is_loaded_is_quiet() -> None:
    """Ctrl-C while a command is still being imported ends it as it does later: without a traceback."""
    program = """
import sys
class Impatient:
    def find_spec(self, name, path=None, target=None):
        if name == "searchkit.cli.main":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Impatient())
sys.argv = ["searchkit", "status", "--no-resident"]
from searchkit.__main__ import main
main()
"""

    asked = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)

    assert (130, "") == (asked.returncode, asked.stderr)
