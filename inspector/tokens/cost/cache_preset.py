"""Presets for what providers' prompt caches charge.

The multipliers come from the providers' own documentation; for a model with known prices, `Prices.terms` has
its exact ones.
"""

from dataclasses import dataclass

from inspector.core.price import HOUR_SECONDS
from inspector.core.prompt_cache import UNCACHED, CacheTerms


@dataclass(frozen=True, slots=True)
class CachePreset:
    """Named terms. `source` says where they come from, `note` what they leave out."""

    name: str
    terms: CacheTerms
    source: str
    note: str = ""


PRESETS = (
    CachePreset(
        "Anthropic, 5 minutes",
        CacheTerms(write=1.25, read=0.1, marked=True),
        "Anthropic's documentation, Prompt caching: pricing, cache lifetime",
        "minimum prefix: 1,024 tokens for most models, 2,048 or 4,096 for some",
    ),
    CachePreset(
        "Anthropic, 1 hour",
        CacheTerms(write=2.0, read=0.1, ttl_seconds=HOUR_SECONDS, marked=True),
        "Anthropic's documentation, Prompt caching: 1-hour cache duration",
        "minimum prefix: 1,024 tokens for most models, 2,048 or 4,096 for some",
    ),
    CachePreset(
        "OpenAI, gpt-5",
        CacheTerms(write=1.0, read=0.1),
        "OpenAI's documentation, Prompt caching, and its price list",
        "unused prefixes expire after 5 to 10 minutes; assumes 5 minutes",
    ),
    CachePreset(
        "OpenAI, gpt-4o",
        CacheTerms(write=1.0, read=0.5),
        "OpenAI's documentation, Prompt caching, and its price list",
        "unused prefixes expire after 5 to 10 minutes; assumes 5 minutes",
    ),
    CachePreset(
        "Gemini 2.5, implicit",
        CacheTerms(write=1.0, read=0.1),
        "Google's documentation, Context caching: implicit caching",
        "no guaranteed hits, no documented lifetime; assumes 5 minutes; 2.5 Pro has a higher minimum",
    ),
    CachePreset("no cache", UNCACHED, "every token at full price"),
)
