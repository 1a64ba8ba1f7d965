"""How ids look inside the catalog: uuids as 16 bytes, part ids as text."""

import re
from functools import lru_cache

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}").fullmatch

Key = bytes | str


def uuid_key(uuid: str) -> Key:
    """Shorten a uuid to its bytes; anything else stays as it is."""
    return bytes.fromhex(uuid.replace("-", "")) if _UUID(uuid) else uuid


def uuid_text(key: Key) -> str:
    """Write a key as it stood in the transcript."""
    if isinstance(key, str):
        return key
    digits = key.hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def optional_text(key: Key | None) -> str | None:
    """Write a key that may be missing."""
    return None if key is None else uuid_text(key)


@lru_cache(1024)
def response_key(response: str) -> int:
    """Shorten a message id to a number, since it is needed only to tell responses apart."""
    # Takes longer to import than a search takes, and only those who write need it.
    import hashlib

    return int.from_bytes(hashlib.blake2b(response.encode(), digest_size=8).digest(), "big", signed=True)


def response_text(key: int) -> str:
    """Write the number of a response as its records' links do."""
    return f"{key & (1 << 64) - 1:016x}"


def part_id(uuid: Key, block: int, variant: int) -> str:
    """Name a part; a variant is another text under the same uuid and block."""
    name = f"{uuid_text(uuid)}#{block}"
    return f"{name}.{variant:x}" if variant else name


def parse_part_id(name: str) -> tuple[Key, int, int] | None:
    """Read a part's name back; None where it is not one."""
    uuid, _, rest = name.rpartition("#")
    block, _, variant = rest.partition(".")
    try:
        return uuid_key(uuid), int(block), int(variant, 16) if variant else 0
    except ValueError:
        return None


def variant_of(digest: int) -> int:
    """Derive a variant's number from its text, so that it does not depend on which came first."""
    return (digest & 0xFFFFFFFF) or 1
