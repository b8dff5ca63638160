"""Says what is wrong with the settings, as found on the connected servers."""

import sys
from collections.abc import Iterable
from dataclasses import asdict

from inspector.cli.launch import run_headless
from inspector.cli.options import Options
from inspector.cli.outcome import Exit
from inspector.cli.problem import problem_line, require_policy
from inspector.cli.render import say, say_json
from inspector.core.number import count
from inspector.core.setting_problem import SettingProblem
from inspector.session.workbench import Workbench


def check_settings(options: Options, *, as_json: bool) -> None:
    """Connect, print the problems, and exit with 3 if there is any, even one that cannot be checked.

    Raises ConfigError if a pattern of the policy matches no tool.
    """
    found: list[SettingProblem] = []

    async def work(bench: Workbench) -> None:
        found.extend(bench.state.problems)
        if as_json:
            say_json([asdict(problem) for problem in found])
        else:
            _say(bench, found)

    run_headless(options, work, listing=True, tell_problems=False, requires_policy=False)
    require_policy(found)
    if found:
        sys.exit(Exit.GATE)


def _say(bench: Workbench, problems: Iterable[SettingProblem]) -> None:
    for problem in problems:
        say(problem_line(problem))
    servers = f"{bench.state.ready_servers} of {count(len(bench.state.servers), 'server')} connected"
    tools = count(len(bench.catalog.tools), "permitted tool")
    say(f"{count(len(bench.state.problems), 'problem')} in the settings; {servers}, {tools}")
