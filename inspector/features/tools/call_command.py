"""Calls one tool by hand, or a call that was saved."""

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
from msgspec import Struct

from inspector.access.restriction import OpenedConfiguration
from inspector.cli.configuration import read_configuration
from inspector.cli.consent import confirm_call
from inspector.cli.launch import headless
from inspector.cli.location import source_words
from inspector.cli.options import COMMON, Options, as_json, session_command
from inspector.cli.run import Exit, run
from inspector.cli.table import say, show, write_file
from inspector.clients.client import real_clients
from inspector.clients.seen import kept_results
from inspector.config.file import read_bytes
from inspector.core.error import ConfigError, ToolsightError
from inspector.core.events import Record, TaskChanged
from inspector.core.message import TaskState, ToolResult
from inspector.core.number import count
from inspector.core.server import ServerPhase
from inspector.core.text import did_you_mean, file_name
from inspector.core.tool import Tool
from inspector.features.tools.call import CALL_FORMS, CallForm, read_arguments, result_changes, written
from inspector.loop.approval import why_confirm
from inspector.schema.json_value import JsonObject
from inspector.schema.schema import checked_output
from inspector.session.workbench import Workbench
from inspector.store.saved_call import SAVED_CALLS, SavedCall, save_call, saved_call

_STDIN = "-"


@session_command(takes=COMMON)
@click.argument("tool", default="", metavar="TOOL")
@click.argument("given", nargs=-1, metavar="[KEY=VALUE | KEY:=JSON]... | JSON | @FILE")
@click.option("--saved", default="", metavar="NAME", help=f"Repeat the call of that name in {SAVED_CALLS}.")
@click.option("--save", default="", metavar="NAME", help=f"Save the call and its result in {SAVED_CALLS}.")
@click.option(
    "--files",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write the result's images, sounds and blobs into this folder.",
)
@click.option(
    "--print", "form", type=click.Choice(CALL_FORMS), help="Print the call in this form instead of making it."
)
@as_json
def call(
    tool: str,
    given: tuple[str, ...],
    saved: str,
    save: str,
    files: Path | None,
    form: CallForm | None,
    chosen: Options,
) -> None:
    """Call TOOL with these arguments and print its result.

    TOOL is SERVER:NAME, or a name that only one server has. Each value is read as its parameter's type:
    text as is, anything else as JSON; KEY:=JSON is always JSON. `a.b=1` sets b of the object a, `a[]=1`
    adds to the array a. @FILE in place of a value is the file's text, and alone an object with all
    arguments; @- is the standard input. A call that destroys something asks first; --yes allows it. With
    --saved, words change the saved arguments, and the result is compared with the saved one. The exit
    code is 1 if the tool reports an error, was not called, or its result does not fit its output schema.

    \b
    toolsight call weather:get_forecast city=Oslo days=3 --save oslo --demo
    toolsight call --saved oslo --demo
    toolsight call get_forecast '{"city": "Oslo", "days": 3}' --print json-rpc --demo
    """
    before, words = None, given
    if saved:
        before = saved_call(Path(SAVED_CALLS), saved)
        tool, words = before.tool, ((tool, *given) if tool else ())
    if not tool:
        raise click.UsageError("Missing argument 'TOOL'.")
    run(_called(tool, words, chosen, _Wanted(before, save, files, form)))


