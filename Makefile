# SPDX-License-Identifier: BSD-3-Clause
# The front door: each target installs what is missing, builds what is stale, and runs.
#
#   make demo             SDK, sample operator and sample program; prints what eight ranks received
#   make test             every test; T=name runs one; SAN=asan or SAN=tsan: with sanitizers;
#                         V=1 shows the build
#   make lint             layers, prototypes, exported symbols, headers, documents
#   make bench            the benchmarks, as tables and as JSON
#   make bench-compare    beside Open MPI, MPICH and UCX; MD=file writes the tables as Markdown;
#                         ONLY=p2p or ONLY=collectives
#   make install PREFIX=/opt/hcomm
#   make format           clang-format over the sources

SAN ?=
PRESET := $(if $(SAN),$(SAN),release)
BUILD := build/$(PRESET)
SDK := $(CURDIR)/build/sdk
PREFIX ?= /opt/hcomm

# Targets share build/release, so they go one after the other; each is parallel inside.
.NOTPARALLEL:
.PHONY: all setup setup-tests setup-compare build sdk demo test lint bench bench-compare install format clean

all: build

setup:
	@scripts/setup.sh

setup-tests:
	@scripts/setup.sh tests

# A peer that cannot be installed is left out of the comparison.
setup-compare:
	@scripts/setup.sh compare || echo "bench-compare: goes on with the peers that are here" >&2

$(BUILD)/build.ninja: | setup
	@cmake --preset $(PRESET) >/dev/null

# What a build prints goes to a log, and to the terminal only when it fails.
build: $(BUILD)/build.ninja
	@echo "building in $(BUILD)" >&2
	@cmake --build $(BUILD) $(if $(V),,>$(BUILD)/build.log 2>&1 || { cat $(BUILD)/build.log >&2; exit 1; })

# The SDK needs the libraries and the tools, not the tests.
sdk: | setup
	@cmake --preset release >/dev/null
	@echo "building the SDK in build/sdk" >&2
	@cmake --build build/release --target hcomm hccl hcomm_cli npu_smi >build/release/sdk.log 2>&1 \
	    || { cat build/release/sdk.log >&2; exit 1; }
	@cmake --install build/release --prefix "$(SDK)" >/dev/null

demo: sdk
	@scripts/demo.sh "$(SDK)"

# One test: by the name of a TEST() or of a test program. With the thread sanitizer two run at a time:
# most of them wait most of the time, and it is the longest part.
test: $(if $(SAN),,setup-tests) build $(if $(SAN),,sdk)
ifdef T
	@scripts/run_one_test.sh $(BUILD)/tests $(T)
else
	@ctest --test-dir $(BUILD) --output-on-failure $(if $(filter tsan,$(SAN)),-j2)
endif

lint: build
	@scripts/lint.sh $(BUILD)

bench: build
	@scripts/bench.sh $(BUILD)

bench-compare: setup-compare build
	@scripts/bench_compare.sh $(BUILD) $(if $(ONLY),--only $(ONLY)) $(if $(QUICK),--quick) $(if $(MD),--markdown "$(MD)")

install: build
	@cmake --install build/release --prefix "$(PREFIX)"

format:
	@git ls-files '*.c' '*.h' | xargs clang-format -i

clean:
	@rm -rf build build_out
