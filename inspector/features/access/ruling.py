"""What decides who sees a tool, for people who look after a policy: rulings, differences, and every user."""

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

from inspector.core.access import AccessPolicy, Grant, Scope, Sight
from inspector.core.tool import Tool


class Ruling(Struct, frozen=True):
    """Whether somebody may see a tool. `grants` cover it; `withheld` names the expert that keeps it out."""

    tool: str
    grants: tuple[Grant, ...] = ()
    withheld: str = ""

    @property
    def is_seen(self) -> bool:
        return bool(self.grants) and not self.withheld

    @property
    def why(self) -> str:
        """What decides, in words."""
        if not self.grants:
            return "no grant covers it"
        if self.withheld:
            return f"the expert {self.withheld} may not see it"
        return "; ".join(map(holder, self.grants))


def ruling(sight: Sight, tool_id: str) -> Ruling:
    """What decides about one tool."""
    grants = sight.deciding(tool_id)
    return Ruling(tool_id, grants, sight.expert if grants and not sight.permits(tool_id) else "")


def holder(grant: Grant) -> str:
    """Whose grant it is, and what it covers: `role sales of acme: crm:find_*`."""
    who = f"{grant.scope} {grant.holder}"
    of = "" if grant.scope is Scope.ORGANISATION else f" of {grant.organisation}"
    return f"{who}{of}: {', '.join(grant.patterns)}"


class SightDifference(Struct, frozen=True):
    """The ids of the tools that only the first, only the second, and both may see."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    both: tuple[str, ...]


def sight_difference(first: Sight, second: Sight, tools: Iterable[Tool]) -> SightDifference:
    """By which of these tools two sights differ."""
    sides = [(tool.id, first.permits(tool.id), second.permits(tool.id)) for tool in tools]
    return SightDifference(
        tuple(tool_id for tool_id, one, other in sides if one and not other),
        tuple(tool_id for tool_id, one, other in sides if other and not one),
        tuple(tool_id for tool_id, one, other in sides if one and other),
    )


class UserRow(Struct, frozen=True):
    """How many tools of each server a user may see."""

    name: str
    organisation: str
    roles: tuple[str, ...]
    tools: int
    by_server: tuple[tuple[str, int], ...]


def user_rows(policy: AccessPolicy, tools: Sequence[Tool], expert: str = "") -> tuple[UserRow, ...]:
    """Every user of the policy, in its order. Raises ConfigError for an unknown expert."""
    servers = tuple(dict.fromkeys(tool.server for tool in tools))
    rows = []
    for user in policy.users.values():
        seen = policy.sight(user.name, expert).of(tools)
        count = Counter(tool.server for tool in seen)
        by_server = tuple((server, count[server]) for server in servers)
        rows.append(UserRow(user.name, user.organisation, user.roles, len(seen), by_server))
    return tuple(rows)
