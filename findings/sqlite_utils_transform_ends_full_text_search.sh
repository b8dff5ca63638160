#!/usr/bin/env bash
# sqlite-utils 4.2.1: transform() on a table with a full-text index leaves the index, and takes its triggers away.
#
# enable_fts(..., create_triggers=True) keeps the index up to date by three triggers. transform() (a migration: a
# changed type, a new NOT NULL, a dropped column) copies the table, drops the old one and renames the copy; SQLite
# drops the triggers with the old table and they are not made again. Nothing fails: detect_fts() still names the index,
# search() still finds the old rows, and rows written from then on are never found, while a row changed since is found
# by its old words. A guess would be that transform(), which makes the table's indexes again, does so with the triggers
# that the same library made. enable_fts() once more with replace=True mends it.
#
# Seen:
#   before the migration: 3 triggers, 'alpha' finds [1]
#   after it: 0 triggers, index t_fts
#   a new row: 'gamma' finds []
#   a changed row: its new word finds [], its old word finds [2]
#   enabled once more: 3 triggers, 'gamma' finds [3]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv --without-pip env
python3 -m pip --python env/bin/python install -qq --no-compile sqlite-utils==4.2.1
env/bin/python - <<'PY' | tee seen.txt
import sqlite_utils

table = sqlite_utils.Database(memory=True)["t"]
table.insert_all([{"id": 1, "text": "alpha"}, {"id": 2, "text": "beta"}], pk="id")
table.enable_fts(["text"], create_triggers=True)


def found(word):
    return [row["id"] for row in table.search(word)]


print(f"before the migration: {len(table.triggers)} triggers, 'alpha' finds {found('alpha')}")
table.transform(not_null={"text"})
print(f"after it: {len(table.triggers)} triggers, index {table.detect_fts()}")
table.insert({"id": 3, "text": "gamma"})
print(f"a new row: 'gamma' finds {found('gamma')}")
table.update(2, {"text": "delta"})
old = [row[0] for row in table.db.execute("select rowid from t_fts where t_fts match 'beta'")]
print(f"a changed row: its new word finds {found('delta')}, its old word finds {old}")
table.enable_fts(["text"], create_triggers=True, replace=True)
print(f"enabled once more: {len(table.triggers)} triggers, 'gamma' finds {found('gamma')}")
PY
diff seen.txt - <<'SEEN'
before the migration: 3 triggers, 'alpha' finds [1]
after it: 0 triggers, index t_fts
a new row: 'gamma' finds []
a changed row: its new word finds [], its old word finds [2]
enabled once more: 3 triggers, 'gamma' finds [3]
SEEN
