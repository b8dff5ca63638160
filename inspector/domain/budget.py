"""The token budget of one model request, and what static binding would have cost."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TokenParts:
    """Tokens of one request by part. `meta` is the search tool's definition, its manifest included."""

    system: int = 0
    history: int = 0
    tools: int = 0
    meta: int = 0
    output_reserve: int = 0

    @property
    def used(self) -> int:
        return self.system + self.history + self.tools + self.meta + self.output_reserve

    @property
    def tool_tokens(self) -> int:
        """Everything the model pays for having tools."""
        return self.tools + self.meta


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
        """Tool tokens saved against static binding; negative when discovery costs more."""
        return self.static_tools - self.parts.tool_tokens

    @property
    def saved_fraction(self) -> float:
        return self.saved / self.static_tools if self.static_tools else 0.0

    @property
    def is_tight(self) -> bool:
        return self.fraction >= self.warn_at
