"""What a check finds in real catalogs, by rule: a section of docs/papers/descriptions.md.

`python -m docs.benchmark.findings FILE_OR_FOLDER...` prints the shares of tools and servers for each: stored
listings, data sets or folders of `docs.hard.capture`. `--hits N` prints N findings of each rule to be read;
what they quote is not ours. `--speed` measures 100 of all servers together, as each client gets them.
"""

import random
import sys
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from docs.benchmark import say
from docs.benchmark.trust import instructions_in
from inspector.clients.client import real_clients
from inspector.clients.deliver import deliver
from inspector.clients.delivery import Listed
from inspector.core.number import wilson
from inspector.core.tool import Tool
from inspector.features.check.definition_rule import RULES, definition_findings
from inspector.features.check.finding import Finding
from inspector.features.check.trust_rule import trust_findings
from inspector.mcp.recorded_link import read_definitions

_SEED, _SERVERS, _CLIENTS = 7, 100, 20


def _listed(tools: Sequence[Tool], said: Mapping[str, str]) -> list[Listed]:
    of_servers: dict[str, list[Tool]] = {}
    for tool in tools:
        of_servers.setdefault(tool.server, []).append(tool)
    return [Listed(name, of, instructions=said.get(name, "")) for name, of in of_servers.items()]


def findings(tools: Sequence[Tool], said: Mapping[str, str]) -> list[Finding]:
    return list(definition_findings(_listed(tools, said), real_clients()))


def _share(accused: int, of: int) -> str:
    low, high = wilson(accused / of, of)
    return f"{accused / of:.0%} [{low * 100:.0f}, {high * 100:.0f}]" if accused else "0"


def _of_tools(found: Sequence[Finding], tools: Sequence[Tool]) -> str:
    """The share of tools that are accused."""
    return _share(len({(one.server, tool) for one in found for tool in one.tools or (one.tool,)}), len(tools))


def _of_servers(found: Sequence[Finding], tools: Sequence[Tool]) -> str:
    servers = len({tool.server for tool in tools})
    return _share(len({one.server for one in found}), servers) if servers > 1 else "–"


def _tables(catalogs: Mapping[str, tuple[Sequence[Tool], Sequence[Finding]]]) -> None:
    """A table of tools and one of servers, with a column for each catalog."""
    heads = (f"{name} ({len(t):,} of {len({one.server for one in t})})" for name, (t, _) in catalogs.items())
    head = f"| rule | {' | '.join(heads)} |\n|---|{'--:|' * len(catalogs)}"
    for what, cell in (("tools", _of_tools), ("servers", _of_servers)):
        say(f"\n{what} that a rule accuses\n\n{head}")
        for rule in RULES:
            mine = ([one for one in found if one.rule is rule] for _, found in catalogs.values())
            cells = [cell(some, t) for some, (t, _) in zip(mine, catalogs.values(), strict=True)]
            say(f"| {rule.name} ({rule.severity}) | {' | '.join(cells)} |")


def _hits(found: Sequence[Finding], number: int) -> None:
    for rule in RULES:
        mine = [one for one in found if one.rule is rule]
        for one in random.Random(_SEED).sample(mine, min(number, len(mine))):
            say(f"  {rule.name} {one.subject} [{one.client}]: {one.message} {one.proof}")


def _speed(catalogs: Sequence[tuple[Sequence[Tool], dict[str, str]]]) -> None:
    """Processor seconds, of user and system, for so many whole servers."""
    by_server: dict[str, list[Tool]] = defaultdict(list)
    for number, (tools, _) in enumerate(catalogs):
        for tool in tools:
            by_server[f"{number} {tool.server}"].append(tool)
    chosen = random.Random(_SEED).sample(sorted(by_server), min(_SERVERS, len(by_server)))
    tools = list({tool.id: tool for name in chosen for tool in by_server[name]}.values())
    said = {name: text for _, texts in catalogs for name, text in texts.items()}
    clients, listed = real_clients(), _listed(tools, said)
    what = f"{len(chosen)} servers, {len(tools):,} tools"
    start = time.process_time()
    verdicts = sum(len(one.tools) for client in clients[:_CLIENTS] for one in deliver(client, listed))
    taken = time.process_time() - start
    say(f"{what}, {_CLIENTS} clients: {verdicts:,} verdicts on tools, {taken:.1f} CPU s")
    start = time.process_time()
    number = len(findings(tools, said)) + len(list(trust_findings(tools, said)))
    taken = time.process_time() - start
    say(f"{what}, {len(clients)} clients: {number:,} findings, {taken:.1f} CPU s")


def main() -> int:
    words = iter(sys.argv[1:])
    paths, hits, is_speed = list[Path](), 0, False
    for word in words:
        if word == "--hits":
            hits = int(next(words))
        elif word == "--speed":
            is_speed = True
        else:
            paths.append(Path(word))
    catalogs = [(read_definitions([path]), instructions_in(path)) for path in paths]
    if is_speed:
        _speed(catalogs)
        return 0
    names = [path.parent.name if path.name == "tools.jsonl" else path.stem for path in paths]
    named = zip(names, catalogs, strict=True)
    results = {name: (tools, findings(tools, said)) for name, (tools, said) in named}
    _tables(results)
    for name, (_, found) in results.items() if hits else ():
        say(f"\n{name}")
        _hits(found, hits)
    return 0


if __name__ == "__main__":
    sys.exit(main())
