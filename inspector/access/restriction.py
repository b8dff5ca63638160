"""What somebody sees of a configuration, its settings, a session and its records, without the rest.

An entry that names tools stays if it could match one that may be seen, told from its pattern alone; it is
given as its author wrote it. Nothing that restricts a permitted tool is ever taken away.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Self, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from inspector.access.reach import EvalCase, can_match, covers, reaches
from inspector.config.configuration import Configuration
from inspector.config.predicate import has_prior_tool_output, parse_predicate
from inspector.core.access import EVERYTHING, NOTHING, AccessPolicy, ServerRule, Sight, Toolset
from inspector.core.error import ConfigError, ToolsightError
from inspector.core.events import ServerFailed
from inspector.core.ports import ToolListing
from inspector.core.server import ServerInfo, ServerSpec
from inspector.core.settings import AccessSettings, Settings

Value = TypeVar("Value")
UNMET = "is_authenticated('what this user may see')"
"""Stands for a precondition that asks for the output of a tool that may not be seen: it does not hold."""


def restricted_configuration(configuration: Configuration, sight: Sight) -> Configuration:
    """The servers that may have a tool to see, and the toolsets with what is left of them."""
    if sight.is_whole:
        return configuration
    toolsets = (_toolset(one, sight) for one in configuration.toolsets.values())
    return replace(
        configuration,
        servers=tuple(
            replace(
                spec,
                rule=_rule(spec.rule, spec.name, sight),
                phrases=spec.phrases if covers(sight, spec.name) else {},
            )
            for spec in configuration.servers
            if reaches(sight, spec.name)
        ),
        problems=tuple(one for one in configuration.problems if covers(sight, one.server)),
        toolsets={one.name: one for one in toolsets if one.servers},
        settings=restricted_settings(configuration.settings, sight),
        disabled=tuple(name for name in configuration.disabled if reaches(sight, name)),
        requests="",
    )


def restricted_settings(settings: Settings, sight: Sight) -> Settings:
    """The settings without the entries that are about nothing to see."""
    if sight.is_whole:
        return settings
    discovery, guard, access = settings.discovery, settings.guard, settings.access
    pinned = settings.binding.always_include if sight.always_include is None else sight.always_include
    return replace(
        settings,
        discovery=replace(
            discovery,
            tags=_table(discovery.tags, sight),
            expert_tools=_patterns(discovery.expert_tools, sight),
            system_servers=tuple(name for name in discovery.system_servers if reaches(sight, name)),
        ),
        binding=replace(settings.binding, always_include=_patterns(pinned, sight)),
        guard=replace(guard, exempt=_patterns(guard.exempt, sight), guidance=_table(guard.guidance, sight)),
        retry=replace(settings.retry, tools=_patterns(settings.retry.tools, sight)),
        access=replace(access, preconditions=_preconditions(access.preconditions, sight)),
        # A file of what others call after what.
        inertia=replace(settings.inertia, seed=""),
    )


def seen_cases(cases: Sequence[EvalCase], sight: Sight) -> tuple[EvalCase, ...]:
    """The labelled requests that can be served with what may be seen, and those that no tool serves."""
    if sight.is_whole:
        return tuple(cases)
    seen = (
        replace(case, relevant=tuple(frozenset(filter(sight.permits, group)) for group in case.relevant))
        for case in cases
    )
    return tuple(case for case in seen if all(case.relevant))


def _may_match(sight: Sight, pattern: str) -> bool:
    """Whether a setting's pattern can match a tool to see; what a set of characters may be, is open."""
    plain, is_set, _ = pattern.partition("[")
    return can_match(sight, f"{plain}*" if is_set else pattern)


def _patterns(patterns: Iterable[str], sight: Sight) -> tuple[str, ...]:
    return tuple(pattern for pattern in patterns if _may_match(sight, pattern))


def _table(table: Mapping[str, Value], sight: Sight) -> dict[str, Value]:
    return {pattern: value for pattern, value in table.items() if _may_match(sight, pattern)}


def _preconditions(table: Mapping[str, tuple[str, ...]], sight: Sight) -> dict[str, tuple[str, ...]]:
    return {
        pattern: tuple(filter(None, (_predicate(text, sight) for text in texts)))
        for pattern, texts in _table(table, sight).items()
    }


