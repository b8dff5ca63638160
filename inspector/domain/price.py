"""What a provider charges for tokens."""

from dataclasses import dataclass

from inspector.domain.prompt_cache import UNCACHED, CacheTerms, Charge

HOUR_SECONDS = 3600.0
# Price ratios are rounded, so that 1.25e-07 / 1.25e-06 is exactly 0.1.
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class Prices:
    """US dollars per token. Cache prices are None if the provider lists none.

    `source` names the price list and `date` its day, both for people.
    """

    model: str
    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None
    cache_write_hour: float | None = None
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
        return CacheTerms(write=self._multiple(write), read=self._multiple(self.cache_read))

    @property
    def hour_terms(self) -> CacheTerms | None:
        """The same for prefixes that live an hour; None if they have no price."""
        if self.cache_read is None or self.cache_write_hour is None or not self.input:
            return None
        write, read = self._multiple(self.cache_write_hour), self._multiple(self.cache_read)
        return CacheTerms(write, read, HOUR_SECONDS)

    def _multiple(self, price: float) -> float:
        return round(price / self.input, _DIGITS)

    def cost(self, charge: Charge, terms: CacheTerms, output: int = 0) -> float:
        """US dollars for a request's input, charged on `terms`, plus `output` tokens of answer."""
        return charge.billed(terms) * self.input + output * self.output
