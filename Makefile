# Every target works from a fresh clone: it first makes .venv, and remakes it when pyproject.toml changes.

SHELL := /bin/sh
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
WORKERS ?= 2
WORKLOADS := w1 w2 w3 w4 q8 q9
BATCHES := 250000 1000000 5000000

# A name on the PATH is not enough: version managers leave names there that do not run.
RUNS_AND_IS_NEW := -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))'

.PHONY: help
help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: setup
setup: $(READY) ## make the virtual environment in .venv and look for Java

$(READY): pyproject.toml
	@if ! $(BIN)/python $(RUNS_AND_IS_NEW) 2>/dev/null; then \
		found=; \
		for python in python3.13 python3.12 python3.11 python3; do \
			if $$python $(RUNS_AND_IS_NEW) 2>/dev/null; then found=$$python; break; fi; \
		done; \
		if [ -z "$$found" ]; then \
			echo "error: no Python 3.11 or newer (with the venv module) among python3.13, python3.12, python3.11, python3." >&2; \
			echo "       Install one, for example python3.12 and python3.12-venv, and run make again." >&2; \
			exit 1; \
		fi; \
		echo "making $(VENV) with $$($$found --version)"; \
		$$found -m venv --clear $(VENV) || { \
			echo "error: $$found cannot make a virtual environment; on Debian and Ubuntu install its package python3-venv." >&2; \
			exit 1; \
		}; \
	fi
	@echo "installing punctuated and its tools into $(VENV) (a few minutes the first time)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[plot,bench,test,docs,dev]"
	@sh scripts/ensure_java.sh || echo "warning: no Java 17 or newer; everything that does not start Spark works without it" >&2
	@touch $@
	@echo "ready: $$($(BIN)/python --version) in $(VENV)"

.PHONY: demo
demo: $(READY) ## run the auction query with and without punctuations
	@$(BIN)/punctuated demo

# Lint first, so that pytest's closing line is the last line of the output. Meanwhile kernels are compiled, which the
# workers of pytest would otherwise all do by themselves, and at the same time. The site takes a few seconds of that time.
.PHONY: test
test: $(READY) ## lint, build the site, then every test but benchmarks
	@$(MAKE) -j 2 lint kernels docs
	@$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

.PHONY: check
check: $(READY) ## for the change at hand: lint, types, and the tests of what has changed (SINCE=main)
	@$(BIN)/python scripts/check_change.py $(SINCE)

.PHONY: coverage
coverage: $(READY) ## which lines the tests reach, and the slowest tests: out/coverage/index.html
	@$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal \
		--cov=punctuated --cov-report=html:out/coverage --cov-report=term:skip-covered --durations=40

.PHONY: kernels
kernels: $(READY)
	@$(BIN)/python scripts/compile_kernels.py $(WORKERS)

.PHONY: cluster-test
cluster-test: $(READY) ## kill workers of a Spark cluster: nothing is lost or doubled (ARGS="--kills 5 --seed 7")
	@PYTHONPATH=tests:tests/support $(BIN)/python -m cluster.exactly_once $(ARGS)

.PHONY: wheel-test
wheel-test: $(READY) ## build the wheel, try it in empty environments (ARGS="--python python3.12 --spark 4.3")
	@$(BIN)/python scripts/try_wheel.py $(ARGS)

.PHONY: lint
lint: $(READY) ## ruff, mypy and the layer rules
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

# Otherwise Material warns that it is maintained until May 2027; its successor, Zensical, reads the same mkdocs.yml.
MKDOCS := NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs

.PHONY: docs
docs: $(READY) ## build the documentation site into out/site; a warning is an error
	@$(MKDOCS) build --strict --quiet
	@echo "the site is in out/site: open out/site/index.html"

.PHONY: docs-serve
docs-serve: $(READY) ## show the site on http://127.0.0.1:8000 while you write it
	@$(MKDOCS) serve --strict

.PHONY: bench-core
bench-core: $(READY) ## measure the engine-free operators
	$(BIN)/python benchmarks/core.py

# Hours: give WORKLOADS=w1 BATCHES=1000000 SIZE=200000 to go faster. Flink, Pathway and DataFusion run where they are
# installed (INSTALL=--install).
.PHONY: bench
bench: $(READY) ## measure joins on Spark against Spark's own, Flink, Pathway and DataFusion
	@for batch in $(BATCHES); do \
		for workload in $(WORKLOADS); do \
			$(BIN)/python -m benchmarks.peers.run --workload $$workload --batch-rows $$batch \
				$(if $(SIZE),--size $(SIZE),) $(INSTALL) --out benchmarks/results/$$batch/$$workload.json || exit $$?; \
		done; \
		$(BIN)/python -m benchmarks.peers.plot benchmarks/results/$$batch/*.json --out benchmarks/results/$$batch.png; \
	done

# Pictures are drawn even when a claim fails: they show why.
.PHONY: experiments
experiments: $(READY) ## run all experiments and redraw the pictures of the docs
	@status=0; \
	$(BIN)/python -m papers run all --out out/experiments || status=$$?; \
	$(BIN)/python -m papers plot all --out out/experiments --pictures docs/pictures || exit $$?; \
	exit $$status

.PHONY: clean
clean: ## remove caches and results, keep .venv
	rm -rf out build dist benchmarks/results .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find src papers tests benchmarks -type d -name __pycache__ -prune -exec rm -rf {} +
