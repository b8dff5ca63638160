"""Prices from the list that litellm ships."""

import importlib.util
import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache, cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from inspector.core.budget import Prices

Models = Mapping[str, Any]
"""litellm's list of models: what it knows about each, by name."""


def tokenizer_folder() -> Path | None:
    """The folder of the token encodings; None if there is none."""
    folder = _inside("litellm_core_utils", "tokenizers")
    return folder if folder is not None and folder.is_dir() else None


def model_file() -> Path | None:
    """The file that lists models, their windows and their prices; None without litellm."""
    return _inside("model_prices_and_context_window_backup.json")


@cache
def shipped_models() -> Models:
    """The list that litellm ships, read once; empty if it cannot be read."""
    path = model_file()
    return {} if path is None else read_models(path)


def read_models(path: Path) -> Models:
    """Read a list of models in litellm's format; empty if it cannot be read."""
    try:
        models = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return models if isinstance(models, dict) else {}


def model_entry(models: Models, name: str) -> Mapping[str, Any]:
    """The model's entry under its name, or its name without leading prefixes; empty if there is none."""
    parts = name.split("/")
    names = ("/".join(parts[start:]) for start in range(len(parts)))
    entry: Any = next((models[known] for known in names if known in models), {})
    return entry if isinstance(entry, dict) else {}


def _inside(*parts: str) -> Path | None:
    spec = importlib.util.find_spec("litellm")
    return None if spec is None or spec.origin is None else Path(spec.origin).parent.joinpath(*parts)


_INPUT = "input_cost_per_token"
_OUTPUT = "output_cost_per_token"
_MINIMUM = "prompt_cache_min_tokens"
_OPTIONAL = {
    "cache_read": "cache_read_input_token_cost",
    "cache_write": "cache_creation_input_token_cost",
    "cache_write_hour": "cache_creation_input_token_cost_above_1hr",
}


class LitellmPrices:
    """A PriceList from a file in litellm's format; by default the one that litellm ships.

    These are providers' standard prices, not batch or priority prices, and not the higher prices that some
    providers charge for requests above a certain length. The list is as old as litellm.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path

    def prices(self, model: str) -> Prices | None:
        """See `PriceList`. Also None for an entry without valid prices, and for a model served elsewhere.

        `ollama/deepseek-chat` does not cost what DeepSeek charges for `deepseek-chat`.
        """
        if model.startswith("demo/"):
            return None
        entry = model_entry(self._models, model)
        if model not in self._models and not _is_served_by(entry, model):
            return None
        given: dict[str, Any] = {name: entry.get(name) for name in (_INPUT, _OUTPUT, *_OPTIONAL.values())}
        known = {name: cost for name, cost in given.items() if _is_price(cost)}
        nonsense = any(cost is not None and name not in known for name, cost in given.items())
        if nonsense or _INPUT not in known or _OUTPUT not in known:
            return None
        cached = {field: known.get(name) for field, name in _OPTIONAL.items()}
        # The list has some numbers of tokens as floats.
        minimum: Any = entry.get(_MINIMUM)
        return Prices(
            model,
            known[_INPUT],
            known[_OUTPUT],
            **cached,
            cache_minimum=int(minimum) if _is_price(minimum) else None,
            source=self._source,
            date=self._date,
        )

    @cached_property
    def _models(self) -> Models:
        return shipped_models() if self._path is None else read_models(self._path)

    @cached_property
    def _source(self) -> str:
        try:
            return f"litellm {version('litellm')}'s price list"
        except PackageNotFoundError:
            return "litellm's price list"

    @cached_property
    def _date(self) -> str:
        """The file's date on this machine: the list itself has no date."""
        path = self._path or model_file()
        try:
            written = path.stat().st_mtime if path is not None else None
        except OSError:
            written = None
        return "" if written is None else f"as installed on {datetime.fromtimestamp(written, UTC):%Y-%m-%d}"


def _is_served_by(entry: Mapping[str, Any], model: str) -> bool:
    """Whether the name has the entry's provider as a prefix; `bedrock_converse` counts as `bedrock`."""
    provider = entry.get("litellm_provider")
    prefixes = tuple(prefix for prefix in model.split("/")[:-1] if prefix)
    return isinstance(provider, str) and bool(prefixes) and provider.startswith(prefixes)


def _is_price(cost: Any) -> bool:
    if isinstance(cost, bool) or not isinstance(cost, int | float):
        return False
    try:
        return math.isfinite(cost) and cost >= 0
    except OverflowError:
        return False
