"""The default model: near its original, without PyTorch, quiet and polite."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from searchkit.embed.minilm import model as minilm
from searchkit.embed.minilm import run
from searchkit.embed.minilm.build import SAMPLES
from searchkit.embed.minilm.graph import Floats, encoder
from searchkit.embed.minilm.model import MiniLM
from searchkit.embed.minilm.run import NICENESS, Encoder, step_back
from searchkit.embed.tokenize import Tokens
from searchkit.errors import ModelDamaged

HEAVY = ("torch", "transformers", "sentence_transformers")


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the default model is kept ready for all tests."""
    return tmp_path_factory.getbasetemp() / "models"


@pytest.fixture(scope="module")
def model(directory: Path) -> MiniLM:
    """The default model."""
    return MiniLM(directory)


def test_default_model_loads_no_pytorch(model: MiniLM, directory: Path, tmp_path: Path) -> None:
    """Neither making the model ready nor embedding with it loads PyTorch or its libraries."""
    program = (
        "import sys; from pathlib import Path; from searchkit.embed.load import choose\n"
        "choose('', Path(sys.argv[1])).embed(['find the slow query'])\n"
        f"print([name for name in sys.modules if name in {HEAVY}])"
    )

    for place in (tmp_path, directory):
        asked = subprocess.run([sys.executable, "-c", program, str(place)], capture_output=True, text=True, check=False)

        assert (0, "[]\n", "") == (asked.returncode, asked.stdout, asked.stderr)


def test_runtime_reports_to_nobody(tmp_path: Path) -> None:
    """Opening onnxruntime leaves no name for the machine in the home directory, nor anything to be sent."""
    program = "import searchkit.embed.minilm.run, onnxruntime"
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ORT_", "XDG_", "CI"))}

    subprocess.run([sys.executable, "-c", program], env=kept | {"HOME": str(tmp_path)}, check=True)

    assert [] == list(tmp_path.rglob("*"))


def test_importing_the_choice_loads_no_runtime() -> None:
    """Whoever only may need an embedder waits for none of their libraries."""
    program = (
        "import sys, searchkit.embed.load\n"
        f"print([name for name in sys.modules if name in {(*HEAVY, 'onnxruntime', 'tokenizers')}])"
    )

    asked = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert "[]\n" == asked.stdout


def test_identity_of_the_default_model(model: MiniLM) -> None:
    """The identity names the model, its hash, and how it is run."""
    identity = model.identity

    assert ("all-MiniLM-L6-v2", 384, "mean", "int8", 256) == (
        identity.model,
        identity.dimension,
        identity.pooling,
        identity.precision,
        identity.max_tokens,
    )
    assert run.fingerprint(run.packaged()) == identity.weights


def test_bytes_agree_with_floats(model: MiniLM) -> None:
    """Over texts of many kinds, the mean cosine with the original weights is at least 0.997, and none is far off."""
    packaged = run.packaged()
    original = Encoder(encoder(run.tensors(packaged), run.shape(packaged), Floats()))
    rows = [model._tokens.numbers(text) for text in SAMPLES]

    cosines = np.sum(original.vectors(rows) * model.embed(SAMPLES), axis=1)

    assert cosines.mean() >= 0.997
    assert cosines.min() >= 0.98


def test_same_question_is_embedded_once(model: MiniLM, monkeypatch: pytest.MonkeyPatch) -> None:
    """The vector of a question that was asked before comes without the model, and nobody can change it."""
    before = model.embed_query("where is the lantern?")

    monkeypatch.delattr(model, "_encoder")
    again = model.embed_query("where is the lantern?")

    assert before.tolist() == again.tolist()
    assert not again.flags.writeable


def test_more_texts_than_are_sorted_at_a_time(model: MiniLM, monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts keep their order, however many of them are tokenised at a time."""
    texts = [*SAMPLES[:10], "", *SAMPLES[10:14]]
    expected = model.embed(texts)

    monkeypatch.setattr(minilm, "WINDOW_TEXTS", 4)
    vectors = model.embed(texts)

    assert np.allclose(expected, vectors, atol=0.01)


@pytest.mark.parametrize("is_background", [False, True])
@pytest.mark.parametrize("cores", [1, 3])
def test_cores_and_background_change_no_vector(model: MiniLM, directory: Path, cores: int, is_background: bool) -> None:
    """However many cores are used, and however politely, vectors are the same bits."""
    texts = SAMPLES[:12]

    vectors = MiniLM(directory, cores, is_background).embed(texts)

    assert model.embed(texts).tobytes() == vectors.tobytes()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere niceness is of the whole process")
def test_only_the_thread_in_the_background_steps_back() -> None:
    """A thread that steps back takes no other with it, so that a search beside it is as fast as ever."""
    seen = []

    def work() -> None:
        step_back()
        seen.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))

    before = os.getpriority(os.PRIO_PROCESS, 0)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()

    assert [before + NICENESS] == seen
    assert before == os.getpriority(os.PRIO_PROCESS, 0)


def test_failure_in_a_batch_ends_all_of_them(model: MiniLM) -> None:
    """What goes wrong in one thread is told to whoever asked, and leaves no thread behind."""
    threads = threading.active_count()
    rows = [[101, 10**6, 102], [101, 2054, 102], [101, 2054, 2003, 102]]

    with pytest.raises(ModelDamaged):
        list(model._encoder.vectors_beside(enumerate(rows), cores=2, is_background=False))

    assert threads == threading.active_count()


def test_damaged_graph_is_refused() -> None:
    """Bytes that are no graph are an error of ours, not of the runtime."""
    with pytest.raises(ModelDamaged):
        Encoder(b"not a graph")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_graph_agrees_with_sentence_transformers(model: MiniLM, monkeypatch: pytest.MonkeyPatch) -> None:
    """In floats the graph gives what sentence-transformers gives; in bytes, nearly so."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    from sentence_transformers import SentenceTransformer
    from tokenizers import Tokenizer

    packaged = run.packaged()
    texts = [*SAMPLES, "word " * 600]
    expected = SentenceTransformer(str(packaged), device="cpu").encode(texts, normalize_embeddings=True)

    tokens = Tokens(Tokenizer.from_file(str(packaged / run.TOKENIZER)), minilm.MAX_TOKENS)
    original = Encoder(encoder(run.tensors(packaged), run.shape(packaged), Floats()))
    floats = original.vectors([tokens.numbers(text) for text in texts])

    assert np.sum(expected * floats, axis=1).min() > 0.9999
    assert np.sum(expected * model.embed(texts), axis=1).mean() >= 0.99
