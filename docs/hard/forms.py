"""Shows a form for every tool of files of real definitions, fills it, and calls; prints what failed.

    python -m docs.hard.forms ../shared/data/pool_docker/tools.jsonl ../shared/data/azure_mcp/tools.jsonl

A file is a `tools.jsonl`, or JSON with the answer of `tools/list` at `tools`.
"""

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from textual.app import App, ComposeResult

from inspector.features.tools.call_form import CallForm
from inspector.schema.schema import defaults
from widgets import SchemaForm


class FormApp(App[None]):
    """A screen with nothing but the form."""

    def compose(self) -> ComposeResult:
        yield SchemaForm()


def tools_of(path: Path) -> Iterator[dict[str, Any]]:
    """The definitions in a file."""
    if path.suffix == ".jsonl":
        yield from map(json.loads, path.read_text().splitlines())
        return
    answer = json.loads(path.read_text())
    listed = answer["tools"]
    yield from listed["tools"] if isinstance(listed, dict) else listed


async def flaw(app: App[None], wait: Any, schema: dict[str, Any]) -> str:
    """What is wrong with the form for a schema; "" if nothing is."""
    form, widget = CallForm.of(schema), app.query_one(SchemaForm)
    widget.fields = form.fields
    await wait()
    if len(widget.rows) != len(form.fields):
        return f"{len(widget.rows)} rows for {len(form.fields)} fields"
    widget.errors()
    sent = form.arguments(widget.values())
    lost = [name for name, value in defaults(schema).items() if value is not None and name not in sent]
    again = CallForm.of(schema, sent)
    return f"defaults left out: {', '.join(lost)}" if lost else "" if again.holds(sent) else "does not hold"


async def main(paths: list[Path]) -> int:
    """Print a line for each file and each failure; 1 if there is one."""
    failed = 0
    app = FormApp()
    async with app.run_test(size=(100, 40)) as pilot:
        for path in paths:
            tools = list(tools_of(path))
            for tool in tools:
                try:
                    said = await flaw(app, pilot.pause, tool["inputSchema"])
                except Exception as error:
                    said = repr(error)
                failed += bool(said)
                if said:
                    sys.stdout.write(f"{path.parent.name}/{path.name} {tool['name']}: {said}" + "\n")
            sys.stdout.write(f"{path.parent.name}/{path.name}: {len(tools)} tools" + "\n")
    sys.stdout.write(f"{failed} failures" + "\n")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(asyncio.run(main([Path(word) for word in sys.argv[1:]])))
