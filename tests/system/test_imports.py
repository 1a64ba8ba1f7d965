"""What LanceDB would import for a remote service is spared in processes of our own, and left alone in others."""

import subprocess
import sys

import pytest

from tests.support.running import Run
from tests.support.transcript import Home

SESSION = "11111111-1111-4111-8111-111111111111"
OF_OUR_OWN = """
import sys
from searchkit import __main__ as start
sys.argv = ["searchkit", "search", "clock", "--mode", "hybrid"]
try: start.main()
finally: print("lancedb" in sys.modules, "urllib3" in sys.modules, file=sys.stderr)
"""
OF_OTHERS = """
import sys
from searchkit import Engine
with Engine() as engine: print(engine.search("clock").total)
from lance_namespace_urllib3_client.models import QueryTableRequest
print("lancedb" in sys.modules, "vector" in QueryTableRequest.model_fields, file=sys.stderr)
"""


@pytest.fixture
def indexed(home: Home, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """An index with vectors of the stand-in."""
    monkeypatch.setenv("SEARCHKIT_NO_VECTORS", "")
    monkeypatch.setenv("SEARCHKIT_MODEL", "fake")
    home.session(SESSION).prompt("the clock of the server is late")
    run("index")


def said(program: str) -> str:
    """Run a program that finds something by meaning, and return what it says at its end."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout
    return done.stderr.splitlines()[-1]


@pytest.mark.usefixtures("indexed")
def test_commands_do_without_the_remote_client() -> None:
    """A search by meaning loads the store, and nothing that speaks to another machine."""
    assert "True False" == said(OF_OUR_OWN)


@pytest.mark.usefixtures("indexed")
def test_programs_of_others_keep_it() -> None:
    """Whoever uses the engine can use the client of the remote service as well."""
    assert "True True" == said(OF_OTHERS)