def _predicate(text: str, sight: Sight) -> str:
    """A predicate without the name of a tool that may not be seen; "" if it always holds without it."""
    try:
        predicate = parse_predicate(text)
    except ConfigError:
        return text
    given = (*predicate.args, *predicate.kwargs.values())
    if predicate.name != has_prior_tool_output.__name__ or not given or not isinstance(given[0], str):
        return text
    start = given[0] if ":" in given[0] else f"*:{given[0]}"
    if can_match(sight, f"{start}*"):
        return text
    return "" if predicate.negated else UNMET


def _toolset(toolset: Toolset, sight: Sight) -> Toolset:
    rules = {name: rule for name, rule in toolset.servers.items() if reaches(sight, name)}
    always = toolset.always_include
    is_whole = all(covers(sight, name) for name in toolset.servers)
    return replace(
        toolset,
        description=toolset.description if is_whole else "",
        servers={name: _rule(rule, name, sight) for name, rule in rules.items()},
        always_include=None if always is None else _patterns(always, sight),
    )


def _rule(rule: ServerRule, server: str, sight: Sight) -> ServerRule:
    def seen(names: frozenset[str]) -> frozenset[str]:
        return frozenset(name for name in names if sight.permits(f"{server}:{name}"))

    return ServerRule(None if rule.include is None else seen(rule.include), seen(rule.exclude))


AWAY = "is not available"
"""Why a server failed, for who may not see all of its tools: its error could name the others."""


def seen_listing(spec: ServerSpec, listing: ToolListing, sight: Sight) -> ToolListing:
    """The permitted tools of a listing, and of those that were skipped the permitted ones."""
    if spec.rule != ServerRule():
        listing = replace(listing, tools=tuple(one for one in listing.tools if spec.rule.permits(one.name)))
    if sight.is_whole:
        return listing
    skipped = tuple(one for one in listing.skipped if sight.permits(f"{spec.name}:{one.label}"))
    return replace(listing, tools=sight.of(listing.tools), skipped=skipped)


def seen_info(server: str, info: ServerInfo, sight: Sight) -> ServerInfo:
    """What a server says of itself; its summary and instructions may name any of its tools."""
    if sight.is_whole or covers(sight, server):
        return info
    return replace(info, summary="", instructions="")


def since(before: str, now: str) -> str:
    """What was written after `before`, where both are the ends of one text, each cut at its beginning."""
    for length in range(min(len(before), len(now)), 0, -1):
        if before.endswith(now[:length]):
            return now[length:].lstrip("\n")
    return now


def seen_failure(failure: ServerFailed, sight: Sight) -> ServerFailed:
    """Why a server failed; in its own words only for who may see all that it could have."""
    if sight.is_whole or covers(sight, failure.server):
        return failure
    return ServerFailed(failure.server, AWAY, needs_login=failure.needs_login)


NOT_A_SETTING = frozenset({"access.policy", "access.user", "access.expert"})
"""Settings that hold from a session's start: who sees it is changed with `Workbench.see_as`."""


def read_policy(path: str) -> AccessPolicy:
    """Who may see which tools, as a file says. Raises ConfigError."""
    # It imports pydantic and yaml, which most sessions do not need.
    from inspector.access.policy_file import load_policy

    return load_policy(Path(path))


