"""What a session works with besides its settings: the model and the toolset."""

from textual.content import Content

from inspector.app.dialogs.settings.content import heading
from widgets import Record, visible

MODEL, TOOLSET, PROFILE = "model", "toolset", "profile"
_LONGEST = 400


def session_rows(model: str, toolset: str, profile: str) -> tuple[Record, ...]:
    """Return what a session works with besides its settings; enter changes it."""
    values = {MODEL: model, TOOLSET: toolset or "all tools", PROFILE: profile}
    rows = (
        Record(key, (f"  {key}", "", visible(value, limit=_LONGEST, newlines=False), ""), copy=value)
        for key, value in values.items()
    )
    return (heading("session"), *rows)


def session_detail(key: str) -> Content:
    """Return what can be chosen instead of the session's model, toolset or profile."""
    about = {
        MODEL: "Who answers. Any litellm model by its name, or the demo's stand-ins, which need no key.",
        PROFILE: "A published design as a set of settings; ● marks what it changes below.",
        TOOLSET: "The tools that the session may use; others can be neither listed, found nor called.",
    }
    return Content.assemble((key, "bold"), "   enter chooses another\n", about[key])
