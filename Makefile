# Everything a contributor runs. Each target works as the first command on a fresh clone.

PYTHON ?= python3
VENV   := .venv
RUN    := $(VENV)/bin/python
UV     := $(shell command -v uv 2>/dev/null)

# Where `make models` reads the API's schemas and discovery from: a folder, or the URL of an API server.
SOURCE ?= ../shared/kubernetes-1.37

# How long each of the two runs of `make soak` takes: informers, then controllers.
MINUTES ?= 3

# The stamps are written last, so that an interrupted installation is done again, not taken for a finished one.
READY       := $(VENV)/.ready
CHECK_READY := $(VENV)/.check-ready
BENCH_READY := $(VENV)/.bench-ready

ifdef UV
  INSTALL := VIRTUAL_ENV=$(VENV) $(UV) pip install --quiet
else
  INSTALL := $(RUN) -m pip install --quiet --disable-pip-version-check
endif

.DEFAULT_GOAL := help
.PHONY: help setup test check demo real bench bench-full soak models blocking clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY) ## install into .venv; does nothing when up to date

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "listwatch needs Python 3.11 or newer: make PYTHON=python3.x")'
	@echo "installing into $(VENV)"
ifdef UV
	@test -x $(RUN) || $(UV) venv --quiet --python $(PYTHON) $(VENV)
else
	@test -x $(RUN) && $(RUN) -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv $(VENV)
endif
	@$(INSTALL) -e '.[test]'
	@touch $@

$(CHECK_READY): $(READY)
	@echo "installing the second type checker"
	@$(INSTALL) -e '.[check]'
	@touch $@

$(BENCH_READY): $(READY)
	@echo "installing what listwatch is measured against"
	@$(INSTALL) -e '.[bench]'
	@touch $@

test: setup ## run the tests
	@$(RUN) -m pytest -q -rs -n auto --durations=5 --durations-min=1

check: $(CHECK_READY) ## ruff, mypy, pyright and the architecture test
	@$(RUN) -m ruff check .
	@$(RUN) -m ruff format --check .
	@$(RUN) -m mypy
	@$(RUN) -m pytest -q tests/test_architecture.py tests/typechecking

models: setup ## generate src/listwatch/models again, from the folder or API server SOURCE=…
	@$(RUN) -m tools.generate_models $(SOURCE)

blocking: setup ## write the types of listwatch.blocking again, from the asynchronous classes
	@$(RUN) -m tools.generate_blocking

bench: $(BENCH_READY) ## measure listwatch beside its peers, in less than eight minutes; PART="clients informers" for some
	@$(RUN) -m bench $(PART)

bench-full: $(BENCH_READY) ## the same with more rounds, more objects and more peers, in an hour
	@$(RUN) -m bench --full $(PART)

demo: setup ## show what an informer sees, on an API server in this process
	@$(RUN) -m listwatch.cli demo

real: setup ## run the contract tests on a real kube-apiserver and etcd, which are built if need be
	@$(RUN) -m tools.run_real

soak: setup ## keep informers, then controllers, under trouble for MINUTES=3 each, and look at what came of it
	@$(RUN) -m soak informers --minutes $(MINUTES)
	@$(RUN) -m soak controllers --minutes $(MINUTES)

clean: ## remove what the other targets made
	rm -rf $(VENV) .hypothesis .mypy_cache .pytest_cache .ruff_cache build dist
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
