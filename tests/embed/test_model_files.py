"""A model is data: none is opened from where nobody pointed to, and none runs code that it brings (issue 15)."""

import hashlib
import json
import shutil
import subprocess
import sys
import threading
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from searchkit.embed import model_files
from searchkit.embed.load import choose
from searchkit.embed.minilm.run import packaged
from searchkit.embed.model_files import is_path
from searchkit.embed.sentence_transformer import CrossEncoder
from searchkit.errors import ModelDamaged, ModelMissing, ModelUnsafe

NAME = "mira/mine"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
# Leaves a mark where it is imported, and would do for a module of sentence-transformers.
CODE = """
from pathlib import Path
(Path(__file__).resolve().parent / "RAN").touch()
from sentence_transformers.models import Pooling
class Evil(Pooling):
    pass
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model like the default one, with a program beside it."""
    directory = tmp_path / "model"
    shutil.copytree(packaged(), directory)
    (directory / "evil.py").write_text(CODE, encoding="utf-8")
    return directory


def change(file: Path, edit: Callable[[Any], None]) -> None:
    """Change what a file of settings says; one that is not there is made."""
    settings = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    edit(settings)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(settings), encoding="utf-8")


def name_module(directory: Path) -> None:
    """Let a module be a class of the model's own."""
    change(directory / "modules.json", lambda modules: modules[1].update(type="evil.Evil"))


def name_route(directory: Path) -> None:
    """Let a module be a router, with a route that is a class of the model's own."""
    router = "sentence_transformers.models.Router"
    change(directory / "modules.json", lambda modules: modules[1].update(type=router))
    routes = {"types": {"query_0": "evil.Evil"}, "structure": {"query": ["query_0"]}, "parameters": {}}
    change(directory / "1_Pooling" / "router_config.json", lambda settings: settings.update(routes))


def name_old_route(directory: Path) -> None:
    """Do so in the file that older versions wrote."""
    change(directory / "1_Pooling" / "config.json", lambda settings: settings.update(types={"a": "evil.Evil"}))


def name_tokenizer(directory: Path) -> None:
    """Let the tokenizer be a class of the model's own."""
    file = directory / "0_Words" / "wordembedding_config.json"
    change(file, lambda settings: settings.update(tokenizer_class="evil.Evil"))


def name_activation(directory: Path) -> None:
    """Let a function be one of the model's own."""
    change(
        directory / "config.json", lambda settings: settings.update(sentence_transformers={"activation_fn": "os.abort"})
    )


def name_other_activation(directory: Path) -> None:
    """Let a function be one of PyTorch that is no layer."""
    file = directory / "2_Dense" / "config.json"
    change(file, lambda settings: settings.update(activation_function="torch.hub.list"))


def pickle_weights(directory: Path) -> None:
    """Have weights in a pickle only."""
    (directory / "model.safetensors").rename(directory / "pytorch_model.bin")


def pickle_layer(directory: Path) -> None:
    """Have the weights of one module in a pickle only."""
    change(directory / "2_Dense" / "config.json", lambda settings: settings.update(in_features=384))
    (directory / "2_Dense" / "pytorch_model.bin").write_bytes(b"\x80\x04.")


def adapt(directory: Path) -> None:
    """Name another model to adapt."""
    change(directory / "adapter_config.json", lambda settings: settings.update(base_model_name_or_path=NAME))


ATTACKS = [
    *(name_module, name_route, name_old_route, name_tokenizer, name_activation, name_other_activation),
    *(pickle_weights, pickle_layer, adapt),
]


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("open_model", [lambda name: choose(name, Path()), CrossEncoder], ids=["embed", "rerank"])
def test_model_that_could_run_code_is_refused_before_it_is_opened(
    model: Path, attack: Callable[[Path], None], open_model: Callable[[str], object]
) -> None:
    """Issue 15: it is refused with a sentence that names it and a hint, and nothing of it has run."""
    attack(model)

    with pytest.raises(ModelUnsafe, match=str(model)) as raised:
        open_model(str(model))

    assert raised.value.hint
    assert not (model / "RAN").exists()


def test_sound_model_passes(model: Path) -> None:
    """Issue 15: models that name classes of sentence-transformers, of any version, are opened."""
    change(model / "modules.json", lambda modules: modules[1].update(type="sentence_transformers.models.Pooling"))
    change(model / "config.json", lambda settings: settings.update(rope_scaling={"type": "yarn.2"}))
    dense = {"activation_function": "torch.nn.modules.linear.Identity"}
    change(model / "2_Dense" / "config.json", lambda settings: settings.update(dense))
    (model / "pytorch_model.bin").write_bytes(b"not read, since there are safetensors")

    model_files.check(model, "mine", "")


@pytest.mark.parametrize("name", ["modules.json", "config.json"])
def test_settings_that_cannot_be_read_are_not_passed_over(model: Path, name: str) -> None:
    """Issue 15: where it cannot be told what a model names, it is not opened."""
    (model / name).write_text('{"a": ' * 100_000, encoding="utf-8")

    with pytest.raises(ModelDamaged, match=name):
        model_files.check(model, "mine", "")


