# Two commands do everything: `make plan` and `make test`. Both set up .venv first.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt
SCENARIO ?= public-2026
OUT ?= reports/$(SCENARIO)-$(shell date +%Y%m%d-%H%M%S)

.DEFAULT_GOAL := help
.PHONY: help setup plan test check format docs bench example lock wheel clean fuzz

help:  ## this list
	@awk -F':.*## ' '/^[a-z]+:.*## /{printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(VENV)/.base: pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || python3 -m venv $(VENV)
	$(PIP) --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.base
	$(PIP) --editable '.[dev]'
	@touch $@

setup: $(VENV)/.dev  ## everything a developer needs, into .venv

plan: $(VENV)/.base  ## plan the bundled scenario and say where the report is
	@$(BIN)/fleetplan optimize $(SCENARIO) --output $(OUT)

check: $(VENV)/.dev  ## lint, format, types and import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: check  ## all checks and all tests
	$(BIN)/python -m pytest -n 2 --dist worksteal

format: $(VENV)/.dev  ## let ruff put the code in shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

fuzz: $(VENV)/.dev  ## the long form: fuzzers, kills, and the cases that `make test` leaves out
	FLEETPLAN_FUZZ_CASES=10000 FLEETPLAN_PLAN_FUZZ_CASES=6000 FLEETPLAN_KILLS=200 $(BIN)/python -m pytest -n 2 -m "long or not long" -k "fuzz or kills or diagnose or commit or sweep"

bench: $(VENV)/.dev  ## speed, memory and accuracy figures
	$(BIN)/python -m benchmarks

docs: $(VENV)/.dev  ## the documents as a site, into site/
	$(BIN)/python docs/generate.py
	$(BIN)/zensical build --strict

example: $(VENV)/.base  ## re-make the committed example report
	@rm -rf build/example && $(BIN)/fleetplan optimize public-2026 --output build/example --format html
	@$(BIN)/fleetplan report build/example --format html,md --output reports/example

lock: $(VENV)/.dev  ## pin every dependency at the versions that are installed
	$(BIN)/python -m pip freeze --exclude-editable | grep -v '@ file' | LC_ALL=C sort --ignore-case > constraints.txt

wheel: $(VENV)/.dev  ## build the wheel into dist/
	$(BIN)/python -m build --wheel

clean:  ## remove what was built, keep plans
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
