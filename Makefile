# make demo · make test · make lint · make bench · make stress · make soak. Each sets itself up (venv, build, install) and is
# quick the second time.
#
#   PYTHON=python3.12 VENV=.venv-3.12 make test      another interpreter
#   FREE_THREADED=/path/to/python3.13t make test     which free-threaded interpreter to test with as well

PYTHON ?= python3
VENV ?= .venv
FREE_THREADED ?= $(shell cmake/find_free_threaded)
# What a new build depends on; of the Python files only that one came or went, since the install is editable.
SOURCES := $(shell find native bindings cmake CMakeLists.txt pyproject.toml -type f -not -name '*.md') \
           $(shell find src -type d -not -name __pycache__)

.PHONY: demo test test-gil test-free-threaded test-in-parts lint bench stress soak venv clean
.DEFAULT_GOAL := test

venv: $(VENV)/.installed

$(VENV)/.installed: $(SOURCES)
	cmake/make_venv "$(PYTHON)" "$(VENV)"

demo: venv
	$(VENV)/bin/unjank run -o build/launcher_jank.pftrace examples/launcher_jank.py
	@echo '== the same cast on a looper, which has no lock to hold'
	$(VENV)/bin/python examples/launcher_smooth.py

test: test-gil test-free-threaded

test-gil: venv
	$(VENV)/bin/python -m pytest $(PYTEST_ARGS)

test-free-threaded:
ifeq ($(strip $(FREE_THREADED)),)
	@echo 'free-threaded: not run: no free-threaded Python found; name one with FREE_THREADED=/path/to/python3.13t'
else
	@$(MAKE) --no-print-directory test-in-parts PYTHON="$(FREE_THREADED)" VENV=.venv-ft
endif

# A process for each folder: a free-threaded interpreter keeps the memory that earlier tests used, and each of
# the many collections that the tests ask for walks through all of it.
test-in-parts: venv
	@failed=''; for part in tests/test_*.py tests/*/; do \
		case $$part in *__pycache__*) continue;; esac; \
		echo "== $$part"; \
		$(VENV)/bin/python -m pytest -q $(PYTEST_ARGS) $$part || failed="$$failed $$part"; \
	done; \
	if [ -n "$$failed" ]; then echo "free-threaded: failed:$$failed" >&2; exit 1; fi

$(VENV)/.lint: $(VENV)/.installed pyproject.toml
	$(VENV)/bin/pip -q install --disable-pip-version-check --group lint
	touch $@

lint: $(VENV)/.lint
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

# Minutes of all operations at once under each sanitizer; soak is the same for hours without one.
STRESS_OPERATIONS ?= 10000000
SOAK_SECONDS ?= 7200

stress: stress-thread stress-address

stress-%: venv
	PATH="$(abspath $(VENV))/bin:$$PATH" cmake/build_native build/native-$* $* queue_stress
	build/native-$*/tests/deliqueue/queue_stress $(STRESS_OPERATIONS) deliqueue

soak: venv
	PATH="$(abspath $(VENV))/bin:$$PATH" cmake/build_native build/native '' queue_stress
	build/native/tests/deliqueue/queue_stress 0 deliqueue $(SOAK_SECONDS)

bench: venv
	$(VENV)/bin/python -m benchmarks

clean:
	rm -rf build $(VENV) .venv-ft
