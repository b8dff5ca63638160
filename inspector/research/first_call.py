"""Tool tokens in a first call, after a search, and when as many tools are loaded as the capacity allows.

What is counted are the compact definitions of the `tools` array as it is sent: the meta-tool with the
manifest, the always-include set, and the loaded tools.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from inspector.core.ports import TokenCounter
from inspector.core.settings import BindingSettings, DiscoverySettings, ManifestSettings
from inspector.core.tool import Tool, definition
from inspector.search.answer_text import found_text
from inspector.tokens.manifest import entries, fitted_manifest, search_tools_definition
from inspector.tokens.measure import BudgetMeter, FixedWindow

_WINDOW = 128_000
# A minimal tool, to measure the text that surrounds a search's results.
_SHORT = Tool("a", "b")


@dataclass(frozen=True, slots=True)
class FirstCall:
    """Tokens of one catalog with `pinned` tools always included.

    `first` is sent before any search, `found` after one search with the most results, `steady` when the
    session has loaded as many tools as it keeps; loaded tools have the deferred tools' mean size. `text` is
    what such a search returns, which stays in the conversation. `bare` is the meta-tool without a manifest,
    `manifest_limit` the setting (0: no limit).
    """

    tools: int
    pinned: int
    static: int
    first: int
    found: int
    steady: int
    bare: int
    text: int
    manifest_limit: int = 0

    @property
    def cut(self) -> float:
        """How much less the first call sends than static binding, 0 to 1."""
        return reduction(self.static, self.first)


def reduction(before: float, after: float) -> float:
    """(before - after) / before, or 0 if `before` is 0."""
    return (before - after) / before if before else 0.0


def meter_of(counter: TokenCounter) -> BudgetMeter:
    """A meter that counts with this tokenizer; the window does not matter here."""
    return BudgetMeter(counter, FixedWindow(_WINDOW))


def cheapest(tools: Sequence[Tool], count: int, meter: BudgetMeter) -> frozenset[str]:
    """The ids of the `count` tools with the smallest definitions."""
    return frozenset(tool.id for tool in sorted(tools, key=meter.tool)[:count])


def first_call(
    tools: Sequence[Tool],
    summaries: Mapping[str, str],
    meter: BudgetMeter,
    *,
    pinned: int = 0,
    manifest_limit: int | None = None,
) -> FirstCall:
    """Count a catalog with the default settings, but `manifest.max_tokens` if a limit is given."""
    always = cheapest(tools, pinned, meter)
    waiting = [tool for tool in tools if tool.id not in always]
    settings = ManifestSettings() if manifest_limit is None else ManifestSettings(manifest_limit)
    manifest = fitted_manifest(entries(waiting, summaries), settings, meter.text)
    static = meter.static(tools)
    definitions = [definition(tool) for tool in tools if tool.id in always]
    sent = [search_tools_definition(manifest.text), *definitions]
    first = sum(meter.entries(sent)) if waiting else static
    mean = sum(map(meter.tool, waiting)) / max(len(waiting), 1)
    results = min(DiscoverySettings().max_search_results, len(waiting))
    kept = min(BindingSettings().capacity, len(waiting))
    return FirstCall(
        tools=len(tools),
        pinned=len(always),
        static=static,
        first=first,
        found=round(first + results * mean),
        steady=round(first + kept * mean),
        bare=sum(meter.entries([search_tools_definition("")])),
        text=_result_text(waiting, results, meter),
        manifest_limit=settings.max_tokens,
    )


def _result_text(waiting: Sequence[Tool], results: int, meter: BudgetMeter) -> int:
    """Tokens of the text of a search with `results` tools of mean size."""
    if not waiting:
        return 0
    brief = DiscoverySettings().results == "brief"
    around = meter.text(found_text([_SHORT], (), brief=brief)) - meter.text(f"- {_SHORT.id}")
    mean = (meter.text(found_text(waiting, (), brief=brief)) - around) / len(waiting)
    return round(around + results * mean)


def reaching(
    tools: Sequence[Tool], summaries: Mapping[str, str], meter: BudgetMeter, *, pinned: int, cut: float
) -> FirstCall | None:
    """The first call with the largest `manifest.max_tokens`, in steps of ten, that reaches the cut.

    None if no manifest is short enough.
    """
    whole = first_call(tools, summaries, meter, pinned=pinned)
    if whole.cut >= cut:
        return whole

    def limited(limit: int) -> FirstCall:
        return first_call(tools, summaries, meter, pinned=pinned, manifest_limit=limit)

    limits = range(10, whole.first, 10)
    # A larger manifest budget never shows less, so the cut falls from the first limit to the last.
    reached = bisect_left(limits, True, key=lambda limit: limited(limit).cut < cut)
    return limited(limits[reached - 1]) if reached else None
