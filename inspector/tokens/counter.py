"""Counts tokens offline: with tiktoken, with the only tokenizer published for Claude, and out of memory.

litellm ships the encodings that they need.
"""

import os
import re
from array import array
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache, cached_property
from hashlib import sha256
from itertools import accumulate, chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.core.budget import Tokenizer
from inspector.core.error import ModelError, StoreError
from inspector.core.memory import give_back
from inspector.core.ports import TokenCounter
from inspector.store.database import SqliteDatabase
from inspector.tokens.accounting import tokenizer_folder
from inspector.tokens.manifest import sendable

if TYPE_CHECKING:
    from tiktoken import Encoding
    from tokenizers import Encoding as ClaudeEncoding, Tokenizer as Encoder

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
        encoding = tiktoken.get_encoding(name)
    except (OSError, ValueError) as error:
        cache = os.environ.get("TIKTOKEN_CACHE_DIR", "")
        hint = f"It is not in TIKTOKEN_CACHE_DIR ({cache}) and cannot be downloaded; unset that variable."
        raise ModelError(f"the token encoding {name} cannot be loaded", hint=hint) from error
    # What encodes has a copy of its own: of 200,000 pieces this one takes 30 MB.
    encoding._mergeable_ranks.clear()
    give_back()
    return encoding


CLAUDE_2 = Tokenizer("anthropic (Claude 2)", exact=False)
_FILE = "anthropic_tokenizer.json"
_LOCAL = ("demo/", "ollama/", "ollama_chat/", "lm_studio/", "llamafile/", "vllm/", "hosted_vllm/")
# Normalization can turn one character into 18; working piece by piece keeps memory small.
_PIECE = 20_000


class AnthropicCounter:
    """Counts as Claude 2 did, which is an estimate: later models' tokenizers are not published.

    If the file or the package that reads it is missing, counts are o200k_base's and are labelled as such.
    """

    def __init__(self, model: str, folder: Path | None = None) -> None:
        """`folder` holds `anthropic_tokenizer.json`; by default litellm's."""
        self._estimate = TiktokenCounter(model)
        self._folder = folder

    @property
    def tokenizer(self) -> Tokenizer:
        return self._estimate.tokenizer if self._encoder is None else CLAUDE_2

    def count(self, text: str) -> int:
        """The number of tokens in a text; special tokens count as ordinary text."""
        if self._encoder is None:
            return self._estimate.count(text)
        return sum(len(encoding) for _, encoding in _claude_pieces(self._encoder, text))

    def lengths(self, text: str) -> Sequence[int]:
        """See `TokenCounter`.

        The text is first normalized (NFKC), which may replace characters. Tokens of a replaced character
        share its original bytes, so some may get none, and the last token of a piece gets the rest.
        """
        if self._encoder is None:
            return self._estimate.lengths(text)
        encoded = _claude_pieces(self._encoder, text)
        return list(chain.from_iterable(_lengths(piece, encoding) for piece, encoding in encoded))

    @cached_property
    def _encoder(self) -> "Encoder | None":
        folder = self._folder or tokenizer_folder()
        return None if folder is None else _load_claude(folder / _FILE)


def is_claude(model: str) -> bool:
    """Whether a model is one of Anthropic's, whoever serves it; a model that runs locally never is."""
    name = model.lower()
    return not name.startswith(_LOCAL) and (name.startswith("anthropic/") or "claude" in name)


@cache
def _load_claude(path: Path) -> "Encoder | None":
    try:
        from tokenizers import Tokenizer as Encoder

        encoder = Encoder.from_file(str(path))
        encoder.encode_special_tokens = True
    except Exception:  # the package raises plain exceptions for any problem with a file
        return None
    return encoder


def _claude_pieces(encoder: "Encoder", text: str) -> Iterator[tuple[str, "ClaudeEncoding"]]:
    clean = sendable(text)
    for start in range(0, len(clean), _PIECE):
        piece = clean[start : start + _PIECE]
        yield piece, encoder.encode(piece, add_special_tokens=False)


def _lengths(text: str, encoding: "ClaudeEncoding") -> list[int]:
    """How many bytes of the original text each token covers; a token's string has one character per byte."""
    reached = [0, *accumulate(len(character.encode()) for character in text)]
    offsets = encoding.offsets
    following = [*(start for start, _ in offsets[1:]), len(text)]
    lengths, position = [], 0
    for token, (_, end), next_start in zip(encoding.tokens, offsets, following, strict=True):
        wanted = max(position + len(token), reached[next_start])
        lengths.append(max(min(wanted, reached[end]) - position, 0))
        position += lengths[-1]
    lengths[-1] += reached[-1] - position
    return lengths


# What earlier sessions counted: a command that only lists need not load an encoding for half a second.

_KEPT = 10_000
_FIND = "SELECT lengths FROM token_lengths WHERE tokenizer = ? AND text = ?"
_KEEP = "INSERT OR REPLACE INTO token_lengths (tokenizer, text, lengths) VALUES (?, ?, ?)"
_FORGET = "DELETE FROM token_lengths WHERE rowid <= (SELECT max(rowid) FROM token_lengths) - ?"
_UNSIGNED_SHORT = "H"


class RememberedLengths:
    """A TokenCounter that asks another one for texts that were never counted with its tokenizer.

    A database that fails is as good as an empty one. It keeps the `kept` newest texts, as hashes.
    """

    def __init__(self, counter: TokenCounter, path: Path, *, kept: int = _KEPT) -> None:
        self._counter = counter
        self._kept = kept
        self._database = SqliteDatabase(path)

    @property
    def tokenizer(self) -> Tokenizer:
        return self._counter.tokenizer

    def count(self, text: str) -> int:
        """The number of tokens of a text."""
        return len(self.lengths(text))

    def lengths(self, text: str) -> Sequence[int]:
        """See `TokenCounter`."""
        key = sha256(text.encode("utf-8", "surrogatepass")).digest()
        with suppress(StoreError):
            for (stored,) in self._database.rows(_FIND, (self.tokenizer.name, key)):
                return array(_UNSIGNED_SHORT, stored).tolist()
        lengths = self._counter.lengths(text)
        with suppress(StoreError, OverflowError), self._database.transaction() as connection:
            kept = array(_UNSIGNED_SHORT, lengths).tobytes()
            connection.execute(_KEEP, (self.tokenizer.name, key, kept))
            connection.execute(_FORGET, (self._kept,))
        return lengths
