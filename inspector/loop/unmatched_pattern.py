"""Finds patterns and names in settings that match no tool, such as a precondition with a typo.

A pattern is judged by the servers that it can be about. While one of them is connecting it is not judged; if
none of them is connected it cannot be. Of those that restrict what may be called (preconditions, and what a
toolset excludes) an unmatched one is an error: a typo would let the call through that it was meant to stop.
"""

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Literal

from msgspec import Struct

from inspector.config.configuration import Configuration
from inspector.config.predicate import has_prior_tool_output, parse_predicate
from inspector.config.profile import CORE_TOOLS
from inspector.core.access import EVERYTHING, Sight, Toolset, matches
from inspector.core.error import ConfigError, SettingProblem, Severity, command
from inspector.core.ranking import IndexState
from inspector.core.server import ServerPhase
from inspector.core.session import ServerState
from inspector.core.settings import Settings
from inspector.core.text import closest
from inspector.schema.schema import PLAIN, ModelFeatures

_WILD = frozenset("*?[")
_NEAR = 3


class Checked(Struct, frozen=True):
    """What is checked: the settings in force, and what they are about.

    `toolset` is the name of the one in use, "" for none. `tools` holds the ids of the connected servers'
    tools, before the toolset, with those that were skipped; `gone` those that were there earlier.
    `index` is the state of the search index, `features` what the model's provider takes. `sight` says what
    may be seen, and `granted` holds those of the policy's patterns whose holder may be told of them.
    """

    configuration: Configuration
    settings: Settings
    toolset: str
    servers: Mapping[str, ServerState]
    tools: frozenset[str] = frozenset()
    gone: frozenset[str] = frozenset()
    index: IndexState = IndexState()
    features: ModelFeatures = PLAIN
    sight: Sight = EVERYTHING
    granted: tuple[str, ...] = ()


class _Entry(Struct, frozen=True):
    """What stands for tools at a setting's path, by `form`: a pattern for ids, an id, or how one begins.

    A `restricting` one keeps calls from running, so that a typo would let them through. With `is_grant` it
    is one of the policy's, where `[` stands for itself. `written` is how it
    is written, if that is not `pattern`.
    """

    path: str
    pattern: str
    restricting: bool = False
    form: Literal["glob", "exact", "prefix"] = "glob"
    written: str = ""
    is_grant: bool = False

    def matches(self, tool_id: str) -> bool:
        if self.is_grant:
            return matches(tool_id, (self.pattern,))
        if self.form == "glob":
            return fnmatchcase(tool_id, self.pattern)
        if self.form == "exact":
            return tool_id == self.pattern
        return tool_id.startswith(self.pattern) or tool_id.partition(":")[2].startswith(self.pattern)

    def matches_any(self, tools: frozenset[str]) -> bool:
        """Whether a tool matches; a name is looked up, as a toolset may have a thousand of them."""
        return self.pattern in tools if self.form == "exact" else any(map(self.matches, tools))

    def is_about(self, server: str) -> bool:
        """Whether it can match any tool of the server."""
        pattern = self.pattern
        if self.form != "glob":
            return ":" not in pattern or pattern.partition(":")[0] == server
        # Without a colon it matches no id at all, or only by a wildcard: any server's tools are as near.
        return ":" not in pattern or fnmatchcase(server, pattern.partition(":")[0])


def unmatched_patterns(checked: Checked) -> Iterator[SettingProblem]:
    """The patterns that match no tool.

    To a user whose sight is restricted only the own grants are told of: whether another pattern matches may
    depend on tools that may not be seen. Whoever sees everything is told of all.
    """
    entries = _entries(checked) if checked.sight.is_whole else _grants(checked)
    for entry in entries:
        if not entry.matches_any(checked.tools):
            problem = _judged(entry, checked)
            if problem is not None:
                yield problem
    if not checked.sight.is_whole and not checked.sight.user:
        hint = "Specify the user with --user, or choose one in the header."
        text = "is not set although there is a policy, so no tools are visible"
        yield SettingProblem("access.user", "", text, hint, Severity.ERROR)


def _grants(checked: Checked) -> Iterator[_Entry]:
    for pattern in checked.granted:
        yield _Entry("access.policy", pattern, is_grant=True)


def _entries(checked: Checked) -> Iterator[_Entry]:
    settings = checked.settings
    yield from _grants(checked)
    for pattern, predicates in settings.access.preconditions.items():
        yield _Entry("access.preconditions", pattern, restricting=bool(predicates))
        yield from _outputs(predicates)
    toolset = checked.configuration.toolsets.get(checked.toolset)
    own = toolset.always_include if toolset is not None else None
    pinned = "binding.always_include" if own is None else f"tool_sets.{checked.toolset}.always_include"
    listed: tuple[tuple[str, Sequence[str]], ...] = (
        (pinned, settings.binding.always_include if own is None else own),
        ("guard.exempt", settings.guard.exempt),
        ("guard.guidance", tuple(settings.guard.guidance)),
        ("discovery.expert_tools", settings.discovery.expert_tools),
    )
    for path, patterns in listed:
        # A profile's own patterns are for catalogs that have such tools.
        yield from (_Entry(path, pattern) for pattern in patterns if pattern not in CORE_TOOLS)
    if toolset is not None:
        yield from _toolset_entries(toolset)


