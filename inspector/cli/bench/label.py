"""`toolsight bench label`: labelled requests by hand, from recorded searches, or made from a catalog."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from inspector.access.evaluation import IMPOSSIBLE, PARAPHRASE, EvalCase, EvalSet
from inspector.cli.bench.dataset import require_tools
from inspector.cli.composition import open_store
from inspector.cli.live_catalog import connect_catalog
from inspector.cli.options import Options, options, require_nobody, shared
from inspector.cli.render import say
from inspector.core.error import ConfigError, StoreError
from inspector.core.number import count
from inspector.measure.evalset import read_cases
from inspector.measure.evalset_append import append_cases, is_there
from inspector.measure.logged import logged_cases
from inspector.search.generate import PER_TOOL, generate, numbered, query_key

_Path = click.Path(path_type=Path)


def _groups(
    _context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[frozenset[str], ...]:
    """Parse each --tool into its alternatives."""
    groups = [frozenset(filter(None, map(str.strip, value.split("|")))) for value in values]
    if not all(groups):
        raise click.BadParameter("no tool given")
    return tuple(dict.fromkeys(groups))


@click.command()
@click.argument("file", type=_Path)
@click.option("--query", default="", help="The request to label.")
@click.option(
    "--tool",
    "tools",
    multiple=True,
    metavar="SERVER:NAME[|SERVER:NAME]",
    help="A tool the request needs. Repeat the option if the request needs several tools. If any one of "
    "several will do, separate them with | in quotes: --tool 'shop:find_orders|shop:list_orders'.",
    callback=_groups,
)
@click.option("--impossible", is_flag=True, help="No tool fits the request.")
@click.option("--from-log", is_flag=True, help="Add the models' recorded searches that led to a call.")
@click.option("--session", default="", help="With --from-log: only this session.")
@click.option("--generate", "generates", is_flag=True, help="Write requests for every tool to a new FILE.")
@click.option(
    "--seed", default=0, show_default=True, help="With --generate: change it to get other requests."
)
@click.option(
    "--per-tool",
    type=click.IntRange(min=1),
    default=PER_TOOL,
    show_default=True,
    help="With --generate: at most this many exact and this many paraphrased requests per tool.",
)
@shared
def label(
    file: Path,
    query: str,
    tools: tuple[frozenset[str], ...],
    impossible: bool,
    from_log: bool,
    session: str,
    generates: bool,
    seed: int,
    per_tool: int,
    **values: Any,
) -> None:
    """Add labelled requests to FILE, for `bench --data`.

    If you pass servers, the labelled tools must exist there.

    \b
    toolsight bench label mine.jsonl --query "who has not paid?" --tool shop:list_orders
    toolsight bench label mine.jsonl --generate --config .mcp.json
    """
    if [bool(tools), impossible, from_log, generates].count(True) != 1:
        raise click.UsageError("Use exactly one of --tool, --impossible, --from-log and --generate.")
    if (from_log or generates) == bool(query.strip()) or (session and not from_log):
        raise click.UsageError("--query goes with --tool or --impossible, and --session with --from-log.")
    chosen = options(**values)
    if generates:
        _generate(file, chosen, seed, per_tool)
        return
    if from_log:
        require_nobody(chosen)
    known = read_cases(file) if is_there(file) else ()
    cases = _logged(chosen, session, known) if from_log else (_labelled(query, tools, known),)
    if cases and (chosen.demo or chosen.server or chosen.config is not None):
        _require_known(cases, chosen)
    if cases:
        append_cases(file, numbered(cases, [case.id for case in known]))
    say(f"added {len(cases)}; {file} now has {count(len(known) + len(cases), 'request')}")


def _generate(file: Path, chosen: Options, seed: int, per_tool: int) -> None:
    """Write requests for every tool, without a language model, for a person to review."""
    if is_there(file):
        raise ConfigError(
            f"{file} already exists", hint="Choose another file; existing labels are never overwritten."
        )
    live = connect_catalog(chosen)
    if not live.catalog.tools:
        raise ConfigError("there are no tools to search", hint="`toolsight servers` shows why.")
    cases = generate(live.catalog.tools, seed, per_tool)
    append_cases(file, cases)
    kinds = Counter(case.kind for case in cases)
    say(f"{count(len(cases), 'request')}: {', '.join(f'{number} {kind}' for kind, number in kinds.items())}")
    say("Review them: they reuse the tools' wording, and the impossible ones are guesses.")


def _labelled(query: str, relevant: tuple[frozenset[str], ...], known: Sequence[EvalCase]) -> EvalCase:
    """The request on the command line. Raises ConfigError if the file already has it."""
    same = next((case for case in known if query_key(case.query) == query_key(query)), None)
    if same is not None:
        labels = ", ".join(sorted(tool for group in same.relevant for tool in group)) or "no tool"
        raise ConfigError(
            f"the file already has this request as '{same.id}', labelled {labels}",
            hint="Edit that line if its label is wrong.",
        )
    return EvalCase("", query, relevant, PARAPHRASE if relevant else IMPOSSIBLE)


def _logged(chosen: Options, session: str, known: Sequence[EvalCase]) -> tuple[EvalCase, ...]:
    """The requests of one recorded session, or of all, except those already in the file."""
    store = open_store(chosen)
    stored = [summary.id for summary in reversed(store.sessions())]
    if session and session not in stored:
        raise StoreError(f"there is no session '{session}'", hint="`toolsight sessions` lists them.")
    records = (record for name in ([session] if session else stored) for record in store.read(name))
    there = {query_key(case.query) for case in known}
    return tuple(case for case in logged_cases(records) if query_key(case.query) not in there)


def _require_known(cases: Sequence[EvalCase], chosen: Options) -> None:
    live = connect_catalog(chosen)
    unknown = EvalSet("", live.catalog.tools, tuple(cases)).unknown()
    require_tools(live, unknown, where="nothing was added")
