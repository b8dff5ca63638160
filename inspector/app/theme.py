"""Toolsight's dark and light themes: calm surfaces, one accent, visible warnings."""

from textual.theme import Theme

DARK = Theme(
    name="toolsight-dark",
    primary="#7aa2f7",
    secondary="#9d7cd8",
    accent="#e0af68",
    success="#9ece6a",
    warning="#ff9e64",
    error="#f7768e",
    foreground="#c8d3f5",
    background="#16161e",
    surface="#1a1b26",
    panel="#24283b",
    dark=True,
    variables={"footer-key-foreground": "#e0af68", "border": "#3b4261", "border-blurred": "#2f3549"},
)
LIGHT = Theme(
    name="toolsight-light",
    primary="#2457c5",
    secondary="#7847bd",
    accent="#8f5e15",
    success="#33635c",
    warning="#a4480f",
    error="#b01b3e",
    foreground="#24283b",
    background="#f6f6fa",
    surface="#ffffff",
    panel="#e6e8f0",
    dark=False,
    variables={"footer-key-foreground": "#8f5e15", "border": "#a8aecb", "border-blurred": "#cfd3e4"},
)
