"""The token budget of one model request, the prices of a model, and what static binding would have cost."""

import math
from collections.abc import Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from inspector.core.number import percent, saving, tokens
from inspector.core.prompt_cache import FIVE_MINUTES, HOUR, UNCACHED, CacheTerms, Charge, Ttl
from inspector.core.report import NUMBER, Column, Table
from inspector.schema.schema import ModelFeatures

HOUR_SECONDS = 3600.0
# The share of the window from which on models lose the thread of a task (Tool Attention, section 3.3).
WARN_AT = 0.7
# Price ratios are rounded, so that 1.25e-07 / 1.25e-06 is exactly 0.1.
_DIGITS = 6


class Prices(Struct, frozen=True):
    """US dollars per token. Cache prices are None if the provider lists none.

    `cache_minimum` is the shortest prefix that the model's cache keeps, in tokens; None if it is not listed.
    `source` names the price list and `date` its day, both for people.
    """

    model: str
    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None
    cache_write_hour: float | None = None
    cache_minimum: int | None = None
    source: str = ""
    date: str = ""

    @property
    def terms(self) -> CacheTerms:
        """The terms of this model's prompt cache.

        Without a write price, writes cost as much as input; without a read price there is no cache.
        """
        if self.cache_read is None or not self.input:
            return UNCACHED
        write = self.input if self.cache_write is None else self.cache_write
        return self._terms(write, self.cache_read)

    @property
    def hour_terms(self) -> CacheTerms | None:
        """The same for prefixes that live an hour; None if they have no price."""
        if self.cache_read is None or self.cache_write_hour is None or not self.input:
            return None
        return replace(self._terms(self.cache_write_hour, self.cache_read), ttl_seconds=HOUR_SECONDS)

    def _terms(self, write: float, read: float) -> CacheTerms:
        terms = CacheTerms(write=self._multiple(write), read=self._multiple(read))
        return terms if self.cache_minimum is None else replace(terms, minimum=self.cache_minimum)

    def _multiple(self, price: float) -> float:
        return round(price / self.input, _DIGITS)

    def cost(self, charge: Charge, terms: CacheTerms, output: int = 0) -> float:
        """US dollars for a request's input, charged on `terms`, plus `output` tokens of answer."""
        return charge.billed(terms) * self.input + output * self.output


def cache_terms(prices: Prices | None, features: ModelFeatures, ttl: Ttl = FIVE_MINUTES) -> CacheTerms:
    """The terms of a model's prompt cache: none without prices, an hour only if it has a price."""
    terms = UNCACHED
    if prices is not None:
        terms = (prices.hour_terms if ttl == HOUR else None) or prices.terms
    return replace(terms, marked=True) if features.breakpoints and terms != UNCACHED else terms


class TokenParts(Struct, frozen=True, gc=False):
    """Tokens of one request by part.

    `meta` counts the definitions that Toolsight adds (search_tools, call_tool), without the `manifest`
    inside. `system` is the system prompt without the servers' `instructions` and a gate's tool summaries, the
    `pool`. `searches` counts the model's searches and their results; `history` the rest of the conversation.
    """

    system: int = 0
    history: int = 0
    tools: int = 0
    meta: int = 0
    output_reserve: int = 0
    manifest: int = 0
    pool: int = 0
    searches: int = 0
    instructions: int = 0

    @property
    def input(self) -> int:
        """Tokens sent."""
        return self.prompt + self.history + self.discovery_tokens

    @property
    def by_name(self) -> Mapping[str, int]:
        """The tokens of each part, in the order in which they are sent."""
        return {
            "system": self.system,
            "instructions": self.instructions,
            "summary pool": self.pool,
            "search_tools": self.meta,
            "manifest": self.manifest,
            "tools": self.tools,
            "searches": self.searches,
            "history": self.history,
            "output reserve": self.output_reserve,
        }

    @property
    def prompt(self) -> int:
        """Tokens of the system prompt with the servers' instructions, without tool summaries."""
        return self.system + self.instructions

    @property
    def used(self) -> int:
        """Tokens sent plus those reserved for the answer."""
        return self.input + self.output_reserve

    @property
    def tool_tokens(self) -> int:
        """Tokens that describe tools before the conversation starts: definitions, manifest, summaries."""
        return self.tools + self.meta + self.manifest + self.pool

    @property
    def discovery_tokens(self) -> int:
        """All tokens spent because of tools, including the searches in the conversation."""
        return self.tool_tokens + self.searches


