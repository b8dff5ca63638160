"""A marketplace to be measured: the demo's catalog, and a larger one made of its texts."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from inspector.core.plugin import Plugin
from inspector.core.settings import DiscoverySettings
from inspector.registry.marketplace.marketplace import PluginSearch
from inspector.research.source import Source, Steps

_LOOK_S = 0.2


def synthetic_plugins(plugins: Sequence[Plugin], number: int) -> tuple[Plugin, ...]:
    """So many entries without lists of tools, as most are in public registries.

    What each does is what two tools of the given plugins do, every time another two as long as there are any.
    """
    texts = [tool.description for plugin in plugins for tool in plugin.tools if tool.description]
    if not texts:
        return ()
    made = []
    for at in range(number):
        base, first = plugins[at % len(plugins)], at % len(texts)
        second = (first + 1 + at // len(texts)) % len(texts)
        about = f"{texts[first]} {texts[second]}"
        made.append(replace(base, name=f"synthetic/{base.label}-{at}", description=about, tools=()))
    return tuple(made)


@contextmanager
def opened_market(plugins: Sequence[Plugin], source: Source, steps: Steps) -> Iterator[PluginSearch]:
    """A search of these plugins with the default settings, embedded. Raises ToolsightError and Stopped."""
    with asyncio.Runner() as runner:
        search = PluginSearch(
            plugins,
            DiscoverySettings(),
            source.clock,
            embedder=source.embedder,
            static=source.static,
            vectors=source.vectors,
        )

        async def embed() -> None:
            search.offer(())
            settled = asyncio.create_task(search.settled())
            while not settled.done():
                steps(f"marketplace: index of {len(plugins)} entries")
                await asyncio.wait([settled], timeout=_LOOK_S)
            settled.result()

        try:
            runner.run(embed())
            search.warm()
            yield search
        finally:
            search.close()
