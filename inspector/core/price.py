"""What a provider charges for tokens."""

from dataclasses import dataclass, replace

from inspector.core.breakpoint import FIVE_MINUTES, HOUR, Ttl
from inspector.core.prompt_cache import UNCACHED, CacheTerms, Charge
from inspector.schema.model_feature import ModelFeatures

HOUR_SECONDS = 3600.0
# Price ratios are rounded, so that 1.25e-07 / 1.25e-06 is exactly 0.1.
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class Prices:
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
