"""The token meter and the prices for the session's model."""

import asyncio
from collections.abc import Callable, Sequence

from inspector.core.breakpoint import FIVE_MINUTES, Ttl
from inspector.core.budget import ToolCost
from inspector.core.live import LiveModel
from inspector.core.ports import PriceList, TokenCounter
from inspector.core.price import Prices, cache_terms
from inspector.core.prompt_cache import UNCACHED, CacheTerms
from inspector.core.tool import Tool
from inspector.schema.model_feature import ModelFeatures
from inspector.tokens.count.measure import BudgetMeter


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
        await asyncio.to_thread(_counted, meter, tools)
        self.meter = meter
        on_counted()

    def count(self, tools: Sequence[Tool]) -> int:
        """Tokens of the definitions. Thread-safe."""
        return _counted(self.meter, tools)

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


def _counted(meter: BudgetMeter, tools: Sequence[Tool]) -> int:
    return sum(meter.tool(tool) for tool in tools)