class ToolCost(Struct, frozen=True):
    """Tokens of one definition by part. `framing` is the JSON around name, description and schema.

    `chars` is the length of those three in characters.
    """

    name: int
    description: int
    schema: int
    framing: int
    chars: int

    @property
    def tokens(self) -> int:
        return self.name + self.description + self.schema + self.framing

    @property
    def estimate(self) -> int:
        """c(t) ≈ (|name| + |description| + |schema|) / 4 (semantic tool discovery, equation 3)."""
        return round(self.chars / CHARACTERS_PER_TOKEN)

    @property
    def error(self) -> float:
        """Relative error of the estimate: -0.1 is ten percent too low."""
        return self.estimate / self.tokens - 1 if self.tokens else 0.0


CHARACTERS_PER_TOKEN = 4


class Tokenizer(Struct, frozen=True):
    """How tokens were counted. `exact` is false if the model's own tokenizer is unknown."""

    name: str = "o200k_base"
    exact: bool = False

    @property
    def label(self) -> str:
        return f"{self.name}, {'exact' if self.exact else 'estimate'}"


class Budget(Struct, frozen=True):
    """One request against its window. `static_tools` is what binding every permitted tool would cost."""

    window: int
    parts: TokenParts
    static_tools: int
    tokenizer: Tokenizer = Tokenizer()
    warn_at: float = WARN_AT

    @property
    def fraction(self) -> float:
        """Share of the window in use: 0 to 1, or more on overflow."""
        return self.parts.used / self.window if self.window > 0 else 0.0

    @property
    def saved(self) -> int:
        """Tokens saved over static binding, net of searches; negative if discovery costs more."""
        return self.static_tools - self.parts.discovery_tokens

    @property
    def saved_fraction(self) -> float:
        return self.saved / self.static_tools if self.static_tools else 0.0

    @property
    def is_tight(self) -> bool:
        return self.fraction >= self.warn_at

    @property
    def rho(self) -> float:
        """Effective context utilization of this request: the share left for the task itself."""
        return utilization(self.parts.history, self.parts.discovery_tokens, self.parts.prompt)

    @property
    def static_rho(self) -> float:
        """The same with every permitted tool bound and no search."""
        return utilization(self.parts.history, self.static_tools, self.parts.prompt)


def utilization(task: float, tax: float, system: float) -> float:
    """rho = C_task / (C_task + T_tax + C_sys), in tokens (Tool Attention, equation 3); 0 if all are 0.

    The paper defines T_tax over a session (equation 2). Against one window only the request's own tax makes
    sense, since earlier requests take no room in this one. Toolsight uses that reading wherever it shows rho.
    """
    total = task + tax + system
    return task / total if total else 0.0


def tools_tax(tokens_per_turn: float, turns: int) -> float:
    """T_tax(N, K): K turns times the tokens of all N definitions (Tool Attention, equation 2).

    The paper's turn is one request.
    """
    return turns * tokens_per_turn


def turns_left(budget: Budget, growth: float) -> int | None:
    """Model calls until the window is full if each adds `growth` tokens; None if it never fills."""
    room = budget.window - budget.parts.used
    if growth <= 0:
        return None
    return max(0, math.floor(room / growth))


def budget_report(budget: Budget) -> Iterator[str | Table]:
    """The tokens of one request by part, and what all tools would take."""
    rows = {**budget.parts.by_name, "total": budget.parts.used}
    columns = Column("part", lambda row: row[0]), Column("tokens", lambda row: row[1], NUMBER)
    yield Table.of(columns, rows.items())
    yield f"{percent(budget.fraction)} of the {tokens(budget.window)}-token window"
    yield (
        f"static binding: {budget.static_tools:,} tool tokens; now {budget.parts.discovery_tokens:,}, "
        f"{saving(budget.saved_fraction)}   {budget.tokenizer.label}"
    )
