from inspector.core.access import ServerRule, Toolset, permitted
from inspector.core.tool import Tool

TOOLS = (Tool("weather", "now"), Tool("words", "define"), Tool("words", "random_word"), Tool("math", "add"))
RESEARCH = Toolset(
    "research",
    servers={"weather": ServerRule(), "words": ServerRule(exclude=frozenset({"random_word"}))},
)


def ids(tools: tuple[Tool, ...]) -> list[str]:
    return [tool.id for tool in tools]


def test_no_toolset_permits_everything() -> None:
    assert permitted(TOOLS, None) == TOOLS


def test_a_toolset_leaves_out_other_servers_and_excluded_tools() -> None:
    assert ids(permitted(TOOLS, RESEARCH)) == ["weather:now", "words:define"]


def test_include_permits_only_what_it_names() -> None:
    only = Toolset("only", servers={"words": ServerRule(include=frozenset({"random_word"}))})
    assert ids(permitted(TOOLS, only)) == ["words:random_word"]
