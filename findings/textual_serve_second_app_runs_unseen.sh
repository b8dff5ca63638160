#!/usr/bin/env bash
# textual-serve 1.1.3: of a program that runs two apps, a question first, only the first is served.
#
# With textual 8.2.8. In a terminal `Ask().run()` and then `Show().run()` are one program with two screens. Under
# textual-serve the end of the first app is taken for that of the program: the browser's connection closes as if all had
# gone well (code 1000), the second app starts nevertheless, draws into a pipe that nobody reads, and its process is
# left behind, one more with each visitor who answers the question. A guess would be that a connection lasts as long as
# the process behind it, or that the process ends with the connection: a closed tab ends an app that is still its first.
#
# Seen:
#   first app shown: True
#   connection closed: True, code 1000
#   second app shown: False
#   program still running: True
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet textual==8.2.8 textual-serve==1.1.3 psutil==7.1.3 >log.txt 2>&1
cat > two.py <<'PY'
from textual.app import App
from textual.widgets import Input, Static


class Ask(App):
    def compose(self):
        yield Input(placeholder="FIRST")

    def on_input_submitted(self, event):
        self.exit(event.value)


class Show(App):
    def compose(self):
        yield Static("SECOND")


Ask().run()
Show().run()
PY
cat > visit.py <<'PY'
import asyncio
import sys

import psutil
from aiohttp import ClientSession, WSMsgType, web
from textual_serve.server import Server


async def main():
    server = Server(f"exec {sys.executable} two.py")
    server.console.quiet = True
    runner = web.AppRunner(await server._make_app())
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = site._server.sockets[0].getsockname()[1]
    drawn, closed = b"", None
    async with ClientSession() as browser, browser.ws_connect(f"http://127.0.0.1:{port}/ws") as page:
        while closed is None:
            message = await asyncio.wait_for(page.receive(), 60)
            if message.type is WSMsgType.BINARY:
                answered, drawn = b"FIRST" in drawn, drawn + message.data
                if b"FIRST" in drawn and not answered:
                    await page.send_json(["stdin", "an answer\r"])
            elif message.type in (WSMsgType.CLOSE, WSMsgType.CLOSED):
                closed = message.data or 0
    left = psutil.Process().children(recursive=True)
    _, alive = psutil.wait_procs(left, timeout=10)
    print("first app shown:", b"FIRST" in drawn)
    print(f"connection closed: {closed is not None}, code {closed}")
    print("second app shown:", b"SECOND" in drawn)
    print("program still running:", bool(alive))
    for process in alive:
        process.kill()


asyncio.run(main())
PY
python/bin/python visit.py 2>>log.txt | tee seen.txt
diff seen.txt - <<'SEEN'
first app shown: True
connection closed: True, code 1000
second app shown: False
program still running: True
SEEN
