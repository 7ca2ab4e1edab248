# Two commands to know: make demo, make test.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
export PIP_DISABLE_PIP_VERSION_CHECK = 1
export LITELLM_LOCAL_MODEL_COST_MAP = true

.PHONY: demo test check extras-check venv model bench clean

demo: venv ## fetch the local LM and score prefine and full_history on a slice of the mini data
	$(BIN)/python -m prefine_dspy.lm pull
	$(BIN)/python -m eval.demo

test: venv ## the whole test suite: no network, key or model needed (PYTEST_ARGS for more)
	$(BIN)/python -X warn_default_encoding -m pytest $(PYTEST_ARGS)

check: venv ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

extras-check: ## every extra alone in a fresh environment, with the tests of what it is for (EXTRAS="rag mem0" for some)
	PYTHON=$(PYTHON) .ci/extras $(EXTRAS)

model: venv ## fetch the local models
	$(BIN)/python -m prefine_dspy.lm pull qwen2.5-coder-1.5b smollm2-135m

bench: venv ## the benchmark scripts: harness, scoring, store, situation, local LM
	$(BIN)/python -m eval.bench_harness
	$(BIN)/python -m eval.bench_scoring
	$(BIN)/python -m eval.bench_store
	$(BIN)/python -m eval.bench_situation
	$(BIN)/python -m prefine_dspy.lm.bench

venv: $(STAMP) ## build .venv with development extras

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed: make $(MAKECMDGOALS) PYTHON=/path/to/python3.11" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -e '.[dev]'
	@touch $(STAMP)

clean:
	rm -rf $(VENV) dist build runs .pytest_cache .mypy_cache .ruff_cache
