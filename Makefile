# SPDX-License-Identifier: Apache-2.0
# Every everyday task is a target here; `make help` lists them. CMake does the building (CMakePresets.json).

BUILD   ?= build
JOBS    ?= $(shell nproc 2>/dev/null || echo 2)
SCHEME  ?= ntruhps4096821
CLIENTS ?= 10000
PEER    ?= native
CCACHE  := $(shell command -v ccache)

PROGRAM   := $(BUILD)/bin/polykem
CONFIGURE := cmake --preset release -B $(BUILD) $(if $(CCACHE),-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
SOURCES    = $(shell git ls-files '*.c' '*.h' '*.cpp' '*.hpp')

.DEFAULT_GOAL := all
.PHONY: all cuda demo demo-tls test test-full mutants bench bench-peers tables sbom program-docs figures format lint tidy install clean help

all: ## Build the library and the program build/bin/polykem
	@tools/setup.sh --check demo
	@test -f $(BUILD)/CMakeCache.txt || $(CONFIGURE) -DPOLYKEM_BUILD_TESTS=OFF
	@cmake --build $(BUILD) -j $(JOBS)

cuda: ## Build the CUDA module, with a compiler from PyPI where there is none (ARCHS="80;90": for other GPUs than 9.0)
	@tools/setup.sh demo cuda
	@tools/cuda_toolchain.sh
	@$(CONFIGURE) -DPOLYKEM_CUDA=ON $(if $(ARCHS),'-DPOLYKEM_CUDA_ARCHS=$(ARCHS)') >/dev/null
	@cmake --build $(BUILD) -j $(JOBS) --target polykem_cuda
	@ls -l $(BUILD)/bin/libpolykem_cuda.so

demo: ## Exchange keys with 10,000 clients over real sockets, in both roles
	@tools/setup.sh demo
	@$(MAKE) --no-print-directory all
	$(PROGRAM) exchange --scheme $(SCHEME) --clients $(CLIENTS) --role server-decaps --transport tcp
	$(PROGRAM) exchange --scheme $(SCHEME) --clients $(CLIENTS) --role server-encaps --transport tcp

demo-tls: ## HAProxy with polykem's provider and a crowd of TLS clients; a table at the end
	@tools/setup.sh demo tls
	@$(MAKE) --no-print-directory all
	@cmake --build $(BUILD) -j $(JOBS) --target polykem_tls_load
	@POLYKEM_TLS_TREE=$(CURDIR)/$(BUILD) python3 -B bench/tls/demo.py

test: ## Run every quick test that needs no GPU: release build, constant-time checks, three sanitizers
	@tools/setup.sh test tls
	@tools/test.sh release ct sanitize threads

test-full: ## The same, then all CUDA code, long tests, every sanitizer over everything, two compilers' constant time, fuzzers, mutants
	@tools/setup.sh test full fuzz
	@tools/test.sh release ct sanitize threads full ct-full sanitize-full program threads-full ubsan fuzz mutants

mutants: ## Plant faults, one at a time; a test must find each (MUTANTS="NAME...": only those)
	@tools/setup.sh test
	@tools/mutants.py $(MUTANTS)

bench: ## Measure keygen, encaps and decaps of every set here; writes build/bench.json
	@tools/setup.sh demo
	@$(MAKE) --no-print-directory all
	$(PROGRAM) bench --all --force --json $(BUILD)/bench.json

bench-peers: ## Measure polykem and its peers in turn, one core; writes build/bench-peers.json (PEER=haswell: a liboqs without AVX-512)
	@tools/setup.sh demo peers
	@$(MAKE) --no-print-directory all
	@echo 'Building liboqs and PQClean, the first time minutes:'
	@POLYKEM_BUILD=$(CURDIR)/$(BUILD) POLYKEM_PEER_CPU=$(PEER) CMAKE_TOOLCHAIN_FILE=$(CURDIR)/bench/peers/liboqs.cmake \
	  tools/progress.sh $(BUILD)/peers.log \
	  cargo build --release --locked --manifest-path bench/peers/Cargo.toml --target-dir $(BUILD)/peers/$(PEER)
	@$(BUILD)/peers/$(PEER)/release/polykem-bench-peers $(PEER_OPTIONS) \
	  --json $(BUILD)/bench-peers$(patsubst %,-%,$(PEER:native=)).json
	@python3 tools/floors.py $(BUILD)/bench-peers$(patsubst %,-%,$(PEER:native=)).json

tables: all ## Write the tables and the plot of README.md and docs/ from bench/results
	@tools/setup.sh test
	@tools/tables.py --program $(PROGRAM)

sbom: all ## List the software that library and program consist of, as SPDX; writes build/polykem.spdx.json
	@tools/setup.sh test
	@tools/sbom.py $(BUILD) $(BUILD)/polykem.spdx.json

program-docs: all ## Write the man pages and the shell completion from the program's own help
	@tools/setup.sh test
	@tools/program_docs.py --program $(PROGRAM)

figures: ## Measure against the peers again (most of an hour) and write tables and plot from it
	@$(MAKE) --no-print-directory bench-peers
	@$(MAKE) --no-print-directory bench-peers PEER=haswell
	@tools/tables.py --record --program $(PROGRAM)

format: ## Format every C and C++ file in place
	@tools/setup.sh lint
	@clang-format-14 -i $(SOURCES)

lint: ## Check format, licence lines, citations, lengths, links, and which folder may include which
	@tools/setup.sh lint
	@clang-format-14 --dry-run --Werror $(SOURCES)
	@python3 tools/lint.py

tidy: ## Run clang-tidy over the library and the program (minutes)
	@tools/setup.sh lint
	@$(MAKE) --no-print-directory all
	@git ls-files 'src/*.cpp' 'formats/*.cpp' 'cli/*.cpp' | xargs -n 4 -P $(JOBS) clang-tidy-14 -p $(BUILD) --quiet

install: all ## Install headers, libraries, program, CMake package and pkg-config file (PREFIX=/usr/local)
	@cmake --install $(BUILD) $(if $(PREFIX),--prefix $(PREFIX))

clean: ## Remove every build directory of this Makefile
	@rm -rf $(BUILD) build-sanitize build-ubsan build-tsan build-debug build-fuzz build-mutants

help: ## This list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | while IFS='|' read -r d t; do printf '%-18s %s\n' "$$d" "$$t"; done
