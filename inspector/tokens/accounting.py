"""Token counts and prices of the session's model, and of the other models that this machine offers."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from inspector.core.budget import Prices, ToolCost, cache_terms
from inspector.core.ports import ChatModel, LocalModels, PriceList, TokenCounter
from inspector.core.prompt_cache import FIVE_MINUTES, UNCACHED, CacheTerms, Ttl
from inspector.core.stream import LiveModel, LiveSettings
from inspector.core.tool import Tool
from inspector.schema.schema import ModelFeatures
from inspector.tokens.measure import BudgetMeter


class Accounting:
    """Counts and prices tokens for the session's model, with a meter per tokenizer and features."""

    def __init__(
        self,
        counter_for: Callable[[str], TokenCounter],
        prices: PriceList,
        live: LiveModel,
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
            self._meters[known] = BudgetMeter(counter, self._live, known[1])
        return self._meters[known]


_REPORT_EVERY = 25


@dataclass(frozen=True, slots=True)
class OtherModel:
    """A model other than the session's: its meter and its prices."""

    name: str
    meter: BudgetMeter
    prices: Prices | None


@dataclass(frozen=True, slots=True)
class _OtherWindow:
    """The window of another model, with the session's warning threshold."""

    window: int
    live: LiveSettings

    @property
    def warn_at(self) -> float:
        return self.live.settings.budget.warn_at


class OtherModels:
    """Creates one meter per model name; they warn at the same share as the session's."""

    def __init__(
        self,
        model_for: Callable[[str], ChatModel],
        counter_for: Callable[[str], TokenCounter],
        prices: Callable[[str], Prices | None],
        live: LiveSettings,
        local: LocalModels,
    ) -> None:
        self._model_for = model_for
        self._counter_for = counter_for
        self._prices = prices
        self._live = live
        self.local = local
        self._known: dict[str, OtherModel] = {}

    def check(self, name: str) -> None:
        """Raises ModelError if no model can have this name."""
        self._model_for(name)

    def named(self, name: str) -> OtherModel:
        """The model with this name. Raises ModelError."""
        if name not in self._known:
            model = self._model_for(name)
            window = _OtherWindow(model.window, self._live)
            meter = BudgetMeter(self._counter_for(name), window, model.features)
            self._known[name] = OtherModel(name, meter, self._prices(name))
        return self._known[name]


def count_definitions(
    meter: BudgetMeter,
    tools: Sequence[Tool],
    progress: Callable[[int, int], None],
    stopped: Callable[[], bool],
) -> bool:
    """Count what a meter has not counted yet, in any thread; return False if stopped before the end."""
    left = meter.uncounted(tools)
    for done, tool in enumerate(left):
        if done % _REPORT_EVERY == 0:
            progress(done, len(left))
        if stopped():
            return False
        meter.tool(tool)
    return True
