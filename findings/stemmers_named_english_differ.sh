#!/usr/bin/env bash
# snowballstemmer 3.1.1, PyStemmer 3.1.0 and nltk 3.10.4: three Snowball stemmers named "english", two algorithms.
#
# Snowball's English stemmer has changed in recent releases; snowballstemmer and PyStemmer carry the new one, NLTK's
# SnowballStemmer("english") is a port of the old one. They disagree on ordinary words of tool descriptions: for NLTK
# "internal" is "international", "organization" is "organic", "university" is "universal", "evening" is "even" and
# "paste" is "past"; for the other two these are different words. So an index stemmed by one and queried through the
# other misses exact words, and an evaluation moves when the library is exchanged although the name stays the same.
#
# Seen (word, snowballstemmer and PyStemmer, nltk):
#   internal       internal     intern
#   international  internat     intern
#   interval       interval     interv
#   organization   organiz      organ
#   organic        organic      organ
#   organize       organiz      organ
#   university     universiti   univers
#   universal      universal    univers
#   evening        evening      even
#   paste          paste        past
#   adding         add          ad
#   emergency      emergenc     emerg
#   lateral        lateral      later
#   snowballstemmer and PyStemmer agree: True
#   13 of 24 differ
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv --without-pip env
python3 -m pip --python env/bin/python install -qq --no-compile snowballstemmer==3.1.1 PyStemmer==3.1.0 nltk==3.10.4
env/bin/python - <<'PY' | tee seen.txt
import snowballstemmer
import Stemmer
from nltk.stem.snowball import SnowballStemmer

WORDS = """internal international interval organization organic organize university universal evening even
paste past adding emergency emerge lateral later issues queries deployment analysis archives logging metadata"""
new, compiled, old = (
    snowballstemmer.stemmer("english").stemWord,
    Stemmer.Stemmer("english").stemWord,
    SnowballStemmer("english").stem,
)
words = WORDS.split()
differ = [word for word in words if new(word) != old(word)]
for word in differ:
    print(f"{word:<14} {new(word):<12} {old(word)}")
print("snowballstemmer and PyStemmer agree:", all(new(word) == compiled(word) for word in words))
print(f"{len(differ)} of {len(words)} differ")
PY
diff seen.txt - <<'SEEN'
internal       internal     intern
international  internat     intern
interval       interval     interv
organization   organiz      organ
organic        organic      organ
organize       organiz      organ
university     universiti   univers
universal      universal    univers
evening        evening      even
paste          paste        past
adding         add          ad
emergency      emergenc     emerg
lateral        lateral      later
snowballstemmer and PyStemmer agree: True
13 of 24 differ
SEEN
