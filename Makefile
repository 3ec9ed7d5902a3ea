# The front door. `make help` lists the habits; each is one command that can be run by hand too.
STACK ?= sandbox
BASE ?=
ACKNOWLEDGED ?=
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python -m
STAMP := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help setup up preview doctor backend pr-report pr-report-down refresh destroy down status test test-fast lint format bench clean

help: ## This list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "STACK=<name> picks the stack (default: sandbox)."

setup: $(STAMP) ## Make .venv with the pinned packages (every other habit does it first)

$(STAMP): requirements.txt requirements-dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or later is needed; this is `$(PYTHON) --version`. Name another: make PYTHON=python3.12 ..." >&2; exit 2; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "Python's venv module is missing (Debian: apt install python3-venv)." >&2; exit 2; }
	@echo "Installing the pinned Python packages into $(VENV) (about a minute the first time)" >&2
	@test -x $(VENV)/bin/python || $(PYTHON) -m venv $(VENV)
	@$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

# With AWS=1 these three run on AWS: your credentials, your backend, the official plugins.
ifdef AWS
up preview destroy: setup
	@$(RUN) sandbox on-aws $@ --stack $(STACK)
else
up: setup ## Bring the stack up: sandbox, engine, workload; repairs what a killed run left
	@$(RUN) sandbox deploy --stack $(STACK)

preview: setup ## What `make up` would change, with the policies' verdicts; offline, no credentials
	@$(RUN) sandbox preview --stack $(STACK)

destroy: setup ## Delete what the stack made; the sandbox stays
	@$(RUN) sandbox destroy --stack $(STACK)
endif

doctor: setup ## What a real run on AWS needs, and what of it is missing (STACK=prod)
	@$(RUN) sandbox doctor --stack $(STACK)

backend: setup ## Make the S3 bucket and KMS key for the state, once (STACK=prod)
	@$(RUN) sandbox backend --stack $(STACK)

pr-report: setup ## The comment that a pull request would get: the working tree against its base (BASE=commit)
	@$(RUN) report against-base --stack $(STACK) $(if $(BASE),--base $(BASE)) $(if $(ACKNOWLEDGED),--acknowledged $(ACKNOWLEDGED))

pr-report-down: setup ## End what pr-report left running
	@$(RUN) report end

refresh: setup ## Bring the stack's state to what the cluster has
	@$(RUN) sandbox refresh --stack $(STACK)

down: setup ## End the sandbox and delete its folder
	@$(RUN) sandbox down

status: setup ## What runs in the sandbox, what is real and what is simulated
	@$(RUN) sandbox status

test: setup ## All checks and tests, also those on the real engine (builds the toolchain the first time)
	@$(VENV)/bin/ruff format --check .
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/mypy
	@$(RUN) toolchain build
	@$(RUN) pytest -m "not engine" -n auto
	@$(RUN) pytest -m engine

test-fast: setup ## The tests that need no engine
	@$(RUN) pytest -m "not engine" -n auto

lint: setup ## ruff and mypy
	@$(VENV)/bin/ruff format --check .
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/mypy

format: setup ## Let ruff write the code as it wants it
	@$(VENV)/bin/ruff check --fix .
	@$(VENV)/bin/ruff format .

bench: setup ## The benchmarks under tests/bench (they print, they never fail on a time)
	@for file in tests/bench/bench_*.py; do echo "== $$file"; $(RUN) tests.bench.$$(basename $$file .py); done

clean: pr-report-down down ## End the sandboxes and delete .venv and caches of this clone (the toolchain's cache stays)
	@rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis *.egg-info
