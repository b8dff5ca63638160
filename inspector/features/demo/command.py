"""The demo: nine real servers, one conversation, and what discovery saved."""

import sys

import click
from msgspec.structs import replace

from inspector.cli.options import AS_JSON, COMMON, Options, as_json, session_command


@session_command(takes=COMMON)
@click.option("--headless", is_flag=True, help="Print the scripted conversation instead of opening the app.")
@as_json
def demo(headless: bool, chosen: Options) -> None:
    """Open the app on the demo servers.

    Without a terminal, or with --headless, print the scripted conversation.

    \b
    toolsight demo --headless
    """
    is_json = AS_JSON in click.get_current_context().meta
    if headless or is_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        from inspector.features.demo.conversation import play

        play(chosen)
    else:
        from inspector.cli.open_app import open_app

        open_app(replace(chosen, demo=True))