def test_directory_without_a_model_is_not_walked(tmp_path: Path) -> None:
    """Issue 15: a directory that is none of a model is told as such."""
    with pytest.raises(ModelDamaged, match="neither modules"):
        choose(str(tmp_path), tmp_path)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *(("./mira/mine", True), ("../mine", True), ("~/mine", True), ("/mine", True), (".", True), (".\\mine", True)),
        *(("mira/mine", False), ("mine", False), ("mira/", False)),
    ],
)
def test_path_is_written_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, expected: bool) -> None:
    """Issue 15: what is not written as a path is a name, whatever lies below the current directory."""
    (tmp_path / "mira" / "mine").mkdir(parents=True)
    (tmp_path / "mine").mkdir()
    monkeypatch.chdir(tmp_path)

    assert expected is is_path(name)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current directory with a model below it that has the name of another, and no way to the hub."""
    below = tmp_path / "here" / NAME
    shutil.copytree(packaged(), below)
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("SENTENCE_TRANSFORMERS_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return below


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("open_model", [lambda name: choose(name, Path()), CrossEncoder], ids=["embed", "rerank"])
def test_name_is_not_taken_from_the_current_directory(here: Path, open_model: Callable[[str], object]) -> None:
    """Issue 15: a model of that name that was never fetched is missing, and the hint says how to name the directory."""
    with pytest.raises(ModelMissing, match="not on this machine") as raised:
        open_model(NAME)

    assert f"write ./{NAME}" in raised.value.hint


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_model_that_was_fetched_is_opened_whatever_lies_here(here: Path, tmp_path: Path) -> None:
    """Issue 15: of two models of one name, the one that was fetched is opened, and the other by its path."""
    repository = tmp_path / "cache" / f"models--{NAME.replace('/', '--')}"
    shutil.copytree(packaged(), repository / "snapshots" / COMMIT)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(COMMIT, encoding="utf-8")
    change(here / "sentence_bert_config.json", lambda settings: settings.update(max_seq_length=17))

    by_name, by_path = choose(NAME, tmp_path), choose(f"./{NAME}", tmp_path)

    assert (256, 17) == (by_name.identity.max_tokens, by_path.identity.max_tokens)
    assert (NAME, "mine") == (by_name.identity.model, by_path.identity.model)


@pytest.mark.slow
def test_model_is_fetched_without_programs_and_pickles(tmp_path: Path, model: Path) -> None:
    """Issue 15: from the hub come settings, words and safetensors, once; the second time nobody is asked."""
    (model / "pytorch_model.bin").write_bytes(b"\x80\x04.")
    (model / "onnx").mkdir()
    (model / "onnx" / "config.json").write_text("{}", encoding="utf-8")
    program = "from searchkit.embed.load import choose\nfrom pathlib import Path\n"
    program += f"print(choose({NAME!r}, Path()).identity.dimension)"
    command = [sys.executable, "-W", "ignore", "-c", program]

    with hub(model) as (address, asked):
        environment = {"HF_ENDPOINT": address, "HF_HOME": str(tmp_path / "hf"), "HOME": str(tmp_path)}
        first = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        before = len(asked)
        second = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    assert ("384\n", "384\n") == (first.stdout, second.stdout), first.stderr + second.stderr
    assert before == len(asked)
    fetched = {path.name for path in (tmp_path / "hf").rglob("snapshots/*/**/*")}
    assert {"model.safetensors", "modules.json", "tokenizer.json", "1_Pooling"} <= fetched
    assert fetched.isdisjoint({"evil.py", "pytorch_model.bin", "onnx", "README.md"})


@contextmanager
def hub(model: Path) -> Iterator[tuple[str, list[str]]]:
    """Serve one model as the hub does; give the address and the list of what was asked for."""
    asked: list[str] = []
    files = {path.relative_to(model).as_posix(): path for path in model.rglob("*") if path.is_file()}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            place = self.path.partition("?")[0]
            name = place.removeprefix(f"/{NAME}/resolve/{COMMIT}/")
            if name in files:
                self.answer(files[name].read_bytes())
            elif place.startswith(f"/api/models/{NAME}/tree/"):
                listed = [
                    {"type": "file", "path": name, "size": path.stat().st_size, "oid": etag(path.read_bytes())}
                    for name, path in files.items()
                ]
                self.answer(json.dumps(listed).encode())
            elif place.startswith(f"/api/models/{NAME}"):
                siblings = [{"rfilename": name} for name in files]
                self.answer(json.dumps({"id": NAME, "sha": COMMIT, "siblings": siblings}).encode())
            else:
                self.answer(b"")

        def do_HEAD(self) -> None:
            self.do_GET()

        def answer(self, body: bytes) -> None:
            self.send_response(200)
            self.send_header("X-Repo-Commit", COMMIT)
            self.send_header("ETag", f'"{etag(body)}"')
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def etag(body: bytes) -> str:
    """Return what git calls a file."""
    return hashlib.sha1(b"blob %d\0" % len(body) + body).hexdigest()


def test_only_versions_that_were_looked_at_are_installed() -> None:
    """Issue 15: before version 6, sentence-transformers imports whatever a model in a directory names."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert "sentence-transformers>=6.2,<7" in project["optional-dependencies"]["models"]
