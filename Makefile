# Two commands to remember: `make demo` and `make test`. Everything lands in .venv, from requirements.lock.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
UV := $(shell command -v uv 2>/dev/null)

# A process a core; what is done with its own tests takes over some of another's, so that shared servers are few.
SPREAD := -n auto --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help demo test test-all check format bench bench-retrieval reproduce screenshots lock clean

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 18

$(STAMP): requirements.lock pyproject.toml
ifdef UV
	test -x $(BIN)/python || uv venv --quiet --python $(PYTHON) .venv
	VIRTUAL_ENV=$(CURDIR)/.venv uv pip install --quiet --requirement requirements.lock
	VIRTUAL_ENV=$(CURDIR)/.venv uv pip install --quiet --no-build-isolation --no-deps --editable .
else
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --editable .
endif
	@touch $@

demo: $(STAMP) ## set up, then open the app on the demo servers (headless without a terminal)
	$(BIN)/toolsight demo

test: $(STAMP) ## set up, then run the tests, but for the slow ones
	$(BIN)/python -m pytest $(SPREAD) -m "not slow"

test-all: $(STAMP) ## set up, then run every test, as CI does
	$(BIN)/python -m pytest $(SPREAD)

check: $(STAMP) ## format, lint, types, imports, limits
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -q tests/test_limits.py

format: $(STAMP) ## rewrite the sources in the house format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(STAMP) ## start-up against a bare Textual app, what the loop costs a model call, and a new budget
	$(BIN)/python -m tests.benchmark.startup
	$(BIN)/python -m tests.benchmark.loop
	$(BIN)/python -m tests.benchmark.budget

bench-retrieval: $(STAMP) ## every ranker over every data set, with the bars (some 20 minutes)
	$(BIN)/python -m tests.benchmark.retrieval

reproduce: $(STAMP) ## docs/reproduction.md anew; DATA names a folder of further catalogs
	$(BIN)/toolsight reproduce --all --output docs/reproduction.md $(if $(DATA),--data $(DATA))

screenshots: $(STAMP) ## take the pictures again from the running app
	$(BIN)/python -m screenshots

lock: ## resolve requirements.lock again (needs uv)
	uv pip compile pyproject.toml --extra offline --group dev --universal --generate-hashes --no-emit-index-url --no-annotate --no-header --python-version 3.11 --output-file requirements.lock

clean: ## remove the environment and caches
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis
