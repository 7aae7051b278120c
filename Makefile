# Everything a contributor runs. Each target works as the first command on a fresh clone.

# Without PYTHON=…, the environment is .venv. Each other Python has its own, so that versions are never mixed:
# `make test PYTHON=python3.13` uses .venv-3.13.
PYTHON ?= python3
ifeq ($(origin PYTHON),file)
  VENV := .venv
else
  VENV := .venv-$(or $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])'),$(error $(PYTHON) does not run))
endif
LOWEST := $(VENV)-lowest
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
LOWEST_READY := $(LOWEST)/.ready

# $(call venv,DIR) makes an environment unless it is there, $(call install,DIR) installs into it.
ifdef UV
  venv    = test -x $(1)/bin/python || $(UV) venv --quiet --python $(PYTHON) $(1)
  install = VIRTUAL_ENV=$(1) $(UV) pip install --quiet
else
  venv    = test -x $(1)/bin/python && $(1)/bin/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv $(1)
  install = $(1)/bin/python -m pip install --quiet --disable-pip-version-check
endif

.DEFAULT_GOAL := help
.PHONY: help setup test test-lowest check demo real bench bench-full soak models blocking clean reference

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY) ## install into .venv, or .venv-3.x with PYTHON=python3.x; does nothing when up to date

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "listwatch needs Python 3.11 or newer: make PYTHON=python3.x")'
	@echo "installing into $(VENV)"
	@$(call venv,$(VENV))
	@$(call install,$(VENV)) -e '.[test]'
	@touch $@

# Made anew each time, because nothing newer may be left in it.
$(LOWEST_READY): pyproject.toml tools/lowest_requirements.py
	@echo "installing the lowest versions that are allowed into $(LOWEST)"
	@rm -rf $(LOWEST)
	@$(call venv,$(LOWEST))
	@$(LOWEST)/bin/python -m tools.lowest_requirements > $(LOWEST)/requirements.txt
	@$(call install,$(LOWEST)) -r $(LOWEST)/requirements.txt -e '.[test]'
	@touch $@

$(CHECK_READY): $(READY)
	@echo "installing the second type checker"
	@$(call install,$(VENV)) -e '.[check]'
	@touch $@

$(BENCH_READY): $(READY)
	@echo "installing what listwatch is measured against"
	@$(call install,$(VENV)) -e '.[bench]'
	@touch $@

test: setup ## run the tests; PYTHON=python3.13 for another Python, in its own environment
	@$(RUN) -m pytest -q -rs -n auto --durations=5 --durations-min=1

test-lowest: $(LOWEST_READY) ## run the tests on the lowest versions of the dependencies that pyproject.toml allows
	@$(LOWEST)/bin/python -m pytest -q -rs -n auto

check: $(CHECK_READY) ## ruff, mypy, pyright, the architecture test and the generated blocking API
	@$(RUN) -m ruff check .
	@$(RUN) -m ruff format --check .
	@$(RUN) -m mypy
	@$(RUN) -m tools.generate_blocking --check
	@$(RUN) -m pytest -q tests/test_architecture.py tests/typechecking

models: setup ## generate src/listwatch/models again, from the folder or API server SOURCE=…
	@$(RUN) -m tools.generate_models $(SOURCE)

blocking: setup ## generate src/listwatch/blocking again, from the asynchronous classes
	@$(RUN) -m tools.generate_blocking

reference: setup ## write docs/reference.md again, from the docstrings of the public names
	@$(RUN) -m tools.generate_reference

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
	rm -rf .venv .venv-* .hypothesis .mypy_cache .pytest_cache .ruff_cache build dist
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
