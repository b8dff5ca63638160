# Two commands to remember: `make demo` and `make test`. Everything lands in .venv, from requirements.lock.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
# uv installs the lock in a tenth of pip's time: the machine's own, or a pinned one in .venv.
OWN_UV := $(shell command -v uv 2>/dev/null)
UV := $(or $(OWN_UV),$(BIN)/uv)
# The lock is complete, and leaves out what nothing imports (see pyproject.toml): nothing is resolved here.
LOCKED := --quiet --no-deps --require-hashes --requirement
LOCK := --quiet --universal --generate-hashes --no-emit-index-url --no-annotate --no-header --python-version 3.11
EDITABLE := --quiet --no-deps --no-build-isolation --editable .

# A process a core and one more, since some tests wait for servers; what is done with its own tests takes over some
# of another's, so that shared servers are few.
# To rewrite asserts so that they show their values takes each process seven seconds: tests that fail run once more.
SPREAD := -n $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1) --dist worksteal --assert=plain
TELL := || { status=$$?; [ $$status -ne 1 ] || $(BIN)/python -m pytest -n 0 --last-failed; exit $$status; }

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-all check lint format bench bench-hard bench-retrieval bench-registry data servers phrases reproduce screenshots numbers docs lock clean

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 18

$(BIN)/python:
	$(if $(OWN_UV),$(OWN_UV) venv --quiet --python $(PYTHON) .venv,$(PYTHON) -m venv .venv)

$(BIN)/uv: requirements-uv.lock | $(BIN)/python
	-$(BIN)/python -m pip install --disable-pip-version-check $(LOCKED) requirements-uv.lock

# pip does it where uv cannot be had, or does not know the package index that pip was configured with. Everything
# is compiled here once: where PYTHONDONTWRITEBYTECODE is set, every start would do it again.
$(STAMP): requirements.lock pyproject.toml | $(BIN)/python $(UV)
	$(UV) pip install --python $(BIN)/python --compile-bytecode $(LOCKED) requirements.lock \
		|| $(BIN)/python -m pip install --disable-pip-version-check $(LOCKED) requirements.lock
	$(UV) pip install --python $(BIN)/python $(EDITABLE) || $(BIN)/python -m pip install $(EDITABLE)
	@$(BIN)/python -m compileall -q -j 0 inspector widgets fixtures/servers tests
	@touch $@

setup: $(STAMP) ## set up .venv

demo: $(STAMP) ## set up, then open the app on the demo servers (headless without a terminal)
	$(BIN)/toolsight demo

test: $(STAMP) ## set up, then run the tests, but for the slow ones
	$(BIN)/python -m pytest $(SPREAD) -m "not slow and not measured" $(TELL)

test-all: $(STAMP) ## set up, then run every test, as CI does
	$(BIN)/python -m pytest $(SPREAD) -m "not measured" $(TELL)

check: lint ## format, lint, types, imports, limits
	$(BIN)/python -m pytest -q tests/test_limits.py

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMP) ## rewrite the sources in the house format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(STAMP) ## start-up and keys against a bare Textual app, the loop, a new budget, the gateway; all, also after a miss
	@status=0; for part in startup keys loop budget gateway; do $(BIN)/python -m docs.benchmark.$$part || status=1; done; exit $$status

bench-hard: $(STAMP) ## keys, time and memory with 107 servers and with 10,000 tools, and what kills leave (some 50 minutes)
	$(BIN)/python -m docs.hard.load $(CAPTURED)
	$(BIN)/python -m docs.hard.long_session
	$(BIN)/python -m docs.hard.transcripts
	$(BIN)/python -m docs.hard.telemetry $(or $(TMPDIR),/tmp)/toolsight-telemetry
	$(BIN)/python -m docs.hard.faults
	$(BIN)/python -m docs.hard.floods
	$(BIN)/python -m docs.hard.kills
	$(BIN)/python -m docs.hard.orphans
	$(BIN)/python -m docs.hard.reaper
	$(BIN)/python -m docs.hard.paste
	$(BIN)/python -m docs.hard.secrets

bench-retrieval: $(STAMP) ## every ranker over every data set, with the bars (some 20 minutes); TOOLSIGHT_PEERS: a Python with fastmcp<4 and casual-mcp
	$(BIN)/python -m docs.benchmark.retrieval

bench-registry: $(STAMP) ## 100,000 tools in SQLite and in PostgreSQL: search, recall, memory, disk; KEEP names a folder for them
	$(BIN)/python -m docs.benchmark.registry --backend sqlite --tools 100000 $(if $(KEEP),--keep $(KEEP)/sqlite)
	$(BIN)/python -m docs.benchmark.registry --backend postgres --tools 100000 $(if $(KEEP),--keep $(KEEP)/postgres)

data: $(STAMP) ## fetch the published data sets and recorded runs from their repositories, checked (NAMES: only these)
	$(BIN)/python -m docs.benchmark.fetch $(NAMES)

servers: $(STAMP) ## what 25 published servers list, for everyday requests (takes npx, uvx and a network)
	$(BIN)/python -m docs.hard.capture docs/benchmark/everyday_servers.json .benchmark/servers

phrases: $(STAMP) ## the tables of the phrasebook from its phrases, the same bytes each time
	$(BIN)/python -m docs.benchmark.phrasebook

reproduce: $(STAMP) ## docs/papers/reproduction.md anew; DATA names a folder of further catalogs
	$(BIN)/python -m pytest -q tests/papers
	$(BIN)/python -m docs.papers --all --output docs/papers/reproduction.md $(if $(DATA),--data $(DATA))

screenshots: $(STAMP) ## take the pictures again from the running app
	$(BIN)/python -m screenshots

numbers: $(STAMP) ## measure the figures of the README and the docs, and write them again (half an hour; QUICK=1: a minute; DATA=FOLDER: recorded runs too)
	$(BIN)/python -m docs.figures $(if $(QUICK),--quick) $(if $(DATA),--data $(DATA))

docs: $(STAMP) ## write the tables of commands and keys in the docs again
	$(BIN)/python -m docs.tables

lock: $(UV) ## resolve requirements.lock again
	$(UV) pip compile $(LOCK) pyproject.toml --extra postgres --group dev --output-file requirements.lock
	echo uv | $(UV) pip compile $(LOCK) - --output-file requirements-uv.lock

clean: ## remove the environment and caches
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis
