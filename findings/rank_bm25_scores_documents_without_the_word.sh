#!/usr/bin/env bash
# rank_bm25 0.2.2: under BM25Plus a document without any of the query's words scores above 0, and ties are reversed.
#
# BM25+ adds its lower bound (delta) to the terms that a document HAS. The package adds it for every term of the query,
# so every document gets idf * delta, and "score > 0" finds the whole corpus; a rarer word lifts them all the more.
# BM25L and BM25Okapi give 0 there. bm25s 0.3.16 does the same under "bm25+" and, unlike rank_bm25, under "bm25l" too.
# get_top_n() gives equal scores in reverse: for a query that finds nothing, the LAST documents of the corpus.
#
# Seen (scores of "file" in: read file, delete file, list users, send mail, open door):
#   BM25Okapi         0.34 0.34 0.00 0.00 0.00
#   BM25L             1.09 1.09 0.00 0.00 0.00
#   BM25Plus          2.20 2.20 1.10 1.10 1.10
#   bm25s lucene      0.35 0.35 0.00 0.00 0.00
#   bm25s bm25l       1.09 1.09 0.55 0.55 0.55
#   bm25s bm25+       1.65 1.65 0.55 0.55 0.55
#   Plus, rarer word  1.79 1.79 1.79 3.58 1.79
#   no match, top 2:  open door, send mail
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv --without-pip env
python3 -m pip --python env/bin/python install -qq --no-compile rank-bm25==0.2.2 bm25s==0.3.16
env/bin/python - <<'PY' | tee seen.txt
import bm25s
from rank_bm25 import BM25L, BM25Okapi, BM25Plus

DOCUMENTS = ["read file", "delete file", "list users", "send mail", "open door"]
WORDS = [document.split() for document in DOCUMENTS]


def show(label, scores):
    print(label.ljust(17), *(f"{score:.2f}" for score in scores))


for ranker in (BM25Okapi, BM25L, BM25Plus):
    show(ranker.__name__, ranker(WORDS).get_scores(["file"]))
for method in ("lucene", "bm25l", "bm25+"):
    ranker = bm25s.BM25(method=method)
    ranker.index(WORDS, show_progress=False)
    show(f"bm25s {method}", ranker.get_scores(["file"]))
show("Plus, rarer word", BM25Plus(WORDS).get_scores(["mail"]))
print("no match, top 2: ", ", ".join(BM25Okapi(WORDS).get_top_n(["nothing"], DOCUMENTS, n=2)))
PY
diff seen.txt - <<'SEEN'
BM25Okapi         0.34 0.34 0.00 0.00 0.00
BM25L             1.09 1.09 0.00 0.00 0.00
BM25Plus          2.20 2.20 1.10 1.10 1.10
bm25s lucene      0.35 0.35 0.00 0.00 0.00
bm25s bm25l       1.09 1.09 0.55 0.55 0.55
bm25s bm25+       1.65 1.65 0.55 0.55 0.55
Plus, rarer word  1.79 1.79 1.79 3.58 1.79
no match, top 2:  open door, send mail
SEEN
