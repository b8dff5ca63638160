"""Files and folders of a machine."""

from inspector.research.vocabulary.word import Domain, entities

FILESYSTEM = Domain(
    server="filesystem",
    scope="folder",
    where=("under /srv/reports", "in my home folder", "on the shared drive", "below ~/projects/demo"),
    located=("path",),
    usual=("list", "search", "delete", "copy", "count", "compare", "watch", "history", "restore", "export"),
    entities=entities(
        """
file = document on disk; text document; thing called
a document with text or bytes
notes.txt; the March report; config.yaml
content mode
read write search move append delete copy

directory = folder; subfolder; place on disk
a folder and what is in it
the archive; build output; last year's
name mode
list create move delete

log file = log; trace on disk; record of what ran
lines that a program wrote
server.log; the one of last night; errors.log
content level
read search pack

image = picture on disk; photo; scan
a picture with its size and metadata
logo.png; the team photo; the scanned letter
width format
read list

archive = zip; packed folder; tarball
many files in one
backup.zip; the delivery of May; src.tar.gz
format level
create list

link = shortcut; alias; pointer to a path
a name that points to another path
current; the latest release pointer; www
target
create list

permission = access mode; right on a path; owner setting
who may read and write a path
the write right on reports; group access; the open folder
mode owner
update get

spreadsheet = table file; Excel sheet; CSV on disk
a table that is kept in a file
budget.xlsx; prices.csv; the attendance list
sheet cells
read write

temporary file = scratch data; leftover; cache entry
data that may go at any time
the upload cache; leftovers of the build; tmp42
prefix
create list
"""
    ),
)
