"""Letters without their accents, one for one, so that places in a text stay the same."""

import unicodedata


def folded(text: str) -> str:
    """Take the accents off, letter for letter."""
    return text if text.isascii() else text.translate(_BARE)


class _Bare(dict[int, int]):
    """Letters without their accents, looked up once each."""

    def __missing__(self, letter: int) -> int:
        bare = unicodedata.normalize("NFD", chr(letter))[0]
        value = ord(bare) if bare.isascii() else letter
        self[letter] = value
        return value


_BARE = _Bare()
