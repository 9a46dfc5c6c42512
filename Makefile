# SPDX-License-Identifier: Apache-2.0
# Every everyday task is a target here; `make help` lists them. CMake does the building (CMakePresets.json).

BUILD   ?= build
JOBS    ?= $(shell nproc 2>/dev/null || echo 2)
SCHEME  ?= mlkem768
CLIENTS ?= 10000
PEER    ?= native
SUITES  ?= $(if $(filter package-test,$(MAKECMDGOALS)),bookworm trixie,bookworm)
DIST    ?= dist
DEB_OPTIONS = $(if $(CUDA),--cuda) $(if $(TWICE),--twice)
CCACHE  := $(shell command -v ccache)

PROGRAM   := $(BUILD)/bin/polykem
CONFIGURE := cmake --preset release -B $(BUILD) $(if $(CCACHE),-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
# Without a generated file that takes clang-format ten times as long as all others together.
SOURCES    = $(shell git ls-files '*.c' '*.h' '*.cpp' '*.hpp' '*.cu' '*.cuh' ':!src/prim/keccak/avx512/rounds_*.hpp')

.DEFAULT_GOAL := all
.PHONY: all cuda demo demo-tls test test-full test-release prove mutants bench bench-peers bench-gpu cpu-rates lab tables hw-test hw-coverage hw-formal hw-faults hw-tvla hw-synth hw-place hw-area hw-wave hw-schedule hw-software hw-soc sbom package-sdist package-wheel package-wheel-cuda package-deb package-oci package-test release-files program-docs docs figures format lint tidy tidy-changed compilers coverage install clean help test-m4 test-cortex-m bench-m4 test-arm64

all: ## Build the library and the program build/bin/polykem
	@tools/setup.sh --check demo
	@test -f $(BUILD)/CMakeCache.txt || $(CONFIGURE) -DPOLYKEM_BUILD_TESTS=OFF
	@cmake --build $(BUILD) -j $(JOBS)

cuda: ## Build the CUDA modules, with a compiler from PyPI where there is none (for the GPUs here, ARCHS="80;90": for these, ARCHS=all: for every one)
	@tools/setup.sh demo cuda
	@tools/cuda_toolchain.sh
	@$(CONFIGURE) -DPOLYKEM_CUDA=ON -DPOLYKEM_CKKS=ON $(if $(ARCHS),'-DPOLYKEM_CUDA_ARCHS=$(ARCHS)') >/dev/null
	@cmake --build $(BUILD) -j $(JOBS) --target polykem_cuda polykem_ckks_cuda
	@ls -l $(BUILD)/bin/libpolykem*_cuda.so

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

test: ## Run every quick test that needs no GPU: sources, library, programs, constant time, Python, the site, Arm on emulators, three sanitizers
	@tools/setup.sh lint test tls python docs
	@tools/test.sh tests sanitize threads

test-full: ## The same, then all CUDA code, long tests, every sanitizer over everything, constant time by Clang too, fuzzers, mutants, clang-tidy, other compilers, other kinds of build
	@tools/setup.sh lint test python full fuzz docs tidy compilers
	@tools/test.sh tests sanitize threads full ct-full sanitize-full python-sanitize program threads-full python-full ubsan fuzz mutants tidy compilers modes

test-release: ## What takes the hours of a release: traces of every set, parsers' exhaustive neighbours, an hour of each fuzzer, every proof
	@tools/setup.sh full fuzz prove
	@POLYKEM_FUZZ_SECONDS=3600 tools/test.sh exhaustive traces fuzz
	@$(MAKE) --no-print-directory prove ALL=1

prove: ## Prove what transforms and products of the compiled library compute, for all inputs, with a planted fault beside each proof (ALL=1: larger n and ranks too, in hours)
	@tools/setup.sh prove
	@$(MAKE) --no-print-directory all
	@cmake --build $(BUILD) --target polykem_proofs
	@tools/prove.sh --library $(BUILD)/src/libpolykem.so --wrappers $(BUILD)/tools/proofs/libpolykem_proofs.so --faults --cpu $(if $(ALL),--all)

test-arm64: ## Cross-build for AArch64 and run its tests under QEMU: as a CPU with all extensions, and as a Cortex-A53 (over half an hour)
	@tools/setup.sh arm64
	@CCACHE=$(CCACHE) JOBS=$(JOBS) tools/arm64/test.sh

hw-test: ## Simulate the hardware core (hw/): compare its modules with a model, the whole core with known answers
	@tools/setup.sh hw
	@tools=$$(hw/tools/setup.sh) && PATH="$$tools:$$PATH" python3 -B hw/tb/run.py --build $(BUILD)/hw
	@hw/tools/test.sh all $(BUILD)/hw/model

hw-coverage: ## Coverage of the tests of the hardware core's modules, by line and bit: build/hw/coverage.md
	@tools/setup.sh hw
	@tools=$$(hw/tools/setup.sh) && PATH="$$tools:$$PATH" python3 -B hw/tb/run.py --build $(BUILD)/hw --coverage $(BUILD)/hw/coverage.md

hw-formal: ## Prove the hardware core's reductions, FIFOs and counters, each of which must refute a planted fault
	@tools/setup.sh hw
	@"$$(hw/tools/setup.sh)/python3" -B hw/formal/prove.py

hw-faults: ## Upset bits of the hardware core while it decapsulates forged ciphertexts: hw/faults/faults.json, and the table
	@tools/setup.sh hw
	@hw/tools/setup.sh >/dev/null
	@python3 -B hw/faults/faults.py $(BUILD)/hw/faults --json hw/faults/faults.json
	@python3 -B hw/synth/tables.py

hw-tvla: ## Test that toggles of the masked Keccak tell nothing of its input: hw/tb/masked/tvla.json, and the table
	@tools/setup.sh hw
	@hw/tools/setup.sh >/dev/null
	@python3 -B hw/tb/masked/tvla.py $(BUILD)/hw/masked --json hw/tb/masked/tvla.json
	@python3 -B hw/synth/tables.py

hw-synth: ## Areas of the hardware core's modules and tops as hw/synth/area.json, and the tables of hw/README.md from them
	@tools/setup.sh hw
	@"$$(hw/tools/setup.sh)/python3" -B hw/synth/area.py --json hw/synth/area.json
	@"$$(hw/tools/setup.sh)/python3" -B hw/synth/tables.py

hw-place: ## Place and route the hardware core on an ECP5-85F with five seeds: hw/synth/place.json (an hour on two CPUs)
	@tools/setup.sh hw
	@"$$(hw/tools/setup.sh)/python3" -B hw/synth/place.py --json hw/synth/place.json

hw-software: ## Compare cycles of the hardware core with software on this machine: hw/synth/software.json, and the table
	@tools/setup.sh demo hw
	@$(CONFIGURE) -DPOLYKEM_BUILD_BENCH=ON >/dev/null
	@cmake --build $(BUILD) -j $(JOBS) --target polykem_bench_hw_core
	@hw/tools/build_model.sh $(BUILD)/hw/model core_test
	@python3 -B hw/synth/software.py $(BUILD)/bin/polykem_bench_hw_core $(BUILD)/hw/model/core_test \
	  hw/synth/software.json
	@python3 -B hw/synth/tables.py

hw-area: ## Areas of the hardware core's modules on an FPGA, by Yosys
	@tools/setup.sh hw
	@"$$(hw/tools/setup.sh)/python3" -B hw/synth/area.py

hw-wave: ## Trace every signal of the hardware core in one command, for GTKWave (HW_SET=mlkem768 HW_OP=encaps)
	@tools/setup.sh hw
	@hw/trace/trace.sh wave $(or $(HW_SET),mlkem768) $(or $(HW_OP),encaps) $(BUILD)/hw/trace

hw-schedule: ## Draw which unit of the hardware core is busy in which cycle: hw/doc/schedule_*.svg
	@tools/setup.sh hw
	@hw/trace/trace.sh schedule $(BUILD)/hw/trace hw/doc

hw-soc: ## Simulate a system on a chip with the hardware core: a RISC-V CPU that runs known answers (LiteX, from PyPI)
	@tools/setup.sh soc
	@hw/tools/soc.sh simulate $(BUILD)/hw/soc

test-m4: ## Build for a Cortex-M4 and run known answers, memory use and traces of constant time on QEMU (minutes)
	@tools/setup.sh m4
	@python3 -B tests/embedded/m4/run.py

test-cortex-m: ## The same code on a Cortex-M7 and a Cortex-M33, on QEMU: first known answers, an exchange over a UART, Zephyr's module
	@tools/setup.sh demo m4
	@$(MAKE) --no-print-directory all
	@python3 -B tests/embedded/cores.py --polykem $(BUILD)/bin/polykem

mutants: ## Plant faults, one at a time; a test must find each (MUTANTS="NAME...": only those)
	@tools/setup.sh test
	@tools/mutants.py $(MUTANTS)

bench: ## Measure keygen, encaps and decaps of every set here; writes build/bench.json
	@tools/setup.sh demo
	@$(MAKE) --no-print-directory all
	$(PROGRAM) bench --all --force --json $(BUILD)/bench.json

bench-peers: ## Measure polykem and its peers alternately, one core; writes build/bench-peers.json (PEER=haswell: peers without AVX-512)
	@tools/setup.sh demo peers
	@$(MAKE) --no-print-directory all
	@echo 'Building wolfSSL, liboqs, PQClean, AWS-LC, OpenSSL, libcrux and graviola, the first time minutes:'
	@bench/peers/ippcp.sh $(BUILD)/peers/ippcp
	@POLYKEM_BUILD=$(CURDIR)/$(BUILD) POLYKEM_IPPCP=$(CURDIR)/$(BUILD)/peers/ippcp POLYKEM_PEER_CPU=$(PEER) \
	  CMAKE_TOOLCHAIN_FILE=$(CURDIR)/bench/peers/liboqs.cmake CFLAGS=-march=$(PEER) CXXFLAGS=-march=$(PEER) \
	  RUSTFLAGS='-C target-cpu=$(PEER)' tools/progress.sh $(BUILD)/peers.log \
	  cargo build --release --locked --manifest-path bench/peers/Cargo.toml --target-dir $(BUILD)/peers/$(PEER)
	@$(BUILD)/peers/$(PEER)/release/polykem-bench-peers $(PEER_OPTIONS) \
	  --json $(BUILD)/bench-peers$(patsubst %,-%,$(PEER:native=)).json
	@python3 tools/floors.py $(BUILD)/bench-peers$(patsubst %,-%,$(PEER:native=)).json

bench-gpu: ## Measure the CUDA backend on this machine's GPU; writes build-gpu/results (POLYKEM_GPU_FAMILIES=mlkem: one family)
	@bench/cuda/run.sh build-gpu

bench-m4: ## Count the modelled cycles of every set on a Cortex-M4 and write the tables of docs/arm_figures.md (minutes)
	@tools/setup.sh m4
	@python3 -B bench/m4/measure.py
	@$(MAKE) --no-print-directory tables

cpu-rates: ## Measure this core's instruction rates, from which floors are computed; writes build/cpu-rates.json
	@tools/setup.sh demo
	@$(CONFIGURE) -DPOLYKEM_BUILD_BENCH=ON >/dev/null
	@cmake --build $(BUILD) -j $(JOBS) --target polykem_bench_cpu_rates
	@$(BUILD)/bin/polykem_bench_cpu_rates --json $(BUILD)/cpu-rates.json

lab: ## Measure every way to multiply in lattice KEMs, here and on a GPU; writes tables and plots to build/lab
	@tools/setup.sh demo
	@$(CONFIGURE) -DPOLYKEM_BUILD_BENCH=ON -DPOLYKEM_CKKS=ON >/dev/null
	@cmake --build $(BUILD) -j $(JOBS) --target lab
	@$(BUILD)/bin/polykem-lab --report $(BUILD)/lab

tables: all ## Write the tables and the plot of README.md and docs/ from bench/results
	@tools/setup.sh test
	@tools/tables.py --program $(PROGRAM)

sbom: all ## List the software in the library and the program, as SPDX; writes build/polykem.spdx.json
	@tools/setup.sh test
	@tools/sbom.py $(BUILD) $(BUILD)/polykem.spdx.json

package-sdist: ## The source distribution of the Python package, of what is committed, in dist/
	@tools/setup.sh wheel
	@tools/package/wheel.py --sdist

package-wheel: ## That and its wheels (manylinux_2_28), one for each of Python 3.10 to 3.12 found here (PYTHON=python3.11: only that)
	@tools/setup.sh wheel
	@tools/package/wheel.py $(addprefix --python ,$(PYTHON))

package-wheel-cuda: ## The wheel of the CUDA modules, polykem-cuda, in dist/ (an hour of a core)
	@tools/setup.sh wheel cuda
	@tools/package/wheel.py --cuda

package-deb package-test package-oci: export POLYKEM_CUDA_ARCHS = $(ARCHS)

package-deb: ## Debian packages of what is committed, in dist/SUITE, as root (SUITES="bookworm trixie noble bookworm-arm64", CUDA=1: polykem-cuda too, ARCHS="80;90": for these GPUs only, TWICE=1: twice, compared)
	@tools/setup.sh deb
	@tools/package/deb.sh $(DEB_OPTIONS) dist $(SUITES)

package-oci: ## OCI images of polykemd and of HAProxy with the provider, in dist/oci, as root, from the packages of Debian 12, built first where dist/ has none of this commit (TWICE=1 as above)
	@tools/setup.sh deb oci
	@tools/package/deb.sh --missing $(DEB_OPTIONS) dist bookworm
	@tools/package/oci.sh $(if $(TWICE),--twice) dist/bookworm dist/oci

package-test: ## Install, use, upgrade and remove packages in bare systems, run the images, use the wheel, as root; first builds this commit's packages missing from dist/ (SUITES="bookworm trixie")
	@tools/setup.sh deb wheel $(if $(filter bookworm,$(SUITES)),oci) $(if $(findstring arm64,$(SUITES)),deb_arm64)
	@tests/package/run.sh $(DEB_OPTIONS) dist $(SUITES)

release-files: ## Checksums, list of software and provenance of the packages in dist/ (KEY=gpg:ID, minisign:FILE, openssl:FILE: signed; DIST=FOLDER: those there)
	@tools/package/release_files.py $(DIST) $(KEY)

program-docs: all ## Write the man pages and the shell completion from the program's own help
	@tools/setup.sh test
	@tools/program_docs.py --program $(PROGRAM)

docs: ## Build the documentation site build/site/index.html, with Sphinx from PyPI
	@tools/setup.sh docs
	@tools/site/build.sh

figures: ## Measure against the peers again (most of an hour) and write tables and plot from it
	@$(MAKE) --no-print-directory bench-peers
	@$(MAKE) --no-print-directory bench-peers PEER=haswell
	@tools/tables.py --record --program $(PROGRAM)

format: ## Format every C, C++ and CUDA file in place
	@tools/setup.sh lint
	@clang-format-14 -i $(SOURCES)

lint: ## Check format, Python and shell code, licence lines, citations, lengths, links, includes, named commits
	@tools/setup.sh lint
	@clang-format-14 --dry-run --Werror $(SOURCES)
	@git ls-files '*.sh' .ci/run | xargs shellcheck --severity=warning
	@tools/ruff.sh check --quiet --output-format concise || test $$? = 77
	@python3 tools/lint.py

tidy: ## Run clang-tidy over libraries, program, provider, extension and tests (minutes); CHECKS=-*,readability-identifier-naming: names only
	@tools/setup.sh tidy python
	@JOBS=$(JOBS) tools/tidy.sh $(if $(CHECKS),'--checks=$(CHECKS)')

tidy-changed: ## The same over what is not on the upstream branch yet
	@tools/setup.sh tidy python
	@JOBS=$(JOBS) tools/tidy.sh --changed $(if $(CHECKS),'--checks=$(CHECKS)')

compilers: ## Compile with the oldest and the newest GCC and Clang found here, tests with the newest Clang only; warnings are errors
	@tools/setup.sh compilers
	@JOBS=$(JOBS) tools/compilers.sh

coverage: ## Which lines of C++ the quick tests run: a table by product (minutes)
	@tools/setup.sh test
	@tools/test.sh coverage

install: all ## Install headers, libraries, program, CMake package and pkg-config file (PREFIX=/usr/local)
	@cmake --install $(BUILD) $(if $(PREFIX),--prefix $(PREFIX))

clean: ## Remove every build directory of this Makefile
	@rm -rf $(BUILD) ckks/build build-sanitize build-ubsan build-tsan build-debug build-test build-fuzz build-fuzz-coverage build-mutants build-tidy build-compilers build-coverage build-wheel build-arm64 build-m4 build-gpu

help: ## This list
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | while IFS='|' read -r d t; do printf '%-18s %s\n' "$$d" "$$t"; done
