"""Who may see which tools: patterns, toolsets, users, roles, organisations, experts (section 9).

A tool is visible if a grant covers it and, for an expert, its allowlist does too. Nothing is denied
explicitly: what no grant covers does not exist for the person.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from inspector.core.error import ConfigError
from inspector.core.text import closest
from inspector.core.tool import Tool, is_for_apps_alone

Value = TypeVar("Value")


def matches(tool_id: str, patterns: Iterable[str]) -> bool:
    """Whether a pattern matches the whole id: `*` stands for any characters, `?` for one."""
    return any(_compiled(pattern).fullmatch(tool_id) for pattern in patterns)


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> re.Pattern[str]:
    wild = {"*": ".*", "?": "."}
    return re.compile("".join(wild.get(one) or re.escape(one) for one in pattern), re.DOTALL)


def matched(tool_ids: Iterable[str], patterns: Sequence[str]) -> set[str]:
    """Those of the ids that any of the patterns matches."""
    return {tool_id for tool_id in tool_ids if matches(tool_id, patterns)}


def matching(tool_id: str, patterns: Iterable[str]) -> str:
    """The first pattern that matches the id; "" if none does."""
    return next((pattern for pattern in patterns if matches(tool_id, (pattern,))), "")


def values_for(tool_id: str, table: Mapping[str, Value]) -> tuple[Value, ...]:
    """The values of every pattern that matches the id, in table order."""
    return tuple(value for pattern, value in table.items() if matches(tool_id, (pattern,)))


class ServerRule(Struct, frozen=True):
    """Which tools of one server a toolset permits: all, only `include`, or all but `exclude`."""

    include: frozenset[str] | None = None
    exclude: frozenset[str] = frozenset()

    def permits(self, tool_name: str) -> bool:
        if self.include is not None and tool_name not in self.include:
            return False
        return tool_name not in self.exclude

    def __str__(self) -> str:
        if self.include is None:
            return f"all tools but {', '.join(sorted(self.exclude))}" if self.exclude else "all tools"
        return f"only {', '.join(sorted(self.include - self.exclude)) or 'none of its tools'}"


class Toolset(Struct, frozen=True):
    """A named restriction. A server that is not listed is not permitted at all.

    `always_include` holds patterns of pinned tools and overrides the setting; None keeps the setting.
    """

    name: str
    description: str = ""
    servers: Mapping[str, ServerRule] = field(default_factory=dict)
    always_include: tuple[str, ...] | None = None

    def permits(self, tool: Tool) -> bool:
        rule = self.servers.get(tool.server)
        return rule is not None and rule.permits(tool.name)


class Scope(StrEnum):
    """Whom a grant covers: one user, the holders of a role in one organisation, or all of its members."""

    USER = "user"
    ROLE = "role"
    ORGANISATION = "organisation"


class Grant(Struct, frozen=True):
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


class User(Struct, frozen=True):
    """A member of one organisation, with the roles held in it. Names of users are unique."""

    name: str
    organisation: str
    roles: tuple[str, ...] = ()


_EVERY = (Grant(Scope.USER, "", "", ("*",)),)


class Sight(Struct, frozen=True):
    """Which tools somebody may see; by default, everything, as where there is no policy.

    A tool must match one of the grants' patterns and, unless `allowlist` is None, one of the allowlist's.
    `always_include` holds patterns of tools that are pinned for the expert; None keeps the setting. `user` is
    "" if nobody is told from anybody else. `servers` are the only ones that there are for it; None
    if that is told from the patterns alone.
    """

    user: str = ""
    expert: str = ""
    grants: tuple[Grant, ...] = _EVERY
    allowlist: tuple[str, ...] | None = None
    servers: frozenset[str] | None = None
    always_include: tuple[str, ...] | None = None

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
        if self.grants is _EVERY and self.allowlist is None:
            return True  # Every change of a server asks this of every tool.
        allowed = self.allowlist is None or matches(tool_id, self.allowlist)
        return allowed and matches(tool_id, self.patterns)

    def of(self, tools: Iterable[Tool]) -> tuple[Tool, ...]:
        """The tools that may be seen, in their order."""
        return tuple(tool for tool in tools if self.permits(tool.id))

    def deciding(self, tool_id: str) -> tuple[Grant, ...]:
        """The grants that cover a tool, each with the patterns that do, whatever the allowlist says."""
        matching = (
            replace(grant, patterns=tuple(p for p in grant.patterns if matches(tool_id, (p,))))
            for grant in self.grants
        )
        return tuple(grant for grant in matching if grant.patterns)


EVERYTHING = Sight()
NOTHING = Sight(grants=())
"""What somebody sees whom a policy does not know: there is one, and nobody is named."""


class Audience(Struct, frozen=True):
    """Whom a session's model works for: what a model may be told of, have bound, find and call.

    It is what the user may see, the toolset permits, and no server keeps for its own view (SEP-1865).
    """

    toolset: Toolset | None = None
    sight: Sight = EVERYTHING

    def permits(self, tool: Tool) -> bool:
        """Whether a person may see and call it."""
        return (self.toolset is None or self.toolset.permits(tool)) and self.sight.permits(tool.id)

    def admits(self, tool: Tool) -> bool:
        """Whether a model may know it, too."""
        return self.permits(tool) and not is_for_apps_alone(tool)

    def of(self, tools: Iterable[Tool]) -> tuple[Tool, ...]:
        """Those of the tools that a model may know."""
        return tuple(filter(self.admits, tools))


class AccessPolicy(Struct, frozen=True):
    """Users by name, what is granted to whom, and by expert its allowlist and the tools pinned for it."""

    users: Mapping[str, User] = field(default_factory=dict)
    grants: tuple[Grant, ...] = ()
    experts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    always_include: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def sight(self, user: str, expert: str = "") -> Sight:
        """What a user may see, through an expert if one is named. Raises ConfigError for unknown names."""
        found = self.users.get(user)
        if found is None:
            raise _unknown("user", user, self.users)
        if expert and expert not in self.experts:
            raise _unknown("expert", expert, self.experts)
        grants = tuple(grant for grant in self.grants if grant.covers(found))
        allowlist = self.experts[expert] if expert else None
        return Sight(user, expert, grants, allowlist, always_include=self.always_include.get(expert))


def viewer(user: str, expert: str) -> str:
    """Who sees what is restricted, in words."""
    return f"{user or 'nobody'} through {expert}" if expert else user or "nobody"


def _unknown(what: str, name: str, known: Mapping[str, object]) -> ConfigError:
    near = ", ".join(closest(name, list(known)) or tuple(known))
    hint = f"The policy defines: {near}." if near else f"The policy defines no {what}."
    return ConfigError(f"there is no {what} '{name}'", hint=hint)