def _outputs(predicates: Sequence[str]) -> Iterator[_Entry]:
    """The tools whose output predicates ask for. `not` of an unknown one always holds: calls run."""
    for text in predicates:
        try:
            predicate = parse_predicate(text)
        except ConfigError:
            continue  # It is refused before servers are started.
        given = (*predicate.args, *predicate.kwargs.values())
        if predicate.name == has_prior_tool_output.__name__ and given and isinstance(given[0], str):
            yield _Entry("access.preconditions", given[0], predicate.negated, "prefix", text)


def _toolset_entries(toolset: Toolset) -> Iterator[_Entry]:
    for server, rule in toolset.servers.items():
        path = f"tool_sets.{toolset.name}.servers.{server}"
        for name in sorted(rule.include or ()):
            yield _Entry(f"{path}.include", f"{server}:{name}", False, "exact", name)
        for name in sorted(rule.exclude):
            yield _Entry(f"{path}.exclude", f"{server}:{name}", True, "exact", name)


def _judged(entry: _Entry, checked: Checked) -> SettingProblem | None:
    """What is wrong with an unmatched entry; None while that is open, or if its server is disabled."""
    about = [name for name in _names(checked) if entry.is_about(name)]
    servers = [checked.servers.get(name, ServerState(name)) for name in about]
    if not about:
        disabled = any(map(entry.is_about, checked.configuration.disabled))
        return None if disabled else _problem(entry, "matches no server", _server_hint(entry, checked))
    opening = [server.name for server in servers if _is_opening(server)]
    away = [server.name for server in servers if server.phase in _AWAY and not _is_opening(server)]
    ready = len(servers) - len(opening) - len(away)
    one = about[0] if len(about) == 1 else ""
    if opening:
        # The tools of a server that it names are not there yet either: nothing can be let through.
        if one or not entry.restricting:
            return None
        text = f"matches no tool yet; still connecting: {', '.join(opening)}"
        return _problem(entry, text, severity=Severity.PENDING, server=one)
    if away and not (entry.restricting and ready):
        text = f"cannot be checked; not connected: {', '.join(away)}"
        return _problem(entry, text, severity=Severity.UNCHECKED, server=one)
    gone = sorted(filter(entry.matches, checked.gone))
    was = f" any more: {', '.join(gone[:_NEAR])} is gone" if gone else f" on {one}" if one else ""
    hint = _tool_hint(entry, about, checked)
    return _problem(entry, f"matches no tool{was}", hint, server=one, gone=bool(gone))


_AWAY = (ServerPhase.FAILED, ServerPhase.STOPPED)


def _is_opening(server: ServerState) -> bool:
    """Whether the server is connecting, or has not been started yet, when nothing is known of its target."""
    is_new = server.phase is ServerPhase.STOPPED and not server.target
    return is_new or server.phase is ServerPhase.CONNECTING


def _problem(
    entry: _Entry,
    text: str,
    hint: str = "",
    *,
    severity: Severity | None = None,
    server: str = "",
    gone: bool = False,
) -> SettingProblem:
    is_wrong = entry.restricting or (entry.is_grant and not gone)
    worst = Severity.ERROR if is_wrong else Severity.WARNING
    shown = entry.written or entry.pattern
    return SettingProblem(entry.path, shown, text, hint, severity or worst, server)


def _tool_hint(entry: _Entry, about: Sequence[str], checked: Checked) -> str:
    if entry.form == "exact" and not _WILD.isdisjoint(entry.written):
        return "Toolsets list exact tool names; * and ? do not match here."
    known = sorted(tool for tool in checked.tools if tool.partition(":")[0] in about)
    near = closest(entry.pattern, known, _NEAR)
    if not near:
        return f"{command('tools')} lists the ids of all tools."
    shown = [tool.partition(":")[2] if entry.form == "exact" else tool for tool in near]
    is_plain = entry.form != "glob" or _WILD.isdisjoint(entry.pattern)
    return f"Did you mean `{shown[0]}`?" if is_plain else f"The closest tools: {', '.join(shown)}."


def _server_hint(entry: _Entry, checked: Checked) -> str:
    server, _, rest = entry.pattern.partition(":")
    known = _names(checked)
    near = closest(server, known, 1)
    return f"Did you mean `{near[0]}:{rest}`?" if near else f"Servers: {', '.join(known)}."


def _names(checked: Checked) -> list[str]:
    return [spec.name for spec in checked.configuration.servers]
