# Every target builds its environment in .venv from nothing; stamps keep it from doing so twice.
#   make demo     a first look: tunes a scikit-learn model (no torch)
#   make test     the test suite without the slow tests, the coverage of the package,
#                 and a gate on that of core/numerics and core/beliefs
#   make lint     formatting, rules, types and the import direction
#   make slow     the slow tests
#   make bench    timings
#   make release-check   builds both distributions, installs and tries them where nothing else is
#   make docs     the site, in build/site; a warning is an error
#   make paper    the paper's experiments at laptop scale, from docs/results/laptop on: what is
#                 there is not run again, and figures are drawn anew
#   make field    whole packages on the same problems, hours; what is there is not run again
#   make field-quick   the same in minutes: one problem of each kind, 20 trials
#   make clean    remove .venv and all caches

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip
CORE := $(VENV)/core.stamp
DEV := $(VENV)/dev.stamp
DOCS := $(VENV)/docs.stamp
FIELD := $(VENV)/field.stamp

# The matrices are small and pytest runs one worker per core: threads inside BLAS only get in
# each other's way.
ONE_THREAD := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1
GATED := src/stopwise/core/numerics/*,src/stopwise/core/beliefs/*

.PHONY: demo test lint slow bench docs release-check paper field field-quick clean
.DELETE_ON_ERROR:

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(CORE): pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) install -c constraints.txt -e '.[sklearn]'
	@touch $@

# torch alone and first: constraints.txt says why.
$(DEV): pyproject.toml paper/pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) install -c constraints.txt torch==2.13.0
	$(PIP) install -c constraints.txt -e '.[dev]' -e ./paper
	@touch $@ $(CORE)

$(DOCS): $(DEV)
	$(PIP) install -c constraints.txt -e '.[docs]'
	@touch $@

$(FIELD): $(DEV)
	$(PIP) install -c constraints.txt -e './paper[field]'
	@touch $@

demo: $(CORE)
	$(BIN)/stopwise demo

test: $(DEV)
	$(ONE_THREAD) $(BIN)/python -m pytest -n 2 -m "not slow" --cov --cov-branch --cov-report=
	$(BIN)/python -m coverage report --include='$(GATED)' --fail-under=100
	$(BIN)/python -m coverage report

slow: $(DEV)
	$(ONE_THREAD) $(BIN)/python -m pytest -n 2 -m slow

bench: $(DEV)
	$(ONE_THREAD) $(BIN)/python -m benchmarks

docs: $(DOCS)
	rm -rf build/site
	$(ONE_THREAD) $(BIN)/python -m pytest -q tests/house/test_docs.py tests/house/test_docs_run.py tests/house/test_tutorial.py tests/house/test_notebooks.py
	$(ONE_THREAD) $(BIN)/python -m sphinx -q -W --keep-going -c docs -b html . build/site

release-check: $(DEV)
	$(PIP) install -q -e '.[release]'
	$(BIN)/python -m release.check

paper: $(DEV)
	$(ONE_THREAD) $(BIN)/stopwise-paper figures --scale laptop --out docs/results

field: $(FIELD)
	$(ONE_THREAD) $(BIN)/stopwise-paper field --out docs/field

field-quick: $(FIELD)
	$(ONE_THREAD) $(BIN)/stopwise-paper field --quick --out results/field

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

clean:
	rm -rf $(VENV) build dist .coverage .coverage.* .hypothesis .import_linter_cache \
	  .mypy_cache .pytest_cache .ruff_cache
	find src tests paper -name __pycache__ -type d -prune -exec rm -rf {} +