class _Wanted(Struct, frozen=True):
    """What becomes of a call: compared with an earlier one, saved by a name or in files, or only printed."""

    before: SavedCall | None
    name: str
    files: Path | None
    form: CallForm | None

    def report(
        self,
        tool: Tool,
        given: JsonObject,
        result: ToolResult,
        tokens: Callable[[str], int],
        milliseconds: float,
        task: TaskState | None,
        *,
        is_http: bool,
    ) -> None:
        """Print the result and what is to be known of it, and save the call. Raises ToolsightError."""
        changes = None if self.before is None else result_changes(self.before.result, result)
        output = None if result.is_error else checked_output(tool.output_schema, result.structured)
        kept = kept_results(real_clients(), tool, result, tokens, milliseconds / 1000, is_http=is_http)
        data: dict[str, Any] = {
            "text": result.text,
            "is_error": result.is_error,
            "structured": result.structured,
            "kinds": result.kinds,
            "characters": result.whole or len(result.text),
            "is_cut": result.whole > 0,
            "tokens": result.in_whole(tokens(result.text)),
            "milliseconds": milliseconds,
            "output": output,
            "attachments": [
                {"kind": one.kind, "mime": one.mime, "uri": one.uri, "size": one.size}
                for one in result.attachments
            ],
            "clients": kept,
            "changes": changes,
            "task": task,
        }
        show(data, [result.text])
        is_misfit = output is not None and output.fits is False
        if output is not None and output.fits is not True:
            says = "does not fit" if is_misfit else "not checked"
            say(f"output schema: {says}: {'; '.join(output.reasons)}", err=True)
        if result.whole:
            say(f"{count(data['tokens'], 'token')}: {result.cut_words}", err=True)
        for line in (*kept, *(changes or ("same result as saved",) * (changes is not None))):
            say(str(line), err=True)
        for number, one in enumerate(result.attachments if self.files else (), 1):
            self._write(Path(f"{file_name(tool.name)}-{number}{one.suffix}"), one.data())
        if self.name:
            save_call(Path(SAVED_CALLS), self.name, SavedCall(tool.id, given, result))
            say(f"saved as {self.name} in {SAVED_CALLS}", err=True)
        if result.is_error or is_misfit:
            sys.exit(Exit.FAILED)

    def _write(self, name: Path, data: bytes) -> None:
        path = (self.files or Path()) / name
        write_file(path, data)
        say(f"wrote {path}", err=True)


async def _called(tool_id: str, words: Sequence[str], chosen: Options, wanted: _Wanted) -> None:
    opened = _with_its_server(read_configuration(chosen), tool_id)
    async with headless(chosen, opened, record=True, listing=True) as bench:
        tool = _tool(bench, tool_id)
        saved = wanted.before.arguments if wanted.before is not None else {}
        given = read_arguments(tool, words, _text_of, saved)
        if wanted.form:
            text = written(wanted.form, tool, given, source_words(chosen))
            show({"form": wanted.form, "call": text}, [text])
            return
        if not chosen.yes and (why := why_confirm(tool)):
            confirm_call(tool, given, why)
        tasks: list[TaskState] = []

        def on_record(record: Record) -> None:
            if isinstance(record.event, TaskChanged):
                tasks.append(record.event.state)
                say(tasks[-1].told, err=True)

        bench.subscribe(on_record)
        began = time.perf_counter()
        result = await bench.call(tool.id, given)
        took = (time.perf_counter() - began) * 1000
        last, measure = tasks[-1] if tasks else None, bench.accounting.meter.text
        is_http = any(spec.is_http for spec in opened.seen.servers if spec.name == tool.server)
        wanted.report(tool, given, result, measure, took, last, is_http=is_http)


def _text_of(name: str) -> str:
    """The text of a file, or of the standard input for `-`. Raises ConfigError."""
    if name == _STDIN:
        return sys.stdin.read()
    try:
        return read_bytes(Path(name), "text").decode()
    except UnicodeDecodeError as error:
        raise ConfigError(f"{name} is not UTF-8 text", hint="Only text can be an argument.") from error


def _tool(bench: Workbench, tool_id: str) -> Tool:
    """The tool. Raises ConfigError for an unknown one, or the error of a server that could not list it."""
    if not bench.catalog.named(tool_id):
        for server in bench.state.servers.values():
            if server.phase is ServerPhase.FAILED:
                raise ToolsightError(f"{server.name}: {server.reason}", hint=server.hint)
    try:
        return bench.catalog.require(tool_id)
    except ToolsightError as error:
        raise ConfigError(error.message, hint=error.hint) from error


def _with_its_server(opened: OpenedConfiguration, tool_id: str) -> OpenedConfiguration:
    """The configuration with the tool's server alone: no other has to start. Raises ConfigError.

    Which server a bare name belongs to is known only when all of them are connected.
    """
    name, colon, _ = tool_id.partition(":")
    if not colon:
        return opened
    known = [spec.name for spec in opened.seen.servers]
    if name not in known:
        hint = did_you_mean("Write SERVER:TOOL; servers", name, known) or "There is no server to call."
        raise ConfigError(f"there is no server for '{tool_id}'", hint=hint)
    return opened.only(name)
