"""`toolsight config`: every setting with its value and origin, the profiles, and the keys."""

import sys
from collections.abc import Iterator, Mapping
from itertools import groupby
from textwrap import fill
from typing import TYPE_CHECKING, Any

import click
from msgspec import to_builtins

from inspector.cli.launch import problem_line, require_policy, run_headless
from inspector.cli.location import configuration_path, keys_path, read_keys
from inspector.cli.options import COMMON, CommandGroup, Options, as_json, session_command
from inspector.cli.run import Exit
from inspector.cli.table import show, terminal_width
from inspector.config.configuration import Configuration
from inspector.config.profile import PROFILES, Profile, find_profile, profile_settings
from inspector.config.setting import HEADINGS, Knob, Origin, find_knob, knobs, origins, render_value, value_of
from inspector.core.error import SettingProblem
from inspector.core.number import count
from inspector.core.report import NAME, Column, Table
from inspector.core.settings import Settings

if TYPE_CHECKING:
    from inspector.session.workbench import Workbench


@click.group(cls=CommandGroup)
def config() -> None:
    """List or check settings, profiles, keys and access.

    \b
    toolsight config settings --profiles
    """


@click.command()
@as_json
def keys() -> None:
    """List every key of the app, with its id.

    To change keys, list them by id in keys.json in the configuration folder: {"place.find": "ctrl+f"}.

    \b
    toolsight config keys
    """
    from inspector.app.app import ToolsightApp
    from inspector.app.command import bound_keys, checked

    keymap, problems = checked(read_keys(), ToolsightApp)
    bound, path = bound_keys(ToolsightApp), keys_path()
    columns = (
        Column("id", kind=NAME),
        Column("keys", lambda key: keymap.get(key.id, key.keys)),
        Column("what", "title"),
        Column("where"),
    )
    own = f"Your keys: {path}{'' if path.exists() else ' (not created yet)'}"
    data = {"file": str(path), "keys": bound, "changed": keymap}
    show(data, [own, *(f"✕ {problem}" for problem in problems), "", Table.of(columns, bound)])


def _check(options: Options) -> None:
    """Connect, print the problems, and exit with 3 if there is any, even one that cannot be checked.

    Raises ConfigError if a pattern of the policy matches no tool.
    """
    found: list[SettingProblem] = []

    async def work(bench: "Workbench") -> None:
        found.extend(bench.state.problems)
        servers = f"{bench.state.ready_servers} of {count(len(bench.state.servers), 'server')} connected"
        tools = count(len(bench.catalog.tools), "permitted tool")
        told = f"{count(len(found), 'problem')} in the settings; {servers}, {tools}"
        show(found, [*map(problem_line, found), told])

    run_headless(options, work, listing=True, tell_problems=False, requires_policy=False)
    require_policy(found)
    if found:
        sys.exit(Exit.GATE)


_VALUE_WIDTH = 24
_INDENT = "    "
_WIDEST = 110


@session_command(takes=COMMON)
@click.option("--profiles", is_flag=True, help="List the profiles, and what each changes.")
@click.option(
    "--check", is_flag=True, help="Connect and check the settings; exit with 3 if there are problems."
)
@as_json
def settings(profiles: bool, check: bool, chosen: Options) -> None:
    """List every setting and where its value comes from.

    Without a configuration, values come from the profile and from --set.

    \b
    toolsight config settings --check --config .mcp.json
    """
    if profiles:
        show([*PROFILES.values()], _profiles())
    elif check:
        _check(chosen)
    else:
        _show_settings(chosen, _configuration(chosen))


def _configuration(chosen: Options) -> Configuration:
    if not configuration_path(chosen):
        return Configuration("", ())
    from inspector.cli.configuration import read_configuration

    return read_configuration(chosen).unrestricted


def _show_settings(chosen: Options, configuration: Configuration) -> None:
    profile = find_profile(chosen.profile or configuration.profile)
    values = {**configuration.values, **chosen.settings}
    effective = _seen(profile_settings(profile.name, configuration.settings, values))
    sources = origins(configuration.settings, profile.values, configuration.values, chosen.settings)
    rows = [_as_object(knob, effective, sources[knob.path]) for knob in knobs()]

    def report() -> Iterator[str]:
        source = configuration.source or "no configuration in this folder"
        yield f"profile {profile.name}   {source}   ● differs from the default"
        for section, group in groupby(knobs(), key=lambda knob: knob.path.partition(".")[0]):
            yield f"\n{HEADINGS[section]}"
            for knob in group:
                yield _line(knob, value_of(effective, knob.path), sources[knob.path])
                yield _wrapped(f"{knob.about} [{knob.allowed}]")

    show({"config": configuration.source, "profile": profile.name, "settings": rows}, report())


def _seen(settings: Settings) -> Settings:
    """What is left of the settings for who sees them. Raises ConfigError."""
    if not any((settings.access.policy, settings.access.user, settings.access.expert)):
        return settings
    from inspector.access.restriction import AccessControl

    return AccessControl(settings.access).settings(settings)


def _line(knob: Knob, value: Any, origin: Origin) -> str:
    width = max(len(other.path) for other in knobs())
    shown = render_value(value) or "-"
    mark = " " if value == knob.default else "●"
    return f"{mark} {knob.path:<{width}}  {shown:<{_VALUE_WIDTH}}  {_origin(origin)}"


def _origin(origin: Origin) -> str:
    return "--set" if origin is Origin.SESSION else origin.value


def _wrapped(text: str) -> str:
    """Indented lines, at most as long as is readable, however wide the terminal is."""
    width = min(terminal_width(), _WIDEST)
    return fill(text, width, initial_indent=_INDENT, subsequent_indent=_INDENT, break_on_hyphens=False)


def _as_object(knob: Knob, effective: Settings, origin: Origin) -> Mapping[str, Any]:
    value = {"value": value_of(effective, knob.path), "default": knob.default}
    return {**to_builtins(knob), **value, "origin": _origin(origin)}


def _profiles() -> Iterator[str]:
    for number, profile in enumerate(PROFILES.values()):
        yield f"{chr(10) if number else ''}{profile.name}   {profile.title}"
        yield _wrapped(profile.about)
        yield from (f"{_INDENT}{line}" for line in _changes(profile))


def _changes(profile: Profile) -> Iterator[str]:
    """The profile's values that differ from the defaults."""
    changed = profile.changes
    if not changed:
        yield "All settings at their defaults."
    width = max(map(len, changed), default=0)
    for path, value in changed.items():
        default = render_value(find_knob(path).default)
        yield f"{path:<{width}}  {render_value(value)}  (default {default})"
