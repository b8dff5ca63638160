#!/usr/bin/env bash
# textual 8.2.8: F3 with a modifier never reaches an app in a terminal that speaks xterm's sequences.
#
# xterm sends shift+F1 to shift+F4 as ESC [ 1 ; 2 P, Q, R, S. The third has the form of a cursor position report
# (ESC [ row ; column R), and Textual 8.2.8 looks for that form before it looks the sequence up, so shift+F3,
# ctrl+F3 and ctrl+shift+F3 become CursorPosition events although Textual's own table lists all of them as keys.
# A guess would be that a report counts only after the program has asked for one. F1, F2 and F4 are keys with the
# same modifiers, and so is F3 in the other spelling (ESC [ 13 ; 2 ~). Bind no action to a modified F3 alone.
#
# Seen:
#   shift+f1            key shift+f1
#   shift+f3            cursor position row 0, column 1
#   shift+f4            key shift+f4
#   ctrl+f3             cursor position row 0, column 4
#   shift+f3 as 13;2~   key shift+f3
#   plain f3            key f3
#   in the key table    True
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv --without-pip env
python3 -m pip --python env/bin/python install -qq --no-compile textual==8.2.8
env/bin/python - <<'PY' | tee seen.txt
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual._xterm_parser import XTermParser
from textual.events import CursorPosition

SENT = {
    "shift+f1": "\x1b[1;2P",
    "shift+f3": "\x1b[1;2R",
    "shift+f4": "\x1b[1;2S",
    "ctrl+f3": "\x1b[1;5R",
    "shift+f3 as 13;2~": "\x1b[13;2~",
    "plain f3": "\x1bOR",
}
for pressed, sequence in SENT.items():
    (event,) = XTermParser().feed(sequence)
    if isinstance(event, CursorPosition):
        got = f"cursor position row {event.y}, column {event.x}"
    else:
        got = f"key {event.key}"
    print(f"{pressed:<19} {got}")
print("in the key table".ljust(19), SENT["shift+f3"] in ANSI_SEQUENCES_KEYS)
PY
diff seen.txt - <<'SEEN'
shift+f1            key shift+f1
shift+f3            cursor position row 0, column 1
shift+f4            key shift+f4
ctrl+f3             cursor position row 0, column 4
shift+f3 as 13;2~   key shift+f3
plain f3            key f3
in the key table    True
SEEN
