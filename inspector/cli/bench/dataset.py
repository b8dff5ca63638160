"""Reads the data sets for a benchmark."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from inspector.access.evaluation import EvalSet
from inspector.access.restriction import seen_cases
from inspector.cli.composition import fixtures_path
from inspector.cli.live_catalog import LiveCatalog, connect_catalog
from inspector.cli.options import Options, require_nobody
from inspector.cli.render import say
from inspector.core.closest import closest
from inspector.core.error import ConfigError
from inspector.core.settings import DiscoverySettings
from inspector.measure.evalset import read_cases, read_evalset, read_tools, sample
from inspector.measure.ranker_bench import DataSet
from inspector.search.generate import generate
from widgets import visible


@dataclass(frozen=True, slots=True)
class Selection:
    """The data sets that were asked for.

    Without paths, requests generated from the tools of the servers that were named, or else the demo's own.
    """

    paths: tuple[Path, ...]
    distractors: Path | None = None
    count: int | None = None


def read_datasets(selection: Selection, options: Options) -> list[DataSet]:
    """Read the data sets; connect to servers if requests are for their tools. Raises ConfigError.

    A user sees the requests that permitted tools can serve; a published data set is nobody's.
    """
    if not selection.paths and (options.server or options.config is not None):
        return [_shaped(generated(options), selection)]
    options = options if selection.paths else replace(options, demo=True)
    live = cache(lambda: connect_catalog(options))
    if any(map(_is_folder, selection.paths)):
        require_nobody(options)
    paths = selection.paths or (fixtures_path() / "evalsets" / "demo.jsonl",)
    datasets = [_shaped(_read(path, live), selection) for path in paths]
    _require_different([dataset.evalset.name for dataset in datasets])
    return datasets


def generated(options: Options) -> DataSet:
    """Requests made of the texts of the tools that the options name. Raises ConfigError."""
    say("Requests are generated from the tools' texts, so they are easier than real ones.", err=True)
    say("hint:  Label your own requests with `toolsight bench label` and pass them with --data.", err=True)
    live = connect_catalog(options)
    tools = live.catalog.tools
    if not tools:
        raise ConfigError("there are no tools to search", hint="`toolsight servers` shows why.")
    return DataSet(EvalSet("generated", tools, generate(tools)), live.settings, live.gate)


def _read(path: Path, live: Callable[[], LiveCatalog]) -> DataSet:
    if _is_folder(path):
        return DataSet(replace(read_evalset(path), name=_name(path.resolve().name)), DiscoverySettings())
    cases = read_cases(path)
    connected = live()
    evalset = EvalSet(_name(path.stem), connected.catalog.tools, seen_cases(cases, connected.sight))
    require_tools(connected, evalset.unknown(), where=str(path))
    return DataSet(evalset, connected.settings, connected.gate)


def _shaped(dataset: DataSet, selection: Selection) -> DataSet:
    evalset = dataset.evalset
    if not evalset.cases:
        raise ConfigError(
            f"{evalset.name} has no requests", hint="Generate some with `toolsight bench label --generate`."
        )
    if selection.distractors is not None:
        folder = selection.distractors
        name = f"{evalset.name}+{_name(folder.resolve().name)}"
        evalset = evalset.with_distractors(name, read_tools(folder))
    if selection.count is not None:
        evalset = sample(evalset, selection.count)
    return replace(dataset, evalset=evalset)


def require_tools(live: LiveCatalog, unknown: Sequence[str], *, where: str) -> None:
    """Raise ConfigError, with the closest names, if there are `unknown` ids."""
    if not unknown:
        return
    more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
    near = closest(unknown[0], list(live.catalog.by_id))
    hint = f"Closest: {', '.join(near)}." if near else "`toolsight tools` lists the tools."
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
