"""Styles that presenters share."""

# Not `$text-muted`: in content (unlike in CSS) Textual draws automatic colours as plain white.
MUTED = "$foreground 60%"
