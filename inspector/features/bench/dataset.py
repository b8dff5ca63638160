"""Reads the data sets for a benchmark, and adds labelled requests to one."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import click
from msgspec import Struct
from msgspec.structs import replace

from inspector.access.reach import GENERATED, EvalCase, EvalSet
from inspector.access.restriction import OpenedConfiguration, seen_cases
from inspector.cli.configuration import read_configuration
from inspector.cli.launch import every_failed, headless
from inspector.cli.location import fixtures_path
from inspector.cli.options import COMMON, Options, require_nobody, session_command
from inspector.cli.run import found_in, run
from inspector.cli.stores import open_store
from inspector.cli.table import say
from inspector.config.file import is_file
from inspector.config.reader import REQUESTS
from inspector.core.access import Sight
from inspector.core.error import ConfigError, ConnectError, command
from inspector.core.number import count
from inspector.core.settings import DiscoverySettings, GateSettings
from inspector.core.text import closest
from inspector.core.tool import Catalog
from inspector.features.bench.ranker_bench import DataSet
from inspector.search.answer.evalset import added_cases, append_cases, is_there, read_cases, read_evalset
from inspector.search.answer.expectation import as_case, resolved
from inspector.search.answer.generate import generate, numbered
from inspector.search.answer.request_file import is_json, read_expectations
from widgets import visible


class LiveCatalog(Struct, frozen=True):
    """The permitted tools of the servers that connected, by which sight, and the settings for searches.

    `requests` is the file of requests beside them, see `Configuration`.
    """

    catalog: Catalog
    settings: DiscoverySettings
    gate: GateSettings
    sight: Sight
    requests: str = ""


def connect_catalog(options: Options) -> LiveCatalog:
    """Connect to the servers that the options name, list their tools, and disconnect.

    Failed servers are named on stderr. Raises ConfigError without any tool, ConnectError if all failed.
    """
    return run(_listed(options, read_configuration(options)))


async def _listed(options: Options, opened: OpenedConfiguration) -> LiveCatalog:
    own = opened.seen.settings
    # Only the list is needed: nothing is searched, so nothing is embedded.
    settings = replace(own, discovery=replace(own.discovery, embedding_model="none"))
    async with headless(options, opened.using(settings)) as bench:
        if not bench.catalog.tools:
            problem = ConnectError if every_failed(bench.state.servers.values()) else ConfigError
            raise problem("there are no tools to search", hint=f"{command('servers')} shows why.")
        return LiveCatalog(
            bench.catalog, own.discovery, bench.settings.gate, bench.sight, bench.configuration.requests
        )


def read_datasets(paths: tuple[Path, ...], options: Options) -> list[DataSet]:
    """Read the data sets; connect to servers if requests are for their tools. Raises ConfigError.

    Without paths, those of the servers that were named, see `own_requests`, or else the demo's own. Servers
    that this folder configures count as named if it has a file of requests.

    A user sees the requests that permitted tools can serve; a published data set is nobody's.
    """
    is_named = bool(options.server) or options.config is not None
    is_here = is_file(Path(REQUESTS)) and found_in(Path.cwd()) is not None
    if not paths and (is_named or (is_here and not options.demo and not options.registry)):
        return [_with_requests(own_requests(options))]
    options = options if paths else replace(options, demo=True)
    live = cache(lambda: connect_catalog(options))
    if any(map(_is_folder, paths)):
        require_nobody(options)
    paths = paths or (fixtures_path() / "evalsets" / "demo.jsonl",)
    datasets = [_with_requests(_read(path, live)) for path in paths]
    _require_different([dataset.evalset.name for dataset in datasets])
    return datasets


def own_requests(options: Options) -> DataSet:
    """The file of requests beside the servers that the options name; without one, made of their tools' texts.

    Raises ConfigError.
    """
    live = connect_catalog(options)
    path = Path(live.requests)
    if is_file(path):
        return _read(path, lambda: live)
    say("Requests are generated from the tools' texts, so they are easier than real ones.", err=True)
    say(f"hint:  Write your own into {REQUESTS}, a line each: REQUEST -> TOOL.", err=True)
    tools = live.catalog.tools
    return DataSet(EvalSet(GENERATED, tools, generate(tools)), live.settings, live.gate)


def _read(path: Path, live: Callable[[], LiveCatalog]) -> DataSet:
    if _is_folder(path):
        return DataSet(replace(read_evalset(path), name=_name(path.resolve().name)), DiscoverySettings())
    # What is wrong with the file is told before anything is started.
    cases, lines = (read_cases(path), ()) if is_json(path) else ((), read_expectations(path))
    connected = live()
    is_whole = connected.sight.is_whole
    named = (resolved(one, connected.catalog, is_whole=is_whole) for one in lines)
    cases = (*cases, *(as_case(one, number) for number, one in enumerate(named, 1)))
    evalset = EvalSet(_name(path.stem), connected.catalog.tools, seen_cases(cases, connected.sight))
    require_tools(connected, evalset.unknown(), where=str(path))
    return DataSet(evalset, connected.settings, connected.gate)


def _with_requests(dataset: DataSet) -> DataSet:
    evalset = dataset.evalset
    if not evalset.cases:
        raise ConfigError(
            f"{evalset.name} has no requests",
            hint="Generate some with `toolsight bench label FILE --generate`.",
        )
    return dataset


def require_tools(live: LiveCatalog, unknown: Sequence[str], *, where: str) -> None:
    """Raise ConfigError, with the closest names, if there are `unknown` ids."""
    if not unknown:
        return
    more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
    near = closest(unknown[0], list(live.catalog.by_id))
    hint = f"Closest: {', '.join(near)}." if near else f"{command('tools')} lists the tools."
    raise ConfigError(f"{where}: unknown tool '{unknown[0]}'{more}", hint=hint)


def _require_different(names: Sequence[str]) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ConfigError(
            f"two data sets are named '{twice[0]}'",
            hint="Results are listed by folder or file name, so rename one of them.",
        )


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        # No file can have this name: reading it reports that.
        return False


def _name(text: str) -> str:
    """A name that is safe on one line of any report."""
    return visible(" ".join(text.split()), newlines=False)


_Path = click.Path(path_type=Path)


@session_command(takes=COMMON)
@click.argument("file", type=_Path)
@click.option("--from-log", is_flag=True, help="Add the models' recorded searches that led to a call.")
@click.option("--generate", "generates", is_flag=True, help="Write requests for every tool to a new FILE.")
def label(
    file: Path,
    from_log: bool,
    generates: bool,
    chosen: Options,
) -> None:
    """Add labelled requests to FILE, for `bench --data`.

    If you pass servers, the labelled tools must exist there.

    \b
    toolsight bench label mine.jsonl --from-log
    toolsight bench label mine.jsonl --generate --config .mcp.json
    """
    if from_log == generates:
        raise click.UsageError("Use exactly one of --from-log and --generate.")
    if generates:
        _generate(file, chosen)
        return
    require_nobody(chosen)
    known = read_cases(file) if is_there(file) else ()
    cases = _logged(chosen, known)
    if cases and (chosen.demo or chosen.server or chosen.config is not None):
        _require_known(cases, chosen)
    if cases:
        append_cases(file, numbered(cases, [case.id for case in known]))
    say(f"added {len(cases)}; {file} now has {count(len(known) + len(cases), 'request')}")


def _generate(file: Path, chosen: Options) -> None:
    """Write requests for every tool, without a language model, for a person to review."""
    if is_there(file):
        raise ConfigError(
            f"{file} already exists", hint="Choose another file; existing labels are never overwritten."
        )
    cases = generate(connect_catalog(chosen).catalog.tools)
    append_cases(file, cases)
    kinds = Counter(case.kind for case in cases)
    say(f"{count(len(cases), 'request')}: {', '.join(f'{number} {kind}' for kind, number in kinds.items())}")
    say("Review them: they reuse the tools' wording, and the impossible ones are guesses.")


def _logged(chosen: Options, known: Sequence[EvalCase]) -> tuple[EvalCase, ...]:
    """The requests of the recorded sessions, except those already in the file."""
    store = open_store(chosen)
    stored = reversed(store.sessions())
    records = (record for summary in stored for record in store.read(summary.id))
    return added_cases(records, known)


def _require_known(cases: Sequence[EvalCase], chosen: Options) -> None:
    live = connect_catalog(chosen)
    unknown = EvalSet("", live.catalog.tools, tuple(cases)).unknown()
    require_tools(live, unknown, where="nothing was added")
