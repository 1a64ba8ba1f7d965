"""What is a secret is found and masked, what stands for one is not, and places in a text are found again."""

import random

import pytest

from searchkit.text import secrets
from searchkit.text.secrets import FORMATS, INNER_FORMATS, LATER_FORMATS, find, mask, masked, revealed
from tests.support.secret_cases import HARMLESS, KEYS, MOST_LEFT, Case, cases

LEAST_RECALL = 0.98


def is_hidden(case: Case, text: str) -> bool:
    """Say whether a text tells nothing of the secret of a case."""
    return not any(
        case.secret[start : start + MOST_LEFT] in text for start in range(max(1, len(case.secret) - MOST_LEFT + 1))
    )


def test_secrets_are_masked() -> None:
    """At least 98 % of secrets are masked, in every kind of place, whatever their characters are."""
    seed = random.SystemRandom().randrange(1 << 30)
    tried = list(cases(seed))

    left = [case for case in tried if not is_hidden(case, mask(case.text))]

    assert len(tried) > 900
    assert len(left) <= (1 - LEAST_RECALL) * len(tried), (seed, left[:20])


def test_keys_are_called_by_their_service() -> None:
    """The mask of a key says whose it is, keeps how such keys begin, and the last two characters."""
    for case in cases(1):
        if case.kind and case.text.startswith("use "):
            assert f"[masked: {case.kind}" in mask(case.text), case

    assert mask("use ghp_16C7e42F292c6912E7710c838347Ae178B4a") == "use [masked: GitHub token ghp_…4a]"


def test_every_format_has_a_case() -> None:
    """No format is without a key that is tried."""
    known = {line.split("|")[0] for line in KEYS}

    untried = {one.kind for one in (*FORMATS, *LATER_FORMATS, *INNER_FORMATS)} - known

    assert untried <= UNTRIED


# Keys that are rare; their formats differ from others in nothing but the sign.
UNTRIED = frozenset(
    {"Cloudflare token", "Sourcegraph token", "Typeform token", "Alibaba key", "Tencent key", "JFrog key"}
)


@pytest.mark.parametrize("text", HARMLESS, ids=range(len(HARMLESS)))
def test_what_stands_for_a_secret_is_left(text: str) -> None:
    """Placeholders, variables, names, hashes and what programs are written with are no secrets."""
    assert text == mask(text)


def test_masked_text_is_masked() -> None:
    """What was masked is not masked again, and tells nothing of the secret."""
    for case in cases(2):
        once = mask(case.text)

        assert once == mask(once)


def test_random_characters_alone_are_no_secret() -> None:
    """Hashes, ids and words of letters and digits need a name beside them."""
    chance = random.Random(3)
    for length in (7, 32, 40, 64):
        value = "".join(chance.choices("0123456789abcdef", k=length))

        assert not find(f"commit {value} was made, see build {value}")


def test_places_are_found_again() -> None:
    """What lay before, behind and between secrets lies there still, where `moved` says."""
    key = next(case.text for case in cases(4))
    text = f"first API_KEY=A1b2C3d4E5f6G7h8 then PASSWORD=hunter22! between {key} last"

    found = masked(text)

    for word in ("first", "then", "between", "last"):
        at = found.moved(text.index(word))
        assert word == found.text[at : at + len(word)]
    secret = text.index("hunter")
    start, end = found.moved(secret), found.moved(secret + len("hunter22!"))
    assert "[masked: password]" == found.text[start:end]
    assert end == found.moved(secret + 3)


def test_secrets_that_overlap_are_masked_as_one() -> None:
    """A key within an assignment is called by its service, and all of the value is masked."""
    assert "TOKEN=[masked: GitHub token ghp_…4a]" == mask("TOKEN=ghp_16C7e42F292c6912E7710c838347Ae178B4a")
    assert "PASSWORD=[masked: GitHub token ghp_…]" == mask("PASSWORD=ghp_16C7e42F292c6912E7710c838347Ae178B4a!x")


def test_same_secret_has_the_same_mask() -> None:
    """Two masks can be compared: the same key has the same, wherever it stands."""
    case = next(cases(5))

    masks = {mask(f"{before}{case.secret}").removeprefix(before) for before in ("", "see ", "\n")}

    assert len(masks) == 1


def test_revealed_secrets_are_shown_in_their_context_alone() -> None:
    """Only what is masked within the block keeps its secrets."""
    case = next(cases(6))

    with revealed():
        assert case.text == mask(case.text)
        assert secrets.is_revealed()
        assert case.text != masked(case.text).text

    assert case.text != mask(case.text)


@pytest.mark.parametrize(
    "sign", ["password=", "token: ", "eyJ", "://", "-----BEGIN PRIVATE KEY-----\n", "cookie: a=", "A1_"]
)
@pytest.mark.parametrize("filling", ["a", "a1", "A=", "/", " ", '"', "\\", "x:", "é", "-", "a@", "MIIE+/\n"])
def test_long_texts_take_no_longer_than_they_are(sign: str, filling: str) -> None:
    """No text takes time that grows with its square: fifty thousand signs of anything are looked through."""
    text = (sign + filling * 40) * (50_000 // len(sign + filling * 40))

    found = find(f"{text}{sign}{filling * 25_000}")

    assert all(one.start < one.end for one in found)
