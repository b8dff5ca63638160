"""The options that commands share, and groups of commands that take them before a command's name too."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import click
from msgspec import Struct, field

from inspector.core.error import ConfigError
from inspector.core.text import closest
from inspector.features.feature_list import commands_of

if TYPE_CHECKING:
    from inspector.config.setting import Knob

F = TypeVar("F", bound=Callable[..., Any])
DEMO_MODEL = "demo/planner"
AS_JSON = "toolsight.json"
"""Where `--json` leaves that it was given, for `show`."""
TYPED_SERVER = "toolsight.server"
"""Where the program leaves the words after `--`, for its commands."""
SAID = Path(__file__).with_name("commands.toml")
"""The first sentence of each command's help, so that a list of commands imports none of them."""


class Options(Struct, frozen=True):
    """The shared options; see their help. `values` maps the paths of settings to what the person typed.

    `implied` maps paths to what another choice brings (a client, a scenario), which nobody typed.
    `server` holds the words after `--`: a server's command, script, address or stored listing. `trust` names
    servers.
    """

    config: Path | None = None
    model: str = DEMO_MODEL
    api_base: str = ""
    window: int | None = None
    toolset: str = ""
    database: Path | None = None
    approve: bool = False
    yes: bool = False
    inputs: Mapping[str, str] = field(default_factory=dict)
    profile: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    implied: Mapping[str, Any] = field(default_factory=dict)
    server: tuple[str, ...] = ()
    demo: bool = False
    registry: bool = False
    trust: tuple[str, ...] = ()
    policy: str = ""
    user: str = ""
    expert: str = ""
    stored_auth_only: bool = False

    @property
    def settings(self) -> dict[str, Any]:
        """The values by path that override the file's and the profile's: what was typed wins."""
        named = {"policy": self.policy, "user": self.user, "expert": self.expert}
        access = {f"access.{name}": value for name, value in named.items() if value}
        return {**self.implied, **self.values, **access}

    @property
    def names_viewer(self) -> bool:
        """Whether the command line says who sees what."""
        return any(self.settings.get(f"access.{name}") for name in ("policy", "user", "expert"))


def _inputs(_context: click.Context, _parameter: click.Parameter, pairs: tuple[str, ...]) -> dict[str, str]:
    for pair in pairs:
        if "=" not in pair:
            raise click.BadParameter(f"{pair!r} is not ID=VALUE")
    return dict(pair.split("=", 1) for pair in pairs)


def checked_values(
    option: str, pairs: tuple[str, ...], find: "Callable[[str], Knob] | None" = None
) -> dict[str, Any]:
    """The values of PATH=VALUE pairs by path; what is given twice gets the last value. Raises ConfigError."""
    from inspector.config.setting import find_knob, parse_value

    find, values = find or find_knob, {}
    for pair in pairs:
        path, sign, text = pair.partition("=")
        knob = find(path.strip())
        if not sign:
            raise ConfigError(f"{option} {pair} has no value", hint=f"Use {option} {knob.path}=VALUE.")
        values[knob.path] = parse_value(knob, text)
    return values


def _profile(name: str) -> str:
    from inspector.config.profile import find_profile

    return find_profile(name).name


class CommonOption(click.Option):
    """An option that most commands share: explained once, in the help of the program."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """The option's lines for the program itself; None, to leave it out, for a command."""
        return super().get_help_record(ctx) if ctx.parent is None else None


_PATH = click.Path(path_type=Path)
DEMO = CommonOption(["--demo"], is_flag=True, help="Use the demo's servers.")
DATABASE = CommonOption(["--db", "database"], type=_PATH, help="SQLite database file (or set TOOLSIGHT_DB).")
APPROVE = CommonOption(
    ["--approve"],
    is_flag=True,
    help="Start this configuration's servers without asking, and remember the consent.",
)
PROFILE = CommonOption(
    ["--profile"],
    default="",
    callback=lambda _context, _parameter, name: _profile(name) if name else "",
    help="Use this profile's settings; see `toolsight config settings --profiles`.",
)
SET = CommonOption(
    ["--set", "values"],
    multiple=True,
    metavar="PATH=VALUE",
    callback=lambda _context, _parameter, pairs: checked_values("--set", pairs) if pairs else {},
    help="Change a setting; see `toolsight config settings`. May be repeated.",
)
_CONFIG = CommonOption(
    ["--config"],
    type=_PATH,
    help="Configuration file for Toolsight, Claude Desktop, Claude Code, Cursor or VS Code.",
)
_INPUT = CommonOption(
    ["--input", "inputs"],
    multiple=True,
    metavar="ID=VALUE",
    callback=_inputs,
    help="Value for VS Code's ${input:ID} (or set TOOLSIGHT_INPUT_ID). May be repeated.",
)
CONFIGURED = (_CONFIG, PROFILE, SET, _INPUT)
"""What configures a session."""
ACCESS = (
    CommonOption(
        ["--policy"],
        default="",
        metavar="FILE",
        help="Policy file (YAML or JSON): who may see which tools. Without --user, nothing is visible.",
    ),
    CommonOption(["--user"], default="", metavar="NAME", help="View as this user of the policy."),
    CommonOption(
        ["--expert"],
        default="",
        metavar="NAME",
        help="With --user: show only what both the user and this agent may see.",
    ),
)
"""Who sees it."""
COMMON = (
    _CONFIG,
    DEMO,
    CommonOption(
        ["--registry"], is_flag=True, help="Use the registry's tools, which you can search but not call."
    ),
    CommonOption(
        ["--model"],
        default=DEMO_MODEL,
        show_default=True,
        help="Any litellm model (openai/…, anthropic/…, ollama/…), demo/planner or demo/script:FILE.",
    ),
    CommonOption(["--api-base"], default="", help="A local model's address; see `toolsight doctor models`."),
    CommonOption(
        ["--window"],
        type=click.IntRange(min=1),
        help="The model's context window in tokens, if not the one that Toolsight knows.",
    ),
    CommonOption(["--toolset"], default="", help="Toolset from the configuration. Default: all tools."),
    DATABASE,
    PROFILE,
    SET,
    _INPUT,
    APPROVE,
    CommonOption(["--yes"], is_flag=True, help="Do not ask before tool calls that change something."),
    CommonOption(
        ["--trust"],
        multiple=True,
        metavar="SERVER",
        help="Do not ask about calls this server says are read-only. May be repeated.",
    ),
    *ACCESS,
    CommonOption(
        ["--stored-auth-only"], is_flag=True, help="Never ask anybody to sign in: use stored sign-ins alone."
    ),
)
"""Every common option, in the order of the program's help."""


def common_options(command: click.Command) -> tuple[CommonOption, ...]:
    """The common options that a command takes."""
    return command.takes if isinstance(command, SessionCommand) else ()


def common_note(command: click.Command) -> str:
    """Says in a command's help which of the common options it takes; "" if none."""
    taken = common_options(command)
    if not taken:
        return ""
    missing = [option for option in COMMON if option not in taken]
    few = len(taken) < len(missing)
    named = ", ".join(option.opts[0] for option in (taken if few else missing))
    which = f" {named}" if few else f" except {named}"
    return f"Also takes the common options{which if missing else ''}; see `toolsight --help`."


class SessionCommand(click.Command):
    """A command with common options, which are not its own parameters.

    It names those that it takes, gets them as one argument, `chosen`, and refuses the others.
    """

    def __init__(self, *words: Any, takes: tuple[CommonOption, ...] = (), **extra: Any) -> None:
        super().__init__(*words, **extra)
        self.takes = takes

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """What is parsed, completed and listed."""
        return [*super().get_params(ctx), *self.takes]

    def invoke(self, ctx: click.Context) -> Any:
        """Gather what was given, and the server that was typed after `--`."""
        if self.takes:
            given = {str(option.name): ctx.params.pop(str(option.name)) for option in self.takes}
            ctx.params["chosen"] = _gathered(**given, server=ctx.meta.get(TYPED_SERVER, ()))
        return super().invoke(ctx)


def session_command(
    name: str | None = None, *, takes: tuple[CommonOption, ...]
) -> Callable[[F], SessionCommand]:
    """Make a function a command that takes these common options."""
    return click.command(name, cls=SessionCommand, takes=takes)


def _gathered(**values: Any) -> Options:
    chosen = Options(**values)
    if bool(chosen.server) + (chosen.config is not None) + chosen.demo + chosen.registry > 1:
        told = "use only one of --config, --demo, --registry and a server after --"
        raise click.UsageError(told, click.get_current_context())
    return chosen


def require_nobody(chosen: Options, *, but_policy: bool = False, hint: str = "") -> None:
    """Raise ConfigError if the command line says who sees it; `but_policy`: if it names a user.

    What others did would be shown as if it were theirs.
    `hint` says what to write instead, for a command that has something better.
    """
    named = [path for path in ("access.policy", "access.user", "access.expert") if chosen.settings.get(path)]
    if but_policy:
        named = [path for path in named if path == "access.user"]
    if named:
        raise ConfigError(
            f"this command shows everything, so --{named[-1].partition('.')[2]} does not apply",
            hint=hint or "docs/access.md lists the commands that show what a user may see.",
        )


def _json(context: click.Context, _parameter: click.Parameter, is_wanted: bool) -> None:
    if is_wanted:
        context.meta[AS_JSON] = True


as_json = click.option(
    "--json", "as_json", is_flag=True, expose_value=False, callback=_json, help="Print JSON for programs."
)
# These stay with the group instead of moving to a command.
_ABOUT = frozenset({"--help", "-h", "--version"})


def with_options(*options: Callable[[Any], Any]) -> Callable[[F], F]:
    """Adds options of several commands, in this order."""

    def add(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return add


class CommandGroup(SessionCommand, click.Group):
    """A group whose commands are imported on use, so that the app's first frame waits for none of them.

    An option before a command's name counts as if it stood behind it: `toolsight --db FILE sessions agents`.
    """

    _said: ClassVar[dict[str, str]] = {}

    @cached_property
    def modules(self) -> Mapping[str, tuple[str, str]]:
        """The module and the name in it of each command that a feature declares for this group."""
        return {word: feature.place_of(command.at) for word, command, feature in commands_of(self.above)}

    @property
    def above(self) -> str:
        """The words of a command of this group that stand before its own."""
        return self.name or ""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Give a command the options that stand before its name."""
        try:
            rest = self.make_parser(ctx).parse_args(list(args))[1]
        except click.UsageError:
            return super().parse_args(ctx, args)
        given = args[: len(args) - len(rest)]
        if given and rest and not _ABOUT.intersection(given):
            name = self._words_of_name(ctx, rest)
            args = [*rest[:name], *given, *rest[name:]]
        return super().parse_args(ctx, args)

    def _words_of_name(self, ctx: click.Context, words: Sequence[str]) -> int:
        """How many of the words name a command: two if the first is a group and the second one of it."""
        command = self.get_command(ctx, words[0])
        is_group = isinstance(command, CommandGroup) and len(words) > 1
        return 1 + (is_group and words[1] in command.list_commands(ctx))  # type: ignore[union-attr]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; the error for an unknown one names the nearest."""
        if args[0] not in self.modules:
            raise click.UsageError(f"There is no command '{args[0]}'. {self.hint(args[0])}", ctx)
        return super().resolve_command(ctx, args)

    def hint(self, word: str) -> str:
        """What to try instead of a command that does not exist."""
        near = closest(word, list(self.modules), limit=1)
        return f"Did you mean `{near[0]}`?" if near else f"Commands: {', '.join(self.modules)}."

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self.modules)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write what each command is for."""
        with formatter.section("Commands"):
            formatter.write_dl([(word, self.said(word)) for word in self.modules])

    def said(self, word: str) -> str:
        """What a command of this group is for, in a sentence."""
        import tomllib

        if not self._said:
            self._said.update(tomllib.loads(SAID.read_text(encoding="utf-8")))
        return self._said[f"{self.above} {word}".strip()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in self.modules:
            return None
        module, attribute = self.modules[cmd_name]
        command = getattr(import_module(module), attribute)
        assert isinstance(command, click.Command)
        command.epilog = common_note(command)
        return command
