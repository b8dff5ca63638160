"""Counts tokens for Claude with the only tokenizer that Anthropic has published, which litellm ships."""

from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from itertools import accumulate, chain
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.core.budget import Tokenizer
from inspector.tokens.count.tiktoken import TiktokenCounter
from inspector.tokens.manifest import sendable
from inspector.tokens.prices import tokenizer_folder

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer as Encoder

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
        return sum(len(encoding) for _, encoding in _encoded(self._encoder, text))

    def lengths(self, text: str) -> Sequence[int]:
        """See `TokenCounter`.

        The text is first normalized (NFKC), which may replace characters. Tokens of a replaced character
        share its original bytes, so some may get none, and the last token of a piece gets the rest.
        """
        if self._encoder is None:
            return self._estimate.lengths(text)
        encoded = _encoded(self._encoder, text)
        return list(chain.from_iterable(_lengths(piece, encoding) for piece, encoding in encoded))

    @cached_property
    def _encoder(self) -> "Encoder | None":
        folder = self._folder or tokenizer_folder()
        return None if folder is None else _load(folder / _FILE)


def is_claude(model: str) -> bool:
    """Whether a model is one of Anthropic's, whoever serves it; a model that runs locally never is."""
    name = model.lower()
    return not name.startswith(_LOCAL) and (name.startswith("anthropic/") or "claude" in name)


@cache
def _load(path: Path) -> "Encoder | None":
    try:
        from tokenizers import Tokenizer as Encoder

        encoder = Encoder.from_file(str(path))
        encoder.encode_special_tokens = True
    except Exception:  # the package raises plain exceptions for any problem with a file
        return None
    return encoder


def _encoded(encoder: "Encoder", text: str) -> Iterator[tuple[str, "Encoding"]]:
    clean = sendable(text)
    for start in range(0, len(clean), _PIECE):
        piece = clean[start : start + _PIECE]
        yield piece, encoder.encode(piece, add_special_tokens=False)


def _lengths(text: str, encoding: "Encoding") -> list[int]:
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
