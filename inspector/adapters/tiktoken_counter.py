"""Token counts by tiktoken, offline: litellm ships the two encodings that are needed."""

import importlib.util
import os
import re
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.domain.budget import Tokenizer

if TYPE_CHECKING:
    from tiktoken import Encoding

DEFAULT_ENCODING = "o200k_base"
_O200K = ("gpt-5", "gpt-4.5", "gpt-4.1", "gpt-4o", "chatgpt-4o", "o1", "o3", "o4")
_CL100K = ("gpt-4", "gpt-3.5")
# tiktoken dies of a stack overflow on some 100,000 spaces in a row; only such runs are cut.
_SPACES = re.compile(r"\s{5000}")


class TiktokenCounter:
    """Counts as a model's own tokenizer does, or (labelled an estimate) as o200k_base does.

    The stand-ins `demo/…` have no tokenizer: for them the count is an exact number of o200k_base tokens.
    """

    def __init__(self, model: str) -> None:
        self.tokenizer = tokenizer_for(model)
        self._encoding: Encoding | None = None

    def count(self, text: str) -> int:
        """The number of tokens of a text; special tokens in it are text like any other."""
        if not text:
            return 0
        if self._encoding is None:
            self._encoding = _load(self.tokenizer.name)
        # Lone surrogates cannot be sent to a provider either; both end as U+FFFD.
        clean = text.encode("utf-8", "replace").decode("utf-8")
        encode = self._encoding.encode_ordinary
        cuts = [0, *(found.end() for found in _SPACES.finditer(clean)), len(clean)]
        return sum(len(encode(clean[start:end])) for start, end in pairwise(cuts))


def tokenizer_for(model: str) -> Tokenizer:
    """The encoding of a model by name, without importing tiktoken."""
    provider, _, name = model.rpartition("/")
    if provider == "demo" or model.startswith("demo/"):
        return Tokenizer(DEFAULT_ENCODING, exact=True)
    if provider in ("", "openai", "azure", "openrouter/openai"):
        if name.startswith(_O200K):
            return Tokenizer("o200k_base", exact=True)
        if name.startswith(_CL100K):
            return Tokenizer("cl100k_base", exact=True)
    return Tokenizer(DEFAULT_ENCODING, exact=False)


def _load(name: str) -> "Encoding":
    """The encoding from litellm's files, unless the user has chosen another cache."""
    if "TIKTOKEN_CACHE_DIR" not in os.environ and (folder := _shipped()) is not None:
        os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    import tiktoken

    return tiktoken.get_encoding(name)


def _shipped() -> Path | None:
    """Where litellm keeps its encodings, found without importing it (that takes seconds)."""
    spec = importlib.util.find_spec("litellm")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "litellm_core_utils" / "tokenizers"
    return folder if folder.is_dir() else None
