"""Whose session it is, and what that person may see: the policy, and the sight that it gives."""

from collections.abc import Callable
from dataclasses import replace

from inspector.access.restriction import restricted_configuration, restricted_settings
from inspector.core.access import EVERYTHING, NOTHING, AccessPolicy, Sight
from inspector.core.configuration import Configuration
from inspector.core.error import ConfigError, ToolsightError
from inspector.core.settings import AccessSettings, Settings

NOT_A_SETTING = frozenset({"access.policy", "access.user", "access.expert"})
"""Settings that hold from a session's start: who sees it is changed with `Commands.see_as`."""


class AccessControl:
    """The policy of a session, if it has one, and what is seen under it.

    Every sight is another object, even if it permits the same: who began something under one sight can tell
    whether it still holds.
    """

    def __init__(
        self,
        chosen: AccessSettings,
        read: Callable[[str], AccessPolicy],
        servers_for: Callable[[Sight], frozenset[str] | None] = lambda _sight: None,
    ) -> None:
        """`servers_for` gives the `servers` of a sight.

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

    @property
    def is_restricted(self) -> bool:
        """Whether a policy says what is seen: not for the administrator."""
        return not self.is_administrator

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
        if self.is_restricted:
            return () if self.expert else self.sight.patterns
        every = [pattern for grant in self.policy.grants for pattern in grant.patterns]
        return tuple(dict.fromkeys([*every, *(one for own in self.policy.experts.values() for one in own)]))

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
        hint = "Administrators can list the policy's users with `toolsight access`."
        raise ConfigError(error.message, hint=hint) from None


def _no_policy() -> ConfigError:
    hint = "Set one with --policy FILE or the setting access.policy."
    return ConfigError("there is no access policy, so there are no users", hint=hint)


def _expert_alone(expert: str) -> ConfigError:
    return ConfigError(
        f"the expert {expert} needs a user to work for", hint="Specify the user too: --user NAME."
    )
