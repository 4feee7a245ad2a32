# The front door: `make` builds, `make demo` shows the main job, `make test` runs every test, `make bench` measures.
# Everything that is missing is installed first (scripts/deps).
.DEFAULT_GOAL := build
.PHONY: build deps test demo bench interop asan tsan format clean

DEPS := $(or $(BRAID_DEPS_DIR),$(CURDIR)/.deps)
PYTHON := $(DEPS)/venv/bin/python
CONFIGURE = cmake --preset $(1) --log-level=WARNING -DBRAID_DEPS_DIR="$(DEPS)" > /dev/null
BUILD = $(call CONFIGURE,$(1)) && cmake --build --preset $(1)

deps:
	@scripts/deps

build: deps
	@$(call BUILD,release)

test: deps
	@BRAID_PYTHON="$(PYTHON)" scripts/test

demo: build
	@build/braid demo

bench: build
	@cmake --build --preset release --target braid_bench
	@"$(PYTHON)" tests/bench/run.py

# Spark as a judge too: fetches about 500 MB.
interop: build
	@scripts/spark-deps
	@"$(PYTHON)" -m pytest -q tests/interop
	@"$(DEPS)/spark/venv/bin/python" -m pytest -q tests/spark

# Sanitizer builds of the kernel and its tests. Under tsan without the suites that only decode and compare, and the simulator: they have one thread.
FILTER := *
tsan: FILTER := -*Golden*:*PositionSet*:Dv*:Simulator*:Pruning*:Predicate*:ParseFileStats*:SchemaJson*
asan tsan: deps
	@$(call BUILD,$@)
	@build-$@/braid_kernel_tests --gtest_brief=1 --gtest_filter="$(FILTER)"

format:
	@git ls-files '*.h' '*.cc' | xargs clang-format -i

clean:
	@rm -rf build build-asan build-tsan
