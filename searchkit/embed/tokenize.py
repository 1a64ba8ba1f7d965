"""From texts to the numbers of their tokens, whatever is in them and however long they are."""

from tokenizers import Encoding, Tokenizer

# So many characters hold the tokens that are wanted, unless they are unusual; then more are looked at.
CHARS_PER_TOKEN = 6
GROWTH = 4
# But no more than these: two megabytes without a space take a second to be found to be one unknown word.
MOST_CHARS = 100_000


class Tokens:
    """A model's tokens. Reading a text takes time for what is wanted of it, not for its length."""

    def __init__(self, tokenizer: Tokenizer, max_tokens: int) -> None:
        """Take a tokenizer to oneself, and the most tokens that the model reads."""
        # The file may ask for what the model was trained with: 128 tokens, no more and no less.
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self._tokenizer = tokenizer
        around = tokenizer.encode("").ids
        # A model wants a token before each text and one after it.
        self._before, self._after = around[:1], around[1:]
        self._room = max_tokens - len(around)
        self._unknown = {*around, *_unknown(tokenizer)}

    def numbers(self, text: str) -> list[int]:
        """Return the tokens that the model reads, or nothing where it knows none of them."""
        found = self._beginning(encodable(text), self._room).ids[: self._room]
        return [*self._before, *found, *self._after] if not self._unknown.issuperset(found) else []

    def _beginning(self, text: str, wanted: int) -> Encoding:
        """Encode as much of a text as tells its first tokens just as all of it would."""
        chars = wanted * CHARS_PER_TOKEN
        text = text[: max(chars, MOST_CHARS)]
        while True:
            encoding = self._tokenizer.encode(text[:chars], add_special_tokens=False)
            if chars >= len(text) or _is_settled(encoding, wanted):
                return encoding
            chars *= GROWTH


def encodable(text: str) -> str:
    """Replace halves of characters that have lost the other half, which no encoding of text can hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _is_settled(encoding: Encoding, wanted: int) -> bool:
    """Say whether the last word, which may have been cut, is behind the tokens that are wanted."""
    words = encoding.word_ids
    return len(words) > wanted and words[wanted - 1] != words[-1]


def _unknown(tokenizer: Tokenizer) -> list[int]:
    """Return the tokens for what a model does not know, and for the space before a word, where it has them."""
    numbers = (tokenizer.token_to_id(name) for name in ("[UNK]", "<unk>", "▁"))
    return [number for number in numbers if number is not None]
