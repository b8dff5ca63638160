"""What a check finds in real catalogs, by rule: a section of docs/papers/descriptions.md.

`python -m docs.benchmark.findings FILE_OR_FOLDER...` prints the shares of tools and servers for each: stored
listings, data sets or folders of `docs.hard.capture`. `--hits N` prints N findings of each rule to be read;
what they quote is not ours. `--speed` measures 100 of all servers together, as each client gets them.
Nothing is embedded; requests of tools without labelled ones are made of their own texts.
"""

import random
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from docs.benchmark import say
from docs.benchmark.trust import instructions_in
from inspector.clients.client import all_clients
from inspector.core.number import wilson
from inspector.core.tool import Tool
from inspector.mcp.tool_file import read_definitions
from inspector.measure.check.definition_rule import RULES, definition_findings
from inspector.measure.check.finding import Finding, Rule
from inspector.measure.check.trust_rule import trust_findings
from inspector.search.index import ToolIndex

_SEED, _SERVERS = 7, 100


def findings(tools: Sequence[Tool], said: dict[str, str]) -> list[Finding]:
    return list(definition_findings(ToolIndex(tools), all_clients(), said))


def _share(accused: int, of: int) -> str:
    low, high = wilson(accused / of, of)
    return f"{accused / of:.1%} [{low:.0%}, {high:.0%}]" if accused else "0"


def _row(rule: Rule, found: Sequence[Finding], tools: Sequence[Tool]) -> Iterator[str]:
    """The shares of tools, of those where it is felt, and of servers."""
    mine = [one for one in found if one.rule is rule]
    felt = {one.subject for one in mine if one.is_felt}
    yield _share(len({one.subject for one in mine}), len(tools))
    yield _share(len(felt), len(tools))
    yield _share(len({one.server for one in mine}), len({tool.server for tool in tools}))


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
    clients = all_clients()
    start = time.process_time()
    number = len(findings(tools, said)) + len(list(trust_findings(tools, said)))
    taken = time.process_time() - start
    what = f"{len(chosen)} servers, {len(tools):,} tools, {len(clients)} clients"
    say(f"{what}: {number:,} findings, {taken:.1f} CPU s")


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
    for path, (tools, said) in zip(paths, catalogs, strict=True):
        found = findings(tools, said)
        name = path.parent.name if path.name == "tools.jsonl" else path.stem
        say(f"\n{name}: {len(tools):,} tools of {len({tool.server for tool in tools})} servers")
        say("| rule | severity | tools | felt | servers |\n|---|---|--:|--:|--:|")
        for rule in RULES:
            say(f"| {rule.name} | {rule.severity} | {' | '.join(_row(rule, found, tools))} |")
        _hits(found, hits)
    return 0


if __name__ == "__main__":
    sys.exit(main())
