"""Token counts and prices of the session's model."""

import asyncio
import importlib.util
import math
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from msgspec import Raw, json

from inspector.core.budget import Prices, ToolCost, cache_terms
from inspector.core.number import count, money
from inspector.core.ports import TokenCounter
from inspector.core.prompt_cache import FIVE_MINUTES, UNCACHED, CacheTerms, Charge, Ttl
from inspector.core.session import CallCost
from inspector.core.stream import LiveModel
from inspector.core.tool import Tool
from inspector.schema.json_value import as_object
from inspector.schema.schema import ModelFeatures
from inspector.tokens.measure import BudgetMeter


class Accounting:
    """Counts and prices tokens for the session's model, with a meter per tokenizer and features."""

    def __init__(
        self, counter_for: Callable[[str], TokenCounter], prices: "LitellmPrices", live: LiveModel
    ) -> None:
        self._counter_for = counter_for
        self._prices = prices
        self._live = live
        self._meters: dict[tuple[str, ModelFeatures], BudgetMeter] = {}
        self.meter = self._meter_of_model()

    async def use_model(self, tools: Sequence[Tool], on_counted: Callable[[], None]) -> None:
        """Switch to the current model's meter and call `on_counted` once it has counted these tools."""
        meter = self._meter_of_model()
        await asyncio.to_thread(meter.static, tools)
        self.meter = meter
        on_counted()

    def count(self, tools: Sequence[Tool]) -> int:
        """Tokens of the definitions. Thread-safe."""
        return self.meter.static(tools)

    def cost(self, tool: Tool) -> ToolCost:
        """Tokens of one definition by part."""
        return self.meter.cost(tool)

    def warm(self) -> None:
        """Load tokenizer and prices, which takes some hundred milliseconds. Thread-safe."""
        self.meter.text("warm")
        self.prices()

    def prices(self, model: str = "") -> Prices | None:
        """The prices of a model, by default the session's, or else of `budget.priced_as`."""
        own = self._prices.prices(model or self._live.model.name)
        return own if own is not None else self._prices.prices(self._live.settings.budget.priced_as)

    @property
    def terms(self) -> CacheTerms:
        """The prompt cache terms of the session's model; none if it caches marks only and they are off."""
        features = self._live.features
        if features.breakpoints and self.ttl is None:
            return UNCACHED
        return cache_terms(self.prices(), features, self.ttl or FIVE_MINUTES)

    @property
    def ttl(self) -> Ttl | None:
        """How long the model keeps what a request marks; None if it takes no marks or they are off.

        An hour needs a price.
        """
        chosen = self._live.settings.budget.prompt_cache
        if not self._live.features.breakpoints or chosen == "off":
            return None
        prices = self.prices()
        return FIVE_MINUTES if prices is not None and prices.hour_terms is None else chosen

    def _meter_of_model(self) -> BudgetMeter:
        counter = self._counter_for(self._live.model.name)
        known = counter.tokenizer.label, self._live.features
        if known not in self._meters:
            self._meters[known] = BudgetMeter(counter, lambda: self._live.window, known[1])
        return self._meters[known]


Models = Mapping[str, Any]
"""litellm's list of models: what it knows about each, by name, as an object or as its JSON."""


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
        # Of thousands of models few are asked for: as objects they all take eight times the memory.
        return json.decode(path.read_bytes(), type=dict[str, Raw])
    except (OSError, ValueError, RecursionError):
        return {}


def model_entry(models: Models, name: str) -> Mapping[str, Any]:
    """The model's entry under its name, or its name without leading prefixes; empty if there is none."""
    parts = name.split("/")
    names = ("/".join(parts[start:]) for start in range(len(parts)))
    entry: Any = next((models[known] for known in names if known in models), {})
    try:
        return as_object(json.decode(entry) if isinstance(entry, Raw) else entry)
    except (ValueError, RecursionError):
        return {}


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


