"""Reads scenario files (YAML), checked with pydantic models; every error names the file, line and key."""

import json
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, PlainValidator, model_validator

from inspector.access.yaml_tree import load_yaml
from inspector.config.problem import NullAsAbsent, not_empty, refusal, validated
from inspector.config.reader import read_profile, read_settings
from inspector.core.breaker import FailureKind
from inspector.core.error import ConfigError
from inspector.core.tool import wire_name
from inspector.scenario.scenario import (
    AddedTool,
    CatalogChange,
    Expectation,
    Fault,
    Preparation,
    Scenario,
    ScriptedCall,
    Step,
    Viewer,
    expectation,
)
from inspector.tokens.manifest import SEARCH_TOOLS


def load_scenario(path: Path) -> Scenario:
    """Read a scenario file. Raises ConfigError that names the file, the line and the key."""
    data, place = load_yaml(path, "scenario")
    model = validated(_ScenarioModel, data, place)
    return Scenario(
        title=model.title or path.stem,
        about=model.about,
        users=tuple(turn.user for turn in model.turns),
        turns=tuple(tuple(step.step() for step in turn.steps) for turn in model.turns),
        prepare=tuple(turn.preparation(path) for turn in model.turns),
        profile=read_profile(path, model.profile) if model.profile else "",
        settings=read_settings(path, model.settings),
        expect=tuple(model.expect),
        never=tuple(model.never),
        window=model.window,
    )


def _sendable(value: Any) -> dict[str, Any]:
    """Check that JSON can hold the value: YAML reads an unquoted day as a date, which cannot be sent."""
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise refusal("must be an object whose keys are strings", "Write it as {key: value}.")
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        hint = "Put dates in quotes; leave out numbers that are not finite."
        raise refusal(f"has a value that JSON cannot represent ({error})", hint) from error
    return value


def _expectation(value: Any) -> Expectation:
    try:
        return expectation(_sendable(value))
    except ConfigError as error:
        raise refusal(f"cannot be checked: {error.message}", error.hint) from error


_Seconds = Annotated[
    float, Field(ge=0, le=1e9, allow_inf_nan=False, description="Write a number of seconds from 0 to 1e9.")
]
_Window = Annotated[int, Field(ge=1, le=10**9, description="Write a whole number of tokens from 1 to 1e9.")]
# pydantic's own stripping rejects a lone surrogate, which a scenario may contain on purpose.
_Text = Annotated[str, AfterValidator(str.strip)]
_Needed = Annotated[_Text, AfterValidator(not_empty)]
_Arguments = Annotated[dict[str, Any], PlainValidator(_sendable)]
_Expectation = Annotated[Expectation, PlainValidator(_expectation)]


class _CallModel(NullAsAbsent):
    tool: Annotated[_Needed, Field(description=f"Write server:NAME, or {SEARCH_TOOLS}.")]
    arguments: _Arguments = Field(default_factory=dict)

    def call(self) -> ScriptedCall:
        server, colon, name = self.tool.partition(":")
        is_wire_name = not colon or self.tool == SEARCH_TOOLS
        return ScriptedCall(self.tool if is_wire_name else wire_name(server, name), self.arguments)


class _StepModel(NullAsAbsent):
    say: _Text = ""
    calls: list[_CallModel] = Field(default_factory=list)
    think: _Text = ""
    wait: _Seconds = 0.0

    @model_validator(mode="after")
    def _answers(self) -> "_StepModel":
        if not self.say and not self.calls:
            raise refusal("has neither say nor calls", "Add what the model says, what it calls, or both.")
        return self

    def step(self) -> Step:
        return Step(self.say, tuple(call.call() for call in self.calls), self.think, self.wait)


class _AddedModel(NullAsAbsent):
    id: Annotated[_Needed, Field(description="Write server:NAME.")]
    description: _Text = ""
    answer: _Text = ""


class _ChangeModel(NullAsAbsent):
    server: Annotated[_Needed, Field(description="Name the server whose tools change.")]
    remove: list[_Text] = Field(default_factory=list)
    add: list[_AddedModel] = Field(default_factory=list)
    describe: dict[str, _Text] = Field(default_factory=dict)
    parameters: dict[str, _Arguments] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _is_of_one_server(self) -> "_ChangeModel":
        prefix = f"{self.server}:"
        named = (*self.remove, *(tool.id for tool in self.add), *self.describe, *self.parameters)
        for tool_id in named:
            if not tool_id.startswith(prefix) or tool_id == prefix:
                raise refusal(f"has {tool_id}, which is not a tool of {self.server}", f"Write {prefix}NAME.")
        return self

    def change(self) -> CatalogChange:
        added = tuple(AddedTool(tool.id, tool.description, tool.answer) for tool in self.add)
        return CatalogChange(self.server, tuple(self.remove), added, self.describe, self.parameters)


class _FaultModel(NullAsAbsent):
    server: Annotated[_Needed, Field(description="Name the server whose next calls fail.")]
    kind: Annotated[
        Literal["timeout", "transport", "rate_limit", "protocol"],
        Field(description="Write timeout, transport, rate_limit or protocol."),
    ]
    times: Annotated[int, Field(ge=1, le=1000, description="Write how many calls fail, from 1 to 1000.")] = 1
    tool: Annotated[_Text, Field(description="Name the one tool whose calls fail.")] = ""
    retry_after: _Seconds | None = None

    def fault(self) -> Fault:
        return Fault(self.server, FailureKind(self.kind), self.times, self.tool, self.retry_after)


class _ViewerModel(NullAsAbsent):
    user: Annotated[_Needed, Field(description="Name a user from access.policy.")]
    expert: Annotated[_Text, Field(description="Name an expert from access.policy.")] = ""

    def viewer(self) -> Viewer:
        return Viewer(self.user, self.expert)


class _TurnModel(NullAsAbsent):
    user: Annotated[_Needed, Field(description="Write what the user says in this turn.")]
    wait: _Seconds = 0.0
    milestone: _Text = ""
    stop: Annotated[_Text, Field(description="Name the server that goes away before this turn.")] = ""
    change: _ChangeModel | None = None
    reconnect: Annotated[_Text, Field(description="Name the server that comes back before this turn.")] = ""
    fault: _FaultModel | None = None
    install: Annotated[_Text, Field(description="Name the plugin to install before this turn.")] = ""
    uninstall: Annotated[_Text, Field(description="Name the server to remove before this turn.")] = ""
    see_as: _ViewerModel | None = None
    settings: dict[str, Any] = Field(default_factory=dict)
    steps: Annotated[
        list[_StepModel], Field(min_length=1, description="Write a list of the model's answers.")
    ]

    def preparation(self, path: Path) -> Preparation:
        return Preparation(
            wait=self.wait,
            milestone=self.milestone,
            stop=self.stop,
            change=self.change.change() if self.change else None,
            reconnect=self.reconnect,
            fault=self.fault.fault() if self.fault else None,
            install=self.install,
            uninstall=self.uninstall,
            see_as=self.see_as.viewer() if self.see_as else None,
            settings=read_settings(path, self.settings),
        )


class _ScenarioModel(NullAsAbsent):
    title: _Text = ""
    about: _Text = ""
    profile: _Text = ""
    settings: dict[str, Any] = Field(default_factory=dict)
    window: _Window = 0
    turns: Annotated[
        list[_TurnModel], Field(min_length=1, description="Write a list of turns with `user` and `steps`.")
    ]
    expect: list[_Expectation] = Field(default_factory=list)
    never: list[_Expectation] = Field(default_factory=list)
