"""Models that the user chose: what they want before texts, what is said when they cannot be had."""

import logging
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from searchkit.embed.base import Vectors
from searchkit.embed.fake import FakeEmbedder
from searchkit.embed.load import choose
from searchkit.embed.minilm.run import packaged
from searchkit.embed.model_files import within_memory
from searchkit.embed.sentence_transformer import Prefixes, prefixes
from searchkit.errors import ModelDamaged, ModelMissing, ModelTooLarge

BGE = "Represent this sentence for searching relevant passages: "


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("intfloat/multilingual-e5-small", Prefixes(query="query: ", text="passage: ")),
        ("/models/e5-base-v2/", Prefixes(query="query: ", text="passage: ")),
        ("intfloat/multilingual-e5-large-instruct", Prefixes()),
        ("BAAI/bge-small-en-v1.5", Prefixes(query=BGE)),
        ("BAAI/bge-m3", Prefixes()),
        ("nomic-ai/nomic-embed-text-v1.5", Prefixes(query="search_query: ", text="search_document: ")),
        ("sentence-transformers/all-MiniLM-L6-v2", Prefixes()),
        ("/e5-models/gte-small", Prefixes()),
    ],
)
def test_families_are_known_by_their_names(name: str, expected: Prefixes) -> None:
    """A model whose settings name no prompts has those of its family."""
    assert expected == prefixes(name, {"query": "", "document": ""})


@pytest.mark.parametrize(
    ("prompts", "expected"),
    [
        ({"query": "q: ", "document": ""}, Prefixes(query="q: ")),
        ({"query": "q: ", "passage": "p: "}, Prefixes(query="q: ", text="p: ")),
        ({"s2p_query": "find: ", "s2s_query": "like: "}, Prefixes(query="find: ")),
    ],
)
def test_settings_count_before_the_family(prompts: dict[str, str], expected: Prefixes) -> None:
    """What a model's own settings say is believed, whatever its name is."""
    assert expected == prefixes("intfloat/e5-small", prompts)


def exhausted_above(fitting: int, error: Exception) -> Callable[[int], Vectors]:
    """Encode like a device on which batches up to a size fit."""

    def encode(batch: int) -> Vectors:
        if batch > fitting:
            raise error
        return np.full((1, 1), batch, np.float32)

    return encode


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB"),
        RuntimeError("MPS backend out of memory (MPS allocated: 9.07 GB)"),
        MemoryError(),
    ],
)
def test_batches_shrink_until_they_fit(error: Exception) -> None:
    """When a device has no memory left, smaller batches are tried, and the size that fits is kept."""
    told: list[int] = []

    vectors = within_memory(exhausted_above(5, error), 32, lambda: False, told.append)

    assert 4 == vectors[0, 0]
    assert [4] == told


def test_processor_takes_over_when_nothing_fits(caplog: pytest.LogCaptureFixture) -> None:
    """When not even one text fits, the processor does it, which is said once."""
    fitting = [0]

    def retreat() -> bool:
        fitting[0] = 100
        return True

    def encode(batch: int) -> Vectors:
        return exhausted_above(fitting[0], RuntimeError("CUDA out of memory"))(batch)

    vectors = within_memory(encode, 32, retreat, lambda size: None)

    assert 32 == vectors[0, 0]
    assert [logging.WARNING] == [record.levelno for record in caplog.records]


def test_nothing_left_to_try_is_an_error() -> None:
    """When the processor has no memory for it either, the error says what to choose."""
    with pytest.raises(ModelTooLarge) as raised:
        within_memory(exhausted_above(0, MemoryError()), 32, lambda: False, lambda size: None)

    assert "SEARCHKIT_MODEL=default" in raised.value.hint


def test_other_failures_are_not_taken_for_exhaustion() -> None:
    """An error that is about something else comes through at once."""
    with pytest.raises(RuntimeError, match="shapes"):
        within_memory(exhausted_above(0, RuntimeError("shapes differ")), 32, lambda: True, lambda size: None)


def test_path_without_a_model_is_named(tmp_path: Path) -> None:
    """A directory that does not exist is an error that shows what was given."""
    with pytest.raises(ModelMissing, match="nowhere"):
        choose(str(tmp_path / "nowhere"), tmp_path)


def test_setting_chooses(tmp_path: Path) -> None:
    """`fake` is the stand-in for tests."""
    assert isinstance(choose("fake", tmp_path), FakeEmbedder)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_name_without_network_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A model that is not here and cannot be fetched is an error within seconds, offline by choice or not."""
    # Nothing listens on the lowest port.
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:1")

    with pytest.raises(ModelMissing, match="cannot be reached"):
        choose("nobody/no-such-model", tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ModelMissing, match="HF_HUB_OFFLINE"):
        choose("nobody/no-such-model", tmp_path)

    assert "" == capfd.readouterr().err


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "content"),
    [("model.safetensors", b"\x00" * 100), ("config.json", b"{"), ("tokenizer.json", b"{"), ("modules.json", b"[]")],
)
def test_damaged_model_is_said_to_be(tmp_path: Path, name: str, content: bytes) -> None:
    """A model directory with a damaged file is an error that names the model."""
    shutil.copytree(packaged(), tmp_path / "mine")
    (tmp_path / "mine" / name).write_bytes(content)

    with pytest.raises(ModelDamaged, match="mine"):
        choose(str(tmp_path / "mine"), tmp_path)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_model_of_a_family_is_asked_in_its_way(tmp_path: Path) -> None:
    """A question to a model of the e5 family is embedded as one, and a text as a text."""
    shutil.copytree(packaged(), tmp_path / "e5-mine")
    shutil.copytree(packaged(), tmp_path / "mine")

    family, plain = (choose(str(tmp_path / name), tmp_path) for name in ("e5-mine", "mine"))

    assert np.allclose(family.embed_query("slow"), plain.embed_query("query: slow"), atol=1e-5)
    assert np.allclose(family.embed(["slow"]), plain.embed(["passage: slow"]), atol=1e-5)
    assert {"model", "query_prefix", "text_prefix"} == set(family.identity.differences(plain.identity))
