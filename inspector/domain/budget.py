"""The token budget of one model request, and what static binding would have cost."""

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TokenParts:
    """Tokens of one request by part.

    `meta` are the definitions that Toolsight adds (search_tools, call_tool) without the `manifest` in them;
    `pool` are the summaries that a gate keeps in the system prompt; `searches` are the model's searches and
    their results, which are part of the conversation, without what else is `history`.
    """

    system: int = 0
    history: int = 0
    tools: int = 0
    meta: int = 0
    output_reserve: int = 0
    manifest: int = 0
    pool: int = 0
    searches: int = 0

    @property
    def input(self) -> int:
        """What is sent."""
        return self.system + self.history + self.tools + self.meta + self.manifest + self.pool + self.searches

    @property
    def used(self) -> int:
        """What is sent, and what is kept free for the answer."""
        return self.input + self.output_reserve

    @property
    def tool_tokens(self) -> int:
        """What the model is told of tools before anything is said: definitions, manifest, summaries."""
        return self.tools + self.meta + self.manifest + self.pool

    @property
    def discovery_tokens(self) -> int:
        """Everything that is there because of tools, the searches in the conversation too."""
        return self.tool_tokens + self.searches


@dataclass(frozen=True, slots=True)
class ToolCost:
    """Tokens of one definition by part; `framing` is the JSON around the three. `chars` are theirs."""

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
        """How far the estimate is from the count: -0.1 is ten percent too few."""
        return self.estimate / self.tokens - 1 if self.tokens else 0.0


CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """How tokens were counted. `exact` is false where the model's own tokenizer is not known."""

    name: str = "o200k_base"
    exact: bool = False

    @property
    def label(self) -> str:
        return f"{self.name}, {'exact' if self.exact else 'estimate'}"


@dataclass(frozen=True, slots=True)
class Budget:
    """One request against its window, beside binding every permitted tool (`static_tools`)."""

    window: int
    parts: TokenParts
    static_tools: int
    tokenizer: Tokenizer = Tokenizer()
    warn_at: float = 0.7

    @property
    def fraction(self) -> float:
        """Share of the window in use (0 to 1, more when it overflows)."""
        return self.parts.used / self.window if self.window > 0 else 0.0

    @property
    def saved(self) -> int:
        """Tokens saved against static binding, searches paid for; negative when discovery costs more."""
        return self.static_tools - self.parts.discovery_tokens

    @property
    def saved_fraction(self) -> float:
        return self.saved / self.static_tools if self.static_tools else 0.0

    @property
    def is_tight(self) -> bool:
        return self.fraction >= self.warn_at

    @property
    def rho(self) -> float:
        """Effective context utilization of this request: what is there for the task itself."""
        return utilization(self.parts.history, self.parts.discovery_tokens, self.parts.system)

    @property
    def static_rho(self) -> float:
        """The same with every permitted tool bound, and nothing to search for."""
        return utilization(self.parts.history, self.static_tools, self.parts.system)


def utilization(task: float, tax: float, system: float) -> float:
    """rho = C_task / (C_task + T_tax + C_sys), in tokens (Tool Attention, equation 3); 0 of nothing.

    The equation's T_tax is defined over a session (equation 2); against a window only the tax of the request
    makes sense, since earlier requests take no room in this one. That reading is used wherever rho is shown.
    """
    total = task + tax + system
    return task / total if total else 0.0


def tools_tax(tokens_per_turn: float, turns: int) -> float:
    """T_tax(N, K) = K times the tokens of all N definitions (Tool Attention, equation 2)."""
    return turns * tokens_per_turn


def turns_left(budget: Budget, growth: float) -> int | None:
    """Model calls until the window is full, when each adds `growth` tokens; None where it never will be."""
    room = budget.window - budget.parts.used
    if growth <= 0:
        return None
    return max(0, math.floor(room / growth))
