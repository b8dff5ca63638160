"""Eighty lines that carry load, each broken once: the tests that reach it have to fail.

`python -m tests.structure.mutants [WORD]` applies one mutant after another (those whose rule has the word),
runs its tests, and puts the file back. It exits with 1 if a mutant survives. Run it after cutting tests.
"""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Mutant:
    """A rule, the line that carries it, what breaks it, and the tests that reach it."""

    rule: str
    file: str
    line: str
    broken: str
    tests: tuple[str, ...]


MUTANTS = (
    # Approvals
    Mutant(
        "a claim that was not made before is asked about",
        "inspector/loop/approval.py",
        "if tool.id in state.not_read_only:",
        "if False:",
        ("tests/loop/test_approval.py",),
    ),
    Mutant(
        "only a trusted server is believed",
        "inspector/loop/approval.py",
        'return "" if tool.server in state.trusted_servers else CLAIMED',
        'return ""',
        ("tests/loop/test_approval.py", "tests/features/tools/test_call_command.py"),
    ),
    Mutant(
        "a tool whose name contradicts its claim is asked about",
        "inspector/loop/approval.py",
        "if contradicted := contradiction(tool):",
        "if contradicted := '':",
        ("tests/loop/test_approval.py",),
    ),
    Mutant(
        "an approval is for one definition",
        "inspector/loop/chain.py",
        "if now is tool or definition_hash(now) == definition_hash(tool):",
        "if True:",
        ("tests/mcp/test_reconnect.py",),
    ),
    Mutant(
        "no model answers a server without a yes",
        "inspector/mcp/port.py",
        "if given.action is not Action.ACCEPT:\n            return given\n        text",
        "if False:\n            return given\n        text",
        ("tests/mcp/test_client_side.py",),
    ),
    Mutant(
        "a refusal holds until another answer",
        "inspector/loop/approval.py",
        "return last is None or (last.decision is not Decision.NO and last.definition == definition)",
        "return last is None or last.definition == definition",
        ("tests/loop/test_approval.py",),
    ),
    Mutant(
        "trust is offered only for a claim to read",
        "inspector/loop/approval.py",
        "if decision is Decision.SERVER and request.offers_trust:",
        "if decision is Decision.SERVER:",
        ("tests/loop/test_approval.py",),
    ),
    Mutant(
        "a result that a client does not give its model is found",
        "inspector/clients/delivery.py",
        "(*seen.changes, *lost)",
        "seen.changes",
        ("tests/features/check/test_definition_rule.py",),
    ),
    # Edits of a server's source
    Mutant(
        "what a build or an install writes is not edited",
        "inspector/features/check/source_text.py",
        "if why := why_lost(path):",
        "if why := '':",
        ("tests/features/check/test_source_text.py",),
    ),
    Mutant(
        "what would be read back as another text is not written",
        "inspector/features/check/source_text.py",
        "if not _is_sound(path, changed, found[0].start(), new):",
        "if False:",
        ("tests/features/check/test_source_text.py",),
    ),
    # What destroys
    Mutant(
        "a search loads nothing that destroys unless that was asked for",
        "inspector/search/answer/search.py",
        "return not asks_for(asked or self._query, tool.name, verb)",
        "return False",
        ("tests/search/test_search_answer.py",),
    ),
    Mutant(
        "a call that destroys something asks also who typed it",
        "inspector/features/tools/call_command.py",
        "if not chosen.yes and (why := why_confirm(tool)):",
        "if not chosen.yes and (why := ''):",
        ("tests/features/tools/test_call_command.py",),
    ),
    Mutant(
        "a call filled in on a page asks if it destroys something",
        "inspector/features/tools/call_panel.py",
        "why = why_confirm(tool)",
        'why = ""',
        ("tests/features/tools/test_tool_panel.py::test_a_tool_that_destroys_something_asks_first",),
    ),
    # Consent
    Mutant(
        "a changed file of a person's own asks, too",
        "inspector/config/consent.py",
        "asks = asking_files if configuration.tells_changes else changed_files",
        "asks = asking_files",
        ("tests/config/test_consent.py",),
    ),
    Mutant(
        "consent covers what is around a script",
        "inspector/config/program.py",
        "for path in (*named, *around))",
        "for path in named)",
        ("tests/config/test_source_files.py",),
    ),
    Mutant(
        "a policy that a file names is read only with consent",
        "inspector/cli/configuration.py",
        "if any(one.setting == _POLICY for one in whole.named):",
        "if False:",
        ("tests/cli/test_consent.py",),
    ),
    Mutant(
        "one server that nobody approved asks",
        "inspector/config/consent.py",
        "is_approved = len(again) == len(items) and not asking",
        "is_approved = bool(again) and not asking",
        ("tests/config/test_consent.py", "tests/cli/test_consent.py"),
    ),
    Mutant(
        "credentials in an address are hidden in the question",
        "inspector/config/consent.py",
        "url=_USER_INFO.sub(_HIDDEN, url),",
        "url=url,",
        ("tests/config/test_consent.py",),
    ),
    # Redaction
    Mutant(
        "what is learned later is redacted as well",
        "inspector/core/redaction.py",
        "if self._version != self._secrets.version:\n            self._follow()\n        redacted =",
        "redacted =",
        ("tests/core/test_secret_value.py",),
    ),
    Mutant(
        "what is written passes the sink",
        "inspector/core/redaction.py",
        "file.write(clean(text))",
        "file.write(text)",
        ("tests/core/test_stream.py", "tests/cli/test_secrets.py"),
    ),
    Mutant(
        "new files are their owner's alone",
        "inspector/core/redaction.py",
        "_PRIVATE_FILE, _PRIVATE_FOLDER = 0o600, 0o700",
        "_PRIVATE_FILE, _PRIVATE_FOLDER = 0o644, 0o700",
        ("tests/core/test_stream.py", "tests/cli/test_folders.py", "tests/cli/test_secrets.py"),
    ),
    # Binding
    Mutant(
        "loaded tools stay loaded when the catalog is rebuilt",
        "inspector/core/fold/tool.py",
        "moved = before in (Binding.LOADED, Binding.EVICTED)",
        "moved = before is Binding.LOADED",
        (
            "tests/core/test_session.py",
            "tests/core/test_fold_property.py",
            "tests/features/bench/test_live.py",
        ),
    ),
    Mutant(
        "a tool outside the toolset is never found",
        "inspector/core/access.py",
        "return rule is not None and rule.permits(tool.name)",
        "return rule is None or rule.permits(tool.name)",
        ("tests/core/test_tool.py", "tests/loop/test_build_catalog.py"),
    ),
    Mutant(
        "a tool that the request did not offer is refused",
        "inspector/loop/chain.py",
        "if not binding.is_bound and tool.id not in request.offered:",
        "if False:",
        ("tests/loop/test_chat.py",),
    ),
    Mutant(
        "a precondition that does not hold stops the call",
        "inspector/loop/chain.py",
        "if unmet := self.around.binder.unmet_of(tool.id):",
        "if unmet := ():",
        ("tests/loop/test_preconditions.py",),
    ),
    # Eviction
    Mutant(
        "no more tools than the capacity stay",
        "inspector/loop/tool_context.py",
        "if self.capacity and len(loaded) > self.capacity:",
        "if self.capacity and len(loaded) > self.capacity + 1:",
        ("tests/loop/test_eviction.py",),
    ),
    Mutant(
        "what was just found goes last",
        "inspector/loop/tool_context.py",
        "return (just_found.get(tool.id, 0), tool.id in busy, *used, searches[position], -position)",
        "return (0, tool.id in busy, *used, searches[position], -position)",
        ("tests/loop/test_eviction.py",),
    ),
    Mutant(
        "a tool expires only after its time",
        "inspector/loop/tool_context.py",
        "if now - _last_use(tool) > limits.ttl]",
        "if now - _last_use(tool) >= limits.ttl]",
        ("tests/loop/test_eviction.py",),
    ),
    Mutant(
        "pinned tools are not evicted",
        "inspector/loop/tool_context.py",
        "if known is not None and Binding.LOADED in (known.binding, known.held_as):",
        "if known is not None:",
        (
            "tests/loop/test_tool_context.py",
            "tests/loop/test_chat.py",
        ),
    ),
    # Guards
    Mutant(
        "the fourth equal call in the time window is a loop",
        "inspector/loop/iteration_guard.py",
        "if counted.in_time > settings.max_repeats:",
        "if counted.in_time >= settings.max_repeats:",
        ("tests/loop/test_iteration_guard.py",),
    ),
    Mutant(
        "another result starts the count again",
        "inspector/loop/iteration_guard.py",
        "if before is not None and before.digest == digest:",
        "if before is not None:",
        ("tests/loop/test_iteration_guard.py",),
    ),
    # Gate
    Mutant(
        "a tool at the threshold passes the gate",
        "inspector/loop/gate.py",
        "fits = ranking.values >= settings.threshold",
        "fits = ranking.values > settings.threshold",
        ("tests/loop/test_gate.py",),
    ),
    # Prompt cache
    Mutant(
        "a prefix shorter than the minimum is not cached",
        "inspector/core/prompt_cache.py",
        "return tokens >= self.terms.minimum",
        "return True",
        ("tests/core/test_prompt_cache.py",),
    ),
    Mutant(
        "a prefix expires",
        "inspector/core/prompt_cache.py",
        "return at - used <= self.terms.ttl_seconds",
        "return True",
        ("tests/core/test_prompt_cache.py",),
    ),
    # Counts
    Mutant(
        "framing counts with the system prompt",
        "inspector/tokens/measure.py",
        '"system": counted.framing + sum(counted.said_tokens[: counted.first]),',
        '"system": sum(counted.said_tokens[: counted.first]),',
        ("tests/tokens/test_budget_meter.py",),
    ),
    Mutant(
        "a failed call returned no output",
        "inspector/core/fold/call.py",
        "outputs = state.outputs | {event.tool} if event.ok else state.outputs",
        "outputs = state.outputs | {event.tool}",
        (
            "tests/core/test_session.py",
            "tests/loop/test_preconditions.py",
            "tests/core/test_fold_property.py",
        ),
    ),
    Mutant(
        "a failed call is an error in an exported trace",
        "inspector/features/trace/metrics/spans.py",
        "if span.failed:",
        "if False:",
        ("tests/features/trace/metrics/test_spans.py",),
    ),
    # Rankers
    Mutant(
        "the parts of a score add up",
        "inspector/core/ranking.py",
        "return math.isclose(math.fsum(part.value for part in self.parts), self.value, abs_tol=TOLERANCE)",
        "return True",
        (
            "tests/search/test_ranker_contract.py",
            "tests/search/test_metric.py",
            "tests/features/search/test_results.py",
        ),
    ),
    Mutant(
        "a name weighs more than a description",
        "inspector/search/ranker/bm25.py",
        "Signal.NAME: 3.0,",
        "Signal.NAME: 1.0,",
        ("tests/search/test_word_rankers.py", "tests/search/test_ranker_contract.py"),
    ),
    # Fold
    Mutant(
        "an approval for the session covers the definition",
        "inspector/core/fold/call.py",
        "if event.decision in (Decision.SESSION, Decision.SERVER) and event.definition:",
        "if event.definition:",
        ("tests/loop/test_approval.py", "tests/core/test_session.py"),
    ),
    Mutant(
        "a call by hand is no recovery",
        "inspector/core/fold/call.py",
        'if event.by != "model":',
        "if False:",
        ("tests/core/test_session.py", "tests/core/test_fold_property.py", "tests/session/test_workbench.py"),
    ),
    # Store order
    Mutant(
        "a race with unequal catalogs has no number",
        "inspector/features/lab/comparison.py",
        "if len(set(tools)) < 2:",
        "if True:",
        ("tests/features/lab/race/test_race.py",),
    ),
    Mutant(
        "a person's no is no rejection of the model's call",
        "inspector/core/fold/call.py",
        "if event.is_refused:",
        "if False:",
        ("tests/core/test_session.py",),
    ),
    Mutant(
        "a run that searched and called nothing counts",
        "inspector/features/lab/runs/recorded_agent.py",
        "if has_only_searched or any(True for _ in renamed.calls):",
        "if any(True for _ in renamed.calls):",
        ("tests/features/lab/runs/test_recorded_runs.py",),
    ),
    Mutant(
        "another program's database is refused before it is opened to write",
        "inspector/store/migrations.py",
        "if not applied and connection.execute(_OTHERS).fetchall():",
        "if False:",
        ("tests/store/test_sqlite_failure.py",),
    ),
    Mutant(
        "a peer's database of another version is refused",
        "inspector/features/registry/sqlite.py",
        "if not is_current(connection):",
        "if False:",
        ("tests/features/registry/test_peer.py",),
    ),
    Mutant(
        "a session's records come in order",
        "inspector/store/store.py",
        "records = list(_readable(session, reversed(rows)))",
        "records = list(_readable(session, rows))",
        ("tests/store/test_sqlite_store.py",),
    ),
    # Access
    Mutant(
        "a role belongs to its organisation",
        "inspector/core/access.py",
        "if self.organisation != user.organisation:",
        "if False:",
        ("tests/core/test_tool.py",),
    ),
    Mutant(
        "an expert's allowlist narrows every grant",
        "inspector/core/access.py",
        "return allowed and matches(tool_id, self.patterns)",
        "return matches(tool_id, self.patterns)",
        ("tests/core/test_tool.py", "tests/session/test_access_session.py"),
    ),
    Mutant(
        "who sees some tools hears nothing of other people's calls",
        "inspector/features/registry/facts.py",
        "if not sight.is_whole:",
        "if False:",
        ("tests/features/registry/test_health.py",),
    ),
    Mutant(
        "another user's session is not read",
        "inspector/session/running_session.py",
        "return self.ports.store.read(session_id, kinds=kinds) if self._is_seen(session_id) else []",
        "return self.ports.store.read(session_id, kinds=kinds)",
        ("tests/session/test_access_session.py",),
    ),
    # Sign-ins
    Mutant(
        "a sign-in goes nowhere but where the server may lead it",
        "inspector/mcp/sign_in/provider.py",
        "            require_place(outgoing.url, self._url)\n",
        "",
        ("tests/mcp/test_sign_in.py",),
    ),
    Mutant(
        "a refresh token is used by one process",
        "inspector/mcp/sign_in/provider.py",
        "        async with self._kept.refreshing(str(self._url)):",
        "        if True:",
        ("tests/mcp/test_sign_in.py",),
    ),
    Mutant(
        "a file without a JWT is sent to nobody",
        "inspector/mcp/sign_in/machine.py",
        " or not _has_header(found):",
        ":",
        ("tests/mcp/test_sign_in.py",),
    ),
    # Connections
    Mutant(
        "a task that is lost with its session is not begun again",
        "inspector/mcp/client/link.py",
        "is_lost_task = isinstance(problem, SessionLost)",
        "is_lost_task = False",
        ("tests/mcp/test_lost_session.py",),
    ),
    Mutant(
        "what answers another session's request is not shown",
        "inspector/mcp/client/reader.py",
        "if age != self._log.age:",
        "if False:",
        ("tests/mcp/test_wire_log.py",),
    ),
    Mutant(
        "a killed app's reaper ends no process of anybody else",
        "inspector/mcp/reaper.py",
        "if group in groups and _mark(each) == mark}",
        "if group in groups}",
        ("tests/cli/test_orphans.py",),
    ),
    Mutant(
        "a list ends with the first page that lists nothing new",
        "inspector/mcp/client/tool_pages.py",
        "if cursor is not None and len(tools) + len(skipped) == known:",
        "if False:",
        ("tests/mcp/test_pages.py",),
    ),
    Mutant(
        "what is cut of a result is counted",
        "inspector/core/message.py",
        "return round(size * self.whole / len(self.text)) if self.whole else size",
        "return size",
        ("tests/mcp/test_cut_result.py",),
    ),
    Mutant(
        "progress gives a call more time",
        "inspector/mcp/client/server_request.py",
        "        self._goes_on()",
        "        pass",
        ("tests/mcp/test_progress.py",),
    ),
    # Breakers
    Mutant(
        "a call of an earlier generation says nothing",
        "inspector/loop/breaker.py",
        "if permit.generation != breaker.generation or breaker.state is BreakerState.OPEN:",
        "if breaker.state is BreakerState.OPEN:",
        ("tests/loop/test_breaker.py",),
    ),
    Mutant(
        "a breaker waits for enough calls",
        "inspector/loop/breaker.py",
        "if failure is None or len(breaker.calls) < MIN_CALLS or breaker.failure_rate < FAILURE_RATE:",
        "if failure is None or breaker.failure_rate < FAILURE_RATE:",
        ("tests/loop/test_breaker.py",),
    ),
    # Taps
    Mutant(
        "the secrets of a tapped command are known",
        "inspector/features/agents/tap/recorder.py",
        "    SECRETS.learn(spec.secrets)\n",
        "",
        ("tests/features/agents/tap/test_command.py",),
    ),
    Mutant(
        "copies that were sent make room for others",
        "inspector/features/agents/tap/pump.py",
        "self._size -= len(data)",
        "pass",
        ("tests/features/agents/tap/test_tap.py",),
    ),
    Mutant(
        "a tap that cannot record leaves a note",
        "inspector/features/agents/tap/recorder.py",
        "self._tell(str(error))",
        "pass",
        ("tests/features/agents/tap/test_note.py",),
    ),
    Mutant(
        "what a page of some site asks reaches no tapped server",
        "inspector/features/agents/tap/http.py",
        "if not _is_local(request):",
        "if False:",
        ("tests/features/agents/tap/test_http.py",),
    ),
    Mutant(
        "a click made before the terminal's second answer is none",
        "widgets/guarded.py",
        "return not self._left and",
        "return",
        ("tests/widgets/test_guarded_confirm.py",),
    ),
    Mutant(
        "more tools than a client takes are told",
        "inspector/clients/delivery.py",
        "if 0 < client.listing.most < len(shown):",
        "if False:",
        ("tests/clients/test_delivery.py",),
    ),
    # Files of clients and of agents
    Mutant(
        "tools that a client's file leaves out are in no list",
        "inspector/access/restriction.py",
        "if spec.rule.permits(one.name)",
        "if True",
        ("tests/loop/test_settings_check.py",),
    ),
    Mutant(
        "a key that no client knows is named",
        "inspector/config/client_format.py",
        "(key for key in entry if key not in names and",
        "(key for key in entry if key in names and",
        ("tests/config/test_client_format.py",),
    ),
    Mutant(
        "a fork pays for nothing that its parent paid for",
        "inspector/features/agents/transcript_file/codex.py",
        "if _is_made(kind, payload):",
        "if False:",
        ("tests/features/agents/test_transcript_codex.py",),
    ),
    Mutant(
        "a session in another program's frame is not taken for Claude Code's",
        "inspector/features/agents/transcript_file/reader.py",
        'return is_message and isinstance(record.get("sessionId"), str)',
        "return True",
        ("tests/features/agents/test_transcript_reader.py",),
    ),
    Mutant(
        "an event of Copilot that is copied counts once",
        "inspector/features/agents/transcript_file/record_reader.py",
        "if not key[-1] or self._is_new(*key):",
        "if True:",
        ("tests/features/agents/test_transcript_copilot.py",),
    ),
    # Tasks
    Mutant(
        "a task is cancelled with its call",
        "inspector/mcp/client/task.py",
        "await self._cancel()",
        "await asyncio.sleep(0)",
        ("tests/mcp/test_task.py",),
    ),
    Mutant(
        "what a task asks for is answered once",
        "inspector/mcp/client/task.py",
        "self._answered |= new.keys()",
        "self._answered |= set()",
        ("tests/mcp/test_task.py",),
    ),
    # The command line
    Mutant(
        "a search says that it ranks by words alone",
        "inspector/search/index/tool_index.py",
        'return f"ranks by words alone: {why}" if why else ""',
        'return ""',
        ("tests/search/test_embedding.py", "tests/features/search/test_words_alone.py"),
    ),
    Mutant(
        "words alone are as careful as the model",
        "inspector/search/ranker/hybrid.py",
        "intercept=-16.3,\n    coverage=2.0,",
        "intercept=-12.0,\n    coverage=2.0,",
        ("tests/fixtures/test_retrieval_quality.py",),
    ),
    Mutant(
        "a hint names the servers that were given",
        "inspector/core/error.py",
        "servers = _Given.servers() if words[0] in OF_SERVERS else ()",
        "servers = ()",
        ("tests/cli/test_hints.py",),
    ),
    Mutant(
        "a command without any server fails",
        "inspector/cli/launch.py",
        "if every_failed(servers):",
        "if False:",
        ("tests/cli/test_exit_codes.py",),
    ),
    Mutant(
        "a check that lost a tool fails",
        "inspector/features/check/checking.py",
        "return not any(server.failure or server.lost for server in self.servers)",
        "return not any(server.failure for server in self.servers)",
        ("tests/cli/test_exit_codes.py",),
    ),
)


def survives(mutant: Mutant) -> bool:
    """Whether the tests pass on the broken line. Raises ValueError where the line is not there once."""
    path = ROOT / mutant.file
    text = path.read_text(encoding="utf-8")
    if text.count(mutant.line) != 1:
        raise ValueError(f"{mutant.file} has {text.count(mutant.line)} times: {mutant.line}")
    path.write_text(text.replace(mutant.line, mutant.broken), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *mutant.tests]
    try:
        return subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode == 0
    finally:
        path.write_text(text, encoding="utf-8")


def main(words: Sequence[str]) -> int:
    """Try the mutants, and return how many survive."""
    tried = [one for one in MUTANTS if all(word in one.rule for word in words)]
    left = [one for one in tried if _told(one)]
    sys.stdout.write(f"{len(tried) - len(left)} of {len(tried)} caught\n")
    return len(left)


def _told(mutant: Mutant) -> bool:
    is_alive = survives(mutant)
    sys.stdout.write(f"{'SURVIVES' if is_alive else 'caught  '} {mutant.rule}\n")
    sys.stdout.flush()
    return is_alive


if __name__ == "__main__":
    sys.exit(bool(main(sys.argv[1:])))
