"""Who may see which tools: users, their roles and organisations, and experts (semantic discovery, section 9).

A tool is visible if a grant covers it and, for an expert, its allowlist does too. Nothing is denied
explicitly: what no grant covers does not exist for the person.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache

from inspector.core.closest import closest
from inspector.core.error import ConfigError
from inspector.core.tool import Tool


class Scope(StrEnum):
    """Whom a grant covers: one user, the holders of a role in one organisation, or all of its members."""

    USER = "user"
    ROLE = "role"
    ORGANISATION = "organisation"


@dataclass(frozen=True, slots=True)
class Grant:
    """Tools that one holder may see, as patterns for ids: `*` and `?` match, case matters.

    `holder` names a user, a role of `organisation`, or that organisation.
    """

    scope: Scope
    holder: str
    organisation: str
    patterns: tuple[str, ...]

    def covers(self, user: "User") -> bool:
        """Whether the user is, or belongs to, the holder."""
        if self.organisation != user.organisation:
            return False
        if self.scope is Scope.USER:
            return self.holder == user.name
        return self.scope is Scope.ORGANISATION or self.holder in user.roles


@dataclass(frozen=True, slots=True)
class User:
    """A member of one organisation, with the roles held in it. Names of users are unique."""

    name: str
    organisation: str
    roles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sight:
    """Which tools somebody may see; by default, everything, as where there is no policy.

    A tool must match one of the grants' patterns and, unless `allowlist` is None, one of the allowlist's.
    `user` is "" if nobody is told from anybody else. `servers` are the only ones that there are for it; None
    if that is told from the patterns alone.
    """

    user: str = ""
    expert: str = ""
    grants: tuple[Grant, ...] = (Grant(Scope.USER, "", "", ("*",)),)
    allowlist: tuple[str, ...] | None = None
    servers: frozenset[str] | None = None

    @property
    def is_whole(self) -> bool:
        """Whether nothing is kept out: there is no policy, or the administrator looks."""
        return not self.user and bool(self.grants)

    @property
    def patterns(self) -> tuple[str, ...]:
        """The patterns of all grants, each once."""
        return tuple(dict.fromkeys(pattern for grant in self.grants for pattern in grant.patterns))

    def permits(self, tool_id: str) -> bool:
        """Whether the tool may be seen."""
        allowed = self.allowlist is None or matches_any(tool_id, self.allowlist)
        return allowed and matches_any(tool_id, self.patterns)

    def of(self, tools: Iterable[Tool]) -> tuple[Tool, ...]:
        """The tools that may be seen, in their order."""
        return tuple(tool for tool in tools if self.permits(tool.id))

    def deciding(self, tool_id: str) -> tuple[Grant, ...]:
        """The grants that cover a tool, each with the patterns that do, whatever the allowlist says."""
        matching = (
            replace(grant, patterns=tuple(p for p in grant.patterns if matches_any(tool_id, (p,))))
            for grant in self.grants
        )
        return tuple(grant for grant in matching if grant.patterns)


EVERYTHING = Sight()
NOTHING = Sight(grants=())
"""What somebody sees whom a policy does not know: there is one, and nobody is named."""


@dataclass(frozen=True, slots=True)
class AccessPolicy:
    """Users by name, what is granted to whom, and the allowlist of each expert, by its name."""

    users: Mapping[str, User] = field(default_factory=dict)
    grants: tuple[Grant, ...] = ()
    experts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def sight(self, user: str, expert: str = "") -> Sight:
        """What a user may see, through an expert if one is named. Raises ConfigError for unknown names."""
        found = self.users.get(user)
        if found is None:
            raise _unknown("user", user, self.users)
        if expert and expert not in self.experts:
            raise _unknown("expert", expert, self.experts)
        grants = tuple(grant for grant in self.grants if grant.covers(found))
        return Sight(user, expert, grants, self.experts[expert] if expert else None)


def viewer(user: str, expert: str) -> str:
    """Who sees what is restricted, in words."""
    return f"{user or 'nobody'} through {expert}" if expert else user or "nobody"


def matches_any(tool_id: str, patterns: Iterable[str]) -> bool:
    """Whether a pattern matches the whole id: `*` stands for any characters, `?` for one."""
    return any(_compiled(pattern).fullmatch(tool_id) for pattern in patterns)


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> re.Pattern[str]:
    wild = {"*": ".*", "?": "."}
    return re.compile("".join(wild.get(one) or re.escape(one) for one in pattern), re.DOTALL)


def _unknown(what: str, name: str, known: Mapping[str, object]) -> ConfigError:
    near = ", ".join(closest(name, list(known)) or tuple(known))
    hint = f"The policy defines: {near}." if near else f"The policy defines no {what}."
    return ConfigError(f"there is no {what} '{name}'", hint=hint)
