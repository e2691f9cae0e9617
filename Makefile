# `make demo` and `make test` set everything up first; `make check` is what CI runs.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

DATA   ?= ../shared/data

.PHONY: help demo test thorough lint types check bench eval mcpb lock licences sbom fix clean

help:
	@echo "make demo    see it work"
	@echo "make test    run all tests"
	@echo "make thorough  run them with more examples and larger stores, which takes twice as long"
	@echo "make check   lint, types and tests: what CI runs"
	@echo "make bench   measure, beside a do-it-yourself build"
	@echo "make eval    how well corrections, dates and answers are found, on the data of DATA=FOLDER"
	@echo "make mcpb    pack the bundle for Claude Desktop, into dist/"
	@echo "make lock    choose the versions that the tests are installed with anew, and list their licences"
	@echo "make sbom    write the bill of materials for a release, into dist/"
	@echo "make fix     format and mend what the linter can"

$(READY): pyproject.toml requirements/tests.txt scripts/setup.py scripts/lockfile.py scripts/npm_program.py scripts/sqld.py scripts/pgbouncer.py scripts/node.py scripts/claude_code.py scripts/codex.py scripts/gemini_cli.py scripts/weights.py
	$(PYTHON) scripts/setup.py $(VENV)
	@touch $@

demo: $(READY)
	$(BIN)/retentive demo

test: $(READY)
	$(BIN)/python -m pytest

thorough: $(READY)
	RETENTIVE_TESTS=thorough $(BIN)/python -m pytest

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(READY)
	$(BIN)/mypy

check: lint types test

bench: $(READY)
	$(BIN)/python -m benchmarks

eval: $(READY)
	$(BIN)/python -m benchmarks.judgement pairs $(DATA)
	$(BIN)/python -m benchmarks.dates $(DATA)/dates-dev.jsonl 5
	$(BIN)/retentive eval $(DATA)/locomo-dev.json --format locomo

mcpb:
	$(PYTHON) scripts/mcpb.py

lock:
	$(PYTHON) scripts/lock.py
	$(PYTHON) scripts/licences.py

licences:
	$(PYTHON) scripts/licences.py

sbom:
	$(PYTHON) scripts/sbom.py

fix: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache dist