_COSTS = (_INPUT, _OUTPUT, *_OPTIONAL.values())


class LitellmPrices:
    """Prices of models from a file in litellm's format; by default the one that litellm ships.

    These are providers' standard prices, not batch or priority prices, and not the higher prices that some
    providers charge for requests above a certain length. The list is as old as litellm.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path

    def prices(self, model: str) -> Prices | None:
        """The prices of a model by its litellm name, None if they are not known; never uses the network.

        Nor is a model known that is served elsewhere: `ollama/deepseek-chat` has no price of DeepSeek.
        """
        if model.startswith("demo/"):
            return None
        entry = model_entry(self._models, model)
        if model not in self._models and not _is_served_by(entry, model):
            return None
        known = {name: cost for name in _COSTS if (cost := entry.get(name)) is not None}
        if not all(map(_is_price, known.values())) or not known.keys() >= {_INPUT, _OUTPUT}:
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
        from importlib.metadata import PackageNotFoundError, version

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
    return not isinstance(cost, bool) and isinstance(cost, int | float) and 0 <= cost < math.inf


# What a provider reports of a model call, beside what was computed. Until it reports there is only the
# computed side, and texts say so.


def reported_hit_rate(cost: CallCost) -> float | None:
    """The share of the reported input that was read from the cache (0 to 1); None if it is not reported."""
    if not cost.reported_input or cost.reported_read is None:
        return None
    return cost.reported_read / cost.reported_input


def reported_dollars(cost: CallCost, prices: Prices) -> float | None:
    """US dollars for the reported tokens; None until the input is reported.

    Tokens written for an hour have their own price. What the cache did counts as 0 if it is not reported.
    """
    if cost.reported_input is None:
        return None
    read, written = cost.reported_read or 0, cost.reported_written or 0
    hour = min(cost.reported_written_hour or 0, written)
    plain = max(cost.reported_input - read - written, 0)
    spent = prices.cost(Charge(read, written - hour, plain), prices.terms, cost.reported_output or 0)
    return spent + prices.cost(Charge(written=hour), prices.hour_terms or prices.terms)


def computed_dollars(cost: CallCost, prices: Prices) -> float:
    """US dollars for a call as computed, with its answer as reported or else as counted."""
    output = cost.answer if cost.reported_output is None else cost.reported_output
    return prices.cost(cost.charge, cost.terms, output)


def spent(costs: Sequence[CallCost], prices: Prices) -> tuple[str, str]:
    """What calls cost together as computed, and beside it their number and what is reported."""
    amounts = [reported_dollars(cost, prices) for cost in costs]
    told = [amount for amount in amounts if amount is not None]
    reported = f", {money(sum(told))} reported for {count(len(told), 'call')}" if told else ""
    computed = sum(computed_dollars(cost, prices) for cost in costs)
    return money(computed), f"{count(len(costs), 'call')}, computed{reported}"


def input_line(cost: CallCost) -> str:
    """The input as computed and as reported, on one line."""
    charge = cost.charge
    computed = f"computed {_input(cost.parts.input, charge.read, charge.written)}"
    if cost.reported_input is None:
        return f"{computed}; the provider reports nothing"
    return f"{computed}; reported {_input(cost.reported_input, cost.reported_read, cost.reported_written)}"


def answer_line(cost: CallCost) -> str:
    """The answer as reported; empty until it is."""
    if cost.reported_output is None:
        return ""
    thought = f", {cost.reported_reasoning:,} of them reasoning" if cost.reported_reasoning else ""
    return f"answer: {count(cost.reported_output, 'token')} reported{thought}"


def _input(tokens: int, read: int | None, written: int | None) -> str:
    cached = [
        f"{number:,} {what}" for number, what in ((read, "read"), (written, "written")) if number is not None
    ]
    return f"{tokens:,} ({', '.join(cached)})" if cached else f"{tokens:,}"
