"""A configuration and its settings as somebody sees them: without the names of what may not be seen.

An entry that names tools stays if it could match one that may be seen, told from its pattern alone; it is
given as its author wrote it. Nothing that restricts a permitted tool is ever taken away.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from inspector.access.evaluation import EvalCase
from inspector.access.reach import can_match, covers, reaches
from inspector.config.precondition import has_prior_tool_output, parse_predicate
from inspector.core.access import Sight
from inspector.core.configuration import Configuration
from inspector.core.error import ConfigError
from inspector.core.settings import Settings
from inspector.core.toolset import ServerRule, Toolset

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
        servers=tuple(spec for spec in configuration.servers if reaches(sight, spec.name)),
        toolsets={one.name: one for one in toolsets if one.servers},
        settings=restricted_settings(configuration.settings, sight),
        disabled=tuple(name for name in configuration.disabled if reaches(sight, name)),
    )


def restricted_settings(settings: Settings, sight: Sight) -> Settings:
    """The settings without the entries that are about nothing to see."""
    if sight.is_whole:
        return settings
    discovery, guard, access = settings.discovery, settings.guard, settings.access
    return replace(
        settings,
        discovery=replace(
            discovery,
            tags=_table(discovery.tags, sight),
            expert_tools=_patterns(discovery.expert_tools, sight),
            system_servers=tuple(name for name in discovery.system_servers if reaches(sight, name)),
        ),
        binding=replace(settings.binding, always_include=_patterns(settings.binding.always_include, sight)),
        guard=replace(
            guard,
            exempt=_patterns(guard.exempt, sight),
            ignored_arguments=_table(guard.ignored_arguments, sight),
            guidance=_table(guard.guidance, sight),
        ),
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