class AccessControl:
    """The policy of a session, if it has one, and what is seen under it.

    Every sight is another object, even if it permits the same: who began something under one sight can tell
    whether it still holds.
    """

    def __init__(
        self,
        chosen: AccessSettings,
        servers_for: Callable[[Sight], frozenset[str] | None] = lambda _sight: None,
        read: Callable[[str], AccessPolicy] = read_policy,
    ) -> None:
        """`servers_for` gives the `servers` of a sight; `read` takes the path of the policy.

        Raises ConfigError if the policy cannot be read or does not know the user or the expert.
        """
        self._path, self._read, self._servers_for = chosen.policy, read, servers_for
        self.policy = read(chosen.policy) if chosen.policy else None
        if self.policy is None and (chosen.user or chosen.expert):
            raise _no_policy()
        if chosen.expert and not chosen.user:
            raise _expert_alone(chosen.expert)
        self.user, self.expert = chosen.user, chosen.expert
        self.is_administrator = self.policy is None
        self.sight = EVERYTHING
        if self.policy is not None:
            self.sight = self._with_servers(_named(self.policy, chosen))

    def sight_as(self, user: str, expert: str = "") -> Sight:
        """What somebody may see; without a user it is the administrator: everything. Raises ConfigError."""
        if self.policy is None:
            raise _no_policy()
        if expert and not user:
            raise _expert_alone(expert)
        return self._with_servers(self.policy.sight(user, expert)) if user else replace(EVERYTHING)

    def use(self, sight: Sight) -> None:
        """See with a sight of `sight_as` from now on."""
        self.sight, self.user, self.expert = sight, sight.user, sight.expert
        self.is_administrator = sight.is_whole

    def read(self) -> AccessPolicy | None:
        """The policy as it is written now, which changes nothing yet; for any thread. Raises ConfigError."""
        return self._read(self._path) if self._path else None

    def take(self, policy: AccessPolicy | None) -> bool:
        """Let a policy that was read hold from now on; return whether it says something else."""
        if policy is None or policy == self.policy:
            return False
        self.policy = policy
        self.sight = replace(EVERYTHING) if self.is_administrator else self._now(policy)
        return True

    @property
    def judged(self) -> tuple[str, ...]:
        """The patterns of the policy to be told if they match no tool: all, for the administrator.

        To a user, what the own grants say; but not beside an expert: either may name what both do not permit.
        """
        if self.policy is None:
            return ()
        if not self.is_administrator:
            return () if self.expert else self.sight.patterns
        every = [pattern for grant in self.policy.grants for pattern in grant.patterns]
        of_experts = (*self.policy.experts.values(), *self.policy.always_include.values())
        return tuple(dict.fromkeys([*every, *(one for own in of_experts for one in own)]))

    def configuration(self, whole: Configuration) -> Configuration:
        """What is left of a configuration."""
        return restricted_configuration(whole, self.sight)

    def settings(self, whole: Settings) -> Settings:
        """What is left of the settings, with who sees them."""
        if self.policy is None:
            return whole
        access = replace(whole.access, user=self.user, expert=self.expert)
        return restricted_settings(replace(whole, access=access), self.sight)

    def _now(self, policy: AccessPolicy) -> Sight:
        """The user's sight; somebody who is no longer in the policy sees nothing."""
        is_known = self.user in policy.users and (not self.expert or self.expert in policy.experts)
        seen = policy.sight(self.user, self.expert) if is_known else Sight(self.user, self.expert, ())
        return self._with_servers(seen)

    def _with_servers(self, sight: Sight) -> Sight:
        return replace(sight, servers=self._servers_for(sight))


def require_whole(sight: Sight, what: str) -> None:
    """Raise ToolsightError unless everything is seen: `what` is for the administrator."""
    if not sight.is_whole:
        hint = "In the app, view as the administrator. Without a policy, commands run as the administrator."
        raise ToolsightError(f"only the administrator can {what}", hint=hint)


def refuse_access(path: str) -> None:
    """Raise ConfigError for a setting that says who sees the session."""
    if path in NOT_A_SETTING:
        hint = "View as another user instead, or restart with another policy."
        raise ConfigError(f"{path} cannot change during a session", hint=hint)


def _named(policy: AccessPolicy, chosen: AccessSettings) -> Sight:
    """What the settings' user may see; a mistyped name never reveals those of others."""
    try:
        return policy.sight(chosen.user, chosen.expert) if chosen.user else NOTHING
    except ConfigError as error:
        hint = "Administrators can list the policy's users with `toolsight config access`."
        raise ConfigError(error.message, hint=hint) from None


def _no_policy() -> ConfigError:
    hint = "Set one with --policy FILE or the setting access.policy."
    return ConfigError("there is no access policy, so there are no users", hint=hint)


def _expert_alone(expert: str) -> ConfigError:
    return ConfigError(
        f"the expert {expert} needs a user to work for", hint="Specify the user too: --user NAME."
    )


class OpenedConfiguration(Struct, frozen=True):
    """`seen` is what may be looked up, printed and named in an error.

    `unrestricted` is what a person consents to and what a session is made of, which restricts it for itself:
    nothing else reads it. With `is_part` it is not all that the file has, so that a pattern without a match
    may be about the rest.
    """

    unrestricted: Configuration
    sight: Sight = EVERYTHING
    is_part: bool = False

    @property
    def seen(self) -> Configuration:
        return restricted_configuration(self.unrestricted, self.sight)

    def only(self, server: str) -> Self:
        """With one server that is seen, and without toolsets: no other has to start."""
        servers = tuple(spec for spec in self.seen.servers if spec.name == server)
        return replace(
            self, unrestricted=replace(self.unrestricted, servers=servers, toolsets={}), is_part=True
        )

    def using(self, settings: Settings) -> Self:
        """With other settings."""
        return replace(self, unrestricted=replace(self.unrestricted, settings=settings))
