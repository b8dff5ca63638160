"""The demo: nine real servers, one conversation, and what discovery saved."""

import sys

import click
from msgspec.structs import replace

from inspector.cli.options import AS_JSON, COMMON, Options, as_json, session_command


@session_command(takes=COMMON)
@click.option("--headless", is_flag=True, help="Print the scripted conversation instead of opening the app.")
@click.option("--scenario", default="", metavar="NAME", help="Play this scenario, such as marketplace.")
@as_json
def demo(headless: bool, scenario: str, chosen: Options) -> None:
    """Open the app on the demo servers.

    Without a terminal, or with --headless, print the scripted conversation.

    \b
    toolsight demo --headless
    """
    is_json = AS_JSON in click.get_current_context().meta
    without_app = headless or is_json or not (sys.stdin.isatty() and sys.stdout.isatty())
    if scenario:
        from inspector.cli.location import scenario_path

        scenario_path(scenario)
    if without_app and scenario:
        from inspector.features.lab.command import play_named

        play_named(scenario, replace(chosen, demo=True))
    elif without_app:
        from inspector.features.demo.conversation import play

        play(chosen)
    else:
        from inspector.cli.open_app import open_app

        open_app(replace(chosen, demo=True), scenario=scenario)
