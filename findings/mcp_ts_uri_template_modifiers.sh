#!/usr/bin/env bash
# @modelcontextprotocol/sdk 1.32.2 and server 2.4.0: UriTemplate reads RFC 6570's modifiers and gives other addresses.
#
# expand() takes a template of level 4 without an error and leaves values out or writes them otherwise:
#   {day:4}   the first four characters; here the variable is named "day:4", is not found, and nothing is written
#   {?tag*}   one pair for each value; here the star changes nothing, the values are joined by a comma
#   {;tag}    a path parameter; here the operator is unknown, and the variable is left out
#   {.tag}    a list is joined by commas; here by dots, which is what {.tag*} means
# A guess would be that a modifier that is not understood throws, as mcp 2.3.0 (Python) does for {day:4}.
# A client that fills in a server's template itself therefore reads an address that exists but is another one.
#
# Seen (both packages alike; RFC 6570 in brackets):
#   log://app/{day:4}  log://app/                 [log://app/2026]
#   log://app{?tag*}   log://app?tag=a,b          [log://app?tag=a&tag=b]
#   log://app{;day}    log://app                  [log://app;day=2026-11-28]
#   log://app{.tag}    log://app.a.b              [log://app.a,b]
#   log://app{?day}    log://app?day=2026-11-28   [log://app?day=2026-11-28]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @modelcontextprotocol/sdk@1.32.2 @modelcontextprotocol/server@2.4.0
cat > expand.mjs <<'JS'
import { UriTemplate as First } from "@modelcontextprotocol/sdk/shared/uriTemplate.js";
import { UriTemplate as Second } from "@modelcontextprotocol/server";

const values = { day: "2026-11-28", tag: ["a", "b"] };
const expected = {
  "log://app/{day:4}": "log://app/2026",
  "log://app{?tag*}": "log://app?tag=a&tag=b",
  "log://app{;day}": "log://app;day=2026-11-28",
  "log://app{.tag}": "log://app.a,b",
  "log://app{?day}": "log://app?day=2026-11-28",
};
for (const [template, rfc] of Object.entries(expected)) {
  const both = [First, Second].map((UriTemplate) => new UriTemplate(template).expand(values));
  if (both[0] !== both[1]) console.log("the versions differ", both);
  console.log(template.padEnd(18), both[0].padEnd(26), `[${rfc}]`);
}
JS
node expand.mjs | tee seen.txt
diff seen.txt - <<'SEEN'
log://app/{day:4}  log://app/                 [log://app/2026]
log://app{?tag*}   log://app?tag=a,b          [log://app?tag=a&tag=b]
log://app{;day}    log://app                  [log://app;day=2026-11-28]
log://app{.tag}    log://app.a.b              [log://app.a,b]
log://app{?day}    log://app?day=2026-11-28   [log://app?day=2026-11-28]
SEEN
