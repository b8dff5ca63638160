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
        MODEL: "The model that answers: any litellm model, or a demo stand-in, which needs no key.",
        PROFILE: "A published design as a set of settings; ● below marks what differs from the default.",
        TOOLSET: "The tools this session may use. No other tool can be listed, found or called.",
    }
    return Content.assemble((key, "bold"), "   enter chooses another\n", about[key])
