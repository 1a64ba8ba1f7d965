"""What models charge for tokens: a dated list of public prices, which the user's configuration overrides.

It is for sessions whose transcripts say no cost. A model that is not listed has no price: nothing is guessed.
"""

import math
import re
from collections.abc import Mapping

import msgspec

from searchkit.errors import UsageError

# When the list below was last compared with https://platform.claude.com/docs/en/about-claude/pricing.
DATE = "2026-10-16"
# A prompt with more tokens than this is a long one, for which some models charge more.
LONG_PROMPT = 100_000
# Beyond this, dollars for a million tokens are a slip of the pen.
MAX_PRICE = 100_000.0
# A longer name of a model is damage, and is not looked at.
MAX_NAME = 255
_MILLION = 1_000_000


class Price(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Dollars for a million tokens of each sort; all of it times `long_factor` where the prompt is long."""

    input: float
    output: float
    cache_read: float
    cache_write: float
    cache_write_1h: float
    long_factor: float = 1.0


def _price(input: float, output: float, cache_read: float = 0.1, long_factor: float = 1.0) -> Price:
    """Make a price; what is read from the cache costs that share of new input."""
    return Price(
        input=input,
        output=output,
        cache_read=input * cache_read,
        cache_write=input * 1.25,
        cache_write_1h=input * 2,
        long_factor=long_factor,
    )


_OPUS_4, _OPUS_4_5, _SONNET_4, _SONNET_5 = _price(15, 75), _price(5, 25), _price(3, 15), _price(2, 10)
_FABLE_5, _FABLE_5_1 = _price(10, 50), _price(10, 50, cache_read=0.025)
LIST: Mapping[str, Price] = {
    "claude-fable-5": _FABLE_5,
    "claude-fable-5-1": _FABLE_5_1,
    "claude-mythos-5": _FABLE_5,
    "claude-mythos-5-1": _FABLE_5_1,
    "claude-opus-5-5": _price(4, 20, cache_read=0.05),
    "claude-opus-5": _OPUS_4_5,
    "claude-opus-4-8": _OPUS_4_5,
    "claude-opus-4-7": _OPUS_4_5,
    "claude-opus-4-6": _OPUS_4_5,
    "claude-opus-4-5": _OPUS_4_5,
    "claude-opus-4-1": _OPUS_4,
    "claude-opus-4-0": _OPUS_4,
    "claude-opus-4": _OPUS_4,
    "claude-3-opus": _OPUS_4,
    "claude-sonnet-5-5": _price(2, 10, cache_read=0.05),
    "claude-sonnet-5": _SONNET_5,
    "claude-sonnet-4-6": _SONNET_4,
    "claude-sonnet-4-5": _SONNET_4,
    "claude-sonnet-4-0": _SONNET_4,
    "claude-sonnet-4": _SONNET_4,
    "claude-3-7-sonnet": _SONNET_4,
    "claude-3-5-sonnet": _SONNET_4,
    "claude-haiku-5-5": _price(0.1, 0.5, long_factor=5),
    "claude-haiku-4-5": _price(1, 5),
    "claude-3-5-haiku": _price(0.8, 4),
    # The only one whose prices for the cache are rounded.
    "claude-3-haiku": Price(input=0.25, output=1.25, cache_read=0.03, cache_write=0.3, cache_write_1h=0.5),
}
# A cloud's name in front, a date, a release and the size of the context behind are no part of a model's name.
_NAME = re.compile(
    r"(?:[\w.-]+[./])?(claude-[a-z0-9-]+?)(?:[-@]\d{8})?(?:-latest)?(?:-v\d+(?::\d+)?)?(?:\[\w+\])?", re.IGNORECASE
)


def price_of(model: str | None, prices: Mapping[str, Price]) -> Price | None:
    """Return what a model charges, by its whole name or by the name without date and cloud; None where nobody knows."""
    if model is None or len(model) > MAX_NAME:
        return None
    if model in prices:
        return prices[model]
    match = _NAME.fullmatch(model)
    return prices.get(match.group(1).lower()) if match else None


def dollars(price: Price, tokens: Mapping[str, float], is_long: bool) -> float:
    """Return what tokens cost; they are named as in `Usage`, and those written for an hour are among all written."""
    hour = tokens.get("cache_write_1h", 0)
    sums = (
        price.input * tokens.get("input", 0),
        price.output * tokens.get("output", 0),
        price.cache_read * tokens.get("cache_read", 0),
        price.cache_write * max(0, tokens.get("cache_write", 0) - hour),
        price.cache_write_1h * hour,
    )
    return sum(sums) / _MILLION * (price.long_factor if is_long else 1.0)


def configured(table: object) -> Mapping[str, Price]:
    """Return the list with what the configuration says under `prices`; raises UsageError where that is no price.

    `input` and `output` must be there for a model that is not listed; the cache costs what it does for most models
    (a tenth of new input to read, 1.25 times to write, twice that for an hour) unless it is named, too.
    """
    if not table:
        return LIST
    if not isinstance(table, Mapping):
        raise _wrong("prices", table)
    return {**LIST, **{str(model): _told(str(model), fields) for model, fields in table.items()}}


def _told(model: str, fields: object) -> Price:
    known = [name for name in Price.__struct_fields__ if name != "long_factor"]
    if not isinstance(fields, Mapping) or not fields or not set(fields) <= set(known):
        raise _wrong(f"prices.{model}", fields)
    for name, value in fields.items():
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not is_number or not math.isfinite(value) or not 0 <= value <= MAX_PRICE:
            raise _wrong(f"prices.{model}.{name}", value)
    listed = price_of(model, LIST)
    told = {name: float(value) for name, value in fields.items()}
    if listed is None and not {"input", "output"} <= set(told):
        raise _wrong(f"prices.{model}", dict(fields))
    if listed is None or "input" in told:
        # What the cache costs follows from new input.
        listed = _price(told["input"], listed.output if listed else 0.0)
    return msgspec.structs.replace(listed, **told)


def _wrong(name: str, value: object) -> UsageError:
    return UsageError(
        f"{name} in the configuration is no price: {str(value)[:80]}",
        'write dollars for a million tokens: [prices."claude-opus-5-5"] input = 4.0, output = 20.0, and, as you like,'
        " cache_read, cache_write, cache_write_1h",
    )
