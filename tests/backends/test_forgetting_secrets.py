"""Secrets are kept out of the index where that is wanted, and those that are in it are taken from the disk."""

import random
from contextlib import closing
from pathlib import Path

import pytest

from searchkit import Engine
from searchkit.backends.local import layout
from searchkit.backends.local.backend import LocalBackend
from searchkit.backends.local.catalog.store import SqliteCatalog
from searchkit.backends.local.vectors.store import LanceVectors
from searchkit.backends.local.words.index import Keyword
from searchkit.backends.local.words.store import TantivyWords
from searchkit.text.secrets import MARK, revealed
from tests.backends.test_forgetting import texts_on_disk
from tests.reference import ReferenceBackend
from tests.reference.fingerprint import digest
from tests.support.answers import OTHER, SESSION
from tests.support.running import Run
from tests.support.transcript import Home

_CHANCE = random.Random(11)
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


def _random(length: int) -> str:
    return "".join(_CHANCE.choices(LETTERS, k=length))


KEY, OTHER_KEY, PASSWORD = f"ghp_{_random(36)}", f"sk-ant-api03-{_random(60)}", f"Zq7{_random(9)}!"
SECRETS = (KEY, OTHER_KEY, PASSWORD)


@pytest.fixture
def history(home: Home) -> Home:
    """A history with secrets in texts, in what a call was given, in a title, a branch and a path."""
    told = home.session(SESSION, branch=f"fix/{KEY}")
    told.prompt(f"where is the lantern? use {KEY} for it")
    told.text(f"the lantern needs DB_PASSWORD={PASSWORD} to burn, and I shall remember it for as long as it burns")
    edit = {"file_path": f"/src/{KEY}.py", "old_string": f"key = '{OTHER_KEY}'", "new_string": "key = read_key()"}
    told.result(told.call("Edit", edit), "the file was changed")
    told.line({"type": "custom-title", "customTitle": f"lantern with {OTHER_KEY}", "sessionId": SESSION})
    home.session(OTHER).prompt("a lantern without any secret")
    return home


def remains(index: Path) -> list[str]:
    """Name the files, the stores and the ways to ask that tell a secret of an index."""
    found = [
        path.name
        for path in index.rglob("*")
        if path.is_file() and any(secret.encode() in path.read_bytes() for secret in SECRETS)
    ]
    searcher = Keyword(index / layout.KEYWORD).searcher
    found += ["words" for secret in SECRETS if searcher.doc_freq("text", secret.lower().removeprefix("ghp_"))]
    with Engine(index) as engine, revealed():
        session = engine.sessions()
        shown = [result.text for result in engine.search("lantern", group="none", limit=100).results]
        told = repr(
            (session, shown, engine.outline(SESSION, is_full=True), engine.values("file"), engine.values("branch"))
        )
    return [*found, *(secret for secret in SECRETS if secret in told)]


def test_secrets_are_kept_out(run: Run, history: Home, tmp_path: Path) -> None:
    """With --mask-secrets nothing of the index holds one, nor does what is read later; it is searched as before."""
    index = tmp_path / "index"

    run("index", "--mask-secrets")
    later = history.session(OTHER)
    later.prompt(f"and another lantern with {OTHER_KEY}")
    run("index")

    assert [] == remains(index)
    assert 0 == run("search", "lantern").status
    assert 0 == run("doctor", "--deep").status
    assert "[masked: Anthropic key" in run("search", "another lantern", "--json").out


def test_secrets_can_be_kept_out_by_the_configuration(run: Run, history: Home, tmp_path: Path, config: Path) -> None:
    """So they are with `mask_secrets = true` in the configuration file, until --keep-secrets says otherwise."""
    config.write_text("mask_secrets = true\n")

    run("index")

    assert [] == remains(tmp_path / "index")
    config.write_text("")
    run("index", "--keep-secrets", "--rebuild")
    assert KEY in remains(tmp_path / "index")


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The configuration file of the user."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    file = tmp_path / "config" / "searchkit" / "config.toml"
    file.parent.mkdir(parents=True)
    return file


