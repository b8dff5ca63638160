"""Checks whether configurations grew since a stored audit."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from inspector.measure.audit.result import ConfigurationAudit, relative_error

# Growth of exactly the allowed amount must pass: 1.05 is slightly more than 105 percent in binary.
_ROUNDING = 1e-9

Key = tuple[str, str, str]
"""Client, scope and file of a configuration."""
Tokens = Mapping[str, int | None]
"""Tokens by server; None for a server that was not measured."""


@dataclass(frozen=True, slots=True)
class Change:
    """Tokens of a configuration in two audits; None if an audit does not have it.

    `skipped` names servers that are in both audits but not measured in both; they count on neither side.
    `servers` lists those whose tokens changed as (name, before, after), with 0 for a missing server.
    """

    key: Key
    before: int | None
    after: int | None
    servers: tuple[tuple[str, int, int], ...] = ()
    skipped: tuple[str, ...] = ()
    is_compared: bool = True

    @property
    def increase(self) -> float:
        """The relative increase: 0.05 is five percent more; infinite if there was nothing before."""
        before, after = self.before or 0, self.after or 0
        if not before:
            return float("inf") if after else 0.0
        return relative_error(after, before)

    def exceeds(self, limit: float) -> bool:
        """Whether it grew by more than the fraction `limit`."""
        return self.is_compared and self.increase > limit + _ROUNDING


def totals(audited: Iterable[ConfigurationAudit]) -> dict[Key, Tokens]:
    """The tokens in an audit by configuration and server, for comparison with another audit."""
    return {
        (each.client, each.scope, each.source): {
            server.name: server.tokens if server.reading.is_measured else None for server in each.servers
        }
        for each in audited
    }


def changes(now: Mapping[Key, Tokens], before: Mapping[Key, Tokens]) -> list[Change]:
    """The configurations of both audits: those in `now` in its order, then those that are gone."""
    current = [_change(key, servers, before.get(key)) for key, servers in now.items()]
    gone = (key for key in before if key not in now)
    return [*current, *(Change(key, _sum(before[key]), None, is_compared=False) for key in gone)]


def _change(key: Key, now: Tokens, before: Tokens | None) -> Change:
    if before is None:
        return Change(key, None, _sum(now), is_compared=False)
    skipped = tuple(name for name in now if name in before and None in (now[name], before[name]))
    names = [name for name in dict.fromkeys((*before, *now)) if name not in skipped]
    pairs = [(name, before.get(name) or 0, now.get(name) or 0) for name in names]
    moved = tuple(pair for pair in pairs if pair[1] != pair[2])
    both = sum(pair[1] for pair in pairs), sum(pair[2] for pair in pairs)
    is_compared = any(tokens.get(name) is not None for name in names for tokens in (before, now))
    return Change(key, *both, moved, skipped, is_compared)


def _sum(tokens: Tokens) -> int:
    return sum(count or 0 for count in tokens.values())
