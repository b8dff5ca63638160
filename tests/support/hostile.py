"""Hostile text by kind, for tests that draw several pages a text: one for all strings of a kind."""

from fixtures.hostile import HUGE, MARKUP, SIZE, TERMINAL, UNICODE

KINDS = {
    "markup": " | ".join(MARKUP.values()),
    "terminal": " | ".join(TERMINAL.values()),
    "unicode": " | ".join(UNICODE.values()),
    "size": " | ".join(text for name, text in SIZE.items() if name not in HUGE),
}
# A megabyte in a dozen places is slow to draw, and shows nothing that 20 kB do not.
LONG_KINDS = {**KINDS, **{name: SIZE[name][:20_000] for name in sorted(HUGE)}}