def test_secrets_are_taken_out(run: Run, history: Home, tmp_path: Path) -> None:
    """After prune --secrets no file of the index holds one, and all else is as it was; so it stays."""
    index = tmp_path / "index"
    run("index")
    run("search", "lantern")
    texts = texts_on_disk(index)
    assert "catalog.db" in remains(index)

    pruned = run("prune", "--secrets", "--yes")

    assert (0, True) == (pruned.status, "4 texts" in pruned.err), pruned
    assert [] == remains(index)
    assert not any(text in path.read_bytes() for path in index.rglob("*") if path.is_file() for text in texts)
    assert 0 == run("doctor", "--deep").status
    assert "[masked: GitHub token" in run("search", "lantern", "--json", "--full").out
    history.session(SESSION).text(f"and then {KEY} again")
    run("index")
    assert [] == remains(index)


def test_pruned_index_is_as_one_without_secrets(history: Home, tmp_path: Path) -> None:
    """What is left is what an index has that was made without secrets from the beginning."""
    for name, is_masking in (("pruned", False), ("masked", True)):
        with Engine(tmp_path / name, [history.root]) as engine:
            engine.index(is_masking=is_masking)
            if not is_masking:
                engine.prune_secrets()
    with closing(LocalBackend(tmp_path / "pruned")) as one, closing(LocalBackend(tmp_path / "masked")) as other:
        assert digest(one) == digest(other)


def test_reference_takes_them_out_as_well(history: Home) -> None:
    """The backend that others are tested against counts and masks the same texts."""
    from searchkit.indexing.ingest import ingest
    from searchkit.sources.registry import open_sources

    backend = ReferenceBackend()
    ingest(open_sources([history.root]), backend)

    assert {"GitHub token", "Anthropic key", "password"} == {place.kind for place in backend.secrets()}
    assert backend.mask_secrets()
    assert [] == list(backend.secrets())


STEPS = {
    "catalog": (SqliteCatalog, "wipe"),
    "vectors": (LanceVectors, "wipe"),
    "words": (TantivyWords, "_begin_words_beside"),
}


@pytest.mark.parametrize("step", STEPS)
def test_interrupted_forgetting_is_told_and_finished(
    run: Run, history: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Interrupted at any step, the doctor says that something may remain, and the next index finishes it."""
    run("index")

    def die(*arguments: object, **named: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(*STEPS[step], die)
        stopped = run("prune", "--secrets", "--yes")
    told = run("doctor")
    finished = run("index")

    assert 0 != stopped.status
    assert (2, True) == (told.status, "forgetting unfinished" in told.out)
    assert (0, []) == (finished.status, remains(tmp_path / "index"))
    assert 0 == run("doctor", "--deep").status


def test_vectors_of_masked_texts_are_made_again(history: Home, tmp_path: Path) -> None:
    """A vector of a text that was masked goes, and the text gets another."""
    index = tmp_path / "index"
    with Engine(index, [history.root], "fake") as engine:
        engine.index(with_vectors=True)
        before = engine.status().embedded
        engine.prune_secrets()

        assert engine.status().to_embed > 0
        engine.index(with_vectors=True)
        assert (before, 0) == (engine.status().embedded, engine.status().to_embed)


def test_doctor_lists_where_secrets_lie(run: Run, history: Home) -> None:
    """Each is named by its kind, its part and its mask, for people and for programs; none is told."""
    run("index")

    listed, told = run("doctor", "--secrets"), run("doctor", "--secrets", "--json")

    places = told.json["secrets"]
    assert 0 == listed.status == told.status
    assert {"GitHub token", "Anthropic key", "password"} == {place["kind"] for place in places}
    assert all(place["mark"].startswith(MARK) and place["part"] and place["session"] == SESSION for place in places)
    assert "prune --secrets" in listed.err
    assert not any(secret in listed.out + listed.err + told.out + told.err for secret in SECRETS)


def test_nothing_is_forgotten_before_it_is_certain(run: Run, history: Home, tmp_path: Path) -> None:
    """--dry-run only counts, and --secrets goes with nothing that chooses sessions."""
    run("index")

    counted, refused = run("prune", "--secrets", "--dry-run"), run("prune", "--secrets", "--gone")

    assert (0, True) == (counted.status, "To forget" in counted.err)
    assert 2 == refused.status
    assert "catalog.db" in remains(tmp_path / "index")
