"""The report's sections, and making them."""

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module

from msgspec import Struct
from msgspec.structs import replace

from docs.papers.report import Section, real_first
from docs.papers.source import Source, Steps
from inspector.core.error import ConfigError
from inspector.core.text import closest

SEEDS, TASKS = 3, 500
# The encoding that Tool Attention counts with.
ATTENTION_ENCODING = "cl100k_base"
# The section of Tool Attention's main results.
MAIN = "attention-main"

Maker = Callable[[Source, Steps], tuple[Section, ...]]


class Chapter(Struct, frozen=True):
    """One or more sections that are made together. `about` says in one line what is measured."""

    id: str
    title: str
    source: str
    about: str
    make: Maker

    def sections(self, source: Source, steps: Steps) -> tuple[Section, ...]:
        """Measure; what rests on real data stands first. Raises ToolsightError and Stopped."""
        return tuple(map(real_first, self.make(source, steps)))


def _one(module: str, name: str) -> Maker:
    """The function that makes one section, imported on use so that the app's start does not wait for it."""

    def make(source: Source, steps: Steps) -> tuple[Section, ...]:
        section = getattr(import_module(f"docs.papers.{module}"), name)(source, steps)
        assert isinstance(section, Section)
        return (section,)

    return make


def _attention(source: Source, steps: Steps) -> tuple[Section, ...]:
    from docs.papers.attention import attention_sections
    from docs.papers.source import StoredEmbedder

    steps("testbed")
    embedder = source.embedder
    sections = attention_sections(
        source.counter_like(ATTENTION_ENCODING),
        StoredEmbedder(embedder, source.vectors) if embedder is not None else None,
        steps,
        static=source.static,
        seeds=SEEDS,
        tasks=TASKS,
    )
    return sections if source.embedder is None else _with_requests(sections, source, steps)


def _with_requests(sections: tuple[Section, ...], source: Source, steps: Steps) -> tuple[Section, ...]:
    """The sections; the one on tokens and retrieval also has what real catalogs' requests show."""
    from docs.papers.catalog_size import meter_of
    from docs.papers.labelled import request_table

    table = request_table(source, meter_of(source.counter_like(ATTENTION_ENCODING)), steps)
    if not table.rows:
        return sections
    return tuple(replace(one, tables=(table, *one.tables)) if one.id == MAIN else one for one in sections)


# What rests on real catalogs stands first, the generated testbed last.
CHAPTERS: tuple[Chapter, ...] = (
    Chapter(
        "catalog-size",
        "Tokens by catalog size",
        "semantic tool discovery, Table 1",
        "static binding and a first call with discovery: real catalogs, then generated ones",
        _one("catalog_size", "catalog_size"),
    ),
    Chapter(
        "reduction",
        "Reduction as a factor",
        "layered composition; MCP-Zero",
        "the 9x and 98 % in the same form, and where discovery becomes cheaper",
        _one("caching", "token_reduction"),
    ),
    Chapter(
        "latency",
        "Latency of retrieval",
        "semantic tool discovery, Table 2",
        "each tier's median and p95 on this machine",
        _one("latency", "latency"),
    ),
    Chapter(
        "accuracy",
        "Discovery accuracy",
        "semantic tool discovery, equation 4",
        "the share of discovered tools that are used: labelled requests, then scripted scenarios",
        _one("accuracy", "accuracy"),
    ),
    Chapter(
        "criteria",
        "Success criteria",
        "PRD section 6",
        "each criterion with a measurement",
        _one("accuracy", "criteria"),
    ),
    Chapter(
        "poison",
        "Poisoned descriptions",
        "Tool Attention, section 7.6",
        "how often each gate keeps a poisoned description out: exposure",
        _one("poison", "poison"),
    ),
    Chapter(
        "attention",
        "Tool Attention's testbed",
        "Tool Attention, sections 5.6, 6 and 7",
        "requests over real catalogs; then 120 generated tools, 500 tasks: tokens, retrieval, ablations",
        _attention,
    ),
)


def chapters(names: Sequence[str]) -> tuple[Chapter, ...]:
    """The chapters with these ids, each once, in report order. Raises ConfigError with the closest ids."""
    known = [chapter.id for chapter in CHAPTERS]
    for name in names:
        if name not in known:
            near = closest(name, known) or tuple(known)
            raise ConfigError(f"there is no section '{name}'", hint=f"Choose from: {', '.join(near)}.")
    return tuple(chapter for chapter in CHAPTERS if chapter.id in names)


def make(wanted: Sequence[Chapter], source: Source, steps: Steps) -> Iterator[Section]:
    """Yield each section of these chapters as soon as it is made. Raises ToolsightError and Stopped."""
    for chapter in wanted:
        steps(chapter.title)
        yield from chapter.sections(source, steps)
