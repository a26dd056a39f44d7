# "make run" and "make test" do all the set-up that they need, which takes a minute the first time.
.POSIX:
.PHONY: help setup run demo screenshots test check docs bench check-shaders check-d3d12 check-metal check-vendors test-web test-portability fuzz soak lock clean

PYTHON =
ARGS =
FIX =
# Processes that share the tests, a file each at a time. Most of their work is compiling kernels, on
# one core each. Files come in their own order: by the number of their tests, the longest ones would
# come last, and one process would wait for the other.
WORKERS = 2
# Some drivers print a complaint when this is unset.
IN_ENVIRONMENT = XDG_RUNTIME_DIR="$${XDG_RUNTIME_DIR:-$${TMPDIR:-/tmp}}"

help:
	@echo 'make run      the main job: classify handwritten digits by nearest neighbours on the GPU'
	@echo 'make demo     argmax and top-k at work every frame, in a window (ARGS="--help" for its options)'
	@echo 'make test     every test (ARGS="-k digits" to choose, WORKERS=0 for one process)'
	@echo 'make check    formatting, lint and types (FIX=1 to repair what can be repaired)'
	@echo 'make docs     the documentation in site/, warnings as errors'
	@echo 'make bench    time every operator and check every answer (ARGS="--quick" for seconds, not minutes)'
	@echo 'make check-shaders   every variant of every shader, compiled by Naga and by Tint (needs Node)'
	@echo "make check-d3d12   kernels of each kind by Windows' compiler FXC, under Wine (x86-64)"
	@echo "make check-metal   kernels of each kind as Metal's compiler would take them, by Naga and clang (needs Node)"
	@echo "make check-vendors  kernels of each kind by Mesa's compilers for AMD's GPUs, which need not be here"
	@echo 'make test-web the kernels in headless Chromium, bit for bit (needs Node and Chromium; demos/web is the page)'
	@echo 'make test-portability   the functional tests on every driver there is, and with the least limits; one table'
	@echo 'make fuzz     10,000 random operators, 100,000 ragged problems, malformed input of 10,000 kinds (SEED=1 to repeat)'
	@echo 'make soak     8 threads for a minute, 100,000 calls, and flat memory after both'
	@echo 'make screenshots   draw the pictures in docs/images again, without a display'
	@echo 'make setup    only the set-up: .venv, the package in it, a Vulkan driver if none is found'
	@echo 'make lock     choose the versions in requirements-dev.lock anew, with hashes'
	@echo 'make clean    remove .venv, builds and caches'
	@echo
	@echo 'PYTHON=python3.13 chooses the interpreter for .venv (3.11 or later).'

setup:
	@PYTHON='$(PYTHON)' sh scripts/setup.sh

run: setup
	@$(IN_ENVIRONMENT) .venv/bin/python demos/digits.py $(ARGS)

demo: setup
	@$(IN_ENVIRONMENT) .venv/bin/wgdml demo $(ARGS)

screenshots: setup
	@mkdir -p docs/images
	@$(IN_ENVIRONMENT) .venv/bin/wgdml demo --offscreen --frames 90 --screenshot docs/images/demo.png
	@$(IN_ENVIRONMENT) .venv/bin/python demos/steps.py network --picture docs/images/network.png
	@$(IN_ENVIRONMENT) .venv/bin/python demos/steps.py delegates --step 1 --picture docs/images/tree.png
	@$(IN_ENVIRONMENT) .venv/bin/python demos/steps.py delegates --picture docs/images/delegates.png --animation docs/images/delegates.webp
	@$(IN_ENVIRONMENT) .venv/bin/python demos/vector_search.py --vectors 1000000 --picture docs/images/vector_search.png
	@$(IN_ENVIRONMENT) .venv/bin/python demos/digits.py -k 10 --picture docs/images/digits.png

test:
	@PYTHON='$(PYTHON)' sh scripts/setup.sh test
	@$(IN_ENVIRONMENT) .venv/bin/python -m pytest --durations=10 -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(ARGS)

check:
	@PYTHON='$(PYTHON)' sh scripts/setup.sh check
	@if [ -n "$(FIX)" ]; then .venv/bin/python -m ruff check --quiet --fix-only .; .venv/bin/python -m ruff format .; fi
	@.venv/bin/python -m ruff format --check .
	@.venv/bin/python -m ruff check .
	@.venv/bin/python -m mypy

docs: setup
	@$(IN_ENVIRONMENT) NO_MKDOCS_2_WARNING=1 .venv/bin/python -m mkdocs build --quiet --strict $(ARGS)
	@echo 'site/index.html'

bench: setup
	@$(IN_ENVIRONMENT) .venv/bin/python benchmarks/bench.py $(ARGS)

check-shaders: setup
	@sh scripts/setup_extra.sh node
	@$(IN_ENVIRONMENT) .venv/bin/python tests/variants.py

check-d3d12:
	@PYTHON='$(PYTHON)' sh scripts/setup.sh test
	@sh scripts/setup_extra.sh wine
	@$(IN_ENVIRONMENT) .venv/bin/python tests/d3d12/check.py $(ARGS)

check-metal:
	@PYTHON='$(PYTHON)' sh scripts/setup.sh test
	@sh scripts/setup_extra.sh metal
	@$(IN_ENVIRONMENT) .venv/bin/python tests/metal/check.py $(ARGS)

check-vendors:
	@PYTHON='$(PYTHON)' sh scripts/setup.sh test
	@sh scripts/setup_extra.sh vulkan
	@$(IN_ENVIRONMENT) .venv/bin/python tests/vendors/check.py $(ARGS)

test-web:
	@PYTHON='$(PYTHON)' sh scripts/setup.sh test
	@sh scripts/setup_extra.sh node chromium
	@$(IN_ENVIRONMENT) .venv/bin/python -m pytest tests/web $(ARGS)

test-portability:
	@PYTHON='$(PYTHON)' sh scripts/setup.sh test
	@sh scripts/setup_extra.sh chromium opengl
	@$(IN_ENVIRONMENT) .venv/bin/python scripts/test_portability.py $(ARGS)

fuzz:
	@PYTHON='$(PYTHON)' sh scripts/setup.sh test
	@seed=$${SEED:-$$(date +%s)}; echo "SEED=$$seed"; $(IN_ENVIRONMENT) HYPOTHESIS_PROFILE=long WGDML_FUZZ=$${CASES:-10000} \
		.venv/bin/python -m pytest tests/api/test_fuzz.py tests/api/test_fuzz_ragged.py --hypothesis-seed=$$seed --hypothesis-show-statistics $(ARGS)

soak:
	@PYTHON='$(PYTHON)' sh scripts/setup.sh test
	@$(IN_ENVIRONMENT) WGDML_SOAK=1 .venv/bin/python -m pytest tests/runtime/test_load.py -s $(ARGS)

lock: setup
	@sh scripts/lock.sh

clean:
	rm -rf .venv tests/web/node_modules build dist site .pytest_cache .hypothesis .mypy_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
