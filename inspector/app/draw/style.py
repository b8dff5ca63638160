"""Styles that presenters share."""

# Not `$text-muted`: in content (unlike in CSS) Textual draws automatic colors as plain white.
MUTED = "$foreground 60%"
