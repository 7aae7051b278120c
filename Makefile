# All commands of a contributor. Each target works as the first command on a fresh clone.

# The default environment is .venv. With PYTHON=…, each version has its own: `make test PYTHON=python3.13` uses .venv-3.13.
PYTHON ?= python3
ifeq ($(origin PYTHON),file)
  VENV := .venv
else
  VENV := .venv-$(or $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])'),$(error $(PYTHON) does not run))
endif
LOWEST := $(VENV)-lowest
RUN    := $(VENV)/bin/python
UV     := $(shell command -v uv 2>/dev/null)

# The tests start hundreds of processes, and each of them would compile all that it imports.
unexport PYTHONDONTWRITEBYTECODE

# The source of `make models`: a folder with schemas and discovery documents, or the URL of an API server.
SOURCE ?= ../shared/kubernetes-1.37

# The duration of each of the four runs of `make soak`: informers, controllers, sharding, splitter.
MINUTES ?= 3

# Stamp files are written last, so that an interrupted installation is repeated.
READY       := $(VENV)/.ready
CHECK_READY := $(VENV)/.check-ready
BENCH_READY := $(VENV)/.bench-ready
LOWEST_READY := $(LOWEST)/.ready
DOCS_READY  := $(VENV)/.docs-ready

# $(call venv,DIR) creates an environment unless it exists, $(call install,DIR) installs into it.
ifdef UV
  venv    = test -x $(1)/bin/python || $(UV) venv --quiet --python $(PYTHON) $(1)
  install = VIRTUAL_ENV=$(1) $(UV) pip install --quiet
else
  venv    = test -x $(1)/bin/python && $(1)/bin/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv $(1)
  install = $(1)/bin/python -m pip install --quiet --disable-pip-version-check
endif

.DEFAULT_GOAL := help
.PHONY: help setup test test-lowest check demo real conformance bench bench-full soak models descriptions bootstrap blocking clean reference clients dist docs docs-serve pictures

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY) ## install into .venv, or .venv-3.x with PYTHON=python3.x; no-op when up to date

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "listwatch needs Python 3.11 or newer: make PYTHON=python3.x")'
	@echo "installing into $(VENV)"
	@$(call venv,$(VENV))
	@$(call install,$(VENV)) -e '.[test]'
	@touch $@

# Always recreated, so that no newer version remains in it.
$(LOWEST_READY): pyproject.toml tools/lowest_requirements.py
	@echo "installing the lowest allowed versions into $(LOWEST)"
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
	@echo "installing the benchmark dependencies"
	@$(call install,$(VENV)) -e '.[bench]'
	@touch $@

$(DOCS_READY): $(READY)
	@echo "installing the generator of the documentation site"
	@$(call install,$(VENV)) -e '.[docs]'
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

# Twice, because the models have the order of the protobuf schemas, and these are of the group versions of the models.
models: setup ## regenerate src/listwatch/models from SOURCE=…, and the protobuf schemas from Go modules
	@$(RUN) -m tools.generate_models $(SOURCE)
	@$(RUN) -m tools.generate_protobuf
	@$(RUN) -m tools.generate_models $(SOURCE)

descriptions: setup ## regenerate the models with the descriptions of the real kube-apiserver, built if it is missing, and of Go modules
	@$(RUN) -m tools.describe_models $(SOURCE)

bootstrap: setup ## regenerate the objects that a new embedded server has from a real kube-apiserver, which make real builds
	@$(RUN) -m tools.generate_bootstrap

blocking: setup ## regenerate src/listwatch/blocking from the asynchronous classes
	@$(RUN) -m tools.generate_blocking

reference: setup ## regenerate docs/reference.md from the docstrings of the public names
	@$(RUN) -m tools.generate_reference

# The variable turns off a note about the next generation of the generator.
docs: $(DOCS_READY) ## build the documentation site into build/site, without network access; any warning is an error
	@NO_MKDOCS_2_WARNING=1 $(RUN) -m mkdocs --quiet build --strict --clean
	@echo "built build/site/index.html"

docs-serve: $(DOCS_READY) ## serve the documentation site at http://127.0.0.1:8000, rebuilt on changes
	@NO_MKDOCS_2_WARNING=1 $(RUN) -m mkdocs serve --dev-addr 127.0.0.1:8000

bench: $(BENCH_READY) ## run the benchmarks next to client-go and other clients, about a quarter of an hour; PART="clients informers" selects some
	@$(RUN) -m bench $(PART)

bench-full: $(BENCH_READY) ## the same with more rounds and objects, about an hour
	@$(RUN) -m bench --full $(PART)

clients: $(BENCH_READY) ## run programs with kopf, kr8s, lightkube, kubernetes and client-go, and their ports, on the embedded server
	@$(RUN) -m tools.other_clients

# REPOSITORY is the URL of the public repository, for the links of the README; without it, they become text.
dist: setup ## build the wheel and the source distribution into dist; REPOSITORY=https://… for the links of the README
	@$(call install,$(VENV)) 'flit_core>=3.12'
	@$(RUN) -m tools.build_dist $(if $(REPOSITORY),--repository $(REPOSITORY))

demo: setup ## show the pipeline of an informer, live, on the embedded API server
	@$(RUN) -m listwatch demo

pictures: setup ## make the pictures of the README and the documentation, docs/images
	@$(RUN) -m tools.make_pictures

real: setup ## run the contract tests on a real kube-apiserver and etcd; builds them if they are missing
	@$(RUN) -m tools.run_real

conformance: setup ## run tests of Kubernetes, controller-runtime and kubectl on the embedded server; PART=kubectl for one part
	@$(RUN) -m conformance $(PART)

soak: setup ## run informers, controllers and sharded replicas under faults, then read damaged lists and bodies, for MINUTES=3 each
	@$(RUN) -m soak informers --minutes $(MINUTES)
	@$(RUN) -m soak controllers --minutes $(MINUTES)
	@$(RUN) -m soak sharding --minutes $(MINUTES)
	@$(RUN) -m soak splitter --minutes $(MINUTES)
	@$(RUN) -m soak protobuf --minutes $(MINUTES)

clean: ## remove what the other targets made
	rm -rf .venv .venv-* .hypothesis .mypy_cache .pytest_cache .ruff_cache build dist
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
