# The front door: `make demo` shows the product working, `make test` proves it.
PYTHON ?= python3
PORT ?= 8000
SERVE ?= 1
VENV := .venv
BIN := $(VENV)/bin
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes
POSTGRES_URL ?= postgres://postgres@127.0.0.1:5432/postgres

.PHONY: demo test test-postgres lint bench screenshots requirements audit-dependencies clean

# The lock files pin every package with its hash; the project itself is linked in without building downloads.
$(VENV)/runtime.stamp: requirements/runtime.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed: make demo PYTHON=python3.11")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP_INSTALL) -r requirements/runtime.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

$(VENV)/development.stamp: requirements/development.txt $(VENV)/runtime.stamp
	$(PIP_INSTALL) -r requirements/runtime.txt -r requirements/development.txt
	touch $@

demo: $(VENV)/runtime.stamp
	$(BIN)/python -m ethos_review.demo --port $(PORT) $(if $(filter 0,$(SERVE)),--no-serve)

lint: $(VENV)/development.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

test: lint
	PYTHON=$(BIN)/python tests/browser/ensure-chromium
	$(BIN)/python -m pytest -n 2

test-postgres: $(VENV)/development.stamp
	PYTHON=$(BIN)/python tests/browser/ensure-chromium
	DATABASE_URL=$${DATABASE_URL:-$(POSTGRES_URL)} $(BIN)/python -m pytest -n 2 -m database

# Every page, light and dark, in three widths, into var/screenshots.
screenshots: $(VENV)/development.stamp
	PYTHON=$(BIN)/python tests/browser/ensure-chromium
	$(BIN)/python -m tests.browser.screenshots

bench: $(VENV)/development.stamp
	$(BIN)/python -m bench

requirements: $(VENV)/development.stamp
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header \
	  requirements/runtime.in -o requirements/runtime.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header \
	  requirements/development.in -o requirements/development.txt

audit-dependencies: $(VENV)/development.stamp
	$(BIN)/pip-audit --disable-pip --require-hashes -r requirements/runtime.txt

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
