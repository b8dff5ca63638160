"""Chats without the app: prints the whole discovery loop as it happens."""

from functools import partial
from typing import Any

import click

from inspector.cli.catalog import say_budget
from inspector.cli.chat.transcript import Transcript, how_to_install
from inspector.cli.launch import run_headless
from inspector.cli.model_failure import model_failure
from inspector.cli.options import Options, as_json, options, shared
from inspector.cli.table import say, say_json
from inspector.core.error import ConfigError, ModelError
from inspector.core.events import Failed
from inspector.core.events.base import record_json
from inspector.session.workbench import Workbench


@click.command()
@click.argument("message", nargs=-1, required=True)
@shared
@as_json
def chat(message: tuple[str, ...], as_json: bool, **values: Any) -> None:
    """Send each MESSAGE in turn and run the discovery loop.

    \b
    toolsight chat "Which orders shipped late?" --config .mcp.json --model openai/gpt-5
    """
    chosen = options(**values)

    async def work(bench: Workbench) -> None:
        try:
            await converse(bench, message, chosen, quiet=as_json)
        finally:
            if as_json:
                say_json([record_json(record) for record in bench.records()])
        if not as_json and bench.state.budget is not None:
            say()
            say_budget(bench.state.budget)

    run_headless(chosen, work, record=True)


async def converse(
    bench: Workbench, messages: tuple[str, ...], chosen: Options, *, quiet: bool = False
) -> None:
    """Send user messages and print the transcript. Raises ModelError if the model fails.

    Raises ConfigError if the settings do not allow a turn.
    """
    advice = partial(how_to_install, chosen, whole=bench.sight.is_whole)
    stop = bench.subscribe(Transcript(advice).on_record) if not quiet else lambda: None
    try:
        for text in messages:
            ended = await bench.chat(text)
            if ended.outcome == "refused":
                raise ConfigError("the message was not sent to the model", hint=ended.text)
            if ended.outcome == "failed":
                raise _failure(bench)
    finally:
        stop()


def _failure(bench: Workbench) -> ModelError:
    """The failure that ended the turn."""
    failed = bench.records(kinds=("error",))[-1].event
    assert isinstance(failed, Failed)
    return model_failure(failed, bench.session_id)
