"""Models other than the session's: token counts and prices under them, and which this machine offers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from inspector.core.budget import Prices
from inspector.core.ports import ChatModel, LocalModels, TokenCounter
from inspector.core.stream import LiveSettings
from inspector.core.tool import Tool
from inspector.tokens.count.measure import BudgetMeter

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
