"""Counts tokens with tiktoken, offline: litellm ships the two encodings it needs."""

import os
import re
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from typing import TYPE_CHECKING

from inspector.core.budget import Tokenizer
from inspector.core.error import ModelError
from inspector.tokens.manifest import sendable
from inspector.tokens.prices import tokenizer_folder

if TYPE_CHECKING:
    from tiktoken import Encoding

DEFAULT_ENCODING = "o200k_base"
# From tiktoken's own tables. Names are matched with a hyphen appended, so `o1-` matches `o1` too.
_BEGINNINGS = {
    "o200k_base": ("gpt-5", "gpt-4.5-", "gpt-4.1-", "gpt-4o-", "chatgpt-4o-", "o1-", "o3-", "o4-mini-"),
    "cl100k_base": ("gpt-4-", "gpt-3.5-turbo-", "gpt-35-turbo-"),
}
_OPENAI = ("", "openai", "azure", "azure_ai", "github", "openrouter/openai")
# tiktoken overflows its stack on about 100,000 spaces in a row; only such runs are cut.
_LONG_RUN = 5_000
_SPACES = re.compile(rf"(?<!\s)\s{{{_LONG_RUN},}}")


class TiktokenCounter:
    """Counts with the model's own tokenizer or, labelled as an estimate, with o200k_base.

    The `demo/…` models have no tokenizer: their count is an exact number of o200k_base tokens.
    """

    def __init__(self, model: str) -> None:
        self.tokenizer = tokenizer_for(model)
        self._encoding: Encoding | None = None

    def count(self, text: str) -> int:
        """The number of tokens in a text; special tokens count as ordinary text."""
        return sum(len(tokens) for tokens in self._encoded(text))

    def lengths(self, text: str) -> Sequence[int]:
        """See `TokenCounter`. A character may span several tokens, so a token may not be valid text."""
        tokens = list(chain.from_iterable(self._encoded(text)))
        return [len(token) for token in self._loaded().decode_tokens_bytes(tokens)] if tokens else []

    def _encoded(self, text: str) -> Iterator[list[int]]:
        """The tokens, piece by piece."""
        if not text:
            return
        # Lone surrogates become question marks, as they do when they are sent to a provider.
        clean = sendable(text)
        encode = self._loaded().encode_ordinary
        runs = [range(match.start(), match.end(), _LONG_RUN) for match in _SPACES.finditer(clean)]
        cuts = [0, *chain.from_iterable(runs), len(clean)]
        for start, end in pairwise(cuts):
            yield encode(clean[start:end])

    def _loaded(self) -> "Encoding":
        if self._encoding is None:
            self._encoding = _load(self.tokenizer.name)
        return self._encoding


def tokenizer_for(model: str) -> Tokenizer:
    """The tokenizer for a model name, without importing tiktoken."""
    provider, _, name = model.rpartition("/")
    if provider == "demo" or model.startswith("demo/"):
        return Tokenizer(DEFAULT_ENCODING, exact=True)
    if provider in _OPENAI:
        name = name.removeprefix("ft:").partition(":")[0]
        for encoding, beginnings in _BEGINNINGS.items():
            if f"{name}-".startswith(beginnings):
                return Tokenizer(encoding, exact=True)
    return Tokenizer(DEFAULT_ENCODING, exact=False)


def _load(name: str) -> "Encoding":
    """Load the encoding from litellm's files, unless TIKTOKEN_CACHE_DIR is set. Raises ModelError."""
    if "TIKTOKEN_CACHE_DIR" not in os.environ and (folder := tokenizer_folder()) is not None:
        os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    import tiktoken

    try:
        return tiktoken.get_encoding(name)
    except (OSError, ValueError) as error:
        cache = os.environ.get("TIKTOKEN_CACHE_DIR", "")
        hint = f"It is not in TIKTOKEN_CACHE_DIR ({cache}) and cannot be downloaded; unset that variable."
        raise ModelError(f"the token encoding {name} cannot be loaded", hint=hint) from error
