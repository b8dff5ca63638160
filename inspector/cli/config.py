"""`toolsight config`: every setting with its value and origin, the profiles, and the keys."""

import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from textwrap import fill
from typing import Any

import click

from inspector.cli.launch import problem_line, require_policy, run_headless
from inspector.cli.options import CommandGroup, Options, as_json, options, shared
from inspector.cli.run import Exit
from inspector.cli.table import say, say_json, say_table
from inspector.config.configuration import Configuration
from inspector.config.setting import (
    PROFILES,
    Knob,
    Origin,
    Profile,
    find_knob,
    find_profile,
    knobs,
    origins,
    profile_settings,
    render_value,
    value_of,
)
from inspector.core.number import count
from inspector.core.setting_problem import SettingProblem
from inspector.core.settings import Settings
from inspector.session.workbench import Workbench


@click.group(cls=CommandGroup, modules={"settings": "config", "keys": "config"})
def config() -> None:
    """List or check the settings, profiles and keys.

    \b
    toolsight config settings --profiles
    """


def keys_path() -> Path:
    """Where the file of keys is looked for."""
    import platformdirs

    return platformdirs.user_config_path("toolsight") / "keys.json"


def read_keys() -> Mapping[str, Any]:
    """Return a person's own keys by binding id; empty without a file. Raises ConfigError."""
    path = keys_path()
    if not path.exists():
        return {}
    from inspector.config.file import load_object

    return load_object(path)


@click.command()
@as_json
def keys(as_json: bool) -> None:
    """List every key of the app, with its id.

    To change keys, list them by id in keys.json in the configuration folder: {"place.find": "ctrl+f"}.

    \b
    toolsight config keys
    """
    from inspector.app.app import ToolsightApp
    from inspector.app.keymap import bound_keys, checked

    keymap, problems = checked(read_keys(), ToolsightApp)
    bound = bound_keys(ToolsightApp)
    if as_json:
        say_json({"file": str(keys_path()), "keys": [asdict(key) for key in bound], "changed": keymap})
        return
    say(f"Your keys: {keys_path()}{'' if keys_path().exists() else ' (not created yet)'}")
    for problem in problems:
        say(f"✕ {problem}")
    say()
    rows = [(key.id, keymap.get(key.id, key.keys), key.title, key.where) for key in bound]
    say_table(("id", "keys", "what", "where"), rows, whole=frozenset({0}))


def check_settings(options: Options, *, as_json: bool) -> None:
    """Connect, print the problems, and exit with 3 if there is any, even one that cannot be checked.

    Raises ConfigError if a pattern of the policy matches no tool.
    """
    found: list[SettingProblem] = []

    async def work(bench: Workbench) -> None:
        found.extend(bench.state.problems)
        if as_json:
            say_json([asdict(problem) for problem in found])
        else:
            _say(bench, found)

    run_headless(options, work, listing=True, tell_problems=False, requires_policy=False)
    require_policy(found)
    if found:
        sys.exit(Exit.GATE)


def _say(bench: Workbench, problems: Iterable[SettingProblem]) -> None:
    for problem in problems:
        say(problem_line(problem))
    servers = f"{bench.state.ready_servers} of {count(len(bench.state.servers), 'server')} connected"
    tools = count(len(bench.catalog.tools), "permitted tool")
    say(f"{count(len(bench.state.problems), 'problem')} in the settings; {servers}, {tools}")


_VALUE_WIDTH = 24
_INDENT = "    "
_WIDEST = 110


@click.command()
@click.option("--profiles", is_flag=True, help="List the profiles, and what each changes.")
@click.option(
    "--check",
    is_flag=True,
    help="Connect and check the settings; exit with 3 if there are problems.",
)
@shared
@as_json
def settings(profiles: bool, check: bool, as_json: bool, **values: Any) -> None:
    """List every setting and where its value comes from.

    Without a configuration, values come from the profile and from --set.

    \b
    toolsight config settings --check --config .mcp.json
    """
    chosen = options(**values)
    if profiles:
        _say_profiles(as_json=as_json)
    elif check:
        check_settings(chosen, as_json=as_json)
    else:
        _say_settings(chosen, _configuration(chosen), as_json=as_json)


def _configuration(chosen: Options) -> Configuration:
    from inspector.cli.configuration import read_configuration
    from inspector.cli.location import configuration_path

    return read_configuration(chosen).unrestricted if configuration_path(chosen) else Configuration("", ())


def _say_settings(chosen: Options, configuration: Configuration, *, as_json: bool) -> None:
    profile = find_profile(chosen.profile or configuration.profile)
    values = {**configuration.values, **chosen.settings}
    effective = _seen(profile_settings(profile.name, configuration.settings, values))
    sources = origins(configuration.settings, profile.values, configuration.values, chosen.settings)
    if as_json:
        rows = [_as_object(knob, effective, sources[knob.path]) for knob in knobs()]
        say_json({"config": configuration.source, "profile": profile.name, "settings": rows})
        return
    source = configuration.source or "no configuration in this folder"
    say(f"profile {profile.name}   {source}   * differs from the default")
    for section, group in groupby(knobs(), key=lambda knob: knob.path.partition(".")[0]):
        say(f"\n{section}")
        for knob in group:
            say(_line(knob, value_of(effective, knob.path), sources[knob.path]))
            say(_wrapped(f"{knob.about} [{knob.allowed}]"))


def _seen(settings: Settings) -> Settings:
    """What is left of the settings for who sees them. Raises ConfigError."""
    if not any((settings.access.policy, settings.access.user, settings.access.expert)):
        return settings
    from inspector.access.restriction import AccessControl
    from inspector.cli.configuration import load_policy

    return AccessControl(settings.access, load_policy).settings(settings)


def _line(knob: Knob, value: Any, origin: Origin) -> str:
    width = max(len(other.path) for other in knobs())
    shown = render_value(value) or "-"
    mark = " " if value == value_of(Settings(), knob.path) else "*"
    return f"{mark} {knob.path:<{width}}  {shown:<{_VALUE_WIDTH}}  {_origin(origin)}"


def _origin(origin: Origin) -> str:
    return "--set" if origin is Origin.SESSION else origin.value


def _wrapped(text: str) -> str:
    """Indented lines, at most as long as is readable, however wide the terminal is."""
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    return fill(text, width, initial_indent=_INDENT, subsequent_indent=_INDENT, break_on_hyphens=False)


def _as_object(knob: Knob, effective: Settings, origin: Origin) -> Mapping[str, Any]:
    value = {"value": value_of(effective, knob.path), "default": value_of(Settings(), knob.path)}
    return {**asdict(knob), **value, "origin": _origin(origin)}


def _say_profiles(*, as_json: bool) -> None:
    if as_json:
        say_json([asdict(profile) for profile in PROFILES.values()])
        return
    for number, profile in enumerate(PROFILES.values()):
        if number:
            say()
        say(f"{profile.name}   {profile.title}")
        say(_wrapped(profile.about))
        for line in _changes(profile):
            say(f"{_INDENT}{line}")


def _changes(profile: Profile) -> Iterator[str]:
    """The profile's values that differ from the defaults."""
    changed = {path: value for path, value in profile.values.items() if value != value_of(Settings(), path)}
    if not changed:
        yield "All settings at their defaults."
    width = max(map(len, changed), default=0)
    for path, value in changed.items():
        default = render_value(value_of(Settings(), find_knob(path).path))
        yield f"{path:<{width}}  {render_value(value)}  (default {default})"
