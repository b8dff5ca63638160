"""How much of a text is indexed and embedded, and the key that its vector is kept under."""

from hashlib import blake2b

# Caps the cost of indexing: a megabyte of description would otherwise take a second.
MAX_INDEXED = 20_000
# The encoder reads 256 tokens, which hold fewer characters than this.
MAX_EMBEDDED = 2_000

Key = bytes


def key_of(text: str) -> Key:
    """The content hash under which a vector is stored."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
